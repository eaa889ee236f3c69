//! Definitions of file trees (fsd) and of file-system workloads (fwd).

use assay_model::workload::file_set::{FileAccess, FileOperation, FileOrder, StopAfter};
use assay_model::workload::storage::SizeShare;

use super::super::attributes::{self, OpenFlags, TransferSizes};
use super::super::lines::{Lines, SourceSpan};
use super::super::statements::{Parameter, Statement};
use super::super::tokens::ParameterElement;
use super::super::values::{self, Number};
use super::insert_number;

/// A file tree (fsd).
#[derive(Debug, Clone)]
pub(in crate::vdbench) struct FileTreeDefinition {
    pub(in crate::vdbench) name: ParameterElement,
    pub(in crate::vdbench) anchor: Option<ParameterElement>,
    pub(in crate::vdbench) depth: f64,
    pub(in crate::vdbench) width: f64,
    pub(in crate::vdbench) files: f64,
    pub(in crate::vdbench) files_on_all_levels: bool,
    pub(in crate::vdbench) sizes: Vec<SizeShare>,
    pub(in crate::vdbench) flags: Option<OpenFlags>,
    pub(in crate::vdbench) total_bytes: Option<f64>,
    pub(in crate::vdbench) used_bytes: Option<f64>,
    /// Whether several hosts may work on it.
    pub(in crate::vdbench) is_shared: bool,
}

/// A file-system workload (fwd).
#[derive(Debug, Clone)]
pub(in crate::vdbench) struct FileWorkloadDefinition {
    pub(in crate::vdbench) name: String,
    pub(in crate::vdbench) spot: SourceSpan,
    pub(in crate::vdbench) file_systems: Vec<ParameterElement>,
    pub(in crate::vdbench) operations: Vec<FileOperation>,
    pub(in crate::vdbench) access: FileAccess,
    pub(in crate::vdbench) order: FileOrder,
    pub(in crate::vdbench) sizes: TransferSizes,
    pub(in crate::vdbench) read_percent: Option<f64>,
    pub(in crate::vdbench) threads: u32,
    pub(in crate::vdbench) skew_percent: Option<f64>,
    pub(in crate::vdbench) stop_after: Option<StopAfter>,
    pub(in crate::vdbench) hosts: Vec<ParameterElement>,
    pub(in crate::vdbench) flags: Option<OpenFlags>,
}

impl Default for FileTreeDefinition {
    fn default() -> Self {
        Self {
            name: ParameterElement {
                text: String::new(),
                is_quoted: false,
                spot: super::NO_SPAN,
            },
            anchor: None,
            depth: 1.0,
            width: 1.0,
            files: 10.0,
            files_on_all_levels: false,
            sizes: vec![SizeShare::single(4096)],
            flags: None,
            total_bytes: None,
            used_bytes: None,
            is_shared: false,
        }
    }
}

impl Default for FileWorkloadDefinition {
    fn default() -> Self {
        Self {
            name: "default".into(),
            spot: super::NO_SPAN,
            file_systems: Vec::new(),
            operations: vec![FileOperation::Read],
            access: FileAccess::Sequential,
            order: FileOrder::Random,
            sizes: TransferSizes::Shares(vec![(4096, 100.0)]),
            read_percent: None,
            threads: 1,
            skew_percent: None,
            stop_after: None,
            hosts: Vec::new(),
            flags: None,
        }
    }
}

/// Returns the file trees that one definition creates; a default definition changes `defaults`
/// instead.
pub(in crate::vdbench) fn define_file_trees(
    lines: &mut Lines,
    statement: &Statement,
    defaults: &mut FileTreeDefinition,
) -> Vec<FileTreeDefinition> {
    /// Maximum number of copies; a larger number is taken for a mistake.
    const MOST: u32 = 10_000;
    let mut one = FileTreeDefinition { name: statement.name.clone(), ..defaults.clone() };
    let mut copies = None;
    for parameter in &statement.parameters {
        if parameter.keyword.name == "count" {
            copies = attributes::parse_pair(lines, parameter).and_then(|(start, n)| {
                let start = values::check_first_number(lines, parameter, start)?;
                Some((start, values::check_count(lines, parameter, n, MOST)?))
            });
        } else {
            one.apply(lines, parameter);
        }
    }
    if statement.is_default() {
        *defaults = one;
        return Vec::new();
    }
    let Some((start, n)) = copies else { return vec![one] };
    (0..u64::from(n))
        .map(|index| {
            let mut copy = one.clone();
            copy.name.text = insert_number(&one.name.text, start + index);
            if let Some(anchor) = &mut copy.anchor {
                anchor.text = insert_number(&anchor.text, start + index);
            }
            copy
        })
        .collect()
}

impl FileTreeDefinition {
    fn apply(&mut self, lines: &mut Lines, parameter: &Parameter) {
        let whole = |lines: &mut Lines, old: f64| {
            attributes::parse_positive(lines, parameter)
                .map_or(old, |number| number.floor().max(1.0))
        };
        match parameter.keyword.name {
            "anchor" => self.anchor = parameter.elements.first().cloned(),
            "depth" => self.depth = whole(lines, self.depth),
            "width" => self.width = whole(lines, self.width),
            "files" => self.files = whole(lines, self.files),
            "size" => {
                let numbers = values::parse_numbers(lines, parameter);
                if let Some(sizes) =
                    numbers.and_then(|n| parse_file_sizes(lines, parameter, &n))
                {
                    self.sizes = sizes;
                }
            }
            "distribution" => match values::parse_one_word(lines, parameter).as_deref() {
                Some("all") => self.files_on_all_levels = true,
                Some("bottom") => self.files_on_all_levels = false,
                Some(_) => report_unsupported_value(lines, parameter, "use bottom or all"),
                None => {}
            },
            "openflags" => self.flags = attributes::parse_open_flags(lines, parameter),
            "shared" => {
                self.is_shared =
                    values::parse_yes_no(lines, parameter).unwrap_or(self.is_shared);
            }
            "totalsize" => self.total_bytes = attributes::parse_positive(lines, parameter),
            "workingsetsize" => self.used_bytes = attributes::parse_positive(lines, parameter),
            _ => attributes::report_unapplied(lines, parameter),
        }
    }
}

impl FileWorkloadDefinition {
    /// Applies one parameter of a definition.
    pub(in crate::vdbench) fn apply(&mut self, lines: &mut Lines, parameter: &Parameter) {
        match parameter.keyword.name {
            "fsd" => self.file_systems = values::parse_names(lines, parameter),
            "host" => self.hosts = values::parse_names(lines, parameter),
            "operation" => {
                let words: Vec<String> =
                    parameter.elements.iter().map(|element| element.text.clone()).collect();
                self.operations = words
                    .iter()
                    .filter_map(|word| attributes::parse_operation(lines, parameter, word))
                    .collect();
            }
            "fileio" => self.apply_file_io(lines, parameter),
            "fileselect" => {
                self.order = parse_file_order(lines, parameter).unwrap_or(self.order);
            }
            "xfersize" => {
                if let Some(sizes) = attributes::parse_sizes(lines, parameter) {
                    self.sizes = sizes;
                }
            }
            "rdpct" => self.read_percent = attributes::parse_percent(lines, parameter),
            "threads" => {
                let threads = values::parse_one_number(lines, parameter);
                self.threads = threads
                    .and_then(|n| values::check_count(lines, parameter, n, super::MAX_THREADS))
                    .unwrap_or(self.threads);
            }
            "skew" => self.skew_percent = attributes::parse_percent(lines, parameter),
            "stopafter" => self.stop_after = parse_stop_after(lines, parameter),
            "openflags" => self.flags = attributes::parse_open_flags(lines, parameter),
            "target" => {
                report_unsupported_value(
                    lines,
                    parameter,
                    "remove it: copy and move, which need it, are not supported",
                );
            }
            _ => attributes::report_unapplied(lines, parameter),
        }
    }

    fn apply_file_io(&mut self, lines: &mut Lines, parameter: &Parameter) {
        let words: Vec<String> = parameter
            .elements
            .iter()
            .map(|element| element.text.to_ascii_lowercase())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.access = match words[..] {
            ["sequential" | "seq"] => FileAccess::Sequential,
            ["sequential" | "seq", "delete"] => FileAccess::SequentialAnew,
            ["random" | "rand"] => FileAccess::Random,
            ["random" | "rand", "shared"] => FileAccess::RandomShared,
            _ => {
                return report_unsupported_value(
                    lines,
                    parameter,
                    "use sequential, random, (random,shared) or (sequential,delete)",
                );
            }
        };
    }
}

/// Parses file sizes: one size, sizes with percentages, or `(n,0)` for sizes around n.
fn parse_file_sizes(
    lines: &mut Lines,
    parameter: &Parameter,
    numbers: &[Number],
) -> Option<Vec<SizeShare>> {
    let sizes = match numbers {
        [one] => vec![SizeShare::single(one.value as u64)],
        [about, zero] if zero.value == 0.0 => vec![sizes_around(about.value as u64)],
        pairs if pairs.len().is_multiple_of(2) => {
            let total: f64 = pairs.chunks(2).map(|pair| pair[1].value).sum();
            if (total - 100.0).abs() > 0.5 || pairs.chunks(2).any(|pair| pair[1].value < 0.0) {
                let message = format!("the percentages of `sizes` add up to {total}, not 100");
                lines
                    .report_error("V156", parameter.spot, message)
                    .add_vdbench_behaviour("stops");
                return None;
            }
            let share = |pair: &[Number]| SizeShare {
                share: pair[1].value / total,
                ..SizeShare::single(pair[0].value as u64)
            };
            pairs.chunks(2).map(share).collect()
        }
        _ => Vec::new(),
    };
    if sizes.is_empty() || sizes.iter().any(|size| size.max_bytes == 0) {
        lines
            .report_error(
                "V156",
                parameter.spot,
                "sizes of files are (size,percent,size,percent,…)",
            )
            .add_vdbench_behaviour("stops");
        return None;
    }
    Some(sizes)
}

/// Returns sizes around `mean`, from half to one and a half of it.
fn sizes_around(mean: u64) -> SizeShare {
    let step_bytes = if mean.is_multiple_of(1024) { 512 } else { 2 };
    let half = mean / 2 / step_bytes * step_bytes;
    SizeShare {
        min_bytes: mean - half,
        max_bytes: mean.saturating_add(half),
        step_bytes,
        share: 1.0,
    }
}

fn parse_stop_after(lines: &mut Lines, parameter: &Parameter) -> Option<StopAfter> {
    let numbers = values::parse_numbers(lines, parameter)?;
    match numbers[..] {
        [Number { value, is_percent: true }] if value > 0.0 && value <= 100.0 => {
            Some(StopAfter::Share(value / 100.0))
        }
        // A plain number counts operations; one with a unit, bytes.
        [Number { value, is_percent: false }] if value >= 1.0 => {
            let written = &parameter.elements[0].text;
            if written.chars().all(|c| c.is_ascii_digit()) {
                Some(StopAfter::Operations(value as u64))
            } else {
                Some(StopAfter::Bytes(value as u64))
            }
        }
        _ => {
            report_unsupported_value(
                lines,
                parameter,
                "use a number of operations, a size like 1m, or a percentage",
            );
            None
        }
    }
}

/// Parses the order of files; `once` overrides any other order.
fn parse_file_order(lines: &mut Lines, parameter: &Parameter) -> Option<FileOrder> {
    let mut order = None;
    for element in &parameter.elements {
        let word = element.text.to_ascii_lowercase();
        let divisor = word.strip_prefix("midpoint=").unwrap_or(&word).parse::<f64>().ok();
        let begins = |whole: &str| word.len() >= 2 && whole.starts_with(&word);
        let named = match word.as_str() {
            _ if begins("sequential") => Some(FileOrder::Sequential),
            _ if begins("random") => Some(FileOrder::Random),
            "once" => Some(FileOrder::Once),
            "poisson" | "skewed" => Some(FileOrder::Skewed(1.0 / attributes::SKEW_DIVISOR)),
            _ => divisor
                .filter(|divisor| divisor.is_finite() && *divisor > 0.0)
                .map(|divisor| FileOrder::Skewed(1.0 / divisor)),
        };
        if named.is_none() {
            let help = "use random, sequential, once, poisson or (poisson,3)";
            report_unsupported_value(lines, parameter, help);
            return None;
        }
        order = if order == Some(FileOrder::Once) { order } else { named };
    }
    order
}

fn report_unsupported_value(lines: &mut Lines, parameter: &Parameter, help: &str) {
    let message = format!("the value of `{}` is not supported", parameter.keyword.spelled);
    lines.report_error("V114", parameter.spot, message).add_help(help);
}
