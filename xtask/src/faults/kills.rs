//! SIGKILL and SIGSTOP during a run.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::during_measurement::wait_for_measurement;
use super::{FaultCheck, FaultResult, FaultSandbox, read_tree, run_system};

/// Number of kills, each at a later time in the run.
const KILLS: u64 = 12;
const SHORT_RUN: &[&str] =
    &["storage", "write", "file", "--size", "4MiB", "--for", "600ms", "--buffered"];

pub(super) fn try_all(program: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    Ok(vec![
        FaultCheck {
            fault: "SIGKILL, each 80 ms later in the run",
            expected: "the store can be read; `clean` removes the file; the next run works",
            result: try_kills(program, is_brief)?,
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
        std::fs::write(world.path("precious"), "precious")?;
        let mut child = world.spawn_assay(SHORT_RUN)?;
        thread::sleep(Duration::from_millis(20 + 80 * nth));
        child.kill()?;
        child.wait()?;
        let listed = world.run_assay(&["list"])?;
        // The store may not exist yet, if no run began.
        if !matches!(listed.code, Some(0 | 2)) {
            return Ok(FaultResult::Failed(format!(
                "kill {nth}: list exited with {:?}",
                listed.code
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
                "kill {nth}: clean {:?}, next run {:?}, {} files left: {}",
                cleaned.code,
                next.code,
                left.len(),
                next.err
            );
            return Ok(FaultResult::Failed(what));
        }
    }
    Ok(FaultResult::Passed(format!("{} kills", kills.count())))
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
    Ok(FaultResult::passed_if(is_reported, format!("exit code {:?}", status.code())))
}
