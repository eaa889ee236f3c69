//! Adapter of `likwid-bench`: LIKWID's memory kernels, one per process.

use assay_model::attribute::Attribute;
use assay_model::workload::{StreamWorkload, Workload};

use super::{ToolDetection, VersionSource, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::likwid_text::LikwidText;
use crate::outputs::{Outputs, ParsedOutput, ToolError};
use crate::stream_text::report_arrays;

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["likwid-bench"],
    path_variable: "ASSAY_LIKWID_BENCH",
    version: VersionSource::FromOption { arguments: &["-v"], read: parse_version },
    hint: "Debian and Ubuntu: apt install likwid",
    ..ToolDetection::DEFAULT
};

/// Parses the version: `likwid-bench -- Version 5.2.2` → `5.2.2`.
fn parse_version(printed: &str) -> Option<String> {
    let (_, rest) = printed.split_once("likwid-bench -- Version ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

pub(super) fn supports(workload: &Workload) -> bool {
    supported_arrays(workload).is_some()
}

fn supported_arrays(workload: &Workload) -> Option<&StreamWorkload> {
    let is_one_domain =
        |work: &&StreamWorkload| work.domains.len() == 1 && !work.domains[0].cpus.is_empty();
    workload.as_stream().filter(is_one_domain)
}

/// Metric with its number of arrays, bytes per element and kernel of each family. LIKWID calls
/// STREAM's Triad `stream`; its own `triad` has four arrays. It has no Scale and no Add. Numbers
/// from `likwid-bench -l KERNEL`.
struct LikwidOperation {
    metric: &'static str,
    arrays: u64,
    bytes_per_element: u64,
    kernels: [&'static str; 4],
}

/// CPU flags that each family of kernels needs; the last needs none. Kernels that write use
/// non-temporal stores (`_mem`), which suit large arrays.
const FAMILIES: [&[&str]; 4] = [&["avx512f"], &["avx", "fma"], &["sse2"], &[]];

const OPERATIONS: [LikwidOperation; 4] = [
    LikwidOperation {
        metric: "copy",
        arrays: 2,
        bytes_per_element: 16,
        kernels: ["copy_mem_avx512", "copy_mem_avx", "copy_mem_sse", "copy"],
    },
    LikwidOperation {
        metric: "triad",
        arrays: 3,
        bytes_per_element: 24,
        kernels: ["stream_mem_avx512", "stream_mem_avx_fma", "stream_mem_sse", "stream"],
    },
    LikwidOperation {
        metric: "read",
        arrays: 1,
        bytes_per_element: 8,
        kernels: ["sum_avx512", "sum_avx", "sum_sse", "sum"],
    },
    LikwidOperation {
        metric: "write",
        arrays: 1,
        bytes_per_element: 8,
        kernels: ["store_mem_avx512", "store_mem_avx", "store_mem_sse", "store"],
    },
];

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let work = supported_arrays(request.workload)
        .ok_or_else(|| unsupported("likwid-bench", request.workload))?;
    let cpus = request.workload.cpus();
    let has = |flag: &&str| request.cpu_flags.iter().any(|have| have == flag);
    let family = FAMILIES.iter().position(|flags| flags.iter().all(has));
    let family = family.unwrap_or(FAMILIES.len() - 1);
    let invocation = |operation: &LikwidOperation| Invocation {
        arguments: arguments(operation, operation.kernels[family], work, cpus.len()),
        cpus: cpus.clone(),
        ..Invocation::new(request, operation.metric)
    };
    Ok(OPERATIONS.iter().map(invocation).collect())
}

/// Builds `-W N:SIZEkB:THREADS`. Domain `N` is every CPU that the process may use, which the caller
/// has restricted; with `-W` each thread first touches its own part; SIZE is the sum of all arrays.
fn arguments(
    operation: &LikwidOperation,
    kernel: &str,
    work: &StreamWorkload,
    threads: usize,
) -> Vec<String> {
    /// Ten passes as in STREAM, or more for small arrays: enough to move 8 GB, some tenths of a
    /// second, so that the start of the threads is negligible.
    const MINIMUM_PASSES: u64 = 10;
    const MINIMUM_TRAFFIC_BYTES: u64 = 8_000_000_000;
    let bytes = work.bytes_per_array.saturating_mul(operation.arrays);
    let passes = (MINIMUM_TRAFFIC_BYTES / bytes.max(1)).max(MINIMUM_PASSES);
    let workgroup = format!("N:{}kB:{threads}", bytes.div_ceil(1000));
    let words = ["-t", kernel, "-i", &passes.to_string(), "-W", &workgroup];
    words.map(str::to_owned).to_vec()
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let work = workload.as_stream().ok_or_else(|| unsupported("likwid-bench", workload))?;
    outputs.check_exit()?;
    let text = LikwidText::read(&outputs.stdout)?;
    let kernel =
        |operation: &&LikwidOperation| operation.kernels.contains(&text.kernel.as_str());
    let Some(operation) = OPERATIONS.iter().find(kernel) else {
        let what = format!("unexpected kernel {:?}", text.kernel);
        return Err(ToolError::Contradiction { what });
    };
    if operation.metric != invocation.label {
        let what = format!("{} was requested, {:?} was run", invocation.label, text.kernel);
        return Err(ToolError::Contradiction { what });
    }
    let mut asked = invocation.cpus.clone();
    asked.sort_unstable();
    if text.cpus != asked {
        let what = format!("threads ran on CPUs {:?}, not on {asked:?}", text.cpus);
        return Err(ToolError::Contradiction { what });
    }
    let elements = text.bytes / (8 * operation.arrays);
    let counted = elements * operation.bytes_per_element;
    if text.volume_bytes != counted.saturating_mul(text.passes) {
        let what = format!(
            "{} passes over {elements} elements are not {} B",
            text.passes, text.volume_bytes
        );
        return Err(ToolError::Contradiction { what });
    }
    let metric = operation.metric;
    let mut parsed = ParsedOutput::default();
    parsed.add_samples(metric, vec![text.rate]);
    parsed.set_metric_attribute(metric, Attribute::Kernel, text.kernel);
    parsed.set_metric_attribute(metric, Attribute::Statistic, "mean");
    parsed.set_metric_attribute(metric, Attribute::Passes, text.passes);
    report_arrays(Some(metric), elements * 8, work, &mut parsed);
    parsed.set_metric_attribute(metric, Attribute::Threads, text.cpus.len());
    Ok(parsed)
}
