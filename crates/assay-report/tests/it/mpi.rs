//! Four MPIs in comparison, as on pages about cloud machines; one of them was also measured by an
//! official tool.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::build;
use assay_report::locale::{Language, Locale};
use assay_report::render::markdown;

use crate::guest::host;
use crate::maker::{EstimateBuilder, estimate, summary};

/// Name, prefix, transport, and factor of the times.
const MPIS: [(&str, &str, &str, f64); 4] = [
    ("MPICH 4.0.2", "/usr", "UCX", 1.0),
    ("MPICH 4.0.2", "/opt/mpich", "OFI tcp", 1.004),
    ("Open MPI 4.1.4", "/usr", "ob1", 0.93),
    ("Intel MPI 2021.18", "/opt/intel", "shared memory", 1.4),
];

pub(crate) fn mpi() -> RunSummary {
    let mut summary = summary("mpi", RunStatus::Complete, host());
    for (mpi, prefix, transport, factor) in MPIS {
        let reported = |test: MpiTest, metric: &str, median: f64, placement: &str| {
            estimate(Benchmark::Mpi(test), metric, median, 0.01)
                .with(Attribute::Mpi, mpi)
                .with(Attribute::Prefix, prefix)
                .with(Attribute::Transport, transport)
                .with(
                    Attribute::Abi,
                    if mpi.starts_with("Open") { "open-mpi" } else { "mpich" },
                )
                .with(Attribute::Placement, placement)
                .with(Attribute::Cpus, "0; 1")
                .with(Attribute::Library, format!("{prefix}/lib/libmpi.so.12"))
                .with(Attribute::Ranks, 2_u64)
        };
        for (place, distance) in [("same-core", 0.8), ("across-sockets", 3.0)] {
            let seconds = 230e-9 * factor * distance;
            let far = reported(MpiTest::Latency, "latency", seconds, place);
            summary.results.push(far.with(Attribute::Bytes, 8_u64));
        }
        for bytes in [0_u64, 8, 1024, 65_536, 4 << 20] {
            let seconds = (230e-9 + bytes as f64 / 9e9) * factor;
            let latency = reported(MpiTest::Latency, "latency", seconds, "same-cache");
            summary.results.push(latency.with(Attribute::Bytes, bytes));
            if bytes > 0 {
                let rate = bytes as f64 / (80e-9 + bytes as f64 / 11e9) / factor;
                let bandwidth = reported(MpiTest::Bandwidth, "bandwidth", rate, "same-cache");
                summary.results.push(bandwidth.with(Attribute::Bytes, bytes));
            }
        }
        for (metric, seconds) in
            [("latency", 400e-9), ("latency_min", 390e-9), ("latency_max", 410e-9)]
        {
            summary.results.push(reported(MpiTest::Barrier, metric, seconds * factor, "node"));
        }
    }
    // A rank that was preempted for a while.
    if let Some(last) = summary.results.last_mut() {
        last.ci = Some([last.median * 0.9, last.median * 40.0]);
    }
    summary.results.push(by_osu());
    summary
}

/// One sample, as OSU prints it.
fn by_osu() -> MetricEstimate {
    let mut osu = estimate(Benchmark::Mpi(MpiTest::Latency), "latency", 0.24e-6, 0.0)
        .with(Attribute::Mpi, "MPICH 4.0.2")
        .with(Attribute::Placement, "same-cache")
        .with(Attribute::Ranks, 2_u64)
        .with(Attribute::Bytes, 8_u64)
        .by_tool("osu", "5.4.3")
        .with_doubt(Doubt::NoInterval { n: 1, n_effective: 1.0, needed: 6, by_tool: true });
    (osu.n, osu.n_effective, osu.ci) = (1, 1.0, None);
    osu
}

/// A value of a tool has the digits of its neighbours: OSU prints `29.41`, `54.00` and `72.92`.
#[test]
fn imported_values_have_the_digits_of_their_column() {
    let mut imported = mpi();
    let result = |(bytes, rate): (u64, f64)| {
        let mut it = estimate(Benchmark::Mpi(MpiTest::Bandwidth), "bandwidth", rate, 0.0)
            .with(Attribute::Mpi, "MPICH 4.0.2")
            .with(Attribute::Placement, "same-cache")
            .with(Attribute::Ranks, 2_u64)
            .with(Attribute::Bytes, bytes)
            .by_tool("osu", "5.4.3");
        (it.n, it.n_effective, it.ci) = (1, 1.0, None);
        it
    };
    let rows = [(4, 29.41e6), (8, 54e6), (16, 72.92e6), (1 << 20, 2911.23e6)];
    imported.results = rows.map(result).to_vec();
    let page = markdown::document(&build::run_page(&imported, None)).replace('\u{a0}', " ");
    for expected in ["29.41 MB/s", "54.00 MB/s", "72.92 MB/s", "2911 MB/s"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

/// Titles, sizes and ratios are in the language of the page.
#[test]
fn mpi_tables_are_localised() {
    for locale in Locale::ALL {
        let page = Language::for_locale(locale)
            .scope(|| markdown::document(&build::run_page(&mpi(), None)));
        let page = page.replace(['\u{a0}', '\u{202f}'], " ");
        let (ratio, size) = match locale {
            Locale::En | Locale::ZhHans | Locale::Ko | Locale::Ja => ("×1.51", "| 1 KiB |"),
            Locale::Ru => ("×1,51", "| 1 КиБ |"),
            Locale::Fr => ("×1,51", "| 1 Kio |"),
            _ => ("×1,51", "| 1 KiB |"),
        };
        assert_eq!(page.contains("MPI latency"), locale == Locale::En, "{locale:?}: {page}");
        for expected in [ratio, size, "(mpi.latency)", "mpi.barrier"] {
            assert!(page.contains(expected), "{expected} of {locale:?}: {page}");
        }
        let is_english = page.contains("of MPI messages") || page.contains("over all ranks");
        assert_eq!(is_english, locale == Locale::En, "{locale:?}: {page}");
    }
}

/// A legend explains only marks that occur; the single column of an imported file has no best
/// value.
#[test]
fn legend_explains_only_present_marks() {
    let page = |summary: &RunSummary| markdown::document(&build::run_page(summary, None));
    let mut all = mpi();
    // The two fastest differ by less than their uncertainty.
    all.results
        .iter_mut()
        .for_each(|it| it.ci = it.ci.map(|[low, high]| [low * 0.95, high * 1.05]));
    let all = page(&all);
    for mark in
        ["◀ marks the best", "≈: the two", "±?: too few", "half a round trip", "transport is"]
    {
        assert!(all.contains(mark), "{mark}: {all}");
    }
    let mut imported = mpi();
    imported.results = vec![by_osu()];
    let imported = page(&imported);
    assert!(
        imported.contains("±?: too few effective samples for an interval. Latency is half")
    );
    for mark in ["◀", "≈", "transport is"] {
        assert!(!imported.contains(mark), "{mark}: {imported}");
    }
    let mut known = mpi();
    known.results.retain(|it| it.benchmark == "mpi.barrier" && it.metric == "latency");
    let known = page(&known);
    for mark in ["±?", "half a round trip"] {
        assert!(!known.contains(mark), "{mark}: {known}");
    }
}
