//! `likwid-bench`: the kernels that match assay's operations, and their bandwidths.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use assay_adapters::likwid_text::LikwidText;

use super::workplace::BenchWorkplace;

/// Group of likwid kernels that access the same arrays.
#[derive(Debug)]
pub(crate) struct LikwidFamily {
    /// Prefixes of the kernels' names.
    pub prefixes: &'static [&'static str],
    /// Number of arrays.
    pub arrays: u64,
}

/// Copy: c = a.
pub(crate) static COPY: LikwidFamily = LikwidFamily { prefixes: &["copy"], arrays: 2 };
/// Triad: a = b + s·c, likwid's `stream`; its `triad` has a fourth array.
pub(crate) static STREAM: LikwidFamily = LikwidFamily { prefixes: &["stream"], arrays: 3 };
/// Reads, with or without a sum.
pub(crate) static LOAD: LikwidFamily = LikwidFamily { prefixes: &["load", "sum"], arrays: 1 };
/// Writes.
pub(crate) static STORE: LikwidFamily = LikwidFamily { prefixes: &["store"], arrays: 1 };

/// Returns the double-precision kernels of `family` from the output of `likwid-bench -a`.
pub(crate) fn matching_kernels(listing: &str, family: &LikwidFamily) -> Vec<String> {
    listing
        .lines()
        .filter_map(|line| line.split_once(" - "))
        .map(|(name, _)| name.trim())
        .filter(|name| {
            let mut words = name.split('_');
            let is_member =
                words.next().is_some_and(|prefix| family.prefixes.contains(&prefix));
            is_member && !words.any(|word| word == "sp")
        })
        .map(str::to_owned)
        .collect()
}

/// Returns the output of `likwid-bench -a`.
pub(crate) fn list_kernels(workplace: &BenchWorkplace) -> Result<String> {
    crate::command::output(workplace.command("likwid-bench").arg("-a"))
}

/// Runs one kernel over arrays of `array_bytes`, each part first touched by its own thread; returns
/// bytes per second.
pub(crate) fn run(
    workplace: &BenchWorkplace,
    kernel: &str,
    family: &LikwidFamily,
    array_bytes: u64,
    iterations: u64,
) -> Result<f64> {
    let mut command = self::command(workplace, kernel, family, array_bytes, iterations);
    let output = crate::command::output(&mut command)?;
    parse_rate(&output, family, iterations)
        .with_context(|| format!("{}:\n{output}", workplace.format_command(&command)))
}

/// Returns the command of [`run`].
pub(crate) fn command(
    workplace: &BenchWorkplace,
    kernel: &str,
    family: &LikwidFamily,
    array_bytes: u64,
    iterations: u64,
) -> Command {
    // likwid divides the size by the number of arrays, defines kB as 1000 bytes, and pins threads.
    let size = format!("N:{}kB:{}", array_bytes * family.arrays / 1000, workplace.cpus.count());
    let mut command = workplace.pinned_command("likwid-bench");
    command.args(["-t", kernel, "-W", &size, "-i", &iterations.to_string()]);
    command
}

/// Parses the rate. Checks that likwid counts bytes as assay does: all arrays once per iteration,
/// without write-allocate reads.
fn parse_rate(output: &str, family: &LikwidFamily, iterations: u64) -> Result<f64> {
    let text = LikwidText::read(output)?;
    let bytes = text.bytes_per_element;
    ensure!(bytes == 8 * family.arrays, "{bytes} bytes per element");
    let expected_bytes = text.bytes.saturating_mul(iterations);
    ensure!(
        text.volume_bytes == expected_bytes,
        "likwid did not count every byte once per iteration"
    );
    Ok(text.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
clcopy - Double-precision cache line copy
copy - Double-precision vector copy, only scalar operations
copy_mem_avx512 - Double-precision vector copy, uses AVX-
stream_sp_mem_avx - Single-precision stream triad
stream_mem_avx_fma - Double-precision stream triad A(i) = B(i)*c + C(i)
triad_avx - Double-precision triad A(i) = B(i) * C(i) + D(i)
";

    #[test]
    fn selects_kernels_by_prefix_and_precision() {
        assert_eq!(matching_kernels(LISTING, &COPY), ["copy", "copy_mem_avx512"]);
        assert_eq!(matching_kernels(LISTING, &STREAM), ["stream_mem_avx_fma"]);
        assert_eq!(matching_kernels(LISTING, &LOAD), [""; 0]);
    }

    /// Output of likwid-bench 5.2.2 for `stream_mem_avx512`, shortened.
    const OUTPUT: &str = "\
Test: stream_mem_avx512
Time:			2.390203e+00 sec
Iterations:		128
Iterations per thread:	64
Size (Byte):		768000000
Data volume (Byte):	49152000000
MByte/s:		20563.94
Load bytes per element:	16
Store bytes per elem.:	8
";

    #[test]
    fn rejects_other_byte_counts() {
        let bytes_per_s = parse_rate(OUTPUT, &STREAM, 64).unwrap();
        assert!((bytes_per_s / 20_563.94e6 - 1.0).abs() < 1e-6);
        assert!(parse_rate(OUTPUT, &COPY, 64).is_err(), "other arrays");
        assert!(parse_rate(OUTPUT, &STREAM, 65).is_err(), "other iterations");
        assert!(
            parse_rate(&OUTPUT.replace("20563.94", "19611.30"), &STREAM, 64).is_err(),
            "MiB"
        );
        assert!(parse_rate("Segmentation fault", &STREAM, 64).is_err());
    }
}
