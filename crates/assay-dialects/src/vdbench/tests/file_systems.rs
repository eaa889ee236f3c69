//! Tests of file-system runs: format, workloads and hosts.

use assay_model::file_outcome::{FileInterval, FileTally};
use assay_model::workload::file_set::{
    FileAccess, FileLoad, FileOperation, FileOrder, FilePlan, FileWorkload, StopAfter, TreePart,
};

use super::text::MOMENT;
use super::*;
use crate::vdbench::RunLabel;
use crate::vdbench::output::files::{self, FileTotals};

const TREE: &str = "fsd=fsd1,anchor=/a,depth=2,width=3,files=4,size=128k\n";
const WORK: &str =
    "fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=random,fileselect=random,threads=6\n";

fn phases(text: &str) -> Vec<(String, FileWorkload)> {
    let execution = compile_valid(text);
    assert_eq!(execution.runs.len(), execution.files.phases.len());
    execution.files.phases.into_iter().map(|phase| (phase.name, phase.workload)).collect()
}

#[test]
fn format_precedes_the_run() {
    let table: [(&str, &[FileOperation]); 7] = [
        ("no", &[]),
        (
            "yes",
            &[
                FileOperation::Delete,
                FileOperation::Rmdir,
                FileOperation::Mkdir,
                FileOperation::Create,
            ],
        ),
        ("restart", &[FileOperation::Mkdir, FileOperation::Create]),
        ("clean", &[FileOperation::Delete, FileOperation::Rmdir]),
        ("(clean,only)", &[FileOperation::Delete, FileOperation::Rmdir]),
        ("(restart,only)", &[FileOperation::Mkdir, FileOperation::Create]),
        ("directories", &[FileOperation::Mkdir]),
    ];
    for (format, expected) in table {
        let run = format!("rd=rd1,fwd=fwd1,fwdrate=max,format={format},elapsed=10,interval=1");
        let mut phases = phases(&format!("{TREE}{WORK}{run}"));
        let only = format.contains("clean") || format.contains("only");
        assert_eq!(
            phases.len(),
            usize::from(!expected.is_empty()) + usize::from(!only),
            "{format}"
        );
        if expected.is_empty() {
            continue;
        }
        let (name, made) = phases.remove(0);
        assert_eq!((name.as_str(), made.in_turn), ("format_for_rd1", true), "{format}");
        let operations: Vec<_> = made.streams.iter().map(|stream| stream.operation).collect();
        assert_eq!(operations, expected, "{format}");
        assert_eq!(made.streams[0].threads, 8, "{format}");
        assert_eq!(made.streams[0].sizes[0].max_bytes, 128 << 10, "{format}");
    }
}

#[test]
fn file_workloads_expand_to_streams() {
    let run = "rd=rd1,fwd=fwd*,fwdrate=100,elapsed=10,interval=1";
    let second = "fwd=fwd2,fsd=fsd*,operations=(getattr,write),fileio=(random,shared),\
                  fileselect=once,threads=4,skew=25,rdpct=30,stopafter=64k\n";
    let (_, work) = phases(&format!("{TREE}{WORK}{second}{run}")).remove(0);
    let shares: Vec<_> = work
        .streams
        .iter()
        .map(|stream| (stream.operation, stream.threads, stream.rate_share, stream.read_share))
        .collect();
    assert_eq!(
        shares,
        [
            (FileOperation::Read, 6, 0.75, None),
            (FileOperation::Getattr, 2, 0.125, None),
            (FileOperation::Write, 2, 0.125, Some(0.3)),
        ]
    );
    let last = &work.streams[2];
    assert_eq!((last.order, last.access), (FileOrder::Once, FileAccess::RandomShared));
    assert_eq!(last.stop_after, Some(StopAfter::Bytes(65_536)));
    assert!(matches!(work.load, FileLoad::Open { .. }));
    assert_eq!(work.trees[0].file_count(), Some(36));
    assert_eq!(work.trees[0].bytes() as u64, 36 * 131_072);
}

#[test]
fn trees_support_count_limits_and_loops() {
    let text = "fsd=fsd,anchor=/a/dir,count=(1,2),files=100,sizes=(4k,50,8k,50),totalsize=120k,wss=60k\n\
                fwd=fwd1,fsd=fsd*,threads=2\n\
                rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,fordepth=(1,2),foroperations=(read,write)";
    let phases = phases(text);
    assert_eq!(phases.len(), 4);
    let tree = &phases[3].1.trees[1];
    assert_eq!(tree.anchor.to_str(), Some("/a/dir2"));
    assert_eq!((tree.depth, tree.most_files, tree.used_files), (2, Some(20), Some(10)));
    let operations: Vec<_> =
        phases.iter().map(|(_, work)| work.streams[0].operation.name()).collect();
    assert_eq!(operations, ["read", "write", "read", "write"]);
}

#[test]
fn reports_errors_in_file_definitions() {
    let run = "rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1\n";
    let table = [
        (format!("{TREE}{WORK}rd=rd1,fwd=fwd1,elapsed=10,interval=1"), "V163 3:4"),
        (format!("{TREE}fwd=fwd1,fsd=fsd2\n{run}"), "V131 2:14"),
        (format!("{TREE}fwd=fwd1,fsd=fsd1,operation=copy\n{run}"), "V114 2:19"),
        (format!("{TREE}fwd=fwd1,fsd=fsd1,operation=reed\n{run}"), "V113 2:19"),
        (format!("fsd=fsd1,anchor=/a,sizes=(4k,50,8k,40)\n{WORK}{run}"), "V156 1:20"),
        (format!("fsd=fsd1,anchor=/a,depth=9,width=999\n{WORK}{run}"), "V157 1:5"),
        (format!("fsd=fsd1,anchor=/a,depth=9999t,width=1\n{WORK}{run}"), "V157 1:5"),
        (format!("fsd=fsd1,anchor=/a,depth=9999t,width=0.5\n{WORK}{run}"), "V157 1:5"),
        (format!("fsd=fsd1,anchor=/a,depth=400\n{WORK}{run}"), "V157 1:5"),
        (format!("{TREE}fsd=fsd2,anchor=/a/b\n{WORK}{run}"), "V158 2:5"),
        (format!("fsd=fsd1\n{WORK}{run}"), "V151 1:5"),
        (format!("fsd=fsd1,anchor=/a,size=1000,openflags=o_direct\n{WORK}{run}"), "V154 1:5"),
    ];
    for (text, expected) in table {
        let found = compile_text(&text).unwrap_err();
        let codes: Vec<String> = found
            .iter()
            .map(|one| {
                let place = one.location.as_ref().unwrap();
                format!("{} {}:{}", one.code, place.line, place.column)
            })
            .collect();
        assert!(codes.iter().any(|code| code == expected), "{text}\n{codes:?}");
    }
}

#[test]
fn formats_file_table_and_flat_file() {
    let mut tally = FileTally::default();
    for _ in 0..4 {
        tally.operations[FileOperation::Read.index()].add(2_000_000);
        tally.requested.add(2_000_000);
    }
    tally.operations[FileOperation::Open.index()].add(500_000);
    tally.read_bytes = 4 << 20;
    let interval = FileInterval {
        start_s: 0.0,
        length_s: 2.0,
        warmup: false,
        tally,
        cpu_user: 0.02,
        cpu_system: 0.03,
    };
    let label = compile_valid(&format!(
        "{TREE}{WORK}rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1"
    ))
    .runs
    .remove(0);
    let mut measured = FileTotals::default();
    let format = RunLabel { name: "format_for_rd1".into(), ..label.clone() };
    measured.add_for_run(&format, &interval);
    assert!(measured.rate_per_s() < 1e-9, "the rate of a format is that of its writes");
    measured = FileTotals::default();
    measured.add_for_run(&label, &interval);
    let shown = files::table_operations(&FilePlan::default());
    let text = format!(
        "{}\n{}\n{}\n",
        files::starting_line(&label, None),
        files::heading("Nov 21, 2026", &shown),
        files::table_line("15:28:54.017", "avg_2-10", &measured, &shown)
    );
    expect_test::expect![[r#"
        Starting RD=rd1; elapsed=10; fwdrate=max. For loops: None
        Nov 21, 2026 .Interval. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir.... ...rmdir.... ...create... ....open.... ...close.... ...delete...
                                  rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size  rate   resp  rate   resp  rate   resp  rate   resp  rate   resp  rate   resp
        15:28:54.017   avg_2-10    2.0  2.000   5.0  3.0 100.0    2.0  2.000    0.0  0.000  2.00  0.00   2.00 1048576   0.0  0.000   0.0  0.000   0.0  0.000   0.5  0.500   0.0  0.000   0.0  0.000
    "#]].assert_eq(&text);
    let heading = files::flat_heading();
    let names = heading.lines().last().unwrap();
    let row = files::flat_row(MOMENT, &label, "1", None, &measured);
    assert_eq!(names.split_whitespace().count(), row.split_whitespace().count());
    let widths: Vec<usize> = text.lines().skip(1).map(str::len).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
}

/// `OpCreate` of Vdbench opens and closes a file; only a format writes it.
#[test]
fn only_format_fills_created_files() {
    let text = format!(
        "{TREE}fwd=fwd1,fsd=fsd1,operation=create,stopafter=5\n\
         rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=10,interval=1"
    );
    let phases = compile_text(&text).unwrap().files.phases;
    let creates = phases.iter().flat_map(|phase| &phase.workload.streams);
    let creates = creates.filter(|stream| stream.operation == FileOperation::Create);
    let left: Vec<_> = creates.map(|stream| stream.stop_after).collect();
    assert_eq!(left, [None, Some(StopAfter::Bytes(0))]);
}

#[test]
fn supports_all_fileselect_values() {
    let order = |select: &str| {
        let text = format!(
            "{TREE}fwd=fwd1,fsd=fsd1,operation=read,fileselect={select}\n\
             rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1"
        );
        compile_text(&text).map(|it| it.files.phases[0].workload.streams[0].order)
    };
    for (select, expected) in [
        ("random", FileOrder::Random),
        ("seq", FileOrder::Sequential),
        ("(random,once)", FileOrder::Once),
        ("skewed", FileOrder::Skewed(1.0 / 3.0)),
        ("(poisson,4)", FileOrder::Skewed(0.25)),
        ("\"midpoint=2\"", FileOrder::Skewed(0.5)),
    ] {
        assert_eq!(order(select).ok(), Some(expected), "{select}");
    }
    for wrong in ["(poisson,0)", "(poisson,-1)", "often", "(random,)", "(poisson,inf)"] {
        assert!(order(wrong).is_err(), "{wrong}");
    }
}

const HOSTS: &str = "hd=vm1,system=one\nhd=vm2,system=two\nhd=vm3,system=three\n";

#[test]
fn hosts_divide_files_and_threads_of_a_shared_tree() {
    let text = format!(
        "{HOSTS}fsd=fsd1,anchor=/a,depth=1,width=2,files=6,size=4k,shared=yes\n\
         fsd=fsd2,anchor=/b,files=4\n\
         fwd=fwd1,fsd=fsd1,threads=10,operation=read\nfwd=fwd2,fsd=fsd2,host=vm2,skew=20\n\
         rd=rd0,fwd=fwd*,format=(clean,only),elapsed=10\n\
         rd=rd1,fwd=fwd*,fwdrate=300,format=(restart,only),elapsed=10\n\
         rd=rd2,fwd=fwd*,fwdrate=300,elapsed=10\n"
    );
    let execution =
        compile_distributed(&text).unwrap_or_else(|found| panic!("{}", render(&found)));
    assert_eq!(execution.host_indices, vec![vec![0, 1, 2, 1]; 3]);
    let part = |nth, of| Some(TreePart { nth, of });
    let parts = |run: usize| {
        let trees = &execution.files.phases[run].workload.trees;
        trees.iter().map(|tree| (tree.name.as_str(), tree.part)).collect::<Vec<_>>()
    };
    // Any host may remove a file; each creates and reads its own.
    let all = ("fsd1", part(0, 1));
    assert_eq!(parts(0), [all, all, all, ("fsd2", None)]);
    for run in [1, 2] {
        let own = |nth| ("fsd1", part(nth, 3));
        assert_eq!(parts(run), [own(0), own(1), own(2), ("fsd2", None)], "{run}");
    }
    let streams = &execution.files.phases[2].workload.streams;
    let shares: Vec<_> =
        streams.iter().map(|it| (it.tree, it.threads, it.rate_share)).collect();
    let third = 0.8 / 3.0;
    assert_eq!(shares, [(0, 3, third), (1, 3, third), (2, 3, third), (3, 1, 0.2)]);
    assert_eq!(execution.runs[2].resources.storages, 2);
    let explained = crate::vdbench::explain::explain(&execution);
    assert!(explained.contains("16 files in 2 trees"), "{explained}");
}

#[test]
fn rejects_conflicting_use_of_trees_by_hosts() {
    let tree = "fsd=fsd1,anchor=/a,files=4\n";
    let shared = "fsd=fsd1,anchor=/a,files=4,shared=yes\n";
    let twice = "fsd=fsd1,anchor=/a,files=4\nfsd=fsd2,anchor=/a,files=4\n";
    let each = "fwd=fwd1,fsd=fsd1,host=vm1\nfwd=fwd2,fsd=fsd2,host=vm2\n";
    let same = "fwd=fwd1,fsd=fsd1,host=vm1\nfwd=fwd2,fsd=fsd1,host=vm2\n";
    let table = [
        (tree, "fwd=fwd1,fsd=fsd1\n", "no", "V170 4:5"),
        (tree, "fwd=fwd1,fsd=fsd1,host=(vm1,vm3)\n", "no", "V170 4:5"),
        (tree, "fwd=fwd1,fsd=fsd1,host=vm1\n", "yes", ""),
        (tree, same, "no", "V170 4:5"),
        (shared, same, "no", ""),
        (shared, "fwd=fwd1,fsd=fsd1\n", "yes", "V174 6:4"),
        (shared, "fwd=fwd1,fsd=fsd1\n", "restart", ""),
        (shared, "fwd=fwd1,fsd=fsd1\n", "clean", ""),
        // A path is two folders on two hosts, but one folder on one host.
        (twice, each, "yes", ""),
        (twice, "fwd=fwd1,fsd=fsd*,host=vm1\n", "no", "V158 5:5"),
    ];
    for (trees, works, format, expected) in table {
        let run = format!("rd=rd1,fwd=fwd*,fwdrate=max,format={format},elapsed=10\n");
        let found = compile_distributed(&format!("{HOSTS}{trees}{works}{run}"))
            .err()
            .unwrap_or_default();
        let place = |one: &Diagnostic| {
            let place = one.location.as_ref().expect("it has a place");
            format!("{} {}:{}", one.code, place.line, place.column)
        };
        let found: Vec<String> = found.iter().map(place).collect();
        assert_eq!(found.join(" "), expected, "{trees}{works}{run}");
    }
}
