//! Sessions of three users on a terminal of 80 × 24: real runs in a pseudo-terminal.
//!
//! `script` of util-linux provides the terminal. Values differ from run to run; the layout is
//! checked: no line is wider than the terminal, a result fits one screen, and a status line shows
//! progress.

use std::process::{Command, Stdio};

use crate::program::World;

const COLUMNS: usize = 80;
const ROWS: usize = 24;

/// Command of a session.
struct Step {
    words: &'static str,
    code: i32,
    /// Whether the whole output must fit the screen.
    is_one_screen: bool,
}

const fn step(words: &'static str, code: i32, is_one_screen: bool) -> Step {
    Step { words, code, is_one_screen }
}

/// Commands of each user: is this node good, what can this volume do, how fast is this network.
const SESSIONS: [&[Step]; 3] = [
    &[
        step("assay run --budget 40s", 0, false),
        step("assay run memory --dry-run --budget 60s", 0, false),
        step("assay stream --array-size 1MiB --budget shortest --quiet", 0, false),
        step("assay list", 0, true),
        step("assay linpack --blas openblass --dry-run", 4, true),
    ],
    &[
        step(
            "assay storage read . --random --bs 4k --size 16MiB --for 3s --target-on-root",
            0,
            false,
        ),
        step("assay storage read . --bs 1000 --size 16MiB --target-on-root --dry-run", 4, true),
        step(
            "assay run storage-volume --target . --size 16MiB --budget 30s --target-on-root --dry-run",
            0,
            false,
        ),
    ],
    &[
        step("assay net throughput --for 3s", 0, false),
        step("assay net latency --for 3s", 0, false),
        step("assay net latency node2:5201", 2, true),
    ],
];

/// Contents of a terminal after all of a program's output.
#[derive(Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    fn from_output(output: &str) -> Self {
        let mut screen = Self::default();
        let mut characters = output.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\n' => (screen.row, screen.column) = (screen.row + 1, 0),
                '\r' => screen.column = 0,
                '\u{1b}' if characters.next_if_eq(&'[').is_some() => {
                    let mut sequence = String::new();
                    for character in characters.by_ref() {
                        sequence.push(character);
                        if character.is_ascii_alphabetic() {
                            break;
                        }
                    }
                    screen.apply_sequence(&sequence);
                }
                '\u{1b}' | '\u{7}' | '\u{4}' | '\u{8}' => {}
                other => screen.put(other),
            }
        }
        screen
    }

    fn apply_sequence(&mut self, sequence: &str) {
        let (number, command) = sequence.split_at(sequence.len().saturating_sub(1));
        let count = number.parse().unwrap_or(1);
        match command {
            "A" => self.row = self.row.saturating_sub(count),
            "B" => self.row += count,
            "K" => {
                let from = if number == "2" { 0 } else { self.column };
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.truncate(from);
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, character: char) {
        let rows = self.lines.len().max(self.row + 1);
        self.lines.resize(rows, Vec::new());
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = character;
        self.column += 1;
    }

    fn text(&self) -> String {
        let line = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned();
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
    }
}

/// Runs a command on a terminal and returns its output and exit code.
fn run_on_terminal(world: &World, words: &str) -> (String, i32) {
    run_on_terminal_of(COLUMNS, world, words)
}

fn run_on_terminal_of(columns: usize, world: &World, words: &str) -> (String, i32) {
    let program = env!("CARGO_BIN_EXE_assay");
    let words = words.replacen("assay", program, 1);
    let command = format!("stty rows {ROWS} cols {columns}; {words}");
    let mut script = Command::new("script");
    let output = script
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .current_dir(world.path(""))
        .env("XDG_DATA_HOME", world.path(""))
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap_or(-1))
}

fn has_script() -> bool {
    Command::new("script").arg("--version").output().is_ok_and(|it| it.status.success())
}

/// Runs one command and checks that its output fits the terminal.
fn check_step(world: &World, step: &Step) {
    let (output, code) = run_on_terminal(world, step.words);
    let shown = Screen::from_output(&output).text();
    assert_eq!(code, step.code, "{}\n{shown}", step.words);
    for line in shown.lines() {
        // Lines with a path of this test may be wider.
        let is_too_wide = line.chars().count() > COLUMNS && !line.contains("/tmp");
        assert!(!is_too_wide, "{}: {line}", step.words);
    }
    let rows = shown.lines().count();
    assert!(!step.is_one_screen || rows <= ROWS, "{}: {rows} rows\n{shown}", step.words);
    if step.words.starts_with("assay run --budget") {
        // The last line of the screen is the shell's prompt.
        let answer = shown.lines().skip_while(|line| !line.starts_with("Suite ")).count();
        assert!((1..ROWS).contains(&answer), "{}: {answer} rows\n{shown}", step.words);
        // Findings at the end of the run appear only in the result.
        let (before, _) = shown.split_once("Suite ").unwrap();
        assert!(
            !before.contains("was waiting for a CPU") && !before.contains("stolen"),
            "{shown}"
        );
    }
}

#[test]
fn example_sessions_fit_terminal() {
    if !has_script() {
        return eprintln!("SKIPPED example_sessions_fit_terminal: `script` does not exist");
    }
    let world = World::new();
    for step in SESSIONS.into_iter().flatten() {
        check_step(&world, step);
    }
}

/// The status line is drawn from the first moment, and it counts seconds.
#[test]
fn status_line_moves_while_terminal_waits() {
    if !has_script() {
        return eprintln!(
            "SKIPPED status_line_moves_while_terminal_waits: `script` does not exist"
        );
    }
    let world = World::new();
    let (output, code) = run_on_terminal(&world, "assay storage read --engine null --for 2s");
    assert_eq!(code, 0, "{output}");
    let moving = output.find('⠋').expect("the line is drawn");
    let measured = output.find(" CPU").expect("a line per second");
    let result = output.find("Suite storage").expect("a result");
    assert!(moving < measured && measured < result, "{output}");
    assert!(output[..result].contains("looking at the machine"), "{output}");
    let (dumb, _) =
        run_on_terminal(&world, "env TERM=dumb assay storage read --engine null --for 5s");
    assert!(!dumb.contains('\u{1b}'), "{dumb:?}");
    let lines = dumb.lines().filter(|line| line.contains(" left  storage")).count();
    assert!(lines > 0 && !dumb.contains('⠋'), "expected a line every other second: {dumb}");
}

/// Commands for a terminal of 60 columns: results, lists, help and errors.
const NARROW_COMMANDS: [(&str, i32); 39] = [
    ("assay run --budget shortest", 0),
    ("assay net throughput --for 2s", 0),
    ("assay net throughput --for 2s", 0),
    ("assay list", 0),
    ("assay show", 0),
    ("assay show latest~2", 0),
    ("assay compare latest~1 latest", 6),
    ("assay history triad", 0),
    ("assay references", 0),
    ("assay references azure/hbv4", 0),
    ("assay doctor", 0),
    ("assay doctor --all", 0),
    ("assay run all --dry-run", 0),
    ("assay plan littles-law --rate 3500 --latency 1.14ms", 0),
    ("assay verify", 0),
    ("assay --help", 0),
    ("assay help run", 0),
    ("assay net help throughput", 0),
    ("assay net latency --help", 0),
    ("assay storage --help", 0),
    ("assay storage read --help", 0),
    ("assay linpack --help", 0),
    ("assay mpi --help", 0),
    ("assay rdma --help", 0),
    ("assay fio --help", 0),
    ("assay ior --help", 0),
    ("assay vdbench --help", 0),
    ("assay iperf3 --help", 0),
    ("assay doctor --help", 0),
    ("assay compare --help", 0),
    ("assay help tools", 0),
    ("assay help methods", 0),
    ("assay help formats", 0),
    ("assay help exit-codes", 0),
    ("assay run qick", 2),
    ("assay net latency node2:5201", 2),
    ("assay storage read /nowhere/at/all/file --for 1s", 2),
    ("assay run --budget 5", 2),
    ("assay show nothing", 2),
];

/// A terminal breaks longer lines anywhere: within words and within cells.
#[test]
fn output_fits_sixty_columns() {
    const NARROW_COLUMNS: usize = 60;
    if !has_script() {
        return eprintln!("SKIPPED output_fits_sixty_columns: `script` does not exist");
    }
    let world = World::new();
    let mut wide = Vec::new();
    for (words, expected) in NARROW_COMMANDS {
        let (output, code) = run_on_terminal_of(NARROW_COLUMNS, &world, words);
        let shown = Screen::from_output(&output).text();
        assert_eq!(code, expected, "{words}\n{shown}");
        let of_words = |line: &&str| {
            // A single word cannot be broken, and paths of this test have any length.
            let is_word = line.trim().split(' ').count() == 1;
            line.chars().count() > NARROW_COLUMNS && !is_word && !line.contains("/tmp")
        };
        wide.extend(shown.lines().filter(of_words).map(|line| format!("{words}: {line}")));
    }
    assert!(wide.is_empty(), "{} lines:\n{}", wide.len(), wide.join("\n"));
}
