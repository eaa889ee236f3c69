//! Tests that a file of someone else is never removed, and that each of assay's own is.

use super::recognition::TICK_NS;
use super::*;

#[test]
fn removes_only_created_file() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let [ours, replaced] = ["ours", "replaced"].map(|name| folder.path().join(name));
    for path in [&ours, &replaced] {
        created.create(path, 0).unwrap();
    }
    // Replaces the file by a rename, so that the inode certainly differs.
    let foreign = folder.path().join("foreign");
    std::fs::write(&foreign, "precious").unwrap();
    std::fs::rename(&foreign, &replaced).unwrap();
    assert!(created.find(&ours).is_some());
    assert!(created.find(&replaced).is_none());
    assert_eq!(reported_paths(&created), std::slice::from_ref(&replaced));
    assert!(!ours.exists());
    assert_eq!(std::fs::read_to_string(&replaced).unwrap(), "precious");
    assert_eq!(created.list().len(), 1, "the record of the other one stays");
}

#[test]
fn refuses_to_create_existing_file() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let path = folder.path().join("foreign");
    std::fs::write(&path, "precious").unwrap();
    assert!(created.create(&path, 0).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert!(created.list().is_empty());
}

#[test]
fn recognises_file_of_announced_record() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let [missing, empty, foreign, older] =
        ["missing", "empty", "foreign", "older"].map(|name| folder.path().join(name));
    std::fs::write(&older, "").unwrap();
    std::thread::sleep(std::time::Duration::from_nanos(3 * TICK_NS));
    for path in [&missing, &empty, &foreign, &older] {
        created.announce(path, 0, CreatedKind::File).unwrap();
    }
    // The simulated crash comes after this.
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&foreign, "precious").unwrap();
    let there: Vec<PathBuf> = created
        .list()
        .into_iter()
        .filter(CreatedRecord::is_unchanged)
        .map(|record| record.path)
        .collect();
    assert_eq!(there, std::slice::from_ref(&empty));
    assert!(created.remove_created().failed.is_empty());
    assert!(created.list().is_empty());
    assert!(!empty.exists() && foreign.exists() && older.exists());
}

#[test]
fn file_that_is_born_long_after_its_announcement_is_foreign() {
    const SECOND_NS: u64 = 1_000_000_000;
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let path = folder.path().canonicalize().unwrap().join("file");
    for (age_ns, is_own) in [(SECOND_NS, true), (6 * SECOND_NS, false)] {
        let mut record = created.announce(&path, 0, CreatedKind::File).unwrap();
        record.announced_ns = record.announced_ns.map(|at_ns| at_ns - age_ns);
        record.save().unwrap();
        std::fs::write(&path, "").unwrap();
        let [found] = created.list().try_into().unwrap();
        // Without times of birth, no file is adopted.
        let has_birth = born_ns(&path.metadata().unwrap()).is_some();
        assert_eq!(found.is_unchanged(), is_own && has_birth, "{age_ns}");
        std::fs::remove_file(&path).unwrap();
        record.forget().unwrap();
    }
}

#[test]
fn file_behind_a_link_is_not_own() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    std::fs::create_dir(at("folder")).unwrap();
    let (record, _) = created.create(&at("folder/file"), 8).unwrap();
    assert!(record.is_unchanged());
    std::fs::rename(at("folder"), at("moved")).unwrap();
    std::os::unix::fs::symlink("moved", at("folder")).unwrap();
    // Device, inode, birth and attribute are the same.
    assert!(matches!(record.recognise(), Err(UnrecognisedFile::Replaced)));
    assert!(matches!(record.remove().unwrap(), CreatedRemoval::Unrecognised(_)));
    assert!(at("moved/file").exists());
}

#[test]
fn hidden_file_is_not_missing() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    std::fs::create_dir(at("folder")).unwrap();
    let (record, _) = created.create(&at("folder/file"), 8).unwrap();
    std::fs::rename(at("folder"), at("moved")).unwrap();
    assert!(matches!(record.recognise(), Err(UnrecognisedFile::Missing)));
    std::os::unix::fs::symlink("folder", at("folder")).unwrap();
    assert!(matches!(record.recognise(), Err(UnrecognisedFile::Unreadable(_))));
}

#[test]
fn another_attribute_is_no_mark() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let path = folder.path().canonicalize().unwrap().join("file");
    let (record, _) = created.create(&path, 8).unwrap();
    let Some(mark) = record.mark.clone() else {
        return eprintln!("SKIPPED another_attribute_is_no_mark: there are no attributes here");
    };
    for other in
        [mark.replace(|letter| letter != '0', "0"), mark[1..].to_owned(), mark.clone() + "0"]
    {
        let set = XattrFlags::empty();
        rustix::fs::setxattr(&path, MARK_ATTRIBUTE, other.as_bytes(), set).unwrap();
        assert!(matches!(record.recognise(), Err(UnrecognisedFile::Unmarked)), "{other}");
    }
}

#[test]
fn ignores_malformed_record() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    created.create(&folder.path().join("ours"), 0).unwrap();
    std::fs::write(folder.path().join(RECORDS_FOLDER).join("broken.json"), "{").unwrap();
    assert_eq!(created.list().len(), 1);
}

#[test]
fn changed_file_is_not_own() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let path = folder.path().canonicalize().unwrap().join("kept");
    created.create(&path, 8).unwrap();
    std::fs::write(&path, "of assay").unwrap();
    created.end_all_uses(true).unwrap();
    assert!(created.find(&path).is_some());
    std::thread::sleep(std::time::Duration::from_nanos(3 * TICK_NS));
    // Inode, birth, attribute and length stay the same.
    std::fs::write(&path, "precious").unwrap();
    assert!(created.find(&path).is_none());
    assert_eq!(reported_paths(&created), std::slice::from_ref(&path));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

fn reported_paths(created: &CreatedFiles) -> Vec<PathBuf> {
    created.remove_created().failed.into_iter().map(|(path, _)| path).collect()
}

#[test]
fn reports_unrecognised_files_and_keeps_their_records() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let [extended, moved, unmarked] = ["extended", "moved", "unmarked"].map(at);
    let marked = [&extended, &moved, &unmarked].map(|path| created.create(path, 8).unwrap().0);
    File::options().write(true).open(&extended).unwrap().set_len(9).unwrap();
    std::fs::rename(&moved, at("elsewhere")).unwrap();
    let mut expected = vec![extended.clone(), moved];
    if marked[2].mark.is_some() {
        rustix::fs::removexattr(&unmarked, MARK_ATTRIBUTE).unwrap();
        expected.push(unmarked.clone());
    }
    let ended: Vec<PathBuf> =
        created.end_all_uses(true).unwrap().failed.into_iter().map(|(path, _)| path).collect();
    assert_eq!(ended, expected);
    assert_eq!(reported_paths(&created), expected);
    assert_eq!(created.list().len(), expected.len());
    assert!(extended.exists() && at("elsewhere").exists());
}

#[test]
fn record_of_unrecognised_file_stays_until_it_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    created.create(&at("moved"), 8).unwrap();
    created.create(&at("ours"), 8).unwrap();
    created.announce(&at("never created"), 8, CreatedKind::File).unwrap();
    created.end_all_uses(true).unwrap();
    // A process that is killed does not end its uses.
    let killed = CreatedFiles::open(Some(folder.path())).unwrap();
    killed.announce(&at("announced"), 8, CreatedKind::File).unwrap();
    drop(killed);
    std::fs::rename(at("moved"), at("elsewhere")).unwrap();
    let outcomes = || created.list().iter().map(|it| it.remove().unwrap()).collect::<Vec<_>>();
    assert!(matches!(
        outcomes().as_slice(),
        [
            CreatedRemoval::NeverCreated,
            CreatedRemoval::Unrecognised(UnrecognisedFile::Missing),
            CreatedRemoval::Removed
        ]
    ));
    for _ in 0..2 {
        assert!(matches!(outcomes().as_slice(), [CreatedRemoval::Unrecognised(_)]));
    }
    let [record] = created.list().try_into().unwrap();
    std::fs::rename(at("elsewhere"), at("moved")).unwrap();
    let is_changed = !record.is_unchanged();
    assert_eq!(record.forget_unrecognised().unwrap(), is_changed, "only if not recognised");
    std::fs::rename(at("moved"), at("elsewhere")).unwrap();
    assert!(is_changed || record.forget_unrecognised().unwrap());
    assert!(created.list().is_empty() && at("elsewhere").exists());
}

/// Simulates a kill between the removal of a file and that of its record.
#[test]
fn interrupted_removal_is_finished_only_if_the_file_is_gone_for_sure() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let begin_removal = |name: &str| {
        std::fs::create_dir(at(name)).unwrap();
        let path = at(name).join("file");
        created.create(&path, 8).unwrap();
        created.end_all_uses(true).unwrap();
        let record = created.find(&path).unwrap();
        let claim = record_lock::claim(&record.record).unwrap().unwrap();
        record.note_removal(&claim);
        path
    };
    let removed = begin_removal("removed");
    std::fs::remove_file(removed).unwrap();
    // Another folder is there, as if the volume were not mounted.
    let hidden = begin_removal("hidden");
    std::fs::rename(at("hidden"), at("volume")).unwrap();
    std::fs::create_dir(at("hidden")).unwrap();
    // The removal failed, and another run has used the file since.
    let used = begin_removal("used");
    created.find(&used).unwrap().begin_use(8).unwrap();
    record_lock::release_all(&created.folder);
    std::fs::rename(&used, at("elsewhere")).unwrap();
    for foresees in [true, false] {
        let outcomes = created.list().into_iter().map(|it| match foresees {
            true => (it.path.clone(), it.foresee_removal()),
            false => (it.path.clone(), it.remove().unwrap()),
        });
        for (path, outcome) in outcomes {
            let is_gone = matches!(outcome, CreatedRemoval::AlreadyRemoved);
            assert_eq!(is_gone, path.starts_with(at("removed")), "{outcome:?}");
            let is_kept = path == hidden || path == used;
            assert_eq!(matches!(outcome, CreatedRemoval::Unrecognised(_)), is_kept);
        }
        assert_eq!(created.list().len(), if foresees { 3 } else { 2 });
    }
}

/// Simulates a kill between the removal of a tree's folder and that of its record.
#[test]
fn interrupted_removal_of_a_tree_with_its_folder_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let tree = folder.path().canonicalize().unwrap().join("tree");
    for is_folder_removed in [false, true] {
        std::fs::create_dir(&tree).unwrap();
        let mark = tree.join("mark");
        created.create_mark(&mark, "mark", CreatedKind::TreeAndFolder).unwrap();
        let [record] = created.list().try_into().unwrap();
        let claim = record_lock::claim(&record.record).unwrap().unwrap();
        record.note_removal(&claim);
        drop(claim);
        std::fs::remove_file(&mark).unwrap();
        if is_folder_removed {
            std::fs::remove_dir(&tree).unwrap();
        }
        assert!(matches!(record.remove().unwrap(), CreatedRemoval::AlreadyRemoved));
        assert!(!tree.exists() && created.list().is_empty());
    }
}

#[test]
fn concurrent_saves_have_separate_drafts() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let path = folder.path().canonicalize().unwrap().join("shared");
    let (record, _) = created.create(&path, 8).unwrap();
    let save = || (0..50).try_for_each(|_| record.clone().begin_use(8));
    std::thread::scope(|scope| {
        let all = [(); 4].map(|()| scope.spawn(save));
        all.into_iter().for_each(|one| one.join().unwrap().unwrap());
    });
    assert!(created.find(&path).is_some());
}

#[test]
fn file_is_not_removed_while_its_record_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let path = folder.path().canonicalize().unwrap().join("used");
    let (record, _) = created.create(&path, 8).unwrap();
    created.end_all_uses(true).unwrap();
    // Another description of the lock file stands for another process.
    let other = File::open(record_lock::path(&record.record)).unwrap();
    other.try_lock_shared().unwrap();
    let record = created.find(&path).unwrap();
    assert!(record.is_in_use());
    assert!(matches!(record.remove().unwrap(), CreatedRemoval::InUse));
    // Its creator leaves it to the other one.
    assert!(created.remove_created().failed.is_empty() && path.exists());
    assert!(created.end_all_uses(false).unwrap().failed.is_empty() && path.exists());
    drop(other);
    let draft = record.record.with_extension("1-2-3.draft");
    std::fs::write(&draft, "{").unwrap();
    created.remove_drafts();
    assert!(!draft.exists());
    // The last user removes it.
    record.hold().unwrap();
    assert!(created.end_all_uses(false).unwrap().failed.is_empty());
    let left = fs::read_dir(folder.path().join(RECORDS_FOLDER)).unwrap().count();
    assert!(!path.exists() && left == 1, "only the key stays");
}

#[test]
fn rejects_edited_and_irregular_records() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let (record, _) = created.create(&at("ours"), 0).unwrap();
    let (other, _) = created.create(&at("other"), 0).unwrap();
    // A record is edited to cover the other file, with its inode and birth.
    let edited = CreatedRecord { path: other.path.clone(), ..record.clone() };
    let text = serde_json::to_string(&edited).unwrap();
    std::fs::write(&record.record, text).unwrap();
    let pipe = folder.path().join(RECORDS_FOLDER).join("pipe.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    let link = folder.path().join(RECORDS_FOLDER).join("link.json");
    std::os::unix::fs::symlink(&other.record, &link).unwrap();
    assert_eq!(created.list().len(), 1);
    assert_eq!(created.invalid_records().len(), 3);
    // Records signed with a key that others can read are not valid.
    std::fs::write(folder.path().join(RECORDS_FOLDER).join(KEY_FILE), [7; 32]).unwrap();
    assert!(created.list().is_empty());
}

/// Simulates a file system without birth times and attributes, such as NFS 3.
#[test]
fn recognises_file_without_birth_and_attribute_by_its_handle_or_last_change() {
    let folder = tempfile::tempdir().unwrap();
    let created = CreatedFiles::open(Some(folder.path())).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let [removed, kept, replaced] = ["removed", "kept", "replaced"].map(at);
    let bare = [&removed, &kept, &replaced].map(|path| {
        let (record, file) = created.create(path, 8).unwrap();
        let bare = CreatedRecord { born_ns: None, mark: None, ..record };
        bare.save().unwrap();
        assert!(!bare.is_unchanged(), "nothing shows that it is the same file");
        bare.keep_open(&file).unwrap();
        assert!(bare.is_unchanged(), "its handle shows it");
        bare
    });
    std::fs::write(at("foreign"), "precious").unwrap();
    std::fs::rename(at("foreign"), &replaced).unwrap();
    assert!(!bare[2].is_unchanged(), "the handle is of another file");
    assert!(bare[0].remove_own().is_ok() && !removed.exists());
    assert!(bare[2].remove_own().is_err() && replaced.exists());
    // After the run, the time of the last change shows it.
    bare[1].clone().end_use().unwrap();
    bare[1].close();
    assert!(created.find(&kept).is_some());
    std::thread::sleep(std::time::Duration::from_nanos(3 * TICK_NS));
    std::fs::write(&kept, "").unwrap();
    assert!(created.find(&kept).is_none());
}
