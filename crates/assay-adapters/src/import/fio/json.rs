//! Import of fio's JSON.

use assay_model::benchmark::Benchmark;

use super::super::{FileTime, ImportedMeasurement};
use super::options::fio_dimensions;
use crate::fio_json::{self, FioGroup};
use crate::outputs::ToolError;
use crate::tool::storage as figures;

pub(super) fn is_fio_json(text: &str) -> bool {
    text.contains("\"fio version\"") && text.contains("\"jobs\"")
}

/// Reads one measurement for each group of jobs, as fio itself sums them up.
pub(super) fn read_fio_json(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let groups = fio_json::read_groups(text)?;
    let read = |group: FioGroup| {
        Ok(ImportedMeasurement {
            dimensions: fio_dimensions(&group.options, group.entries),
            name: group.name,
            benchmark: Benchmark::Storage,
            system: None,
            began: group.ended_s.map(FileTime::from_unix),
            lines: None,
            parsed: figures::convert_fio_result(group.result, &[])?,
        })
    };
    groups.into_iter().map(read).collect()
}
