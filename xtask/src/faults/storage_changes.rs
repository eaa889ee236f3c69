//! Files, links, devices and mounts that change during a measurement.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{
    FaultCheck, FaultResult, FaultSandbox, describe_exit, error_line, run_system, wait_until,
};

const DISK_BYTES: u64 = 16 << 20;
const PRECIOUS: &str = "what somebody would miss";

pub(super) fn try_all(program: &Path) -> Result<Vec<FaultCheck>> {
    Ok(vec![
        FaultCheck {
            fault: "the target is replaced by a link to another file, between two phases",
            expected: "the second phase fails; the file is unchanged",
            result: replace_target_by_link(program)?,
        },
        FaultCheck {
            fault: "`cp` over a kept file, then a run that writes it, then `clean`",
            expected: "both leave it unchanged",
            result: copy_over_kept_file(program)?,
        },
        FaultCheck {
            fault: "a link like those in `/dev/disk/by-id` leads to another device, between two phases and during the last one",
            expected: "the phase fails; the other device is unchanged",
            result: lead_link_elsewhere(program)?,
        },
        FaultCheck {
            fault: "such a link leads to a device that is mounted",
            expected: "a refusal that reports the user of the device",
            result: write_mounted_device_by_link(program)?,
        },
        FaultCheck {
            fault: "`mount` of a device while it is written",
            expected: "the kernel refuses the mount",
            result: mount_while_writing(program)?,
        },
        FaultCheck {
            fault: "the device shrinks during a run, as if removed",
            expected: "the case fails with the kernel's error; nothing is stored as measured",
            result: shrink_device(program)?,
        },
        FaultCheck {
            fault: "the file system turns read-only between two runs",
            expected: "a refusal with that reason",
            result: remount_read_only(program)?,
        },
        FaultCheck {
            fault: "nothing is mounted on the mount point, in every storage command",
            expected: "a refusal, also in --dry-run",
            result: try_missing_mount(program)?,
        },
    ])
}

/// Runs two phases of a Vdbench parameter file with a command between them.
fn run_with_command_between(
    sandbox: &FaultSandbox,
    lun: &str,
    command: &str,
) -> Result<super::AssayOutput> {
    let text = format!(
        "sd=sd1,lun={lun},size=1m,openflags=o_direct\n\
         wd=wd1,sd=sd1,rdpct=0,xfersize=4k,seekpct=random\n\
         rd=default,iorate=100,elapsed=2,interval=1\nrd=rd1,wd=wd1\n\
         rd=rd2,wd=wd1,startcmd=\"{command}\"\n"
    );
    fs::write(sandbox.path("parameters"), text)?;
    sandbox.run_assay(&["vdbench", "-f", "parameters", "--destroy-data", lun])
}

fn replace_target_by_link(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    fs::write(sandbox.path("precious"), PRECIOUS)?;
    let run = run_with_command_between(&sandbox, "file", "mv file aside; ln -s precious file")?;
    let is_unchanged = fs::read_to_string(sandbox.path("precious"))? == PRECIOUS;
    Ok(FaultResult::passed_if(is_unchanged && run.code == Some(4), error_line(&run.err)))
}

fn copy_over_kept_file(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let options = ["file", "--size", "1MiB", "--for", "100ms", "--buffered"];
    sandbox.run_assay(&[&["storage", "read", "--keep"][..], &options].concat())?;
    fs::write(sandbox.path("file"), PRECIOUS)?;
    let run = sandbox.run_assay(&[&["storage", "write"][..], &options].concat())?;
    let clean = sandbox.run_assay(&["storage", "clean"])?;
    let is_unchanged =
        fs::read_to_string(sandbox.path("file")).is_ok_and(|text| text == PRECIOUS);
    Ok(FaultResult::passed_if(
        is_unchanged && run.code == Some(2) && clean.code == Some(4),
        error_line(&run.err),
    ))
}

/// Loop device, unmounted and detached on drop.
pub(super) struct LoopDisk(pub(super) String);

impl LoopDisk {
    pub(super) fn attach(file: &Path, bytes: u64) -> Result<std::result::Result<Self, String>> {
        fs::File::create(file)?.set_len(bytes)?;
        let path = file.to_string_lossy();
        Ok(run_system(&["losetup", "-f", "--show", &path]).map(Self))
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        drop(run_system(&["umount", &self.0]));
        drop(run_system(&["losetup", "-d", &self.0]));
    }
}

/// Attaches two loop devices, and links to the first one.
fn link_to_first_device(
    sandbox: &FaultSandbox,
) -> Result<std::result::Result<[LoopDisk; 2], String>> {
    let [first, second] =
        ["first", "second"].map(|name| LoopDisk::attach(&sandbox.path(name), DISK_BYTES));
    let (first, second) = match (first?, second?) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(reason), _) | (_, Err(reason)) => return Ok(Err(reason)),
    };
    symlink(&first.0, sandbox.path("wwn-0x5"))?;
    Ok(Ok([first, second]))
}

fn lead_link_elsewhere(program: &Path) -> Result<FaultResult> {
    const OPTIONS: &[&str] =
        &["storage", "write", "wwn-0x5", "--for", "4s", "--destroy-data", "wwn-0x5"];
    let sandbox = FaultSandbox::new(program)?;
    let devices = match link_to_first_device(&sandbox)? {
        Ok(devices) => devices,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let change = format!("ln -sfn {} wwn-0x5", devices[1].0);
    let between = run_with_command_between(&sandbox, "wwn-0x5", &change)?;
    fs::remove_file(sandbox.path("wwn-0x5"))?;
    symlink(&devices[0].0, sandbox.path("wwn-0x5"))?;
    let mut child = sandbox.spawn_assay(OPTIONS)?;
    std::thread::sleep(std::time::Duration::from_secs(2));
    fs::remove_file(sandbox.path("wwn-0x5"))?;
    symlink(&devices[1].0, sandbox.path("wwn-0x5"))?;
    let during = child.wait()?.code();
    let is_unchanged = fs::read(sandbox.path("second"))?.iter().all(|byte| *byte == 0);
    let codes = [between.code, during];
    Ok(FaultResult::passed_if(is_unchanged && codes == [Some(4); 2], error_line(&between.err)))
}

fn write_mounted_device_by_link(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let devices = match link_to_first_device(&sandbox)? {
        Ok(devices) => devices,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let folder = sandbox.path("mounted");
    fs::create_dir(&folder)?;
    let prepared = run_system(&["mkfs.ext4", "-q", &devices[0].0])
        .and_then(|_| run_system(&["mount", &devices[0].0, &folder.to_string_lossy()]));
    if let Err(reason) = prepared {
        return Ok(FaultResult::NotTried(reason));
    }
    let words = ["storage", "write", "wwn-0x5", "--for", "1s", "--destroy-data", "wwn-0x5"];
    let run = sandbox.run_assay(&words)?;
    let is_refused = run.code == Some(2) && run.err.contains("it is in use: mounted on");
    Ok(FaultResult::passed_if(is_refused, error_line(&run.err)))
}

fn mount_while_writing(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let disk = sandbox.path("disk");
    let device = match LoopDisk::attach(&disk, DISK_BYTES)? {
        Ok(device) => device,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let folder = sandbox.path("mounted");
    fs::create_dir(&folder)?;
    let command =
        format!("mkfs.ext4 -qF {} 4M; mount {} {}", disk.display(), device.0, folder.display());
    let run = run_with_command_between(&sandbox, &device.0, &command)?;
    let is_mounted =
        fs::read_to_string("/proc/self/mountinfo")?.contains(&*folder.to_string_lossy());
    Ok(FaultResult::passed_if(!is_mounted && run.code == Some(4), error_line(&run.err)))
}

fn shrink_device(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let disk = sandbox.path("disk");
    let device = match LoopDisk::attach(&disk, DISK_BYTES)? {
        Ok(device) => device,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let arguments = ["storage", "read", &device.0, "--random", "--for", "3s", "--depth", "4"];
    let mut child = sandbox.spawn_assay(&arguments)?;
    let store = sandbox.path("assay");
    wait_until(|| store.is_dir());
    std::thread::sleep(std::time::Duration::from_secs(1));
    fs::File::options().write(true).open(&disk)?.set_len(1 << 20)?;
    let code = child.wait()?.code();
    let stored_run = sandbox.run_assay(&["show", "--json"])?;
    let is_failed = code == Some(4) && stored_run.out.contains("Input/output error");
    Ok(FaultResult::passed_if(is_failed, describe_exit(code)))
}

fn remount_read_only(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let device = match LoopDisk::attach(&sandbox.path("disk"), DISK_BYTES)? {
        Ok(device) => device,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let folder: PathBuf = sandbox.path("mounted");
    fs::create_dir(&folder)?;
    let mount_point = folder.to_string_lossy().into_owned();
    let prepared = run_system(&["mkfs.ext4", "-q", &device.0])
        .and_then(|_| run_system(&["mount", &device.0, &mount_point]))
        .and_then(|_| run_system(&["mount", "-o", "remount,ro", &mount_point]));
    if let Err(reason) = prepared {
        return Ok(FaultResult::NotTried(reason));
    }
    let run =
        sandbox.run_assay(&["storage", "read", "mounted", "--size", "1MiB", "--for", "1s"])?;
    let is_reported =
        matches!(run.code, Some(2 | 4)) && run.err.contains("is mounted read-only");
    Ok(FaultResult::passed_if(is_reported, error_line(&run.err)))
}

fn try_missing_mount(program: &Path) -> Result<FaultResult> {
    const NOWHERE: &str = "/srv/assay-nobody-mounts-this";
    let sandbox = FaultSandbox::new(program)?;
    fs::write(sandbox.path("job"), format!("[a]\nrw=write\nsize=1m\nfilename={NOWHERE}\n"))?;
    symlink(NOWHERE, sandbox.path("link"))?;
    for arguments in [
        &["storage", "write", NOWHERE, "--size", "1MiB"][..],
        &["storage", "write", NOWHERE, "--size", "1MiB", "--dry-run"],
        &["run", "storage-local", "--target", NOWHERE, "--dry-run"],
        &["fio", "job"],
        &["ior", "-b", "1m", "-t", "1m", "-o", NOWHERE],
    ] {
        let run = sandbox.run_assay(arguments)?;
        let is_refused =
            matches!(run.code, Some(2 | 4)) && run.err.contains("nothing is mounted");
        if !is_refused || Path::new(NOWHERE).exists() {
            return Ok(FaultResult::Failed(format!(
                "{}: {}",
                arguments.join(" "),
                run.err.trim()
            )));
        }
    }
    Ok(FaultResult::Passed("refused by all".to_owned()))
}
