//! `assay show RUN --as …`: renders a stored run in the output format of the emulated tool, from
//! its stored outcome like the live output.

use assay_adapters::import;
use assay_dialects::fio::request::FioFormat;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::path_text;
use assay_model::run::Run;
use assay_run::failure::CommandFailure;
use assay_run::importing;
use assay_stats::summarize::summarize;
use assay_store::Store;

use crate::arguments::ToolShape;
use crate::ntttcp::{self, NtttcpShape};
use crate::output_file;
use crate::terminal::Terminal;
use crate::{ior, iperf3, mdtest, osu, perftest, ping, qperf, sockperf, vdbench};
use assay_emulation::fio::record as fio;

/// Prints the run as the tool would have. `store` holds its raw outputs; `output` is the folder of
/// a tool that writes one.
pub(super) fn print_tool_output(
    run: &Run,
    store: &Store,
    (shape, output): (ToolShape, Option<&str>),
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    if run.started.plan.suite == importing::SUITE {
        return print_imported_file(run, store, (shape, output), terminal);
    }
    if output.is_some() && shape != ToolShape::Vdbench {
        return Err(CommandFailure::usage("--output needs --as vdbench")
            .advise("redirect other formats: `… > FILE`"));
    }
    // Runs of suites also contain the figures of perftest's tables.
    let is_perftest = matches!(shape, ToolShape::Perftest | ToolShape::PerftestJson);
    if is_perftest && run.started.asked.is_none() && perftest::has_tests(run) {
        terminal.print(&perftest::render_stored(run, store, shape == ToolShape::PerftestJson)?);
        return Ok(());
    }
    if shape == ToolShape::Io500 {
        return print_io500(run, terminal);
    }
    let asked = run.started.asked.as_ref().filter(|it| it.language == shape.language());
    if asked.is_none() {
        let was = match &run.started.asked {
            Some(asked) => format!("it was started as {}", asked.language),
            None => "it was started by a suite".to_owned(),
        };
        let shape = shape.language();
        return Err(CommandFailure::usage(format!(
            "cannot print {} as {shape}: {was}",
            run.started.run
        ))
        .advise("leave out --as for assay's own report"));
    }
    let of_fio = |format| fio::render_stored(run, store, &[format]);
    let text = match shape {
        ToolShape::Iperf3 => iperf3::render_stored(run, store, false),
        ToolShape::Iperf3Json => iperf3::render_stored(run, store, true),
        ToolShape::Qperf => qperf::render_stored(run, store),
        ToolShape::Sockperf => sockperf::render_stored(run, store),
        ToolShape::Ntttcp => ntttcp::render_stored(run, store, NtttcpShape::Console),
        ToolShape::NtttcpXml => ntttcp::render_stored(run, store, NtttcpShape::Xml),
        ToolShape::NtttcpJson => ntttcp::render_stored(run, store, NtttcpShape::Json),
        ToolShape::Ping => ping::render_stored(run, store),
        ToolShape::Perftest => perftest::render_stored(run, store, false),
        ToolShape::PerftestJson => perftest::render_stored(run, store, true),
        ToolShape::Osu => osu::render_stored(run, store),
        ToolShape::Ior => ior::render_stored(run, store, false),
        ToolShape::IorJson => ior::render_stored(run, store, true),
        ToolShape::Mdtest => mdtest::render_stored(run, store),
        ToolShape::FioNormal => of_fio(FioFormat::Normal),
        ToolShape::FioJson => of_fio(FioFormat::Json),
        ToolShape::FioJsonPlus => of_fio(FioFormat::JsonPlus),
        ToolShape::FioTerse => of_fio(FioFormat::Terse),
        ToolShape::Io500 | ToolShape::Imported => {
            return Err(CommandFailure::usage(format!("{} was not imported", run.started.run))
                .advise("leave out --as for assay's own report"));
        }
        // Prints and writes its folder itself.
        ToolShape::Vdbench => {
            return vdbench::render_stored::render_stored(run, store, output, terminal);
        }
    };
    terminal.print(&text?);
    Ok(())
}

/// Prints the phases of IO500 with its score, which belong to runs of suites.
fn print_io500(run: &Run, terminal: &mut Terminal) -> Result<(), CommandFailure> {
    let text = assay_report::io500::result_summary(&summarize(run));
    if text.is_empty() {
        let what =
            format!("cannot print {} as io500: it has none of its phases", run.started.run);
        return Err(CommandFailure::usage(what)
            .advise("run `assay run io500 --target FOLDER`, or leave out --as"));
    }
    terminal.print(&text);
    Ok(())
}

/// Prints the file of an imported run, or writes it unchanged.
fn print_imported_file(
    run: &Run,
    store: &Store,
    (shape, output): (ToolShape, Option<&str>),
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let format = run.cases.iter().find_map(|it| it.facts.get(&Attribute::SourceFormat));
    let format = format.and_then(AttributeValue::as_text).unwrap_or_default();
    let Some((name, hash)) = run.raw.first_key_value() else {
        return Err(CommandFailure::measurement(format!(
            "the run {} has no file",
            run.started.run
        ))
        .advise("leave out --as for assay's own report"));
    };
    if !shape.is_imported_format(format) {
        return Err(CommandFailure::usage(format!(
            "cannot print {} in this shape: it was imported from {name}, of the format {format}",
            run.started.run
        ))
        .advise("use `--as imported` for the file"));
    }
    let bytes = store.read_raw(hash)?;
    match output {
        Some(file) => output_file::write(&path_text::decode_path(file), &bytes),
        None => {
            terminal.print(&import::decode_text(&bytes));
            Ok(())
        }
    }
}
