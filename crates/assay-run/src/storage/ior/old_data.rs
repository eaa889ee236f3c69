//! Data that the targets of a test have before it writes them.
//!
//! A new file is written in full, by the test or before it. In an old file or a device a write that a
//! deadline ends, or one at random offsets, leaves parts that must not be checked.

use assay_dialects::ior::compile;
use assay_dialects::ior::options::IorOptions;
use assay_model::path_text;

use crate::failure::CommandFailure;

/// Whether checks could read what the test has not written.
pub(super) fn may_be_read(options: &IorOptions) -> bool {
    let may_leave_parts = options.deadline_s > 0 || options.random > 1;
    options.write && compile::checks(options) && may_leave_parts && is_there(options)
}

/// Whether a target is there before the test.
fn is_there(options: &IorOptions) -> bool {
    let repetitions = if options.multi_file { options.repetitions } else { 1 };
    let ranks = if options.file_per_rank { options.ranks } else { 1 };
    let mut targets =
        (0..repetitions).flat_map(|repetition| (0..ranks).map(move |rank| (rank, repetition)));
    targets.any(|(rank, repetition)| {
        path_text::decode_path(&compile::file_name(options, rank, repetition)).exists()
    })
}

/// Refuses to check old targets where other offsets are read than were written.
///
/// # Errors
/// The refusal.
pub(super) fn refuse(options: &IorOptions) -> Result<(), CommandFailure> {
    let reorders = options.reorder || options.reorder_random > 0;
    let other_offsets = options.wear_out || (options.file_per_rank && reorders);
    if options.random < 2 || !other_offsets || !may_be_read(options) {
        return Ok(());
    }
    let by = if options.wear_out { "-O stoneWallingWearOut" } else { "-C or -Z" };
    let what = format!("-W and -R with -z -z and {by} need files that do not exist yet");
    Err(CommandFailure::usage(what)
        .with_reason("the reads would find what an earlier run has written")
        .advise(format!("remove {} first, or leave out {by}", options.test_file)))
}
