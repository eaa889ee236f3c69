//! Storage section of a page for publication: results of each target and test, and the quota that
//! they require.

use std::cmp::Ordering;

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::quantity::Unit;
use assay_model::sizing::{ServiceLevel, VolumeKind, quota_bytes};
use assay_model::summary::Estimate;

use super::{digits, number, of, qualified, text};
use crate::document::{Align, Cell, Table};
use crate::locale::{Argument, detailed, grouped, in_percent, size, symbol, word};
use crate::{precision, units};

/// Suite for volumes whose service level sells throughput by quota.
const SOLD_BY_QUOTA: &str = "anf";
const MIB: f64 = 1_048_576.0;
const TIB: f64 = 1_099_511_627_776.0;

/// Returns one row for each kind of I/O at each target or by each group of hosts: the case with the
/// highest rate.
pub(super) fn tests(all: &[&Estimate]) -> Table {
    // fio, IOR and Vdbench all count throughput in this unit, under different names.
    let throughput = say!("learn-throughput-in", unit = symbol("MiB/s"));
    let columns = [
        (word("learn-workload"), Align::Left),
        (word("column-place"), Align::Left),
        ("IOPS", Align::Right),
        (throughput.as_str(), Align::Right),
        (word("column-latency"), Align::Right),
        (word("interval"), Align::Right),
        (word("column-of-limit"), Align::Right),
        (word("column-in-flight"), Align::Right),
        (word("column-by"), Align::Left),
    ];
    let mut table = Table::new("", &columns);
    let [rates, rates_of_bytes, latencies] = ["rate", "bandwidth", "latency"]
        .map(|metric| without_parts(of(all, Benchmark::Storage, metric)));
    if rates.is_empty() {
        return table;
    }
    let mut kinds: Vec<(String, String, String)> = Vec::new();
    for it in rates.iter().chain(&rates_of_bytes) {
        kinds.extend(Some(kind(it)).filter(|kind| !kinds.contains(kind)));
    }
    for of_kind in kinds {
        let highest = |found: &[&Estimate]| {
            let here = found.iter().copied().filter(|it| kind(it) == of_kind);
            let order = |it: &Estimate| it.median.is_finite().then_some(it.median);
            here.max_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal))
                .cloned()
        };
        let (rate, throughput) = (highest(&rates), highest(&rates_of_bytes));
        let Some(best) = rate.as_ref().or(throughput.as_ref()) else { continue };
        let same_case = |found: &[&Estimate]| {
            let same = |it: &&&Estimate| it.case == best.case && kind(it) == of_kind;
            found.iter().find(same).copied().cloned()
        };
        let (throughput, latency) = (same_case(&rates_of_bytes), same_case(&latencies));
        let shares =
            [&throughput, &rate].into_iter().flatten().filter_map(|it| it.percent_of_limit);
        let share = shares.max_by(f64::total_cmp);
        // The interval uses the unit of its column.
        let of_rate = rate.as_ref().map(|it| (it, 1.0, "IOPS"));
        let known = of_rate.or(throughput.as_ref().map(|it| (it, MIB, "MiB/s")));
        let interval = known.and_then(|(it, unit, symbol)| {
            let numbers = precision::interval_in(it, unit, grouped)?;
            Some(units::with_symbol(&numbers, symbol))
        });
        let in_flight =
            number(best, Attribute::InFlight).map(|it| grouped(&format!("{it:.1}")));
        let (what, place, tool) = of_kind;
        let row: [Cell; 9] = [
            what.into(),
            place.into(),
            rate.as_ref().map(|it| counted(it, 1.0)).unwrap_or_default().into(),
            throughput.as_ref().map(|it| counted(it, MIB)).unwrap_or_default().into(),
            latency.as_ref().map(super::value).unwrap_or_default().into(),
            interval.unwrap_or_default().into(),
            share.map(units::percent).unwrap_or_default().into(),
            in_flight.unwrap_or_default().into(),
            tool.into(),
        ];
        table.rows.push(row.into());
    }
    table
}

/// Drops results of single hosts if a total of all hosts or of their group exists for the test.
pub(super) fn without_parts(mut found: Vec<&Estimate>) -> Vec<&Estimate> {
    let totals: Vec<&Estimate> = found.iter().copied().filter(|it| it.is_of_hosts()).collect();
    let test = |it: &Estimate| (text(it, Attribute::Test), it.tool.name.clone());
    found.retain(|it| {
        let is_one = !it.is_of_hosts() && it.parameters.contains_key(&Attribute::Host);
        let holds = |all: &&Estimate| test(all) == test(it) && all.is_partly_of(&it.host);
        !(is_one && totals.iter().any(holds))
    });
    found
}

/// Returns workload, place and tool, which identify a row.
fn kind(estimate: &Estimate) -> (String, String, String) {
    let value = |name: Attribute| text(estimate, name).unwrap_or_default();
    let bytes =
        number(estimate, Attribute::Bytes).map(|it| size(it as u64)).unwrap_or_default();
    let random = value(Attribute::Pattern) == "random";
    let part = |share: f64, reads: bool| {
        let what = match (random, reads) {
            (true, true) => word("learn-random-reads"),
            (true, false) => word("learn-random-writes"),
            (false, true) => word("learn-sequential-reads"),
            (false, false) => word("learn-sequential-writes"),
        };
        let share = in_percent(&grouped(&format!("{:.0}", 100.0 * share)));
        format!("{share} {what}")
    };
    let reads = number(estimate, Attribute::ReadShare).unwrap_or(0.5);
    let what = match value(Attribute::Operation).as_str() {
        "read" => part(1.0, true),
        "write" => part(1.0, false),
        _ => detailed(&part(reads, true), &part(1.0 - reads, false)),
    };
    let what = say!("learn-test", what = what, size = bytes);
    (what, place(estimate).unwrap_or_default(), estimate.tool.name.clone())
}

/// Returns the group of hosts, or the path of the target.
pub(super) fn place(estimate: &Estimate) -> Option<String> {
    let group = || Some(estimate.host.clone());
    if estimate.is_of_hosts() { group() } else { text(estimate, Attribute::Target) }
}

/// Formats a value in the unit of its column, without symbol.
fn counted(estimate: &Estimate, unit: f64) -> String {
    if !estimate.median.is_finite() {
        return word("no-value").to_owned();
    }
    let digits = match estimate.ci {
        Some(_) => precision::digits_of(estimate),
        None => digits(&Estimate { median: estimate.median / unit, ..estimate.clone() }),
    };
    let value = precision::rounded(estimate.median / unit, digits);
    qualified(estimate, grouped(&value.to_string()))
}

/// Returns the quota of each service level that provides the highest throughput reached.
///
/// It is spread over as few volumes as possible: several hosts may exceed the maximum of one
/// volume.
pub(super) fn quota(suites: &[&str], all: &[&Estimate]) -> Table {
    let reached =
        of(all, Benchmark::Storage, "bandwidth").into_iter().filter(|it| it.median.is_finite());
    let reached = reached.max_by(|a, b| a.median.total_cmp(&b.median));
    let columns = [
        (word("learn-service-level"), Align::Left),
        (
            &*say!("learn-per-quota", unit = symbol("MiB/s"), quota = symbol("TiB")),
            Align::Right,
        ),
        (word("learn-quota"), Align::Right),
    ];
    let mut table = Table::new("", &columns);
    let Some(reached) = reached.filter(|_| suites.contains(&SOLD_BY_QUOTA)) else {
        return table;
    };
    let levels = [
        ("Standard", ServiceLevel::Standard),
        ("Premium", ServiceLevel::Premium),
        ("Ultra", ServiceLevel::Ultra),
    ];
    for (name, level) in levels {
        let cap = VolumeKind::Regular.cap_bytes_per_s(level);
        let volumes = (reached.median / cap).ceil().max(1.0);
        let quota =
            quota_bytes(level, VolumeKind::Regular, (reached.median / volumes).min(cap));
        let tib = |bytes: f64| {
            let each = units::with_symbol(&grouped(&format!("{:.2}", bytes / TIB)), "TiB");
            let is_one = volumes <= 1.0;
            if is_one { each } else { format!("{} × {each}", grouped(&volumes.to_string())) }
        };
        let rate = grouped(&level.mib_per_s_per_tib().to_string());
        table.rows.push(vec![
            name.into(),
            rate.into(),
            quota.map(tib).unwrap_or_default().into(),
        ]);
    }
    table
}

/// Returns the mean number of I/O in flight at the highest rate, by Little's law.
pub(super) fn littles_law(all: &[&Estimate]) -> Option<String> {
    let rates = of(all, Benchmark::Storage, "rate").into_iter();
    let rate =
        rates.filter(|it| it.ci.is_some()).max_by(|a, b| a.median.total_cmp(&b.median))?;
    let latencies = of(all, Benchmark::Storage, "latency");
    let latency = latencies.iter().find(|it| it.case == rate.case && it.host == rate.host)?;
    let product = rate.median * latency.mean;
    product.is_finite().then(|| {
        say!(
            "learn-littles-law",
            rate = precision::value(rate),
            latency = units::quantity(latency.mean, Unit::Second, 3),
            flight = Argument::Decimal(format!("{product:.1}")),
        )
    })
}
