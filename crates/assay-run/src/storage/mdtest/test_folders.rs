//! Folders of a run: permission to change them, their creation and removal.
//!
//! A test folder is changed only if assay created it or `--destroy-data` names it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_dialects::mdtest::layout::MdtestLayout;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_fleet::resource_limits;
use assay_kernels::storage::items::ItemRoot;
use assay_model::path_text;

pub use self::permission::check;
use super::{MdtestEvent, MdtestListener};
use crate::failure::CommandFailure;
use crate::storage::created_files::{self, CreatedFiles, CreatedRecord};
use crate::storage::options::RunOptions;
use crate::storage::runner;

mod permission;

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
    /// Whether items are renamed or removed.
    is_exclusive: bool,
    /// Records of the test folders of earlier runs.
    earlier: Vec<CreatedRecord>,
    /// Test folders in use, of each path.
    pub(super) roots: Vec<Vec<ItemRoot>>,
    /// Their paths, without links, and their records.
    used: Vec<UsedFolder>,
}

/// Test folder in use.
struct UsedFolder {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    record: Option<CreatedRecord>,
}

fn run_options(options: &MdtestOptions, store: Option<&Path>) -> RunOptions {
    RunOptions::with_kept_files(&options.destroy_data, options.target_on_root, store)
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
            is_exclusive: options.remove || (options.rename && options.directories_only),
            earlier: vec![],
            roots: vec![],
            used: vec![],
        };
        folders.earlier = permission::list_records(&folders.created);
        resource_limits::raise_open_files();
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

    /// Creates the test folders of an iteration, or finds existing ones, and opens them.
    pub(super) fn begin(&mut self, layout: &MdtestLayout<'_>) -> Result<(), CommandFailure> {
        self.roots = Vec::new();
        self.used = Vec::new();
        for path in self.paths.clone() {
            let mut roots = Vec::new();
            for name in layout.size.test_folders(layout.iteration) {
                let root = self.use_folder(&path, name)?;
                roots.push(root);
            }
            self.roots.push(roots);
        }
        Ok(())
    }

    fn use_folder(&mut self, path: &Path, name: String) -> Result<ItemRoot, CommandFailure> {
        let folder = path.join(&name);
        let record = match self.creates {
            true => Some(self.created.create_test_folder(&folder)?),
            false => {
                if self.is_exclusive {
                    permission::check_change(path, &name, (&self.earlier, &self.options))?;
                }
                self.find_record(&folder)
            }
        };
        self.open_folder(&folder, name, record).map_err(|error| {
            let what = format!("cannot use the folder {}", folder.display());
            CommandFailure::measurement(what).with_cause(&error).with_known_advice()
        })
    }

    /// Returns the record of a test folder of an earlier run.
    fn find_record(&self, folder: &Path) -> Option<CreatedRecord> {
        let real = folder.canonicalize().ok()?;
        self.earlier.iter().find(|it| it.path == real && it.is_unchanged()).cloned()
    }

    /// Begins the use of a test folder.
    fn open_folder(
        &mut self,
        folder: &Path,
        name: String,
        mut record: Option<CreatedRecord>,
    ) -> io::Result<ItemRoot> {
        match &mut record {
            Some(record) if self.is_exclusive => record.begin_exclusive_use()?,
            // Its creation began the use.
            Some(record) if !self.creates => record.hold()?,
            _ => {}
        }
        let (path, opened) = match &record {
            Some(record) => (record.path.clone(), record.open_recorded_folder()?),
            None => {
                let path = folder.canonicalize()?;
                let opened = created_files::open_folder(&path)?;
                (path, opened)
            }
        };
        let found = opened.metadata()?;
        self.used.push(UsedFolder { path, identity: (found.dev(), found.ino()), record });
        ItemRoot::new(name, opened)
    }

    /// Ends the use of the test folders of an iteration; removes them after a removal of their
    /// trees.
    pub(super) fn end(&mut self, on: &mut MdtestListener<'_>) -> Result<(), CommandFailure> {
        self.roots = Vec::new();
        for used in std::mem::take(&mut self.used) {
            if self.removes {
                remove_folder(&used, on)?;
            } else if let Some(record) = &used.record {
                let left = self.created.end_use_of(record).map_err(|error| {
                    let what = format!("cannot record the folder {}", used.path.display());
                    CommandFailure::measurement(what).with_cause(&error)
                })?;
                runner::check_left_files(&left)?;
            }
        }
        Ok(())
    }

    /// Ends the use of all folders. A run that removes its items leaves none after a failure either.
    pub(super) fn close(
        &self,
        has_failed: bool,
        on: &mut MdtestListener<'_>,
    ) -> Result<(), CommandFailure> {
        let removed = match has_failed && self.removes {
            true => runner::remove_created(&self.options).map(|staying| {
                staying.iter().for_each(|path| on(MdtestEvent::FolderStays { path }));
            }),
            false => Ok(()),
        };
        let ended = runner::finish(&self.options).map(drop);
        if self.removes {
            // A folder that is not empty contains files that are not assay's.
            self.new_paths.iter().for_each(|path| drop(std::fs::remove_dir(path)));
        }
        removed.and(ended)
    }
}

fn remove_folder(used: &UsedFolder, on: &mut MdtestListener<'_>) -> Result<(), CommandFailure> {
    let removed = match &used.record {
        Some(record) => record.remove_emptied_folder(),
        None => created_files::remove_same_folder(&used.path, used.identity),
    };
    let is_removed = removed.map_err(|error| {
        let what = format!("cannot remove the folder {}", used.path.display());
        CommandFailure::measurement(what).with_cause(&error)
    })?;
    if !is_removed {
        on(MdtestEvent::FolderStays { path: &used.path });
    }
    Ok(())
}
