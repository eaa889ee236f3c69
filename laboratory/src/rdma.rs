//! Scenario `rdma`: software RoCE in a guest, assay compared with Debian's perftest.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Result, bail};
use assay_adapters::perftest_text::{PerftestColumn, parse_rows};

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section, split_sections,
};
use crate::judge::{Evidence, Excused, Verdict};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "rdma",
    title: "RDMA over software RoCE, beside perftest",
    description: "Both ends in one guest, over `rdma_rxe` on a veth pair, each on a processor of its own, in turns: nine \
            rounds of a run each (from 1 KiB on six, bandwidths and atomics five). `t_typical` of messages, datagrams, writes \
            and reads is to be within 10 % of perftest's: the median of the rounds' ratios, and with it the interval that \
            holds it with 95 % (sign test). An interval across 10 % tells nothing: then the guest disturbs both by \
            more than is to be shown, or 25 s were over before the rounds were, and the quietest round of either program \
            shows it: what disturbs a guest adds to every `t_typical`, so that the least is the nearest to the programs' own, \
            unless assay's rounds are more than 1.6 times as far apart as perftest's. Whatever they tell, the quickest message of all rounds \
            (`t_min`; of bandwidths the best round, unless rounds of one program differ by as much) beyond 1.6 times perftest's, or below \
            1/1.6, is wrong, unless that of most of perftest's own rounds is later by as much: a direction, a queue pair or half a round trip that is counted twice is a factor of two, and no \
            guest makes a message quicker. For bandwidths, which depend on when who polls, that is the only bound. assay \
            compares the contents of every size. CI makes three rounds, and more where their best are 1.3 apart.",
    runner: ScenarioRunner::Guest(GuestMachine::PLAIN, SCRIPT),
    cpu_use: CpuUse::ExclusiveIfFull,
    deadline: Duration::from_secs(700),
    judge,
};

/// Script of the rounds. Each round runs both programs, so that disturbances affect both.
const SCRIPT: &str = include_str!("../scripts/rdma.sh");

/// Maximum relative difference between a median and perftest's, up to 4 KiB.
const TOLERANCE: f64 = 0.10;
const MEDIAN_LIMITS: RangeInclusive<f64> = 1.0 - TOLERANCE..=1.0 + TOLERANCE;
/// Ratio above which a value must have been counted twice, or once instead of twice. Noise alone
/// reached 1.3 on a busy machine.
const MAX_NOISE_RATIO: f64 = 1.6;

/// Values of one run, in s or B/s.
#[derive(Debug, Clone, Copy)]
struct Round {
    typical: f64,
    /// Time of the fastest message; for a bandwidth, the rate of the run.
    best: f64,
}

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut rounds_by_test: BTreeMap<(String, &str), Vec<Option<Round>>> = BTreeMap::new();
    let mut order = Vec::new();
    for (name, text) in split_sections(output) {
        let Some((program, test)) = name.split_once(' ') else { continue };
        if !["perftest", "assay"].contains(&program) {
            continue;
        }
        let columns = if is_rate(test) {
            [PerftestColumn::Rate, PerftestColumn::Rate]
        } else {
            [PerftestColumn::Typical, PerftestColumn::Min]
        };
        if !order.contains(&test) {
            order.push(test);
        }
        let values = rounds_by_test.entry((test.to_owned(), program)).or_default();
        // Keep the position of a run without a result: rounds are compared in pairs.
        values.push(parse_rows(text).ok().and_then(|rows| {
            let [typical, best] = columns.map(|column| rows.first()?.get(&column).copied());
            Some(Round { typical: typical?, best: best? })
        }));
    }
    let mut figures = vec![check_without_device(output)?];
    for test in order {
        figures.push(check_test(test, &rounds_by_test)?);
    }
    if figures.len() < 2 {
        bail!("no test was run");
    }
    Ok(figures)
}

/// Checks the error without a device: a reason, a remedy, and exit code 4.
fn check_without_device(output: &str) -> Result<LabFigure> {
    let text = output_section(output, "no device")?;
    let holds = text.contains("there is no RDMA device")
        && text.contains("rdma link add")
        && text.contains("exit 4");
    Ok(LabFigure::condition(
        "without a device",
        "the reason, a remedy, exit code 4",
        text.lines().next().unwrap_or_default().to_owned(),
        holds,
    ))
}

/// Returns the typical values of the rounds that have one.
fn typical(rounds: &[Option<Round>]) -> Vec<f64> {
    rounds.iter().flatten().map(|round| round.typical).collect()
}

fn format_spread(factor: f64) -> String {
    match factor {
        1.0 => String::new(),
        factor => format!(", whose runs differ by {:.0} %", (factor - 1.0) * 100.0),
    }
}

fn check_test(
    test: &str,
    rounds_by_test: &BTreeMap<(String, &str), Vec<Option<Round>>>,
) -> Result<LabFigure> {
    let rounds_of = |program: &'static str| {
        rounds_by_test.get(&(test.to_owned(), program)).cloned().unwrap_or_default()
    };
    let (perftest_rounds, assay_rounds) = (rounds_of("perftest"), rounds_of("assay"));
    let name = test.to_owned();
    let format_median = |all, placeholder: &str| {
        median(&mut typical(all))
            .map_or_else(|| placeholder.to_owned(), |value| format_value(test, value))
    };
    let (Some(perftest_best), Some(assay_best)) =
        (best_of_rounds(test, &perftest_rounds), best_of_rounds(test, &assay_rounds))
    else {
        // perftest itself may fail under emulation; assay must not.
        return Ok(LabFigure::new(
            name,
            format_median(&perftest_rounds, "no result of perftest"),
            format_median(&assay_rounds, "nothing"),
            Evidence::Condition(false)
                .judge_despite(Excused::Everything.when(!typical(&assay_rounds).is_empty())),
        ));
    };
    let pairs = assay_rounds.iter().zip(&perftest_rounds);
    let mut ratios: Vec<f64> = pairs
        .filter_map(|(assay, perftest)| Some((*assay)?.typical / (*perftest)?.typical))
        .collect();
    let Some(ratio) = median(&mut ratios) else {
        bail!("{test}: no round has results of both programs")
    };
    let [perftest_spread, assay_spread] =
        [&perftest_rounds, &assay_rounds].map(|all| spread(&typical(all)));
    let spread_text = format_spread(perftest_spread);
    let has_bound_only = is_rate(test) || test.starts_with("atomic");
    let interval = median_interval(&ratios).filter(|_| !has_bound_only);
    let interval_text =
        interval.map_or(String::new(), |(from, to)| format!(", {from:.2} to {to:.2}"));
    let best_ratio = assay_best / perftest_best;
    let quietest = |rounds| least_disturbed(&typical(rounds));
    let quietest_ratio = quietest(&assay_rounds) / quietest(&perftest_rounds);
    let quietest_text =
        (!has_bound_only).then(|| format!("; the quietest {quietest_ratio:.2}"));
    let quietest_text = quietest_text.unwrap_or_default();
    Ok(LabFigure::new(
        name,
        format!("{} by perftest{spread_text}", format_median(&perftest_rounds, "")),
        format!(
            "{} ({ratio:.2} of it{interval_text}, {} rounds{quietest_text}; the best {best_ratio:.2})",
            format_median(&assay_rounds, ""),
            ratios.len()
        ),
        judge_ratios(
            (test, has_bound_only),
            best_ratio,
            interval,
            quietest_ratio,
            [perftest_spread, assay_spread],
            best_of_most(&perftest_rounds) / perftest_best,
        ),
    ))
}

/// Judges the ratios of assay to perftest: of the best rounds, the interval of the median, and of
/// the quietest rounds.
fn judge_ratios(
    (test, has_bound_only): (&str, bool),
    best_ratio: f64,
    interval: Option<(f64, f64)>,
    quietest_ratio: f64,
    [perftest_spread, assay_spread]: [f64; 2],
    perftest_best_spread: f64,
) -> Verdict {
    // If rounds of one program differ by this factor, so may the programs by chance. A latency may be
    // as late as the quickest messages of most rounds of perftest.
    let is_noisy = match is_rate(test) {
        true => perftest_spread.max(assay_spread) >= MAX_NOISE_RATIO,
        false => best_ratio > 1.0 && perftest_best_spread >= MAX_NOISE_RATIO,
    };
    let best_verdict = Evidence::Number(best_ratio, 1.0 / MAX_NOISE_RATIO..=MAX_NOISE_RATIO)
        .judge_despite(Excused::OutOfLimits.when(is_noisy));
    let interval_verdict = interval.map_or(Verdict::Undecided, |(low, high)| {
        Evidence::Inside(low..=high, MEDIAN_LIMITS).judge()
    });
    match best_verdict {
        Verdict::Holds if !has_bound_only => interval_verdict.or_else(|| {
            // The quietest rounds only show that a figure holds.
            let is_steady = assay_spread < MAX_NOISE_RATIO * perftest_spread;
            let excused = if is_steady { Excused::OutOfLimits } else { Excused::Everything };
            Evidence::Number(quietest_ratio, MEDIAN_LIMITS).judge_despite(excused)
        }),
        verdict => verdict,
    }
}

fn is_rate(test: &str) -> bool {
    test.contains("_bw")
}

/// Returns the shortest time or the highest rate of all rounds.
fn best_of_rounds(test: &str, rounds: &[Option<Round>]) -> Option<f64> {
    let values = rounds.iter().flatten().map(|round| round.best);
    values.reduce(if is_rate(test) { f64::max } else { f64::min })
}

/// Returns the median of the rounds' shortest times.
fn best_of_most(rounds: &[Option<Round>]) -> f64 {
    let mut values: Vec<f64> = rounds.iter().flatten().map(|round| round.best).collect();
    median(&mut values).unwrap_or(f64::NAN)
}

/// Returns the value of the least disturbed round.
fn least_disturbed(typical: &[f64]) -> f64 {
    typical.iter().copied().fold(f64::MAX, f64::min)
}

/// Returns the confidence interval of the median from sorted values, by the sign test: the
/// narrowest pair of order statistics with a level of at least 95 % (Conover, Practical
/// Nonparametric Statistics, 3.2). `None` below six values.
fn median_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    const TAIL: f64 = 0.025;
    let n = sorted.len() as i32;
    // The number of values below the median is binomially distributed with p = 1/2.
    let (mut probability, mut tail) = (0.5_f64.powi(n), 0.0);
    let mut excluded = 0;
    while tail + probability <= TAIL {
        tail += probability;
        probability *= f64::from(n - excluded) / f64::from(excluded + 1);
        excluded += 1;
    }
    let first = usize::try_from(excluded - 1).ok()?;
    Some((*sorted.get(first)?, *sorted.get(sorted.len().checked_sub(excluded as usize)?)?))
}

fn format_value(test: &str, value: f64) -> String {
    if is_rate(test) {
        format!("{:.1} MiB/s", value / f64::from(1 << 20))
    } else {
        format!("{:.1} us", value * 1e6)
    }
}

/// Returns the ratio of the largest to the smallest run: the variation within one program.
fn spread(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    largest / values.iter().copied().fold(f64::MAX, f64::min)
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        " #bytes #iterations    t_min[usec]    t_typical[usec]\n 2 1000 BEST TYPICAL\n---\n";

    #[test]
    fn compares_medians_with_perftest() {
        let table = |by: &str, typical: &str| {
            format!(
                "\n== {by} send_lat RC 2\n{}",
                TABLE.replace("TYPICAL", typical).replace("BEST", "9")
            )
        };
        let none =
            "x\n== no device\nassay: there is no RDMA device\nhelp: rdma link add\nexit 4\n";
        for (ours, rounds, expected) in [
            ("10.9", 6, Some(true)),
            ("11.1", 6, Some(false)),
            ("8.9", 6, Some(false)),
            // Five rounds have no interval, but a least disturbed round.
            ("10.9", 5, Some(true)),
            ("11.1", 5, None),
        ] {
            let round = [table("perftest", "10"), table("assay", ours)].concat();
            let output = [none.to_owned(), round.repeat(rounds)].concat();
            let figures = judge(&output).unwrap();
            let holds: Vec<_> = figures.iter().map(|it| it.is_correct()).collect();
            assert_eq!(holds, [Some(true), expected], "{ours}");
            assert_eq!(figures[1].truth, "10.0 us by perftest", "the runs are alike");
        }
        let silent =
            [none, &table("perftest", "10"), "\n== assay send_lat RC 2\nno\n"].concat();
        assert_eq!(
            judge(&silent).unwrap()[1].is_correct(),
            Some(false),
            "nothing is no success"
        );
        // One of six rounds is above the tolerance, so the interval ends there.
        let restless = ["10", "10", "10", "10", "10", "13"]
            .map(|ours| [table("perftest", "10"), table("assay", ours)].concat());
        let restless = [none.to_owned(), restless.concat()].concat();
        assert_eq!(judge(&restless).unwrap()[1].is_correct(), Some(true), "by the quietest");
        let loud = ["12", "11", "12", "12", "10.5", "13"]
            .map(|theirs| [table("perftest", theirs), table("assay", "12")].concat());
        let loud = [none.to_owned(), loud.concat()].concat();
        assert_eq!(judge(&loud).unwrap()[1].is_correct(), None, "the quietest are 1.14 apart");
    }

    #[test]
    fn detects_factor_of_two_despite_noise() {
        const RATES: &str = " #bytes #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 2 1000 0.00 VALUE MESSAGES\n---\n";
        let none =
            "x\n== no device\nassay: there is no RDMA device\nhelp: rdma link add\nexit 4\n";
        let steady = ["10", "10", "10"];
        for (test, table, theirs, ours, expected) in [
            ("write_bw RC 2", RATES, steady, ["12", "8", "10"], Some(true)),
            ("write_bw RC 2", RATES, steady, ["20", "20", "20"], Some(false)),
            ("write_bw RC 2", RATES, steady, ["5", "5", "5"], Some(false)),
            // One disturbed round is not the best.
            ("write_bw RC 2", RATES, ["10", "20", "10"], ["20", "20", "20"], Some(true)),
            // perftest's own rounds differ as much.
            ("write_bw RC 2", RATES, ["10", "20", "10"], ["9", "9", "9"], None),
            ("write_bw RC 2", RATES, steady, ["5", "3", "5"], None),
            ("write_bw RC 2", RATES, steady, ["5", "10", "5"], Some(true)),
            ("atomic_lat RC 8", TABLE, steady, ["11", "12", "13"], Some(true)),
            ("atomic_lat RC 8", TABLE, steady, ["20", "20", "20"], Some(false)),
            // Three rounds have no interval, but a factor of two is detected.
            ("read_lat RC 2", TABLE, steady, ["12", "12", "13"], None),
            ("read_lat RC 2", TABLE, steady, ["11", "12", "13"], Some(true)),
            ("read_lat RC 2", TABLE, steady, ["20", "20", "20"], Some(false)),
            ("read_lat RC 2", TABLE, steady, ["5", "20", "20"], Some(false)),
            ("read_lat RC 2", TABLE, steady, ["400", "10", "400"], None),
            // perftest's own quickest messages differ as much.
            ("read_lat RC 2", TABLE, ["5", "20", "20"], ["20", "20", "20"], None),
            ("read_lat RC 2", TABLE, ["20", "20", "40"], ["40", "40", "40"], Some(false)),
            ("read_lat RC 2", TABLE, ["10", "20", "20"], ["5", "5", "5"], Some(false)),
        ] {
            let round = |(theirs, ours): (&str, &str)| {
                let section = |by, value: &str| {
                    let messages = value.parse::<f64>().unwrap() * 1.048_576 / 2.0;
                    let table = table
                        .replace("VALUE", value)
                        .replace("BEST TYPICAL", &[value; 2].join(" "));
                    let table = table.replace("MESSAGES", &format!("{messages:.6}"));
                    format!("\n== {by} {test}\n{table}")
                };
                [section("perftest", theirs), section("assay", ours)].concat()
            };
            let output: String = theirs.into_iter().zip(ours).map(round).collect();
            let figures = judge(&[none, &output].concat()).unwrap();
            assert_eq!(figures[1].is_correct(), expected, "{test} {ours:?}");
        }
    }

    #[test]
    fn interval_is_from_order_statistics() {
        let interval_of = |n: u32| median_interval(&(1..=n).map(f64::from).collect::<Vec<_>>());
        for (n, expected) in
            [(5, None), (6, Some((1.0, 6.0))), (9, Some((2.0, 8.0))), (12, Some((3.0, 10.0)))]
        {
            assert_eq!(interval_of(n), expected, "{n}");
        }
    }
}
