//! Everything that was ever found, and every golden, is read again: nothing panics. And the campaign finds
//! what there is to find.

use std::time::Duration;

use assay_fuzz::readers::{READERS, Reader};
use assay_fuzz::{campaign, corpus};

#[test]
fn what_was_found_stays_mended() {
    for reader in READERS {
        for (path, input) in corpus::kept(reader).unwrap() {
            if let Err(said) = campaign::once(reader, &input) {
                panic!("{}: {said}", path.display());
            }
        }
    }
}

#[test]
fn goldens_are_read() {
    for reader in READERS {
        for seed in corpus::seeds(reader).unwrap() {
            campaign::once(reader, &seed)
                .unwrap_or_else(|said| panic!("{}: {said}", reader.name));
        }
    }
}

/// Wrong at one place that only changes of several kinds lead to.
fn faulty(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let value: u64 = text.trim().parse().unwrap_or(0);
    assert!(value < u64::from(u32::MAX), "a number is too large");
    format!("{} lines", text.lines().count())
}

#[test]
fn a_fault_is_found_shortened_and_kept() {
    let reader = Reader { name: "faulty", goldens: &[], words: &["12"], read: faulty };
    let outcome = campaign::run(&reader, Duration::from_secs(60), 1).unwrap();
    let (path, said) = outcome.findings.first().expect("the fault is not found");
    assert_eq!(said, "a number is too large");
    assert!(corpus::kept(&reader).unwrap().iter().any(|(kept, _)| kept == path));
    std::fs::remove_dir_all(corpus::findings(&reader)).unwrap();
}
