//! Foreign data in folders that assay writes and removes: hard links, mounts, files of other users.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{AssayOutput, FaultResult, FaultSandbox, TriedFault, error_line, read_tree};

const PRECIOUS: &str = "what somebody would miss";
const FILES: &str = "storage files data --width 2 --files 2 --size 4KiB --for 300ms --keep";
/// Exit code of the script of [`with_mount`] if it may not mount.
const NO_MOUNT: Option<i32> = Some(99);

pub(super) fn run_all(program: &Path) -> Result<Vec<TriedFault>> {
    Ok(vec![
        TriedFault {
            fault: "a hard link to somebody's file in the place of a kept tree's, then a test that writes the tree",
            expected: "a refusal with that reason; the file is as it was",
            result: linked_in_a_tree(program)?,
        },
        TriedFault {
            fault: "a target with a second hard link, which `--destroy-data` names",
            expected: "a refusal with that reason; the file is as it was",
            result: linked_target(program)?,
        },
        TriedFault {
            fault: "a bind mount of the same file system inside a kept tree, then a test that writes, and `clean`",
            expected: "both refuse before anything is written or removed",
            result: mounted_in_a_tree(program)?,
        },
        TriedFault {
            fault: "a bind mount in the folder of a run, then `rm` of that run and of another",
            expected: "a refusal; neither run is removed, and nothing of what is mounted",
            result: mounted_in_a_run(program)?,
        },
        TriedFault {
            fault: "somebody's file in the folder of a run, then `rm`",
            expected: "the run is removed; the file stays and is named",
            result: file_in_a_run(program)?,
        },
    ])
}

/// Creates a kept tree and returns its files.
fn create_kept_tree(sandbox: &FaultSandbox) -> Result<Vec<PathBuf>> {
    fs::create_dir(sandbox.path("data"))?;
    sandbox.run_assay(&words(&format!("{FILES} --operations create")))?;
    let paths = read_tree(&sandbox.path("data"))?.into_iter().map(|(path, _)| path);
    Ok(paths.filter(|path| path.to_string_lossy().contains("vdb_f")).collect())
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn linked_in_a_tree(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let files = create_kept_tree(&sandbox)?;
    let file = files.first().context("the tree has no file")?;
    fs::write(sandbox.path("precious"), PRECIOUS)?;
    fs::remove_file(file)?;
    fs::hard_link(sandbox.path("precious"), file)?;
    let run = sandbox.run_assay(&words(&format!("{FILES} --operations write")))?;
    let is_unchanged = fs::read_to_string(sandbox.path("precious"))? == PRECIOUS;
    Ok(FaultResult::held_if(
        is_unchanged && is_refused(&run, "2 hard links"),
        error_line(&run.err),
    ))
}

fn linked_target(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    fs::write(sandbox.path("precious"), PRECIOUS)?;
    fs::hard_link(sandbox.path("precious"), sandbox.path("file"))?;
    let run = "storage write file --size 1MiB --for 300ms --buffered --destroy-data file";
    let run = sandbox.run_assay(&words(run))?;
    let is_unchanged = fs::read_to_string(sandbox.path("precious"))? == PRECIOUS;
    Ok(FaultResult::held_if(
        is_unchanged && is_refused(&run, "2 hard links"),
        error_line(&run.err),
    ))
}

fn mounted_in_a_tree(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let files = create_kept_tree(&sandbox)?;
    fs::create_dir(sandbox.path("theirs"))?;
    fs::write(sandbox.path("theirs/vdb_f0001.file"), PRECIOUS)?;
    let mut error = String::new();
    for run in [&format!("{FILES} --operations write"), "storage clean"] {
        let run = with_mount(&sandbox, "theirs", "data/assay-files/vdb.1_1.dir", run)?;
        if run.code == NO_MOUNT {
            return Ok(FaultResult::NotTried(run.err.trim().to_owned()));
        }
        let is_unchanged =
            fs::read_to_string(sandbox.path("theirs/vdb_f0001.file"))? == PRECIOUS;
        let is_whole = files.iter().all(|path| path.exists());
        error = error_line(&run.err);
        if !is_unchanged || !is_whole || !is_refused(&run, "is mounted inside") {
            return Ok(FaultResult::Broke(error));
        }
    }
    Ok(FaultResult::Held(error))
}

/// Stores two runs; returns their names and folders.
fn two_runs(sandbox: &FaultSandbox) -> Result<[(String, PathBuf); 2]> {
    let run = words("storage read --engine null --for 300ms --quiet");
    sandbox.run_assay(&run)?;
    sandbox.run_assay(&run)?;
    let folders = fs::read_dir(sandbox.path("assay/runs"))?;
    let runs = folders.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.path()))
    });
    let runs = runs.collect::<Result<Vec<_>>>()?;
    runs.try_into().ok().context("there are not two runs")
}

fn mounted_in_a_run(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let [(first, folder), (second, other_folder)] = two_runs(&sandbox)?;
    let mount_point = folder.join("theirs");
    fs::create_dir(&mount_point)?;
    fs::create_dir(sandbox.path("theirs"))?;
    fs::write(sandbox.path("theirs/file"), PRECIOUS)?;
    let line = format!("rm {second} {first}");
    let run = with_mount(&sandbox, "theirs", &mount_point.to_string_lossy(), &line)?;
    if run.code == NO_MOUNT {
        return Ok(FaultResult::NotTried(run.err.trim().to_owned()));
    }
    let is_unchanged =
        fs::read_to_string(sandbox.path("theirs/file")).is_ok_and(|text| text == PRECIOUS);
    let is_whole = [folder, other_folder].iter().all(|run| run.join("events.jsonl").exists());
    let is_expected = is_unchanged && is_whole && is_refused(&run, "is a mount point");
    Ok(FaultResult::held_if(is_expected, error_line(&run.err)))
}

fn file_in_a_run(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let [(first, folder), _] = two_runs(&sandbox)?;
    fs::write(folder.join("note"), PRECIOUS)?;
    let run = sandbox.run_assay(&["rm", &first])?;
    let is_unchanged =
        fs::read_to_string(folder.join("note")).is_ok_and(|text| text == PRECIOUS);
    let is_gone = !folder.join("events.jsonl").exists();
    let is_expected =
        is_unchanged && is_gone && run.code == Some(4) && run.out.contains("/note stays");
    Ok(FaultResult::held_if(is_expected, format!("exit code {:?}", run.code)))
}

/// Runs assay in its own mount namespace, with `folder` bind-mounted on `mount_point`.
fn with_mount(
    sandbox: &FaultSandbox,
    folder: &str,
    mount_point: &str,
    line: &str,
) -> Result<AssayOutput> {
    let script = format!("mount --bind {folder} {mount_point} || exit 99; exec \"$0\" \"$@\"");
    sandbox.run_wrapped(
        &["unshare", "--mount", "--map-root-user", "sh", "-c", &script],
        &words(line),
    )
}

fn is_refused(run: &AssayOutput, reason: &str) -> bool {
    matches!(run.code, Some(2 | 4)) && run.err.contains(reason)
}
