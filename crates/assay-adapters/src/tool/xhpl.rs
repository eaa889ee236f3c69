//! Adapter of a user's `xhpl`: HPL with the BLAS and the MPI it was built with.

use assay_model::attribute::Attribute;
use assay_model::workload::{LinpackWorkload, Workload};

use super::{ToolDetection, unsupported};
use crate::hpl_text::{HplInput, HplLog, MAX_N, block_size, process_grid};
use crate::invocation::{Invocation, TextFile, ToolRequest, c_locale, threads_per_process};
use crate::launcher::Launch;
use crate::outputs::{Outputs, ParsedOutput, ToolError};

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["xhpl", "xhpl_intel64_dynamic", "xhpl_intel64_static"],
    path_variable: "ASSAY_XHPL",
    uses_launcher: true,
    hint: "build HPL from netlib.org/benchmark/hpl with your BLAS and MPI, then name the \
           binary in ASSAY_XHPL",
    ..ToolDetection::DEFAULT
};

/// Whether xhpl supports the workload. The workload must not name a BLAS: xhpl is linked to one.
pub(super) fn supports(workload: &Workload) -> bool {
    supported_system(workload).is_some()
}

fn supported_system(workload: &Workload) -> Option<&LinpackWorkload> {
    workload.as_linpack().filter(|work| {
        work.blas.is_none() && !work.cpus.is_empty() && (1..=MAX_N).contains(&work.n)
    })
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let work = supported_system(request.workload)
        .ok_or_else(|| unsupported("xhpl", request.workload))?;
    let Launch { program, arguments, mut environment, ranks } =
        Launch::for_cpus(&request.tool.path, request.tool.launcher.as_ref(), &work.cpus);
    let (p, q) = process_grid(ranks as u64);
    let input = HplInput { n: work.n, rows: 1, block: block_size(work.n, q), p, q };
    environment.push(c_locale());
    environment.extend(threads_per_process(work.cpus.len() / ranks));
    Ok(vec![Invocation {
        program,
        arguments,
        environment,
        files_to_write: vec![TextFile { name: "HPL.dat".to_owned(), content: input.text() }],
        cpus: work.cpus.clone(),
        ..Invocation::new(request, "xhpl")
    }])
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let work = invocation
        .workload
        .as_linpack()
        .ok_or_else(|| unsupported("xhpl", &invocation.workload))?;
    outputs.check_exit()?;
    let log = HplLog::read(&outputs.stdout)?;
    let mut parsed = ParsedOutput { version: log.version.clone(), ..ParsedOutput::default() };
    log.add_samples(work.n, &mut parsed)?;
    parsed.set_attribute(Attribute::Threads, work.cpus.len());
    parsed.set_attribute(Attribute::Blas, "linked");
    Ok(parsed)
}
