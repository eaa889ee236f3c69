//! Tests of mdtest's options, names and output.

use super::command_line::{parse, parse_for_job};
use super::layout::{MdtestLayout, TreeSize};
use super::options::{MdtestOptions, MdtestOptionsError};
use super::phase::{MdtestPhase, list_phases};
use super::result::{MdtestReport, MdtestTest, PhaseResult, StonewallProgress, TaskHosts};
use super::{rank_details, text};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn options(line: &str) -> MdtestOptions {
    parse(&words(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn refusal(line: &str) -> MdtestOptionsError {
    match parse(&words(line)) {
        Err(MdtestOptionsError::Words { what, .. }) => *what,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn lines_of_io500_are_accepted() {
    for line in [
        "-n 1000000 -u -L -F -P -N 1 -d D/mdtest-easy -x D/sw -C -Y -W 300 -a POSIX",
        "-n 1000000 -u -L -F -P -N 1 -d D/mdtest-easy -x D/sw -T -a POSIX",
        "-n 1000000 -u -L -F -P -N 1 -d D/mdtest-easy -x D/sw -r -a POSIX",
        "-n 1000000 -t -w 3901 -e 3901 -P -G=27 -N 1 -F -d D/mdtest-hard -x D/sw -C -Y -W 300 -a POSIX",
        "-n 1000000 -X -t -w 3901 -e 3901 -P -G=27 -N 1 -F -d D/mdtest-hard -x D/sw -E -a POSIX",
    ] {
        let options = options(line);
        assert_eq!((options.items, options.shift), (1_000_000, 1), "{line}");
        assert!(options.files_only && !options.directories_only, "{line}");
    }
}

#[test]
fn sizes_and_defaults_are_those_of_mdtest() {
    let default = options("-n 10");
    assert_eq!(list_phases(&default).len(), 10, "all phases are run");
    assert_eq!(list_phases(&options("-n 10 -F")).len(), 6);
    for (line, is_renamed) in
        [("-n 1 -D", false), ("-n 2 -D", true), ("-n 2 -I 1 -D", false), ("-n 4 -I 2 -D", true)]
    {
        let phases = list_phases(&options(line));
        assert_eq!(phases.contains(&MdtestPhase::DirectoryRename), is_renamed, "{line}");
    }
    assert_eq!(list_phases(&options("-n 10 -S -C")).len(), 2, "-S has no directories");
    // -z, -b, -n, -I: directories, items per directory, items of a task, test folders.
    for (line, expected) in [
        ("-n 10", (1, 10, 10, 1)),
        ("-n 12 -z 1 -b 3", (4, 3, 12, 1)),
        ("-n 14 -z 1 -b 3", (4, 3, 12, 1)),
        ("-I 2 -z 2 -b 2", (7, 2, 14, 1)),
        ("-n 8 -z 2 -b 2 -L", (7, 2, 8, 1)),
        ("-I 2 -z 2 -b 2 -L", (7, 2, 8, 1)),
        ("-n 10 -z 3", (4, 2, 8, 1)),
        ("-n 8 -I 4", (1, 4, 8, 2)),
    ] {
        let size = TreeSize::from_options(&options(line)).unwrap();
        let TreeSize { directories, items_per_directory, items, folders, .. } = size;
        assert_eq!((directories, items_per_directory, items, folders), expected, "{line}");
    }
}

#[test]
fn rejects_conflicts_and_unsupported_options() {
    for (line, expected) in [
        ("-n 10 -I 3", "-n must be a multiple of -I"),
        ("-u -n 10 -I 5", "-u takes either"),
        ("-n 10 -z 1 -b 0", "at least one directory"),
        ("-n 10 -z 30 -b 10", "the tree is too large"),
        ("-n 9223372036854775807 --ranks 2", "the tree is too large"),
        ("-n 10 -W 1", "counts directories"),
        ("-n 10 -W 1 -F -z 1", "one directory"),
        ("-n 10 -k -w 1", "-k creates empty files"),
        ("-n 10 -k -S", "-k creates each file once"),
        ("-n 10 -w 1 -e 2", "-e reads more"),
        ("-n 10 -X", "-e is 0"),
        ("-n 10 -u -S", "-S shares the files"),
        ("-n 10 -u -d a@b", "more folders (-d) than tasks"),
        ("--ranks 2 -n 10 -d a@b", "a tree for each task"),
        ("-n 10 -l 2", "above the number of tasks"),
        ("--ranks 2 -n 10 -f 2 -l 1", "above the last"),
        ("--ranks 2 -n 8 -u -N 1 -z 1", "has not created"),
        ("-c -n 10 -S", "-S shares them"),
        ("--ranks 2 -c -n 10 -u -C -F -d a@b", "-c needs one folder"),
        ("-c -n 10 -k", "creates each file twice"),
        ("-c -n 10 -F -W 1", "before the time of -W"),
        ("-c -n 10 -u", "folders that do not exist"),
        ("--ranks 2 -c -n 10 -u -C -F -N 1", "each file in two trees"),
        ("-B 1 -n 10", "does not support -B"),
        ("--savePerOpDataCSV x", "single operations are not logged"),
        ("-a DUMMY", "only POSIX is supported"),
        ("-n x", "invalid value `x` for `-n`"),
        ("-n", "`-n` has no value"),
        ("-d a@@b", "it must be a folder"),
        ("--print-all-proc", "mdtest has no option `--print-all-proc`"),
        ("x", "mdtest has no option `x`"),
    ] {
        let error = refusal(line);
        assert!(error.to_string().contains(expected), "{line}: {error}");
        assert!(!error.hint().is_empty(), "{line}");
    }
    assert_eq!(refusal("--print-all-proc").hint(), "did you mean `--print-all-procs`?");
    assert_eq!(options("-B 0 -n 1").tasks, 1, "barriers are the default");
}

#[test]
fn job_of_ranks_determines_the_number_of_tasks() {
    for (line, ranks, expected) in [
        ("-n 1", Some(48), 48),
        ("-n 1 --ranks 4", Some(48), 4),
        ("-n 1 --ranks 64", Some(48), 48),
        ("-n 1", None, 1),
    ] {
        let options = parse_for_job(&words(line), ranks).unwrap();
        assert_eq!(options.tasks, expected, "{line}");
        assert_eq!(options.notes.is_empty(), !line.contains("64"), "{:?}", options.notes);
    }
    let hosts = TaskHosts::new(["a", "a", "b", "a"].into_iter());
    assert_eq!((hosts.nodes, hosts.map.as_str()), (2, "1101"));
}

#[test]
fn details_of_tasks_have_the_columns_of_mdtest() {
    let result = |phase, items, tasks_s: [f64; 2]| PhaseResult {
        phase,
        iteration: 0,
        items,
        elapsed_s: tasks_s[0],
        tasks_s: tasks_s.to_vec(),
        stonewall: None,
    };
    let results = vec![
        result(MdtestPhase::FileCreation, 8, [0.5, 0.25]),
        result(MdtestPhase::TreeCreation, 1, [0.25, 0.25]),
    ];
    let test = MdtestTest { tasks: 2, items: 8, results };
    expect_test::expect![[r"
        all,8,,,,,,,,,,,3.2000000000e+01,5.0000000000e-01,,,,,,,8.0000000000e+00,2.5000000000e-01,,
        0,,,,,,,,,,,,1.6000000000e+01,5.0000000000e-01,,,,,,
        1,,,,,,,,,,,,3.2000000000e+01,2.5000000000e-01,,,,,,
    "]]
    .assert_eq(&rank_details::render_test(&test, 1));
    assert!(
        rank_details::render_heading().starts_with("rank,items,rate-Directory creation,time-")
    );
}

#[test]
fn branching_above_the_number_of_directories_is_no_work() {
    let options = options("-b 4294967295 -n 1 -F");
    let layout = MdtestLayout::new(&options, 1, 0).unwrap();
    let created = names(&layout, MdtestPhase::TreeCreation, 0);
    assert_eq!(created, ["test-dir.0-0/mdtest_tree.0"]);
}

/// Returns the names of all operations of a task in a phase.
fn names(layout: &MdtestLayout<'_>, phase: MdtestPhase, task: u32) -> Vec<String> {
    let order = layout.shuffle(task);
    let name = |position| {
        let mut text = String::new();
        let place = match layout.is_collective(phase) {
            true => layout.locate(phase, position),
            false => (task, position),
        };
        layout.push_name(phase, place, order.as_deref(), &mut text);
        text
    };
    (0..layout.count(phase, task)).map(name).collect()
}

#[test]
fn every_phase_finds_the_items_that_were_created() {
    for line in [
        "--ranks 3 -n 6 -N 1",
        "--ranks 3 -n 6 -N 2 -u",
        "--ranks 2 -n 12 -z 2 -b 3",
        "--ranks 2 -n 18 -z 2 -b 3 -L -R --random-seed 3",
        "--ranks 2 -n 8 -I 2",
        "--ranks 2 -n 4 -S",
        "--ranks 3 -n 6 -c -N 1",
        "--ranks 2 -I 3 -z 2",
    ] {
        let options = options(line);
        let layout = MdtestLayout::new(&options, options.tasks, 1).unwrap();
        let all = |phase| {
            let mut all: Vec<String> =
                (0..options.tasks).flat_map(|task| names(&layout, phase, task)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let created = all(MdtestPhase::FileCreation);
        let tasks = if options.shared_file { 1 } else { u64::from(options.tasks) };
        assert_eq!(created.len() as u64, layout.size.items * tasks, "{line}");
        for phase in [MdtestPhase::FileQuery, MdtestPhase::FileRead, MdtestPhase::FileRemoval] {
            assert_eq!(all(phase), created, "{line} {phase:?}");
        }
        let tree = all(MdtestPhase::TreeCreation);
        assert_eq!(all(MdtestPhase::TreeRemoval), tree, "{line}");
        for name in &created {
            let folder = name.rsplit_once('/').unwrap().0;
            assert!(tree.iter().any(|it| it == folder), "{line}: {name} is in no directory");
        }
    }
}

#[test]
fn trees_are_created_from_above_and_removed_from_below() {
    let options = options("-n 14 -z 2 -b 2");
    let layout = MdtestLayout::new(&options, 1, 0).unwrap();
    let created = names(&layout, MdtestPhase::TreeCreation, 0);
    assert_eq!(created[0], "test-dir.0-0/mdtest_tree.0");
    assert_eq!(created[2], "test-dir.0-0/mdtest_tree.0/mdtest_tree.1/mdtest_tree.3");
    let mut removed = names(&layout, MdtestPhase::TreeRemoval, 0);
    removed.reverse();
    assert_eq!(created, removed);
}

#[test]
fn renamed_directories_move_up_by_one() {
    let options = options("-n 3 -D");
    let layout = MdtestLayout::new(&options, 1, 0).unwrap();
    let from = names(&layout, MdtestPhase::DirectoryRename, 0);
    let new_name = |position| {
        let mut text = String::new();
        layout.push_new_name((0, position), &mut text);
        text
    };
    let item = |suffix| format!("test-dir.0-0/mdtest_tree.0/dir.mdtest.0.{suffix}");
    assert_eq!(from, [item("0"), item("1"), item("0-XX")]);
    let to: Vec<String> = (0..3).map(new_name).collect();
    assert_eq!(to, [item("0-XX"), item("0"), item("1")]);
}

fn report(line: &str, finished: &str) -> MdtestReport {
    let result = |phase, iteration, items, elapsed_s: f64| PhaseResult {
        phase,
        iteration,
        items,
        elapsed_s,
        tasks_s: vec![elapsed_s / 2.0, elapsed_s],
        stonewall: (items == 7).then_some(StonewallProgress {
            minimum: 5,
            maximum: 7,
            mean: 6.0,
        }),
    };
    let results = vec![
        result(MdtestPhase::TreeCreation, 0, 1, 0.001),
        result(MdtestPhase::FileCreation, 0, 7, 0.5),
        result(MdtestPhase::TreeCreation, 1, 1, 0.002),
        result(MdtestPhase::FileCreation, 1, 8, 0.25),
    ];
    let options = options(line);
    MdtestReport {
        version: "4.1.0+dev (assay 0.2.0)".to_owned(),
        command: text::format_command(&words(line)),
        began: "11/29/2026 06:51:14".to_owned(),
        finished: finished.to_owned(),
        tests: vec![MdtestTest { tasks: 2, items: 8, results }],
        options,
        hosts: None,
        capacity: None,
    }
}

#[test]
fn table_has_statistics_over_iterations() {
    let line = "--ranks 2 -n 8 -F -C -i 2 -N 1 -W 1 -d D";
    expect_test::expect![[r"
        -- started at 11/29/2026 06:51:14 --

        mdtest-4.1.0+dev (assay 0.2.0) was launched with 2 total task(s) on 1 node(s)
        Command line used: mdtest '--ranks' '2' '-n' '8' '-F' '-C' '-i' '2' '-N' '1' '-W' '1' '-d' 'D'
        Nodemap: 11
        Path                : D
        V-0: Rank   0 Line  2594 Shifting ranks by 1 for each phase.
        2 tasks, 16 files
        Continue stonewall hit min: 5 max: 7 avg: 6.0 


        SUMMARY rate (in ops/sec): (of 2 iterations)
           Operation                     Max            Min           Mean        Std Dev
           ---------                     ---            ---           ----        -------
           File creation                  64.000         28.000         46.000         25.456
           File stat                       0.000          0.000          0.000          0.000
           File read                       0.000          0.000          0.000          0.000
           File removal                    0.000          0.000          0.000          0.000
           Tree creation                1000.000        500.000        750.000        353.553
           Tree removal                    0.000          0.000          0.000          0.000
        -- finished at 11/29/2026 06:51:15 --

    "]]
    .assert_eq(&text::document(&report(line, "11/29/2026 06:51:15")));
    let broken = text::document(&report(line, ""));
    assert!(!broken.contains("SUMMARY") && !broken.contains("finished"), "{broken}");
}

#[test]
fn tables_of_tasks_and_times() {
    let line = "--ranks 2 -n 8 -F -C -i 2 -P -v --print-all-procs --showRankStatistics";
    let text = text::document(&report(line, "11/29/2026 06:51:15"));
    for expected in [
        "Test File creation 2.800000e+01,1.400000e+01\n",
        "Test File creation 2.500000e-01,5.000000e-01\n",
        "   File creation              64.000         14.000         34.500                 64.000         28.000",
        "SUMMARY time (in ms/op): (of 2 iterations)",
        "V-1: Rank   0 Line     0   File creation     :          0.500 sec,         28.000 ops/sec\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
