//! `cargo xtask bench [AREA…]`: measures assay and other tools by the suites of `suites/bench`, and
//! writes assay's own reports of them to `docs/benchmarks/`.
//!
//! The suites and their scripts define all measurements. This module installs the peers from the package
//! registries, starts `assay run`, and collects the output of `assay compare` and `assay report`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{command, newest, packages, wheels};
use areas::{AREAS, BenchArea, BenchSuite, PeerLevels};

mod areas;
mod fleet;
mod generator;
mod scaling;

/// Its part of the help.
pub(crate) const USAGE: &str = "\
cargo xtask bench [AREA…] [--to FOLDER] [--blocks N]
                             measure beside other tools by suites/bench/*.toml, into docs/benchmarks/; without an area,
                             all of memory, compute, storage, dialects, network, mpi, store, build (30 min)
cargo xtask bench fleet      a coordinator of 10 to 1,000 agents, beside pdsh, clush and fio, into docs/scaling-fleet.md
cargo xtask bench scaling [--here]   LINPACK on many cores, predicted from the rates of kernels, into docs/scaling.md;
                             --here: measures this machine as well
";

/// Folder of the programs and stores.
const FOLDER: &str = "target/bench";
/// Exit code of a run with a failed measurement.
const FAILED_MEASUREMENT: i32 = 4;
/// Exit codes of a comparison: nothing worse, something worse, undecided.
const COMPARISON_CODES: [i32; 3] = [0, 5, 6];

/// Areas and options of the command line.
struct BenchRequest<'a> {
    areas: Vec<&'static BenchArea>,
    /// Folder of the pages.
    pages: &'a str,
    blocks: Option<&'a str>,
}

/// Measures the named areas, or all, and writes their pages.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    if arguments == ["fleet"] {
        return fleet::run(root);
    }
    match arguments {
        ["scaling"] => return scaling::run(root, None),
        ["scaling", "--here"] => return scaling::run(root, Some(&find_assay(root)?)),
        _ => {}
    }
    let request = parse(arguments)?;
    let assay = find_assay(root)?;
    fs::create_dir_all(root.join(request.pages))?;
    for area in &request.areas {
        let page = measure(root, &assay, area, request.blocks)?;
        let path = root.join(request.pages).join(format!("{}.md", area.name));
        fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
        println!("bench: wrote {}", path.display());
    }
    Ok(())
}

fn parse<'a>(arguments: &[&'a str]) -> Result<BenchRequest<'a>> {
    let mut request =
        BenchRequest { areas: Vec::new(), pages: "docs/benchmarks", blocks: None };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value =
            || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
        match *word {
            "--to" => request.pages = value()?,
            "--blocks" => request.blocks = Some(value()?),
            name => request.areas.push(
                AREAS
                    .iter()
                    .find(|area| area.name == name)
                    .with_context(|| format!("unknown area: {name}\n{USAGE}"))?,
            ),
        }
    }
    if request.areas.is_empty() {
        request.areas = AREAS.iter().collect();
    }
    Ok(request)
}

/// Returns the program of the variable `ASSAY`, which the scripts use as well, or builds the release.
fn find_assay(root: &Path) -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("ASSAY") {
        return Ok(PathBuf::from(given));
    }
    let mut cargo = command::cargo(root);
    cargo.args(["build", "--release", "--locked", "--package=assay", "--target-dir=target"]);
    command::run(&mut cargo)?;
    Ok(root.join("target/release/assay"))
}

/// Measures an area and returns its page.
fn measure(
    root: &Path,
    assay: &Path,
    area: &BenchArea,
    blocks: Option<&str>,
) -> Result<String> {
    if !area.packages.is_empty() {
        packages::install(root, area.packages)?;
    }
    wheels::install(root, area.wheels, true);
    if !area.newest.is_empty() {
        newest::install(root, area.newest)?;
    }
    let script = format!("suites/bench/{}.sh", area.script);
    let run_script =
        |task: &str| command::run(command::at_root(root, "sh").args([script.as_str(), task]));
    if area.name == "store" {
        generator::prepare(assay, &root.join(FOLDER).join("store"))?;
    }
    if !area.script.is_empty() {
        run_script("setup")?;
    }
    let measured = measure_suites(root, assay, area, blocks);
    if area.has_clean {
        run_script("clean")?;
    }
    Ok(format!(
        "# {}\n\nWritten by `cargo xtask bench {}`; do not edit. The suites and their scripts are in \
         `suites/bench`.\n\nPackages: {}.\n\n{}",
        area.title,
        area.name,
        package_versions(root, area)?,
        measured?
    ))
}

/// Returns the versions of the packages of an area.
fn package_versions(root: &Path, area: &BenchArea) -> Result<String> {
    let mut query = command::at_root(root, "dpkg-query");
    query.args(["--show", "--showformat=${Package} ${Version}, "]);
    query.args(area.packages.iter().map(|package| package.name));
    let output = if area.packages.is_empty() {
        String::new()
    } else {
        // A missing package is reported on the error stream and lists the others.
        String::from_utf8(command::capture(&mut query)?.stdout)?
    };
    let wheels = area.wheels.iter().map(|wheel| format!("{} {}", wheel.name, wheel.version));
    let newer: BTreeMap<&str, String> = area
        .newest
        .iter()
        .map(|package| Ok((package.name, newest::version(root, package)?)))
        .collect::<Result<_>>()?;
    let is_older = |text: &&str| newer.keys().any(|name| text.starts_with(&format!("{name} ")));
    let debian = output.split(", ").filter(|text| !text.is_empty() && !is_older(text));
    let newer = newer.iter().map(|(name, version)| format!("{name} {version}"));
    let all: Vec<String> = debian.map(str::to_owned).chain(newer).chain(wheels).collect();
    Ok(if all.is_empty() { "none".to_owned() } else { all.join(", ") })
}

/// Measures the suites of an area; returns assay's output about them.
fn measure_suites(
    root: &Path,
    assay: &Path,
    area: &BenchArea,
    blocks: Option<&str>,
) -> Result<String> {
    let mut text = String::new();
    for suite in area.suites {
        let store = root.join(FOLDER).join("runs").join(suite.file);
        if store.exists() {
            fs::remove_dir_all(&store)
                .with_context(|| format!("cannot empty {}", store.display()))?;
        }
        let file = format!("suites/bench/{}.toml", suite.file);
        let mut run = command::at_root(root, assay);
        run.args(["run", &file, "--store"]).arg(&store).env("PATH", search_path(root, assay)?);
        if let (Some(blocks), false) = (blocks, matches!(suite.peers, PeerLevels::Alone)) {
            run.args(["--blocks", blocks]);
        }
        let is_complete = match run.status()?.code() {
            Some(0) => true,
            // A peer that is not installed, for example.
            Some(FAILED_MEASUREMENT) => {
                println!("bench: {file}: the page says what could not be measured");
                false
            }
            code => bail!("{} failed: {code:?}", command::format_command(&run)),
        };
        text += &report_suite(root, assay, suite, &store, is_complete)?;
    }
    Ok(text)
}

/// Returns the search path with the folders of assay and of the newest peers before the others.
fn search_path(root: &Path, assay: &Path) -> Result<OsString> {
    let own =
        assay.parent().map(Path::to_owned).into_iter().chain([newest::programs_folder(root)]);
    let others = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::join_paths(own.chain(std::env::split_paths(&others)))?)
}

/// Returns the comparisons of a suite and, from the report of its last run, machine and levels; of a
/// suite without peers, the whole report.
fn report_suite(
    root: &Path,
    assay: &Path,
    suite: &BenchSuite,
    store: &Path,
    is_complete: bool,
) -> Result<String> {
    let mut text = String::new();
    for (peer, own) in suite.peers.pairs() {
        let mut compare = command::at_root(root, assay);
        compare.args(["compare", &peer, &own, "--margin", suite.margin]);
        compare.arg("--store").arg(store);
        match print_markdown(&mut compare, &COMPARISON_CODES) {
            Err(_) if !is_complete => {
                writeln!(text, "## {peer} and {own}\n\nOne of them could not be measured.\n")?;
            }
            printed => text += &printed?,
        }
    }
    let mut report = command::at_root(root, assay);
    report.args(["report", "latest", "--store"]).arg(store);
    let report = print_markdown(&mut report, &[0])?;
    match (&suite.peers, report.find("<details>")) {
        (PeerLevels::Alone, _) | (_, None) => Ok(text + &report),
        // The values of a single run would contradict the comparisons.
        (_, Some(machine)) => Ok(format!(
            "{text}## Machine and levels of {}\n\n{}",
            suite.file,
            &report[machine..]
        )),
    }
}

/// Runs a command of assay for its page; headings become those of a part of a page.
fn print_markdown(command: &mut Command, codes: &[i32]) -> Result<String> {
    let output = command::capture(command.arg("--format=markdown"))?;
    let code = output.status.code().unwrap_or(-1);
    if !codes.contains(&code) {
        bail!("{} failed with code {code}", command::format_command(command));
    }
    let text = String::from_utf8(output.stdout)?;
    ensure!(!text.is_empty(), "{} printed nothing", command::format_command(command));
    let deeper = |line: &str| {
        let hash = if line.starts_with('#') { "#" } else { "" };
        format!("{hash}{line}\n")
    };
    Ok(text.lines().map(deeper).collect::<String>() + "\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn areas_are_chosen_by_name() {
        let names = |arguments: &[&str]| -> Vec<&str> {
            parse(arguments).unwrap().areas.iter().map(|area| area.name).collect()
        };
        assert_eq!(names(&["memory", "--to", "x", "mpi"]), ["memory", "mpi"]);
        assert_eq!(names(&[]).len(), AREAS.len());
        assert!(parse(&["speed"]).is_err() && parse(&["--to"]).is_err());
    }

    #[test]
    fn every_suite_and_script_belongs_to_an_area() {
        let suites = AREAS.iter().flat_map(|area| area.suites);
        let scripts = AREAS.iter().map(|area| area.script).filter(|it| !it.is_empty());
        let known: BTreeSet<String> = suites
            .map(|suite| format!("{}.toml", suite.file))
            .chain(scripts.map(|name| format!("{name}.sh")))
            .chain(scaling::SUITE.rsplit('/').next().map(str::to_owned))
            .collect();
        let found = fs::read_dir(crate::root().join("suites/bench")).unwrap();
        let found: BTreeSet<String> =
            found.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(known, found);
    }
}
