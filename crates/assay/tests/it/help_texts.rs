//! Help, man pages and completions: complete, and generated from one definition.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;

use crate::program::{World, files_below};

/// Returns the commands that a help text lists, in its order; empty without such a list.
fn listed_commands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let entries = lines.take_while(|line| !line.is_empty());
    // Deeper indented lines continue the description above them.
    let names = entries.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty()).collect()
}

/// Appends the help of a command and of all its subcommands to `text`.
fn append_reference(world: &World, words: &[&str], text: &mut String) {
    let help = match words {
        [command] => world.assay(&["help", command]),
        below => world.assay(&[below, &["--help"]].concat()),
    };
    let (help, name) = (help.succeeded().out, words.join(" "));
    writeln!(text, "\n## assay {name}\n\n```text\n{}\n```", help.trim_end()).unwrap();
    for command in listed_commands(&help) {
        append_reference(world, &[words, &[command]].concat(), text);
    }
}

/// Returns the commands and the topics that the program lists.
fn commands_and_topics(world: &World) -> (Vec<String>, Vec<String>) {
    let help = world.assay(&["--help"]).succeeded().out;
    let refused = world.assay(&["help", "nonsense"]).failed_with(2).err;
    let (_, known) = refused.split_once("expected one of: ").unwrap();
    let known = known.trim_end().split(", ").map(str::to_owned);
    let commands = listed_commands(&help);
    let (commands, topics) = known.partition(|name| commands.contains(&name.as_str()));
    (commands, topics)
}

/// The reference in `docs/` equals the program's help. Every command has its section, because the
/// program itself lists the commands.
#[test]
fn documented_reference_matches_help() {
    let world = World::new();
    let mut text = String::from("# Commands\n\nWritten by the tests from `assay help`.\n");
    let (commands, topics) = commands_and_topics(&world);
    for command in &commands {
        append_reference(&world, &[command], &mut text);
    }
    expect_file!["../../../../docs/reference/commands.md"].assert_eq(&text);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");
    for page in files_below(Path::new(folder)) {
        let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            name == "commands" || topics.contains(&name),
            "{} describes no command or topic",
            page.display()
        );
    }
    for topic in topics {
        let help = world.assay(&["help", &topic]).succeeded().out;
        let text = format!(
            "# {topic}\n\nWritten by the tests from `assay help {topic}`.\n\n```text\n{}\n```\n",
            help.trim_end()
        );
        let path = format!("../../../../docs/reference/{topic}.md");
        expect_file![path].assert_eq(&text);
    }
}

#[test]
fn every_command_has_man_page_and_completions() {
    let world = World::new();
    let (commands, topics) = commands_and_topics(&world);
    // A name that is no command must be a topic; otherwise it is missing from the help.
    assert_eq!(topics, ["methods", "tools", "formats", "suites", "fleet-file", "exit-codes"]);
    for command in &commands {
        let page = world.assay(&["man", command]).succeeded().out;
        assert!(page.contains(".SH OPTIONS"), "{page}");
        let name = format!("assay\\-{command}");
        assert!(page.contains(&name), "{name} is not in {page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = world.assay(&["completions", shell]).succeeded().out;
        for word in commands.iter().map(String::as_str).chain(["placement"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn example_suite_in_help_can_be_planned() {
    let world = World::new();
    let help = world.assay(&["help", "suites"]).succeeded().out;
    let example: String = help
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("name ="))
        .map(|line| line.trim().to_owned() + "\n")
        .collect();
    world.write("mine.toml", &example);
    // The printed suite can be planned on any machine; with a target, its storage cases are planned
    // too.
    let plan = world.json(&["run", "mine.toml", "--dry-run", "--json"]);
    assert_eq!(plan["suite"], "mine");
    let words =
        ["run", "mine.toml", "--dry-run", "--json", "--target-on-root", "--target", "."];
    let plan = world.json(&words);
    let cases = plan["cases"].as_array().unwrap();
    let of_storage =
        |it: &&serde_json::Value| it["id"].as_str().unwrap().starts_with("storage");
    assert!(cases.iter().filter(of_storage).count() > 10, "{plan}");
}

#[test]
fn subcommand_help_works_in_either_word_order() {
    let world = World::new();
    let wanted = world.assay(&["help", "net", "throughput"]).succeeded().out;
    assert!(wanted.contains("--streams"), "{wanted}");
    assert_eq!(world.assay(&["net", "help", "throughput"]).succeeded().out, wanted);
    let whole = world.assay(&["net", "help"]).succeeded().out;
    assert_eq!(world.assay(&["help", "net"]).succeeded().out, whole);
    let page = world.assay(&["man", "storage", "read"]).succeeded().out;
    assert!(page.contains("assay\\-storage\\-read"), "{page}");
    let refused = world.assay(&["help", "net", "througput"]).failed_with(2).err;
    assert!(refused.contains("did you mean `throughput`?"), "{refused}");
}

#[test]
fn closed_pipe_is_not_an_error() {
    use std::process::Stdio;
    let world = World::new();
    let mut child = world.command(&["help", "methods"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
