//! Scenario `arm`: the aarch64 build, cross-compiled by Debian's compiler, under qemu's user emulation.
//!
//! Everything it needs is downloaded into the cache and unpacked there; nothing is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Figure, Place, Scenario, section};
use crate::command;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "arm",
    title: "The build for aarch64",
    about: "assay and the tests of its kernels, cross-compiled, under `qemu-aarch64`: once as a processor with \
            NEON alone (Neoverse N1) and once with SVE. Kernels compare their results with plain loops; \
            speeds mean nothing.",
    place: Place::Here(carry_out),
    deadline: Duration::from_secs(600),
    judge,
};

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// What is downloaded for this machine, and for the other kind.
const TOOLS: [&str; 3] = ["rustc-web", "gcc-aarch64-linux-gnu", "qemu-user"];
const LIBRARY: &str = "libstd-rust-web-dev:arm64";
/// Processors of qemu: one without SVE, and all that it has.
const PROCESSORS: [(&str, &str); 2] =
    [("NEON", "neoverse-n1"), ("SVE", "max,sve-default-vector-length=32")];
/// Tests of kernels that compute; those of sockets, files and devices ask more of a kernel than user
/// emulation has.
const TESTED: [&str; 2] = ["compute::", "memory::"];

/// Compiles and runs all; prints sections as a guest does.
fn carry_out(root: &Path, cache: &Path, deadline: Duration) -> Result<String> {
    let began = Instant::now();
    let tools = Tools::ready(root, cache)?;
    tools.cargo(root, &["build", "--package", "assay"])?;
    let tests = tools.tests(root)?;
    println!("lab: compiled after {:.0} s", began.elapsed().as_secs_f64());
    let program = tools.target.join(TARGET).join("debug/assay");
    let mut said = String::new();
    for (name, processor) in PROCESSORS {
        said.push_str(&["\n== kernels ", name, "\n"].concat());
        said.push_str(&tools.emulated(root, processor, &tests, &TESTED, deadline)?);
    }
    let store = tools.target.join("store");
    let folder = store.display().to_string();
    let words = ["run", "quick", "--quiet", "--json", "--store", &folder];
    said.push_str("\n== quick\n");
    said.push_str(&tools.emulated(root, PROCESSORS[1].1, &program, &words, deadline)?);
    // Each time a new one.
    let _ = fs::remove_dir_all(store);
    Ok(said)
}

/// A compiler, a linker and an emulator, below one folder.
struct Tools {
    system: PathBuf,
    target: PathBuf,
}

impl Tools {
    fn ready(root: &Path, cache: &Path) -> Result<Self> {
        let folder = cache.join("arm");
        let tools = Self { system: folder.join("system"), target: folder.join("target") };
        let done = folder.join("ready");
        if done.exists() {
            return Ok(tools);
        }
        println!("lab: unpacking a compiler for aarch64 into {}", folder.display());
        let debs = folder.join("debs");
        for wanted in [&debs, &tools.system, &tools.target] {
            fs::create_dir_all(wanted)?;
        }
        let names = super::image::needed(root, &TOOLS, |name| {
            !["gcc-12-base", "libc6", "dpkg", "perl-base"].contains(&name)
        })?;
        command::run(
            command::at_root(&debs, "apt-get").args(["download", "--quiet=2"]).args(&names),
        )?;
        foreign(&debs)?;
        let mut files: Vec<PathBuf> =
            fs::read_dir(&debs)?.map(|it| Ok(it?.path())).collect::<Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|it| it == "deb"));
        for file in &files {
            command::run(
                command::at_root(&folder, "dpkg-deb")
                    .arg("--extract")
                    .args([file, &tools.system]),
            )?;
        }
        fs::remove_dir_all(&debs)?;
        fs::write(done, "")?;
        Ok(tools)
    }

    fn library_path(&self) -> String {
        let of = |folder: &str| self.system.join(folder).display().to_string();
        [of("usr/lib/x86_64-linux-gnu"), of("usr/lib"), of("lib/x86_64-linux-gnu")].join(":")
    }

    /// The C library of the other kind, which its linker and its programs use.
    fn far_root(&self) -> PathBuf {
        self.system.join("usr/aarch64-linux-gnu")
    }

    fn command(&self, root: &Path) -> Result<std::process::Command> {
        let linker = self.system.join("linker");
        let of = |file: &str| self.system.join(file).display().to_string();
        // gcc looks for its own programs beside it, and for the C library below its root.
        let script = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH={} exec {} --sysroot={} -B{} -B{} -L{} \"$@\"\n",
            self.library_path(),
            of("usr/bin/aarch64-linux-gnu-gcc"),
            self.system.display(),
            of("usr/aarch64-linux-gnu/lib"),
            of("usr/bin/aarch64-linux-gnu-"),
            of("usr/aarch64-linux-gnu/lib"),
        );
        executable(&linker, &script)?;
        let compiler = self.system.join("compiler");
        let script = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH={} exec {} --sysroot {} \"$@\"\n",
            self.library_path(),
            of("usr/bin/rustc"),
            of("usr"),
        );
        executable(&compiler, &script)?;
        let mut command = command::cargo(root);
        command
            .env("RUSTC", compiler)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", linker)
            .env("CARGO_TARGET_DIR", &self.target)
            .env_remove("RUSTUP_TOOLCHAIN");
        Ok(command)
    }

    fn cargo(&self, root: &Path, words: &[&str]) -> Result<()> {
        command::run(self.command(root)?.args(words).args(["--quiet", "--target", TARGET]))
    }

    /// The program that holds the kernels' own tests.
    fn tests(&self, root: &Path) -> Result<PathBuf> {
        let listed = command::output(
            self.command(root)?
                .args(["test", "--package", "assay-kernels", "--lib", "--no-run", "--quiet"])
                .args(["--message-format", "json", "--target", TARGET]),
        )?;
        let mut programs = listed.lines().filter_map(|line| {
            let message: Value = serde_json::from_str(line).ok()?;
            Some(PathBuf::from(message["executable"].as_str()?))
        });
        programs.next_back().context("cargo built no tests of assay-kernels")
    }

    /// What a program of the other kind prints; its end is part of it.
    fn emulated(
        &self,
        root: &Path,
        processor: &str,
        program: &Path,
        words: &[&str],
        deadline: Duration,
    ) -> Result<String> {
        let seconds = deadline.as_secs().to_string();
        let output = command::capture(
            command::at_root(root, "timeout")
                .arg(seconds)
                .arg(self.system.join("usr/bin/qemu-aarch64"))
                .env("LD_LIBRARY_PATH", self.library_path())
                // Not that of the emulator itself.
                .args(["-U", "LD_LIBRARY_PATH", "-cpu", processor, "-L"])
                .arg(self.far_root())
                .arg(program)
                .args(words),
        )?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ended =
            output.status.code().map_or_else(|| "a signal".to_owned(), |it| it.to_string());
        Ok(format!("{}{}\nended with {ended}\n", text(&output.stdout), text(&output.stderr)))
    }
}

fn executable(file: &Path, script: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(file, script)?;
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o755))?)
}

/// Downloads the standard library of the other kind, with lists of packages of its own: the system's stay as
/// they are.
fn foreign(debs: &Path) -> Result<()> {
    let state = debs.join("apt");
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(state.join(folder))?;
    }
    fs::write(state.join("status"), "")?;
    let of = |name: &str, file: &str| format!("{name}={}", state.join(file).display());
    let options = [
        "APT::Architectures=arm64".to_owned(),
        "APT::Architecture=arm64".to_owned(),
        of("Dir::State::lists", "lists"),
        of("Dir::State::status", "status"),
        of("Dir::Cache", "cache"),
    ];
    let options: Vec<&str> = options.iter().flat_map(|it| ["-o", it]).collect();
    for words in [&["update", "--quiet=2"][..], &["download", "--quiet=2", LIBRARY]] {
        command::run(command::at_root(debs, "apt-get").args(&options).args(words))?;
    }
    Ok(())
}

fn judge(said: &str) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, _) in PROCESSORS {
        let text = section(said, &format!("kernels {name}"))?;
        let line = text.lines().find(|line| line.starts_with("test result: "));
        let line = line.with_context(|| format!("the tests did not end: {text}"))?;
        figures.push(Figure {
            what: format!("checks of kernels, {name}"),
            truth: "all pass".to_owned(),
            reported: line.trim_start_matches("test result: ").to_owned(),
            holds: Some(line.contains("ok. ") && !line.contains("ok. 0 passed")),
        });
    }
    let text = section(said, "quick")?;
    let (start, end) = (text.find('{'), text.rfind('}'));
    let Some((start, end)) = start.zip(end) else { bail!("`run quick` said: {text}") };
    let report: Value = serde_json::from_str(&text[start..=end])?;
    let count = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let (results, failures) = (count("results"), count("failures"));
    figures.push(Figure {
        what: "assay run quick".to_owned(),
        truth: "results, and no failure".to_owned(),
        reported: format!("{results} results, {failures} failures"),
        holds: Some(results > 0 && failures == 0 && text.contains("ended with 0")),
    });
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_or_none_at_all_is_wrong() {
        let said = |passed: &str, failures: &str| {
            format!(
                "\n== kernels NEON\ntest result: {passed}; 0 failed\n\n== kernels SVE\ntest result: ok. 7 passed; 0 failed\n\n== quick\n{{\"results\":[1],\"failures\":[{failures}]}}\nended with 0\n"
            )
        };
        for (passed, failures, wrong) in [
            ("ok. 7 passed", "", 0),
            ("ok. 0 passed", "", 1),
            ("FAILED. 6 passed", "", 1),
            ("ok. 7 passed", "1", 1),
        ] {
            let figures = judge(&said(passed, failures)).unwrap();
            let count = figures.iter().filter(|it| it.holds == Some(false)).count();
            assert_eq!(count, wrong, "{passed} {failures}");
        }
        assert!(judge("\n== kernels NEON\nIllegal instruction\n").is_err());
    }
}
