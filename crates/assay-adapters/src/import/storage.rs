//! Import of results of storage tools other than fio.

use super::{ImportFormat, format};

mod dlio;
mod elbencho;
mod io500;
mod ior;
mod ior_json;
mod ior_lines;
mod ior_test;
mod mdtest;
mod vdbench;
mod vdbench_heading;
mod vdbench_summary;

/// Contents of elbencho's three formats.
const ELBENCHO_FIGURES: &str = "rate, bandwidth, latency, files of each phase";
const ELBENCHO_OTHERS: &str =
    "figures of the fastest thread, CPU, histograms, phases without data and entries";

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format(
        "dlio",
        "dlio",
        "DLIO's summary.json, as MLPerf Storage writes it",
        dlio::is_dlio,
        dlio::read,
    )
    .with_contents(
        "samples per second and use of the accelerators in each epoch, bandwidth, checkpoints",
        "means and deviations of the epochs, verdicts",
    ),
    format(
        "elbencho-csv",
        "elbencho",
        "elbencho --csvfile",
        elbencho::is_csv,
        elbencho::read_csv,
    )
    .with_contents(ELBENCHO_FIGURES, ELBENCHO_OTHERS),
    format(
        "elbencho-json",
        "elbencho",
        "elbencho --jsonfile",
        elbencho::is_json,
        elbencho::read_json,
    )
    .with_contents(ELBENCHO_FIGURES, ELBENCHO_OTHERS),
    format(
        "elbencho",
        "elbencho",
        "elbencho's console and --resfile, of versions 1 to 3",
        elbencho::is_console,
        elbencho::read_console,
    )
    .with_contents(ELBENCHO_FIGURES, ELBENCHO_OTHERS),
    format(
        "io500",
        "io500",
        "IO500's summary of a run",
        io500::is_summary,
        io500::read_summary,
    )
    .with_others()
    .with_contents("every phase and the score", "phases that are no part of the score"),
    format(
        "io500-result",
        "io500",
        "IO500's result.txt",
        io500::is_result,
        io500::read_result_file,
    )
    .with_others()
    .with_contents("every phase and the score", ""),
    format("ior", "ior", "IOR 2.10 to 4.1: text, CSV or JSON", ior::is_ior, ior::read_ior)
        .with_contents("rate, bandwidth, latency of writes and reads", "`remove` rows"),
    format(
        "mdtest",
        "mdtest",
        "mdtest 1.9 to 4: the summary of rates, and the rates of each iteration",
        mdtest::is_mdtest,
        mdtest::read_mdtest,
    )
    .with_contents("rates of every operation", "tables of times"),
    format(
        "vdbench-flatfile",
        "vdbench",
        "Vdbench's flatfile.html",
        vdbench::is_flat,
        vdbench::read_flat_file,
    )
    .with_contents("rate, bandwidth, response time of each run", "columns without a metric"),
    format(
        "vdbench-summary",
        "vdbench",
        "Vdbench's summary.html, totals.html or console, of blocks and file systems",
        vdbench_summary::is_summary,
        vdbench_summary::read_summary,
    )
    .with_contents(
        "rate, bandwidth, response time of each run and operation",
        "format runs, columns without a metric",
    ),
];
