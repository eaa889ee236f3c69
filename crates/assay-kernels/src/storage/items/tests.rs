//! Tests on this machine's temporary file system.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

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

fn items<'p>(folder: &Path, task: u64, count: u64) -> TaskItems<'p> {
    TaskItems {
        folder: folder.to_path_buf(),
        count,
        name: Box::new(move |position, text| text.push_str(&format!("f{task}.{position}"))),
        new_name: Some(Box::new(move |position, text| {
            text.push_str(&format!("g{task}.{position}"));
        })),
        number: Box::new(|position| position),
        seed: task,
    }
}

fn pass(folder: &Path, operation: ItemOperation, count: u64) -> ItemOutcome {
    let tasks = (0..3).map(|task| items(folder, task, count)).collect();
    let pass = ItemPass { operation, tasks, deadline_s: None };
    run(&pass, &AtomicBool::new(false)).unwrap()
}

const CONTENTS: NewFileContents = NewFileContents { bytes: 100, syncs: true, verifies: true };

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
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), left, "{operation:?}");
    }
}

#[test]
fn first_failure_ends_the_pass_and_names_the_item() {
    let root = Folder::new("failure");
    let failure = pass(root.path(), ItemOperation::Query, 2).failure.unwrap();
    assert!(failure.to_string().starts_with("cannot query "), "{failure}");
    assert_eq!(failure.source.kind(), std::io::ErrorKind::NotFound);
    pass(root.path(), ItemOperation::Create(CONTENTS), 2);
    std::fs::write(root.path().join("f1.1"), [7; 100]).unwrap();
    let read = ItemOperation::Read { bytes: 100, verifies: true };
    let failure = pass(root.path(), read, 2).failure.unwrap();
    assert_eq!(failure.path, root.path().join("f1.1"));
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
    symlink(&other, root.path().join("f0.0")).unwrap();
    assert!(pass(root.path(), ItemOperation::Create(CONTENTS), 1).failure.is_some());
    assert_eq!(std::fs::read(&other).unwrap(), b"precious");
}

#[test]
fn deadline_ends_each_task_after_an_item() {
    let root = Folder::new("deadline");
    let tasks = vec![items(root.path(), 0, 1_000_000), items(root.path(), 1, 1)];
    let operation = ItemOperation::Create(NewFileContents { bytes: 0, ..CONTENTS });
    let pass = ItemPass { operation, tasks, deadline_s: Some(0.01) };
    let outcome = run(&pass, &AtomicBool::new(false)).unwrap();
    let [first, second] = outcome.tasks[..] else { panic!("{:?}", outcome.tasks) };
    assert!(first.done >= 1 && first.done < 1_000_000, "{first:?}");
    assert_eq!(second.done, 1);
    assert_eq!(outcome.files.total.requested.count, first.done + 1);
}
