//! General parameters, which precede all definitions.

use assay_model::workload::storage::Verify;

use super::super::attributes;
use super::super::commands::{Commands, LoopLimit};
use super::super::lines::Lines;
use super::super::statements::{Parameter, Statement};
use super::super::values::{self, Scalar};
use super::duplicates::{self, DuplicateParameters};

/// General parameters.
#[derive(Debug, Clone)]
pub(in crate::vdbench) struct GeneralParameters {
    /// Compression ratio of written data, n to 1.
    pub(in crate::vdbench) compression: f64,
    /// Parameters of deduplication, and the size of the blocks that it compares.
    pub(in crate::vdbench) duplicates: Option<DuplicateParameters>,
    pub(in crate::vdbench) duplicate_unit: Option<u64>,
    /// Number of I/O errors that ends the execution.
    pub(in crate::vdbench) data_errors: u64,
    /// Whether missing parent folders of a tree are created.
    pub(in crate::vdbench) create_anchors: bool,
    /// Whether a format writes all files before the first run; `format_bytes` is its I/O size.
    pub(in crate::vdbench) formats_storage: bool,
    pub(in crate::vdbench) format_bytes: u64,
    pub(in crate::vdbench) commands: Commands,
    /// File whose contents end a run.
    pub(in crate::vdbench) monitor: Option<String>,
    /// Verification mode, unless the command line overrides it.
    pub(in crate::vdbench) verify: Verify,
    /// Whether all storage of a workload forms one range of addresses.
    pub(in crate::vdbench) concatenates: bool,
    /// Repetition of all runs.
    pub(in crate::vdbench) loop_limit: Option<LoopLimit>,
}

impl Default for GeneralParameters {
    fn default() -> Self {
        Self {
            compression: 1.0,
            duplicates: None,
            duplicate_unit: None,
            data_errors: 50,
            create_anchors: false,
            formats_storage: false,
            format_bytes: 128 << 10,
            commands: Commands::default(),
            monitor: None,
            verify: Verify::Off,
            concatenates: false,
            loop_limit: None,
        }
    }
}

impl GeneralParameters {
    pub(super) fn apply(&mut self, lines: &mut Lines, statement: &Statement) {
        for parameter in &statement.parameters {
            match parameter.keyword.name {
                "compratio" => {
                    let ratio = values::parse_one_number(lines, parameter);
                    self.compression = ratio.map_or(1.0, |ratio| ratio.max(1.0));
                }
                "compression" => {
                    let percent = values::parse_one_number(lines, parameter).unwrap_or(100.0);
                    self.compression = 100.0 / percent.clamp(1.0, 100.0);
                }
                "data_errors" => {
                    let values = values::parse_values(lines, parameter).unwrap_or_default();
                    if let Some(Scalar::Number(number)) = values.first().map(|v| &v.value) {
                        self.data_errors = number.value.max(0.0) as u64;
                    } else {
                        let message = "`data_errors` as a command is not supported here";
                        lines
                            .report_error("V114", parameter.spot, message)
                            .add_help("give a number of errors");
                    }
                }
                "create_anchors" => {
                    self.create_anchors = values::parse_yes_no(lines, parameter) == Some(true);
                }
                "concatenatesds" => {
                    self.concatenates = values::parse_yes_no(lines, parameter) == Some(true);
                }
                "formatsds" => self.formats_storage = parse_format_storage(lines, parameter),
                "formatxfersize" => {
                    let bytes = values::parse_one_number(lines, parameter);
                    self.format_bytes = bytes.map_or(self.format_bytes, |bytes| bytes as u64);
                    attributes::check_sector_multiple(lines, parameter, self.format_bytes);
                }
                "startcmd" => self.commands.start = attributes::parse_commands(parameter),
                "endcmd" => self.commands.end = attributes::parse_commands(parameter),
                "monitor" => {
                    self.monitor = parameter.elements.first().map(|path| path.text.clone());
                }
                "validate" => self.verify = attributes::parse_verify(lines, parameter),
                "dedupunit" => self.duplicate_unit = duplicates::parse_unit(lines, parameter),
                "loop" => self.loop_limit = attributes::parse_loop_limit(lines, parameter),
                _ if duplicates::apply(&mut self.duplicates, lines, parameter) => {}
                _ => attributes::report_unapplied(lines, parameter),
            }
        }
    }
}

/// Parses `formatsds=`: whether to write all files first.
fn parse_format_storage(lines: &mut Lines, parameter: &Parameter) -> bool {
    let yes = values::parse_yes_no(lines, parameter);
    if yes == Some(false) {
        let message = "missing files are written nevertheless";
        lines
            .report_warning("V114", parameter.spot, message)
            .advise("reading what was never written measures nothing", "uses them as they are");
    }
    yes == Some(true)
}
