//! Targets, created files and stores that another program changes while a phase runs.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::during_measurement::wait_for_measurement;
use super::{
    FaultCheck, FaultResult, FaultSandbox, describe_exit, error_line, run_system, wait_until,
};

/// Options of a run that lasts longer than what disturbs it.
const LONG_RUN: &[&str] =
    &["storage", "write", "file", "--size", "1MiB", "--for", "4s", "--buffered"];
const FILE_BYTES: u64 = 1 << 20;

/// Fault, expected result, and function that injects it.
type Row = (&'static str, &'static str, fn(&Path) -> Result<FaultResult>);

const ROWS: &[Row] = &[
    (
        "the target is truncated in the last phase",
        "the case fails and names the target",
        |program| disturb_target(program, |world| resize(world, FILE_BYTES / 2)),
    ),
    (
        "the target is extended in the last phase",
        "the case fails and names the target",
        |program| disturb_target(program, |world| resize(world, 2 * FILE_BYTES)),
    ),
    (
        "the target is truncated to nothing, and grows back by the writes of the phase",
        "the case fails and names the target",
        truncate_while_it_grows_back,
    ),
    (
        "the target is moved away in the last phase",
        "the case fails and names the target",
        |program| {
            disturb_target(program, |world| {
                Ok(fs::rename(world.path("file"), world.path("elsewhere"))?)
            })
        },
    ),
    (
        "the target is deleted in the last phase",
        "the case fails and names the target",
        |program| disturb_target(program, |world| Ok(fs::remove_file(world.path("file"))?)),
    ),
    (
        "the store is deleted under the run",
        "a failure; no line reports a stored run",
        delete_store,
    ),
    (
        "`clean` during a run under another name, in another PID namespace",
        "the file stays until the run ends, which removes it",
        clean_during_renamed_run,
    ),
    (
        "four runs that write one kept file at the same time",
        "all succeed; `clean` removes the file afterwards",
        |program| write_one_file(program, true),
    ),
    (
        "four runs that write one new file at the same time, and start one after another",
        "all succeed; the last one removes the file",
        |program| write_one_file(program, false),
    ),
    (
        "the file of a run is moved away after its last phase",
        "exit code 4 and an error that names the file; its record stays",
        move_created_file,
    ),
];

pub(super) fn try_all(program: &Path) -> Result<Vec<FaultCheck>> {
    let rows = ROWS.iter();
    rows.map(|(fault, expected, make)| {
        Ok(FaultCheck { fault, expected, result: make(program)? })
    })
    .collect()
}

fn resize(world: &FaultSandbox, bytes: u64) -> Result<()> {
    Ok(fs::File::options().write(true).open(world.path("file"))?.set_len(bytes)?)
}

/// Writes a file of the user, disturbs it while the only phase runs, and expects a failed case.
fn disturb_target(
    program: &Path,
    disturb: fn(&FaultSandbox) -> Result<()>,
) -> Result<FaultResult> {
    // Slow and in order: the phase does not write what was cut off.
    disturb_writes(program, "20", disturb)
}

/// Cuts the target off at three places of a pass of 0.6 s; the next pass writes all of it again.
fn truncate_while_it_grows_back(program: &Path) -> Result<FaultResult> {
    disturb_writes(program, "400", |world| {
        for _ in 0..3 {
            resize(world, 0)?;
            thread::sleep(Duration::from_millis(150));
        }
        Ok(())
    })
}

/// Writes a file of the user in order at `rate_per_s`, disturbs it, and expects a failed case.
fn disturb_writes(
    program: &Path,
    rate_per_s: &str,
    disturb: fn(&FaultSandbox) -> Result<()>,
) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    fs::write(world.path("file"), vec![7; FILE_BYTES as usize])?;
    let in_order = ["--bs", "4KiB", "--rate", rate_per_s, "--destroy-data", "file"];
    let words = [LONG_RUN, &in_order].concat();
    let mut child = world.spawn_assay(&words)?;
    wait_for_measurement(&world);
    disturb(&world)?;
    let code = child.wait()?.code();
    let shown = world.run_assay(&["show", "--json"])?;
    let is_failed = code == Some(4) && shown.out.contains("the target");
    Ok(FaultResult::passed_if(is_failed, describe_exit(code)))
}

fn delete_store(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    let words = ["storage", "read", "--engine", "null", "--for", "4s"];
    let mut command = world.command(&[], &words);
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    wait_for_measurement(&world);
    fs::remove_dir_all(world.path("assay"))?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_failed = output.status.code() == Some(4) && !said.contains("Stored as");
    Ok(FaultResult::passed_if(is_failed, error_line(&said)))
}

fn clean_during_renamed_run(program: &Path) -> Result<FaultResult> {
    const APART: &[&str] = &["unshare", "--pid", "--fork"];
    let mut world = FaultSandbox::new(program)?;
    world.program = world.path("benchmark");
    fs::copy(program, &world.program)?;
    if let Err(why) = run_system(&[APART, &["true"]].concat()) {
        return Ok(FaultResult::NotTried(why));
    }
    let mut command = world.command(APART, LONG_RUN);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn()?;
    wait_for_measurement(&world);
    let cleaned = world.run_assay(&["storage", "clean"])?;
    let is_kept = world.path("file").exists() && cleaned.code == Some(0);
    let code = child.wait()?.code();
    let is_removed = !world.path("file").exists() && code == Some(0);
    Ok(FaultResult::passed_if(is_kept && is_removed, cleaned.out.trim()))
}

fn write_one_file(program: &Path, is_kept: bool) -> Result<FaultResult> {
    const RUNS: usize = 4;
    let world = FaultSandbox::new(program)?;
    if is_kept {
        let kept = ["storage", "read", "file", "--size", "1MiB", "--for", "100ms", "--keep"];
        world.run_assay(&[&kept[..], &["--buffered"]].concat())?;
    }
    let mut children = Vec::new();
    for _ in 0..RUNS {
        children.push(world.spawn_assay(LONG_RUN)?);
        let file = world.path("file");
        wait_until(|| file.metadata().is_ok_and(|it| it.len() == FILE_BYTES));
    }
    let mut codes = Vec::new();
    for mut child in children {
        codes.push(child.wait()?.code());
    }
    let is_there = world.path("file").exists();
    let cleaned = world.run_assay(&["storage", "clean"])?;
    let is_gone = !world.path("file").exists() && cleaned.code == Some(0);
    let held = codes.iter().all(|code| *code == Some(0)) && is_there == is_kept && is_gone;
    let ends: Vec<String> = codes.into_iter().map(describe_exit).collect();
    Ok(FaultResult::passed_if(held, ends.join(", ")))
}

fn move_created_file(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    // The second phase uses another file, so only the end of the run finds that this one is gone.
    let text = "sd=sd1,lun=file,size=1m\nsd=sd2,lun=other,size=1m\n\
                wd=wd1,sd=sd1,rdpct=0,xfersize=4k\nwd=wd2,sd=sd2,rdpct=0,xfersize=4k\n\
                rd=default,iorate=100,elapsed=2,interval=1\nrd=rd1,wd=wd1\n\
                rd=rd2,wd=wd2,startcmd=\"mv file elsewhere\"\n";
    fs::write(world.path("parameters"), text)?;
    let run = world.run_assay(&["vdbench", "-f", "parameters"])?;
    let listed = world.run_assay(&["storage", "clean", "--dry-run"])?;
    let held =
        run.code == Some(4) && run.err.contains("FOLDER/file") && listed.out.contains("file");
    Ok(FaultResult::passed_if(held, error_line(&run.err)))
}
