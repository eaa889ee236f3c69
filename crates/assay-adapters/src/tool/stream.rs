//! Adapter of a user's `stream`: the original STREAM in C, compiled with the size of its arrays.

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::workload::Workload;

use super::{ToolDetection, unsupported};
use crate::invocation::{Invocation, ToolRequest, c_locale, threads_per_process};
use crate::outputs::{Outputs, ParsedOutput, ToolError};
use crate::stream_text::{StreamText, report_arrays};

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["stream_c", "stream_c.exe", "stream", "stream_omp"],
    path_variable: "ASSAY_STREAM",
    // Distinguishes STREAM from ImageMagick's `stream`: the text is in STREAM's binary.
    required_text: Some("STREAM version"),
    hint: "compile stream.c from cs.virginia.edu/stream with -O3 -march=native -fopenmp \
           -DSTREAM_ARRAY_SIZE=…, then name the binary in ASSAY_STREAM",
    ..ToolDetection::DEFAULT
};

/// Whether the workload has a single domain: STREAM is one process, timed by one clock.
pub(super) fn supports(workload: &Workload) -> bool {
    workload
        .as_stream()
        .is_some_and(|work| work.domains.len() == 1 && !work.domains[0].cpus.is_empty())
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    if !supports(request.workload) {
        return Err(unsupported("stream", request.workload));
    }
    let cpus = request.workload.cpus();
    let places: Vec<String> = cpus.iter().map(|cpu| format!("{{{cpu}}}")).collect();
    let mut environment = vec![c_locale()];
    environment.extend(threads_per_process(cpus.len()));
    let pinning = [
        ("OMP_DYNAMIC", "false".to_owned()),
        ("OMP_PLACES", places.join(",")),
        ("OMP_PROC_BIND", "close".to_owned()),
    ];
    environment.extend(pinning.map(|(name, value)| (name.to_owned(), value)));
    Ok(vec![Invocation { environment, cpus, ..Invocation::new(request, "stream") }])
}

/// Parses the output of a run. The sample is the rate that STREAM prints, which is that of the
/// fastest iteration.
pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let work = workload.as_stream().ok_or_else(|| unsupported("stream", workload))?;
    outputs.check_exit()?;
    let text = StreamText::read(&outputs.stdout)?;
    let mut parsed = ParsedOutput { version: text.version.clone(), ..ParsedOutput::default() };
    text.add_samples(text.functions.map(|function| function.rate), &mut parsed);
    report_arrays(None, text.elements.saturating_mul(text.element_bytes), work, &mut parsed);
    let threads = text.threads.unwrap_or(1);
    parsed.set_attribute(Attribute::Threads, threads);
    let cpus = invocation.cpus.len() as u64;
    if threads != cpus {
        parsed.doubts.push(Doubt::OtherThreadCount { asked: cpus, ran: threads });
    }
    Ok(parsed)
}
