//! `memory.cache_bandwidth` by assay's own kernel.

use assay_kernels::memory::stream::sweep::{ReadSweep, ReadSweepConfig};
use assay_model::attribute::Attribute;
use assay_model::event::StopReason;
use assay_model::workload::CacheBandwidthWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that read one working set.
pub(super) fn turns(work: &CacheBandwidthWorkload) -> Turns<'_> {
    Box::new(move |recorder| turn(work, recorder))
}

fn turn(
    work: &CacheBandwidthWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let config = ReadSweepConfig {
        cpus: super::cpu_numbers(&work.domain.cpus),
        bytes_per_thread: work.bytes_per_core as usize,
        huge_pages: true,
    };
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let sweep = ReadSweep::prepare(&config, recorder.cancel())?;
            recorder.add_fact(Attribute::Kernel, sweep.isa());
            Ok(sweep)
        },
        repetition: &mut |sweep: &mut ReadSweep, recorder| {
            let rate = sweep.repetition()?;
            recorder.add_sample("read", rate);
            Ok(())
        },
        // Every repetition has checked its sums.
        check: &mut |_, _| Ok(()),
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}
