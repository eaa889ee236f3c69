//! The run loop of a case: prepare, repeat until the stopping rule ends it, check, prepare again.

use assay_model::event::Stopped;
use assay_stats::stopping::Next;

use crate::recorder::{CaseError, Recorder};

/// Something that can be measured again and again after it was prepared.
pub(crate) struct Measurement<'m, P> {
    /// Allocates and places everything again.
    pub(crate) prepare: &'m mut dyn FnMut(&mut Recorder<'_, '_>) -> Result<P, CaseError>,
    /// Measures once and records its samples.
    pub(crate) repetition:
        &'m mut dyn FnMut(&mut P, &mut Recorder<'_, '_>) -> Result<(), CaseError>,
    /// Checks that what was computed is right; a wrong answer is a failed measurement.
    pub(crate) check: &'m mut dyn FnMut(&mut P, &mut Recorder<'_, '_>) -> Result<(), CaseError>,
}

/// A case that is measured preparation by preparation, between which others may have theirs: each call
/// is one of them, and says why it was the last one.
pub(crate) type Turns<'c> =
    Box<dyn FnMut(&mut Recorder<'_, '_>) -> Result<Option<Stopped>, CaseError> + 'c>;

/// All turns of a case without a break.
pub(crate) fn all(
    mut turns: Turns<'_>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    loop {
        if let Some(stopped) = turns(recorder)? {
            return Ok(stopped);
        }
    }
}

/// One preparation with its repetitions, all of them stored; `None` where another one is to follow.
pub(crate) fn preparation<P>(
    measurement: &mut Measurement<'_, P>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<Stopped>, CaseError> {
    let mut prepared = (measurement.prepare)(recorder)?;
    let next = loop {
        let began_s = recorder.elapsed_s();
        (measurement.repetition)(&mut prepared, recorder)?;
        match recorder.next(recorder.elapsed_s() - began_s)? {
            Next::Repeat => {}
            other => break other,
        }
    };
    (measurement.check)(&mut prepared, recorder)?;
    // Given back before it is made anew: two sets of arrays may not fit into memory.
    drop(prepared);
    match next {
        Next::Stop(stopped) => {
            recorder.flush()?;
            Ok(Some(stopped))
        }
        Next::Repeat | Next::PrepareAfresh => recorder.prepare_afresh().map(|()| None),
    }
}

/// The same where every repetition is a preparation of its own: a connection is made, used once and
/// closed.
pub(crate) fn once(
    repetition: &mut dyn FnMut(&mut Recorder<'_, '_>) -> Result<(), CaseError>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<Stopped>, CaseError> {
    let began_s = recorder.elapsed_s();
    repetition(recorder)?;
    if let Next::Stop(stopped) = recorder.next(recorder.elapsed_s() - began_s)? {
        recorder.flush()?;
        return Ok(Some(stopped));
    }
    recorder.prepare_afresh().map(|()| None)
}
