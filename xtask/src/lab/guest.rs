//! Runs guests: a kernel, the image, this build of assay, and a script. Every wait has a timeout,
//! and guests cannot reach this machine's network.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Machine;
use super::image::{Image, pack};
use crate::command;

const QEMU: &str = "qemu-system-x86_64";
/// Timeout from the start of a guest to that of its script. Booting takes 6 s under emulation on
/// two cores, and some 40 s with 16 processors.
const BOOT: Duration = Duration::from_secs(180);
/// Same with KVM, where a guest boots in a second or not at all.
const BOOT_WITH_KVM: Duration = Duration::from_secs(20);
/// Memory that qemu needs beyond a guest's, most of it translated code: 1,708 MiB were resident
/// with a guest of 1 GiB in `rdma-pairs`.
const BESIDE_MEMORY_MIB: u64 = 768;
const LOOK: Duration = Duration::from_millis(100);

/// Accelerator of qemu: KVM or emulation.
#[derive(Debug, Clone, Copy)]
struct Accelerator {
    name: &'static str,
    processor: &'static str,
    boot: Duration,
}

const KVM: Accelerator = Accelerator { name: "kvm", processor: "host", boot: BOOT_WITH_KVM };
const EMULATION: Accelerator =
    Accelerator { name: "tcg,thread=multi", processor: "max", boot: BOOT };

/// Returns the reason why no guest can run here; `None` if one can.
pub(crate) fn impossible() -> Option<String> {
    let needed = [QEMU, "setpriv", "cpio", "depmod", "dpkg-deb", "apt-cache"];
    let missing = needed.into_iter().find(|program| !command::exists(program));
    if !cfg!(target_arch = "x86_64") {
        return Some("guests are x86-64 machines".to_owned());
    }
    missing.map(|program| format!("{program} is not installed"))
}

/// Returns the reason why guests of these machines do not fit into memory.
pub(crate) fn lacks_memory(machines: &[Machine], available_mib: u64) -> Option<String> {
    let needed_mib: u64 =
        machines.iter().map(|it| u64::from(it.memory_mib) + BESIDE_MEMORY_MIB).sum();
    (needed_mib > available_mib).then(|| {
        format!(
            "its guests need {needed_mib} MiB of memory, and {available_mib} MiB are available"
        )
    })
}

/// Returns the memory available without swapping, by the kernel (`MemAvailable`, in KiB).
pub(crate) fn available_mib() -> Option<u64> {
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? >> 10)
}

/// Runs a script in new guests, the hosts `n1`, `n2` … of one network, and returns the output of
/// the first. All guests end with the first.
pub(crate) fn run(
    root: &Path,
    image: &Image,
    (machines, script): (&[Machine], &str),
    deadline: Duration,
) -> Result<String> {
    let accelerator = accelerator(root, image)?;
    run_by(accelerator, root, image, (machines, script), deadline)
}

/// Chooses KVM if a guest boots with it, otherwise emulation: a guest may hang although `/dev/kvm`
/// exists. Tested once for each image.
fn accelerator(root: &Path, image: &Image) -> Result<Accelerator> {
    static TRIED: Mutex<()> = Mutex::new(());
    let _one_at_a_time = TRIED.lock().expect("errors are passed on");
    let [works, hangs] = ["kvm-works", "kvm-hangs"].map(|file| image.folder.join(file));
    if works.exists() {
        return Ok(KVM);
    }
    if hangs.exists() || !Path::new("/dev/kvm").exists() {
        return Ok(EMULATION);
    }
    match run_by(KVM, root, image, (&[Machine::PLAIN], "true"), BOOT_WITH_KVM) {
        Ok(_) => {
            fs::write(&works, "")?;
            Ok(KVM)
        }
        Err(error) => {
            println!("lab: no guest with KVM: {error:#}; emulation from now on");
            fs::write(&hangs, format!("{error:#}\n"))?;
            Ok(EMULATION)
        }
    }
}

fn run_by(
    accelerator: Accelerator,
    root: &Path,
    image: &Image,
    (machines, script): (&[Machine], &str),
    deadline: Duration,
) -> Result<String> {
    let work = tempfile::tempdir_in(&image.folder)?;
    let archive = archive(root, image, script, work.path())?;
    let scene = Scene { image, archive, work: work.path(), accelerator, of: machines.len() };
    let began = Instant::now();
    let mut guests = Vec::new();
    for (number, machine) in (1..).zip(machines) {
        guests.push(scene.start(number, machine)?);
        scene.wait_for_sockets(number)?;
    }
    let (first, others) = guests.split_first_mut().context("a scenario has a guest")?;
    let output =
        first.ended(began, (accelerator.boot, deadline)).and_then(|output| script_of(&output));
    let output = output.with_context(|| others.iter().map(Guest::last_said).collect::<String>())?;
    println!("lab: {}", first.stamps.shown(began.elapsed()));
    // Every section, also the first, begins after a line break.
    Ok(format!("\n{output}"))
}

/// Returns the output of a script that ended with status 0.
fn script_of(output: &str) -> Result<String> {
    let Some((output, code)) = output.rsplit_once("== ended ") else {
        bail!("the guest ended before its script; it printed:\n{output}");
    };
    if code.trim() != "0" {
        bail!("the script ended with {}; it printed:\n{output}", code.trim());
    }
    Ok(output.to_owned())
}

/// Creates the initrd: the image, followed by the stripped program and the script.
fn archive(root: &Path, image: &Image, script: &str, work: &Path) -> Result<PathBuf> {
    let lab = work.join("top/lab");
    fs::create_dir_all(&lab)?;
    fs::write(lab.join("script"), script)?;
    let program = root.join("target/debug/assay");
    let strip =
        command::at_root(root, "strip").arg("-o").arg(lab.join("assay")).arg(&program).status();
    if !strip.is_ok_and(|status| status.success()) {
        fs::copy(&program, lab.join("assay"))?;
    }
    let (top, archive) = (work.join("top.cpio"), work.join("initrd"));
    pack(&work.join("top"), &top)?;
    // The kernel unpacks concatenated archives one after another.
    let mut whole = File::create(&archive)?;
    for part in [&image.base, &top] {
        io::copy(&mut File::open(part)?, &mut whole)?;
    }
    Ok(archive)
}

/// Common settings of the guests of a scenario.
struct Scene<'s> {
    image: &'s Image,
    archive: PathBuf,
    work: &'s Path,
    accelerator: Accelerator,
    /// Number of guests.
    of: usize,
}

impl Scene<'_> {
    fn start(&self, number: usize, machine: &Machine) -> Result<Guest> {
        let file = |name: &str| self.work.join(format!("n{number}.{name}"));
        let [console, output, complaints] = ["console", "output", "complaints"].map(file);
        let mut disks = Vec::new();
        for (at, size_mib) in machine.disks_mib.iter().enumerate() {
            let disk = file(&format!("disk{at}"));
            // Sparse file.
            File::create(&disk)?.set_len(size_mib << 20)?;
            let disk = disk.display();
            disks.push(format!("file={disk},if=none,format=raw,cache=unsafe,id=disk{at}"));
        }
        let line = |file: &Path| format!("file:{}", file.display());
        // Emulated processors share one counter, which the kernel must not distrust; on a busy
        // machine the timer is later than the kernel's check waits. The last two are variables of
        // `init`.
        let counter =
            counter_khz().map_or(String::new(), |khz| format!(" tsc_early_khz={khz}"));
        let parameters = format!(
            "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=reliable{counter} \
             guest={number} guests={}",
            self.of
        );
        // The guest must end when its parent is killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", QEMU])
            .args(["-accel", self.accelerator.name, "-cpu", self.accelerator.processor])
            .args(["-m", &machine.memory_mib.to_string(), "-smp", machine.cpus])
            .args(["-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"])
            .args(disks.iter().flat_map(|disk| ["-drive", disk]))
            .args(network(number, self.of))
            .args(machine.more)
            .arg("-kernel")
            .arg(&self.image.kernel)
            .arg("-initrd")
            .arg(&self.archive)
            .args(["-append", &parameters])
            .args(["-serial", &line(&console), "-serial", &line(&output)])
            .current_dir(self.work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&complaints)?)
            .spawn()
            .with_context(|| format!("cannot start {QEMU}"))?;
        let stamps = Stamps::default();
        Ok(Guest { child, number, console, output, complaints, stamps })
    }

    /// Waits until the first guest listens, before the others connect to it.
    fn wait_for_sockets(&self, number: usize) -> Result<()> {
        let began = Instant::now();
        while number == 1 && !(2..=self.of).all(|other| self.work.join(socket(other)).exists())
        {
            if began.elapsed() > BOOT_WITH_KVM {
                bail!("the first guest does not listen for the others");
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Returns the rate of this machine's time-stamp counter, which is also the guests', if it is
/// known. A guest that calibrates it while this machine is busy gets a clock up to ten times too
/// fast.
fn counter_khz() -> Option<u64> {
    // With frequency scaling, the value below is the current clock rate, not the counter's.
    if Path::new("/sys/devices/system/cpu/cpu0/cpufreq").exists() {
        return None;
    }
    let cpus = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpus.lines().find_map(|line| line.strip_prefix("cpu MHz"))?;
    let mhz: f64 = line.trim_start_matches([':', ' ', '\t']).trim().parse().ok()?;
    Some((mhz * 1e3).round() as u64)
}

/// Returns the file name of a socket, relative to the working directory of the guests: the path of
/// a socket must be short.
fn socket(number: usize) -> String {
    format!("n{number}.socket")
}

/// Returns the options of a guest's network card, if there are several guests. The first one is the
/// switch: it has a socket for each of the others, which only these guests can reach.
fn network(number: usize, guests: usize) -> Vec<String> {
    let mut words = Vec::new();
    if guests == 1 {
        return words;
    }
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    let path = |number| format!("addr.type=unix,addr.path={}", socket(number));
    if number == 1 {
        for other in 2..=guests {
            add("-netdev", format!("stream,id=to{other},server=on,{}", path(other)));
            add("-netdev", format!("hubport,id=port{other},hubid=0,netdev=to{other}"));
        }
        add("-netdev", "hubport,id=own,hubid=0".to_owned());
    } else {
        add("-netdev", format!("stream,id=own,server=off,{}", path(number)));
    }
    // Guests do not boot from the network, so the card needs no boot ROM.
    let card = format!("virtio-net-pci,netdev=own,romfile=,mac=52:54:00:00:00:{number:02x}");
    add("-device", card);
    words
}

/// Guest that is killed when it is dropped.
struct Guest {
    child: Child,
    number: usize,
    /// Output of its kernel.
    console: PathBuf,
    /// Output of its script.
    output: PathBuf,
    /// Error output of qemu.
    complaints: PathBuf,
    stamps: Stamps,
}

/// Start times of the sections, for a breakdown of the elapsed time.
#[derive(Debug, Default)]
struct Stamps(Vec<(String, Duration)>);

impl Stamps {
    /// Records sections that are new in the output.
    fn look(&mut self, output: &[u8], now: Duration) {
        let output = String::from_utf8_lossy(output);
        let names = output.lines().filter_map(|line| line.strip_prefix("== "));
        self.0.extend(names.skip(self.0.len()).map(|name| (name.trim().to_owned(), now)));
    }

    fn shown(&self, end: Duration) -> String {
        let first = self.0.first().map_or(end, |(_, at)| *at);
        let ends = self.0.iter().skip(1).map(|(_, at)| *at).chain([end]);
        let sections =
            self.0.iter().zip(ends).filter(|((name, _), _)| !name.starts_with("ended"));
        let sections = sections.map(|((name, from), to)| {
            format!(", {name} {:.0}", to.saturating_sub(*from).as_secs_f64())
        });
        format!("{:.0} s: boot {:.0}", end.as_secs_f64(), first.as_secs_f64())
            + &sections.collect::<String>()
    }
}

impl Guest {
    /// Waits for the end of the guest and returns its output.
    fn ended(
        &mut self,
        began: Instant,
        (boot, deadline): (Duration, Duration),
    ) -> Result<String> {
        loop {
            if self.child.try_wait()?.is_some() {
                // Serial lines end with CR LF.
                let output = fs::read(&self.output).unwrap_or_default();
                if output.is_empty() {
                    bail!(
                        "it ended before it began; {}",
                        last_lines(&self.console_and_complaints())
                    );
                }
                return Ok(String::from_utf8_lossy(&output).replace('\r', ""));
            }
            let output = fs::read(&self.output).unwrap_or_default();
            self.stamps.look(&output, began.elapsed());
            if output.is_empty() && began.elapsed() > boot {
                let reason = last_lines(&self.console_and_complaints());
                bail!("it printed nothing in {boot:?}; {reason}");
            }
            if began.elapsed() > deadline {
                bail!("it did not end in {deadline:?}; {}", last_lines(&output));
            }
            thread::sleep(LOOK);
        }
    }

    fn console_and_complaints(&self) -> Vec<u8> {
        [&self.console, &self.complaints]
            .map(|file| fs::read(file).unwrap_or_default())
            .concat()
    }

    /// Formats the last output of a guest other than the first, for the error of a failed scenario.
    fn last_said(&self) -> String {
        let mut output = self.console_and_complaints();
        output.extend(fs::read(&self.output).unwrap_or_default());
        format!("\nguest n{}: {}", self.number, last_lines(&output))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    format!("its last lines: {}", lines[lines.len().saturating_sub(8)..].join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_room_is_named() {
        let two = [Machine::PLAIN; 2];
        for (machines, available_mib, is_possible) in [
            (&two[..1], 1792, true),
            (&two[..1], 1791, false),
            (&two, 3583, false),
            (&[], 0, true),
        ] {
            let reason = lacks_memory(machines, available_mib);
            assert_eq!(reason.is_none(), is_possible, "{available_mib}: {reason:?}");
        }
        assert!(available_mib().is_some_and(|mib| mib > 0), "this machine has some");
    }

    #[test]
    fn where_the_time_goes_is_shown() {
        let mut stamps = Stamps::default();
        let seconds = Duration::from_secs;
        for (at, output) in [
            (1, ""),
            (8, "== one\r\ntext"),
            (9, "== one\r\ntext\n== two\n"),
            (20, "== one\ntext\n== two\n== three\nx"),
        ] {
            stamps.look(output.as_bytes(), seconds(at));
        }
        assert_eq!(stamps.shown(seconds(22)), "22 s: boot 8, one 1, two 11, three 2");
        assert_eq!(Stamps::default().shown(seconds(3)), "3 s: boot 3");
    }
}
