//! Scenario `cluster`: three guests with ssh and Slurm, and one run on all of them.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, exit_code, output_section,
    parse_document,
};
use crate::judge::{Evidence, Excused};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "cluster",
    title: "Three guests with ssh and Slurm",
    description: "Each has a `null_blk` that completes a read after 20 ms, that of n2 after 40 ms; n2 sends every packet 10 ms \
            later (`netem`); n3 has one CPU where the others have two, and a clock that is set ahead. A run reaches \
            them by ssh, one by Slurm, which is asked for the nodes, and one loses n3 on the way.",
    runner: ScenarioRunner::Guests(&[NODE, NODE, SMALL], SCRIPT),
    cpu_use: CpuUse::Waiting,
    deadline: Duration::from_secs(900),
    judge,
};

const NODE: GuestMachine = GuestMachine { memory_mib: 768, ..GuestMachine::PLAIN };
const SMALL: GuestMachine = GuestMachine { cpus: "1", ..NODE };

const SCRIPT: &str = include_str!("../scripts/cluster.sh");

const HOSTS: [&str; 3] = ["n1", "n2", "n3"];
const DEPTH: f64 = 4.0;
/// Delay that netem adds to every packet of n2.
const DELAY_MS: f64 = 10.0;
/// Maximum time that timer and kernel add under emulation.
const MAX_EXTRA_MS: f64 = 5.0;

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut figures = check_doctor(
        &parse_document(output_section(output, "doctor")?)?,
        output_section(output, "clock")?,
    )?;
    for launcher in ["ssh", "slurm", "job"] {
        let text = output_section(output, launcher)?;
        figures.push(LabFigure::exact(&format!("{launcher}: exit code"), "0", exit_code(text)));
        figures.extend(check_reads(launcher, &parse_document(text)?)?);
    }
    let jobs = output_section(output, "given back")?.trim().to_owned();
    figures.push(LabFigure::exact("jobs of Slurm after a run that asked for nodes", "0", jobs));
    figures.extend(check_round_trips(output_section(output, "pairs")?)?);
    figures.extend(check_lost_host(output_section(output, "lost")?)?);
    Ok(figures)
}

fn as_number(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("no number: {value}"))
}

/// Checks the clock offset against the shell's readings before and after the query, in whole
/// seconds, and the differences between the hosts.
fn check_doctor(report: &Value, clock: &str) -> Result<Vec<LabFigure>> {
    let line = clock.lines().find_map(|line| line.strip_prefix("between "));
    let (minimum_s, maximum_s) =
        line.and_then(|range| range.split_once(' ')).context("the clock was not read")?;
    let (minimum_s, maximum_s) =
        (minimum_s.parse::<f64>()? - 1.0, maximum_s.trim().parse::<f64>()? + 1.0);
    let hosts = report["hosts"].as_array().context("there are no hosts")?;
    let n3 = hosts.iter().find(|it| it["name"] == "n3").context("n3 is missing")?;
    let offset = as_number(&n3["clock_offset_s"])?;
    let bound = as_number(&n3["clock_offset_bound_s"])?;
    let cpus = hosts
        .iter()
        .map(|it| it["host"]["topology"]["cpus"].as_array().map_or(0, Vec::len).to_string());
    let cpus: Vec<String> = cpus.collect();
    let differences = report["differences"].as_array().context("there are no differences")?;
    let differs_only_in_n3 = |it: &&Value| {
        let values = it["values"].as_array().map_or(&[][..], Vec::as_slice);
        values.len() == 2 && values[1][1] == serde_json::json!(["n3"])
    };
    let n3_differences: Vec<&str> = differences
        .iter()
        .filter(differs_only_in_n3)
        .filter_map(|it| it["what"].as_str())
        .collect();
    Ok(vec![
        LabFigure::new(
            "clock of n3 beyond that of n1",
            format!("{minimum_s} to {maximum_s} s by the shell's questions"),
            format!("{offset:.3} s ± {bound:.3} s"),
            Evidence::Overlap {
                interval: offset - bound..=offset + bound,
                limits: minimum_s..=maximum_s,
                max_width: f64::INFINITY,
            }
            .judge(),
        ),
        LabFigure::exact("CPUs of the hosts", "2, 2, 1", cpus.join(", ")),
        LabFigure::condition(
            "in what n3 differs from the others",
            "its CPUs among others",
            n3_differences.join(", "),
            n3_differences.iter().any(|property| property.to_lowercase().contains("cpu")),
        ),
    ])
}

/// Returns the result of a metric on a host.
fn find_result<'r>(report: &'r Value, metric: &str, host: &str) -> Result<&'r Value> {
    let results = report["results"].as_array().context("there are no results")?;
    let result =
        results.iter().find(|result| result["metric"] == metric && result["host"] == host);
    result.with_context(|| format!("{metric} of {host} is missing"))
}

/// Checks each host against its device, the total against the sum, and the start skew, which must
/// not depend on the clocks.
fn check_reads(launcher: &str, report: &Value) -> Result<Vec<LabFigure>> {
    let mut reported = Vec::new();
    let (mut sum, mut slowest_sum, mut fastest_sum) = (0.0, 0.0, 0.0);
    let mut are_correct = true;
    for (host, delay_ms) in HOSTS.into_iter().zip([20.0, 40.0, 20.0]) {
        let minimum_ms = as_number(&find_result(report, "latency", host)?["min"])? * 1e3;
        let result = find_result(report, "rate", host)?;
        let rate = as_number(&result["mean"])?;
        sum += rate;
        slowest_sum += as_number(&result["min"])?;
        fastest_sum += as_number(&result["max"])?;
        // The histogram has three digits; a device may take longer than its delay but never less.
        are_correct &= minimum_ms >= delay_ms * 0.995 && minimum_ms <= delay_ms + MAX_EXTRA_MS;
        are_correct &= rate <= DEPTH / (delay_ms * 1e-3) * 1.01;
        reported.push(format!("{host} {minimum_ms:.1} ms, {rate:.0} per second"));
    }
    let total_result = find_result(report, "rate", "all")?;
    let total = as_number(&total_result["mean"])?;
    // Rates are added stretch by stretch, and a stretch in which a guest stalls is longer than
    // those of the others: its weight in the total is another than in the mean of its host.
    let excused = match (slowest_sum..=fastest_sum).contains(&total) {
        true => Excused::OutOfLimits,
        false => Excused::Nothing,
    };
    let triads = HOSTS.iter().filter(|host| find_result(report, "triad", host).is_ok()).count();
    let skew = as_number(&find_result(report, "rate", "n3")?["parameters"]["start_skew"])?;
    Ok(vec![
        LabFigure::condition(
            format!("{launcher}: quickest read, and rate"),
            format!(
                "20, 40 and 20 ms, at most {MAX_EXTRA_MS} ms beyond; at most 200, 100 and 200"
            ),
            reported.join("; "),
            are_correct,
        ),
        LabFigure::new(
            format!("{launcher}: rate of all"),
            format!(
                "{sum:.1} per second, ± 1 %: the sum; its stretches {slowest_sum:.1} to {fastest_sum:.1}"
            ),
            format!("{total:.1} per second"),
            Evidence::relative(total, sum, 0.01).judge_despite(excused),
        ),
        LabFigure::new(
            format!("{launcher}: from the first start to the last"),
            "less than 1 s, with a clock 100 s ahead",
            format!("{:.0} ms", skew * 1e3),
            Evidence::Number(skew, 0.0..=1.0).judge(),
        ),
        LabFigure::exact(&format!("{launcher}: hosts with a Triad"), "3", triads.to_string()),
    ])
}

/// Checks that round trips to n2 include netem's delay.
fn check_round_trips(text: &str) -> Result<Vec<LabFigure>> {
    let report = parse_document(text)?;
    let results = report["results"].as_array().context("there are no results")?;
    let round_trip_to = |peer: &str| {
        let result = results.iter().find(|result| {
            result["metric"] == "round_trip" && result["parameters"]["peer"] == peer
        });
        as_number(&result.with_context(|| format!("no round trip to {peer}"))?["min"])
    };
    let [near_ms, far_ms] = [round_trip_to("n3")? * 1e3, round_trip_to("n2")? * 1e3];
    Ok(vec![
        LabFigure::exact("pairs: exit code", "0", exit_code(text)),
        LabFigure::new(
            "quickest round trip from n1 to n2",
            format!("{DELAY_MS} ms, and at most {MAX_EXTRA_MS} ms beyond"),
            format!("{far_ms:.2} ms (to n3 {near_ms:.2} ms)"),
            Evidence::Number(far_ms, DELAY_MS..=DELAY_MS + MAX_EXTRA_MS).judge(),
        ),
    ])
}

/// Checks that a lost host is reported and the others have results.
fn check_lost_host(text: &str) -> Result<Vec<LabFigure>> {
    let report = parse_document(text)?;
    let warnings = report["warnings"].as_array().context("there are no warnings")?;
    let lost_hosts: Vec<&str> = warnings
        .iter()
        .filter(|warning| warning["id"] == "host-lost")
        .filter_map(|warning| warning["arguments"]["host"].as_str())
        .collect();
    let remaining_hosts: Vec<&str> =
        HOSTS.into_iter().filter(|host| find_result(&report, "rate", host).is_ok()).collect();
    let totals = if find_result(&report, "rate", "all").is_ok() {
        "those of the others"
    } else {
        "none"
    };
    Ok(vec![
        LabFigure::exact("n3 ends on the way: exit code", "4", exit_code(text)),
        LabFigure::exact("hosts that are named as lost", "n3", lost_hosts.join(", ")),
        LabFigure::exact("hosts with a result", "n1, n2", remaining_hosts.join(", ")),
        // docs/hosts.md: a case that failed on any host has no totals.
        LabFigure::exact("totals of a case that failed on n3", "none", totals.to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::row_names_where;
    use super::*;

    /// Output of the first guest with correct results.
    fn guest_output() -> String {
        let row = |metric: &str, host: &str, figures: &str| {
            format!(r#"{{"metric":"{metric}","host":"{host}",{figures}}}"#)
        };
        let values = HOSTS.into_iter().zip([(0.0203, 190), (0.0404, 95), (0.0203, 190)]);
        let mut reads: Vec<String> = values
            .flat_map(|(host, (least, rate))| {
                [
                    row("latency", host, &format!(r#""min":{least}"#)),
                    row(
                        "rate",
                        host,
                        &format!(
                            r#""mean":{rate}.0,"min":{rate}.0,"max":{rate}.0,"parameters":{{"start_skew":0.005}}"#
                        ),
                    ),
                    row("triad", host, r#""median":1.0"#),
                ]
            })
            .collect();
        reads.push(row("rate", "all", r#""mean":475.0"#));
        let reads = reads.join(",");
        let trip = |peer: &str, least: f64| {
            let figures = format!(r#""min":{least},"parameters":{{"peer":"{peer}"}}"#);
            row("round_trip", "n1", &figures)
        };
        let pairs = [trip("n3", 0.0007), trip("n2", 0.0114)].join(",");
        let left = ["n1", "n2"].map(|host| row("rate", host, r#""mean":1.0"#)).join(",");
        let host = |name: &str, cpus: &str, offset: f64| {
            format!(
                r#"{{"name":"{name}","clock_offset_s":{offset},"clock_offset_bound_s":0.003,"host":{{"topology":{{"cpus":[{cpus}]}}}}}}"#
            )
        };
        let hosts =
            [host("n1", "0,1", 0.0), host("n2", "0,1", -0.2), host("n3", "0", 99.1)].join(",");
        let differences = r#"[{"what":"CPUs","values":[["2",["n1","n2"]],["1",["n3"]]]}]"#;
        let section = |name: &str, results: &str| {
            format!("\n== {name}\n{{\"results\":[{results}]}}\nexit 0\n")
        };
        [
            "\n== clock\nbetween 99 101\n".to_owned(),
            format!(
                "\n== doctor\n{{\"hosts\":[{hosts}],\"differences\":{differences}}}\n"
            ),
            section("ssh", &reads),
            section("pairs", &pairs),
            section("slurm", &reads),
            "\n== given back\n0\n".to_owned(),
            section("job", &reads),
            format!(
                "\n== lost\n{{\"results\":[{left}],\"warnings\":[{{\"id\":\"host-lost\",\"arguments\":{{\"host\":\"n3\"}}}}]}}\nexit 4\n"
            ),
        ]
        .concat()
    }

    #[test]
    fn detects_each_wrong_value() {
        let wrong = |output: &str| row_names_where(judge(output), |holds| holds != Some(true));
        let complete = guest_output();
        assert_eq!(wrong(&complete), Vec::<String>::new());
        for (from, to, expected) in [
            (":99.1", ":0.1", "clock of n3 beyond that of n1"),
            ("\"cpus\":[0]", "\"cpus\":[0,1]", "CPUs of the hosts"),
            ("\"CPUs\"", "\"kernel\"", "in what n3 differs from the others"),
            ("exit 0", "exit 4", "ssh: exit code"),
            ("\"min\":0.0404", "\"min\":0.0204", "ssh: quickest read, and rate"),
            ("\"mean\":475.0", "\"mean\":380.0", "ssh: rate of all"),
            (
                "\"max\":190.0,\"parameters\":{\"start_skew\":0.005}}",
                "\"max\":190.0,\"parameters\":{\"start_skew\":99.0}}",
                "ssh: from the first start to the last",
            ),
            ("\"triad\"", "\"copy\"", "ssh: hosts with a Triad"),
            (
                "given back\n0",
                "given back\n1",
                "jobs of Slurm after a run that asked for nodes",
            ),
            ("\"min\":0.0114", "\"min\":0.0014", "quickest round trip from n1 to n2"),
            ("exit 4", "exit 0", "n3 ends on the way: exit code"),
            ("{\"host\":\"n3\"}", "{\"host\":\"n2\"}", "hosts that are named as lost"),
        ] {
            // Change the first run only.
            let (first, others) = complete.split_at(complete.find(from).unwrap());
            let end = others.find("\n== ").unwrap_or(others.len());
            let (section, others) = others.split_at(end);
            let section = if to.contains("99.0") {
                section.replace(from, to)
            } else {
                section.replacen(from, to, 1)
            };
            let changed = [first, &section, others].concat();
            assert_eq!(wrong(&changed), [expected], "{from}");
        }
        // A stretch of one host was slow, and the total is within the stretches.
        let stalled = complete.replacen("\"min\":190.0", "\"min\":150.0", 1);
        let stalled = stalled.replacen("\"mean\":475.0", "\"mean\":468.0", 1);
        let undecided = row_names_where(judge(&stalled), |holds| holds.is_none());
        assert_eq!(undecided, ["ssh: rate of all"]);
    }
}
