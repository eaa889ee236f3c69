//! Folders of a run: permission to change them, their creation and removal.
//!
//! A test folder is changed only if assay created it or `--destroy-data` names it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_dialects::mdtest::layout::{MdtestLayout, TreeSize};
use assay_dialects::mdtest::options::MdtestOptions;
use assay_fleet::mounts;
use assay_fleet::root::Root;
use assay_model::path_text;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::StoragePlan;

use super::{MdtestEvent, MdtestListener, record};
use crate::failure::CommandFailure;
use crate::storage::created_files::{CreatedFiles, CreatedRecord};
use crate::storage::created_tree::{self, TreeNames};
use crate::storage::options::RunOptions;
use crate::storage::{file_trees, runner, safety, volume};

/// Folders of a run.
pub(super) struct TestFolders {
    created: CreatedFiles,
    options: RunOptions,
    /// Folders of `-d`, without links.
    pub(super) paths: Vec<PathBuf>,
    /// Those that did not exist before.
    new_paths: Vec<PathBuf>,
    removes: bool,
    creates: bool,
    /// Whether existing items are renamed or removed.
    changes: bool,
    /// Records of the test folders of earlier runs.
    earlier: Vec<CreatedRecord>,
    /// Records of the test folders in use.
    records: BTreeMap<PathBuf, CreatedRecord>,
}

fn run_options(options: &MdtestOptions, store: Option<&Path>) -> RunOptions {
    RunOptions {
        destroy_data: options
            .destroy_data
            .iter()
            .map(|it| path_text::decode_path(it))
            .collect(),
        target_on_root: options.target_on_root,
        keep: true,
        store: store.map(Into::into),
        ..RunOptions::default()
    }
}

/// Returns the records of all test folders that assay created.
fn list_records(created: &CreatedFiles) -> Vec<CreatedRecord> {
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
    check_space(options)
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
    (records, allowed): (&[CreatedRecord], &RunOptions),
) -> Result<(), CommandFailure> {
    let Some(size) = TreeSize::from_options(options) else { return Ok(()) };
    for iteration in 0..options.iterations {
        for name in size.test_folders(iteration) {
            let folder = path.join(name);
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
            check_change(&folder, path, options, (records, allowed))?;
        }
    }
    Ok(())
}

/// Refuses to change an existing test folder of others, or one with a mount inside.
fn check_change(
    folder: &Path,
    path: &Path,
    options: &MdtestOptions,
    (records, allowed): (&[CreatedRecord], &RunOptions),
) -> Result<(), CommandFailure> {
    if !options.changes_items() {
        return Ok(());
    }
    let shown = folder.display();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let cannot = || CommandFailure::usage(format!("cannot change the items in {shown}"));
    if let Ok(Some(mounted)) = created_tree::find_mount(&real, TreeNames::Mdtest) {
        let mounted = mounted.display();
        return Err(cannot()
            .with_reason(format!("{mounted} is mounted inside, and may hold data of others"))
            .advise(format!("unmount it with `umount {mounted}`")));
    }
    if let Ok(Some(link)) = created_tree::find_link(&real, TreeNames::Mdtest) {
        let link = link.display();
        return Err(cannot()
            .with_reason(format!("{link} is a link, which leads out of the tree"))
            .advise(format!("remove it with `rm {link}`")));
    }
    let is_named = allowed.destroy_data.iter().any(|named| {
        let named = named.canonicalize().ok();
        named.is_some() && (named == path.canonicalize().ok() || named == Some(real.clone()))
    });
    let is_own = records.iter().any(|it| it.path == real && it.is_unchanged());
    if is_own || is_named {
        return Ok(());
    }
    Err(CommandFailure::usage(format!("{shown} is not changed without permission"))
        .with_reason("assay did not create this folder, or another program has changed it")
        .advise(format!(
            "permit it with --destroy-data={shown}: items with mdtest's names are removed there"
        )))
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

impl TestFolders {
    /// Checks the folders, and creates those of `-d` that do not exist.
    pub(super) fn open(
        options: &MdtestOptions,
        store: Option<&Path>,
    ) -> Result<Self, CommandFailure> {
        check(options, store)?;
        let created = CreatedFiles::open(store)?;
        let mut folders = Self {
            created,
            options: run_options(options, store),
            paths: vec![],
            new_paths: vec![],
            removes: options.remove,
            creates: options.create,
            changes: options.changes_items(),
            earlier: vec![],
            records: BTreeMap::new(),
        };
        folders.earlier = list_records(&folders.created);
        for path in options.paths.iter().map(|path| path_text::decode_path(path)) {
            let cannot = |error: &std::io::Error| {
                let what = format!("cannot use the folder {}", path.display());
                CommandFailure::measurement(what).with_cause(error).with_known_advice()
            };
            let is_new = !path.is_dir();
            if is_new {
                std::fs::create_dir(&path).map_err(|error| cannot(&error))?;
            }
            let real = path.canonicalize().map_err(|error| cannot(&error))?;
            if is_new {
                folders.new_paths.push(real.clone());
            }
            folders.paths.push(real);
        }
        Ok(folders)
    }

    /// Creates the test folders of an iteration, or finds those that assay created.
    pub(super) fn begin(&mut self, layout: &MdtestLayout<'_>) -> Result<(), CommandFailure> {
        for folder in self.folders_of(layout) {
            let record = match self.creates {
                true => Some(self.created.create_test_folder(&folder)?),
                false => self.earlier.iter().find(|it| it.path == folder).cloned(),
            };
            let Some(mut record) = record.filter(CreatedRecord::is_unchanged) else { continue };
            let used = match (self.creates, self.changes) {
                // Its creation began the use.
                (true, _) => Ok(()),
                (false, true) => record.begin_use(0),
                (false, false) => record.hold(),
            };
            used.map_err(|error| {
                let what = format!("cannot use the folder {}", folder.display());
                CommandFailure::measurement(what).with_cause(&error)
            })?;
            self.records.insert(folder, record);
        }
        Ok(())
    }

    /// Removes the test folders of an iteration, whose trees are removed.
    pub(super) fn end(
        &mut self,
        layout: &MdtestLayout<'_>,
        on: &mut MdtestListener<'_>,
    ) -> Result<(), CommandFailure> {
        for folder in self.folders_of(layout) {
            let removed = match self.records.remove(&folder) {
                Some(record) => record.remove_emptied_folder(),
                None => match std::fs::remove_dir(&folder) {
                    Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => {
                        Ok(false)
                    }
                    other => other.map(|()| true),
                },
            };
            let is_removed = removed.map_err(|error| {
                let what = format!("cannot remove the folder {}", folder.display());
                CommandFailure::measurement(what).with_cause(&error)
            })?;
            if !is_removed {
                on(MdtestEvent::FolderStays { path: &folder });
            }
        }
        Ok(())
    }

    /// Ends the use of all folders. A run that removes its items leaves none after a failure either.
    pub(super) fn close(&self, has_failed: bool) -> Result<(), CommandFailure> {
        let removed = match has_failed && self.removes {
            true => runner::remove_created(&self.options).map(drop),
            false => Ok(()),
        };
        let ended = runner::finish(&self.options).map(drop);
        if self.removes {
            // A folder that is not empty contains files that are not assay's.
            self.new_paths.iter().for_each(|path| drop(std::fs::remove_dir(path)));
        }
        removed.and(ended)
    }

    fn folders_of(&self, layout: &MdtestLayout<'_>) -> Vec<PathBuf> {
        let names: Vec<String> = layout.size.test_folders(layout.iteration).collect();
        self.paths.iter().flat_map(|path| names.iter().map(|name| path.join(name))).collect()
    }
}
