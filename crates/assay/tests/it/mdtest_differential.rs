//! The same command lines by `assay mdtest` and by mdtest: the output but for the figures, and what
//! is left in the folders. The outputs of mdtest 4.1.0+dev are recorded; where `mdtest` and `mpirun`
//! are on `PATH`, mdtest runs, too, and `UPDATE_EXPECT=1` records its outputs.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::program::World;

/// Command lines for two tasks; those separated by a semicolon follow each other.
const LINES: &[&str] = &[
    "-n 10",
    "-n 10 -C -N 1",
    "-n 12 -z 1 -b 3 -C",
    "-n 20 -z 2 -b 2 -C -U",
    "-I 2 -z 2 -b 2 -C -F",
    "-n 8 -z 2 -b 2 -L -C -F",
    "-I 1 -z 2 -b 2 -L -u -C -F",
    "-n 10 -z 3 -C -D",
    "-n 6 -u -C -F -w 100",
    "-n 6 -u -N 1 -C -D",
    "-n 8 -I 4 -C -F",
    "-n 5 -S -C -F -w 10",
    "-n 4 -S",
    "-n 3 -C -i 2 -D -U",
    "-n 4 -u -C -F -d d@e",
    "-n 10 -F -T -C -E -r -w 4k -e 4k -Z",
    "-n 10 -R --random-seed 5 -T -C -E -r -F",
    "-f 1 -l 2 -n 4 -F",
    "-k -F -C -n 3",
    "-n 3 -F -C --showRankStatistics --print-all-procs",
    "-n 6 -N 1 -w 10 -e 10 -F -X --verify-write -G 3",
    "-n 4 -u -z 1 -b 2 -N 2 -D",
    "-n 4 -c -C -w 10",
    "-n 4 -c -N 1",
    "-n 6 -c -u -z 1 -b 2 -C -F",
    "-n 3 -c -i 2 -z 1",
    "-n 20 -t -w 3901 -e 3901 -P -G 27 -N 1 -F -d d -x x -C -Y -W 300 -a POSIX",
    "-n 6 -u -L -F -N 1 -x x -C -W 300 -a POSIX ; -n 6 -u -L -F -N 1 -x x -T -a POSIX ; \
     -n 6 -u -L -F -N 1 -x x -r -a POSIX",
];

#[test]
fn output_and_files_are_those_of_mdtest() {
    let own = describe_all(|world, words| {
        let words: Vec<&str> = ["mdtest", "--ranks", "2"].into_iter().chain(words).collect();
        let mut command = world.command(&words);
        let output = command.current_dir(world.path("work")).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    });
    let recorded = recorded_outputs();
    if is_installed("mdtest") && is_installed("mpirun") {
        let real = describe_all(run_mdtest);
        recorded.assert_eq(&real);
        assert_eq!(own, real);
    } else {
        recorded.assert_eq(&own);
    }
}

/// Returns the outputs of mdtest.
pub(crate) fn recorded_outputs() -> expect_test::ExpectFile {
    expect_test::expect_file!["../fixtures/mdtest-outputs.txt"]
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn run_mdtest(world: &World, words: Vec<&str>) -> String {
    let output = Command::new("mpirun")
        .args(["-n", "2", "mdtest"])
        .args(words)
        .current_dir(world.path("work"))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Runs all lines; returns their outputs without figures, and what each leaves.
pub(crate) fn describe_all(run: impl Fn(&World, Vec<&str>) -> String) -> String {
    let mut text = String::new();
    for line in LINES {
        let world = World::new();
        std::fs::create_dir(world.path("work")).unwrap();
        for line in line.split(';') {
            let _ = writeln!(text, "$ mdtest {}", line.trim());
            let mut words: Vec<&str> = line.split_whitespace().collect();
            if !words.contains(&"-d") {
                words.extend(["-d", "d"]);
            }
            text.push_str(&hide_figures(&run(&world, words)));
        }
        list_files(&world.path("work"), "", &mut text);
    }
    text
}

/// Replaces what differs from run to run: times, versions, and figures by `+`, `0` for none.
fn hide_figures(output: &str) -> String {
    const VARYING: [&str; 6] =
        ["-- started", "-- finished", "Command line used", "FS  ", "Path  ", "mdtest-"];
    let mut text = String::new();
    let mut is_time = false;
    for line in output.lines().filter(|line| !VARYING.iter().any(|it| line.starts_with(it))) {
        if line.starts_with("SUMMARY") || line.starts_with("Per process") {
            is_time = line.contains("time");
        }
        let fields = line.split_inclusive([' ', ',']).map(|field| hide_figure(field, is_time));
        let line: String = fields.collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Replaces a figure with decimals; keeps the width of its column.
fn hide_figure(field: &str, is_time: bool) -> String {
    let number = field.trim_end_matches([' ', ',']);
    let is_figure = number.contains('.') && number.starts_with(|it: char| it.is_ascii_digit());
    let Some(value) = number.parse::<f64>().ok().filter(|_| is_figure) else {
        return field.to_owned();
    };
    let mark = match (is_time, value > 0.0) {
        (true, _) => "t",
        (false, true) => "+",
        (false, false) => "0",
    };
    let width = number.len() - 1;
    format!("{:width$}{mark}{}", "", &field[number.len()..])
}

/// Appends the names of all files below a folder, with their sizes.
fn list_files(folder: &Path, above: &str, text: &mut String) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let found = entry.metadata().unwrap();
        let name = format!("{above}{}", entry.file_name().to_str().unwrap());
        if found.is_dir() {
            let _ = writeln!(text, "{name}/");
            list_files(&entry.path(), &format!("{name}/"), text);
        } else {
            let _ = writeln!(text, "{name} {}", found.len());
        }
    }
}
