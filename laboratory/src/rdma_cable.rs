//! Scenario `rdma-cable`: software RoCE over a link of known delay, rate and loss, compared with
//! perftest.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Context, Result};
use assay_adapters::perftest_text::{PerftestColumn, parse_rows};

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section, split_sections,
};
use crate::judge::{Evidence, Excused};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "rdma-cable",
    title: "RDMA over a cable of known delay, rate and loss (netem)",
    description: "A device of software RoCE at each end of a veth pair, each program at its own. `netem` delays every packet by \
            40 ms each way: half of a round trip is 40 ms, and a read 80 ms, in perftest's `t_typical` as in assay's. Where \
            reads wait for each other, no more than those under way (`-o`) are answered in 80 ms. Then each direction carries \
            4 Mbit/s: one way no more than that, both ways twice as much. Then a direction carries nothing any more: a packet \
            is lost after 4.096 µs × 2ᴺ (`-u N`), seven times in a row, and a second more is waited for the other end's \
            reason. `tcpdump` sees the traffic class of either end.",
    runner: ScenarioRunner::Guest(GuestMachine::PLAIN, SCRIPT),
    cpu_use: CpuUse::Waiting,
    deadline: Duration::from_secs(600),
    judge,
};

const SCRIPT: &str = include_str!("../scripts/rdma_cable.sh");

/// netem's delay in each direction.
const DELAY_S: f64 = 0.040;
/// netem's rate in each direction, in B/s.
const RATE: f64 = 0.5e6;
/// Payload share of the rate: each packet of 1024 B has headers.
const PAYLOAD_SHARE: f64 = 1024.0 / (1024.0 + 58.0);
/// Maximum ratio of a measured time to its expected time: above a stalling guest, below an error of
/// half a round trip.
const MAX_TIME_RATIO: f64 = 1.5;
/// Minimum share of the maximum rate; with both directions, it exceeds the rate of one direction.
const MIN_RATE_RATIO: f64 = 0.55;

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut figures = Vec::new();
    for (test, round_trips) in [
        ("send-lat -u 18 -n 10", 0.5),
        ("write-lat -u 18 -n 10", 0.5),
        ("read-lat -u 18 -n 10", 1.0),
        ("atomic-lat -u 18 -n 10", 1.0),
        ("send-lat -c UD -n 10", 0.5),
    ] {
        figures.push(check_delay(output, test, 2.0 * DELAY_S * round_trips)?);
    }
    for (outstanding_reads, test) in [
        (1.0, "read-bw -u 18 -s 64 -t 16 -n 20 -o 1"),
        (8.0, "read-bw -u 18 -s 64 -t 16 -n 80 -o 8"),
    ] {
        let maximum_per_s = outstanding_reads / (2.0 * DELAY_S);
        let rate_per_s =
            largest_value(output, &format!("assay {test}"), PerftestColumn::MessageRate)?;
        figures.push(LabFigure::new(
            format!("reads under way, {outstanding_reads}: rate"),
            format!("{maximum_per_s:.0} per second: {outstanding_reads} in 80 ms"),
            format!("{rate_per_s:.0} per second"),
            Evidence::Number(rate_per_s, plausible_rates(maximum_per_s)).judge(),
        ));
    }
    for (test, directions) in [
        ("write-bw -u 18 -s 4096 -t 4 -n 100", 1.0),
        ("write-bw -u 18 -s 4096 -t 4 -n 100 -b", 2.0),
        ("send-bw -u 18 -s 4096 -t 4 -n 100 -b", 2.0),
    ] {
        figures.push(check_rate(output, test, directions)?);
    }
    figures.push(check_iterations(
        output,
        ("send-lat -u 18 -D 4 -f 1", 25.0, "round trips of 80 ms"),
    )?);
    let maximum_messages = RATE * PAYLOAD_SHARE / 4096.0 * 2.0;
    figures.push(check_iterations(
        output,
        (
            "write-bw -u 18 -s 4096 -t 4 -D 4 -f 1",
            maximum_messages,
            "messages of 4 KiB at 4 Mbit/s",
        ),
    )?);
    figures.push(check_traffic_classes(output)?);
    for timeout in [14, 18] {
        figures.push(check_retry_timeout(output, timeout)?);
    }
    Ok(figures)
}

/// Returns the first value of a column in a section's table; the largest if there are several
/// sections of this name.
fn largest_value(output: &str, name: &str, column: PerftestColumn) -> Result<f64> {
    let matching =
        split_sections(output).into_iter().filter(|(section_name, _)| *section_name == name);
    let values =
        matching.filter_map(|(_, text)| parse_rows(text).ok()?.first()?.get(&column).copied());
    values.reduce(f64::max).with_context(|| format!("{name} has no {column:?}"))
}

/// Checks the typical times of assay and perftest: netem never delays a packet by less than
/// configured.
fn check_delay(output: &str, test: &str, delay_s: f64) -> Result<LabFigure> {
    let times_s = ["assay", "perftest"].map(|program| {
        largest_value(output, &format!("{program} {test}"), PerftestColumn::Typical)
    });
    let [assay_s, perftest_s] = times_s;
    let (assay_s, perftest_s) = (assay_s?, perftest_s?);
    let limits_s = delay_s..=delay_s * MAX_TIME_RATIO;
    Ok(LabFigure {
        name: format!("{test}: typical"),
        truth: format!("{:.0} ms; {:.1} ms by perftest", delay_s * 1e3, perftest_s * 1e3),
        reported: format!("{:.1} ms", assay_s * 1e3),
        // If perftest's time is wrong too, the guest was disturbed: only a time below the delay is
        // an error of assay.
        verdict: Evidence::Number(assay_s, limits_s.clone())
            .judge_despite(Excused::NotTooLow.when(!limits_s.contains(&perftest_s))),
    })
}

/// Returns the plausible rates for a maximum; perftest's columns round to whole messages per second
/// and to 0.01 MiB/s.
fn plausible_rates(maximum: f64) -> RangeInclusive<f64> {
    maximum * MIN_RATE_RATIO..=maximum * 1.01 + 0.5
}

/// Checks the iterations counted in the 2 s between the margins. Iterations in flight at a margin
/// may be counted or not; a guest that stalls completes fewer.
fn check_iterations(
    output: &str,
    (test, maximum, unit): (&str, f64, &str),
) -> Result<LabFigure> {
    let [assay_count, perftest_count] = ["assay", "perftest"].map(|program| {
        largest_value(output, &format!("{program} {test}"), PerftestColumn::Iterations)
    });
    let (assay_count, perftest_count) = (assay_count?, perftest_count?);
    let minimum = maximum * MIN_RATE_RATIO;
    Ok(LabFigure {
        name: format!("{test}: counted"),
        truth: format!("{maximum:.0} at most, {unit} in 2 s; {perftest_count:.0} by perftest"),
        reported: format!("{assay_count:.0}"),
        // If perftest completes too few as well, the guest was disturbed: only too many are wrong.
        verdict: Evidence::Number(assay_count, minimum..=maximum * 1.2 + 1.0)
            .judge_despite(Excused::TooLow.when(perftest_count < minimum)),
    })
}

/// Checks the rate. A guest that stalls slows down both programs: a low rate is wrong only if
/// perftest's is not low.
fn check_rate(output: &str, test: &str, directions: f64) -> Result<LabFigure> {
    let rate = largest_value(output, &format!("assay {test}"), PerftestColumn::Rate)?;
    let maximum = directions * RATE * PAYLOAD_SHARE;
    let perftest_section = "perftest write-bw -u 18 -s 4096 -t 4 -n 100 -b -Q 1";
    let perftest_rate = if directions > 1.0 {
        Some(largest_value(output, perftest_section, PerftestColumn::Rate)?)
    } else {
        None
    };
    let comparison = perftest_rate
        .map_or(String::new(), |rate| format!("; {:.2} MB/s by ib_write_bw", rate * 1e-6));
    let is_disturbed = perftest_rate.is_some_and(|rate| rate < maximum * MIN_RATE_RATIO);
    Ok(LabFigure::new(
        format!("{test}: rate"),
        format!("{:.2} MB/s at most{comparison}", maximum * 1e-6),
        format!("{:.2} MB/s", rate * 1e-6),
        Evidence::Number(rate, plausible_rates(maximum))
            .judge_despite(Excused::TooLow.when(is_disturbed)),
    ))
}

/// Checks the traffic class in the packets of each end. The service level is only stored: RoCE
/// packets do not contain it.
fn check_traffic_classes(output: &str) -> Result<LabFigure> {
    let words = output_section(output, "seen")?.split_whitespace();
    let captured: Vec<&str> = words.filter(|word| word.contains(['.', 'x'])).collect();
    let captured = captured.join(" ");
    let is_stored =
        output_section(output, "options")?.contains("service-level=3 traffic-class=104");
    let storage = if is_stored { "stored" } else { "not stored" };
    let truth = "10.0.0.1 0x68 10.0.0.2 0x20; service level 3 is stored";
    Ok(LabFigure::exact(
        "traffic class of either end, by tcpdump",
        truth,
        format!("{captured}; service level 3 is {storage}"),
    ))
}

/// Checks the time until a test is aborted: the first try and six retries time out, then it waits
/// for the other end's reason.
fn check_retry_timeout(output: &str, timeout: u32) -> Result<LabFigure> {
    let text = output_section(output, &format!("silence {timeout}"))?;
    let hundredths = text.lines().find_map(|line| line.strip_prefix("gave up after "));
    let elapsed_s = hundredths.context("no end gave up")?.trim().parse::<f64>()? / 100.0;
    let minimum_s = 7.0 * 4.096e-6 * 2_f64.powi(timeout.cast_signed());
    let maximum_s = minimum_s + 4.0;
    let is_explained =
        text.contains("transport retry counter exceeded") && text.contains("exit 4");
    let missing_reason = if is_explained { "" } else { ", and no reason" };
    Ok(LabFigure::condition(
        format!("-u {timeout}: given up"),
        format!("after {minimum_s:.1} to {maximum_s:.1} s, with the reason, exit code 4"),
        format!("after {elapsed_s:.1} s{missing_reason}"),
        (minimum_s..=maximum_s).contains(&elapsed_s) && is_explained,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::row_names_where;
    use super::*;

    /// Output of a guest with correct results.
    fn guest_output() -> String {
        let time = |name: &str, ms: f64| {
            let us = ms * 1e3;
            format!(
                "\n== {name}\n #bytes #iterations    t_typical[usec]    t_avg[usec]\n 2 20 {us} {us}\n---\n"
            )
        };
        let rate = |name: &str, bytes: f64, per_s: f64| {
            let mebi = per_s * bytes / 1_048_576.0;
            let millions = per_s * 1e-6;
            format!(
                "\n== {name}\n #bytes #iterations BW peak[MiB/sec] BW average[MiB/sec] MsgRate[Mpps]\n \
                 {bytes} 100 0.00 {mebi:.6} {millions:.6}\n---\n"
            )
        };
        let times = [("send", 41.0), ("write", 41.5), ("read", 81.0), ("atomic", 81.5)];
        let times = times.into_iter().flat_map(|(test, ms)| {
            ["assay", "perftest"]
                .map(|program| time(&format!("{program} {test}-lat -u 18 -n 10"), ms))
        });
        let size_options = "-bw -u 18 -s 4096 -t 4 -n 100";
        let timed_test = "write-bw -u 18 -s 4096 -t 4 -D 4 -f 1";
        times
            .chain(["assay", "perftest"].map(|program| time(&format!("{program} send-lat -c UD -n 10"), 42.0)))
            .chain([
                rate("assay read-bw -u 18 -s 64 -t 16 -n 20 -o 1", 64.0, 12.0),
                rate("assay read-bw -u 18 -s 64 -t 16 -n 80 -o 8", 64.0, 95.0),
                rate(&format!("assay write{size_options}"), 4096.0, 112.0),
                rate(&format!("assay write{size_options} -b"), 4096.0, 220.0),
                rate("perftest write-bw -u 18 -s 4096 -t 4 -n 100 -b -Q 1", 4096.0, 221.0),
                rate(&format!("assay send{size_options} -b"), 4096.0, 222.0),
                time("assay send-lat -u 18 -D 4 -f 1", 41.0).replace(" 2 20 ", " 2 24 "),
                time("perftest send-lat -u 18 -D 4 -f 1", 42.0).replace(" 2 20 ", " 2 24 "),
                rate(&format!("assay {timed_test}"), 4096.0, 113.0).replace(" 100 ", " 225 "),
                rate(&format!("perftest {timed_test}"), 4096.0, 114.0).replace(" 100 ", " 226 "),
                "\n== options\n,service-level=3 traffic-class=104,\n".to_owned(),
                "\n== seen\n     61 10.0.0.1 tos 0x68\n     62 10.0.0.2 tos 0x20\n".to_owned(),
            ])
            .chain([("14", 150), ("18", 860)].map(|(timeout, hundredths)| {
                format!(
                    "\n== silence {timeout}\ngave up after {hundredths}\ntransport retry counter exceeded\nexit 4\n"
                )
            }))
            .collect()
    }

    #[test]
    fn detects_wrong_round_trips_and_directions() {
        let good = guest_output();
        let not_correct =
            |output: &str| row_names_where(judge(output), |holds| holds != Some(true));
        let wrong = |output: &str| row_names_where(judge(output), |holds| holds == Some(false));
        assert_eq!(not_correct(&good), Vec::<String>::new());
        for (from, to, expected) in [
            ("2 20 41000 41000", "2 20 82000 82000", "send-lat -u 18 -n 10: typical"),
            ("2 20 41000 41000", "2 20 20500 20500", "send-lat -u 18 -n 10: typical"),
            ("2 20 81000 81000", "2 20 40500 40500", "read-lat -u 18 -n 10: typical"),
            ("0.000732 0.000012", "0.000061 0.000001", "reads under way, 1: rate"),
            ("0.005798 0.000095", "0.000732 0.000012", "reads under way, 8: rate"),
        ] {
            assert!(good.contains(from), "{from}");
            let damaged = good.replacen(from, to, 1);
            assert_eq!(wrong(&damaged), [expected], "{from} {to}");
        }
        let half = rate_of(220.0);
        assert!(good.contains(&half), "{half}");
        let one_way = good.replacen(&half, &rate_of(112.0), 1);
        assert_eq!(wrong(&one_way), ["write-bw -u 18 -s 4096 -t 4 -n 100 -b: rate"]);
        let twice = good.replacen(&rate_of(112.0), &rate_of(220.0), 1);
        assert_eq!(wrong(&twice), ["write-bw -u 18 -s 4096 -t 4 -n 100: rate"]);
        // perftest was disturbed as well.
        let disturbed = good.replace("2 20 41000 41000", "2 20 82000 82000");
        assert_eq!(wrong(&disturbed), Vec::<String>::new());
        assert_eq!(not_correct(&disturbed), ["send-lat -u 18 -n 10: typical"]);
    }

    fn rate_of(per_s: f64) -> String {
        format!("{:.6} {:.6}", per_s * 4096.0 / 1_048_576.0, per_s * 1e-6)
    }

    #[test]
    fn detects_wrong_duration() {
        let good = guest_output();
        for (assay_count, perftest_count, expected) in [
            (24, 24, Some(true)),
            (50, 24, Some(false)),
            (50, 3, Some(false)),
            (3, 24, Some(false)),
            (3, 3, None),
        ] {
            let output = good.replacen(" 2 24 ", &format!(" 2 {assay_count} "), 1);
            let output = output.replacen(" 2 24 ", &format!(" 2 {perftest_count} "), 1);
            let figures = judge(&output).unwrap();
            let figure =
                figures.iter().find(|figure| figure.name.starts_with("send-lat -u 18 -D 4"));
            assert_eq!(
                figure.and_then(|figure| figure.is_correct()),
                expected,
                "{assay_count} {perftest_count}"
            );
        }
    }

    #[test]
    fn detects_ignored_options() {
        let good = guest_output();
        for (from, to, expected) in [
            ("tos 0x68", "tos 0x0", "traffic class of either end, by tcpdump"),
            ("tos 0x20", "tos 0x68", "traffic class of either end, by tcpdump"),
            ("service-level=3", "", "traffic class of either end, by tcpdump"),
            ("after 860", "after 150", "-u 18: given up"),
            ("after 150", "after 860", "-u 14: given up"),
            ("exit 4", "exit 0", "-u 14: given up"),
        ] {
            let damaged = good.replacen(from, to, 1);
            assert_eq!(
                row_names_where(judge(&damaged), |holds| holds == Some(false)),
                [expected],
                "{from}"
            );
        }
    }
}
