//! Guests from start to end: a kernel, the image, this build of assay, a script. Nothing waits without a
//! deadline, and nothing of this machine's network is used.

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
/// A guest that has not begun its script by then will not: booting takes 6 s under emulation on two cores, and
/// some 40 s with 16 processors.
const BOOT: Duration = Duration::from_secs(180);
/// The same with the processor's help, where a guest boots in a second if at all.
const BOOT_WITH_KVM: Duration = Duration::from_secs(20);
/// What qemu holds beside a guest's memory, most of it translated code: 1,708 MiB were resident with a guest of 1 GiB in
/// `rdma-pairs`.
const BESIDE_MEMORY_MIB: u64 = 768;
const LOOK: Duration = Duration::from_millis(100);

/// Who executes a guest's instructions.
#[derive(Debug, Clone, Copy)]
struct Accelerator {
    name: &'static str,
    processor: &'static str,
    boot: Duration,
}

const KVM: Accelerator = Accelerator { name: "kvm", processor: "host", boot: BOOT_WITH_KVM };
const EMULATION: Accelerator =
    Accelerator { name: "tcg,thread=multi", processor: "max", boot: BOOT };

/// Why no guest can run here; `None` where one can.
pub(crate) fn impossible() -> Option<String> {
    let needed = [QEMU, "setpriv", "cpio", "depmod", "dpkg-deb", "apt-cache"];
    let missing = needed.into_iter().find(|program| !command::exists(program));
    if !cfg!(target_arch = "x86_64") {
        return Some("guests are x86-64 machines".to_owned());
    }
    missing.map(|program| format!("{program} is not installed"))
}

/// Why guests of these machines have no room here.
pub(crate) fn lacks_memory(machines: &[Machine], available_mib: u64) -> Option<String> {
    let needed_mib: u64 =
        machines.iter().map(|it| u64::from(it.memory_mib) + BESIDE_MEMORY_MIB).sum();
    (needed_mib > available_mib).then(|| {
        format!(
            "its guests need {needed_mib} MiB of memory, and {available_mib} MiB are available"
        )
    })
}

/// Memory that may be used without swapping, as far as the kernel tells (`MemAvailable`, in KiB).
pub(crate) fn available_mib() -> Option<u64> {
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? >> 10)
}

/// Runs a script in new guests, each a host `n1`, `n2` … of one network, and returns what it printed in the first
/// one. When that ends, the others do.
pub(crate) fn run(
    root: &Path,
    image: &Image,
    (machines, script): (&[Machine], &str),
    deadline: Duration,
) -> Result<String> {
    let accelerator = accelerator(root, image)?;
    run_by(accelerator, root, image, (machines, script), deadline)
}

/// The processor's help where a guest boots with it, and emulation otherwise: `/dev/kvm` may be there and a guest
/// hang all the same. Tried once for each image.
fn accelerator(root: &Path, image: &Image) -> Result<Accelerator> {
    static TRIED: Mutex<()> = Mutex::new(());
    let _one_at_a_time = TRIED.lock().expect("who tries passes errors on");
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
    let said =
        first.ended(began, (accelerator.boot, deadline)).and_then(|said| script_of(&said));
    let said = said.with_context(|| others.iter().map(Guest::last_said).collect::<String>())?;
    println!("lab: {}", first.stamps.shown(began.elapsed()));
    // Sections begin after the end of a line, the first one, too.
    Ok(format!("\n{said}"))
}

/// What a script printed that ended well.
fn script_of(said: &str) -> Result<String> {
    let Some((said, code)) = said.rsplit_once("== ended ") else {
        bail!("the guest ended before its script did; it said:\n{said}");
    };
    if code.trim() != "0" {
        bail!("the script ended with {}; it said:\n{said}", code.trim());
    }
    Ok(said.to_owned())
}

/// The image, and on it the program without its debugging information and the script.
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
    // The kernel unpacks archives one after another.
    let mut whole = File::create(&archive)?;
    for part in [&image.base, &top] {
        io::copy(&mut File::open(part)?, &mut whole)?;
    }
    Ok(archive)
}

/// What the guests of a scenario share.
struct Scene<'s> {
    image: &'s Image,
    archive: PathBuf,
    work: &'s Path,
    accelerator: Accelerator,
    /// How many there are.
    of: usize,
}

impl Scene<'_> {
    fn start(&self, number: usize, machine: &Machine) -> Result<Guest> {
        let file = |name: &str| self.work.join(format!("n{number}.{name}"));
        let [console, output, complaints] = ["console", "output", "complaints"].map(file);
        let mut disks = Vec::new();
        for (at, size_mib) in machine.disks_mib.iter().enumerate() {
            let disk = file(&format!("disk{at}"));
            // A file with holes.
            File::create(&disk)?.set_len(size_mib << 20)?;
            let disk = disk.display();
            disks.push(format!("file={disk},if=none,format=raw,cache=unsafe,id=disk{at}"));
        }
        let line = |file: &Path| format!("file:{}", file.display());
        // Emulated processors share one counter, whatever the kernel fears; on a busy machine the timer is later than its
        // check waits. The last two are variables of `init`.
        let counter =
            counter_khz().map_or(String::new(), |khz| format!(" tsc_early_khz={khz}"));
        let parameters = format!(
            "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=reliable{counter} \
             guest={number} guests={}",
            self.of
        );
        // A killed parent ends the guest, too: nobody else would.
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

    /// The first guest has to listen before the others call it.
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

/// Rate of the time-stamp counter that guests read, which is this machine's, as far as it tells. A guest that has to find
/// it out while this machine is busy has a clock that goes ten times too fast.
fn counter_khz() -> Option<u64> {
    // With it the figure below is the clock of the moment.
    if Path::new("/sys/devices/system/cpu/cpu0/cpufreq").exists() {
        return None;
    }
    let cpus = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpus.lines().find_map(|line| line.strip_prefix("cpu MHz"))?;
    let mhz: f64 = line.trim_start_matches([':', ' ', '\t']).trim().parse().ok()?;
    Some((mhz * 1e3).round() as u64)
}

/// Of the folder where the guests are started: the path of a socket must be short.
fn socket(number: usize) -> String {
    format!("n{number}.socket")
}

/// The card of a guest among several. The first one is the switch between all: it has a socket for each of the others,
/// which nothing but these guests can reach.
fn network(number: usize, of: usize) -> Vec<String> {
    let mut words = Vec::new();
    if of == 1 {
        return words;
    }
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    let path = |number| format!("addr.type=unix,addr.path={}", socket(number));
    if number == 1 {
        for other in 2..=of {
            add("-netdev", format!("stream,id=to{other},server=on,{}", path(other)));
            add("-netdev", format!("hubport,id=port{other},hubid=0,netdev=to{other}"));
        }
        add("-netdev", "hubport,id=own,hubid=0".to_owned());
    } else {
        add("-netdev", format!("stream,id=own,server=off,{}", path(number)));
    }
    // Nothing is booted from the network, so no program for that is needed.
    let card = format!("virtio-net-pci,netdev=own,romfile=,mac=52:54:00:00:00:{number:02x}");
    add("-device", card);
    words
}

/// A guest that does not outlive whoever started it.
struct Guest {
    child: Child,
    number: usize,
    /// What its kernel says.
    console: PathBuf,
    /// What its script says.
    output: PathBuf,
    /// What qemu says.
    complaints: PathBuf,
    stamps: Stamps,
}

/// When each section began, which shows where the time goes.
#[derive(Debug, Default)]
struct Stamps(Vec<(String, Duration)>);

impl Stamps {
    /// Looks for sections that were not there before.
    fn look(&mut self, said: &[u8], now: Duration) {
        let said = String::from_utf8_lossy(said);
        let names = said.lines().filter_map(|line| line.strip_prefix("== "));
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
    /// What it has said when it has ended.
    fn ended(
        &mut self,
        began: Instant,
        (boot, deadline): (Duration, Duration),
    ) -> Result<String> {
        loop {
            if self.child.try_wait()?.is_some() {
                // Serial lines end lines as terminals do.
                let said = fs::read(&self.output).unwrap_or_default();
                if said.is_empty() {
                    bail!(
                        "it ended before it began; {}",
                        last_lines(&self.console_and_complaints())
                    );
                }
                return Ok(String::from_utf8_lossy(&said).replace('\r', ""));
            }
            let said = fs::read(&self.output).unwrap_or_default();
            self.stamps.look(&said, began.elapsed());
            if said.is_empty() && began.elapsed() > boot {
                let said = last_lines(&self.console_and_complaints());
                bail!("nothing came from it in {boot:?}; {said}");
            }
            if began.elapsed() > deadline {
                bail!("it did not end in {deadline:?}; {}", last_lines(&said));
            }
            thread::sleep(LOOK);
        }
    }

    fn console_and_complaints(&self) -> Vec<u8> {
        [&self.console, &self.complaints]
            .map(|file| fs::read(file).unwrap_or_default())
            .concat()
    }

    /// What one that was not waited for has to say of a failure.
    fn last_said(&self) -> String {
        let mut said = self.console_and_complaints();
        said.extend(fs::read(&self.output).unwrap_or_default());
        format!("\nguest n{}: {}", self.number, last_lines(&said))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said).into_owned();
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
        for (at, said) in [
            (1, ""),
            (8, "== one\r\ntext"),
            (9, "== one\r\ntext\n== two\n"),
            (20, "== one\ntext\n== two\n== three\nx"),
        ] {
            stamps.look(said.as_bytes(), seconds(at));
        }
        assert_eq!(stamps.shown(seconds(22)), "22 s: boot 8, one 1, two 11, three 2");
        assert_eq!(Stamps::default().shown(seconds(3)), "3 s: boot 3");
    }
}
