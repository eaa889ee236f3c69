//! One timed start of another program: its wall time, and the CPU time and memory that the kernel
//! counted.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};

use crate::clock;

/// Resources that a program used from its start to its end.
#[derive(Debug, Clone, Copy)]
pub struct ProgramUsage {
    /// Time from just before the start to the end, in seconds.
    pub wall_s: f64,
    /// CPU time of it and of the children that it waited for, in seconds.
    pub cpu_s: f64,
    /// Largest resident set of one of these processes, in bytes. Not below that of this process: the
    /// kernel counts the memory that a child shares with it until it runs the program.
    pub peak_bytes: u64,
    /// Exit code or signal.
    pub status: ExitStatus,
}

/// Starts a program and waits for its end.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run_to_end(command: &mut Command) -> io::Result<ProgramUsage> {
    warm_up();
    let began_ns = clock::now_ns();
    let child = command.spawn()?;
    let (status, usage) = wait_for(child.id())?;
    let ended_ns = clock::now_ns();
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Ok(ProgramUsage {
        wall_s: clock::seconds_between(began_ns, ended_ns),
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        // In KiB (getrusage(2)).
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10,
        status,
    })
}

/// Starts a folder, which fails, so that no page fault of this process is timed: the process is new.
fn warm_up() {
    clock::now_ns();
    drop(Command::new("/").spawn());
}

/// Forks this process and waits in the parent. Returns `None` in the child, and the end of the child in
/// the parent.
///
/// The child starts with the changed pages only, so that what it starts has a small
/// [`ProgramUsage::peak_bytes`]. Call it only while the process has a single thread.
///
/// # Errors
/// If the system refuses a process.
pub fn fork_and_wait() -> io::Result<Option<ExitStatus>> {
    // SAFETY: with a single thread, no other thread can hold a lock that the child needs.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        child => {
            let child = u32::try_from(child).map_err(|_| io::Error::last_os_error())?;
            wait_for(child).map(|(status, _)| Some(status))
        }
    }
}

fn wait_for(id: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let id = libc::pid_t::try_from(id).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: `rusage` consists of integers, for which all zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are valid for the call; `id` is a child that nobody else waits for.
        let ended = unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) };
        if ended == id {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::run_to_end;

    #[test]
    fn ended_programs_have_times_and_status() {
        let run = |line: &str| run_to_end(Command::new("sh").args(["-c", line])).unwrap();
        let sleeping = run("sleep 0.05");
        assert!(sleeping.wall_s >= 0.05 && sleeping.cpu_s < sleeping.wall_s, "{sleeping:?}");
        assert!(sleeping.peak_bytes > 0 && sleeping.status.success(), "{sleeping:?}");
        assert_eq!(run("exit 7").status.code(), Some(7));
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&run("kill -9 $$").status),
            Some(9)
        );
        assert!(run_to_end(&mut Command::new("./there/is/none")).is_err());
    }
}
