//! Checks of the folders of a run, before anything is written, and of each test folder before its use.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_dialects::mdtest::layout::TreeSize;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_fleet::mounts;
use assay_fleet::root::Root;
use assay_model::path_text;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::StoragePlan;
use assay_store::mount;

use super::super::{rank_details, record, status_file};
use super::run_options;
use crate::failure::CommandFailure;
use crate::storage::created_files::{self, CreatedFiles, CreatedRecord};
use crate::storage::created_tree::{self, TreeNames};
use crate::storage::options::RunOptions;
use crate::storage::{file_trees, safety, volume};

/// Returns the records of all test folders that assay created.
pub(super) fn list_records(created: &CreatedFiles) -> Vec<CreatedRecord> {
    created.list().into_iter().filter(CreatedRecord::is_test_folder).collect()
}

/// Refuses a run that must not change its folders or does not fit, before anything is written.
///
/// # Errors
/// The first refusal.
pub fn check(options: &MdtestOptions, store: Option<&Path>) -> Result<(), CommandFailure> {
    let allowed = run_options(options, store);
    let plan = FilePlan { phases: record::describe_phases(options) };
    volume::check(&StoragePlan::default(), &plan, &allowed)?;
    let records = list_records(&CreatedFiles::open(store)?);
    let mounts = mounts::read(&Root::machine());
    for path in options.paths.iter().map(|path| path_text::decode_path(path)) {
        check_path(&path, options)
            .and_then(|()| file_trees::refuse_kernel_folder(&path, &mounts))
            .and_then(|()| check_test_folders(&path, options, (&records, &allowed)))
            .map_err(|failure| failure.with_target(&path))?;
    }
    refuse_same_folders(options)?;
    status_file::check(options)?;
    rank_details::check(options)?;
    check_space(options)
}

/// Refuses several names of one folder, whose tasks would create the same items.
fn refuse_same_folders(options: &MdtestOptions) -> Result<(), CommandFailure> {
    let mut found = BTreeSet::new();
    for path in options.paths.iter().map(|path| path_text::decode_path(path)) {
        let Some(real) = resolve_folder(&path) else { continue };
        if !found.insert(real) {
            let what = format!("-d names the folder {} twice", path.display());
            return Err(CommandFailure::usage(what)
                .with_reason("the test folders of both would have the same names")
                .advise("name each folder once"));
        }
    }
    Ok(())
}

/// Returns the path without links of a folder that may not exist yet.
fn resolve_folder(path: &Path) -> Option<PathBuf> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    let new = || Some(parent.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(new)
}

/// Refuses a path that is no folder and cannot become one.
fn check_path(path: &Path, options: &MdtestOptions) -> Result<(), CommandFailure> {
    let shown = path.display();
    if path.is_dir() {
        return Ok(());
    }
    if path.symlink_metadata().is_ok() {
        return Err(CommandFailure::usage(format!("{shown} is not a folder"))
            .with_reason("mdtest works on a tree in a folder")
            .advise("name a folder with -d"));
    }
    if !options.create {
        return Err(CommandFailure::usage(format!("there is no folder {shown}"))
            .with_reason("without -C nothing is created")
            .advise(CREATE_FIRST_ADVICE));
    }
    file_trees::check_parent_exists(
        path,
        "make the folder above it, or mount the volume, first",
    )
}

const CREATE_FIRST_ADVICE: &str =
    "create the items first, with the same options and -C instead of -T, -E and -r";

/// Checks the test folders below a path: new ones for a run that creates items, otherwise existing
/// ones, which must be assay's own or permitted if they are changed.
fn check_test_folders(
    path: &Path,
    options: &MdtestOptions,
    permission: (&[CreatedRecord], &RunOptions),
) -> Result<(), CommandFailure> {
    let Some(size) = TreeSize::from_options(options) else { return Ok(()) };
    for iteration in 0..options.iterations {
        for name in size.test_folders(iteration) {
            let folder = path.join(&name);
            let shown = folder.display();
            if options.create && folder.symlink_metadata().is_ok() {
                return Err(CommandFailure::usage(format!("{shown} exists already"))
                    .with_reason("new items among others would be neither those of this run alone nor removed with them")
                    .advise("remove it first, for example with -r, or choose another folder with -d"));
            }
            if options.create {
                continue;
            }
            if !folder.is_dir() {
                return Err(CommandFailure::usage(format!("there is no folder {shown}"))
                    .with_reason("without -C nothing is created")
                    .advise(CREATE_FIRST_ADVICE));
            }
            if options.changes_items() {
                refuse_inner_links(&folder)?;
                check_change(path, &name, permission)?;
            }
        }
    }
    Ok(())
}

/// Refuses to change a test folder with a link or a mount inside.
fn refuse_inner_links(folder: &Path) -> Result<(), CommandFailure> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if let Ok(Some(mounted)) = created_tree::find_mount(&real, TreeNames::Mdtest) {
        let mounted = mounted.display();
        return Err(cannot_change(folder)
            .with_reason(format!("{mounted} is mounted inside, and may hold data of others"))
            .advise(format!("unmount it with `umount {mounted}`")));
    }
    if let Ok(Some(link)) = created_tree::find_link(&real, TreeNames::Mdtest) {
        let link = link.display();
        return Err(cannot_change(folder)
            .with_reason(format!("{link} is a link, which leads out of the tree"))
            .advise(format!("remove it with `rm {link}`")));
    }
    Ok(())
}

fn cannot_change(folder: &Path) -> CommandFailure {
    CommandFailure::usage(format!("cannot change the items in {}", folder.display()))
}

/// Refuses to change an existing test folder: of others, in use, or elsewhere than its path.
///
/// # Errors
/// The refusal.
pub(super) fn check_change(
    path: &Path,
    name: &str,
    (records, allowed): (&[CreatedRecord], &RunOptions),
) -> Result<(), CommandFailure> {
    let folder = path.join(name);
    let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let outer = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let is_named = |it: &Path| {
        allowed.destroy_data.iter().any(|named| named.canonicalize().is_ok_and(|n| n == it))
    };
    if !is_named(&real)
        && let Some(why) = describe_detour(&outer, name, &real)
    {
        return Err(cannot_change(&folder).with_reason(why).advise(format!(
            "permit it with --destroy-data={}: items with mdtest's names are removed there",
            real.display()
        )));
    }
    if records.iter().any(|it| it.path == real && it.is_in_use()) {
        return Err(cannot_change(&folder)
            .with_reason("another assay is using it")
            .advise("wait until that run has ended"));
    }
    let is_own = records.iter().any(|it| it.path == real && it.is_unchanged());
    if is_own || is_named(&real) || is_named(&outer) {
        return Ok(());
    }
    let shown = folder.display();
    Err(CommandFailure::usage(format!("{shown} is not changed without permission"))
        .with_reason("assay did not create this folder, or another program has changed it")
        .advise(format!(
            "permit it with --destroy-data={shown}: items with mdtest's names are removed there"
        )))
}

/// Describes why a test folder is not in the folder of its path; `None` if it is.
fn describe_detour(outer: &Path, name: &str, real: &Path) -> Option<String> {
    if outer.join(name) != real {
        return Some(format!("it is a link to {}", real.display()));
    }
    let is_mount = || -> io::Result<bool> {
        let opened = created_files::open_folder(outer)?;
        Ok(mount::entry_mount_id(&opened, name)? != mount::mount_id(&opened)?)
    };
    is_mount().unwrap_or(false).then(|| "it is a mount point".to_owned())
}

/// Checks that the files of all folders on one file system fit, unless a deadline limits them.
fn check_space(options: &MdtestOptions) -> Result<(), CommandFailure> {
    let size = TreeSize::from_options(options);
    let Some(size) = size.filter(|_| options.create && options.deadline_s == 0) else {
        return Ok(());
    };
    let tasks = if options.shared_file { 1 } else { u64::from(options.tasks) };
    let times = if options.remove { 1 } else { u64::from(options.iterations) };
    let all =
        [size.items, tasks, times].into_iter().fold(options.write_bytes, u64::saturating_mul);
    let each = all / options.paths.len().max(1) as u64;
    let mut needs: BTreeMap<u64, (u64, PathBuf)> = BTreeMap::new();
    for path in options.paths.iter().map(|path| path_text::decode_path(path)) {
        let Some(folder) = file_trees::existing_folder(&path) else { continue };
        let Ok(found) = std::fs::metadata(&folder) else { continue };
        let need = needs.entry(found.dev()).or_insert((0, folder));
        need.0 = need.0.saturating_add(each);
    }
    needs.into_values().try_for_each(|(need, folder)| {
        safety::check_fits(&folder, need, "give smaller -w or -n, or another folder with -d")
    })
}
