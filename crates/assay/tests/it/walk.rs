//! Walks through the program as a user would: `tests/walk/walk.txt` lists command lines with their exit
//! codes and words of their output, run one after the other on a small store of imported results.
//!
//! Rows with `*` make up `docs/transcript.md`, which is compared as a whole.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use assay_claims::gate::GateOutcome;
use assay_claims::reference::ClaimVerdict;
use assay_model::comparison::ComparisonVerdict;
use assay_model::doubt::TrustLevel;
use serde::Serialize;
use serde_json::Value;

use crate::program::World;

/// Modification time of every file, 2026-01-01 in seconds since 1970, from which identifiers of imported runs derive.
const WRITTEN_S: u64 = 1_767_225_600;
/// Beginning of the page.
const PAGE_HEAD: &str = "# Example sessions\n\nWritten by a test from `crates/assay/tests/walk/walk.txt` \
    (`UPDATE_EXPECT=1 cargo test -p assay --test it walk`).\nThe runs were imported from other tools' files; \
    their identifiers are numbered here.\n";
/// Commands whose documents need a device, a server, a permission or MPI, or are those of a tool.
const NOT_WALKED: [&str; 7] = ["iperf3", "mpi", "ntttcp", "ping", "qperf", "rdma", "sockperf"];

/// Command line of the walk.
struct WalkStep {
    /// Title of its part of the walk.
    part: String,
    is_on_page: bool,
    code: i32,
    command: String,
    /// Words that its output contains, in any order.
    words: Vec<String>,
}

/// Files and command lines of the walk.
struct Walk {
    /// Names of the files in the working directory, with the golden of each.
    files: Vec<(String, String)>,
    steps: Vec<WalkStep>,
}

fn walk_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/walk")
}

fn read_walk() -> Walk {
    let text = std::fs::read_to_string(walk_folder().join("walk.txt")).unwrap();
    let mut walk = Walk { files: Vec::new(), steps: Vec::new() };
    let mut part = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut part);
        } else if let Some(file) = line.strip_prefix("file ") {
            let (name, golden) = file.split_once(' ').expect("file NAME GOLDEN");
            walk.files.push((name.to_owned(), golden.to_owned()));
        } else {
            walk.steps.push(parse_step(line, &part));
        }
    }
    walk
}

/// Parses a line such as `*2 assay show nothing => there is no run | assay list`.
fn parse_step(line: &str, part: &str) -> WalkStep {
    let row = line.strip_prefix('*');
    let (code, rest) = row.unwrap_or(line).split_once(' ').expect("CODE COMMAND => WORDS");
    let (command, words) = rest.split_once(" => ").unwrap_or((rest, ""));
    let words = words.split(" | ").filter(|it| !it.is_empty()).map(str::to_owned);
    WalkStep {
        part: part.to_owned(),
        is_on_page: row.is_some(),
        code: code.parse().expect("an exit code"),
        command: command.trim().to_owned(),
        words: words.collect(),
    }
}

/// Creates the files of the walk, all written at the same time.
fn world_of(walk: &Walk) -> World {
    let world = World::new();
    let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-adapters/tests/golden");
    for (name, golden) in &walk.files {
        world.write(name, &std::fs::read_to_string(goldens.join(golden)).unwrap());
    }
    for entry in std::fs::read_dir(walk_folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        world.write(&name, &std::fs::read_to_string(entry.path()).unwrap());
    }
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(WRITTEN_S);
    for entry in std::fs::read_dir(world.path("")).unwrap() {
        let file = std::fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(written).unwrap();
    }
    std::fs::create_dir(world.path("programs")).unwrap();
    let program = world.path("programs").join("assay");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), program).unwrap();
    world
}

/// Runs a command line and returns its exit code, standard output, and standard error.
fn run_step(world: &World, step: &WalkStep) -> (i32, String, String) {
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = world.path("programs");
    let output = Command::new("sh")
        .args(["-c", &step.command])
        .current_dir(world.path(""))
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("XDG_DATA_HOME", world.path(""))
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .env_remove("ASSAY_STORE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Returns the fault of a step, if it has one.
fn check_step(step: &WalkStep, (code, out, err): &(i32, String, String)) -> Option<String> {
    let joined = format!("{out} {err}").replace('\u{a0}', " ");
    let joined = joined.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing: Vec<&String> =
        step.words.iter().filter(|words| !joined.contains(words.as_str())).collect();
    let is_json = ["--json", "--format json"].iter().any(|it| step.command.contains(it));
    let is_document = is_json && step.command.starts_with("assay ") && !out.is_empty();
    let schema = serde_json::from_str::<Value>(out).ok().and_then(|it| it["schema"].as_u64());
    let fault = if *code != step.code {
        format!("exit code {code}, expected {}", step.code)
    } else if !missing.is_empty() {
        format!("without {missing:?}")
    } else if is_document && schema.is_none() {
        "its document has no schema".to_owned()
    } else {
        return None;
    };
    Some(format!("$ {}\n{fault}\n{out}{err}\n", step.command))
}

/// Replaces parts of chance: the folder, and identifiers of runs.
fn without_chance(text: &str, world: &World, ids: &mut Vec<String>) -> String {
    let folder = world.path("").display().to_string();
    let mut text = text.replace(folder.trim_end_matches('/'), "/data");
    let is_id = |at: usize, text: &str| {
        text.get(at..at + 20)
            .filter(|id| {
                let form = id.bytes().enumerate().all(|(place, byte)| match place {
                    8 | 15 => byte == b'-',
                    0..15 => byte.is_ascii_digit(),
                    _ => byte.is_ascii_hexdigit(),
                });
                form && id.starts_with("20")
            })
            .map(str::to_owned)
    };
    let mut at = 0;
    while at < text.len() {
        if let Some(id) = text.is_char_boundary(at).then(|| is_id(at, &text)).flatten() {
            let known = ids.iter().position(|it| *it == id).unwrap_or_else(|| {
                ids.push(id.clone());
                ids.len() - 1
            });
            text.replace_range(at..at + 20, &format!("{}{:04}", &id[..16], known + 1));
        }
        at += 1;
    }
    text
}

#[test]
fn every_step_of_the_walk_is_as_written() {
    let walk = read_walk();
    let world = world_of(&walk);
    let (mut faults, mut ids) = (Vec::new(), Vec::new());
    let (mut page, mut part) = (PAGE_HEAD.to_owned(), String::new());
    for step in &walk.steps {
        let outcome = run_step(&world, step);
        faults.extend(check_step(step, &outcome));
        if !step.is_on_page {
            continue;
        }
        if part != step.part {
            part.clone_from(&step.part);
            write!(page, "\n## {part}\n").unwrap();
        }
        let shown = without_chance(&format!("{}{}", outcome.1, outcome.2), &world, &mut ids);
        write!(page, "\n```text\n$ {}\n{}\n```\n", step.command, shown.trim_end()).unwrap();
    }
    assert!(
        faults.is_empty(),
        "{} of {}:\n{}",
        faults.len(),
        walk.steps.len(),
        faults.join("\n")
    );
    expect_test::expect_file!["../../../../docs/transcript.md"].assert_eq(&page);
}

/// Every command that prints JSON is in the walk, so that its document was checked.
#[test]
fn walk_contains_every_command_with_json() {
    let walk = read_walk();
    let world = World::new();
    let help = world.assay(&["--help"]).succeeded().out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names: BTreeSet<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let has_json = |name: &&&str| {
        let printed = world.assay(&["help", name]).out;
        printed.lines().any(|line| line.trim_start().starts_with("--json"))
    };
    let is_walked = |name: &str| {
        let start = format!("assay {name} ");
        walk.steps
            .iter()
            .any(|it| it.command.starts_with(&start) && it.command.contains("json"))
    };
    let missing: Vec<&&str> = names
        .iter()
        .filter(|name| !NOT_WALKED.contains(name) && !is_walked(name))
        .filter(has_json)
        .collect();
    assert!(names.len() > 20 && missing.is_empty(), "{names:?}: {missing:?}");
}

/// Words of verdicts are those of JSON and CSV, and of the table that promises them.
#[test]
fn words_of_verdicts_are_equal_everywhere() {
    let page = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md"),
    );
    let page = page.unwrap();
    let check = |of: &str, names: &[&str], stored: Vec<Value>| {
        let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let row = format!("| {of} | {} |", words.join(", "));
        assert!(page.contains(&row), "docs/compatibility.md lacks {row}");
        assert_eq!(stored, names.iter().map(|name| Value::from(*name)).collect::<Vec<_>>());
    };
    let all = ComparisonVerdict::ALL;
    check("a comparison of runs", &all.map(ComparisonVerdict::name), all.map(to_value).into());
    let all = ClaimVerdict::ALL;
    check(
        "a result and published figures",
        &all.map(ClaimVerdict::name),
        all.map(to_value).into(),
    );
    let all = GateOutcome::ALL;
    check("a gate", &all.map(GateOutcome::name), all.map(to_value).into());
    let all = [TrustLevel::Sound, TrustLevel::Noisy, TrustLevel::Suspect];
    check(
        "the trust in a value or a run",
        &["sound", "noisy", "suspect"],
        all.map(to_value).into(),
    );
}

fn to_value(verdict: impl Serialize) -> Value {
    serde_json::to_value(verdict).unwrap()
}
