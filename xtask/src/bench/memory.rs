//! Memory bandwidth compared with `likwid-bench`'s kernels, a plain C loop, and a sweep of vector
//! loops in C.

use std::path::Path;

use anyhow::{Context, Result};
use assay_model::quantity::{Bytes, Quantity, Unit};

use crate::packages;

use super::cpus::Cpus;
use super::likwid::{COPY, LOAD, LikwidFamily, STORE, STREAM};
use super::machine;
use super::options::BenchOptions;
use super::ratio::{self, PeerRatio};
use super::workplace::BenchWorkplace;
use contest::{BandwidthContest, BandwidthFigures, LikwidKernel};
use workbench::page::MarkdownPage;

mod contest;

/// Operation of STREAM, or a part of one, and the likwid kernels that match it.
struct Operation {
    name: &'static str,
    family: &'static LikwidFamily,
    /// Difference between likwid's kernels and the operation.
    note: &'static str,
    targets: Option<Targets>,
}

/// Minimum ratios.
#[derive(Clone, Copy)]
struct Targets {
    likwid: f64,
    plain: f64,
    sweep: f64,
}

/// Targets of the four operations of STREAM.
const STREAM_TARGETS: Option<Targets> = Some(Targets { likwid: 0.99, plain: 1.3, sweep: 0.98 });
const NO_SCALE: &str = " (as many bytes; likwid has no Scale)";
const NO_ADD: &str = " (as many bytes; likwid has no Add)";

const OPERATIONS: [Operation; 6] = [
    Operation { name: "copy", family: &COPY, note: "", targets: STREAM_TARGETS },
    Operation { name: "scale", family: &COPY, note: NO_SCALE, targets: STREAM_TARGETS },
    Operation { name: "add", family: &STREAM, note: NO_ADD, targets: STREAM_TARGETS },
    Operation { name: "triad", family: &STREAM, note: "", targets: STREAM_TARGETS },
    Operation { name: "read", family: &LOAD, note: "", targets: None },
    Operation { name: "write", family: &STORE, note: "", targets: None },
];

/// Runs the comparison and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_MEMORY)?;
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let mut facts = machine::facts(&workplace);
    let contest = BandwidthContest::prepare(&workplace, options)?;
    facts.push(machine::assay_version(&workplace, &contest.assay));
    facts.push(("packages", machine::package_versions(&workplace, &["likwid", "gcc"])?));
    let size = Bytes(contest.array_bytes);
    facts.push(("arrays", format!("{size} each, doubles, {} turns", options.turns)));

    let figures = contest.measure(options)?;
    facts.push(("load after", workbench::load_average()));
    let fewest = figures.our_samples.iter().min().copied().unwrap_or(0);
    facts.push(("samples", format!("at least {fewest} for each of assay's figures in a turn")));
    let mut page = MarkdownPage::new(
        "Memory bandwidth compared with other tools",
        "cargo xtask bench memory",
    );
    page.facts(&facts);
    page.heading("Figures");
    page.table(
        &["operation", "assay", "peer", "peer's figure", "ratio", "95 %", "target", ""],
        &rows(&contest, &figures)?,
    );
    page.paragraph(ABOUT_FIGURES);
    page.heading("Gain by non-temporal stores");
    page.paragraph(ABOUT_STORES);
    let head = ["likwid's kernels", "best with", "best without", "gain"];
    page.table(&head, &gain_rows(&contest.tried)?);
    page.heading("Commands");
    page.commands(&contest.commands());
    page.publish(root, "memory")
}

const ABOUT_FIGURES: &str = "\
All bandwidths are medians over the turns and count bytes as STREAM does. Within a turn every contender
runs once, in a seeded random order that is reversed every other turn. The ratio is that of the medians; the
interval is that of the median ratio within a turn, from order statistics. assay's figure of a turn is
its own median over repetitions, likwid's the mean over its iterations (it prints no other), the C loop's
its median over passes. likwid's best kernels were chosen by trying all of them first. The sweep tries 1,
2, 4 and 8 walks with plain and non-temporal stores in each of its runs, and times the one with the best
median again, as long as all of them before.";

const ABOUT_STORES: &str = "\
A plain store reads the cache line before it writes it (write-allocate), a non-temporal one does not. The
target against the plain loop holds where that costs something: where likwid's own kernels gain from
non-temporal stores.";

/// Returns the rows of each operation: compared with likwid's best kernel, the plain loop, and the
/// best of the sweep.
fn rows(
    contest: &BandwidthContest<'_>,
    figures: &BandwidthFigures,
) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for Operation { name, family, note, targets } in &OPERATIONS {
        let missing = || format!("no figures of {name}");
        let ours = figures.ours.get(*name).with_context(missing)?;
        let our_kernel = figures.our_kernels.get(*name).with_context(missing)?;
        let label = format!("{name} (`{our_kernel}`)");
        let (kernel, theirs) = figures.best_likwid_kernel(&contest.kernels, family)?;
        let peer = format!("likwid-bench `{kernel}`{note}");
        rows.push(row(&label, ours, peer, theirs, targets.map(|targets| targets.likwid))?);
        let theirs = figures.plain.get(*name).with_context(missing)?;
        let target = targets.map(|targets| targets.plain);
        rows.push(row(&label, ours, "plain C loop".into(), theirs, target)?);
        if let Some(theirs) = figures.sweep.get(*name) {
            let variant = figures.sweep_variants.get(*name).with_context(missing)?;
            let peer = format!("best of the sweep in C ({variant})");
            let target = targets.map(|targets| targets.sweep);
            rows.push(row(&label, ours, peer, theirs, target)?);
        }
    }
    Ok(rows)
}

fn row(
    operation: &str,
    ours: &[f64],
    peer: String,
    theirs: &[f64],
    target: Option<f64>,
) -> Result<Vec<String>> {
    let nothing = "nothing was measured";
    let ratio = PeerRatio::from_turns(ours, theirs).context(nothing)?;
    Ok(vec![
        operation.into(),
        format_rate(ratio::median(ours).context(nothing)?),
        peer,
        format_rate(ratio::median(theirs).context(nothing)?),
        format!("{:.3}", ratio.estimate),
        ratio.format_interval(),
        target.map_or("–".into(), |target| format!("≥ {target}")),
        target.map_or("–", |target| ratio.verdict(target)).into(),
    ])
}

/// Returns, for each family that writes, the best kernel with and without non-temporal stores.
fn gain_rows(tried: &[(LikwidKernel, f64)]) -> Result<Vec<Vec<String>>> {
    let best = |family: &LikwidFamily, is_non_temporal: bool| {
        tried
            .iter()
            .filter(|(kernel, _)| std::ptr::eq(kernel.family, family))
            // The name of a likwid kernel with non-temporal stores contains `mem`.
            .filter(|(kernel, _)| kernel.name.split('_').any(|w| w == "mem") == is_non_temporal)
            .map(|(_, figure)| *figure)
            .reduce(f64::max)
            .context("likwid has kernels of one kind only")
    };
    [("copy", &COPY), ("stream", &STREAM), ("store", &STORE)]
        .into_iter()
        .map(|(name, family)| {
            let (with, without) = (best(family, true)?, best(family, false)?);
            Ok(vec![
                name.into(),
                format_rate(with),
                format_rate(without),
                format!("{:.2}", with / without),
            ])
        })
        .collect()
}

fn format_rate(bytes_per_s: f64) -> String {
    Quantity::new(bytes_per_s, Unit::BytePerSecond).to_string()
}
