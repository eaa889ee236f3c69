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
            "# {}\n\nWritten by the tests from `assay help {topic}`.\n\n```text\n{}\n```\n",
            topic_title(&topic),
            help.trim_end()
        );
        let path = format!("../../../../docs/reference/{topic}.md");
        expect_file![path].assert_eq(&text);
    }
}

/// Returns the topic as a title: `exit-codes` as `Exit codes`.
fn topic_title(topic: &str) -> String {
    let (first, rest) = topic.split_at(1);
    format!("{}{}", first.to_uppercase(), rest.replace('-', " "))
}

#[test]
fn every_command_has_man_page_and_completions() {
    let world = World::new();
    let (commands, topics) = commands_and_topics(&world);
    // A name that is no command must be a topic; otherwise it is missing from the help.
    assert_eq!(
        topics,
        ["methods", "tools", "formats", "suites", "fleet-file", "exit-codes", "docs"]
    );
    for command in &commands {
        let page = world.assay(&["man", command]).succeeded().out;
        assert!(page.contains(".SH OPTIONS"), "{page}");
        let name = format!("assay\\-{command}");
        assert!(page.contains(&name), "{name} is not in {page}");
        for section in [".SH EXAMPLES\n.nf\n  ", ".SH FILES", ".SH EXIT STATUS"] {
            assert!(page.contains(section), "{section} is not in {page}");
        }
    }
    let page = world.assay(&["man", "run"]).succeeded().out;
    assert!(page.contains(".SH EXAMPLES\n.nf\n  assay run "), "{page}");
    let page = world.assay(&["man", "fio"]).succeeded().out;
    assert!(page.contains(".SH NOTES\nassay's own options: "), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        let script = world.assay(&["completions", shell]).succeeded().out;
        assert!(script.contains("ASSAY_COMPLETE"), "{shell}: {script}");
    }
}

/// Bash completes commands, options, and names of what the program and the store contain.
#[test]
fn bash_completes_names() {
    let world = World::new();
    let golden =
        include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
    world.write("stream.txt", golden);
    world.assay(&["import", "--label", "nightly", "stream.txt"]).succeeded();
    let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let complete = |line: &str| {
        let script = format!(
            "source <(assay completions bash); COMP_WORDS=({line} ''); \
             COMP_WORDS=(${{COMP_WORDS[@]:0:${{#COMP_WORDS[@]}}-1}}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); COMP_TYPE=9; \
             _clap_complete_assay assay \"${{COMP_WORDS[-1]}}\" x; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = world.command(&[]);
        let environment: Vec<_> = bash
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        bash = std::process::Command::new("bash");
        let output = bash.envs(environment).env("PATH", &path).args(["-c", &script]);
        let output = output.current_dir(world.path(".")).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
    };
    for (line, expected) in [
        ("assay comp", "compare"),
        ("assay run mem", "memory"),
        ("assay run memory,comp", "memory,compute"),
        ("assay run --bud", "--budget"),
        ("assay show --locale zh", "zh-Hans"),
        ("assay compare nightly azure/hbv", "azure/hbv4"),
        ("assay compare nightly hbv", "hbv4"),
        ("assay list --label ni", "nightly"),
        ("assay show lat", "latest"),
        ("assay run --by fi", "fio"),
        ("assay history memory.str", "memory.stream/triad"),
        ("assay help docs/sec", "docs/security.md"),
    ] {
        let completed = complete(line);
        assert!(completed.lines().any(|it| it.trim() == expected), "{line}: {completed}");
    }
}

/// Commands with the options of other tools.
const TOOLS: [&str; 7] = ["vdbench", "iperf3", "qperf", "sockperf", "ntttcp", "mpi", "rdma"];

/// `-h` of a command fits on a screen and has examples; `--help` has every option.
#[test]
fn short_help_fits_on_one_screen() {
    let world = World::new();
    for line in [
        "import",
        "doctor",
        "vdbench",
        "iperf3",
        "qperf",
        "sockperf",
        "ntttcp",
        "mpi",
        "rdma",
        "run",
        "stream",
        "linpack",
        "exec",
        "net throughput",
        "net latency",
        "storage read",
        "storage files",
    ] {
        let help = |option: &str| {
            let words: Vec<&str> = line.split(' ').chain([option]).collect();
            let mut command = world.command(&words);
            let output = command.env("COLUMNS", "80").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let (short, long) = (help("-h"), help("--help"));
        assert!(short.lines().count() <= 40, "{line}: {short}");
        assert!(short.contains("see more with '--help'"), "{short}");
        let rare = match TOOLS.contains(&line) {
            true => "--store",
            false => "--units",
        };
        assert!(!short.contains(rare) && long.contains(rare), "{line}: {long}");
    }
    let run = world.assay(&["run", "-h"]).succeeded().out;
    let positions =
        ["--target", "--hosts", "--dry-run", "--output"].map(|it| run.find(it).unwrap());
    assert!(positions.is_sorted() && run.contains("Examples:\n  assay run "), "{run}");
}

/// `assay -h` fits on a screen and names every command; `--help` lists and explains all.
#[test]
fn short_list_of_commands_fits_on_one_screen() {
    let world = World::new();
    let long = world.assay(&["--help"]).succeeded().out;
    for columns in ["80", "100"] {
        let output = world.command(&["-h"]).env("COLUMNS", columns).output().unwrap();
        let short = String::from_utf8(output.stdout).unwrap();
        assert!(short.lines().count() <= 40, "{short}");
        let words: Vec<&str> = short.split(|it: char| !it.is_alphanumeric()).collect();
        for command in listed_commands(&long) {
            assert!(words.contains(&command), "{command}: {short}");
        }
        assert!(!listed_commands(&short).contains(&"prune"), "{short}");
    }
}

/// Guides are printed by the name that messages cite.
#[test]
fn guides_are_printed() {
    let world = World::new();
    let cited = world.assay(&["help", "docs/references.md"]).succeeded().out;
    assert_eq!(cited, include_str!("../../../../docs/references.md"));
    assert_eq!(
        world.assay(&["help", "security"]).succeeded().out.lines().next(),
        Some("# Security")
    );
    let listed = world.assay(&["help", "docs"]).succeeded().out;
    assert!(listed.contains("docs/fio.md"), "{listed}");
    world.assay(&["help", "docs/nothing.md"]).failed_with(2);
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
