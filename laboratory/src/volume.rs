//! Scenario `volume`: an NFS server in one guest, a near and a far client in another, and
//! measurements during a crash and restart of the server.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, exit_code, output_section,
    parse_document,
};
use crate::judge::{Evidence, Excused, Verdict};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "volume",
    title: "A volume of NFS, near and far, and its server killed",
    description: "One guest serves NFS from a disk, the kernel of another is its clients: two network namespaces with addresses, \
            mounts and connections of their own, of which `far` sends every packet 20 ms later (`netem`). They are \
            hosts of one run. A suite mounts the volume with one connection and with four (`nconnect`), each of which sends \
            at most 4 Mbit/s (`fq`), and writes. Then the server's kernel is reset while reads go on at a fixed rate, and boots again: \
            beside them a shell asks the server for the attributes of a file again and again, and its longest wait \
            is the outage. A mount that waits for ever (`hard`) has reads that take as long; one that gives up \
            (`soft`) has errors, and no figure. A phase whose file was opened before fails.",
    runner: ScenarioRunner::Guests(&[GuestMachine::PLAIN, SERVER], SCRIPT),
    cpu_use: CpuUse::Waiting,
    deadline: Duration::from_secs(600),
    judge,
};

const SERVER: GuestMachine = GuestMachine {
    // Reboot after the crash.
    qemu_arguments: &["-device", "virtio-blk-pci,drive=disk0", "-action", "reboot=reset"],
    disks_mib: &[256],
    ..GuestMachine::PLAIN
};

const SCRIPT: &str = include_str!("../scripts/volume.sh");

/// Delay that netem adds to every packet of the far client.
const DELAY_MS: f64 = 20.0;
/// Maximum time that the far client's kernel and the timer of netem add under emulation.
const MAX_EXTRA_MS: f64 = 3.0;
const DEPTH: f64 = 4.0;
/// Requested rate of reads during the crash, and length of the measurement.
const RATE_PER_S: f64 = 20.0;
const MEASURED_S: f64 = 60.0;
/// Latest time of the crash within the measured time.
const LATEST_KILL_S: f64 = 15.0;
/// Maximum time between two requests of the shell's probe, including the start of one, under
/// emulation.
const PROBE_INTERVAL_S: f64 = 1.0;

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let doctor = parse_document(output_section(output, "doctor")?)?;
    let mut figures = check_mount_options(&doctor, output_section(output, "connections")?)?;
    let curves = output_section(output, "curves")?;
    figures.push(check_exit_code("near and far", curves));
    figures.extend(check_near_and_far(&parse_document(curves)?)?);
    figures.extend(check_factor(output_section(output, "nconnect")?)?);
    let killed = output_section(output, "killed")?;
    figures.push(check_exit_code("a server that is killed and comes back", killed));
    figures.extend(check_outage(&parse_document(killed)?, killed)?);
    figures.extend(check_soft_mount(output_section(output, "soft")?, &SoftAccess::READ)?);
    let written = output_section(output, "written")?;
    figures.extend(check_soft_mount(written, &SoftAccess::WRITE)?);
    figures.push(check_created_file(written));
    figures.push(check_opened_before(output_section(output, "between")?)?);
    Ok(figures)
}

fn check_exit_code(name: &str, text: &str) -> LabFigure {
    LabFigure::exact(&format!("{name}: exit code"), "0", exit_code(text))
}

/// Access to a soft mount whose server is away.
struct SoftAccess {
    /// Name in the rows.
    name: &'static str,
    /// Text before the offset of the failed I/O, and after it.
    failure: [&'static str; 2],
}

impl SoftAccess {
    const READ: Self = Self {
        name: "reads",
        failure: ["read of 4096 bytes at byte ", " of /mnt/soft/data-soft: Input/output error"],
    };
    /// A file that the run created itself.
    const WRITE: Self = Self {
        name: "writes",
        failure: ["write of 4096 bytes at byte ", " of /mnt/soft/new: Input/output error"],
    };
}

/// Checks that the file of the failed write is gone once the server is back: on NFS 3 it has
/// neither a time of birth nor an attribute.
fn check_created_file(text: &str) -> LabFigure {
    let found = text.lines().find(|line| line.starts_with("file ")).unwrap_or("nothing");
    LabFigure::exact(
        "the file of the failed writes, once the server is back",
        "file gone",
        found.to_owned(),
    )
}

/// Checks a phase whose target was opened before the server went away: the kernel's error is
/// reported, nothing is stored as measured, and nothing claims that the target was replaced.
fn check_opened_before(text: &str) -> Result<LabFigure> {
    let (printed, _) = text.split_once("\nexit ").context("no exit code")?;
    let results = parse_document(text)?["results"].as_array().map_or(0, Vec::len);
    let is_reported =
        printed.contains("Input/output error") && printed.contains("/mnt/brief/between");
    let is_expected = is_reported && results == 0 && exit_code(text) == "4";
    let error =
        printed.lines().find(|line| line.contains("error:")).unwrap_or("no error").trim();
    Ok(LabFigure::condition(
        "a server that goes away between opening and writing (soft)",
        "exit code 4 and Input/output error, not a replaced target; 0 results",
        format!("exit code {}, {error}; {results} results", exit_code(text)),
        is_expected && !printed.contains("was replaced"),
    ))
}

/// Checks the errors of a soft mount: the failed I/O is reported, and no results are stored.
fn check_soft_mount(text: &str, access: &SoftAccess) -> Result<[LabFigure; 2]> {
    let SoftAccess { name, failure: [prefix, reason] } = *access;
    let report = parse_document(text)?;
    let results = report["results"].as_array().map_or(0, Vec::len);
    let failure = report["failures"][0]["reason"].as_str().unwrap_or("no failure");
    let first = failure.split("; ").next().unwrap_or_default();
    let offset_text = first.split_once(prefix).and_then(|(_, rest)| rest.strip_suffix(reason));
    let is_named = offset_text.is_some_and(|byte| byte.parse::<u64>().is_ok());
    Ok([
        LabFigure::exact(
            &format!("a mount that gives up (soft), {name}: exit code"),
            "4",
            exit_code(text),
        ),
        LabFigure::condition(
            format!("a mount that gives up (soft): {name} while the server is away"),
            format!("{prefix}…{reason}; 0 results"),
            format!("{first}; {results} results"),
            is_named && results == 0,
        ),
    ])
}

/// Checks doctor's findings against the mount options and the kernel's connections.
fn check_mount_options(doctor: &Value, connections: &str) -> Result<Vec<LabFigure>> {
    let findings = doctor["findings"].as_array().context("there are no findings")?;
    let observed = |id: &str| -> Result<String> {
        let finding = findings.iter().find(|finding| finding["id"] == id);
        let text = finding.and_then(|finding| finding["observed"].as_str());
        Ok(text.with_context(|| format!("{id} is missing"))?.to_owned())
    };
    let connected: Vec<&str> = connections.lines().filter(|line| !line.is_empty()).collect();
    Ok(vec![
        LabFigure::exact(
            "nconnect by doctor",
            "/mnt/near nconnect=1; /mnt/far nconnect=4",
            observed("storage.nfs-connections")?,
        ),
        LabFigure::exact(
            "connections to the server, by the kernel",
            "near 1, far 4",
            connected.join(", "),
        ),
        LabFigure::exact(
            "sizes of calls by doctor",
            "/mnt/near rsize=65536,wsize=65536; /mnt/far rsize=262144,wsize=262144",
            observed("storage.nfs-call-size")?,
        ),
    ])
}

/// Checks a factor whose levels mount with one connection and with four, of 4 Mbit/s each.
fn check_factor(text: &str) -> Result<[LabFigure; 3]> {
    let applied: Vec<&str> =
        text.lines().filter(|line| line.starts_with("nconnect=")).collect();
    let comparison = parse_document(text)?;
    let pairs = comparison["pairs"].as_array().context("there is no comparison")?;
    let pair = pairs.iter().find(|pair| pair["a"]["metric"] == "bandwidth");
    let pair = pair.context("the bandwidth is not compared")?;
    let (one, four) = (number(&pair["a"], "median")?, number(&pair["b"], "median")?);
    Ok([
        check_exit_code("nconnect as a factor", text),
        LabFigure::exact(
            "nconnect as a factor: connections at the end of each level, by the kernel",
            "nconnect=1: 1, nconnect=4: 4",
            applied.join(", "),
        ),
        LabFigure::new(
            "nconnect as a factor: four connections ÷ one",
            "4, ± 20 %: each sends at most 4 Mbit/s (`fq`)",
            format!("{:.2} ({:.2} MB/s ÷ {:.2} MB/s)", four / one, four / 1e6, one / 1e6),
            Evidence::relative(four / one, 4.0, 0.2).judge(),
        ),
    ])
}

/// Returns the result with this metric, host and parameter.
fn find_result<'r>(
    report: &'r Value,
    (metric, host): (&str, Option<&str>),
    (parameter, value): (&str, &Value),
) -> Result<&'r Value> {
    let results = report["results"].as_array().context("there are no results")?;
    let result = results.iter().find(|result| {
        result["metric"] == metric
            && host.is_none_or(|host| result["host"] == host)
            && result["parameters"][parameter] == *value
    });
    result.with_context(|| format!("{metric} of {host:?} with {parameter} {value} is missing"))
}

fn number(result: &Value, name: &str) -> Result<f64> {
    result[name].as_f64().with_context(|| format!("{name} is not a number: {result}"))
}

fn check_near_and_far(report: &Value) -> Result<Vec<LabFigure>> {
    let max_point = Value::from("max");
    let rate_of = |host| find_result(report, ("rate", Some(host)), ("point", &max_point));
    let [near, far, all] = ["near", "far", "all"].map(rate_of);
    let (near, far, all) = (near?, far?, all?);
    let mut figures = vec![
        check_engine("near", &near["parameters"])?,
        check_engine("far", &far["parameters"])?,
    ];
    let [near, far, all] = [near, far, all].map(|result| number(result, "mean"));
    let (near, far, all) = (near?, far?, all?);
    let (bound, sum) = (DEPTH / (DELAY_MS * 1e-3), near + far);
    figures.push(LabFigure::new(
        format!("far with {DEPTH} in flight: rate"),
        format!("below {bound} per second: {DEPTH} ÷ {DELAY_MS} ms"),
        format!("{far:.1} per second (near {near:.1})"),
        Evidence::Number(far, 0.0..=bound).judge(),
    ));
    figures.push(LabFigure::new(
        "both together: rate",
        format!("{sum:.1} per second, ± 1 %: the sum"),
        format!("{all:.1} per second"),
        Evidence::relative(all, sum, 0.01).judge(),
    ));
    // Without queueing, the latencies differ by the delay of the path.
    let percent = Value::from(20.0);
    let low = |host| find_result(report, ("latency", Some(host)), ("percent_of_max", &percent));
    figures.extend(check_latency_difference(low("near")?, low("far")?)?);
    Ok(figures)
}

/// Checks the latency difference of the two clients: netem never delays a packet by less than
/// configured.
fn check_latency_difference(near: &Value, far: &Value) -> Result<[LabFigure; 2]> {
    let ms = |value: &Value| Some(value.as_f64()? * 1e3);
    let minimum_ms = ms(&far["min"]).context("there is no minimum")?;
    let median = |result: &Value| ms(&result["median"]).context("there is no median");
    let difference_ms = median(far)? - median(near)?;
    let interval = |result: &Value| Some((ms(&result["ci"][0])?, ms(&result["ci"][1])?));
    let interval_verdict = interval(near).zip(interval(far)).map(|(near, far)| {
        let (from, to) = (far.0 - near.1, far.1 - near.0);
        // An interval that is wide enough to contain both zero and the delay decides nothing.
        let evidence = Evidence::Overlap {
            interval: from..=to,
            limits: DELAY_MS..=DELAY_MS + MAX_EXTRA_MS,
            max_width: DELAY_MS,
        };
        (evidence.judge(), format!(", {from:.1} to {to:.1} ms"))
    });
    Ok([
        LabFigure::new(
            "far at 20 % of its rate: quickest read",
            format!("{DELAY_MS} ms or more"),
            format!("{minimum_ms:.2} ms"),
            Evidence::Number(minimum_ms, DELAY_MS..=f64::INFINITY).judge(),
        ),
        LabFigure {
            name: "median of far beyond that of near".to_owned(),
            truth: format!(
                "{DELAY_MS} ms, and at most {MAX_EXTRA_MS} ms beyond, inside the interval"
            ),
            reported: format!(
                "{difference_ms:.1} ms{}",
                interval_verdict.as_ref().map_or("", |(_, text)| text.as_str())
            ),
            // Undecided with too few reads for an interval.
            verdict: interval_verdict.map_or(Verdict::Undecided, |(verdict, _)| verdict),
        },
    ])
}

/// Checks the choice of the engine. This kernel's NFS never reports that it would block, so the
/// engine is chosen by a contest; `io_uring` wins unless it is 5 % slower.
fn check_engine(host: &str, parameters: &Value) -> Result<LabFigure> {
    let (engine, reason) = (&parameters["engine"], &parameters["engine_reason"]);
    let rates: Vec<f64> = reason["arguments"]["rates_per_s"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .collect();
    let engine = engine.as_str().unwrap_or("none").split(' ').next().unwrap_or_default();
    let minimum_ratio = if engine == "io_uring" { 1.0 / 1.05 } else { 1.05 };
    let is_correct = matches!(&rates[..], [chosen_rate, other_rate] if *chosen_rate >= other_rate * minimum_ratio);
    let rates_text: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
    Ok(LabFigure::condition(
        format!("{host}: engine"),
        "a contest, and who was faster in it",
        format!(
            "{engine}, {} ({} per second)",
            reason["id"].as_str().unwrap_or("no reason"),
            rates_text.join(" and ")
        ),
        reason["id"] == "contest" && is_correct,
    ))
}

/// Returns the longest wait of the shell's probe in seconds.
fn longest_wait_s(text: &str) -> Result<f64> {
    let requests = text.lines().filter_map(|line| line.strip_prefix("asked ")?.split_once(' '));
    let waits_s = requests
        .filter_map(|(from, to)| Some(to.parse::<f64>().ok()? - from.parse::<f64>().ok()?));
    waits_s.max_by(f64::total_cmp).context("the probe printed no times")
}

fn check_outage(report: &Value, text: &str) -> Result<Vec<LabFigure>> {
    let longest_s = longest_wait_s(text)?;
    let rate = Value::from(RATE_PER_S);
    let find = |metric| find_result(report, (metric, None), ("requested_rate", &rate));
    let from_due = find("latency_from_intended")?;
    let [maximum_s, mean_s] = [number(from_due, "max")?, number(from_due, "mean")?];
    // The waits of reads that are due in the outage are uniformly distributed from zero to the
    // longest. Their sum over all due reads, if all were served at once in the end, is the area
    // under the backlog (Little 1961).
    let minimum_s = (longest_s - PROBE_INTERVAL_S).max(0.0).powi(2) / 2.0 / MEASURED_S;
    // Reads that are not served before the end have waited for less than the outage.
    let has_ended = longest_s + LATEST_KILL_S < MEASURED_S;
    let service_s = number(find("latency")?, "mean")?;
    Ok(vec![
        LabFigure::new(
            "longest read, from when it was due",
            format!("{longest_s:.1} s, ± {PROBE_INTERVAL_S} s: who asked beside it"),
            format!("{maximum_s:.1} s"),
            Evidence::Number(maximum_s - longest_s, -PROBE_INTERVAL_S..=PROBE_INTERVAL_S)
                .judge(),
        ),
        LabFigure::new(
            "mean from when it was due",
            format!("{minimum_s:.1} s or more, if the backlog were served at once"),
            format!("{mean_s:.1} s"),
            Evidence::Number(mean_s, minimum_s..=maximum_s)
                .judge_despite(Excused::Everything.when(!has_ended)),
        ),
        LabFigure::new(
            "mean from submission, all that a closed loop would tell",
            format!("the {DEPTH} reads in flight alone have waited"),
            format!("{service_s:.2} s"),
            Evidence::Number(service_s, 0.0..=minimum_s).judge(),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::row_names_where;
    use super::*;

    fn guest_output() -> String {
        let row = |metric: &str, host: &str, parameter: &str, figures: &str| {
            let reason =
                r#""engine_reason":{"id":"contest","arguments":{"rates_per_s":[150.0,77.5]}}"#;
            format!(
                r#"{{"metric":"{metric}","host":"{host}",{figures},"parameters":{{{parameter},"engine":"libaio",{reason}}}}}"#
            )
        };
        let (max_point, low, fixed) =
            (r#""point":"max""#, r#""percent_of_max":20.0"#, r#""requested_rate":20.0"#);
        let curves = [
            row("rate", "near", max_point, r#""mean":800.0"#),
            row("rate", "far", max_point, r#""mean":180.0"#),
            row("rate", "all", max_point, r#""mean":980.0"#),
            row("latency", "near", low, r#""median":0.004,"ci":[0.003,0.005],"min":0.002"#),
            row("latency", "far", low, r#""median":0.025,"ci":[0.024,0.026],"min":0.022"#),
        ];
        let killed = [
            row("rate", "n1", fixed, r#""mean":20.0"#),
            row("latency", "n1", fixed, r#""mean":0.1"#),
            row("latency_from_intended", "n1", fixed, r#""mean":3.7,"max":20.2"#),
        ];
        let [curves, killed] =
            [curves.join(","), killed.join(",")].map(|all| format!("{{\"results\":[{all}]}}"));
        let finding = |id: &str, observed: &str| {
            format!(r#"{{"id":"storage.{id}","observed":"{observed}"}}"#)
        };
        let findings = [
            finding("nfs-connections", "/mnt/near nconnect=1; /mnt/far nconnect=4"),
            finding(
                "nfs-call-size",
                "/mnt/near rsize=65536,wsize=65536; /mnt/far rsize=262144,wsize=262144",
            ),
        ];
        let soft = r#"{"results":[],"failures":[{"reason":"3 I/O of a failed: read of 4096 bytes at byte 8192 of /mnt/soft/data-soft: Input/output error; more"}]}"#;
        let factor =
            r#"{"pairs":[{"a":{"metric":"bandwidth","median":5e5},"b":{"median":2e6}}]}"#;
        let written = soft.replace("read of", "write of").replace("data-soft", "new");
        format!(
            "\n== doctor\n{{\"findings\":[{}]}}\n== curves\n{curves}\nexit 0\n== connections\nnear 1\nfar 4\n\
             == nconnect\nexit 0\nnconnect=1: 1\nnconnect=4: 4\n{factor}\n== killed\n{killed}\nexit 0\nasked 10.0 10.1\nasked 10.2 30.2\nasked 30.4 30.5\n\
             == soft\n{soft}\nexit 4\n== written\n{written}\nexit 4\nRemoved 1 file\nfile gone\n\
             == between\nerror: the target /mnt/brief/between cannot be used\n  why: Input/output error\nexit 4\n{{\"results\":[]}}\n",
            findings.join(",")
        )
    }

    #[test]
    fn detects_each_wrong_value() {
        let wrong = |output: &str| row_names_where(judge(output), |holds| holds == Some(false));
        assert_eq!(wrong(&guest_output()), Vec::<String>::new());
        for (from, to, expected) in [
            ("nconnect=4", "nconnect=1", "nconnect by doctor"),
            ("far 4", "far 1", "connections to the server, by the kernel"),
            (
                "nconnect=4: 4",
                "nconnect=4: 1",
                "nconnect as a factor: connections at the end of each level, by the kernel",
            ),
            ("2e6", "5e5", "nconnect as a factor: four connections ÷ one"),
            ("rsize=65536", "rsize=1048576", "sizes of calls by doctor"),
            ("[150.0,77.5]", "[77.5,150.0]", "near: engine"),
            ("\"mean\":980.0", "\"mean\":800.0", "both together: rate"),
            ("\"min\":0.022", "\"min\":0.019", "far at 20 % of its rate: quickest read"),
            ("[0.024,0.026]", "[0.018,0.020]", "median of far beyond that of near"),
            ("\"max\":20.2", "\"max\":5.0", "longest read, from when it was due"),
            ("\"mean\":3.7", "\"mean\":0.2", "mean from when it was due"),
        ] {
            assert!(guest_output().contains(from), "{from}");
            assert_eq!(wrong(&guest_output().replacen(from, to, 1)), [expected], "{from}");
        }
        // An outage that exceeds the measured time leaves the mean undecided.
        let long = guest_output().replace("asked 10.2 30.2", "asked 10.2 60.2");
        let long = long.replace("\"max\":20.2", "\"max\":50.0");
        let undecided =
            judge(&long).unwrap().into_iter().filter(|it| it.is_correct().is_none());
        assert_eq!(
            undecided.map(|it| it.name).collect::<Vec<_>>(),
            ["mean from when it was due"]
        );
        let ended = guest_output().replacen("exit 0\nasked", "exit 4\nasked", 1);
        assert_eq!(wrong(&ended), ["a server that is killed and comes back: exit code"]);
        let gives_up = "a mount that gives up (soft)";
        for (from, to, expected) in [
            (
                "Input/output error",
                "Interrupted system call",
                ": reads while the server is away",
            ),
            ("byte 8192", "byte ?", ": reads while the server is away"),
            ("\"results\":[],", "\"results\":[1],", ": reads while the server is away"),
            ("exit 4", "exit 0", ", reads: exit code"),
            ("byte 8192 of /mnt/soft/new", "byte ?", ": writes while the server is away"),
        ] {
            assert!(guest_output().contains(from), "{from}");
            assert_eq!(
                wrong(&guest_output().replacen(from, to, 1)),
                [[gives_up, expected].concat()]
            );
        }
        let stays = guest_output().replace("file gone", "file stays");
        assert_eq!(wrong(&stays), ["the file of the failed writes, once the server is back"]);
        for (from, to) in [
            ("error\nexit 4\n{\"results\":[]}", "error\nexit 0\n{\"results\":[]}"),
            ("exit 4\n{\"results\":[]}", "exit 4\n{\"results\":[1]}"),
            ("between cannot be used", "between was replaced"),
        ] {
            assert!(guest_output().contains(from), "{from}");
            let opened = "a server that goes away between opening and writing (soft)";
            assert_eq!(wrong(&guest_output().replacen(from, to, 1)), [opened], "{from}");
        }
        let too_fast = guest_output().replace("\"mean\":180.0", "\"mean\":220.0");
        assert_eq!(
            wrong(&too_fast.replace("\"mean\":980.0", "\"mean\":1020.0")),
            ["far with 4 in flight: rate"]
        );
    }
}
