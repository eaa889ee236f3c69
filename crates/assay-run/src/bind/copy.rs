//! `memory.copy_between_domains` by the kernels of STREAM, with the source's pages near other CPUs.

use assay_kernels::memory::stream::{Operation, Stream, StreamConfig, StreamError};
use assay_model::attribute::Attribute;
use assay_model::event::Stopped;
use assay_model::failure::Area;
use assay_model::phrase;
use assay_model::workload::CopyWorkload;

use crate::measuring::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Copies again and again with the kernel that won at first.
pub(super) fn turns(work: &CopyWorkload) -> Turns<'_> {
    let mut winner = None;
    Box::new(move |recorder| turn(work, &mut winner, recorder))
}

fn turn(
    work: &CopyWorkload,
    winner: &mut Option<&'static str>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<Stopped>, CaseError> {
    if winner.is_none() && work.domain == work.source && work.domain.placement == "node" {
        recorder.note(&phrase!("one-domain", "there is one domain: the matrix has one cell"));
    }
    let config = StreamConfig {
        cpus: super::cpu_numbers(&work.domain.cpus),
        bytes_per_array: work.bytes_per_array as usize,
        source_cpus: super::cpu_numbers(&work.source.cpus),
        huge_pages: true,
    };
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let mut stream =
                Stream::prepare(&config, recorder.cancel()).map_err(|error| failed(&error))?;
            if let Some(kernel) = *winner {
                return Ok((stream, kernel));
            }
            let began_s = recorder.elapsed_s();
            let best = stream
                .pick_best(Operation::Copy, recorder.cancel())
                .map_err(|error| failed(&error))?;
            recorder.has_chosen_since(began_s);
            recorder.learn(Attribute::Kernel, best.name);
            recorder.learn(Attribute::ByteCounting, "STREAM");
            *winner = Some(best.name);
            Ok((stream, best.name))
        },
        repetition: &mut |(stream, kernel), recorder| {
            stream.repetition(Operation::Copy, kernel).map_err(|error| failed(&error))?;
            let members = 0..stream.threads();
            recorder.sample("bandwidth", stream.rate(Operation::Copy, members));
            Ok(())
        },
        check: &mut |(stream, _), _| stream.verify().map_err(|error| failed(&error)),
    };
    measuring::preparation(&mut measurement, recorder)
}

fn failed(error: &StreamError) -> CaseError {
    match error {
        StreamError::Cancelled => CaseError::Interrupted,
        other => CaseError::because(Area::Stream, other),
    }
}
