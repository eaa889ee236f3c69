//! Adapter of `hpcc`, the HPC Challenge suite, for its HPL and its STREAM.
//!
//! hpcc 1.5.0 always runs all its tests. The memory of every test follows from HPL's N: a rank gets
//! 8 N² / (P × Q) bytes, and STREAM's three arrays share them.

use assay_model::attribute::Attribute;
use assay_model::workload::{LinpackWorkload, StreamWorkload, Workload};

use super::{ToolDetection, unsupported};
use crate::hpcc_text::{HpccSummary, find_section};
use crate::hpl_text::{HplInput, HplLog, MAX_N, block_size, process_grid};
use crate::invocation::{Invocation, TextFile, ToolRequest, c_locale, threads_per_process};
use crate::launcher::Launch;
use crate::outputs::{Outputs, ParsedOutput, ToolError};
use crate::stream_text::{StreamText, report_arrays};

const INPUT: &str = "hpccinf.txt";
const OUTPUT: &str = "hpccoutf.txt";

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["hpcc"],
    path_variable: "ASSAY_HPCC",
    uses_launcher: true,
    hint: "Debian and Ubuntu: apt install hpcc openmpi-bin libopenblas0-pthread",
    ..ToolDetection::DEFAULT
};

pub(super) fn supports(workload: &Workload) -> bool {
    if let Some(work) = workload.as_linpack() {
        let matrix_bytes = work.n.saturating_mul(work.n).saturating_mul(8);
        return work.blas.is_none()
            && work.n <= MAX_N
            && has_enough_memory(matrix_bytes, &work.cpus);
    }
    workload.as_stream().is_some_and(|work| {
        matches!(
            work.domains.as_slice(),
            [domain] if has_enough_memory(work.bytes_per_array.saturating_mul(3), &domain.cpus)
        )
    })
}

/// Whether every rank gets enough memory for all tests. With a few elements, some of hpcc's tests
/// fail (seen at N = 4 on two ranks) or crash (N = 1), and the run with them.
fn has_enough_memory(bytes: u64, cpus: &[u32]) -> bool {
    const MINIMUM_BYTES_PER_RANK: u64 = 16 << 10;
    bytes.checked_div(cpus.len() as u64).is_some_and(|share| share >= MINIMUM_BYTES_PER_RANK)
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    if !supports(request.workload) {
        return Err(unsupported("hpcc", request.workload));
    }
    let cpus = request.workload.cpus();
    let launch = Launch::for_cpus(&request.tool.path, request.tool.launcher.as_ref(), &cpus);
    let input = if let Some(work) = request.workload.as_linpack() {
        let (p, q) = process_grid(launch.ranks as u64);
        let rows = request.repetitions.clamp(1, MAX_SYSTEMS);
        HplInput { n: work.n, rows, block: block_size(work.n, q), p, q }
    } else if launch.ranks != cpus.len() {
        return Err(ToolError::NoLauncher { tool: "hpcc", cpus: cpus.len() });
    } else if let Some(work) = request.workload.as_stream() {
        stream_input(work, launch.ranks as u64)
    } else {
        return Err(unsupported("hpcc", request.workload));
    };
    Ok(vec![invocation(request, launch, cpus, &input)])
}

/// Systems solved per run: they share the time of hpcc's other tests.
const MAX_SYSTEMS: u32 = 3;

/// Chooses N so that STREAM's arrays get the requested size.
///
/// The process grid is 1 × 1 although all ranks run STREAM. hpcc gives every rank the memory of a
/// rank of the smallest grid, so that N² need not grow with the ranks, and the HPL that also runs,
/// N³, is √ranks times shorter. N is rounded up: arrays may be larger, never smaller.
fn stream_input(work: &StreamWorkload, ranks: u64) -> HplInput {
    const ARRAYS: f64 = 3.0;
    let bytes_per_rank = ARRAYS * work.bytes_per_array as f64 / ranks as f64;
    let n = ((bytes_per_rank / 8.0).sqrt().ceil() as u64).clamp(1, MAX_N);
    HplInput { n, rows: 1, block: block_size(n, 1), p: 1, q: 1 }
}

fn invocation(
    request: &ToolRequest<'_>,
    launch: Launch,
    cpus: Vec<u32>,
    input: &HplInput,
) -> Invocation {
    let mut environment = launch.environment;
    environment.push(c_locale());
    environment.extend(threads_per_process(cpus.len() / launch.ranks));
    // After HPL's own lines: no further sizes or blocks for PTRANS.
    let content = format!(
        "{}##### This line (no. 32) is ignored (it serves as a separator). ######\n\
         0            Number of additional problem sizes for PTRANS\n\
         0            values of N\n\
         0            number of additional blocking sizes for PTRANS\n\
         0            values of NB\n",
        input.text()
    );
    Invocation {
        program: launch.program,
        arguments: launch.arguments,
        environment,
        files_to_write: vec![TextFile { name: INPUT.to_owned(), content }],
        files_to_read: vec![OUTPUT.to_owned()],
        cpus,
        repetitions: request.repetitions.div_ceil(input.rows).max(1),
        ..Invocation::new(request, "hpcc")
    }
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    outputs.check_exit()?;
    let text = outputs.file(OUTPUT)?;
    let summary = HpccSummary::read(text)?;
    let mut parsed =
        ParsedOutput { version: Some(summary.version()?), ..ParsedOutput::default() };
    if let Some(work) = invocation.workload.as_linpack() {
        add_linpack(text, &summary, work, &mut parsed)?;
    } else if let Some(work) = invocation.workload.as_stream() {
        add_stream(text, &summary, work, &mut parsed)?;
    } else {
        return Err(unsupported("hpcc", &invocation.workload));
    }
    if summary.text("Success")? != "1" {
        let verdict = "Success=0 in the summary: one of hpcc's tests failed".to_owned();
        return Err(ToolError::CheckFailed { verdict });
    }
    parsed.set_attribute(Attribute::Ranks, summary.whole_number("CommWorldProcs")?);
    parsed.set_attribute(Attribute::Threads, invocation.cpus.len());
    Ok(parsed)
}

/// Adds the rows of the HPL section; the summary repeats the best of them with more digits.
fn add_linpack(
    text: &str,
    summary: &HpccSummary<'_>,
    work: &LinpackWorkload,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    /// Relative tolerance: the rows have three decimals, the summary six digits.
    const RATE_TOLERANCE: f64 = 0.001;
    HplLog::read(find_section(text, "HPL")?)?.add_samples(work.n, parsed)?;
    // HPL_Tflops is Gflops × 1e-3 in hpcc's src/io.c: 10¹² FLOP/s.
    let flops = summary.rate("HPL_Tflops", 12)?;
    for measured in &mut parsed.values {
        let best = measured.samples.iter().copied().fold(0.0, f64::max);
        if (best - flops).abs() > RATE_TOLERANCE * flops {
            let what = format!("{best:.4e} FLOP/s in the rows, {flops:.4e} in the summary");
            return Err(ToolError::Contradiction { what });
        }
        if let [only] = measured.samples.as_mut_slice() {
            *only = flops;
        }
    }
    parsed.set_attribute(Attribute::Blas, "linked");
    Ok(())
}

/// Adds the rates of `StarSTREAM`: all ranks at once, between barriers. The summary has the mean
/// over the ranks of bytes of one rank over the shortest pass of any rank, so that the sum over the
/// ranks is the rate of the machine. (`SingleSTREAM` is one rank while the others wait; it is not
/// used.)
fn add_stream(
    text: &str,
    summary: &HpccSummary<'_>,
    work: &StreamWorkload,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let section = find_section(text, "StarSTREAM")?;
    let errors = section.lines().find_map(|line| line.strip_prefix("Node(s) with error "));
    match errors.map(str::trim) {
        Some("0") => {}
        Some(count) => {
            let verdict = format!("STREAM failed on {count} ranks");
            return Err(ToolError::CheckFailed { verdict });
        }
        None => {
            let what = "count of failed ranks".to_owned();
            return Err(ToolError::Missing { what, place: "the StarSTREAM section" });
        }
    }
    let table = StreamText::read(section)?;
    let ranks = summary.whole_number("CommWorldProcs")?;
    let cpus: u64 = work.domains.iter().map(|domain| domain.cpus.len() as u64).sum();
    if ranks != cpus {
        let what = format!("{ranks} ranks instead of {cpus}");
        return Err(ToolError::Contradiction { what });
    }
    // GB/s of one rank are 10⁹ B/s: hpcc's STREAM/stream.c multiplies by 1e-9.
    let machine = |key| summary.rate(key, 9).map(|rate| rate * ranks as f64);
    let rates = [
        machine("StarSTREAM_Copy")?,
        machine("StarSTREAM_Scale")?,
        machine("StarSTREAM_Add")?,
        machine("StarSTREAM_Triad")?,
    ];
    table.add_samples(rates, parsed);
    let elements = summary.whole_number("STREAM_VectorSize")?.saturating_mul(ranks);
    report_arrays(None, elements.saturating_mul(table.element_bytes), work, parsed);
    Ok(())
}
