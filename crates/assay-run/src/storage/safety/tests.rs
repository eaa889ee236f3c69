//! Plans on files of every kind, and the decision on each before anything is written.

use assay_model::workload::storage::{
    AtEnd, Cursor, StoragePhase, StorageStream, StorageWorkload,
};

use super::*;

/// Returns a plan with one phase on one target.
fn plan(path: &Path, size_bytes: Option<u64>, read_share: f64) -> StoragePlan {
    let target = StorageTarget {
        direct: true,
        ..StorageTarget::new("t", path.to_path_buf(), size_bytes)
    };
    let pattern =
        AccessPattern::Sequential { cursor: Cursor::Shared, at_end: AtEnd::Wrap, gap_bytes: 0 };
    let stream = StorageStream::new(pattern, 4096, read_share);
    let workload = StorageWorkload::new(vec![target], vec![stream], Some(1.0));
    let phase = StoragePhase::new("p", workload);
    StoragePlan { phases: vec![phase] }
}

/// Folder with a foreign file of 8 KiB, a laid-out file of assay's, and one whose layout was
/// interrupted.
struct SafetyFixture {
    folder: tempfile::TempDir,
    created: CreatedFiles,
}

impl SafetyFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let world = Self { folder, created };
        std::fs::write(world.path("foreign"), [7; 8192]).unwrap();
        std::os::unix::fs::symlink("nothing", world.path("dangling")).unwrap();
        for name in ["own", "cut-off"] {
            let (mut record, _) = world.created.create(&world.path(name), 8192).unwrap();
            std::fs::write(world.path(name), [7; 8192]).unwrap();
            if name == "own" {
                record.set_laid_out(8192).unwrap();
            }
        }
        world
    }

    /// Returns a path without links; temporary folders may be reached through one.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Returns `lay out`, `nothing to do`, or the text of the failure.
    fn judge(
        &self,
        name: &str,
        size_bytes: Option<u64>,
        read_share: f64,
        named: bool,
    ) -> String {
        let path = self.path(name);
        let destroy_data = if named { vec![path.clone()] } else { vec![] };
        let options = RunOptions { destroy_data, ..RunOptions::default() };
        match check(&plan(&path, size_bytes, read_share), &options, &self.created) {
            Ok(files) if files.is_empty() => "nothing to do".into(),
            Ok(_) => "lay out".into(),
            Err(failure) => failure.to_string(),
        }
    }
}

#[test]
fn decides_by_creator_of_file() {
    let world = SafetyFixture::new();
    for (name, size, read_share, named, expected) in [
        ("foreign", None, 1.0, false, "nothing to do"),
        ("foreign", Some(4096), 1.0, false, "nothing to do"),
        ("foreign", Some(16_384), 1.0, false, "does not extend it"),
        ("foreign", None, 0.0, false, "--destroy-data="),
        ("foreign", None, 0.99, false, "--destroy-data="),
        ("foreign", None, 0.0, true, "nothing to do"),
        ("foreign", Some(16_384), 1.0, true, "lay out"),
        ("own", None, 0.0, false, "nothing to do"),
        ("own", Some(16_384), 0.0, false, "lay out"),
        ("cut-off", None, 1.0, false, "lay out"),
        ("cut-off", Some(8192), 1.0, false, "lay out"),
        ("missing", Some(8192), 1.0, false, "lay out"),
        ("missing", None, 1.0, false, "no size to make it with"),
        ("missing", Some(u64::MAX / 2), 1.0, false, "no room"),
        ("nowhere/missing", Some(8192), 1.0, false, "make the folder"),
        (".", Some(8192), 1.0, false, "it is a folder"),
        ("dangling", Some(8192), 1.0, false, "a link to something that is not there"),
        ("/dev/no-such-device", Some(8192), 1.0, false, "nothing is made below /dev"),
        ("/proc/no-such-file", Some(8192), 1.0, false, "nothing is made below /proc"),
    ] {
        let found = world.judge(name, size, read_share, named);
        assert!(found.contains(expected), "{name} {size:?} {read_share} {named}: {found}");
    }
}

#[test]
fn checks_target_of_link() {
    let world = SafetyFixture::new();
    std::os::unix::fs::symlink(world.path("foreign"), world.path("link")).unwrap();
    assert!(world.judge("link", None, 0.0, false).contains("assay did not make this file"));
}

#[test]
fn refuses_character_device() {
    let failure = check(
        &plan(Path::new("/dev/zero"), Some(8192), 1.0),
        &RunOptions::default(),
        &SafetyFixture::new().created,
    );
    assert!(failure.unwrap_err().to_string().contains("character device"));
}

#[test]
fn null_engine_needs_no_layout() {
    let mut plan = plan(Path::new("/dev/zero"), Some(8192), 0.0);
    plan.phases[0].workload.engine = EngineChoice::Null;
    let found = check(&plan, &RunOptions::default(), &SafetyFixture::new().created);
    assert!(found.unwrap().is_empty());
}

#[test]
fn refuses_disk_of_system() {
    let mounts = mounts::read(&assay_fleet::root::Root::machine());
    let root = mounts.iter().find(|it| it.point == Path::new("/")).map(|it| it.source.clone());
    let Some(device) = root.filter(|it| Path::new(it).exists() && it.starts_with("/dev/"))
    else {
        eprintln!("SKIPPED refuses_disk_of_system: / is on no device here");
        return;
    };
    let device = PathBuf::from(device);
    let options = RunOptions { destroy_data: vec![device.clone()], ..RunOptions::default() };
    let found = check(&plan(&device, None, 0.0), &options, &SafetyFixture::new().created);
    assert!(found.unwrap_err().to_string().contains("is never written"));
}

#[test]
fn first_phase_creates_file_written_in_order() {
    let world = SafetyFixture::new();
    let path = world.path("missing");
    for (read_share, only_made) in [(0.0, true), (1.0, false), (0.5, false)] {
        let options = RunOptions { writers_make_files: true, ..RunOptions::default() };
        let found = check(&plan(&path, Some(8192), read_share), &options, &world.created);
        assert_eq!(found.unwrap()[0].create_only, only_made, "{read_share}");
    }
}
