//! System calls that fail, as on a full disk: `strace` injects an error at the n-th call, for every
//! n of a short run.

use std::path::Path;

use anyhow::Result;

use super::{AssayOutput, FaultCheck, FaultResult, FaultSandbox, error_line};

/// Maximum n, above the number of calls in a short run. The series ends at the first n without an
/// injected error.
const MAX_CALLS: u32 = 400;
/// Step and limit for `--brief`: two calls of each kind show that the injection works.
const BRIEF_STEP: usize = 20;
const BRIEF_MAX_CALLS: u32 = 40;
const RUN_ARGUMENTS: &[&str] = &["storage", "read", "--engine", "null", "--for", "300ms"];
const LONGER_RUN_ARGUMENTS: &[&str] = &["storage", "read", "--engine", "null", "--for", "3s"];

/// Fails every n-th call of each kind; with `--brief` only a few.
pub(super) fn try_all(program: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    let mut tried = Vec::new();
    for (call, fault) in [
        ("write", "ENOSPC at the n-th `write`, for all n of a run"),
        ("fsync", "EIO at the n-th `fsync`, for all n of a run"),
        ("openat", "EMFILE at the n-th `openat`, for n of a run, each 7th"),
        ("clone3", "EAGAIN at the n-th thread or process, for all n of a run"),
    ] {
        tried.push(FaultCheck {
            fault,
            expected: "a failure with the reason, or a completely stored run; never a panic, and \
                       the next run works",
            result: fail_every_call(program, call, is_brief)?,
        });
    }
    Ok(tried)
}

/// Runs assay after the fault. Repeats it for longer if the machine stalled for the whole run,
/// which is unrelated to the fault.
fn next_run(world: &FaultSandbox) -> Result<AssayOutput> {
    let next = world.run_assay(RUN_ARGUMENTS)?;
    let stood_still = next.err.contains("no I/O completed in the time that counts");
    if stood_still { world.run_assay(LONGER_RUN_ARGUMENTS) } else { Ok(next) }
}

fn fail_every_call(program: &Path, call: &str, is_brief: bool) -> Result<FaultResult> {
    if !crate::command::is_installed("strace") {
        return Ok(FaultResult::NotTried("strace is not installed".to_owned()));
    }
    let (error, step) = match call {
        "fsync" => ("EIO", 1),
        "openat" => ("EMFILE", 7),
        "clone3" => ("EAGAIN", 1),
        _ => ("ENOSPC", 1),
    };
    let (mut failed, mut stored) = (0, 0);
    let step = if is_brief { BRIEF_STEP } else { step };
    let most = if is_brief { BRIEF_MAX_CALLS } else { MAX_CALLS };
    for nth in (1..=most).step_by(step) {
        let world = FaultSandbox::new(program)?;
        let log = world.path("strace");
        let inject = format!("inject={call}:error={error}:when={nth}");
        let trace = format!("trace={call}");
        let log_name = log.to_string_lossy().into_owned();
        let wrapper =
            ["strace", "-f", "-o", log_name.as_str(), "-e", trace.as_str(), "-e", &inject];
        let run = world.run_wrapped(&wrapper, RUN_ARGUMENTS)?;
        let was_made =
            std::fs::read_to_string(&log).is_ok_and(|reported| reported.contains("(INJECTED)"));
        if run.code.is_none() && !was_made {
            return Ok(FaultResult::NotTried(
                "strace is not permitted to trace here".to_owned(),
            ));
        }
        match run.code {
            Some(0) => {
                let verified = world.run_assay(&["verify", "latest"])?;
                if verified.code != Some(0) {
                    let what = error_line(&verified.err);
                    return Ok(FaultResult::Failed(format!(
                        "n = {nth}: exited with 0, but {what}"
                    )));
                }
                stored += 1;
            }
            Some(2..=4) => failed += 1,
            other => {
                let what = format!("n = {nth}: ended with {other:?}: {}", run.err.trim());
                return Ok(FaultResult::Failed(what));
            }
        }
        if run.err.contains("panicked") {
            return Ok(FaultResult::Failed(format!("n = {nth}: {}", error_line(&run.err))));
        }
        let next = next_run(&world)?;
        if next.code != Some(0) {
            let what = next.err.trim().replace('\n', "; ");
            return Ok(FaultResult::Failed(format!("n = {nth}: the next run: {what}")));
        }
        if !was_made {
            break;
        }
    }
    if failed + stored < 2 {
        return Ok(FaultResult::NotTried(format!("a run makes no `{call}`")));
    }
    Ok(FaultResult::Passed(format!("{failed} refused, {stored} stored")))
}
