//! Concatenated storage (`concatenatesds=yes`): all files of a workload form one range of addresses
//! with one number of threads.

use assay_model::workload::storage::{Turns, Verify};

use super::super::attributes::Seek;
use super::super::definitions::Workload;
use super::super::runs::Run;
use super::Compiler;

/// Order in which a workload's I/O uses its files: sequential access finishes one before the next,
/// random access weights them by size.
pub(super) const fn turns(workload: &Workload) -> Turns {
    match workload.seek {
        Seek::Percent(percent) if percent >= 100.0 => Turns::BySize,
        Seek::Percent(_) | Seek::Eof | Seek::Skewed(_) => Turns::InOrder,
    }
}

impl Compiler<'_, '_> {
    /// Returns the threads of a workload on concatenated storage. `Some(None)` if storage is not
    /// concatenated; `None` after a reported error.
    #[expect(
        clippy::option_option,
        reason = "a fault and storage of its own are different things"
    )]
    pub(super) fn joined_threads(
        &mut self,
        (run, workload): (&Run, &Workload),
        storages: &[usize],
        given_threads: Option<u32>,
    ) -> Option<Option<u32>> {
        let name = &workload.name;
        if !self.all.general.joins {
            if workload.threads.is_none() {
                return Some(None);
            }
            let message = format!("`threads` of `{name}` needs joined storage");
            let error = self.lines.error("V166", workload.spot, message);
            let help = "give threads to the sd or to the rd, or say concatenatesds=yes";
            self.lines.found.push(error.help(help).vdbench("stops"));
            return None;
        }
        if let Some((what, does)) = self.not_joined(workload, storages) {
            let message = format!("{what} and concatenatesds=yes exclude each other here");
            let error = self.lines.error("V114", workload.spot, message);
            let help = "leave one of them out";
            self.lines.found.push(error.help(help).vdbench(does));
            return None;
        }
        let threads = given_threads.or(workload.threads);
        if threads.is_none() {
            let message =
                format!("neither `{name}` nor its run `{}` says threads=", run.name.text);
            let error = self.lines.error("V166", workload.spot, message);
            let help =
                "joined storage has no threads of its own: add threads= to the wd or the rd";
            self.lines.found.push(error.help(help).vdbench("stops"));
            return None;
        }
        Some(threads)
    }

    /// Finds an option that excludes concatenated storage, with Vdbench's behaviour for it.
    fn not_joined(
        &self,
        workload: &Workload,
        storages: &[usize],
    ) -> Option<(&'static str, &'static str)> {
        let is_many = storages.len() > Turns::MOST_TOLD_APART;
        let mut storages = storages.iter().map(|index| &self.all.storages[*index]);
        let is_cut = storages
            .any(|it| it.range.is_some() || it.offset_bytes > 0 || it.align_bytes.is_some());
        let is_mixed = match workload.seek {
            Seek::Percent(percent) => percent > 0.0 && percent < 100.0,
            Seek::Eof | Seek::Skewed(_) => false,
        };
        let (stops, carries_out) = ("stops", "carries it out");
        [
            (self.all.general.formats, "formatsds=yes", stops),
            (self.verify() != Verify::Off, "checking data", stops),
            (is_cut, "range=, offset= or align= of storage", stops),
            (workload.hit_percents != (0.0, 0.0), "rhpct= or whpct=", stops),
            (workload.range.is_some(), "range= or hotband= of a workload", carries_out),
            (is_mixed, "a seekpct between 0 and 100", carries_out),
            (matches!(workload.seek, Seek::Skewed(_)), "seekpct=poisson", carries_out),
            (workload.strides.is_some(), "stride=", carries_out),
            (workload.streams.is_some(), "streams=", carries_out),
            (self.input.is_apart, "several hosts", carries_out),
            (is_many, "more than 256 storage definitions of one workload", carries_out),
        ]
        .into_iter()
        .find_map(|(is_so, what, does)| is_so.then_some((what, does)))
    }
}
