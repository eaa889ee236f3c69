//! `memory.latency` by assay's own kernel.

use assay_kernels::memory::latency::{LatencyConfig, PointerChase};
use assay_model::attribute::Attribute;
use assay_model::event::StopReason;
use assay_model::workload::LatencyWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that follow the pointer chain of one working set.
pub(super) fn turns(work: &LatencyWorkload) -> Turns<'_> {
    Box::new(move |recorder| turn(work, recorder))
}

fn turn(
    work: &LatencyWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let config = LatencyConfig {
        cpu: work.cpu as usize,
        bytes: work.bytes as usize,
        line_bytes: work.line_bytes as usize,
        huge_pages: true,
        memory: None,
    };
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let latency = PointerChase::prepare(&config, recorder.cancel())?;
            if let Ok(huge) = latency.huge_bytes() {
                let share = (huge as f64 / work.bytes as f64).min(1.0);
                recorder.add_fact(Attribute::HugePages, share);
            }
            Ok(latency)
        },
        repetition: &mut |latency: &mut PointerChase, recorder| {
            let seconds = latency.repetition();
            recorder.add_sample("latency", seconds);
            Ok(())
        },
        check: &mut |latency, recorder| {
            latency.verify(recorder.cancel()).map_err(CaseError::from)
        },
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}
