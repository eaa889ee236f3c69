//! `assay import`: what people have becomes runs like any other.

use serde_json::Value;

use crate::program::World;

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
const FIO: &str = include_str!("../../../assay-adapters/tests/golden/fio/3.33-mix.out");
const OSU: &str = include_str!("../../../assay-adapters/tests/golden/osu/7.5-latency.out");

#[test]
fn files_of_several_tools_become_runs() {
    let world = World::new();
    world.write("stream.txt", STREAM);
    world.write("fio.json", FIO);
    world.write("osu.txt", OSU);
    let words =
        ["import", "--json", "--label", "hb", "--host", "vm1", "--set", "placement=node"];
    let files = ["stream.txt", "fio.json", "osu.txt"];
    let said = world.assay(&[&words[..], &files[..]].concat()).succeeded().out;
    let said: Value = serde_json::from_str(&said).unwrap();
    let formats: Vec<&str> = said["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["format"].as_str().unwrap())
        .collect();
    assert_eq!(formats, ["stream", "fio-json", "osu"]);
    let run = said["imported"][0]["runs"][0].as_str().unwrap();
    let shown = world.assay(&["show", run, "--json"]).succeeded().out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let triad = &shown["results"].as_array().unwrap()[3];
    assert_eq!(triad["metric"], "triad");
    assert_eq!(triad["parameters"]["placement"], "node");
    assert_eq!(triad["tool"]["name"], "stream");
    assert_eq!(triad["parameters"]["source_file"], "stream.txt");
    let text = world.assay(&["show", run]).succeeded().out;
    assert!(text.contains("imported from stream.txt"), "{text}");
    let listed = world.assay(&["list"]).succeeded().out;
    assert_eq!(listed.matches("import ").count(), 3, "{listed}");
    assert!(world.assay(&["verify"]).succeeded().out.contains("sound"));
    world.assay(&["report", run, "--format", "html"]).succeeded();
}

#[test]
fn the_same_file_is_compared_and_has_a_history() {
    let world = World::new();
    world.write("a.txt", STREAM);
    world.write("b.txt", STREAM);
    world.assay(&["import", "--label", "a", "a.txt"]).succeeded();
    world.assay(&["import", "--label", "b", "b.txt"]).succeeded();
    let compared = world.assay(&["compare", "a", "b", "--json"]);
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    assert_eq!(compared["pairs"].as_array().unwrap().len(), 4);
    world.assay(&["history", "triad", "--host", "imported"]).succeeded();
}

#[test]
fn what_cannot_be_imported_is_named_with_its_line_and_the_rest_is_stored() {
    let world = World::new();
    world.write("good.txt", STREAM);
    world.write("cut.txt", &STREAM.replace("Solution Validates", ""));
    world.write("other.txt", "hello\n");
    let outcome = world.assay(&["import", "good.txt", "cut.txt", "other.txt", "absent", "."]);
    let outcome = outcome.failed_with(4);
    assert!(outcome.out.contains("stream, 1 measurement, good.txt"), "{}", outcome.out);
    for told in ["cut.txt was not imported", "[cut.txt:", "other.txt was not imported", "hello"]
    {
        assert!(outcome.err.contains(told), "{told}: {}", outcome.err);
    }
    assert!(outcome.err.contains("absent cannot be read"), "{}", outcome.err);
    assert!(outcome.err.contains(". is no file"), "{}", outcome.err);
    let refused = world.assay(&["import", "--set", "colour=red", "good.txt"]).failed_with(2);
    assert!(refused.err.contains("there is no parameter `colour`"), "{}", refused.err);
    world.assay(&["import", "--set", "residual=1", "good.txt"]).failed_with(2);
}
