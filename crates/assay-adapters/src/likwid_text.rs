//! Parser of likwid-bench's output: labelled lines, one measurement each.

use crate::outputs::{ToolError, positive, positive_scaled, whole};

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
        let kernel = value(text, "Test:")?.to_owned();
        let volume = whole("the data volume", value(text, "Data volume (Byte):")?)?;
        let time = value(text, "Time:")?.trim_end_matches("sec").trim_end();
        let rate = volume as f64 / positive("the time", time)?;
        // bench/likwid-bench.c: 1.0E-06 × bytes / time, so that a "MByte" is 10⁶ bytes.
        let printed = positive_scaled("MByte/s", value(text, "MByte/s:")?, 6)?;
        /// Relative tolerance: the time has seven digits, the rate two decimals.
        const DIGITS: f64 = 0.001;
        if (printed - rate).abs() > DIGITS * rate {
            let what = format!("{volume} B in {time} s are not {printed:.4e} B/s");
            return Err(ToolError::Reconcile { what });
        }
        Ok(Self {
            kernel,
            cpus: cpus(text)?,
            passes: whole("the passes", value(text, "Iterations per thread:")?)?,
            bytes: whole("the size", value(text, "Size (Byte):")?)?,
            volume_bytes: volume,
            bytes_per_element: whole("bytes read", value(text, "Load bytes per element:")?)?
                .saturating_add(whole("bytes stored", value(text, "Store bytes per elem.:")?)?),
            rate,
        })
    }
}

/// Returns the rest of the only line that begins with `label`.
fn value<'a>(text: &'a str, label: &str) -> Result<&'a str, ToolError> {
    let mut found = text.lines().filter_map(|line| line.trim().strip_prefix(label));
    match (found.next(), found.next()) {
        (Some(value), None) => Ok(value.trim()),
        (None, _) => {
            let missing = format!("likwid-bench's line {label:?} is not there");
            Err(ToolError::ReachEnd { missing })
        }
        (Some(_), Some(_)) => {
            let what = format!("more than one line {label:?}");
            Err(ToolError::Reconcile { what })
        }
    }
}

/// Parses the CPUs of `Group: 0 Thread 1 Global Thread 1 running on hwthread 1 - Vector length …`,
/// one line per thread.
fn cpus(text: &str) -> Result<Vec<u32>, ToolError> {
    let lines = text.lines().filter(|line| line.starts_with("Group:"));
    let words = lines.filter_map(|line| line.split_once(" running on hwthread "));
    let cpu = |(_, rest): (&str, &str)| {
        let word = rest.split_whitespace().next().unwrap_or_default();
        let cpu = whole("the CPU of a thread", word)?;
        u32::try_from(cpu).map_err(|_| ToolError::ReadNumber {
            what: "the CPU of a thread".to_owned(),
            text: word.to_owned(),
        })
    };
    let mut cpus = words.map(cpu).collect::<Result<Vec<_>, _>>()?;
    cpus.sort_unstable();
    Ok(cpus)
}
