//! Tests of the permission to write folders.

use assay_model::workload::file_set::{FileAccess, FileLoad, FileOrder, FileWorkload};
use assay_model::workload::storage::{SizeShare, StorageTiming};

use super::*;

fn plan(anchor: &Path, operation: FileOperation, files: u64) -> FilePlan {
    let size = SizeShare::single(4096);
    let tree = FileTree {
        name: "fsd1".into(),
        anchor: anchor.into(),
        depth: 1,
        width: 1,
        files,
        files_on_all_levels: false,
        sizes: vec![size],
        most_files: None,
        used_files: None,
        direct: false,
        sync: false,
        sync_at_close: false,
        part: None,
    };
    let stream = FileStream {
        name: "fwd1".into(),
        tree: 0,
        operation,
        threads: 1,
        order: FileOrder::Once,
        access: FileAccess::Sequential,
        read_share: None,
        sizes: vec![size],
        stop_after: None,
        rate_share: 1.0,
        of_directories: false,
    };
    let timing = StorageTiming::new(Some(1.0));
    let workload = FileWorkload {
        trees: vec![tree],
        streams: vec![stream],
        in_turn: false,
        load: FileLoad::Closed,
        timing,
        compressible: 0.0,
        seed: 1,
    };
    FilePlan { phases: vec![FilePhase { name: "rd1".into(), pause_before_s: 0.0, workload }] }
}

#[test]
fn keeps_foreign_files() {
    let root = tempfile::tempdir().unwrap();
    let store = tempfile::tempdir().unwrap();
    let options =
        RunOptions { store: Some(store.path().to_path_buf()), ..RunOptions::default() };
    let check = |anchor: &Path, operation, options: &RunOptions| {
        prepare(
            &plan(anchor, operation, 2),
            options,
            MissingParents::REFUSE,
            &AtomicBool::new(false),
        )
        .map_err(|failure| failure.to_string())
    };
    let full = root.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("precious"), "x").unwrap();
    assert!(
        check(&full, FileOperation::Create, &options).unwrap_err().contains("--destroy-data")
    );
    check(&full, FileOperation::Read, &options).unwrap();
    assert!(!full.join(MARK_FILE).exists(), "reading leaves no mark");
    let named = RunOptions { destroy_data: vec![full.clone()], ..options.clone() };
    check(&full, FileOperation::Create, &named).unwrap();
    // The folder is marked now and needs no permission any more.
    check(&full, FileOperation::Delete, &options).unwrap();
    let new = root.path().join("new");
    check(&new, FileOperation::Create, &options).unwrap();
    assert!(new.join(MARK_FILE).exists());
    let deep = root.path().join("a/b/c");
    assert!(
        check(&deep, FileOperation::Create, &options)
            .unwrap_err()
            .contains("make the folder above it")
    );
    prepare(
        &plan(&deep, FileOperation::Create, 2),
        &options,
        MissingParents::Create,
        &AtomicBool::new(false),
    )
    .unwrap();
    // Marked files can be found and removed; the folder itself only if assay created it.
    std::fs::create_dir(new.join("vdb.1_1.dir")).unwrap();
    std::fs::write(new.join("vdb.1_1.dir/vdb_f0001.file"), "x").unwrap();
    std::fs::write(full.join("vdb.1_1.dir"), "not a directory").unwrap();
    std::fs::write(deep.join("others"), "x").unwrap();
    let made = CreatedFiles::open(Some(store.path())).unwrap();
    let left = made.remove_created();
    assert!(left.failed.is_empty() && made.list().is_empty());
    assert_eq!(left.directories, [deep.canonicalize().unwrap()], "others' file is in it");
    assert!(full.join("precious").exists() && !full.join(MARK_FILE).exists());
    assert!(!new.exists() && deep.join("others").exists());
}

#[test]
fn refuses_tree_without_space() {
    let root = tempfile::tempdir().unwrap();
    let anchor = root.path().join("large");
    let large = plan(&anchor, FileOperation::Create, 1 << 45);
    let failure = prepare(
        &large,
        &RunOptions::default(),
        MissingParents::REFUSE,
        &AtomicBool::new(false),
    )
    .unwrap_err()
    .to_string();
    assert!(failure.contains("has no room"), "{failure}");
    assert!(!anchor.exists());
}

#[test]
fn refuses_unmounted_volume() {
    let plan = plan(Path::new("/mnt/assay-nobody-mounts-this"), FileOperation::Create, 2);
    let failure =
        prepare(&plan, &RunOptions::default(), MissingParents::REFUSE, &AtomicBool::new(false))
            .unwrap_err()
            .to_string();
    assert!(failure.contains("nothing is mounted"), "{failure}");
    assert!(failure.contains("there is no /mnt/assay-nobody-mounts-this"), "{failure}");
}

#[test]
fn interruption_ends_the_look_at_a_large_tree() {
    let root = tempfile::tempdir().unwrap();
    let store = tempfile::tempdir().unwrap();
    let options =
        RunOptions { store: Some(store.path().to_path_buf()), ..RunOptions::default() };
    let plan = plan(&root.path().join("tree"), FileOperation::Create, 2);
    prepare(&plan, &options, MissingParents::REFUSE, &AtomicBool::new(false)).unwrap();
    let failure =
        check(&plan, &options, MissingParents::REFUSE, &AtomicBool::new(true)).unwrap_err();
    assert!(failure.to_string().contains("interrupted"), "{failure}");
}
