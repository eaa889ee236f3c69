//! Scenario `topology`: a guest with two sockets and three NUMA nodes, one of which has no CPUs.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, exit_code, output_section,
    parse_document,
};
use crate::judge::{Evidence, Excused};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "topology",
    title: "Sockets, NUMA nodes and caches",
    description: "Sixteen virtual CPUs on two sockets of eight cores, each with one L3 of 16 MiB, and three NUMA nodes, of which \
            the third has memory and no CPUs. What is found, where threads are placed, what is measured there and how \
            long it takes is what is shown; bandwidths under emulation mean nothing and are marked so. At the end, CPU 1 \
            goes offline during a measurement on it, and returns.",
    runner: ScenarioRunner::Guest(MACHINE, SCRIPT),
    cpu_use: CpuUse::Busy,
    deadline: Duration::from_secs(600),
    judge,
};

const MACHINE: GuestMachine = GuestMachine {
    memory_mib: 2048,
    cpus: "16,sockets=2,cores=8,threads=1",
    qemu_arguments: &[
        // Linux queries the caches of AMD processors in a way that the emulation does not support.
        "-cpu",
        "max,vendor=GenuineIntel",
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
    ..GuestMachine::PLAIN
};

/// Budget of LINPACK, and the time for loading the program and ending the case.
const BUDGET_S: f64 = 30.0;
const OVERHEAD_S: f64 = 15.0;
/// Doubt about every run on an emulated machine.
const EMULATED_DOUBT: &str = "emulated-cpu";

/// Script with arrays that fit any cache: figures are meaningless, and a pass is short.
const SCRIPT: &str = include_str!("../scripts/topology.sh");

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let facts = parse_document(output_section(output, "facts")?)?;
    let mut figures = check_topology(&facts["host"]["topology"])?;
    figures.extend(check_placements(&parse_document(output_section(output, "plan")?)?)?);
    let streams = parse_document(output_section(output, "stream")?)?;
    figures.push(check_emulation_doubt(&streams));
    figures.extend(check_streams(&streams)?);
    figures.push(check_affinity(
        &parse_document(output_section(output, "plan of two")?)?,
        output_section(output, "allowed")?,
    ));
    figures.extend(check_linpack(output_section(output, "linpack")?)?);
    figures.extend(check_hotplug(output)?);
    Ok(figures)
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

/// Formats ascending numbers as their range, `0-7`.
fn format_range(list: &Value) -> String {
    match &numbers(list)[..] {
        [] => "none".to_owned(),
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
    }
}

fn check_topology(topology: &Value) -> Result<Vec<LabFigure>> {
    let list =
        |name: &str| topology[name].as_array().with_context(|| format!("there are no {name}"));
    let (cpus, nodes, caches) = (list("cpus")?, list("numa")?, list("caches")?);
    let sockets: BTreeSet<u64> = cpus.iter().filter_map(|cpu| cpu["socket"].as_u64()).collect();
    let nodes: Vec<String> = nodes
        .iter()
        .map(|node| format!("{}: {}", node["id"], format_range(&node["cpus"])))
        .collect();
    let mut last_level: Vec<String> = caches
        .iter()
        .filter(|cache| cache["level"] == 3)
        .map(|cache| {
            let bytes = cache["bytes"].as_u64().unwrap_or(0);
            format!("{} MiB for {}", bytes >> 20, format_range(&cache["cpus"]))
        })
        .collect();
    last_level.sort();
    Ok(vec![
        LabFigure::exact(
            "CPUs, sockets",
            "16, 2",
            format!("{}, {}", cpus.len(), sockets.len()),
        ),
        LabFigure::exact("NUMA nodes that have CPUs", "0: 0-7, 1: 8-15", nodes.join(", ")),
        LabFigure::exact(
            "last-level caches",
            "16 MiB for 0-7, 16 MiB for 8-15",
            last_level.join(", "),
        ),
    ])
}

/// Checks the planned CPUs of each case.
fn check_placements(plan: &Value) -> Result<Vec<LabFigure>> {
    let cases = plan["cases"].as_array().context("there are no cases")?;
    let domains = cases.iter().flat_map(|case| case["workload"]["domains"].as_array());
    let mut planned: Vec<String> = domains
        .flatten()
        .map(|domain| {
            format!(
                "{} {}",
                domain["placement"].as_str().unwrap_or("?"),
                format_range(&domain["cpus"])
            )
        })
        .collect();
    // Both caches occur alone and together.
    planned.sort();
    planned.dedup();
    Ok(vec![LabFigure::exact(
        "CPUs of the placements",
        "core:0 0, l3:0 0-7, l3:1 8-15, node 0-15, numa:0 0-7, numa:1 8-15",
        planned.join(", "),
    )])
}

/// Checks that every placement has every function of STREAM, and that no other placement exists.
fn check_streams(report: &Value) -> Result<Vec<LabFigure>> {
    const FUNCTIONS: [&str; 4] = ["copy", "scale", "add", "triad"];
    const PLACEMENTS: [&str; 6] = ["core:0", "l3:0", "l3:1", "node", "numa:0", "numa:1"];
    let results = report["results"].as_array().context("there are no results")?;
    let find = |placement: &str, function: &str| {
        results.iter().find(|result| {
            result["parameters"]["placement"] == placement && result["metric"] == function
        })
    };
    let missing: Vec<String> = PLACEMENTS
        .into_iter()
        .flat_map(|placement| FUNCTIONS.map(|function| (placement, function)))
        .filter(|(placement, function)| find(placement, function).is_none())
        .map(|(placement, function)| format!("{placement} {function}"))
        .collect();
    let other_placements =
        results.iter().filter_map(|result| result["parameters"]["placement"].as_str());
    let other_placements: BTreeSet<&str> =
        other_placements.filter(|placement| !PLACEMENTS.contains(placement)).collect();
    let failed = report["failures"].as_array().map_or(0, Vec::len);
    let format_list = |words: Vec<String>| match &words[..] {
        [] => "none".to_owned(),
        words => words.join(", "),
    };
    let triad = find("node", "triad").and_then(|result| result["median"].as_f64());
    Ok(vec![
        LabFigure::exact(
            "functions of STREAM that a placement lacks",
            "none",
            format_list(missing),
        ),
        LabFigure::exact(
            "other placements",
            "none",
            format_list(other_placements.into_iter().map(str::to_owned).collect()),
        ),
        LabFigure::exact("cases of STREAM that failed", "0", failed.to_string()),
        LabFigure::new(
            "Triad of the node",
            "none: emulated",
            format!("{:.2} GB/s", triad.context("no Triad")? * 1e-9),
            Evidence::NoTruth.judge(),
        ),
    ])
}

/// Checks for the doubt that marks the figures as meaningless.
fn check_emulation_doubt(report: &Value) -> LabFigure {
    let warnings = report["warnings"].as_array().into_iter().flatten();
    let ids: Vec<&str> = warnings.filter_map(|warning| warning["id"].as_str()).collect();
    LabFigure::condition(
        "doubts about the run",
        format!("{EMULATED_DOUBT} among them"),
        ids.join(", "),
        ids.contains(&EMULATED_DOUBT),
    )
}

/// Checks the kernel's affinity of the threads against the plan. Sampling may miss a case but never
/// shows a CPU that is not in use.
fn check_affinity(plan: &Value, allowed: &str) -> LabFigure {
    let domains = plan["cases"].as_array().into_iter().flatten();
    let domains = domains.flat_map(|case| case["workload"]["domains"].as_array());
    let planned: BTreeSet<u64> =
        domains.flatten().flat_map(|domain| numbers(&domain["cpus"])).collect();
    // A thread with several allowed CPUs is not part of a team.
    let observed: BTreeSet<u64> =
        allowed.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let format_cpus =
        |cpus: &BTreeSet<u64>| cpus.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let is_possible = !observed.is_empty() && observed.is_subset(&planned);
    LabFigure::new(
        "CPUs that threads of STREAM are bound to, by the kernel",
        format!("{}: the plan's", format_cpus(&planned)),
        format_cpus(&observed),
        Evidence::Condition(observed == planned)
            .judge_despite(Excused::OutOfLimits.when(is_possible)),
    )
}

fn check_linpack(text: &str) -> Result<[LabFigure; 2]> {
    let times = text.lines().find_map(|line| line.strip_prefix("took "));
    let mut times = times.context("the time is missing")?.split_whitespace();
    let mut next =
        || times.next().context("a time is missing")?.parse::<f64>().context("no time");
    let (start_s, end_s) = (next()?, next()?);
    // The program was killed if there is no document.
    let report = parse_document(text).unwrap_or_default();
    let results = report["results"].as_array();
    let result = results.into_iter().flatten().find(|result| result["metric"] == "rmax");
    let result = result.unwrap_or(&Value::Null);
    let elapsed_s = end_s - start_s;
    let outcome = if result.is_null() { "no result" } else { "a result" };
    Ok([
        LabFigure::exact(
            "threads of LINPACK",
            "16",
            result["parameters"]["threads"].to_string(),
        ),
        LabFigure::condition(
            "LINPACK on them",
            format!("a result in {BUDGET_S} s, and at most {OVERHEAD_S} s around it"),
            format!("{outcome} after {elapsed_s:.0} s"),
            !result.is_null() && elapsed_s <= BUDGET_S + OVERHEAD_S,
        ),
    ])
}

/// Checks the runs on CPU 1 while it goes offline, without it, and after it has returned.
fn check_hotplug(output: &str) -> Result<[LabFigure; 3]> {
    let section = |name: &str| output_section(output, name);
    let (leaving, away, returned) =
        (section("leaving")?, section("away")?, section("returned")?);
    let doubts = |text: &str| {
        let report = parse_document(text).unwrap_or_default();
        let warnings = report["warnings"].as_array().cloned().unwrap_or_default();
        let ids = warnings.iter().filter_map(|warning| warning["id"].as_str());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    // The case may have started its last threads before the CPU left.
    let (code, ids) = (exit_code(leaving), doubts(leaving));
    let is_doubted = ids.iter().any(|id| id == "cpus-taken");
    let left = LabFigure::condition(
        "CPU 1 goes offline: exit code, doubts",
        "0 or 4, cpus-taken among them",
        format!("{code}, {}", ids.join(" ")),
        matches!(&*code, "0" | "4") && is_doubted,
    );
    let code = exit_code(away);
    let reason = away.lines().find_map(|line| line.split_once("error: ")).unwrap_or_default().1;
    let reason = reason.split(';').next().unwrap_or_default().trim();
    let refused = LabFigure::condition(
        "a run on CPU 1 while it is offline",
        "exit code 3, no such core",
        format!("exit code {code}, {reason}"),
        code == "3" && reason.contains("no usable core 1"),
    );
    let (code, ids) = (exit_code(returned), doubts(returned));
    let is_undoubted = !ids.iter().any(|id| id == "cpus-taken");
    let back = LabFigure::condition(
        "CPU 1 is online again: exit code, doubts",
        "0, no cpus-taken",
        format!("{code}, {}", ids.join(" ")),
        code == "0" && is_undoubted,
    );
    Ok([left, refused, back])
}

#[cfg(test)]
mod tests {
    use super::super::row_names_where;
    use super::*;

    fn cpus(from: u32, to: u32) -> String {
        format!("[{}]", (from..to).map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(","))
    }

    /// Output of the runs on a CPU that goes offline.
    const HOTPLUG: &str = "== leaving\n{\"warnings\":[{\"id\":\"cpus-taken\"}]}\nexit 4\n\
                           == away\nerror: there is no usable core 1 on this machine; it has core:0\nexit 3\n\
                           == returned\n{\"warnings\":[]}\nexit 0\n";

    /// Output of a guest of this machine.
    fn guest_output() -> String {
        let cpu_list: Vec<String> =
            (0..16).map(|id| format!(r#"{{"id":{id},"socket":{}}}"#, id / 8)).collect();
        let [nodes, caches] =
            [r#""id":NUMBER"#, r#""level":3,"bytes":16777216"#].map(|fields| {
                let entry = |number: u32, from| {
                    let fields = fields.replace("NUMBER", &number.to_string());
                    format!(r#"{{{fields},"cpus":{}}}"#, cpus(from, from + 8))
                };
                [entry(0, 0), entry(1, 8)].join(",")
            });
        let facts = format!(
            r#"{{"host":{{"topology":{{"cpus":[{}],"numa":[{nodes}],"caches":[{caches}]}}}}}}"#,
            cpu_list.join(",")
        );
        let placements = [
            ("node", 0, 16),
            ("numa:0", 0, 8),
            ("numa:1", 8, 16),
            ("l3:0", 0, 8),
            ("l3:1", 8, 16),
            ("core:0", 0, 1),
        ];
        let cases = placements.map(|(placement, from, to)| {
            let cpus = cpus(from, to);
            format!(
                r#"{{"workload":{{"domains":[{{"placement":"{placement}","cpus":{cpus}}}]}}}}"#
            )
        });
        let results = placements.iter().flat_map(|(placement, ..)| {
            ["copy", "scale", "add", "triad"].map(|metric| {
                format!(
                    r#"{{"metric":"{metric}","median":2e9,"parameters":{{"placement":"{placement}"}}}}"#
                )
            })
        });
        let two = r#"{"cases":[{"workload":{"domains":[{"cpus":[0,1]},{"cpus":[8,9]}]}}]}"#;
        let allowed = "0\n0-15\n1\n8\n9\n";
        format!(
            "\n== facts\n{facts}\n== plan\n{{\"cases\":[{}]}}\n== plan of two\n{two}\n\
             == stream\n{{\"warnings\":[{{\"id\":\"emulated-cpu\"}}],\"results\":[{}]}}\n\
             == allowed\n{allowed}== linpack\n{{\"results\":[{{\"metric\":\"fp64\"}},{{\"metric\":\"rmax\",\"parameters\":{{\"threads\":16}}}}]}}\ntook 10.0 50.0\n{HOTPLUG}",
            cases.join(","),
            results.collect::<Vec<_>>().join(",")
        )
    }

    #[test]
    fn detects_each_wrong_value() {
        let wrong = |output: &str| row_names_where(judge(output), |holds| holds == Some(false));
        let complete = guest_output();
        assert_eq!(wrong(&complete), Vec::<String>::new());
        for (from, to, expected) in [
            ("\"socket\":1", "\"socket\":0", "CPUs, sockets"),
            ("\"id\":1,\"cpus\"", "\"id\":2,\"cpus\"", "NUMA nodes that have CPUs"),
            ("16777216", "33554432", "last-level caches"),
            ("\"numa:1\",\"cpus\":[8,", "\"numa:1\",\"cpus\":[0,", "CPUs of the placements"),
            ("\"add\"", "\"ad\"", "functions of STREAM that a placement lacks"),
            (
                "\"results\":[{\"metric\"",
                "\"failures\":[1],\"results\":[{\"metric\"",
                "cases of STREAM that failed",
            ),
            ("emulated-cpu", "other-load", "doubts about the run"),
            (
                "\n8\n9\n",
                "\n8\n10\n",
                "CPUs that threads of STREAM are bound to, by the kernel",
            ),
            (
                "0\n0-15\n1\n8\n9\n",
                "0-15\n",
                "CPUs that threads of STREAM are bound to, by the kernel",
            ),
            ("\"threads\":16", "\"threads\":8", "threads of LINPACK"),
            ("took 10.0 50.0", "took 10.0 70.0", "LINPACK on them"),
            ("cpus-taken", "other-load", "CPU 1 goes offline: exit code, doubts"),
            ("no usable core 1", "no time", "a run on CPU 1 while it is offline"),
            ("exit 0", "exit 4", "CPU 1 is online again: exit code, doubts"),
        ] {
            assert!(guest_output().contains(from), "{from}");
            assert_eq!(wrong(&guest_output().replace(from, to)), [expected], "{from}");
        }
        let with_extra = guest_output().replacen(
            "\"results\":[",
            "\"results\":[{\"parameters\":{\"placement\":\"numa:2\"}},",
            1,
        );
        assert_eq!(wrong(&with_extra), ["other placements"]);
        // Sampling may miss a case.
        let missed = guest_output().replace("\n8\n9\n", "\n8\n");
        let undecided = row_names_where(judge(&missed), |holds| holds.is_none());
        assert_eq!(
            undecided,
            ["Triad of the node", "CPUs that threads of STREAM are bound to, by the kernel"]
        );
        // The peak alone is not a result of LINPACK.
        assert_eq!(
            wrong(&guest_output().replace("\"rmax\"", "\"fp32\"")),
            ["threads of LINPACK", "LINPACK on them"]
        );
        let (before, _) = complete.split_once("== linpack").unwrap();
        let ended = format!("{before}== linpack\nexit 143\ntook 10.0 160.0\n{HOTPLUG}");
        assert_eq!(wrong(&ended), ["threads of LINPACK", "LINPACK on them"]);
    }
}
