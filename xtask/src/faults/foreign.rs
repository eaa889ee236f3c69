//! Foreign data where assay writes and removes: hard links, mounts, files of other users.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{AssayOutput, FaultResult, FaultSandbox, TriedFault, error_line, read_tree};

const PRECIOUS: &str = "what somebody would miss";
const FILES: &str = "storage files data --width 2 --files 2 --size 4KiB --for 300ms --keep";
/// The exit code of a script that was not allowed to mount.
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
fn create_kept_tree(world: &FaultSandbox) -> Result<Vec<PathBuf>> {
    fs::create_dir(world.path("data"))?;
    world.run_assay(&words(&format!("{FILES} --operations create")))?;
    let all = read_tree(&world.path("data"))?.into_iter().map(|(path, _)| path);
    Ok(all.filter(|path| path.to_string_lossy().contains("vdb_f")).collect())
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn linked_in_a_tree(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    let files = create_kept_tree(&world)?;
    let file = files.first().context("the tree has no file")?;
    fs::write(world.path("precious"), PRECIOUS)?;
    fs::remove_file(file)?;
    fs::hard_link(world.path("precious"), file)?;
    let run = world.run_assay(&words(&format!("{FILES} --operations write")))?;
    let same = fs::read_to_string(world.path("precious"))? == PRECIOUS;
    Ok(FaultResult::held_if(same && is_refused(&run, "2 hard links"), error_line(&run.err)))
}

fn linked_target(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    fs::write(world.path("precious"), PRECIOUS)?;
    fs::hard_link(world.path("precious"), world.path("file"))?;
    let run = "storage write file --size 1MiB --for 300ms --buffered --destroy-data file";
    let run = world.run_assay(&words(run))?;
    let same = fs::read_to_string(world.path("precious"))? == PRECIOUS;
    Ok(FaultResult::held_if(same && is_refused(&run, "2 hard links"), error_line(&run.err)))
}

fn mounted_in_a_tree(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    let before = create_kept_tree(&world)?;
    fs::create_dir(world.path("theirs"))?;
    fs::write(world.path("theirs/vdb_f0001.file"), PRECIOUS)?;
    let mut said = String::new();
    for run in [&format!("{FILES} --operations write"), "storage clean"] {
        let run = with_mount(&world, "theirs", "data/assay-files/vdb.1_1.dir", run)?;
        if run.code == NO_MOUNT {
            return Ok(FaultResult::NotTried(run.err.trim().to_owned()));
        }
        let same = fs::read_to_string(world.path("theirs/vdb_f0001.file"))? == PRECIOUS;
        let is_whole = before.iter().all(|path| path.exists());
        said = error_line(&run.err);
        if !same || !is_whole || !is_refused(&run, "is mounted inside") {
            return Ok(FaultResult::Broke(said));
        }
    }
    Ok(FaultResult::Held(said))
}

/// Two runs, with the folders that they are in.
fn two_runs(world: &FaultSandbox) -> Result<[(String, PathBuf); 2]> {
    let run = words("storage read --engine null --for 300ms --quiet");
    world.run_assay(&run)?;
    world.run_assay(&run)?;
    let folders = fs::read_dir(world.path("assay/runs"))?;
    let named = folders.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.path()))
    });
    let named = named.collect::<Result<Vec<_>>>()?;
    named.try_into().ok().context("there are not two runs")
}

fn mounted_in_a_run(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    let [(first, folder), (second, other)] = two_runs(&world)?;
    let place = folder.join("theirs");
    fs::create_dir(&place)?;
    fs::create_dir(world.path("theirs"))?;
    fs::write(world.path("theirs/file"), PRECIOUS)?;
    let line = format!("rm {second} {first}");
    let run = with_mount(&world, "theirs", &place.to_string_lossy(), &line)?;
    if run.code == NO_MOUNT {
        return Ok(FaultResult::NotTried(run.err.trim().to_owned()));
    }
    let same = fs::read_to_string(world.path("theirs/file")).is_ok_and(|it| it == PRECIOUS);
    let is_whole = [folder, other].iter().all(|it| it.join("events.jsonl").exists());
    let held = same && is_whole && is_refused(&run, "is a mount point");
    Ok(FaultResult::held_if(held, error_line(&run.err)))
}

fn file_in_a_run(program: &Path) -> Result<FaultResult> {
    let world = FaultSandbox::new(program)?;
    let [(first, folder), _] = two_runs(&world)?;
    fs::write(folder.join("note"), PRECIOUS)?;
    let run = world.run_assay(&["rm", &first])?;
    let same = fs::read_to_string(folder.join("note")).is_ok_and(|it| it == PRECIOUS);
    let is_gone = !folder.join("events.jsonl").exists();
    let held = same && is_gone && run.code == Some(4) && run.out.contains("/note stays");
    Ok(FaultResult::held_if(held, format!("exit code {:?}", run.code)))
}

/// assay in a mount namespace of its own, in which `folder` is mounted on `place`, too.
fn with_mount(
    world: &FaultSandbox,
    folder: &str,
    place: &str,
    line: &str,
) -> Result<AssayOutput> {
    let script = format!("mount --bind {folder} {place} || exit 99; exec \"$0\" \"$@\"");
    world.run_wrapped(
        &["unshare", "--mount", "--map-root-user", "sh", "-c", &script],
        &words(line),
    )
}

fn is_refused(run: &AssayOutput, why: &str) -> bool {
    matches!(run.code, Some(2 | 4)) && run.err.contains(why)
}
