//! The run loop of a case: prepare, repeat until the stopping rule ends it, check, prepare again.

use assay_model::event::StopReason;
use assay_stats::stopping::NextStep;

use crate::recorder::{CaseError, Recorder};

/// Operations of a repeatable measurement.
pub(crate) struct Measurement<'m, P> {
    /// Allocates and places everything again.
    pub(crate) prepare: &'m mut dyn FnMut(&mut Recorder<'_, '_>) -> Result<P, CaseError>,
    /// Measures once and records the samples.
    pub(crate) repetition:
        &'m mut dyn FnMut(&mut P, &mut Recorder<'_, '_>) -> Result<(), CaseError>,
    /// Verifies the computed contents; a wrong result is a failed measurement.
    pub(crate) check: &'m mut dyn FnMut(&mut P, &mut Recorder<'_, '_>) -> Result<(), CaseError>,
}

/// Case that is measured preparation by preparation, possibly interleaved with others. Each call is
/// one preparation; the last one returns the stop reason.
pub(crate) type Turns<'c> =
    Box<dyn FnMut(&mut Recorder<'_, '_>) -> Result<Option<StopReason>, CaseError> + 'c>;

/// Runs one preparation with its repetitions and stores them; returns `None` if another one
/// follows.
pub(crate) fn run_preparation<P>(
    measurement: &mut Measurement<'_, P>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let mut prepared = (measurement.prepare)(recorder)?;
    recorder.begin_passes();
    let next = loop {
        let began_s = recorder.elapsed_s();
        (measurement.repetition)(&mut prepared, recorder)?;
        match recorder.next_action(recorder.elapsed_s() - began_s)? {
            NextStep::Repeat => {}
            other => break other,
        }
    };
    recorder.end_passes();
    (measurement.check)(&mut prepared, recorder)?;
    // Frees the memory before the next preparation: two sets of arrays may not fit.
    drop(prepared);
    match next {
        NextStep::Stop(stopped) => {
            recorder.flush()?;
            Ok(Some(stopped))
        }
        NextStep::Repeat | NextStep::PrepareAfresh => {
            recorder.begin_preparation().map(|()| None)
        }
    }
}

/// Runs one repetition that is a preparation of its own, as with a connection that is opened, used
/// once and closed.
pub(crate) fn run_once(
    repetition: &mut dyn FnMut(&mut Recorder<'_, '_>) -> Result<(), CaseError>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let began_s = recorder.elapsed_s();
    repetition(recorder)?;
    if let NextStep::Stop(stopped) = recorder.next_action(recorder.elapsed_s() - began_s)? {
        recorder.flush()?;
        return Ok(Some(stopped));
    }
    recorder.begin_preparation().map(|()| None)
}
