//! Damage of result files: every golden file of every format is cut, doubled, interleaved, decoded
//! from other encodings, and mixed with foreign bytes. A damaged file never has a figure that the
//! whole one lacks, unless a doubt or a named part reports the damage.

use std::path::{Path, PathBuf};

use damage::{DAMAGES, Damage, Effect};
use figures::{Account, describe_surplus};
use prefixes::{PREFIXES, prefix_lines};

use super::goldens::collect_inputs;

mod damage;
mod figures;
mod prefixes;

/// Files and kinds of damage that leave other figures, each of which is right. The reasons:
/// intervals from 0 s and earlier states of a file are results of their own, and the last one stays.
const OTHER_FIGURES: [(&str, &str); 14] = [
    ("fio/3.33-status-terse.txt", "cut"),
    ("fio/3.33-status-terse.txt", "interleaved with itself"),
    ("fio/3.33-status.json", "cut"),
    ("iperf/2.0.13-csv-intervals.txt", "cut"),
    ("iperf/2.0.13-csv-intervals.txt", "interleaved with itself"),
    ("iperf/2.0.5-P2-intervals.txt", "cut"),
    ("iperf/2.1.8-P.txt", "cut"),
    ("iperf/2.1.8-use.txt", "cut"),
    // Streams of CSV have no sum.
    ("iperf/2.1.8-csv.txt", "cut"),
    // The terse output has whole numbers, and so has neper's first figure.
    ("fio/3.33-all-formats.txt", "cut"),
    ("neper/1.1.0-", "cut"),
    // What is left without the second tool is a file of the first.
    ("iperf3/after-stream.txt", "cut"),
    // Conditions and costs that only the other run prints complement each other.
    ("qperf/0.4.11-qv.txt", "interleaved with another"),
    ("sockperf/3.7-pp.txt", "interleaved with another"),
];

/// Result file with another one of the same tool, for interleaving.
struct Specimen {
    path: PathBuf,
    bytes: Vec<u8>,
    neighbour: Vec<u8>,
}

#[test]
fn damaged_files_have_no_new_figures() {
    let specimens = read_specimens();
    let half = specimens.len() / 2;
    let (first, second) = specimens.split_at(half);
    let findings = std::thread::scope(|scope| {
        let workers = [first, second].map(|part| {
            scope.spawn(|| part.iter().flat_map(examine_specimen).collect::<Vec<_>>())
        });
        workers.map(|worker| worker.join().unwrap()).concat()
    });
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

fn read_specimens() -> Vec<Specimen> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut paths = Vec::new();
    for folder in ["import", "golden"] {
        collect_inputs(&root.join(folder), &mut paths);
    }
    paths.retain(|path| path.extension().is_none_or(|it| it != "damage"));
    paths.sort();
    let files: Vec<(PathBuf, Vec<u8>)> =
        paths.into_iter().map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    let specimens = files.iter().enumerate().map(|(at, (path, bytes))| {
        let folder = path.parent();
        let mut others = files.iter().cycle().skip(at + 1);
        let neighbour = others.find(|(other, _)| other.parent() == folder);
        let neighbour = neighbour.map_or(bytes, |(_, bytes)| bytes).clone();
        Specimen { path: path.clone(), bytes: bytes.clone(), neighbour }
    });
    specimens.collect()
}

/// Returns at most one finding for each kind of damage.
fn examine_specimen(specimen: &Specimen) -> Vec<String> {
    let whole = Account::read(&specimen.bytes);
    let other = Account::read(&specimen.neighbour);
    let name = specimen.path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&specimen.path);
    let examine = |damage: &Damage| {
        let copies = (damage.apply)(&specimen.bytes, &specimen.neighbour);
        copies.into_iter().find_map(|(place, bytes)| {
            let found = Account::read(&bytes);
            let surplus = match damage.effect {
                Effect::None => whole.describe_difference(&found),
                Effect::Repeats => {
                    describe_surplus(&[&whole], &found).or_else(|| whole.describe_loss(&found))
                }
                Effect::Damages => describe_surplus(&[&whole], &found),
                Effect::Mixes => describe_surplus(&[&whole, &other], &found),
            };
            surplus.map(|surplus| {
                format!("{}: {} {place}: {surplus}", name.display(), damage.name)
            })
        })
    };
    let is_listed = |damage: &Damage| {
        let is_file = |(file, _): &(&str, &str)| name.to_string_lossy().contains(file);
        let mut listed = OTHER_FIGURES.iter().filter(|it| is_file(it));
        listed.any(|(_, kind)| damage.name.starts_with(kind))
    };
    DAMAGES.iter().filter(|damage| !is_listed(damage)).filter_map(examine).collect()
}

#[test]
fn prefixed_files_have_the_same_account() {
    let specimens = read_specimens();
    let findings = specimens.iter().flat_map(|specimen| {
        let whole = Account::read(&specimen.bytes);
        let count =
            specimen.bytes.split(|byte| *byte == b'\n').filter(|it| !it.is_empty()).count();
        // A single line shows no repetition, and other encodings have no bytes to put before.
        let is_plain = count > 1 && std::str::from_utf8(&specimen.bytes).is_ok();
        let prefixes = PREFIXES.iter().filter(move |_| is_plain);
        let name = specimen.path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
        let findings = prefixes.filter_map(|(kind, prefix)| {
            let found = Account::read(&prefix_lines(&specimen.bytes, *prefix));
            let difference = whole.describe_difference(&found)?;
            Some(format!("{}: {kind}: {difference}", name.display()))
        });
        findings.collect::<Vec<_>>()
    });
    let findings: Vec<String> = findings.collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}
