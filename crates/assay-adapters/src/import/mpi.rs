//! Import of results of MPI and RDMA tests. Their tables do not name the MPI installation.

use super::{ImportFormat, format};

mod imb;
mod osu;
mod perftest;
mod perftest_json;
mod table;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format("osu", "osu", "OSU micro-benchmarks 3 to 7", osu::is_osu, osu::read_osu)
        .with_contents(
            "every table, with tails and device buffers",
            "`osu_hello`, iterations, figures rounded to zero",
        ),
    format(
        "imb",
        "imb",
        "Intel MPI Benchmarks: MPI1, P2P, NBC, RMA, IO, MT",
        imb::is_imb,
        imb::read_imb,
    )
    .with_contents(
        "every test and mode",
        "iterations that differ by size, the column of groups, figures rounded to zero",
    ),
    format(
        "perftest-json",
        "perftest",
        "perftest --out_json",
        perftest_json::is_perftest_json,
        perftest_json::read,
    )
    .with_contents("all figures of each row", ""),
    format(
        "perftest",
        "perftest",
        "perftest: ib_send_lat, ib_write_bw and others",
        perftest::is_perftest,
        perftest::read,
    )
    .with_contents("all columns of each row", ""),
];
