//! Storage section of a page for publication: results of each target and test, and the quota that
//! they require.

use std::cmp::Ordering;

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::quantity::Unit;
use assay_model::sizing::{ServiceLevel, VolumeKind, quota_bytes};
use assay_model::summary::MetricEstimate;

use super::{find_results, number, text, with_qualifier};
use crate::document::{ReportTable, left, right};
use crate::first_seen::distinct;
use crate::locale::{
    Argument, group_digits, in_percent, localise_symbol, size, with_detail, word,
};
use crate::{precision, units};

/// Suite for volumes whose service level sells throughput by quota.
const QUOTA_SUITE: &str = "anf";
const MIB: f64 = 1_048_576.0;
const TIB: f64 = 1_099_511_627_776.0;

/// Returns a row for each workload at each target, or by each group of hosts: that of the case with
/// the highest rate.
pub(super) fn tests_table(all: &[&MetricEstimate]) -> ReportTable {
    // fio, IOR and Vdbench all count throughput in this unit, under different names.
    let mib_per_s = message!("learn-throughput-in", unit = localise_symbol("MiB/s"));
    let mut table = ReportTable::with_caption("");
    let [rates, bandwidths, latencies] = ["rate", "bandwidth", "latency"]
        .map(|metric| without_host_parts(find_results(all, Benchmark::Storage, metric)));
    if rates.is_empty() {
        return table;
    }
    for key in distinct(rates.iter().chain(&bandwidths).map(|it| row_key(it))) {
        let highest = |results: &[&MetricEstimate]| {
            let matching = results.iter().copied().filter(|it| row_key(it) == key);
            let order = |it: &MetricEstimate| it.median.is_finite().then_some(it.median);
            matching
                .max_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal))
                .cloned()
        };
        let (rate, throughput) = (highest(&rates), highest(&bandwidths));
        let Some(best) = rate.as_ref().or(throughput.as_ref()) else { continue };
        let find_same_case = |results: &[&MetricEstimate]| {
            let is_same = |it: &&&MetricEstimate| it.case == best.case && row_key(it) == key;
            results.iter().find(is_same).copied().cloned()
        };
        let (throughput, latency) = (find_same_case(&bandwidths), find_same_case(&latencies));
        let shares =
            [&throughput, &rate].into_iter().flatten().filter_map(|it| it.percent_of_limit);
        let share = shares.max_by(f64::total_cmp);
        // The interval uses the unit of its column.
        let in_iops = rate.as_ref().map(|it| (it, 1.0, "IOPS"));
        let column = in_iops.or(throughput.as_ref().map(|it| (it, MIB, "MiB/s")));
        let interval = column.and_then(|(it, unit, symbol)| {
            let numbers = precision::interval_in_unit(it, unit, group_digits)?;
            Some(units::with_symbol(&numbers, symbol))
        });
        let in_flight =
            number(best, Attribute::InFlight).map(|it| group_digits(&format!("{it:.1}")));
        let (workload, place, tool) = key;
        let rate = rate.as_ref().map(|it| format_in_unit(it, 1.0));
        let throughput = throughput.as_ref().map(|it| format_in_unit(it, MIB));
        let latency = latency.as_ref().map(super::format_value);
        table.push([
            left(word("learn-workload"), workload),
            left(word("column-place"), place),
            right("IOPS", rate.unwrap_or_default()),
            right(&mib_per_s, throughput.unwrap_or_default()),
            right(word("column-latency"), latency.unwrap_or_default()),
            right(word("interval"), interval.unwrap_or_default()),
            right(word("column-of-limit"), share.map(units::percent).unwrap_or_default()),
            right(word("column-in-flight"), in_flight.unwrap_or_default()),
            left(word("column-by"), tool),
        ]);
    }
    table
}

/// Drops results of single hosts if a total of all hosts or of their group exists for the test.
pub(super) fn without_host_parts(mut results: Vec<&MetricEstimate>) -> Vec<&MetricEstimate> {
    let totals: Vec<&MetricEstimate> =
        results.iter().copied().filter(|it| it.spans_hosts()).collect();
    let test = |it: &MetricEstimate| (text(it, Attribute::Test), it.tool.name.clone());
    results.retain(|it| {
        let is_single_host = !it.spans_hosts() && it.parameters.contains_key(&Attribute::Host);
        let is_total_of_it =
            |total: &&MetricEstimate| test(total) == test(it) && total.involves_host(&it.host);
        !(is_single_host && totals.iter().any(is_total_of_it))
    });
    results
}

/// Returns workload, place and tool, which identify a row.
fn row_key(estimate: &MetricEstimate) -> (String, String, String) {
    let value = |name: Attribute| text(estimate, name).unwrap_or_default();
    let bytes =
        number(estimate, Attribute::Bytes).map(|it| size(it as u64)).unwrap_or_default();
    let is_random = value(Attribute::Pattern) == "random";
    let part = |share: f64, is_reads: bool| {
        let share = in_percent(&group_digits(&format!("{:.0}", 100.0 * share)));
        match (is_random, is_reads) {
            (true, true) => message!("learn-random-reads", share = share),
            (true, false) => message!("learn-random-writes", share = share),
            (false, true) => message!("learn-sequential-reads", share = share),
            (false, false) => message!("learn-sequential-writes", share = share),
        }
    };
    let read_share = number(estimate, Attribute::ReadShare).unwrap_or(0.5);
    let operations = match value(Attribute::Operation).as_str() {
        "read" => part(1.0, true),
        "write" => part(1.0, false),
        _ => with_detail(&part(read_share, true), &part(1.0 - read_share, false)),
    };
    let workload = message!("learn-test", what = operations, size = bytes);
    (workload, place_label(estimate).unwrap_or_default(), estimate.tool.name.clone())
}

/// Returns the group of hosts, or the path of the target.
pub(super) fn place_label(estimate: &MetricEstimate) -> Option<String> {
    let group = || Some(estimate.host.clone());
    if estimate.spans_hosts() { group() } else { text(estimate, Attribute::Target) }
}

/// Formats a value in the unit of its column, without symbol.
fn format_in_unit(estimate: &MetricEstimate, unit: f64) -> String {
    if !estimate.median.is_finite() {
        return word("no-value").to_owned();
    }
    let digits = match estimate.ci {
        Some(_) => precision::estimate_digits(estimate),
        None => precision::written_digits(&MetricEstimate {
            median: estimate.median / unit,
            ..estimate.clone()
        }),
    };
    let value = precision::round_to_digits(estimate.median / unit, digits);
    with_qualifier(estimate, group_digits(&value.to_string()))
}

/// Returns the quota at each service level that is required for the highest measured throughput.
///
/// The quota is spread over as few volumes as possible: several hosts together may exceed the
/// maximum of one volume.
pub(super) fn quota_table(suites: &[&str], all: &[&MetricEstimate]) -> ReportTable {
    let reached = find_results(all, Benchmark::Storage, "bandwidth")
        .into_iter()
        .filter(|it| it.median.is_finite());
    let reached = reached.max_by(|a, b| a.median.total_cmp(&b.median));
    let (unit, quota) = (localise_symbol("MiB/s"), localise_symbol("TiB"));
    let per_quota = message!("learn-per-quota", unit = unit, quota = quota);
    let mut table = ReportTable::with_caption("");
    let Some(reached) = reached.filter(|_| suites.contains(&QUOTA_SUITE)) else {
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
            let each = units::with_symbol(&group_digits(&format!("{:.2}", bytes / TIB)), "TiB");
            let is_one = volumes <= 1.0;
            if is_one {
                each
            } else {
                format!("{} × {each}", group_digits(&volumes.to_string()))
            }
        };
        let rate = group_digits(&level.mib_per_s_per_tib().to_string());
        table.push([
            left(word("learn-service-level"), name),
            right(&per_quota, rate),
            right(word("learn-quota"), quota.map(tib).unwrap_or_default()),
        ]);
    }
    table
}

/// Returns the mean number of I/O in flight at the highest rate, by Little's law.
pub(super) fn littles_law(all: &[&MetricEstimate]) -> Option<String> {
    let rates = find_results(all, Benchmark::Storage, "rate").into_iter();
    let rate =
        rates.filter(|it| it.ci.is_some()).max_by(|a, b| a.median.total_cmp(&b.median))?;
    let latencies = find_results(all, Benchmark::Storage, "latency");
    let latency = latencies.iter().find(|it| it.case == rate.case && it.host == rate.host)?;
    let product = rate.median * latency.mean;
    product.is_finite().then(|| {
        message!(
            "learn-littles-law",
            rate = precision::value(rate),
            latency = units::quantity(latency.mean, Unit::Second, 3),
            flight = Argument::Decimal(format!("{product:.1}")),
        )
    })
}
