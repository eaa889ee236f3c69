//! `assay show RUN --as …`: a stored run in the shape of the tool in whose language it was asked, made
//! from its events as the live output is.

use assay_dialects::fio::command_line::Format;
use assay_model::run::Run;
use assay_run::failure::Failure;
use assay_store::Store;
use clap::ValueEnum;

use crate::commands::fio::record as fio;
use crate::commands::{iperf3, mpi, ping, qperf};

/// The shapes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// The text of iperf3
    Iperf3,
    /// The document of iperf3's -J
    Iperf3Json,
    /// The lines of qperf
    Qperf,
    /// The statistics of ping
    Ping,
    /// The table of OSU's benchmarks
    Osu,
    /// The text of fio
    FioNormal,
    /// The JSON of fio
    FioJson,
    /// The same with every latency
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// The lines of fio for scripts
    FioTerse,
}

impl Shape {
    /// The language whose runs have this shape.
    const fn language(self) -> &'static str {
        match self {
            Self::Iperf3 | Self::Iperf3Json => "iperf3",
            Self::Qperf => "qperf",
            Self::Ping => "ping",
            Self::Osu => "osu",
            Self::FioNormal | Self::FioJson | Self::FioJsonPlus | Self::FioTerse => {
                fio::LANGUAGE
            }
        }
    }
}

/// The run as the tool would have printed it. `store` holds its raw outputs.
pub(super) fn rendered(run: &Run, store: &Store, shape: Shape) -> Result<String, Failure> {
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
    match shape {
        Shape::Iperf3 => iperf3::stored(run, store, asked, false),
        Shape::Iperf3Json => iperf3::stored(run, store, asked, true),
        Shape::Qperf => qperf::stored(run, store, asked),
        Shape::Ping => ping::stored(run, asked),
        Shape::Osu => mpi::stored(run, asked),
        Shape::FioNormal => of_fio(Format::Normal),
        Shape::FioJson => of_fio(Format::Json),
        Shape::FioJsonPlus => of_fio(Format::JsonPlus),
        Shape::FioTerse => of_fio(Format::Terse),
    }
}
