//! Scenario `rdma-cable`: software RoCE over a link of known delay, rate and loss, compared with
//! perftest.

use std::time::Duration;

use anyhow::{Context, Result};
use assay_adapters::perftest_text::{PerftestColumn, parse_rows};

use super::rdma::{soft_roce, veth_pair};
use super::{CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, section, sections};

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

const SCRIPT: &str = concat!(
    veth_pair!(),
    soft_roce!(),
    "\
modprobe sch_netem
# Both ends are this kernel's: that one may hear the other has to be allowed.
for conf in all veth0 veth1; do
  echo 1 > /proc/sys/net/ipv4/conf/$conf/accept_local
  echo 0 > /proc/sys/net/ipv4/conf/$conf/rp_filter
done
ip addr add 10.0.0.2/24 dev veth1
rdma link add rxe1 type rxe netdev veth1
has_gid rxe0 ffff:0a00:0001
has_gid rxe1 ffff:0a00:0002
grep -qs ^root: /etc/passwd || echo 'root:x:0:0::/root:/bin/sh' >> /etc/passwd
# netem's words for both directions
cable() {
  for end in veth0 veth1; do tc qdisc replace dev $end root netem \"$@\"; done
}
# test, its options at either end
assay() {
  echo \"== assay $*\"
  timeout 100 /lab/assay rdma \"$@\" $far_options -d rxe1 -x 1 > /tmp/far 2>&1 & far=$!
  listens
  timeout 100 /lab/assay rdma \"$@\" $near_options -d rxe0 -x 1 127.0.0.1 --store /tmp/store || cat /tmp/far
  wait $far
}
perftest() {
  echo \"== perftest $*\"
  program=ib_$(echo $1 | tr - _); shift
  timeout 100 $program -F -d rxe1 -x 1 \"$@\" > /tmp/far 2>&1 & far=$!
  listens
  timeout 100 $program -F -d rxe0 -x 1 \"$@\" 127.0.0.1 || cat /tmp/far
  wait $far
}
cable delay 40ms
for test in send-lat write-lat read-lat atomic-lat; do
  assay $test -u 18 -n 10
  perftest $test -u 18 -n 10
done
assay send-lat -c UD -n 10
perftest send-lat -c UD -n 10
for program in assay perftest; do $program send-lat -u 18 -D 4 -f 1; done
assay read-bw -u 18 -s 64 -t 16 -n 20 -o 1
assay read-bw -u 18 -s 64 -t 16 -n 80 -o 8
tcpdump -n -v -Z root -i veth1 'udp port 4791' > /tmp/seen 2> /tmp/tcpdump &
watcher=$!
sleep 2
near_options='-S 3 --tclass 104' far_options='-S 5 --tclass 32'
assay send-lat -n 5
near_options= far_options=
echo '== options'
/lab/assay show latest --format csv --store /tmp/store
sleep 1
kill $watcher
wait $watcher || cat /tmp/tcpdump
echo '== seen'
tr -d '\\n' < /tmp/seen | sed 's/IP (/\\n(/g' | sed -n 's/^(\\(tos [^,]*\\),.*    \\(10[.]0[.]0[.][12]\\)[.].*/\\2 \\1/p' | sort | uniq -c
cable rate 4mbit
assay write-bw -u 18 -s 4096 -t 4 -n 100
perftest write-bw -u 18 -s 4096 -t 4 -n 100 -b -Q 1
for round in 1 2; do
  assay write-bw -u 18 -s 4096 -t 4 -n 100 -b
  assay send-bw -u 18 -s 4096 -t 4 -n 100 -b
done
for program in assay perftest; do $program write-bw -u 18 -s 4096 -t 4 -D 4 -f 1; done
for end in veth0 veth1; do tc qdisc del dev $end root; done
hundredths() { cut -d' ' -f1 /proc/uptime | tr -d .; }
silence() {
  echo \"== silence $1\"
  timeout 100 /lab/assay rdma read-lat -d rxe1 -u $1 > /tmp/far 2>&1 & far=$!
  listens
  timeout 100 /lab/assay rdma read-lat -d rxe0 -u $1 -n 10000000 127.0.0.1 --no-store > /tmp/near 2>&1 & near=$!
  until grep -q '#bytes' /tmp/near || ! kill -0 $near; do sleep 0.2; done
  sleep 1
  tc qdisc replace dev veth0 root netem loss 100%
  from=$(hundredths)
  code=0
  wait $near || code=$?
  echo \"gave up after $(($(hundredths) - from))\"
  cat /tmp/near
  echo \"exit $code\"
  tc qdisc del dev veth0 root
  wait $far || true
}
silence 14
silence 18
",
);

/// netem's delay in each direction.
const DELAY_S: f64 = 0.040;
/// netem's rate in each direction, in B/s.
const RATE: f64 = 0.5e6;
/// Payload share of the rate: each packet of 1024 B has headers.
const PAYLOAD_SHARE: f64 = 1024.0 / (1024.0 + 58.0);
/// Maximum ratio of a time to its truth: a guest that stalls stays below it, and an error of half a
/// round trip does not.
const MAX_TIME_RATIO: f64 = 1.5;
/// Minimum share of the maximum rate; for both directions, more than one direction can carry.
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
    for (reads, test) in [
        (1.0, "read-bw -u 18 -s 64 -t 16 -n 20 -o 1"),
        (8.0, "read-bw -u 18 -s 64 -t 16 -n 80 -o 8"),
    ] {
        let most = reads / (2.0 * DELAY_S);
        let found =
            largest_value(output, &format!("assay {test}"), PerftestColumn::MessageRate)?;
        figures.push(LabFigure {
            name: format!("reads under way, {reads}: rate"),
            truth: format!("{most:.0} per second: {reads} in 80 ms"),
            reported: format!("{found:.0} per second"),
            is_correct: Some(is_plausible_rate(found, most)),
        });
    }
    for (test, ends) in [
        ("write-bw -u 18 -s 4096 -t 4 -n 100", 1.0),
        ("write-bw -u 18 -s 4096 -t 4 -n 100 -b", 2.0),
        ("send-bw -u 18 -s 4096 -t 4 -n 100 -b", 2.0),
    ] {
        figures.push(check_rate(output, test, ends)?);
    }
    figures.push(check_iterations(
        output,
        ("send-lat -u 18 -D 4 -f 1", 25.0, "round trips of 80 ms"),
    )?);
    let written = RATE * PAYLOAD_SHARE / 4096.0 * 2.0;
    figures.push(check_iterations(
        output,
        ("write-bw -u 18 -s 4096 -t 4 -D 4 -f 1", written, "messages of 4 KiB at 4 Mbit/s"),
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
    let matching = sections(output).into_iter().filter(|(it, _)| *it == name);
    let found =
        matching.filter_map(|(_, text)| parse_rows(text).ok()?.first()?.get(&column).copied());
    found.reduce(f64::max).with_context(|| format!("{name} has no {column:?}"))
}

/// Checks a typical time: netem delays no packet less than configured, for assay and perftest.
fn check_delay(output: &str, test: &str, delay_s: f64) -> Result<LabFigure> {
    let times = ["assay", "perftest"]
        .map(|by| largest_value(output, &format!("{by} {test}"), PerftestColumn::Typical));
    let [own, theirs] = times;
    let (own, theirs) = (own?, theirs?);
    let is_plausible = |time_s: f64| (delay_s..delay_s * MAX_TIME_RATIO).contains(&time_s);
    Ok(LabFigure {
        name: format!("{test}: typical"),
        truth: format!("{:.0} ms; {:.1} ms by perftest", delay_s * 1e3, theirs * 1e3),
        reported: format!("{:.1} ms", own * 1e3),
        // If perftest's time is wrong too, the guest was disturbed, and only too short a time is
        // wrong.
        is_correct: if is_plausible(theirs) || own < delay_s {
            Some(is_plausible(own))
        } else {
            None
        },
    })
}

/// Returns whether a rate is plausible for a limit that it cannot exceed; perftest's layout rounds
/// to whole messages per second and to 0.01 MiB/s.
fn is_plausible_rate(found: f64, most: f64) -> bool {
    (most * MIN_RATE_RATIO..=most * 1.01 + 0.5).contains(&found)
}

/// Checks the iterations of the 2 s between the margins. Those in flight at a margin may be counted
/// or not, and a guest that stalls completes fewer.
fn check_iterations(output: &str, (test, most, what): (&str, f64, &str)) -> Result<LabFigure> {
    let [own, theirs] = ["assay", "perftest"]
        .map(|by| largest_value(output, &format!("{by} {test}"), PerftestColumn::Iterations));
    let (own, theirs) = (own?, theirs?);
    Ok(LabFigure {
        name: format!("{test}: counted"),
        truth: format!("{most:.0} at most, {what} in 2 s; {theirs:.0} by perftest"),
        reported: format!("{own:.0}"),
        // If perftest completes as few, the guest was disturbed, and only too many are wrong.
        is_correct: match (own > most * 1.2 + 1.0, own < most * MIN_RATE_RATIO) {
            (true, _) => Some(false),
            (_, true) if theirs < most * MIN_RATE_RATIO => None,
            (_, is_short) => Some(!is_short),
        },
    })
}

/// Checks the rate. A guest that stalls slows down both programs: a rate below one direction's is
/// wrong only if perftest's is above it.
fn check_rate(output: &str, test: &str, ends: f64) -> Result<LabFigure> {
    let found = largest_value(output, &format!("assay {test}"), PerftestColumn::Rate)?;
    let most = ends * RATE * PAYLOAD_SHARE;
    let perftest = "perftest write-bw -u 18 -s 4096 -t 4 -n 100 -b -Q 1";
    let theirs = if ends > 1.0 {
        Some(largest_value(output, perftest, PerftestColumn::Rate)?)
    } else {
        None
    };
    let comparison = theirs
        .map_or(String::new(), |rate| format!("; {:.2} MB/s by ib_write_bw", rate * 1e-6));
    let is_short = |rate: f64| rate < most * MIN_RATE_RATIO;
    let is_disturbed = theirs.is_some_and(is_short) && is_short(found);
    Ok(LabFigure {
        name: format!("{test}: rate"),
        truth: format!("{:.2} MB/s at most{comparison}", most * 1e-6),
        reported: format!("{:.2} MB/s", found * 1e-6),
        is_correct: (!is_disturbed).then(|| is_plausible_rate(found, most)),
    })
}

/// Checks the traffic class in the packets of each end. The service level is only stored: RoCE
/// packets do not contain it.
fn check_traffic_classes(output: &str) -> Result<LabFigure> {
    let words = section(output, "seen")?.split_whitespace();
    let seen: Vec<&str> = words.filter(|word| word.contains(['.', 'x'])).collect();
    let seen = seen.join(" ");
    let is_stored = section(output, "options")?.contains("service-level=3 traffic-class=104");
    let stored = if is_stored { "stored" } else { "not stored" };
    let truth = "10.0.0.1 0x68 10.0.0.2 0x20; service level 3 is stored";
    Ok(LabFigure::exact(
        "traffic class of either end, by tcpdump",
        truth,
        format!("{seen}; service level 3 is {stored}"),
    ))
}

/// Checks the time until an end gives up: the first try and six retries time out, then it waits for
/// the other end's reason.
fn check_retry_timeout(output: &str, timeout: u32) -> Result<LabFigure> {
    let text = section(output, &format!("silence {timeout}"))?;
    let hundredths = text.lines().find_map(|line| line.strip_prefix("gave up after "));
    let after_s = hundredths.context("no end gave up")?.trim().parse::<f64>()? / 100.0;
    let least_s = 7.0 * 4.096e-6 * 2_f64.powi(timeout.cast_signed());
    let most_s = least_s + 4.0;
    let is_named = text.contains("transport retry counter exceeded") && text.contains("exit 4");
    let named = if is_named { "" } else { ", and no reason" };
    Ok(LabFigure {
        name: format!("-u {timeout}: given up"),
        truth: format!("after {least_s:.1} to {most_s:.1} s, with the reason, exit code 4"),
        reported: format!("after {after_s:.1} s{named}"),
        is_correct: Some((least_s..=most_s).contains(&after_s) && is_named),
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows_where;
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
            ["assay", "perftest"].map(|by| time(&format!("{by} {test}-lat -u 18 -n 10"), ms))
        });
        let many = "-bw -u 18 -s 4096 -t 4 -n 100";
        let lasting = "write-bw -u 18 -s 4096 -t 4 -D 4 -f 1";
        times
            .chain(["assay", "perftest"].map(|by| time(&format!("{by} send-lat -c UD -n 10"), 42.0)))
            .chain([
                rate("assay read-bw -u 18 -s 64 -t 16 -n 20 -o 1", 64.0, 12.0),
                rate("assay read-bw -u 18 -s 64 -t 16 -n 80 -o 8", 64.0, 95.0),
                rate(&format!("assay write{many}"), 4096.0, 112.0),
                rate(&format!("assay write{many} -b"), 4096.0, 220.0),
                rate("perftest write-bw -u 18 -s 4096 -t 4 -n 100 -b -Q 1", 4096.0, 221.0),
                rate(&format!("assay send{many} -b"), 4096.0, 222.0),
                time("assay send-lat -u 18 -D 4 -f 1", 41.0).replace(" 2 20 ", " 2 24 "),
                time("perftest send-lat -u 18 -D 4 -f 1", 42.0).replace(" 2 20 ", " 2 24 "),
                rate(&format!("assay {lasting}"), 4096.0, 113.0).replace(" 100 ", " 225 "),
                rate(&format!("perftest {lasting}"), 4096.0, 114.0).replace(" 100 ", " 226 "),
                "\n== options\n,service-level=3 traffic-class=104,\n".to_owned(),
                "\n== seen\n     61 10.0.0.1 tos 0x68\n     62 10.0.0.2 tos 0x20\n".to_owned(),
            ])
            .chain([("14", 150), ("18", 860)].map(|(at, hundredths)| {
                format!(
                    "\n== silence {at}\ngave up after {hundredths}\ntransport retry counter exceeded\nexit 4\n"
                )
            }))
            .collect()
    }

    #[test]
    fn detects_wrong_round_trips_and_directions() {
        let good = guest_output();
        let not_right = |output: &str| rows_where(judge(output), |holds| holds != Some(true));
        let wrong = |output: &str| rows_where(judge(output), |holds| holds == Some(false));
        assert_eq!(not_right(&good), Vec::<String>::new());
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
        assert_eq!(not_right(&disturbed), ["send-lat -u 18 -n 10: typical"]);
    }

    fn rate_of(per_s: f64) -> String {
        format!("{:.6} {:.6}", per_s * 4096.0 / 1_048_576.0, per_s * 1e-6)
    }

    #[test]
    fn detects_wrong_duration() {
        let good = guest_output();
        for (ours, theirs, expected) in [
            (24, 24, Some(true)),
            (50, 24, Some(false)),
            (50, 3, Some(false)),
            (3, 24, Some(false)),
            (3, 3, None),
        ] {
            let output = good.replacen(" 2 24 ", &format!(" 2 {ours} "), 1);
            let output = output.replacen(" 2 24 ", &format!(" 2 {theirs} "), 1);
            let figures = judge(&output).unwrap();
            let found = figures.iter().find(|it| it.name.starts_with("send-lat -u 18 -D 4"));
            assert_eq!(found.and_then(|it| it.is_correct), expected, "{ours} {theirs}");
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
                rows_where(judge(&damaged), |holds| holds == Some(false)),
                [expected],
                "{from}"
            );
        }
    }
}
