//! SIGKILL and SIGSTOP during a run.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::during_measurement::wait_for_measurement;
use super::{FaultCheck, FaultResult, FaultSandbox, describe_exit, read_tree, run_system};

/// Number of kills, each at a later time in the run.
const KILLS: u64 = 12;
const SHORT_RUN: &[&str] =
    &["storage", "write", "file", "--size", "4MiB", "--for", "600ms", "--buffered"];

/// Run that creates a small tree below the folder `tree`, and removes it at its end.
const TREE_RUN: &[&str] = &[
    "storage",
    "files",
    "tree",
    "--width",
    "1",
    "--files",
    "1",
    "--size",
    "4KiB",
    "--operations",
    "create",
    "--for",
    "100ms",
];
/// Maximum number of calls of one kind, above those of [`TREE_RUN`].
const MAX_REMOVALS: u32 = 40;
const BRIEF_MAX_REMOVALS: u32 = 2;

pub(super) fn try_all(program: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    Ok(vec![
        FaultCheck {
            fault: "SIGKILL, each 80 ms later in the run",
            expected: "the store can be read; `clean` removes the file; the next run works",
            result: try_kills(program, is_brief)?,
        },
        FaultCheck {
            fault: "SIGKILL at the n-th removal of a file or folder, for all n of a run that wrote a file, and of one that wrote a tree",
            expected: "`clean` removes the rest, or finishes a removal that was interrupted, with exit code 0; the next run works",
            result: kill_at_each_removal(program, is_brief)?,
        },
        FaultCheck {
            fault: "SIGSTOP for 2 s, then SIGCONT",
            expected: "the run succeeds and its results carry the doubt `paused`",
            result: try_stop(program)?,
        },
    ])
}

fn try_kills(program: &Path, is_brief: bool) -> Result<FaultResult> {
    let step = if is_brief { KILLS / 3 } else { 1 };
    let kills = (0..KILLS).step_by(step as usize);
    for nth in kills.clone() {
        let world = FaultSandbox::new(program)?;
        fs::write(world.path("precious"), "precious")?;
        let mut child = world.spawn_assay(SHORT_RUN)?;
        thread::sleep(Duration::from_millis(20 + 80 * nth));
        child.kill()?;
        child.wait()?;
        let listed = world.run_assay(&["list"])?;
        // The store may not exist yet, if no run began.
        if !matches!(listed.code, Some(0 | 2)) {
            return Ok(FaultResult::Failed(format!(
                "kill {nth}: list: {}",
                describe_exit(listed.code)
            )));
        }
        let cleaned = world.run_assay(&["storage", "clean"])?;
        let next = world.run_assay(SHORT_RUN)?;
        let left: Vec<_> = read_tree(world.folder.path())?
            .into_iter()
            .filter(|(path, _)| path.parent() == Some(world.folder.path()))
            .collect();
        let is_clean = left.len() == 1 && left[0].1 == b"precious";
        if cleaned.code != Some(0) || next.code != Some(0) || !is_clean {
            let what = format!(
                "kill {nth}: clean: {}, next run: {}, {} files left: {}",
                describe_exit(cleaned.code),
                describe_exit(next.code),
                left.len(),
                next.err
            );
            return Ok(FaultResult::Failed(what));
        }
    }
    Ok(FaultResult::Passed(format!("{} kills", kills.count())))
}

/// Kills runs at each of their calls that remove a file or folder, before the call is made.
fn kill_at_each_removal(program: &Path, is_brief: bool) -> Result<FaultResult> {
    if !crate::command::is_installed("strace") {
        return Ok(FaultResult::NotTried("strace is not installed".to_owned()));
    }
    let mut kills = 0;
    for run in [SHORT_RUN, TREE_RUN] {
        // strace counts each kind of call by itself.
        for call in ["unlink", "unlinkat", "rmdir"] {
            for nth in 1..=if is_brief { BRIEF_MAX_REMOVALS } else { MAX_REMOVALS } {
                let world = FaultSandbox::new(program)?;
                fs::create_dir(world.path("tree"))?;
                if run_until_removal(&world, run, (call, nth))? == Some(0) {
                    break;
                }
                kills += 1;
                if let Some(what) = check_after_kill(&world, run)? {
                    let what = format!("{}, {call} {nth}: {what}", run[1]);
                    return Ok(FaultResult::Failed(what));
                }
            }
        }
    }
    // A run removes its file, its record and the lock at least.
    Ok(match kills {
        0..3 => FaultResult::NotTried("strace is not permitted to trace here".to_owned()),
        _ => FaultResult::Passed(format!("{kills} kills")),
    })
}

/// Runs assay until its n-th call of a kind; returns its exit code.
fn run_until_removal(
    world: &FaultSandbox,
    run: &[&str],
    (call, nth): (&str, u32),
) -> Result<Option<i32>> {
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:signal=SIGKILL:when={nth}");
    let log = world.path("log").to_string_lossy().into_owned();
    let wrapper = ["strace", "-f", "-o", &log, "-e", &trace, "-e", &inject];
    Ok(world.run_wrapped(&wrapper, run)?.code)
}

/// Cleans up after a killed run and repeats it; returns a description of an unexpected result.
fn check_after_kill(world: &FaultSandbox, run: &[&str]) -> Result<Option<String>> {
    let cleaned = world.run_assay(&["storage", "clean"])?;
    // An empty folder may stay: folders have no record.
    let is_there = world.path("file").exists() || !read_tree(&world.path("tree"))?.is_empty();
    let next = world.run_assay(run)?;
    let is_expected = cleaned.code == Some(0) && next.code == Some(0) && !is_there;
    let [cleaning, repetition] = [cleaned.code, next.code].map(describe_exit);
    let codes = format!("clean: {cleaning}, next run: {repetition}");
    Ok((!is_expected).then(|| format!("{codes}: {}", cleaned.out.trim())))
}

fn try_stop(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    let mut child =
        world.spawn_assay(&["storage", "read", "--engine", "null", "--for", "5s"])?;
    let id = child.id().to_string();
    wait_for_measurement(&world);
    for signal in ["-STOP", "-CONT"] {
        if let Err(why) = run_system(&["kill", signal, &id]) {
            return Ok(FaultResult::NotTried(why));
        }
        thread::sleep(Duration::from_secs(2));
    }
    let status = child.wait()?;
    let shown = world.run_assay(&["show", "--json"])?;
    let is_reported = status.success() && shown.out.contains("\"paused\"");
    Ok(FaultResult::passed_if(is_reported, describe_exit(status.code())))
}
