//! Scenario `arm`: the aarch64 build, cross-compiled by Debian's compilers, under qemu's user
//! emulation.
//!
//! A toolchain with this target is used. Otherwise Debian's newest Rust is unpacked into the cache,
//! because installing its packages would replace an installed toolchain.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    CpuUse, LabFigure, LocalRunner, Scenario, ScenarioRunner, image, output_section,
    parse_document,
};
use workbench::{command, packages};

mod emulated_machine;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "arm",
    title: "The build for aarch64",
    description: "assay and the tests of its kernels, cross-compiled, under `qemu-aarch64`: once as a processor with NEON \
            alone (Neoverse N1) and once with SVE, for which assay has no kernels. Kernels compare their results with \
            plain loops; speeds mean nothing. `assay run quick` has half of its time; what the kernel's files say of the processor is \
            what qemu emulates, with caches of 1 MiB at most: arrays are four times as large, and emulated loops over large ones take too long.",
    runner: ScenarioRunner::Local(LocalRunner { prepare, run: carry_out }),
    cpu_use: CpuUse::Busy,
    deadline: Duration::from_secs(900),
    judge,
};

pub const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Debian's Rust for its web browsers, the newest of a stable release, and the library that it
/// links.
const RUST: &str = "rustc-web";
const RUST_LIBRARY: &str = "libstd-rust-web-dev";
const EMULATOR: &str = "qemu-aarch64";
/// Folder of the aarch64 C library of Debian's cross compiler.
const AARCH64_ROOT: &str = "/usr/aarch64-linux-gnu";
/// Processors of qemu: one without SVE, and one with all features.
const PROCESSORS: [(&str, &str); 2] =
    [("NEON", "neoverse-n1"), ("SVE", "max,sve-default-vector-length=32")];
/// Kernel tests that run: computations, and counters, of which each error is expected. Those of
/// sockets, files and devices need system calls that user emulation lacks.
const TEST_FILTERS: [&str; 3] = ["compute::", "memory::", "perf_event::"];

/// Returns a compiler for aarch64, unpacked if necessary; `None` if the toolchain's own has this
/// target.
///
/// # Errors
/// A package that cannot be downloaded or unpacked.
pub fn find_compiler(root: &Path) -> Result<Option<PathBuf>> {
    packages::install(root, packages::FOR_LAB_ARM)?;
    let build = Aarch64Build::new(root, &image::cache_folder()?);
    fs::create_dir_all(&build.folder)?;
    build.cross_compiler()
}

/// Compiles the tests and the program.
fn prepare(root: &Path, cache: &Path) -> Result<()> {
    packages::install(root, packages::FOR_LAB_ARM)?;
    let began = Instant::now();
    let build = Aarch64Build::new(root, cache);
    fs::create_dir_all(&build.folder)?;
    let compiler = build.cross_compiler()?;
    let cargo = || build.cargo(compiler.as_deref());
    fs::copy(build_tests(&mut cargo())?, build.tests_path())?;
    command::run(cargo().args(["build", "--quiet", "--package", "assay", "--target", TARGET]))?;
    println!("lab: compiled for aarch64 in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the tests and the program; returns sections in the format of a guest's output.
fn carry_out(root: &Path, cache: &Path, deadline: Duration) -> Result<String> {
    let build = Aarch64Build::new(root, cache);
    let seen = tempfile::tempdir_in(&build.folder)?;
    emulated_machine::create_prefix(seen.path(), Path::new(AARCH64_ROOT))?;
    let mut output = String::new();
    for (name, processor) in PROCESSORS {
        writeln!(output, "\n== kernels {name}")?;
        let program = (seen.path(), &*build.tests_path());
        output.push_str(&run_emulated(root, processor, program, &TEST_FILTERS, deadline)?);
    }
    let store = tempfile::tempdir_in(&build.folder)?;
    let program = (seen.path(), &*build.target().join(TARGET).join("debug/assay"));
    let folder = store.path().display().to_string();
    let words = ["run", "quick", "--budget", "45s", "--quiet", "--json", "--store", &folder];
    output.push_str("\n== quick\n");
    output.push_str(&run_emulated(root, PROCESSORS[1].1, program, &words, deadline)?);
    Ok(output)
}

/// Build for aarch64 in its own folder.
struct Aarch64Build<'r> {
    root: &'r Path,
    folder: PathBuf,
}

impl<'r> Aarch64Build<'r> {
    fn new(root: &'r Path, cache: &Path) -> Self {
        Self { root, folder: cache.join("arm") }
    }

    fn target(&self) -> PathBuf {
        self.folder.join("target")
    }

    /// Returns the path of the program with the kernels' tests, which cargo names by a hash.
    fn tests_path(&self) -> PathBuf {
        self.folder.join("tests")
    }

    /// Returns a compiler for aarch64; `None` if the toolchain's own has this target.
    fn cross_compiler(&self) -> Result<Option<PathBuf>> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let folder = command::output(command::at_root(self.root, rustc).args([
            "--print",
            "target-libdir",
            "--target",
            TARGET,
        ]))?;
        if fs::read_dir(folder.trim()).is_ok_and(|mut files| files.next().is_some()) {
            return Ok(None);
        }
        let system = self.folder.join("system");
        if !system.exists() {
            println!("lab: unpacking {RUST} into {}", system.display());
            let work = tempfile::tempdir_in(&self.folder)?;
            unpack_rust(self.root, work.path())?;
            // Rename last: the existence of the folder means that it is complete.
            fs::rename(work.path().join("system"), &system)?;
        }
        let script = self.folder.join("rustc");
        let path = |file: &str| system.join(file).display().to_string();
        let libraries = ["usr/lib/x86_64-linux-gnu", "usr/lib"].map(path).join(":");
        let text = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {} --sysroot {} \"$@\"\n",
            path("usr/bin/rustc"),
            path("usr"),
        );
        write_executable(&script, &text)?;
        Ok(Some(script))
    }

    fn cargo(&self, compiler: Option<&Path>) -> Command {
        // CI compiles during the tests, which mostly wait.
        let mut command = command::at_root(self.root, "nice");
        command
            .args(["-n", "19"])
            .arg(command::cargo(self.root).get_program())
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
            .env("CARGO_TARGET_DIR", self.target())
            // Debugging information is not needed, and costs a third of the time.
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            // Incremental data is useless for a single compilation.
            .env("CARGO_INCREMENTAL", "0");
        if let Some(compiler) = compiler {
            command.env("RUSTC", compiler);
        }
        command
    }
}

/// Returns the output and the exit status of a program for aarch64. Paths in the folder take
/// precedence over this machine's.
fn run_emulated(
    root: &Path,
    processor: &str,
    (seen, program): (&Path, &Path),
    words: &[&str],
    deadline: Duration,
) -> Result<String> {
    let output = command::capture(
        command::at_root(root, "timeout")
            .arg(deadline.as_secs().to_string())
            .args([EMULATOR, "-cpu", processor, "-L"])
            .args([seen, program])
            .args(words),
    )?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ended = output.status.code().map_or_else(|| "a signal".to_owned(), |it| it.to_string());
    Ok(format!("{}{}\nended with {ended}\n", text(&output.stdout), text(&output.stderr)))
}

/// Builds the program with the kernels' own tests and returns its path.
fn build_tests(cargo: &mut Command) -> Result<PathBuf> {
    let listed = command::output(
        cargo
            // Together with the program: otherwise shared crates are compiled again with other
            // features.
            .args([
                "test",
                "--quiet",
                "--package",
                "assay-kernels",
                "--package",
                "assay",
                "--lib",
            ])
            .args(["--no-run", "--message-format", "json", "--target", TARGET]),
    )?;
    find_tests(&listed, "assay_kernels").context("cargo built no tests of assay-kernels")
}

/// Finds the program with the tests of a library in cargo's messages.
fn find_tests(messages: &str, library: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let program = message["executable"].as_str()?;
        (message["target"]["name"] == library).then(|| program.into())
    })
}

/// Unpacks the compiler with its libraries, and the standard library for aarch64, into `system` in
/// this folder.
fn unpack_rust(root: &Path, work: &Path) -> Result<()> {
    let (debs, system) = (work.join("debs"), work.join("system"));
    for folder in [&debs, &system] {
        fs::create_dir_all(folder)?;
    }
    // The C library and the loader are this machine's own.
    let mut names = image::required_libraries(root, &[RUST_LIBRARY])?;
    names.retain(|name| name != "libc6");
    command::run(
        command::at_root(&debs, "apt-get")
            .args(["download", "--quiet=2", RUST, RUST_LIBRARY])
            .args(&names),
    )?;
    download_foreign_library(&debs)?;
    for file in fs::read_dir(&debs)? {
        let file = file?.path();
        if file.extension().is_some_and(|it| it == "deb") {
            let mut extract = command::at_root(work, "dpkg-deb");
            command::run(extract.arg("--extract").args([&file, &system]))?;
        }
    }
    Ok(())
}

/// Downloads the standard library for aarch64, with separate package lists: the system's remain
/// unchanged.
fn download_foreign_library(debs: &Path) -> Result<()> {
    let state = debs.join("apt");
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(state.join(folder))?;
    }
    fs::write(state.join("status"), "")?;
    let option = |name: &str, file: &str| format!("{name}={}", state.join(file).display());
    let options = [
        "APT::Architectures=arm64".to_owned(),
        "APT::Architecture=arm64".to_owned(),
        option("Dir::State::lists", "lists"),
        option("Dir::State::status", "status"),
        option("Dir::Cache", "cache"),
    ];
    let options: Vec<&str> = options.iter().flat_map(|it| ["-o", it]).collect();
    for words in [&["update", "--quiet=2"][..], &["download", "--quiet=2", RUST_LIBRARY]] {
        command::run(command::at_root(debs, "apt-get").args(&options).args(words))?;
    }
    Ok(())
}

fn write_executable(file: &Path, script: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(file, script)?;
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o755))?)
}

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut figures = Vec::new();
    for (name, _) in PROCESSORS {
        let text = output_section(output, &format!("kernels {name}"))?;
        let line = text.lines().find(|line| line.starts_with("test result: "));
        let line = line.with_context(|| format!("the tests printed no result: {text}"))?;
        figures.push(LabFigure::condition(
            format!("checks of kernels, {name}"),
            "all pass",
            line.trim_start_matches("test result: ").to_owned(),
            line.contains("ok. ") && !line.contains("ok. 0 passed"),
        ));
    }
    let text = output_section(output, "quick")?;
    let report =
        parse_document(text).with_context(|| format!("`run quick` printed: {text}"))?;
    let count = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let (results, failures) = (count("results"), count("failures"));
    figures.push(LabFigure::condition(
        "assay run quick",
        "results, and no failure",
        format!("{results} results, {failures} failures"),
        results > 0 && failures == 0 && text.contains("ended with 0"),
    ));
    let reason = cycles_without_a_value(&report);
    figures.push(LabFigure::condition(
        "cycles under an emulator without `perf_event_open`",
        "omitted: no-system-call",
        format!("omitted: {}", reason.as_deref().unwrap_or("not in every case")),
        reason.as_deref() == Some("no-system-call"),
    ));
    Ok(figures)
}

/// Returns the reason for which every case of memory and compute has no cycles, if it is one.
fn cycles_without_a_value(report: &Value) -> Option<String> {
    let reason = |record: &Value| {
        let omitted = record["omitted"].as_array()?;
        let cycles = omitted.iter().find(|it| it["name"] == "user-cycles")?;
        cycles["reason"].as_str().map(str::to_owned)
    };
    let mut reasons = report["counters"].as_array()?.iter().map(reason);
    let first = reasons.next()??;
    reasons.all(|it| it.as_ref() == Some(&first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_other_libraries_are_not_those_of_kernels() {
        let messages = ["assay_kernels", "assay"].map(|name| {
            format!(r#"{{"target":{{"name":"{name}"}},"executable":"/target/deps/{name}-1"}}"#)
        });
        let library = r#"{"target":{"name":"assay_kernels"},"executable":null}"#;
        let messages = format!("{library}\n{}\n", messages.join("\n"));
        let found = find_tests(&messages, "assay_kernels");
        assert_eq!(found, Some(PathBuf::from("/target/deps/assay_kernels-1")));
        assert_eq!(find_tests(&messages, "assay_report"), None);
    }

    #[test]
    fn failed_or_missing_tests_are_wrong() {
        let output = |passed: &str, failures: &str| {
            let omitted = r#"{"name":"user-cycles","reason":"no-system-call"}"#;
            format!(
                "\n== kernels NEON\ntest result: {passed}; 0 failed\n\n== kernels SVE\ntest result: ok. 7 passed; 0 failed\n\n== quick\n{{\"results\":[1],\"failures\":[{failures}],\"counters\":[{{\"omitted\":[{omitted}]}}]}}\nended with 0\n"
            )
        };
        for (passed, failures, wrong) in [
            ("ok. 7 passed", "", 0),
            ("ok. 0 passed", "", 1),
            ("FAILED. 6 passed", "", 1),
            ("ok. 7 passed", "1", 1),
        ] {
            let figures = judge(&output(passed, failures)).unwrap();
            let count = figures.iter().filter(|it| it.is_correct() == Some(false)).count();
            assert_eq!(count, wrong, "{passed} {failures}");
        }
        let other = output("ok. 7 passed", "").replace("no-system-call", "no-such-event");
        assert_eq!(judge(&other).unwrap().last().unwrap().is_correct(), Some(false));
        assert!(judge("\n== kernels NEON\nIllegal instruction\n").is_err());
    }
}
