//! Comparison with other tools: starting a command on 24 hosts, and a storage test on six.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::is_installed;
use super::workplace::BenchWorkplace;

/// Length of the storage test in seconds.
const LENGTH_S: f64 = 3.0;
/// Number of tries of each command, of which the median is reported.
const TRIES: usize = 3;

/// Costs of the other tools.
pub(super) struct Peers {
    pub(super) rows: Vec<Vec<String>>,
    /// Tools that are left out, with the reason.
    pub(super) skipped: Vec<String>,
}

pub(super) fn measure_peers(workplace: &BenchWorkplace, program: &Path) -> Result<Peers> {
    let mut peers = Peers { rows: Vec::new(), skipped: Vec::new() };
    let folder = workplace.folder.join("peers");
    fs::create_dir_all(&folder).context("cannot create a folder for the peers")?;
    let to_strings =
        |arguments: &[&str]| arguments.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let doctor = to_strings(&[
        "doctor",
        "--hosts",
        "h[1-24]",
        "--via",
        "env NAME={host}",
        "--host-deadline",
        "5min",
        "--json",
    ]);
    peers.add(workplace, "`assay doctor`: an agent and all checks", 24, (program, &doctor))?;
    for (name, arguments) in [
        ("pdsh", &["-R", "exec", "-f", "24", "-w", "h[1-24]", "sh", "-c", "true"][..]),
        ("clush", &["--worker=exec", "-f", "24", "-w", "h[1-24]", "sh -c true"]),
    ] {
        if is_installed(name) {
            let label = format!("`{name}`: `sh -c true`");
            peers.add(workplace, &label, 24, (Path::new(name), &to_strings(arguments)))?;
        } else {
            peers.skipped.push(format!("{name} is not installed here."));
        }
    }
    measure_storage(workplace, program, &folder, &mut peers)?;
    let reason = "Vdbench is left out: its licence forbids packages, and it is not installed on this machine.";
    peers.skipped.push(reason.to_owned());
    peers.skipped.push(
        "All tools, assay included, start their processes on this machine, without ssh: the cost of a login is the same \
         for each. Median of three tries."
            .to_owned(),
    );
    Ok(peers)
}

impl Peers {
    fn add(
        &mut self,
        workplace: &BenchWorkplace,
        label: &str,
        hosts: usize,
        (program, arguments): (&Path, &[String]),
    ) -> Result<()> {
        let mut tries: Vec<(f64, f64)> = (0..TRIES)
            .map(|_| measure_command(workplace, program, arguments))
            .collect::<Result<_>>()?;
        tries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (elapsed_s, cpu_s) = tries[TRIES / 2];
        self.rows.push(vec![
            label.to_owned(),
            hosts.to_string(),
            format!("{elapsed_s:.2} s"),
            format!("{cpu_s:.2} s"),
        ]);
        Ok(())
    }
}

/// Returns the elapsed time of a command and the CPU time of its process, without the processes
/// that it starts and waits for.
fn measure_command(
    workplace: &BenchWorkplace,
    program: &Path,
    arguments: &[String],
) -> Result<(f64, f64)> {
    let start = Instant::now();
    let mut child = workplace
        .command(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let mut cpu_s = 0.0;
    while child.try_wait()?.is_none() {
        // The CPU time of an ended process cannot be read: keep the last value.
        cpu_s = super::process_cpu_s(&child).unwrap_or(cpu_s);
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((start.elapsed().as_secs_f64(), cpu_s))
}

/// fio servers, killed on drop.
struct FioServers(Vec<Child>);

impl Drop for FioServers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Measures six hosts that each read a file for a few seconds.
fn measure_storage(
    workplace: &BenchWorkplace,
    program: &Path,
    folder: &Path,
    peers: &mut Peers,
) -> Result<()> {
    let command = super::coordinator_command(workplace, program, (6, LENGTH_S), folder)?;
    let arguments: Vec<String> =
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let label = format!("`assay run`: reads for {LENGTH_S:.0} s");
    peers.add(workplace, &label, 6, (program, &arguments))?;
    if !is_installed("fio") {
        peers.skipped.push("fio is not installed here.".to_owned());
        return Ok(());
    }
    let mut servers = FioServers(Vec::new());
    let mut arguments = Vec::new();
    for host in 1..=6 {
        let socket = folder.join(format!("fio{host}.sock"));
        let job = folder.join(format!("{host}.fio"));
        let text = format!(
            "[reads]\nfilename={}\nsize=64k\nrw=randread\nbs=4k\nioengine=psync\nrate_iops=10\ntime_based=1\n\
             runtime={LENGTH_S}\n",
            folder.join(format!("fio{host}")).display()
        );
        fs::write(&job, text)?;
        let mut server = Command::new("fio");
        server.arg(format!("--server=sock:{}", socket.display()));
        servers.0.push(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        arguments.push(format!("--client=sock:{}", socket.display()));
        arguments.push(job.display().to_string());
    }
    let end = Instant::now() + Duration::from_secs(10);
    let listens = |host: u32| folder.join(format!("fio{host}.sock")).exists();
    while !(1..=6).all(listens) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    let label = format!("`fio --client`: reads for {LENGTH_S:.0} s");
    peers.add(workplace, &label, 6, (Path::new("fio"), &arguments))
}
