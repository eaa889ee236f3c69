//! Scenario `topology`: a guest of two sockets and three NUMA nodes, one of them without CPUs.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Figure, Machine, Place, Scenario, section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "topology",
    title: "Sockets, NUMA nodes and caches",
    about: "Sixteen virtual CPUs on two sockets of four cores with two threads each, and three NUMA nodes, of \
            which the third has memory and no CPUs. Placements, the number of results and the time are what is \
            shown here; bandwidths under emulation mean nothing and are left out.",
    place: Place::Guest(MACHINE, SCRIPT),
    deadline: Duration::from_secs(420),
    judge,
};

const MACHINE: Machine = Machine {
    memory_mib: 2048,
    cpus: "16,sockets=2,cores=4,threads=2",
    more: &[
        "-object",
        "memory-backend-ram,id=memory0,size=1024M",
        "-object",
        "memory-backend-ram,id=memory1,size=768M",
        "-object",
        "memory-backend-ram,id=memory2,size=256M",
        "-numa",
        "node,nodeid=0,cpus=0-7,memdev=memory0",
        "-numa",
        "node,nodeid=1,cpus=8-15,memdev=memory1",
        "-numa",
        "node,nodeid=2,memdev=memory2",
    ],
    disks_mib: &[],
};

/// The time that LINPACK may take, and what loading the program and ending the case take beyond it.
const BUDGET_S: f64 = 60.0;
const BESIDE_S: f64 = 15.0;

const SCRIPT: &str = "\
set -e
echo '== facts'
/lab/assay doctor memory --json
cat > /tmp/nodes.toml <<'SUITE'
name = \"nodes\"
title = \"each node\"
budget = \"60s\"
[[measure]]
benchmark = \"memory.stream\"
placement = [\"node\", \"numa\", \"core\"]
bytes = \"4MiB\"
SUITE
echo '== stream'
/lab/assay run /tmp/nodes.toml --quiet --json --store /tmp/store
echo '== linpack'
began=$(cut -d' ' -f1 /proc/uptime)
/lab/assay linpack --budget 60s --quiet --json --store /tmp/store
echo
echo \"took $began $(cut -d' ' -f1 /proc/uptime)\"
";

fn judge(said: &str) -> Result<Vec<Figure>> {
    let facts = document(section(said, "facts")?)?;
    let mut figures = topology(&facts["host"]["topology"])?;
    figures.extend(streams(&document(section(said, "stream")?)?)?);
    figures.push(linpack(section(said, "linpack")?)?);
    Ok(figures)
}

/// The JSON document among what was printed.
fn document(text: &str) -> Result<Value> {
    let (start, end) = (text.find('{'), text.rfind('}'));
    let (start, end) = start.zip(end).context("there is no JSON")?;
    Ok(serde_json::from_str(&text[start..=end])?)
}

fn is(what: &str, truth: &str, reported: String) -> Figure {
    let holds = Some(reported == truth);
    Figure { what: what.to_owned(), truth: truth.to_owned(), reported, holds }
}

fn topology(topology: &Value) -> Result<Vec<Figure>> {
    let cpus = topology["cpus"].as_array().context("there are no CPUs")?;
    let nodes = topology["numa"].as_array().context("there are no NUMA nodes")?;
    let count = |name: &str| {
        let all: BTreeSet<u64> = cpus.iter().filter_map(|cpu| cpu[name].as_u64()).collect();
        all.len()
    };
    let of_node = |node: &Value| {
        let cpus = node["cpus"].as_array().map_or(&[][..], Vec::as_slice);
        let ends = cpus.first().zip(cpus.last());
        ends.map_or_else(String::new, |(first, last)| format!("{}: {first}-{last}", node["id"]))
    };
    let shown: Vec<String> = nodes.iter().map(of_node).collect();
    Ok(vec![
        is("CPUs, sockets", "16, 2", format!("{}, {}", cpus.len(), count("socket"))),
        is("NUMA nodes that have CPUs", "0: 0-7, 1: 8-15", shown.join(", ")),
    ])
}

/// Every function of STREAM at every placement; nothing on the node without CPUs.
fn streams(report: &Value) -> Result<Vec<Figure>> {
    let results = report["results"].as_array().context("there are no results")?;
    let mut placements: BTreeSet<String> = BTreeSet::new();
    let mut functions: BTreeSet<String> = BTreeSet::new();
    for result in results {
        let place = result["dimensions"]["placement"].as_str().unwrap_or("none");
        placements.insert(place.to_owned());
        functions.insert(result["metric"].as_str().unwrap_or("none").to_owned());
    }
    let words = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(", ");
    let failed = report["failures"].as_array().map_or(0, Vec::len);
    let places = ["copy", "scale", "add", "triad"];
    let missing: Vec<&str> =
        places.into_iter().filter(|name| !functions.contains(*name)).collect();
    Ok(vec![
        is("placements of STREAM", "core:0, node, numa:0, numa:1", words(placements)),
        is(
            "functions of STREAM that are missing",
            "none",
            match &missing[..] {
                [] => "none".to_owned(),
                missing => missing.join(", "),
            },
        ),
        is("cases that failed", "0", failed.to_string()),
    ])
}

fn linpack(text: &str) -> Result<Figure> {
    let times = text.lines().find_map(|line| line.strip_prefix("took "));
    let mut times = times.context("the time is missing")?.split_whitespace();
    let mut next =
        || times.next().context("a time is missing")?.parse::<f64>().context("no time");
    let (began_s, ended_s) = (next()?, next()?);
    let report = document(text.split_once("took ").map_or(text, |(before, _)| before))?;
    let has_result = report["results"].as_array().is_some_and(|all| !all.is_empty());
    let took_s = ended_s - began_s;
    let result = if has_result { "a result" } else { "no result" };
    Ok(Figure {
        what: "LINPACK on 16 CPUs".to_owned(),
        truth: format!("a result in {BUDGET_S} s, and at most {BESIDE_S} s around it"),
        reported: format!("{result} after {took_s:.0} s"),
        holds: Some(has_result && took_s <= BUDGET_S + BESIDE_S),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_prints_is_held_against_its_machine() {
        let cpus: Vec<String> = (0..16)
            .map(|id| format!(r#"{{"id":{id},"core":0,"socket":{},"numa":0}}"#, id / 8))
            .collect();
        let node = |id: u32, from: u32| {
            let cpus: Vec<String> = (from..from + 8).map(|cpu| cpu.to_string()).collect();
            format!(r#"{{"id":{id},"cpus":[{}]}}"#, cpus.join(","))
        };
        let nodes = [node(0, 0), node(1, 8)].join(",");
        let cpus = cpus.join(",");
        let facts =
            format!(r#"{{"host":{{"topology":{{"cpus":[{cpus}],"numa":[{nodes}]}}}}}}"#);
        let result = |place: &str, metric: &str| {
            format!(r#"{{"metric":"{metric}","dimensions":{{"placement":"{place}"}}}}"#)
        };
        let all: Vec<String> = ["node", "numa:0", "numa:1", "core:0"]
            .iter()
            .flat_map(|place| ["copy", "scale", "add", "triad"].map(|it| result(place, it)))
            .collect();
        let stream = format!(r#"{{"results":[{}]}}"#, all.join(","));
        for (ended, stream, wrong) in [
            ("80.0", stream.clone(), 0),
            ("99.0", stream.clone(), 1),
            ("80.0", stream.replace("numa:1", "numa:2"), 1),
            ("80.0", stream.replace("triad", "copy"), 1),
        ] {
            let said = format!(
                "\n== facts\n{facts}\n== stream\n{stream}\n== linpack\n{{\"results\":[1]}}\ntook 10.0 {ended}\n"
            );
            let figures = judge(&said).unwrap();
            let count = figures.iter().filter(|it| it.holds == Some(false)).count();
            assert_eq!(count, wrong, "{figures:?}");
        }
    }
}
