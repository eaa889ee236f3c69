//! Tests on this machine's temporary file system.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;
use crate::storage::files::record_requested;

/// Folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("assay-items-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Opens the folder `t` below `folder`, which is created.
fn open_root(folder: &Path) -> [ItemRoot; 1] {
    let path = folder.join("t");
    std::fs::create_dir_all(&path).unwrap();
    [ItemRoot::new("t".to_owned(), std::fs::File::open(path).unwrap()).unwrap()]
}

fn items<'p>(folder: &Path, roots: &'p [ItemRoot], task: u64, count: u64) -> TaskItems<'p> {
    TaskItems {
        folder: folder.to_path_buf(),
        roots,
        count,
        name: Box::new(move |position, text| text.push_str(&format!("t/f{task}.{position}"))),
        new_name: Some(Box::new(move |position, text| {
            text.push_str(&format!("t/g{task}.{position}"));
        })),
        number: Box::new(|position| position),
        seed: task,
    }
}

fn pass(folder: &Path, operation: ItemOperation, count: u64) -> ItemOutcome {
    let roots = open_root(folder);
    run_pass(folder, &roots, operation, count)
}

fn run_pass(
    folder: &Path,
    roots: &[ItemRoot],
    operation: ItemOperation,
    count: u64,
) -> ItemOutcome {
    let tasks = (0..3).map(|task| items(folder, roots, task, count)).collect();
    let pass = ItemPass { operation, tasks, deadline_s: None };
    run(&pass, &AtomicBool::new(false), &mut || PhaseStart::Now).unwrap()
}

const CONTENTS: NewFileContents =
    NewFileContents { bytes: 100, is_new: true, syncs: true, verifies: true };

#[test]
fn counts_every_operation_of_every_task() {
    let root = Folder::new("counts");
    let read = |verifies| ItemOperation::Read { bytes: 100, verifies };
    for (operation, kind, left) in [
        (ItemOperation::Create(CONTENTS), FileOperation::Create, 60),
        (ItemOperation::Query, FileOperation::Getattr, 60),
        (read(false), FileOperation::Read, 60),
        (read(true), FileOperation::Read, 60),
        (ItemOperation::Remove, FileOperation::Delete, 0),
        (ItemOperation::MakeNode, FileOperation::Create, 60),
        (ItemOperation::Remove, FileOperation::Delete, 0),
        (ItemOperation::MakeDirectory, FileOperation::Mkdir, 60),
        (ItemOperation::RemoveDirectory, FileOperation::Rmdir, 0),
    ] {
        let outcome = pass(root.path(), operation, 20);
        assert!(outcome.failure.is_none(), "{operation:?}: {:?}", outcome.failure);
        assert_eq!(outcome.files.total.requested.count, 60, "{operation:?}");
        assert_eq!(outcome.files.total.count_of(kind).count, 60, "{operation:?}");
        assert!(outcome.tasks.iter().all(|it| it.done == 20), "{operation:?}");
        let length: f64 = outcome.intervals.iter().map(|it| it.length_s).sum();
        assert!((length - outcome.files.elapsed_s).abs() < 1e-9, "{operation:?}");
        assert_eq!(
            std::fs::read_dir(root.path().join("t")).unwrap().count(),
            left,
            "{operation:?}"
        );
    }
}

#[test]
fn first_failure_ends_the_pass_and_names_the_item() {
    let root = Folder::new("failure");
    let failure = pass(root.path(), ItemOperation::Query, 2).failure.unwrap();
    assert!(failure.to_string().starts_with("cannot query "), "{failure}");
    assert_eq!(failure.source.kind(), std::io::ErrorKind::NotFound);
    pass(root.path(), ItemOperation::Create(CONTENTS), 2);
    std::fs::write(root.path().join("t/f1.1"), [7; 100]).unwrap();
    let read = ItemOperation::Read { bytes: 100, verifies: true };
    let failure = pass(root.path(), read, 2).failure.unwrap();
    assert_eq!(failure.path, root.path().join("t/f1.1"));
    assert!(
        failure.source.to_string().starts_with("wrong data at byte "),
        "{}",
        failure.source
    );
}

#[test]
fn files_of_others_are_not_written_through_links() {
    let root = Folder::new("links");
    let other = root.path().join("other");
    std::fs::write(&other, "precious").unwrap();
    let roots = open_root(root.path());
    for is_new in [true, false] {
        symlink(&other, root.path().join("t/f0.0")).unwrap();
        let create = ItemOperation::Create(NewFileContents { is_new, ..CONTENTS });
        assert!(run_pass(root.path(), &roots, create, 1).failure.is_some());
        assert_eq!(std::fs::read(&other).unwrap(), b"precious");
        std::fs::remove_dir_all(root.path().join("t")).unwrap();
        std::fs::create_dir(root.path().join("t")).unwrap();
    }
}

#[test]
fn existing_files_are_not_overwritten() {
    let root = Folder::new("existing");
    let roots = open_root(root.path());
    let file = root.path().join("t/f0.0");
    std::fs::write(&file, "precious").unwrap();
    let outcome = run_pass(root.path(), &roots, ItemOperation::Create(CONTENTS), 1);
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.source.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}

#[test]
fn operations_stay_in_the_opened_folder() {
    let root = Folder::new("exchanged");
    let at = |name: &str| root.path().join(name);
    let roots = open_root(root.path());
    std::fs::rename(at("t"), at("own")).unwrap();
    std::fs::create_dir(at("t")).unwrap();
    for task in 0..3 {
        std::fs::write(at("t").join(format!("f{task}.0")), "precious").unwrap();
    }
    for operation in
        [ItemOperation::Create(CONTENTS), ItemOperation::Rename, ItemOperation::Query]
    {
        let outcome = run_pass(root.path(), &roots, operation, 1);
        // Renamed items have other names.
        assert_eq!(outcome.failure.is_some(), operation == ItemOperation::Query);
    }
    assert_eq!(std::fs::read_dir(at("own")).unwrap().count(), 3);
    assert!(run_pass(root.path(), &roots, ItemOperation::Remove, 1).failure.is_some());
    for task in 0..3 {
        let file = at("t").join(format!("f{task}.0"));
        assert_eq!(std::fs::read(file).unwrap(), b"precious");
    }
}

#[test]
fn directories_are_not_reached_through_links() {
    let root = Folder::new("inner-links");
    let at = |name: &str| root.path().join(name);
    let roots = open_root(root.path());
    std::fs::create_dir(at("other")).unwrap();
    std::fs::write(at("other/f"), "precious").unwrap();
    symlink(at("other"), at("t/d")).unwrap();
    for operation in
        [ItemOperation::Remove, ItemOperation::MakeDirectory, ItemOperation::MakeNode]
    {
        let name = if operation == ItemOperation::Remove { "t/d/f" } else { "t/d/new" };
        let items = TaskItems {
            name: Box::new(move |_, text| text.push_str(name)),
            ..items(root.path(), &roots, 0, 1)
        };
        let pass = ItemPass { operation, tasks: vec![items], deadline_s: None };
        let outcome = run(&pass, &AtomicBool::new(false), &mut || PhaseStart::Now).unwrap();
        assert!(outcome.failure.is_some(), "{operation:?}");
    }
    assert_eq!(names_in(&at("other")), ["f"]);
}

/// Returns the names in a folder.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn reading_refuses_pipes() {
    let root = Folder::new("pipe");
    let roots = open_root(root.path());
    for task in 0..3 {
        let path = root.path().join(format!("t/f{task}.0"));
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }
    let read = ItemOperation::Read { bytes: 0, verifies: false };
    let failure = run_pass(root.path(), &roots, read, 1).failure.unwrap();
    assert!(failure.source.to_string().contains("not a regular file"), "{failure:?}");
}

#[test]
fn deadline_ends_each_task_after_an_item() {
    let root = Folder::new("deadline");
    let roots = open_root(root.path());
    let tasks =
        vec![items(root.path(), &roots, 0, 1_000_000), items(root.path(), &roots, 1, 1)];
    let operation = ItemOperation::Create(NewFileContents { bytes: 0, ..CONTENTS });
    let pass = ItemPass { operation, tasks, deadline_s: Some(0.01) };
    let outcome = run(&pass, &AtomicBool::new(false), &mut || PhaseStart::Now).unwrap();
    let [first, second] = outcome.tasks[..] else { panic!("{:?}", outcome.tasks) };
    assert!(first.done >= 1 && first.done < 1_000_000, "{first:?}");
    assert_eq!(second.done, 1);
    assert_eq!(outcome.files.total.requested.count, first.done + 1);
}

#[test]
fn pass_without_start_does_nothing() {
    let root = Folder::new("no-start");
    let roots = open_root(root.path());
    let tasks = vec![items(root.path(), &roots, 0, 5)];
    let pass = ItemPass { operation: ItemOperation::MakeDirectory, tasks, deadline_s: None };
    let outcome = run(&pass, &AtomicBool::new(false), &mut || PhaseStart::Never).unwrap();
    assert_eq!(outcome.files.total.requested.count, 0);
    assert_eq!(std::fs::read_dir(root.path().join("t")).unwrap().count(), 0);
}

#[test]
fn merged_outcomes_have_all_tasks_and_the_longest_time() {
    let part = |counts: &[u64], elapsed_s: f64| {
        let tally = |count: &u64| {
            let mut tally = FileTally::default();
            (0..*count).for_each(|_| record_requested(&mut tally, 1000, None));
            tally
        };
        let progress = TaskProgress { done: counts.iter().sum(), elapsed_s };
        let tallies = counts.iter().map(tally).collect();
        to_outcome(tallies, (vec![progress], elapsed_s), None, false)
    };
    let outcome = merge_outcomes(vec![part(&[3, 2, 1], 0.6), part(&[4], 0.1)]);
    assert_eq!(outcome.files.total.requested.count, 10);
    let counts: Vec<u64> =
        outcome.intervals.iter().map(|it| it.tally.requested.count).collect();
    assert_eq!(counts, [7, 2, 1]);
    assert_eq!(outcome.tasks.iter().map(|it| it.done).collect::<Vec<_>>(), [6, 4]);
    let length: f64 = outcome.intervals.iter().map(|it| it.length_s).sum();
    assert!((length - 0.6).abs() < 1e-9, "{length}");
}
