//! `memory.stream` by assay's own kernels.

use assay_kernels::memory::stream::{Operation, Stream, StreamConfig, StreamError};
use assay_model::event::{Parameter, Stopped};
use assay_model::workload::StreamWorkload;

use crate::measuring::{self, Measurement};
use crate::recorder::{CaseError, Recorder};

const ADVICE: &str = "smaller arrays (--bytes) need less memory; wrong contents mean defective memory or an overclocked machine";

/// The kernels that won, one per operation, kept for all preparations of the case.
type Winners = Vec<(Operation, &'static str)>;

/// Repeats all six operations in turn; every domain has its own clock.
pub(super) fn measure(
    work: &StreamWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    let mut winners: Winners = Vec::new();
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let mut stream = Stream::prepare(&config(work)).map_err(|error| failed(&error))?;
            if winners.is_empty() {
                winners = choose(&mut stream, recorder)?;
                learn(&stream, recorder);
            }
            Ok((stream, winners.clone()))
        },
        repetition: &mut |(stream, winners), recorder| {
            repetition(work, stream, winners, recorder)
        },
        check: &mut |(stream, _), _| stream.verify().map_err(|error| failed(&error)),
    };
    measuring::repeat(&mut measurement, recorder)
}

fn config(work: &StreamWorkload) -> StreamConfig {
    let cpus: Vec<u32> = work.domains.iter().flat_map(|domain| domain.cpus.clone()).collect();
    StreamConfig {
        cpus: super::cpu_numbers(&cpus),
        bytes_per_array: work.bytes_per_array as usize * work.domains.len(),
        huge_pages: true,
    }
}

fn choose(stream: &mut Stream, recorder: &mut Recorder<'_, '_>) -> Result<Winners, CaseError> {
    let mut winners = Winners::new();
    for operation in Operation::ALL {
        let kernel = stream.pick_best(operation).map_err(|error| failed(&error))?;
        let name = Parameter::Text(kernel.name.to_owned());
        recorder.learn(Some(operation.name()), "kernel", name);
        winners.push((operation, kernel.name));
    }
    Ok(winners)
}

fn learn(stream: &Stream, recorder: &mut Recorder<'_, '_>) {
    let total = stream.bytes_per_array() * 3;
    if let Ok(huge) = stream.huge_bytes() {
        let share = (huge as f64 / total as f64).min(1.0);
        recorder.learn(None, "huge_pages", Parameter::Number(share));
    }
    recorder.learn(None, "byte_counting", Parameter::Text("STREAM".to_owned()));
}

fn repetition(
    work: &StreamWorkload,
    stream: &mut Stream,
    winners: &Winners,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    for (operation, kernel) in winners {
        stream.repetition(*operation, kernel).map_err(|error| failed(&error))?;
        let mut first = 0;
        for domain in &work.domains {
            let members = first..first + domain.cpus.len();
            first = members.end;
            let placement = (work.domains.len() > 1).then_some(domain.placement.as_str());
            recorder.sample(operation.name(), placement, stream.rate(*operation, members));
        }
    }
    Ok(())
}

fn failed(error: &StreamError) -> CaseError {
    CaseError::because(error, ADVICE)
}
