//! Parser of likwid-bench's output: labelled lines, one measurement each.

use crate::outputs::{ToolError, parse_positive, parse_positive_scaled, parse_whole};

/// Contents of a complete output.
#[derive(Debug, Clone, PartialEq)]
pub struct LikwidText {
    /// Name of the kernel: `stream_mem_avx512`.
    pub kernel: String,
    /// CPUs that the threads ran on, ascending; duplicates if threads shared one.
    pub cpus: Vec<u32>,
    /// Number of passes over the arrays.
    pub passes: u64,
    /// Size of all arrays together, in bytes.
    pub bytes: u64,
    /// Bytes read and written by all passes.
    pub volume_bytes: u64,
    /// Bytes that a kernel reads and writes per element of its arrays.
    pub bytes_per_element: u64,
    /// Rate in B/s: volume over time.
    pub rate: f64,
}

impl LikwidText {
    /// Parses the text.
    ///
    /// # Errors
    /// If a line is missing or duplicated, a number is malformed, or the rate contradicts its own
    /// time.
    pub fn read(text: &str) -> Result<Self, ToolError> {
        let kernel = labelled_value(text, "Test:")?.to_owned();
        let volume =
            parse_whole("the data volume", labelled_value(text, "Data volume (Byte):")?)?;
        let time = labelled_value(text, "Time:")?.trim_end_matches("sec").trim_end();
        let rate = volume as f64 / parse_positive("the time", time)?;
        // bench/likwid-bench.c: 1.0E-06 × bytes / time, so that a "MByte" is 10⁶ bytes.
        let printed = parse_positive_scaled("MByte/s", labelled_value(text, "MByte/s:")?, 6)?;
        /// Relative tolerance: the time has seven digits, the rate two decimals.
        const RATE_TOLERANCE: f64 = 0.001;
        if (printed - rate).abs() > RATE_TOLERANCE * rate {
            let what = format!("{volume} B in {time} s are not {printed:.4e} B/s");
            return Err(ToolError::Contradiction { what });
        }
        Ok(Self {
            kernel,
            cpus: parse_cpus(text)?,
            passes: parse_whole("the passes", labelled_value(text, "Iterations per thread:")?)?,
            bytes: parse_whole("the size", labelled_value(text, "Size (Byte):")?)?,
            volume_bytes: volume,
            bytes_per_element: parse_whole(
                "bytes read",
                labelled_value(text, "Load bytes per element:")?,
            )?
            .saturating_add(parse_whole(
                "bytes stored",
                labelled_value(text, "Store bytes per elem.:")?,
            )?),
            rate,
        })
    }
}

/// Returns the rest of the only line that begins with `label`.
fn labelled_value<'a>(text: &'a str, label: &str) -> Result<&'a str, ToolError> {
    let mut found = text.lines().filter_map(|line| line.trim().strip_prefix(label));
    match (found.next(), found.next()) {
        (Some(value), None) => Ok(value.trim()),
        (None, _) => {
            let missing = format!("likwid-bench's line {label:?} is missing");
            Err(ToolError::Truncated { missing })
        }
        (Some(_), Some(_)) => {
            let what = format!("more than one line {label:?}");
            Err(ToolError::Contradiction { what })
        }
    }
}

/// Parses the CPUs of `Group: 0 Thread 1 Global Thread 1 running on hwthread 1 - Vector length …`,
/// one line per thread.
fn parse_cpus(text: &str) -> Result<Vec<u32>, ToolError> {
    let lines = text.lines().filter(|line| line.starts_with("Group:"));
    let words = lines.filter_map(|line| line.split_once(" running on hwthread "));
    let cpu = |(_, rest): (&str, &str)| {
        let word = rest.split_whitespace().next().unwrap_or_default();
        let cpu = parse_whole("the CPU of a thread", word)?;
        u32::try_from(cpu).map_err(|_| ToolError::InvalidNumber {
            what: "the CPU of a thread".to_owned(),
            text: word.to_owned(),
        })
    };
    let mut cpus = words.map(cpu).collect::<Result<Vec<_>, _>>()?;
    cpus.sort_unstable();
    Ok(cpus)
}
