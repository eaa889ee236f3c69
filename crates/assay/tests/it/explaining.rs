//! Help, man pages and completions: complete, and from one definition.

use std::fmt::Write as _;

use expect_test::expect_file;

use crate::program::World;

/// The reference in `docs/` is what the program says; a changed option changes it.
#[test]
fn the_reference_in_the_documentation_is_what_help_says() {
    let world = World::new();
    let mut text = String::from("# Commands\n\nWritten by the tests from `assay help`.\n");
    let commands = [
        "run",
        "stream",
        "linpack",
        "vdbench",
        "fio",
        "ior",
        "plan",
        "doctor",
        "list",
        "show",
        "report",
        "help",
        "completions",
        "man",
    ];
    for command in commands {
        let help = world.assay(&["help", command]).succeeded().out;
        writeln!(text, "\n## assay {command}\n\n```text\n{}\n```", help.trim_end()).unwrap();
    }
    expect_file!["../../../../docs/reference/commands.md"].assert_eq(&text);
    for topic in ["methods", "tools", "suites", "exit-codes"] {
        let help = world.assay(&["help", topic]).succeeded().out;
        let text = format!(
            "# {topic}\n\nWritten by the tests from `assay help {topic}`.\n\n```text\n{}\n```\n",
            help.trim_end()
        );
        let path = format!("../../../../docs/reference/{topic}.md");
        expect_file![path].assert_eq(&text);
    }
}

#[test]
fn every_command_has_a_man_page_and_every_shell_its_completions() {
    let world = World::new();
    let help = world.assay(&["help"]).succeeded().out;
    for command in ["run", "stream", "linpack", "doctor", "list", "show", "report"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in {help}");
        let page = world.assay(&["man", command]).succeeded().out;
        assert!(page.contains(".SH OPTIONS"), "{page}");
        let name = format!("assay\\-{command}");
        assert!(page.contains(&name), "{name} is not in {page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = world.assay(&["completions", shell]).succeeded().out;
        for word in ["linpack", "placement"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn the_example_suite_in_the_help_can_be_planned() {
    let world = World::new();
    let help = world.assay(&["help", "suites"]).succeeded().out;
    let example: String = help
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("name ="))
        .map(|line| line.trim().to_owned() + "\n")
        .filter(|line| !line.starts_with("by =") && !line.starts_with("threads ="))
        .collect();
    world.write("mine.toml", &example);
    let plan = world.json(&["run", "mine.toml", "--dry-run", "--json"]);
    assert_eq!(plan["suite"], "mine");
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::Stdio;
    let world = World::new();
    let mut child = world.command(&["help", "methods"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
