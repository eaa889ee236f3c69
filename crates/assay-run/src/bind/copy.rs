//! `memory.copy_between_domains` by the kernels of STREAM, with the source's pages near other CPUs. Between
//! NUMA nodes also the latency of loads in the source's memory.

use std::cell::RefCell;

use assay_kernels::memory::latency::{LatencyConfig, PointerChase};
use assay_kernels::memory::stream::{
    self, KernelChoice, Stream, StreamConfig, StreamOperation,
};
use assay_kernels::numa::MemoryNode;
use assay_model::attribute::Attribute;
use assay_model::event::StopReason;
use assay_model::kernel_counters::CountedWork;
use assay_model::workload::CopyWorkload;

use super::{RunCache, chosen_loops};
use crate::forecast::choosing_time_each_s;
use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that copy with the kernel chosen in the first one.
pub(super) fn turns<'c>(work: &'c CopyWorkload, known: &'c RefCell<RunCache>) -> Turns<'c> {
    let mut winner = None;
    Box::new(move |recorder| turn(work, &mut winner, known, recorder))
}

/// Arrays with their kernel, and the chain in the source's memory.
struct PreparedCopy {
    stream: Stream,
    kernel: KernelChoice,
    chase: Option<PointerChase>,
}

fn turn(
    work: &CopyWorkload,
    winner: &mut Option<KernelChoice>,
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let config = stream_config(work);
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let mut stream = chosen_loops::prepare_arrays(&config, known, recorder)?;
            let kernel = match *winner {
                Some(kernel) => kernel,
                None => {
                    let best = choose_kernel(&config, &mut stream, known, recorder)?;
                    recorder.add_fact(Attribute::Kernel, best.name);
                    if best.is_within_noise {
                        recorder.add_fact(Attribute::KernelWithinNoise, true);
                    }
                    recorder.add_fact(Attribute::ByteCounting, "STREAM");
                    *winner = Some(best);
                    best
                }
            };
            let chase = prepare_chase(work, recorder)?;
            Ok(PreparedCopy { stream, kernel, chase })
        },
        repetition: &mut |PreparedCopy { stream, kernel, chase }, recorder| {
            stream.repetition(StreamOperation::Copy, kernel.name)?;
            let members = 0..stream.threads();
            recorder.add_sample("bandwidth", stream.rate(StreamOperation::Copy, members));
            if let Some(chase) = chase {
                // The arrays are in the caches.
                let seconds = chase.repetition_as_prepared(recorder.cancel());
                recorder.add_sample("latency", seconds?);
            } else {
                let bytes =
                    stream::bytes_moved(StreamOperation::Copy, stream.bytes_per_array());
                recorder.add_work(CountedWork { bytes: bytes as f64, flop: 0.0 });
            }
            Ok(())
        },
        check: &mut |PreparedCopy { stream, chase, .. }, recorder| {
            stream.verify(recorder.cancel())?;
            let verified = chase.as_mut().map(|it| it.verify(recorder.cancel()));
            verified.transpose().map(|_| ()).map_err(CaseError::from)
        },
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}

/// Configures the arrays. A source in the threads' own domain needs no CPUs: first touch places its
/// pages there.
fn stream_config(work: &CopyWorkload) -> StreamConfig {
    let is_at_home = work.source == work.domain;
    let source: &[u32] = if is_at_home { &[] } else { &work.source.cpus };
    let source_node = work.node.map(|it| memory_node(work, it.node));
    StreamConfig {
        cpus: super::cpu_numbers(&work.domain.cpus),
        bytes_per_array: work.bytes_per_array as usize,
        source_cpus: super::cpu_numbers(source),
        source_node,
        huge_pages: true,
    }
}

/// Returns the node, with a CPU of it unless it has none.
fn memory_node(work: &CopyWorkload, node: u32) -> MemoryNode {
    MemoryNode { node, cpu: work.source.cpus.first().map(|cpu| *cpu as usize) }
}

/// Links the chain that the first CPU of the domain follows in the source's memory.
fn prepare_chase(
    work: &CopyWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<PointerChase>, CaseError> {
    let (Some(node), Some(cpu)) = (work.node, work.domain.cpus.first()) else {
        return Ok(None);
    };
    let config = LatencyConfig {
        cpu: *cpu as usize,
        bytes: node.chain_bytes as usize,
        line_bytes: node.line_bytes as usize,
        huge_pages: true,
        memory: Some(memory_node(work, node.node)),
    };
    let chase = PointerChase::prepare(&config, recorder.cancel());
    chase.map(Some).map_err(CaseError::from)
}

fn choose_kernel(
    arrays: &StreamConfig,
    stream: &mut Stream,
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<KernelChoice, CaseError> {
    let asked = (arrays, &[StreamOperation::Copy][..]);
    let winners = chosen_loops::find_or_choose(asked, known, recorder, |recorder| {
        let within_s = choosing_time_each_s(recorder.budget_s(), 1);
        let best = stream.pick_best(StreamOperation::Copy, within_s, recorder.cancel());
        let best = best?;
        // Here, and not in the first repetition, it can be interrupted.
        stream.restore(recorder.cancel())?;
        Ok(vec![(StreamOperation::Copy, best)])
    })?;
    Ok(winners[0].1)
}
