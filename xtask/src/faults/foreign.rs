//! Foreign data in folders that assay writes and removes: hard links, mounts, files of other users.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{
    AssayOutput, FaultCheck, FaultResult, FaultSandbox, describe_exit, error_line, read_tree,
};

const PRECIOUS: &str = "what somebody would miss";
const FILES: &str = "storage files data --width 2 --files 2 --size 4KiB --for 300ms --keep";
/// Exit code of the script of [`run_with_mount`] if it may not mount.
const NO_MOUNT: Option<i32> = Some(99);

pub(super) fn try_all(program: &Path) -> Result<Vec<FaultCheck>> {
    Ok(vec![
        FaultCheck {
            fault: "a hard link to somebody's file in the place of a kept tree's, then a test that writes the tree",
            expected: "a refusal with that reason; the file is as it was",
            result: try_hard_link_in_tree(program)?,
        },
        FaultCheck {
            fault: "a target with a second hard link, which `--destroy-data` names",
            expected: "a refusal with that reason; the file is as it was",
            result: try_hard_linked_target(program)?,
        },
        FaultCheck {
            fault: "a bind mount of the same file system inside a kept tree, then a test that writes, and `clean`",
            expected: "both refuse before anything is written or removed",
            result: try_mount_in_tree(program)?,
        },
        FaultCheck {
            fault: "a bind mount in the folder of a run, then `rm` of that run and of another",
            expected: "a refusal; neither run is removed, and nothing of what is mounted",
            result: try_mount_in_run(program)?,
        },
        FaultCheck {
            fault: "somebody's file in the folder of a run, then `rm`",
            expected: "the run is removed; the file stays and is named",
            result: try_foreign_file_in_run(program)?,
        },
    ])
}

/// Creates a kept tree and returns its files.
fn create_kept_tree(sandbox: &FaultSandbox) -> Result<Vec<PathBuf>> {
    fs::create_dir(sandbox.path("data"))?;
    sandbox.run_assay(&split_words(&format!("{FILES} --operations create")))?;
    let paths = read_tree(&sandbox.path("data"))?.into_iter().map(|(path, _)| path);
    Ok(paths.filter(|path| path.to_string_lossy().contains("vdb_f")).collect())
}

fn split_words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn try_hard_link_in_tree(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let files = create_kept_tree(&sandbox)?;
    let file = files.first().context("the tree has no file")?;
    fs::write(sandbox.path("precious"), PRECIOUS)?;
    fs::remove_file(file)?;
    fs::hard_link(sandbox.path("precious"), file)?;
    let run = sandbox.run_assay(&split_words(&format!("{FILES} --operations write")))?;
    let is_unchanged = fs::read_to_string(sandbox.path("precious"))? == PRECIOUS;
    Ok(FaultResult::passed_if(
        is_unchanged && is_refused(&run, "2 hard links"),
        error_line(&run.err),
    ))
}

fn try_hard_linked_target(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    fs::write(sandbox.path("precious"), PRECIOUS)?;
    fs::hard_link(sandbox.path("precious"), sandbox.path("file"))?;
    let run = "storage write file --size 1MiB --for 300ms --buffered --destroy-data file";
    let run = sandbox.run_assay(&split_words(run))?;
    let is_unchanged = fs::read_to_string(sandbox.path("precious"))? == PRECIOUS;
    Ok(FaultResult::passed_if(
        is_unchanged && is_refused(&run, "2 hard links"),
        error_line(&run.err),
    ))
}

fn try_mount_in_tree(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let files = create_kept_tree(&sandbox)?;
    fs::create_dir(sandbox.path("theirs"))?;
    fs::write(sandbox.path("theirs/vdb_f0001.file"), PRECIOUS)?;
    let mut error = String::new();
    for run in [&format!("{FILES} --operations write"), "storage clean"] {
        let run = run_with_mount(&sandbox, "theirs", "data/assay-files/vdb.1_1.dir", run)?;
        if run.code == NO_MOUNT {
            return Ok(FaultResult::NotTried(run.err.trim().to_owned()));
        }
        let is_unchanged =
            fs::read_to_string(sandbox.path("theirs/vdb_f0001.file"))? == PRECIOUS;
        let is_whole = files.iter().all(|path| path.exists());
        error = error_line(&run.err);
        if !is_unchanged || !is_whole || !is_refused(&run, "is mounted inside") {
            return Ok(FaultResult::Failed(error));
        }
    }
    Ok(FaultResult::Passed(error))
}

/// Stores two runs; returns their names and folders.
fn create_two_runs(sandbox: &FaultSandbox) -> Result<[(String, PathBuf); 2]> {
    let run = split_words("storage read --engine null --for 300ms --quiet");
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

fn try_mount_in_run(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let [(first, folder), (second, other_folder)] = create_two_runs(&sandbox)?;
    let mount_point = folder.join("theirs");
    fs::create_dir(&mount_point)?;
    fs::create_dir(sandbox.path("theirs"))?;
    fs::write(sandbox.path("theirs/file"), PRECIOUS)?;
    let line = format!("rm {second} {first}");
    let run = run_with_mount(&sandbox, "theirs", &mount_point.to_string_lossy(), &line)?;
    if run.code == NO_MOUNT {
        return Ok(FaultResult::NotTried(run.err.trim().to_owned()));
    }
    let is_unchanged =
        fs::read_to_string(sandbox.path("theirs/file")).is_ok_and(|text| text == PRECIOUS);
    let is_whole = [folder, other_folder].iter().all(|run| run.join("events.jsonl").exists());
    let is_expected = is_unchanged && is_whole && is_refused(&run, "is a mount point");
    Ok(FaultResult::passed_if(is_expected, error_line(&run.err)))
}

fn try_foreign_file_in_run(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let [(first, folder), _] = create_two_runs(&sandbox)?;
    fs::write(folder.join("note"), PRECIOUS)?;
    let run = sandbox.run_assay(&["rm", &first])?;
    let is_unchanged =
        fs::read_to_string(folder.join("note")).is_ok_and(|text| text == PRECIOUS);
    let is_gone = !folder.join("events.jsonl").exists();
    let is_expected =
        is_unchanged && is_gone && run.code == Some(4) && run.out.contains("/note stays");
    Ok(FaultResult::passed_if(is_expected, describe_exit(run.code)))
}

/// Runs assay in its own mount namespace, with `folder` bind-mounted on `mount_point`.
fn run_with_mount(
    sandbox: &FaultSandbox,
    folder: &str,
    mount_point: &str,
    line: &str,
) -> Result<AssayOutput> {
    let script = format!("mount --bind {folder} {mount_point} || exit 99; exec \"$0\" \"$@\"");
    sandbox.run_wrapped(
        &["unshare", "--mount", "--map-root-user", "sh", "-c", &script],
        &split_words(line),
    )
}

fn is_refused(run: &AssayOutput, reason: &str) -> bool {
    matches!(run.code, Some(2 | 4)) && run.err.contains(reason)
}
