//! Adapter of a user's `xhpl`: HPL with the BLAS and the MPI it was built with.

use assay_model::attribute::Attribute;
use assay_model::workload::Workload;

use super::{Detect, Version, not_taken};
use crate::hpl_text::{HplInput, HplLog, LARGEST_N, block, grid};
use crate::invocation::{Invocation, Request, TextFile, plain_language, threads_per_process};
use crate::launcher::Launch;
use crate::outputs::{Outputs, Parsed, ToolError};

pub(super) const fn detect() -> Detect {
    Detect {
        programs: &["xhpl", "xhpl_intel64_dynamic", "xhpl_intel64_static"],
        variable: "ASSAY_XHPL",
        mark: None,
        version: Version::Measured,
        launcher: true,
        hint: "build HPL from netlib.org/benchmark/hpl with your BLAS and MPI, then name the \
               binary in ASSAY_XHPL",
    }
}

/// Whether xhpl supports the workload. Its BLAS is chosen when it is built, so that a workload must
/// not name one.
pub(super) fn takes(workload: &Workload) -> bool {
    matches!(workload, Workload::Linpack(work)
        if work.blas.is_none() && !work.cpus.is_empty() && (1..=LARGEST_N).contains(&work.n))
}

pub(super) fn command(request: &Request<'_>) -> Result<Vec<Invocation>, ToolError> {
    let (Workload::Linpack(work), true) = (request.workload, takes(request.workload)) else {
        return Err(not_taken("xhpl", request.workload));
    };
    let Launch { program, arguments, mut environment, ranks } =
        Launch::of(&request.found.path, request.found.launcher.as_ref(), &work.cpus);
    let (p, q) = grid(ranks as u64);
    let input = HplInput { n: work.n, rows: 1, block: block(work.n, q), p, q };
    environment.push(plain_language());
    environment.extend(threads_per_process(work.cpus.len() / ranks));
    Ok(vec![Invocation {
        workload: request.workload.clone(),
        label: "xhpl".to_owned(),
        program,
        arguments,
        environment,
        files_to_write: vec![TextFile { name: "HPL.dat".to_owned(), content: input.text() }],
        files_to_read: vec![],
        cpus: work.cpus.clone(),
        repetitions: request.repetitions.max(1),
    }])
}

pub(super) fn parse(invocation: &Invocation, outputs: &Outputs) -> Result<Parsed, ToolError> {
    let Workload::Linpack(work) = &invocation.workload else {
        return Err(not_taken("xhpl", &invocation.workload));
    };
    outputs.ended_well()?;
    let log = HplLog::read(&outputs.stdout)?;
    let mut parsed = Parsed { version: log.version.clone(), ..Parsed::default() };
    log.report(work.n, &mut parsed)?;
    parsed.learn(Attribute::Threads, work.cpus.len());
    parsed.learn(Attribute::Blas, "linked");
    Ok(parsed)
}
