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

use super::image::{Image, pack_cpio};
use workbench::command;

const QEMU: &str = "qemu-system-x86_64";
/// Timeout from the start of a guest to the start of its script. Booting takes 6 s under emulation
/// on two cores, and some 40 s with 16 processors.
const BOOT_TIMEOUT: Duration = Duration::from_secs(180);
/// The same timeout with KVM, where a guest boots in a second or not at all.
const KVM_BOOT_TIMEOUT: Duration = Duration::from_secs(20);
/// Memory that qemu needs beyond a guest's, most of it translated code: 1,708 MiB were resident
/// with a guest of 1 GiB in `rdma-pairs`.
const QEMU_OVERHEAD_MIB: u64 = 768;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Hardware of a guest, in addition to the hardware that all guests have.
#[derive(Debug, Clone, Copy)]
pub struct GuestMachine {
    /// Memory of the guest.
    pub memory_mib: u32,
    /// CPUs, in the words of qemu's `-smp`.
    pub cpus: &'static str,
    /// Additional arguments for qemu.
    pub qemu_arguments: &'static [&'static str],
    /// Disks of this many MiB, named `disk0`, `disk1` … for `-device`.
    pub disks_mib: &'static [u64],
}

impl GuestMachine {
    /// Machine with two CPUs and no devices.
    pub const PLAIN: Self =
        Self { memory_mib: 1024, cpus: "2", qemu_arguments: &[], disks_mib: &[] };
}

/// Accelerator of qemu: KVM or emulation.
#[derive(Debug, Clone, Copy)]
struct Accelerator {
    name: &'static str,
    processor: &'static str,
    boot_timeout: Duration,
}

const KVM: Accelerator =
    Accelerator { name: "kvm", processor: "host", boot_timeout: KVM_BOOT_TIMEOUT };
const EMULATION: Accelerator =
    Accelerator { name: "tcg,thread=multi", processor: "max", boot_timeout: BOOT_TIMEOUT };

/// Returns the reason why no guest can run here; `None` if one can.
pub fn unavailable_reason() -> Option<String> {
    let needed = [QEMU, "setpriv", "cpio", "depmod", "dpkg-deb", "apt-cache"];
    let missing = needed.into_iter().find(|program| !command::is_installed(program));
    if !cfg!(target_arch = "x86_64") {
        return Some("guests are x86-64 machines".to_owned());
    }
    missing.map(|program| format!("{program} is not installed"))
}

/// Returns the reason why guests of these machines do not fit into memory.
pub(crate) fn memory_shortage(machines: &[GuestMachine], available_mib: u64) -> Option<String> {
    let needed_mib: u64 =
        machines.iter().map(|it| u64::from(it.memory_mib) + QEMU_OVERHEAD_MIB).sum();
    (needed_mib > available_mib).then(|| {
        format!(
            "its guests need {needed_mib} MiB of memory, but only {available_mib} MiB are available"
        )
    })
}

/// Returns the memory available without swapping, in MiB (`MemAvailable` of the kernel).
pub(crate) fn available_mib() -> Option<u64> {
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? >> 10)
}

/// Script, and the guests that run it.
#[derive(Debug, Clone, Copy)]
pub struct GuestJob<'s> {
    /// Machines of the guests.
    pub machines: &'s [GuestMachine],
    /// Text of the script.
    pub script: &'s str,
    /// Variables of the script, as parameters of the kernel's command line: `brief=yes`.
    pub variables: &'s str,
}

/// Functions that scripts read from `/lab`.
const SCRIPT_LIBRARIES: [(&str, &str); 1] =
    [("rdma_device.sh", include_str!("../scripts/rdma_device.sh"))];

/// Runs a script in new guests, the hosts `n1`, `n2` … of one network, and returns the output of
/// the first. All guests end with the first.
pub fn run(
    root: &Path,
    image: &Image,
    job: GuestJob<'_>,
    deadline: Duration,
) -> Result<String> {
    let accelerator = choose_accelerator(root, image)?;
    run_with(accelerator, root, image, job, deadline)
}

/// Chooses KVM if a guest boots with it, otherwise emulation: a guest may hang although `/dev/kvm`
/// exists. The test runs once for each image.
fn choose_accelerator(root: &Path, image: &Image) -> Result<Accelerator> {
    static TRIED: Mutex<()> = Mutex::new(());
    let _one_at_a_time = TRIED.lock().expect("errors are passed on");
    let [works, hangs] = ["kvm-works", "kvm-hangs"].map(|file| image.folder.join(file));
    if works.exists() {
        return Ok(KVM);
    }
    if hangs.exists() || !Path::new("/dev/kvm").exists() {
        return Ok(EMULATION);
    }
    let job = GuestJob { machines: &[GuestMachine::PLAIN], script: "true", variables: "" };
    match run_with(KVM, root, image, job, KVM_BOOT_TIMEOUT) {
        Ok(_) => {
            fs::write(&works, "")?;
            Ok(KVM)
        }
        Err(error) => {
            println!(
                "lab: guests do not boot with KVM: {error:#}; using emulation from now on"
            );
            fs::write(&hangs, format!("{error:#}\n"))?;
            Ok(EMULATION)
        }
    }
}

fn run_with(
    accelerator: Accelerator,
    root: &Path,
    image: &Image,
    GuestJob { machines, script, variables }: GuestJob<'_>,
    deadline: Duration,
) -> Result<String> {
    let work = tempfile::tempdir_in(&image.folder)?;
    let initrd = create_initrd(root, image, script, work.path())?;
    let setup = GuestSetup {
        image,
        initrd,
        work: work.path(),
        accelerator,
        guest_count: machines.len(),
        variables,
    };
    let start = Instant::now();
    let mut guests = Vec::new();
    for (number, machine) in (1..).zip(machines) {
        guests.push(setup.start(number, machine)?);
        setup.wait_for_sockets(number)?;
    }
    let (first, others) =
        guests.split_first_mut().context("a scenario has at least one guest")?;
    let output = first
        .wait_for_output(start, (accelerator.boot_timeout, deadline))
        .and_then(|output| script_output(&output));
    let output = output
        .with_context(|| others.iter().map(Guest::format_last_output).collect::<String>())?;
    println!("lab: {}", first.section_times.format(start.elapsed()));
    // Every section, also the first, begins after a line break.
    Ok(format!("\n{output}"))
}

/// Returns the output of a script that ended with status 0.
fn script_output(output: &str) -> Result<String> {
    let Some((output, code)) = output.rsplit_once("== ended ") else {
        bail!("the guest ended before its script; it printed:\n{output}");
    };
    if code.trim() != "0" {
        bail!("the script ended with {}; it printed:\n{output}", code.trim());
    }
    Ok(output.to_owned())
}

/// Creates the initrd: the image, followed by the stripped program and the script.
fn create_initrd(root: &Path, image: &Image, script: &str, work: &Path) -> Result<PathBuf> {
    let lab = work.join("top/lab");
    fs::create_dir_all(&lab)?;
    fs::write(lab.join("script"), script)?;
    for (name, text) in SCRIPT_LIBRARIES {
        fs::write(lab.join(name), text)?;
    }
    let program = root.join("target/debug/assay");
    let strip =
        command::at_root(root, "strip").arg("-o").arg(lab.join("assay")).arg(&program).status();
    if !strip.is_ok_and(|status| status.success()) {
        fs::copy(&program, lab.join("assay"))?;
    }
    let (top, archive) = (work.join("top.cpio"), work.join("initrd"));
    pack_cpio(&work.join("top"), &top)?;
    // The kernel unpacks concatenated archives one after another.
    let mut initrd = File::create(&archive)?;
    for part in [&image.base, &top] {
        io::copy(&mut File::open(part)?, &mut initrd)?;
    }
    Ok(archive)
}

/// Common settings of the guests of a scenario.
struct GuestSetup<'s> {
    image: &'s Image,
    initrd: PathBuf,
    work: &'s Path,
    accelerator: Accelerator,
    /// Number of guests.
    guest_count: usize,
    /// Variables of the script.
    variables: &'s str,
}

impl GuestSetup<'_> {
    fn start(&self, number: usize, machine: &GuestMachine) -> Result<Guest> {
        let file = |name: &str| self.work.join(format!("n{number}.{name}"));
        let [console, output, qemu_errors] = ["console", "output", "complaints"].map(file);
        let mut disks = Vec::new();
        for (index, size_mib) in machine.disks_mib.iter().enumerate() {
            let disk = file(&format!("disk{index}"));
            // Sparse file.
            File::create(&disk)?.set_len(size_mib << 20)?;
            let disk = disk.display();
            disks.push(format!("file={disk},if=none,format=raw,cache=unsafe,id=disk{index}"));
        }
        let serial_output = |file: &Path| format!("file:{}", file.display());
        // Emulated processors share one time-stamp counter, so the kernel must trust it. Its check
        // of the timer would fail on a busy machine. The last parameters are variables of
        // `init` and the script.
        let tsc_parameter =
            tsc_khz().map_or(String::new(), |khz| format!(" tsc_early_khz={khz}"));
        let parameters = format!(
            "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=reliable{tsc_parameter} \
             guest={number} guests={} {}",
            self.guest_count, self.variables
        );
        // The guest must end when its parent is killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", QEMU])
            .args(["-accel", self.accelerator.name, "-cpu", self.accelerator.processor])
            .args(["-m", &machine.memory_mib.to_string(), "-smp", machine.cpus])
            .args(["-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"])
            .args(disks.iter().flat_map(|disk| ["-drive", disk]))
            .args(network_options(number, self.guest_count))
            .args(machine.qemu_arguments)
            .arg("-kernel")
            .arg(&self.image.kernel)
            .arg("-initrd")
            .arg(&self.initrd)
            .args(["-append", &parameters])
            .args(["-serial", &serial_output(&console), "-serial", &serial_output(&output)])
            .current_dir(self.work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&qemu_errors)?)
            .spawn()
            .with_context(|| format!("cannot start {QEMU}"))?;
        let section_times = SectionTimes::default();
        Ok(Guest { child, number, console, output, qemu_errors, section_times })
    }

    /// Waits until the first guest listens, before the others connect to it.
    fn wait_for_sockets(&self, number: usize) -> Result<()> {
        let start = Instant::now();
        while number == 1
            && !(2..=self.guest_count).all(|other| self.work.join(socket_name(other)).exists())
        {
            if start.elapsed() > KVM_BOOT_TIMEOUT {
                bail!("the first guest does not listen for the others");
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

/// Returns the rate of the time-stamp counter of this machine and its guests, if known. A guest
/// that calibrates it while this machine is busy gets a clock up to ten times too fast.
fn tsc_khz() -> Option<u64> {
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
fn socket_name(number: usize) -> String {
    format!("n{number}.socket")
}

/// Returns the options of a guest's network card, if there are several guests. The first one is the
/// switch: it has a socket for each of the others, which only these guests can reach.
fn network_options(number: usize, guests: usize) -> Vec<String> {
    let mut options = Vec::new();
    if guests == 1 {
        return options;
    }
    let mut add = |option: &str, value: String| options.extend([option.to_owned(), value]);
    let path = |number| format!("addr.type=unix,addr.path={}", socket_name(number));
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
    let device = format!("virtio-net-pci,netdev=own,romfile=,mac=52:54:00:00:00:{number:02x}");
    add("-device", device);
    options
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
    qemu_errors: PathBuf,
    section_times: SectionTimes,
}

/// Start times of the sections, for a breakdown of the elapsed time.
#[derive(Debug, Default)]
struct SectionTimes(Vec<(String, Duration)>);

impl SectionTimes {
    /// Records sections that are new in the output.
    fn update(&mut self, output: &[u8], now: Duration) {
        let output = String::from_utf8_lossy(output);
        let names = output.lines().filter_map(|line| line.strip_prefix("== "));
        self.0.extend(names.skip(self.0.len()).map(|name| (name.trim().to_owned(), now)));
    }

    fn format(&self, end: Duration) -> String {
        let boot_end = self.0.first().map_or(end, |(_, start)| *start);
        let ends = self.0.iter().skip(1).map(|(_, start)| *start).chain([end]);
        let sections =
            self.0.iter().zip(ends).filter(|((name, _), _)| !name.starts_with("ended"));
        let sections = sections.map(|((name, from), to)| {
            format!(", {name} {:.0}", to.saturating_sub(*from).as_secs_f64())
        });
        format!("{:.0} s: boot {:.0}", end.as_secs_f64(), boot_end.as_secs_f64())
            + &sections.collect::<String>()
    }
}

impl Guest {
    /// Waits for the end of the guest and returns its output.
    fn wait_for_output(
        &mut self,
        start: Instant,
        (boot_timeout, deadline): (Duration, Duration),
    ) -> Result<String> {
        loop {
            if self.child.try_wait()?.is_some() {
                // Serial lines end with CR LF.
                let output = fs::read(&self.output).unwrap_or_default();
                if output.is_empty() {
                    bail!(
                        "it ended before its script began; {}",
                        last_lines(&self.read_console_and_errors())
                    );
                }
                return Ok(String::from_utf8_lossy(&output).replace('\r', ""));
            }
            let output = fs::read(&self.output).unwrap_or_default();
            self.section_times.update(&output, start.elapsed());
            if output.is_empty() && start.elapsed() > boot_timeout {
                let reason = last_lines(&self.read_console_and_errors());
                bail!("it printed nothing in {boot_timeout:?}; {reason}");
            }
            if start.elapsed() > deadline {
                bail!("no exit code in {deadline:?}; {}", last_lines(&output));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn read_console_and_errors(&self) -> Vec<u8> {
        [&self.console, &self.qemu_errors]
            .map(|file| fs::read(file).unwrap_or_default())
            .concat()
    }

    /// Formats the last output of a guest other than the first, for the error of a failed scenario.
    fn format_last_output(&self) -> String {
        let mut output = self.read_console_and_errors();
        output.extend(fs::read(&self.output).unwrap_or_default());
        format!("\nguest n{}: {}", self.number, last_lines(&output))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // The guest may have ended already.
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
    fn reports_memory_shortage() {
        let two = [GuestMachine::PLAIN; 2];
        for (machines, available_mib, is_possible) in [
            (&two[..1], 1792, true),
            (&two[..1], 1791, false),
            (&two, 3583, false),
            (&[], 0, true),
        ] {
            let reason = memory_shortage(machines, available_mib);
            assert_eq!(reason.is_none(), is_possible, "{available_mib}: {reason:?}");
        }
        assert!(available_mib().is_some_and(|mib| mib > 0), "this machine has some");
    }

    #[test]
    fn formats_section_times() {
        let mut section_times = SectionTimes::default();
        let seconds = Duration::from_secs;
        for (time_s, output) in [
            (1, ""),
            (8, "== one\r\ntext"),
            (9, "== one\r\ntext\n== two\n"),
            (20, "== one\ntext\n== two\n== three\nx"),
        ] {
            section_times.update(output.as_bytes(), seconds(time_s));
        }
        assert_eq!(section_times.format(seconds(22)), "22 s: boot 8, one 1, two 11, three 2");
        assert_eq!(SectionTimes::default().format(seconds(3)), "3 s: boot 3");
    }
}
