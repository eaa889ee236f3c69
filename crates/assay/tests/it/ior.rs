//! `assay ior`: its phases, its files, its two forms of output.

use serde_json::Value;

use crate::program::{Outcome, World};

fn ior(world: &World, line: &str) -> Outcome {
    let words = ["ior"].into_iter().chain(line.split_whitespace());
    world.assay(&words.collect::<Vec<_>>())
}

#[test]
fn a_shared_file_is_written_and_read_in_segments() {
    let world = World::new();
    let outcome = ior(&world, "-N 2 -b 64k -t 16k -s 3 -i 2 -C -e -o shared").succeeded();
    let lines: Vec<&str> = outcome.out.lines().collect();
    let rows = |name: &str| {
        lines.iter().filter(|line| line.starts_with(name) && line.contains(" - ")).count()
    };
    assert_eq!((rows("write"), rows("read")), (2, 2), "{}", outcome.out);
    assert!(lines.contains(&"aggregate filesize  : 393216 bytes"), "{}", outcome.out);
    assert!(!world.path("shared").exists(), "the file is removed without -k");
}

#[test]
fn every_rank_may_have_its_file() {
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
    // What was kept can be read later.
    ior(&world, "-N 3 -F -b 32k -t 16k -s 2 -r -o own").succeeded();
    assert!(world.path("own.00000000").exists(), "what another run kept stays");
}

#[test]
fn contents_are_checked() {
    let world = World::new();
    ior(&world, "-N 2 -b 64k -t 16k -w -W -r -R -k -o checked").succeeded();
    let mut bytes = std::fs::read(world.path("checked")).unwrap();
    bytes[70_000] ^= 1;
    std::fs::write(world.path("checked"), bytes).unwrap();
    let outcome = ior(&world, "-N 2 -b 64k -t 16k -r -R -k -o checked").failed_with(4);
    assert!(outcome.err.contains("checked"), "{}", outcome.err);
}

#[test]
fn random_offsets_and_the_other_format() {
    let world = World::new();
    let line = "-N 2 -F -z -b 64k -t 16k -i 2 -O summaryFormat=CSV,summaryFile=table -o random";
    assert_eq!(ior(&world, line).succeeded().out, "");
    let table = std::fs::read_to_string(world.path("table")).unwrap();
    assert_eq!(table.lines().count(), 5, "{table}");
}

#[test]
fn what_does_not_run_is_refused_by_name() {
    let world = World::new();
    let table = [
        ("-a MPIIO -o x", "assay has POSIX alone"),
        ("-Z -o x", "ranks are threads of one host"),
        ("-b 1m -t 300k -o x", "must be a multiple"),
        ("--posix.odirct", "did you mean"),
    ];
    for (line, expected) in table {
        let outcome = ior(&world, line).failed_with(2);
        assert!(outcome.err.contains(expected), "{line}: {}", outcome.err);
    }
    let mut launched = world.command(&["ior", "-o", "x"]);
    let output = launched.env("OMPI_COMM_WORLD_SIZE", "4").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let dry = ior(&world, "-N 2 -b 64k -t 16k -o x --dryRun").succeeded();
    assert!(dry.out.contains("blocks of"), "{}", dry.out);
}
