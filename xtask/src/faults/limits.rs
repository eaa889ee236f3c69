//! Limits of the process and of its control group that are below the need of a command.

use std::path::Path;

use anyhow::Result;

use super::{AssayOutput, FaultCheck, FaultResult, FaultSandbox, describe_exit, error_line};

/// Exit code of [`IN_SMALL_GROUP`] without a control group.
const NO_GROUP: Option<i32> = Some(77);

/// Runs the words behind it in a control group with a limit. Arguments: controller, file of the
/// limit in version 1 and in version 2, value.
const IN_SMALL_GROUP: &str = r#"
first=/sys/fs/cgroup/$1/assay-limits/$2 second=/sys/fs/cgroup/assay-limits/$3 value=$4
shift 4
for at in "$first" "$second"; do
    group=${at%/*}
    [ -d "${group%/*}" ] && mkdir -p "$group" && echo "$value" > "$at" &&
        echo $$ > "$group/cgroup.procs" && exec "$@"
done
exit 77
"#;
/// Runs the words behind it with a limit of file sizes, in blocks of 512 bytes.
const WITH_FILE_LIMIT: &str = "ulimit -f \"$1\" && shift && exec \"$@\"";

pub(super) fn try_all(program: &Path) -> Result<Vec<FaultCheck>> {
    Ok(vec![
        FaultCheck {
            fault: "the limit of file sizes (`ulimit -f`) is below the size of the target",
            expected: "a failure that names the limit; no file is left",
            result: limit_target(program)?,
        },
        FaultCheck {
            fault: "the limit of file sizes is below the size of the events",
            expected: "a failure with that reason",
            result: limit_events(program)?,
        },
        FaultCheck {
            fault: "the control group allows 64 MiB of memory, `storage write --bs 64MiB --depth 8`",
            expected: "a refusal with the memory that is needed and that is usable",
            result: limit_memory(program)?,
        },
        FaultCheck {
            fault: "the control group allows 3 to 7 threads, in `net throughput` and `net latency`",
            expected: "a failure that names `pids.max`",
            result: limit_threads(program)?,
        },
    ])
}

fn run_with_file_limit(
    sandbox: &FaultSandbox,
    blocks: &str,
    arguments: &[&str],
) -> Result<AssayOutput> {
    sandbox.run_wrapped(&["sh", "-c", WITH_FILE_LIMIT, "sh", blocks], arguments)
}

fn limit_target(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let arguments = ["storage", "write", "file", "--size", "1MiB", "--for", "300ms"];
    let run = run_with_file_limit(&sandbox, "100", &arguments)?;
    let is_named = run.code == Some(4) && run.err.contains("ulimit -f");
    let is_removed = !sandbox.path("file").exists();
    Ok(FaultResult::passed_if(is_named && is_removed, error_line(&run.err)))
}

fn limit_events(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let arguments = ["storage", "read", "--engine", "null", "--for", "300ms"];
    let run = run_with_file_limit(&sandbox, "2", &arguments)?;
    let is_named = run.code == Some(4) && run.err.contains("File too large");
    Ok(FaultResult::passed_if(is_named, error_line(&run.err)))
}

/// Runs assay in a control group; `limit` is the arguments of [`IN_SMALL_GROUP`].
fn run_in_group(
    sandbox: &FaultSandbox,
    limit: [&str; 4],
    arguments: &[&str],
) -> Result<AssayOutput> {
    let wrapper = ["sh", "-c", IN_SMALL_GROUP, "sh"];
    let run = sandbox.run_wrapped(&[&wrapper[..], &limit].concat(), arguments);
    for group in [&format!("/sys/fs/cgroup/{}", limit[0]), "/sys/fs/cgroup"] {
        drop(std::fs::remove_dir(Path::new(group).join("assay-limits")));
    }
    run
}

fn limit_memory(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let limit = ["memory", "memory.limit_in_bytes", "memory.max", "64M"];
    let size = ["--size", "1GiB", "--bs", "64MiB", "--depth", "8", "--for", "1s"];
    let run =
        run_in_group(&sandbox, limit, &[&["storage", "write", "file"], &size[..]].concat())?;
    if run.code == NO_GROUP {
        return Ok(FaultResult::NotTried("cannot create a memory control group".to_owned()));
    }
    let is_refused = run.code == Some(2) && run.err.contains("of memory is usable");
    Ok(FaultResult::passed_if(is_refused, error_line(&run.err)))
}

fn limit_threads(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let (mut failed, mut refused) = (Vec::new(), 0);
    for (test, most) in ["throughput", "latency"]
        .iter()
        .flat_map(|test| ["3", "4", "5", "6", "7"].map(|most| (test, most)))
    {
        let limit = ["pids", "pids.max", "pids.max", most];
        let run = run_in_group(&sandbox, limit, &["net", test, "--for", "1s"])?;
        if run.code == NO_GROUP {
            return Ok(FaultResult::NotTried("cannot create a group of processes".to_owned()));
        }
        let is_named = run.code == Some(4) && run.err.contains("pids.max");
        refused += u32::from(is_named);
        if run.err.contains("panicked") || !(is_named || run.code == Some(0)) {
            failed.push(format!("{test} with {most}: {}", describe_exit(run.code)));
        }
    }
    let description = match failed.is_empty() {
        true => format!("{refused} of 10 refused"),
        false => failed.join("; "),
    };
    Ok(FaultResult::passed_if(failed.is_empty(), description))
}
