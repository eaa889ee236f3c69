//! `assay show RUN --as …`: renders a stored run in the output format of the emulated tool, from
//! its events like the live output.

use assay_dialects::fio::command_line::FioFormat;
use assay_model::run::Run;
use assay_run::failure::Failure;
use assay_store::Store;

use crate::arguments::Shape;
use crate::commands::{mpi, rdma};
use crate::terminal::Terminal;
use crate::{ior, iperf3, ping, qperf, vdbench};
use assay_emulation::fio::record as fio;

/// Prints the run as the tool would have. `store` holds its raw outputs; `output` is the folder of
/// a tool that writes one.
pub(super) fn print(
    run: &Run,
    store: &Store,
    (shape, output): (Shape, Option<&str>),
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if output.is_some() && shape != Shape::Vdbench {
        return Err(Failure::usage("--output belongs to --as vdbench")
            .advise("other shapes are printed: `… > FILE`"));
    }
    // Runs of suites also contain the figures of perftest's tables.
    let is_perftest = matches!(shape, Shape::Perftest | Shape::PerftestJson);
    if is_perftest && run.started.asked.is_none() && rdma::has_tests(run) {
        terminal.print(&rdma::stored(run, store, shape == Shape::PerftestJson)?);
        return Ok(());
    }
    let asked = run.started.asked.as_ref().filter(|it| it.language == shape.language());
    let Some(asked) = asked else {
        let was = match &run.started.asked {
            Some(asked) => format!("it was asked in the language of {}", asked.language),
            None => "it was asked by a suite".to_owned(),
        };
        let shape = shape.language();
        return Err(Failure::usage(format!(
            "{} has no shape of {shape}: {was}",
            run.started.run
        ))
        .advise("leave out --as for assay's own report"));
    };
    let of_fio = |format| fio::stored(run, asked, store, &[format]);
    let text = match shape {
        Shape::Iperf3 => iperf3::stored(run, store, asked, false),
        Shape::Iperf3Json => iperf3::stored(run, store, asked, true),
        Shape::Qperf => qperf::stored(run, store, asked),
        Shape::Ping => ping::stored(run, asked),
        Shape::Perftest => rdma::stored(run, store, false),
        Shape::PerftestJson => rdma::stored(run, store, true),
        Shape::Osu => mpi::stored(run, asked),
        Shape::Ior => ior::stored(run, asked, store, false),
        Shape::IorJson => ior::stored(run, asked, store, true),
        Shape::FioNormal => of_fio(FioFormat::Normal),
        Shape::FioJson => of_fio(FioFormat::Json),
        Shape::FioJsonPlus => of_fio(FioFormat::JsonPlus),
        Shape::FioTerse => of_fio(FioFormat::Terse),
        // Prints and writes its folder itself.
        Shape::Vdbench => return vdbench::again::shown(run, store, output, terminal),
    };
    terminal.print(&text?);
    Ok(())
}
