//! Import of logs of compute, memory and accelerator benchmarks.

use super::{ImportFormat, format};

mod babelstream;
mod hpcg;
mod hpl;
mod hpl_mxp;
mod linpack;
mod mlc;
mod nccl;
mod npb;
mod nvbandwidth;
mod stream;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format(
        "hpl-mxp",
        "hpl-mxp",
        "HPL-MxP and HPL-AI: ICL's reference, NVIDIA's, RIKEN's, rocHPL-MxP",
        hpl_mxp::is_hpl_mxp,
        hpl_mxp::read_hpl_mxp,
    )
    .with_others()
    .with_contents(
        "rate of the solution and of the factorisation, time, residual",
        "rows of HPL in the same file",
    ),
    format("hpl", "xhpl", "HPL's log, also NVIDIA's and Intel's", hpl::is_hpl, hpl::read_hpl)
        .with_contents("rate and residual of each parameter set", ""),
    format(
        "stream",
        "stream",
        "STREAM 5: C, Fortran, MPI",
        stream::is_stream,
        stream::read_stream,
    )
    .with_contents("bandwidth of each kernel", ""),
    format(
        "nccl-tests",
        "nccl-tests",
        "nccl-tests and rccl-tests",
        nccl::is_nccl,
        nccl::read_nccl,
    )
    .with_contents(
        "time, algorithm and bus bandwidth, out of place and in place",
        "the average of all sizes",
    ),
    format(
        "nvbandwidth",
        "nvbandwidth",
        "nvbandwidth's text",
        nvbandwidth::is_text,
        nvbandwidth::read_text,
    )
    .with_contents("every matrix", "sums"),
    format(
        "nvbandwidth-json",
        "nvbandwidth",
        "nvbandwidth -j",
        nvbandwidth::is_json,
        nvbandwidth::read_json,
    )
    .with_contents("every matrix", "sums"),
    format(
        "babelstream",
        "babelstream",
        "BabelStream's text and CSV",
        babelstream::is_babelstream,
        babelstream::read_babelstream,
    )
    .with_contents("bandwidth of each kernel", ""),
    format("hpcg", "hpcg", "HPCG's result", hpcg::is_hpcg, hpcg::read_hpcg)
        .with_contents("the rating", "figures of its parts"),
    format("npb", "npb", "NAS Parallel Benchmarks", npb::is_npb, npb::read_npb)
        .with_contents("rate of each kernel", ""),
    format("mlc", "mlc", "Intel Memory Latency Checker", mlc::is_mlc, mlc::read_mlc)
        .with_contents("idle latency, matrices, peak bandwidths, loaded latency", ""),
    format(
        "intel-linpack",
        "intel-linpack",
        "Intel's Optimized LINPACK",
        linpack::is_linpack,
        linpack::read_linpack,
    )
    .with_contents("rate of each size", ""),
];
