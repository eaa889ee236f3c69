//! Scenario `network`: a veth pair between two namespaces with known delay, loss and reordering,
//! and two MTUs.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section, parse_document,
};
use crate::judge::{Evidence, Excused};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "network",
    title: "Delay, loss, order and MTU of a link (netem)",
    description: "A veth pair between two network namespaces. `netem` delays every packet by 1 ms or 10 ms each way: \
            a round trip has both delays, a connection takes one round trip, and two with its request. It loses 0.1 % of the packets one way, and counts them itself: what \
            it has dropped is what has to be reported, and the interval has to hold it. It lets every 100th \
            packet overtake all that wait 20 ms, which are one or, where the guest stalls and sends in bursts, several: \
            what is late by RFC 4737 is counted in what `tcpdump` has seen arrive.",
    runner: ScenarioRunner::Guest(GuestMachine::PLAIN, SCRIPT),
    cpu_use: CpuUse::Waiting,
    deadline: Duration::from_secs(300),
    judge,
};

const SCRIPT: &str = include_str!("../scripts/network.sh");

/// Maximum delay beyond netem's, caused by the kernel's timer and the guest.
const MAX_EXTRA_MS: f64 = 2.0;

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut figures = Vec::new();
    for delay_ms in [1.0, 10.0] {
        figures.push(check_delay(
            delay_ms,
            output_section(output, &format!("delay {delay_ms}"))?,
        )?);
    }
    figures.extend(check_connections(output_section(output, "connections")?)?);
    figures.push(check_loss(output_section(output, "loss")?)?);
    figures.extend(check_order(output_section(output, "order")?)?);
    for mtu in [1500, 9000] {
        let (_, rest) = output.split_once(&format!("\n== mtu {mtu}\n")).context("no MTU")?;
        figures.extend(check_mtu(mtu, rest)?);
    }
    Ok(figures)
}

/// Checks the minimum round trip: netem never delays a packet by less than configured.
fn check_delay(one_way_ms: f64, text: &str) -> Result<LabFigure> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("rtt min/avg/max/mdev = "))
        .context("no round trips in the output")?;
    let minimum_ms: f64 = line.split('/').next().unwrap_or_default().parse()?;
    let delay_ms = 2.0 * one_way_ms;
    Ok(LabFigure::new(
        format!("minimum round trip, {one_way_ms} ms each way"),
        format!("{delay_ms} ms, and at most {MAX_EXTRA_MS} ms beyond"),
        format!("{minimum_ms} ms"),
        Evidence::Number(minimum_ms, delay_ms..=delay_ms + MAX_EXTRA_MS).judge(),
    ))
}

/// Checks that a connection takes one round trip, a transaction two, and that the far kernel has
/// accepted as many connections as reported, beside the control connection of each repetition.
fn check_connections(text: &str) -> Result<[LabFigure; 3]> {
    const ROUND_TRIP_MS: f64 = 20.0;
    let report = parse_document(text)?;
    let results = report["results"].as_array().context("there are no results")?;
    let find = |metric: &str| {
        let result = results.iter().find(|result| result["metric"] == metric);
        result.with_context(|| format!("there is no {metric}"))
    };
    let check_minimum = |metric: &str, round_trips: f64| -> Result<LabFigure> {
        let minimum_s = find(metric)?["min"].as_f64().context("no minimum")?;
        let (minimum_ms, delay_ms) = (minimum_s * 1e3, round_trips * ROUND_TRIP_MS);
        // Few connections on a busy machine; another round trip would be twice as much.
        let most_ms = delay_ms + ROUND_TRIP_MS / 2.0;
        Ok(LabFigure::new(
            format!("minimum of {metric}, {ROUND_TRIP_MS} ms of round trip"),
            format!("{delay_ms} ms, and at most {most_ms} ms"),
            format!("{minimum_ms:.3} ms"),
            Evidence::Number(minimum_ms, delay_ms..=most_ms).judge(),
        ))
    };
    let rate = find("connection_rate")?;
    let number = |value: &Value| value.as_u64().context("a count is missing");
    let (reported, control) = (number(&rate["parameters"]["messages"])?, number(&rate["n"])?);
    let accepted = text.lines().find_map(|line| line.strip_prefix("accepted "));
    let accepted: u64 = accepted.context("the kernel's count is missing")?.parse()?;
    let truth = accepted.saturating_sub(control);
    Ok([
        check_minimum("connect_time", 1.0)?,
        check_minimum("transaction_time", 2.0)?,
        LabFigure::exact("connections", &truth.to_string(), reported.to_string()),
    ])
}

/// Fraction of the datagrams, as a count, with its interval.
struct DatagramShare {
    count: f64,
    total: f64,
    interval: Option<(f64, f64)>,
}

fn datagram_share(report: &Value, metric: &str) -> Result<DatagramShare> {
    let results = report["results"].as_array().context("there are no results")?;
    let result = results.iter().find(|result| result["metric"] == metric);
    let result = result.with_context(|| format!("there is no {metric}"))?;
    let number =
        |value: &Value| value.as_f64().with_context(|| format!("{metric} is not a number"));
    let total = number(&result["n"])?;
    let interval = result["ci"][0].as_f64().zip(result["ci"][1].as_f64());
    Ok(DatagramShare { count: (number(&result["median"])? * total).round(), total, interval })
}

/// Checks the lost datagrams against those that netem and a full socket buffer dropped; one packet
/// may belong to the control connection.
fn check_loss(text: &str) -> Result<LabFigure> {
    let lost = datagram_share(&parse_document(text)?, "loss")?;
    let dropped = text.split_once("(dropped ").and_then(|(_, rest)| rest.split_once(','));
    let dropped: f64 = dropped.context("netem's counts are missing")?.0.parse()?;
    // Columns of Udp: received, to no port, errors, sent, errors of the receiving buffer.
    let line = text.lines().find_map(|line| line.strip_prefix("Udp: "));
    let overflows = line.and_then(|line| line.split(' ').nth(4)).context("no errors of UDP")?;
    let truth = dropped + overflows.parse::<f64>()?;
    let contains_truth =
        lost.interval.is_some_and(|(low, high)| (low..=high).contains(&(truth / lost.total)));
    let interval = lost.interval.map_or("no interval".to_owned(), |(low, high)| {
        format!("{:.3} to {:.3} %", low * 100.0, high * 100.0)
    });
    Ok(LabFigure::condition(
        "datagrams lost, 0.1 % asked of netem",
        format!("{truth} dropped, ± 1, inside the interval"),
        format!("{} of {}, {interval}", lost.count, lost.total),
        (lost.count - truth).abs() <= 1.0 && contains_truth && truth > 0.0,
    ))
}

/// Checks the reordered datagrams against tcpdump's capture. A packet is late if it arrives after
/// one with a higher number (RFC 4737, 3.3). Undecided if the capture is incomplete.
fn check_order(text: &str) -> Result<[LabFigure; 2]> {
    let report = parse_document(text)?;
    let [reordered, lost] =
        [datagram_share(&report, "reordered")?, datagram_share(&report, "loss")?];
    let numbers = text.lines().filter_map(|line| line.strip_prefix("number "));
    let numbers: Vec<u64> =
        numbers.map(|number| u64::from_str_radix(number, 16)).collect::<Result<_, _>>()?;
    // Datagrams in flight at the end of the test arrive later and are not counted.
    let counted = numbers.get(..(reordered.total - lost.count) as usize);
    let truth = counted.map(count_out_of_order);
    Ok([
        LabFigure::new(
            "datagrams out of order, every 100th overtakes",
            match truth {
                Some(truth) => format!("{truth} of {}", reordered.total),
                None => format!("tcpdump captured {} of {}", numbers.len(), reordered.total),
            },
            format!("{} of {}", reordered.count, reordered.total),
            Evidence::Condition(truth == Some(reordered.count as usize)).judge_despite(
                Excused::Everything.when(truth.is_none_or(|number| number == 0)),
            ),
        ),
        LabFigure::exact("datagrams lost where some are late", "0", lost.count.to_string()),
    ])
}

fn count_out_of_order(numbers: &[u64]) -> usize {
    let highest = numbers.iter().scan(0, |highest, number| {
        *highest = (*highest).max(*number);
        Some(*highest)
    });
    numbers.iter().zip(highest).filter(|(number, highest)| *number < highest).count()
}

/// Checks the segment size, the MTU less 20 bytes of IP, 20 of TCP and 12 of timestamps, and the
/// path MTU.
fn check_mtu(mtu: u32, text: &str) -> Result<[LabFigure; 2]> {
    let segment = &parse_document(text)?["start"]["tcp_mss_default"];
    let doctor = parse_document(text.split_once("\n== path\n").context("no doctor")?.1)?;
    let findings = doctor["findings"].as_array().context("there are no findings")?;
    let path = findings.iter().find(|finding| finding["id"] == "network.path-mtu");
    let path = path.and_then(|finding| finding["observed"].as_str()).context("no path MTU")?;
    Ok([
        LabFigure::exact(
            &format!("bytes of a segment, MTU {mtu}"),
            &(mtu - 52).to_string(),
            segment.to_string(),
        ),
        LabFigure::exact(
            &format!("path MTU, MTU {mtu}"),
            &format!("{mtu} B gets through"),
            path.to_owned(),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of the guest for a link.
    fn guest_output(
        minimum_ms: [f64; 2],
        connect_ms: f64,
        lost: u32,
        late: u32,
        segment: u32,
    ) -> String {
        let delays = [1, 10].into_iter().zip(minimum_ms).map(|(delay, minimum)| {
            format!("\n== delay {delay}\nrtt min/avg/max/mdev = {minimum}/30/31/0.1 ms\n")
        });
        // Two repetitions, each with a control connection.
        let connections = format!(
            r#"
== connections
{{"results":[{{"metric":"connection_rate","n":2,"parameters":{{"messages":50}}}},
{{"metric":"connect_time","min":{}}},{{"metric":"transaction_time","min":0.0402}}]}}
accepted 52
"#,
            connect_ms / 1e3
        );
        let counted = |name: &str, lost: u32, of: u32, late: u32| {
            let row = |metric: &str, count: u32| {
                let share = f64::from(count) / f64::from(of);
                format!(
                    r#"{{"metric":"{metric}","median":{share},"n":{of},"ci":[{},{}]}}"#,
                    share * 0.7,
                    share * 1.3
                )
            };
            format!(
                "\n== {name}\n{{\"results\":[{},{}]}}\nqdisc netem 1: root Sent 1 bytes 2 pkt (dropped 58, overlimits 0)\nUdp: 59940 0 2 3 2 0 0 0 0\n",
                row("loss", lost),
                row("reordered", late)
            )
        };
        let paths = [1500, 9000].map(|mtu| {
            format!(
                "\n== mtu {mtu}\n{{\"start\":{{\"tcp_mss_default\":{}}}}}\n== path\n{{\"findings\":[{{\"id\":\"network.path-mtu\",\"observed\":\"{mtu} B gets through\"}}]}}\n",
                if mtu == 1500 { segment } else { 8948 }
            )
        });
        // The last of every hundred but one overtakes the one before it: twenty are late.
        let seen = (0..2100_u32).map(|at| match at % 100 {
            98 if at < 2000 => at + 1,
            99 if at < 2000 => at - 1,
            _ => at,
        });
        let seen: String = seen.map(|at| format!("number {:016x}\n", at + 1)).collect();
        let order = [counted("order", 0, 2100, late), seen].concat();
        let loss = counted("loss", lost, 60_000, 0);
        delays.chain([connections, loss, order]).chain(paths).collect()
    }

    #[test]
    fn detects_each_wrong_value() {
        for (minimum_ms, connect_ms, lost, late, segment, wrong) in [
            ([2.1, 20.6], 20.1, 60, 20, 1448, 0),
            ([1.9, 20.6], 20.1, 60, 20, 1448, 1),
            ([2.1, 22.1], 20.1, 60, 20, 1448, 1),
            ([2.1, 20.6], 19.9, 60, 20, 1448, 1),
            ([2.1, 20.6], 30.1, 60, 20, 1448, 1),
            ([2.1, 20.6], 20.1, 58, 20, 1448, 1),
            ([2.1, 20.6], 20.1, 60, 21, 1448, 1),
            ([2.1, 20.6], 20.1, 60, 0, 1448, 1),
            ([2.1, 20.6], 20.1, 60, 20, 1460, 1),
        ] {
            let output = guest_output(minimum_ms, connect_ms, lost, late, segment);
            let figures = judge(&output).unwrap();
            let count = figures.iter().filter(|it| it.is_correct() == Some(false)).count();
            assert_eq!(count, wrong, "{figures:?}");
        }
        let honest = guest_output([2.1, 20.6], 20.1, 60, 20, 1448);
        let partly = honest.replace("number 0000000000000007\n", "");
        assert!(judge(&partly).unwrap().iter().any(|it| it.is_correct().is_none()));
        let fewer = judge(&honest.replace("accepted 52", "accepted 51")).unwrap();
        assert_eq!(fewer.iter().filter(|it| it.is_correct() == Some(false)).count(), 1);
        assert!(judge("x\n== delay 1\nnothing\n").is_err());
    }
}
