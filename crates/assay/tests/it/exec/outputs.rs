//! Outputs of programs: figures read by importers, and programs that want a terminal.

use crate::program::{World, results};

/// HPL's log of the importers' tests.
const HPL: &str =
    include_str!("../../../../assay-adapters/tests/import/hpl/2.3-indented-log.txt");

#[test]
fn importers_read_figures() {
    let world = World::new();
    world.write("log", HPL);
    let words = ["exec", "-q", "-r", "3", "--read-as", "hpl", "--json", "--", "cat", "log"];
    let document = world.json(&words);
    let rates = results(&document, "command", "flop_rate");
    let [rate] = rates.as_slice() else { panic!("{document:#}") };
    assert_eq!((rate["median"].as_f64(), &rate["n"]), (Some(1.38e12), &3.into()), "{rate:#}");
    assert_eq!(rate["parameters"]["test"], "n=102144 rmax");
    let suite = "name = \"x\"\n[[measure]]\nbenchmark = \"command\"\n\
                 run = [\"cat\", \"log\"]\nread-as = \"hpl\"\nruns = 2\n";
    world.write("x.toml", suite);
    let document = world.json(&["run", "./x.toml", "-q", "--json"]);
    assert_eq!(results(&document, "command", "flop_rate")[0]["median"], 1.38e12);
}

#[test]
fn outputs_of_other_formats_fail_with_their_reason() {
    let world = World::new();
    world.write("log", HPL);
    for (line, expected) in [
        (
            "echo hello",
            "cannot read the standard output of `sh -c 'echo hello'`: not the output of HPL",
        ),
        ("sed s/PASSED/FAILED/ log", "recognised as HPL's log"),
        ("head -c 900 log", "cannot read the standard output"),
    ] {
        let words = ["exec", "-q", "-r", "2", "--read-as", "hpl", "--", "sh", "-c", line];
        let outcome = world.assay(&words).failed_with(4);
        assert!(outcome.err.contains(expected), "{line}: {}", outcome.err);
        assert!(outcome.err.contains("help:"), "{line}: {}", outcome.err);
    }
    let words = ["exec", "--read-as", "hlp", "--", "true"];
    assert!(world.assay(&words).failed_with(2).err.contains("hpl"));
    let suite = "name = \"x\"\n[[measure]]\nbenchmark = \"command\"\nrun = [\"true\"]\nread-as = \"hlp\"\n";
    world.write("x.toml", suite);
    let refused = world.assay(&["run", "./x.toml"]).failed_with(3);
    assert!(refused.err.contains("`hlp` is no known format"), "{}", refused.err);
}

#[test]
fn a_program_that_wants_a_terminal_is_explained() {
    let world = World::new();
    let line = "test -t 0 || { echo 'the standard input is not a terminal' >&2; exit 1; }";
    let outcome =
        world.assay(&["exec", "-q", "-r", "2", "--", "sh", "-c", line]).failed_with(4);
    assert!(outcome.err.contains("it seems to need a terminal"), "{}", outcome.err);
}
