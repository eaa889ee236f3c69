//! Parquet files: results, samples and runs, with the same columns as the other formats.
//!
//! Strings are stored as dictionaries, pages compressed with gzip, which every reader supports.

use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::ExportedRun;
use super::results::{result_columns, result_rows};
use super::runs::run_columns;
use super::samples::{sample_columns, sample_rows};
use super::table::{ColumnKind, ExportCell, ExportColumn};

/// Number of rows that are stored together.
const ROWS_PER_GROUP: usize = 100_000;
/// Reason why no call of the library fails.
const CANNOT_FAIL: &str = "the schema is fixed, and writing to memory cannot fail";

/// The three tables.
#[derive(Debug)]
pub(super) struct ParquetTables {
    results: TableWriter,
    samples: TableWriter,
    runs: TableWriter,
}

impl Default for ParquetTables {
    fn default() -> Self {
        Self {
            results: TableWriter::new(&result_columns()),
            samples: TableWriter::new(&sample_columns()),
            runs: TableWriter::new(&run_columns()),
        }
    }
}

impl ParquetTables {
    /// Adds a run to all tables.
    pub(super) fn add(&mut self, run: &ExportedRun) {
        self.runs.add(&run_columns(), run);
        let columns = result_columns();
        for row in result_rows(run) {
            self.results.add(&columns, &row);
        }
        let columns = sample_columns();
        for row in sample_rows(run) {
            self.samples.add(&columns, &row);
        }
    }

    /// Returns the files with their names.
    pub(super) fn finish(self) -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("results.parquet", self.results.finish()),
            ("samples.parquet", self.samples.finish()),
            ("runs.parquet", self.runs.finish()),
        ]
    }
}

/// Writer of one file.
struct TableWriter {
    file: SerializedFileWriter<Vec<u8>>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
}

impl std::fmt::Debug for TableWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TableWriter").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl TableWriter {
    fn new<R>(columns: &[ExportColumn<R>]) -> Self {
        let fields: String =
            columns.iter().map(|it| field_definition(it.name, it.kind)).collect();
        let schema = parse_message_type(&format!("message assay {{ {fields} }}"));
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .set_created_by(concat!("assay version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let schema = Arc::new(schema.expect(CANNOT_FAIL));
        let file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties));
        let columns = columns.iter().map(|it| ColumnBuffer::new(it.kind)).collect();
        Self { file: file.expect(CANNOT_FAIL), columns, rows: 0 }
    }

    fn add<R>(&mut self, columns: &[ExportColumn<R>], row: &R) {
        for (buffer, column) in self.columns.iter_mut().zip(columns) {
            buffer.push((column.cell)(row));
        }
        self.rows += 1;
        if self.rows == ROWS_PER_GROUP {
            self.write_group().expect(CANNOT_FAIL);
        }
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(&mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        if self.rows > 0 {
            self.write_group().expect(CANNOT_FAIL);
        }
        self.file.into_inner().expect(CANNOT_FAIL)
    }
}

/// Returns the definition of a column in the schema language of Parquet.
fn field_definition(name: &str, kind: ColumnKind) -> String {
    let (physical, logical) = match kind {
        // Parquet's JSON type would be bytes in polars.
        ColumnKind::Text | ColumnKind::Json => ("binary", " (STRING)"),
        ColumnKind::Time => ("int64", " (TIMESTAMP(MICROS,true))"),
        ColumnKind::Number => ("double", ""),
        ColumnKind::Integer => ("int64", ""),
        ColumnKind::Flag => ("boolean", ""),
    };
    format!("optional {physical} {name}{logical}; ")
}

/// Values of a column, until their group is written.
#[derive(Debug)]
struct ColumnBuffer {
    values: ColumnValues,
    /// For each row, 1 if it has a value and 0 otherwise.
    levels: Vec<i16>,
}

#[derive(Debug)]
enum ColumnValues {
    Text(Vec<ByteArray>),
    Number(Vec<f64>),
    Integer(Vec<i64>),
    Flag(Vec<bool>),
}

impl ColumnBuffer {
    const fn new(kind: ColumnKind) -> Self {
        let values = match kind {
            ColumnKind::Text | ColumnKind::Json => ColumnValues::Text(Vec::new()),
            ColumnKind::Number => ColumnValues::Number(Vec::new()),
            ColumnKind::Integer | ColumnKind::Time => ColumnValues::Integer(Vec::new()),
            ColumnKind::Flag => ColumnValues::Flag(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    /// Adds a cell. A cell of another kind than the column counts as missing.
    fn push(&mut self, cell: ExportCell<'_>) {
        let is_present = match (&mut self.values, cell) {
            (ColumnValues::Text(all), ExportCell::Text(text) | ExportCell::Json(text)) => {
                all.push(ByteArray::from(text.into_owned().into_bytes()));
                true
            }
            (ColumnValues::Number(all), ExportCell::Number(number)) => {
                all.push(number);
                true
            }
            (
                ColumnValues::Integer(all),
                ExportCell::Integer(number) | ExportCell::Time(_, Some(number)),
            ) => {
                all.push(number);
                true
            }
            (ColumnValues::Flag(all), ExportCell::Flag(flag)) => {
                all.push(flag);
                true
            }
            (
                ColumnValues::Text(_)
                | ColumnValues::Number(_)
                | ColumnValues::Integer(_)
                | ColumnValues::Flag(_),
                _,
            ) => false,
        };
        self.levels.push(is_present.into());
    }

    /// Writes the column of a group and empties the buffer.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let levels = Some(std::mem::take(&mut self.levels));
        let levels = levels.as_deref();
        match &mut self.values {
            ColumnValues::Text(all) => {
                let all = std::mem::take(all);
                writer.typed::<ByteArrayType>().write_batch(&all, levels, None)?;
            }
            ColumnValues::Number(all) => {
                let all = std::mem::take(all);
                writer.typed::<DoubleType>().write_batch(&all, levels, None)?;
            }
            ColumnValues::Integer(all) => {
                let all = std::mem::take(all);
                writer.typed::<Int64Type>().write_batch(&all, levels, None)?;
            }
            ColumnValues::Flag(all) => {
                let all = std::mem::take(all);
                writer.typed::<BoolType>().write_batch(&all, levels, None)?;
            }
        }
        Ok(())
    }
}
