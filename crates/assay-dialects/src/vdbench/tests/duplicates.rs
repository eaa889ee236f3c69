//! Tests of deduplication: Vdbench's numbers of unique blocks and of sets.

use assay_model::workload::storage::BlockDuplicates;

use super::{compile_text, compile_valid};

const RUN: &str = "wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";

fn duplicates(text: &str) -> Vec<Option<BlockDuplicates>> {
    let execution = compile_valid(&format!("{text}\n{RUN}"));
    let targets = &execution.plan.phases[0].workload.targets;
    targets.iter().map(|target| target.duplicates).collect()
}

#[test]
fn blocks_of_all_storage_are_divided_together() {
    let found = duplicates(
        "dedupratio=2,dedupunit=4k\nsd=sd1,lun=/a,size=64m\nsd=sd2,lun=/b,size=128m",
    );
    // Vdbench's default, 5 % of all blocks, is a part of the half that differs.
    let expected = |first_block| {
        let (blocks, unique, sets) = (49_152, 22_118, 2457);
        Some(BlockDuplicates { unit_bytes: 4096, group: 0, first_block, blocks, unique, sets })
    };
    assert_eq!(found, [expected(0), expected(16_384)]);
}

#[test]
fn storage_with_own_parameters_is_divided_by_itself() {
    let found = duplicates(
        "dedupratio=1,dedupunit=8k\nsd=sd1,lun=/a,size=64m\n\
         sd=sd2,lun=/b,size=64m,dedupratio=4,dedupsets=100",
    );
    let (blocks, unique, sets) = (8192, 1948, 100);
    let own =
        BlockDuplicates { unit_bytes: 8192, group: 2, first_block: 0, blocks, unique, sets };
    assert_eq!(found, [None, Some(own)]);
}

#[test]
fn own_parameters_are_completed_by_the_general_ones() {
    // 64 MiB have 16,384 blocks of 4 KiB.
    for (general, own, numbers) in [
        ("dedupratio=2,dedupunit=4k", "dedupsets=100", (8192 - 100, 100)),
        ("dedupunit=4k,dedupsets=100", "dedupratio=4", (4096 - 100, 100)),
        ("dedupratio=2,dedupunit=4k,dedupsets=7", "dedupratio=4,dedupsets=64", (4096 - 64, 64)),
    ] {
        let other =
            if general.contains("dedupratio") { "sd=sd1,lun=/a,size=64m\n" } else { "" };
        let found = duplicates(&format!("{general}\n{other}sd=sd2,lun=/b,size=64m,{own}"));
        let last = found.last().copied().flatten().unwrap();
        assert_eq!((last.unique, last.sets), numbers, "{general} {own}");
    }
}

#[test]
fn the_ratio_of_a_run_is_that_of_its_storage() {
    let execution = compile_valid(
        "dedupratio=2,dedupunit=4k,formatsds=yes\n\
         sd=sd1,lun=/a,size=64m,dedupratio=4\nsd=sd2,lun=/b,size=64m\n\
         wd=wd1,sd=sd1\nwd=wd2,sd=sd2\n\
         rd=default,iorate=max,elapsed=10,interval=1\n\
         rd=rd1,wd=wd1\nrd=rd2,wd=wd2\nrd=rd3,wd=wd*\n",
    );
    let ratios = execution.runs.iter().map(|run| run.parameters.dedup_ratio);
    let expected = [None, Some(4.0), Some(2.0), None];
    assert_eq!(ratios.collect::<Vec<_>>(), expected, "the format first");
    let execution = compile_valid(&format!(
        "dedupunit=4k,formatsds=yes\nsd=sd1,lun=/a,size=64m,dedupratio=4\n{RUN}"
    ));
    let ratios = execution.runs.iter().map(|run| run.parameters.dedup_ratio);
    assert_eq!(ratios.collect::<Vec<_>>(), [Some(4.0); 2]);
}

#[test]
fn rejects_what_cannot_be_divided() {
    for (general, code, message) in [
        ("dedupratio=2", "V123", "needs dedupratio and dedupunit"),
        ("dedupratio=0.5,dedupunit=4k", "V123", "a dedupratio is 1 or more"),
        ("dedupratio=2,dedupunit=1000", "V154", "a dedupunit is a multiple of 512"),
        (
            "dedupratio=2,dedupunit=4k,dedupsets=9000",
            "V123",
            "9000 sets of duplicates are more",
        ),
        ("dedupratio=2,dedupunit=4k,dedupsets=0", "V123", "expected a number of sets"),
        ("dedupratio=2,dedupunit=4k,validate=yes", "V114", "with data validation"),
    ] {
        let text = format!("{general}\nsd=sd1,lun=/a,size=64m\n{RUN}");
        let found = compile_text(&text).unwrap_err();
        assert!(
            found.iter().any(|it| it.code == code && it.message.contains(message)),
            "{general}: {found:?}"
        );
    }
}
