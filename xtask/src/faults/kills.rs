//! SIGKILL and SIGSTOP during a run.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::under_way::into_the_run;
use super::{End, Tried, World, contents, system};

/// Number of kills, each at a later time in the run.
const KILLS: u64 = 12;
const SHORT: &[&str] =
    &["storage", "write", "file", "--size", "4MiB", "--for", "600ms", "--buffered"];

pub(super) fn all(program: &Path, is_brief: bool) -> Result<Vec<Tried>> {
    Ok(vec![
        Tried {
            fault: "SIGKILL, every 80 ms of a run later",
            expected: "the store can be read; `clean` removes the file; the next run works",
            end: killed(program, is_brief)?,
        },
        Tried {
            fault: "SIGSTOP for 2 s, then SIGCONT",
            expected: "the run ends well and its results carry the doubt `paused`",
            end: stopped(program)?,
        },
    ])
}

fn killed(program: &Path, is_brief: bool) -> Result<End> {
    let step = if is_brief { KILLS / 3 } else { 1 };
    for nth in (0..KILLS).step_by(step as usize) {
        let world = World::new(program)?;
        std::fs::write(world.path("precious"), "precious")?;
        let mut child = world.start(SHORT)?;
        thread::sleep(Duration::from_millis(20 + 80 * nth));
        child.kill()?;
        child.wait()?;
        let listed = world.assay(&["list"])?;
        // The store may not exist yet, if no run began.
        if !matches!(listed.code, Some(0 | 2)) {
            return Ok(End::Broke(format!("kill {nth}: list ended with {:?}", listed.code)));
        }
        let cleaned = world.assay(&["storage", "clean"])?;
        let next = world.assay(SHORT)?;
        let left: Vec<_> = contents(world.folder.path())?
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
            return Ok(End::Broke(what));
        }
    }
    Ok(End::Held(format!("{KILLS} kills")))
}

fn stopped(program: &Path) -> Result<End> {
    let world = World::new(program)?;
    let mut child = world.start(&["storage", "read", "--engine", "null", "--for", "5s"])?;
    let id = child.id().to_string();
    into_the_run(&world);
    for signal in ["-STOP", "-CONT"] {
        if let Err(why) = system(&["kill", signal, &id]) {
            return Ok(End::NotTried(why));
        }
        thread::sleep(Duration::from_secs(2));
    }
    let status = child.wait()?;
    let shown = world.assay(&["show", "--json"])?;
    let is_reported = status.success() && shown.out.contains("\"paused\"");
    Ok(End::of(is_reported, format!("exit code {:?}", status.code())))
}
