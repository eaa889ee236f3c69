//! `assay ior`: its phases, its files and its output formats.

use serde_json::Value;

use crate::program::{Outcome, World};

fn ior(world: &World, line: &str) -> Outcome {
    let words = ["ior"].into_iter().chain(line.split_whitespace());
    world.assay(&words.collect::<Vec<_>>())
}

#[test]
fn writes_and_reads_shared_file_in_segments() {
    let world = World::new();
    let outcome = ior(&world, "-N 2 -b 64k -t 16k -s 3 -i 2 -C -e -o shared").succeeded();
    let lines: Vec<&str> = outcome.out.lines().collect();
    // access, bw, IOPS, latency, block, transfer, open, wr/rd, close, total, iteration
    let rows = |name: &str| {
        let words = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.filter(|words| words[..].first() == Some(&name) && words.len() == 11).collect()
    };
    let (written, read): (Vec<Vec<&str>>, Vec<Vec<&str>>) = (rows("write"), rows("read"));
    assert_eq!((written.len(), read.len()), (2, 2), "{}", outcome.out);
    for row in written.iter().chain(&read) {
        let seconds = |at: usize| row[at].parse::<f64>().unwrap();
        let (open_s, access_s, close_s) = (seconds(6), seconds(7), seconds(8));
        assert!(open_s > 0.0 && access_s > 0.0 && close_s > 0.0, "{row:?}");
        assert!((open_s + access_s + close_s - seconds(9)).abs() < 1e-5, "{row:?}");
    }
    assert!(lines.contains(&"aggregate filesize  : 393216 bytes"), "{}", outcome.out);
    assert!(!world.path("shared").exists(), "the file is removed without -k");
}

#[test]
fn file_per_process_gives_every_rank_its_file() {
    let world = World::new();
    let line = "-N 3 -F -b 32k -t 16k -s 2 -w -k -o own -O summaryFormat=JSON";
    let document: Value = serde_json::from_str(&ior(&world, line).succeeded().out).unwrap();
    for rank in 0..3 {
        let file = world.path(&format!("own.0000000{rank}"));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 65536);
    }
    let test = &document["tests"][0];
    assert_eq!(test["Parameters"]["filePerProc"], 1);
    assert_eq!(test["Options"]["access"], "file-per-process");
    let result = &test["Results"][0];
    assert_eq!(result["access"], "write");
    let number = |name: &str| result[name].as_f64().unwrap();
    let mib = 3.0 * 65536.0 / 1_048_576.0;
    assert!((number("bwMiB") * number("totalTime") / mib - 1.0).abs() < 1e-6);
    let summary = document["summary"].as_array().unwrap();
    assert_eq!(summary.len(), 1);
    assert_eq!(summary[0]["numTasks"], 3);
    // Kept files can be read by a later run.
    ior(&world, "-N 3 -F -b 32k -t 16k -s 2 -r -o own").succeeded();
    assert!(world.path("own.00000000").exists(), "what another run kept stays");
}

#[test]
fn read_check_detects_corrupt_data() {
    let world = World::new();
    ior(&world, "-N 2 -b 64k -t 16k -w -W -r -R -k -o checked").succeeded();
    let mut bytes = std::fs::read(world.path("checked")).unwrap();
    bytes[70_000] ^= 1;
    std::fs::write(world.path("checked"), bytes).unwrap();
    let outcome = ior(&world, "-N 2 -b 64k -t 16k -r -R -k -o checked").failed_with(4);
    assert!(outcome.err.contains("checked"), "{}", outcome.err);
}

/// Lines of IO500's kind: the write does not check, and the transfers are no multiple of a sector.
#[test]
fn read_check_finds_a_corrupt_byte_in_transfers_of_any_size() {
    for (line, file, byte) in [
        ("-t 47008 -b 47008 -s 9", "checked", 470_079),
        ("-t 47008 -b 47008 -s 9", "checked", 47_007),
        ("-t 1000 -b 5000 -s 3 -F", "checked.00000001", 0),
        ("-t 32k -b 64k -F -C -Q 1 -G 27", "checked.00000000", 40_000),
        ("-t 8 -b 24 -s 4", "checked", 100),
    ] {
        let world = World::new();
        let line = format!("-N 2 {line} -k -o checked");
        ior(&world, &format!("{line} -w")).succeeded();
        ior(&world, &format!("{line} -r -R")).succeeded();
        let mut bytes = std::fs::read(world.path(file)).unwrap();
        bytes[byte] ^= 1;
        std::fs::write(world.path(file), bytes).unwrap();
        let outcome = ior(&world, &format!("{line} -r -R")).failed_with(4);
        assert!(outcome.err.contains("wrong data: byte "), "{line}: {}", outcome.err);
        ior(&world, &format!("{line} -r")).succeeded();
    }
}

/// Data is checked in transfers of another size than it was written in, and not with another seed.
#[test]
fn seed_of_the_data_counts_and_not_the_size_of_transfers() {
    let world = World::new();
    ior(&world, "-N 2 -b 141024 -t 47008 -G 27 -w -k -o checked").succeeded();
    ior(&world, "-N 1 -b 282048 -t 141024 -G 27 -r -R -k -o checked").succeeded();
    ior(&world, "-N 1 -b 282048 -t 141024 -G 28 -r -R -k -o checked").failed_with(4);
}

/// What a write leaves of an older file is not damage: after its deadline, and between random offsets.
#[test]
fn checks_of_an_old_file_are_those_of_the_write() {
    let world = World::new();
    ior(&world, "-N 1 -b 32m -t 1m -G 1 -w -k -o old").succeeded();
    // Transfers are so small that the deadline comes first.
    ior(&world, "-N 1 -b 32m -t 8 -G 2 -w -W -r -R -D 1 -k -o old").succeeded();
    ior(&world, "-N 1 -b 32m -t 1m -G 2 -r -R -k -o old").failed_with(4);
    ior(&world, "-N 2 -F -b 256k -t 4k -G 1 -w -k -o own").succeeded();
    let random = "-N 2 -F -z -z -b 4k -t 4k -s 64 -G 2 -w -W -r -R -k -o own";
    ior(&world, random).succeeded();
    ior(&world, "-N 2 -F -b 256k -t 4k -G 2 -r -R -k -o own").failed_with(4);
    let refused = ior(&world, &format!("{random} -C")).failed_with(2).err;
    assert!(refused.contains("need files that do not exist yet"), "{refused}");
    ior(&world, "-N 2 -F -z -z -C -b 4k -t 4k -s 64 -w -W -r -R -o new").succeeded();
}

#[test]
fn random_offsets_with_csv_summary() {
    let world = World::new();
    let line = "-N 2 -F -z -b 64k -t 16k -i 2 -O summaryFormat=CSV,summaryFile=table -o random";
    assert_eq!(ior(&world, line).succeeded().out, "");
    let table = std::fs::read_to_string(world.path("table")).unwrap();
    assert_eq!(table.lines().count(), 5, "{table}");
}

#[test]
fn creates_folder_per_rank_and_file_per_repetition() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let line = "-N 2 -F -u -m -Z -i 2 -b 32k -t 16k -o data/own";
    ior(&world, &format!("{line} -k")).succeeded();
    for name in ["0/own.00000000.0", "0/own.00000000.1", "1/own.00000001.0", "1/own.00000001.1"]
    {
        assert_eq!(world.path("data").join(name).metadata().unwrap().len(), 32768, "{name}");
    }
    std::fs::remove_dir_all(world.path("data")).unwrap();
    let reported = ior(&world, line).failed_with(4).err;
    assert!(reported.contains("create the folder of the test file"), "{reported}");
    std::fs::create_dir(world.path("data")).unwrap();
    ior(&world, line).succeeded();
    assert_eq!(std::fs::read_dir(world.path("data")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn ranks_wear_out_after_deadline() {
    let world = World::new();
    // The segments take far more than a second to write, so that the deadline comes first; only a
    // mebibyte is laid out.
    let line = "-N 2 -F -z -z -b 4k -t 4k -s 256 -D 1 -Y -w -r -k -o own \
                -O stoneWallingWearOut=1,stoneWallingStatusFile=reached";
    let outcome = ior(&world, line).succeeded();
    assert!(outcome.out.contains("stonewalling pairs accessed min: "), "{}", outcome.out);
    let reached: u64 = std::fs::read_to_string(world.path("reached")).unwrap().parse().unwrap();
    assert!((1..=256).contains(&reached), "{reached}");
    let later = "-N 2 -F -b 4k -t 4k -s 256 -r -k -o own -O stoneWallingStatusFile=reached \
                 -O summaryFormat=JSON";
    let document: Value = serde_json::from_str(&ior(&world, later).succeeded().out).unwrap();
    let mib = document["summary"][0]["xsizeMiB"].as_f64().unwrap();
    assert!((mib - 2.0 * reached as f64 / 256.0).abs() < 1e-9, "{mib} {reached}");
}

/// A deadline leaves less than the whole size; a later read takes the file as it is.
#[test]
fn reads_leave_the_file_of_a_stonewalled_write() {
    let world = World::new();
    let write = "-N 1 -F -b 64m -t 4k -s 4096 -D 1 -Y -w -k -o grown \
                 -O stoneWallingWearOut=1,stoneWallingStatusFile=reached";
    ior(&world, write).succeeded();
    let file = || std::fs::read(world.path("grown.00000000")).unwrap();
    let before = file();
    assert!(before.len() >= 4096, "{}", before.len());
    let read = "-N 1 -F -b 64m -t 4k -s 4096 -r -k -o grown -O stoneWallingStatusFile=reached";
    ior(&world, read).succeeded();
    assert!(file() == before, "the read has changed {} bytes", before.len());
}

#[test]
fn script_runs_several_tests() {
    let world = World::new();
    let text = "IOR START\ntestFile=one\nblockSize=64k,transferSize=16k\nRUN\nfilePerProc=1\nRUN\nIOR STOP\n";
    world.write("script", text);
    let outcome = ior(&world, "-N 2 -f script").succeeded();
    assert_eq!(outcome.out.matches("StartTime").count(), 2, "{}", outcome.out);
    let (_, summary) = outcome.out.split_once("Summary of all tests:").unwrap();
    let rows = summary.lines().filter(|line| line.contains("POSIX"));
    let numbers: Vec<_> = rows.map(|row| row.split_whitespace().nth(12).unwrap()).collect();
    assert_eq!(numbers, ["0", "0", "1", "1"], "{summary}");
    let document = ior(&world, "-N 2 -f script -O summaryFormat=JSON").succeeded().out;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["tests"].as_array().unwrap().len(), 2);
    world.write("script", "IOR START\nblockSize=1x\n");
    let reported = ior(&world, "-f script").failed_with(2).err;
    for says in ["invalid value `1x` for `blockSize`", "script:2:1"] {
        assert!(reported.contains(says), "{reported}");
    }
}

#[test]
fn rejects_unsupported_options() {
    let world = World::new();
    let table = [
        ("-a MPIIO -o x", "only POSIX is supported"),
        ("-M 1g -o x", "does not support -M\n"),
        ("-f nowhere", "cannot read the script `nowhere`"),
        ("-O stoneWallingWearOut=1 -o x", "-O stoneWallingWearOut needs a deadline, -D"),
        ("-b 1m -t 300k -o x", "must be a multiple"),
        ("--posix.odirct", "did you mean"),
    ];
    for (line, expected) in table {
        let outcome = ior(&world, line).failed_with(2);
        assert!(outcome.err.contains(expected), "{line}: {}", outcome.err);
    }
    let reported = ior(&world, "-r -o nothing").failed_with(4);
    assert!(reported.err.contains("there is no file nothing to read"), "{}", reported.err);
    assert_eq!(reported.out, "", "nothing is shown before it can be done");
    assert_eq!(ior(&world, "-o no/folder").failed_with(2).out, "");
    let help = ior(&world, "--help").succeeded().out;
    for option in ["-N RANKS", "stoneWallingWearOut=1", "-f FILE", "--posix.odirect"] {
        assert!(help.contains(option), "{help}");
    }
    for (line, command) in [("-N 2 -b 1m --help", "ior"), ("--name=a --help", "fio")] {
        let words: Vec<&str> = [command].into_iter().chain(line.split(' ')).collect();
        let usage = format!("Usage: assay {command} [");
        assert!(world.assay(&words).succeeded().out.contains(&usage), "{line}");
    }
    let mut launched = world.command(&["ior", "-o", "x", "--mpi-library=/none"]);
    launched.env("OMPI_COMM_WORLD_RANK", "0").env("OMPI_COMM_WORLD_SIZE", "4");
    let output = launched.output().unwrap();
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{reported}");
    assert!(reported.contains("no MPI library can be opened"), "{reported}");
    let dry = ior(&world, "-N 2 -b 64k -t 16k -o x --dryRun").succeeded();
    assert!(dry.out.contains("blocks of"), "{}", dry.out);
}

#[test]
fn stored_run_prints_same_output() {
    let world = World::new();
    world.write("script", "IOR START\ntestFile=one\nblockSize=64k,transferSize=16k\nRUN\nfilePerProc=1\nRUN\nIOR STOP\n");
    let wearing =
        "-N 2 -F -z -z -b 4k -t 4k -s 64 -D 1 -Y -w -r -o worn -O stoneWallingWearOut=1";
    for line in ["-N 2 -b 64k -t 16k -i 2 -w -W -r -o again", "-N 2 -f script", wearing] {
        let live = ior(&world, line).succeeded().out;
        let again = world.assay(&["show", "--as", "ior"]).succeeded().out;
        assert_eq!(live, again, "{line}");
        let document = ior(&world, &format!("{line} -O summaryFormat=JSON")).succeeded().out;
        assert_eq!(
            document,
            world.assay(&["show", "--as", "ior-json"]).succeeded().out,
            "{line}"
        );
        let text = world.assay(&["show", "--as", "ior"]).succeeded().out;
        assert!(text.contains("Max Write: "), "{text}");
    }
    std::fs::remove_file(world.path("script")).unwrap();
    world.assay(&["show", "latest~2", "--as", "ior"]).succeeded();
}

#[test]
fn no_store_and_store_options_are_honoured() {
    let world = World::new();
    let line = "-N 1 -b 64k -t 16k -w -o kept";
    ior(&world, &format!("--no-store {line}")).succeeded();
    world.assay(&["show"]).failed_with(2);
    ior(&world, &format!("{line} --store elsewhere --label=there")).succeeded();
    world.assay(&["show"]).failed_with(2);
    let found = world.assay(&["list", "--store", "elsewhere"]).succeeded().out;
    assert!(found.contains("there"), "{found}");
    let reported = ior(&world, &format!("{line} --no-store --store x")).failed_with(2).err;
    assert!(reported.contains("--no-store and --store cannot be used together"), "{reported}");
    ior(&world, "-r -o missing").failed_with(4);
    world.assay(&["show"]).failed_with(2);
}
