//! One guest from start to end: a kernel, the image, this build of assay, a script. Nothing waits without
//! a deadline.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
const LOOK: Duration = Duration::from_millis(100);

/// Why no guest can run here; `None` where one can.
pub(crate) fn impossible() -> Option<String> {
    let needed = [QEMU, "setpriv", "cpio", "depmod", "dpkg-deb", "apt-cache"];
    let missing = needed.into_iter().find(|program| !command::exists(program));
    if !cfg!(target_arch = "x86_64") {
        return Some("guests are x86-64 machines".to_owned());
    }
    missing.map(|program| format!("{program} is not installed"))
}

/// Runs a script in a new guest and returns what it printed.
pub(crate) fn run(
    root: &Path,
    image: &Image,
    (machine, script): (&Machine, &str),
    deadline: Duration,
) -> Result<String> {
    let work = tempfile::tempdir_in(&image.folder)?;
    let archive = archive(root, image, script, work.path())?;
    let began = Instant::now();
    for (at, size_mib) in machine.disks_mib.iter().enumerate() {
        File::create(disk(work.path(), at))?.set_len(size_mib << 20)?;
    }
    let said = started((image, machine), work.path(), &archive, deadline)?;
    let Some((said, code)) = said.rsplit_once("== ended ") else {
        bail!("the guest ended before its script did; it said:\n{said}");
    };
    if code.trim() != "0" {
        bail!("the script ended with {}; it said:\n{said}", code.trim());
    }
    println!("lab: {:.0} s", began.elapsed().as_secs_f64());
    // Sections begin after the end of a line, the first one, too.
    Ok(format!("\n{said}"))
}

/// A disk of a guest, as a file with holes.
fn disk(work: &Path, at: usize) -> PathBuf {
    work.join(format!("disk{at}"))
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

/// Boots with the processor's help where that has worked or was never tried, and under emulation otherwise:
/// `/dev/kvm` may be there and a guest hang all the same.
fn started(
    (image, machine): (&Image, &Machine),
    work: &Path,
    archive: &Path,
    deadline: Duration,
) -> Result<String> {
    let of = (image, machine);
    let hangs = image.folder.join("kvm-hangs");
    if Path::new("/dev/kvm").exists() && !hangs.exists() {
        match boot(of, work, archive, ("kvm", "host"), (BOOT_WITH_KVM, deadline)) {
            Ok(said) => return Ok(said),
            Err(error) => {
                println!("lab: no guest with KVM: {error:#}; emulation from now on");
                fs::write(&hangs, format!("{error:#}\n"))?;
            }
        }
    }
    boot(of, work, archive, ("tcg,thread=multi", "max"), (BOOT, deadline))
}

fn boot(
    (image, machine): (&Image, &Machine),
    work: &Path,
    archive: &Path,
    (accelerator, processor): (&str, &str),
    (boot, deadline): (Duration, Duration),
) -> Result<String> {
    let [console, output, complaints] =
        ["console", "output", "complaints"].map(|file| work.join(file));
    let _ = fs::remove_file(&output);
    let line = |file: &Path| format!("file:{}", file.display());
    // A killed parent ends the guest, too: nobody else would.
    let child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", QEMU])
        .args(["-accel", accelerator, "-cpu", processor])
        .args(["-m", &machine.memory_mib.to_string(), "-smp", machine.cpus])
        .args(["-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot"])
        .args((0..machine.disks_mib.len()).flat_map(|at| {
            let file = disk(work, at).display().to_string();
            ["-drive".to_owned(), format!("file={file},if=none,format=raw,id=disk{at}")]
        }))
        .args(machine.more)
        .arg("-kernel")
        .arg(&image.kernel)
        .arg("-initrd")
        .arg(archive)
        // Emulated processors share one counter, whatever the kernel fears.
        .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable"])
        .args(["-serial", &line(&console), "-serial", &line(&output)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&complaints)?)
        .spawn()
        .with_context(|| format!("cannot start {QEMU}"))?;
    let mut guest = Guest(child);
    let began = Instant::now();
    loop {
        if guest.0.try_wait()?.is_some() {
            // Serial lines end lines as terminals do.
            let said = fs::read(&output).unwrap_or_default();
            if said.is_empty() {
                let all =
                    [&console, &complaints].map(|file| fs::read(file).unwrap_or_default());
                bail!("it ended before it began; {}", last_lines(&all.concat()));
            }
            return Ok(String::from_utf8_lossy(&said).replace('\r', ""));
        }
        let has_begun = fs::metadata(&output).is_ok_and(|file| file.len() > 0);
        if !has_begun && began.elapsed() > boot {
            let said = fs::read(&console).unwrap_or_default();
            bail!("nothing came from it in {boot:?}; {}", last_lines(&said));
        }
        if began.elapsed() > deadline {
            let said = fs::read(&output).unwrap_or_default();
            bail!("it did not end in {deadline:?}; {}", last_lines(&said));
        }
        thread::sleep(LOOK);
    }
}

fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    format!("its last lines: {}", lines[lines.len().saturating_sub(8)..].join(" | "))
}

/// A guest that does not outlive whoever started it.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
