//! Conditions of a result of fio: from its figures, and from options that the figures do not
//! contradict. Nothing is taken from fio's defaults.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::doubt::Doubt;

use super::options::{format_file_names, parse_fio_size};
use crate::fio_json::{FioCounts, FioOptionValues};

/// Conditions, and doubts about options that figures contradict.
pub(super) struct FioConditions {
    pub(super) dimensions: Attributes,
    pub(super) doubts: Vec<Doubt>,
}

/// Options and figures of a group of jobs.
pub(super) struct ConditionSource<'a> {
    /// Name of its jobs.
    pub(super) name: &'a str,
    pub(super) options: &'a FioOptionValues,
    pub(super) counts: &'a FioCounts,
    /// Number of jobs, if the file prints it.
    pub(super) printed_jobs: Option<u64>,
    /// Relative rounding of the printed bytes.
    pub(super) rounding: f64,
}

/// Derives the conditions of a group of jobs.
pub(super) fn derive_conditions(source: &ConditionSource<'_>) -> FioConditions {
    let mut found = FioConditions { dimensions: Attributes::new(), doubts: vec![] };
    found.dimensions.insert(Attribute::Phase, source.name.into());
    let operation = source.operation(&mut found);
    source.add_read_share(operation, &mut found);
    let jobs = source.jobs();
    source.add_pattern(operation, jobs, &mut found);
    found.dimensions.extend(jobs.map(|jobs| (Attribute::Threads, jobs.into())));
    source.add_depth(jobs, &mut found);
    source.add_size(&mut found);
    source.add_place(&mut found);
    found
}

impl FioConditions {
    /// Records that the figures contradict an option.
    fn contradict(&mut self, condition: Attribute, option: &str, figures: String) {
        self.doubts.push(Doubt::OptionContradicted {
            condition: condition.name().to_owned(),
            option: option.to_owned(),
            figures,
        });
    }
}

impl ConditionSource<'_> {
    fn option(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.options.get(*name)).map(String::as_str)
    }

    fn whole(&self, name: &str) -> Option<u64> {
        self.option(&[name])?.parse().ok()
    }

    /// Returns the kind of access: `randread` of `randread:8`.
    fn way(&self) -> Option<&str> {
        self.option(&["rw", "readwrite"])?.split(':').next()
    }

    /// Returns the operation that the option names.
    fn asked_operation(&self) -> Option<&'static str> {
        Some(match self.way()? {
            "read" | "randread" => "read",
            "write" | "randwrite" => "write",
            "trim" | "randtrim" => "trim",
            "rw" | "readwrite" | "randrw" | "trimwrite" | "randtrimwrite" => "mix",
            _ => return None,
        })
    }

    /// Determines the operation from the counts. I/O of unknown direction leaves it to the option.
    fn operation(&self, found: &mut FioConditions) -> Option<&'static str> {
        let [reads, writes, trims, unknown] = self.counts.ios;
        let asked = self.asked_operation();
        let counted = match (reads > 0, writes > 0, trims > 0) {
            _ if unknown > 0 => None,
            (true, false, false) => Some("read"),
            (false, true, false) => Some("write"),
            (false, false, true) => Some("trim"),
            (false, false, false) => None,
            _ => Some("mix"),
        };
        // A short mix may have had one direction only by chance.
        let is_chance = asked == Some("mix") && self.counts.total_ios() < 32;
        let operation = if is_chance { asked } else { counted.or(asked) };
        if let (Some(asked), Some(counted)) = (asked, operation)
            && asked != counted
        {
            found.contradict(Attribute::Operation, asked, counted.to_owned());
        }
        found.dimensions.extend(operation.map(|it| (Attribute::Operation, it.into())));
        operation
    }

    /// Adds the share of reads of a mix: the option if the counts are a likely sample of it.
    fn add_read_share(&self, operation: Option<&str>, found: &mut FioConditions) {
        if operation != Some("mix") {
            return;
        }
        let percent = |name: &str| self.whole(name).filter(|it| *it <= 100);
        let asked = percent("rwmixread").or_else(|| Some(100 - percent("rwmixwrite")?));
        let asked = asked.map(|percent| percent as f64 / 100.0);
        let total: f64 = self.counts.ios[..3].iter().map(|ios| *ios as f64).sum();
        if total <= 0.0 {
            found.dimensions.extend(asked.map(|share| (Attribute::ReadShare, share.into())));
            return;
        }
        let counted = self.counts.ios[0] as f64 / total;
        // Four standard deviations of a binomial share, and 1 % for the end of a run.
        let tolerance = 4.0 * (counted * (1.0 - counted) / total).sqrt() + 0.01;
        let share = asked.filter(|share| (share - counted).abs() <= tolerance);
        let share = share.unwrap_or_else(|| {
            let share = (counted * 100.0).round() / 100.0;
            if let Some(asked) = asked {
                found.contradict(Attribute::ReadShare, &asked.to_string(), share.to_string());
            }
            share
        });
        found.dimensions.insert(Attribute::ReadShare, share.into());
    }

    /// Determines the number of jobs that ran at the same time. With `group_reporting` one entry
    /// denotes several, whose options are not printed.
    fn jobs(&self) -> Option<u64> {
        if self.printed_jobs.is_some() {
            return self.printed_jobs;
        }
        let FioCounts { entries, runtime_s, job_seconds, .. } = *self.counts;
        let asked = self.whole("numjobs").unwrap_or(0).max(entries);
        let is_near_whole =
            |jobs: &f64| *jobs >= 0.98 && (jobs - jobs.round()).abs() <= 0.02 * jobs;
        let by_time =
            Some(job_seconds / runtime_s).filter(|_| runtime_s >= 0.1 && job_seconds > 0.0);
        if asked > 1 {
            // A group of several sections has as many jobs of each.
            let more = by_time.filter(|jobs| is_near_whole(jobs) && *jobs > 1.5 * asked as f64);
            return Some(more.map_or(asked, |jobs| jobs.round() as u64));
        }
        let by_size = self.job_size().map(|size| self.counts.bytes.iter().sum::<f64>() / size);
        let by_size = by_size.filter(|jobs| jobs.fract() == 0.0);
        let jobs = by_size.or(by_time).filter(is_near_whole)?.round();
        (jobs < 1e6).then_some(jobs as u64)
    }

    /// Returns the bytes that each job transfers, if its size alone decides.
    fn job_size(&self) -> Option<f64> {
        let others = ["runtime", "loops", "io_size", "number_ios", "verify"];
        if self.option(&others).is_some() {
            return None;
        }
        parse_fio_size(self.option(&["size"])?).map(|size| size as f64)
    }

    /// Adds the pattern, unless the options belong to one of several different jobs.
    fn add_pattern(
        &self,
        operation: Option<&str>,
        jobs: Option<u64>,
        found: &mut FioConditions,
    ) {
        let Some(way) = self.way().filter(|_| self.asked_operation() == operation) else {
            return;
        };
        // Several sequential jobs on one file are not one sequential access.
        let pattern = match (way.starts_with("rand"), jobs.unwrap_or(1)) {
            (true, _) => "random",
            (false, 1) => "sequential",
            (false, _) => "parts",
        };
        found.dimensions.insert(Attribute::Pattern, pattern.into());
    }

    /// Adds the I/O in flight of all jobs: each job's option if its deepest level agrees.
    fn add_depth(&self, jobs: Option<u64>, found: &mut FioConditions) {
        let asked = self.whole("iodepth").filter(|depth| *depth > 0);
        // Level 8 counts 8 to 15 in flight (`io_u_mark_depth` in io_u.c), level 64 all above.
        let level = |depth: u64| (1 << depth.min(64).ilog2()).min(64);
        let depth = match (asked, self.counts.deepest_level) {
            (Some(asked), None) => Some(asked),
            (Some(asked), Some(deepest)) if level(asked) == deepest => Some(asked),
            (Some(asked), Some(deepest)) => {
                let figures = match deepest {
                    1 => "1".to_owned(),
                    64.. => "64 or more".to_owned(),
                    deepest => format!("{deepest} to {}", 2 * deepest - 1),
                };
                found.contradict(Attribute::Depth, &asked.to_string(), figures);
                (deepest == 1).then_some(1)
            }
            (None, Some(1)) => Some(1),
            (None, _) => None,
        };
        let depth = depth.zip(jobs).map(|(depth, jobs)| depth.saturating_mul(jobs));
        found.dimensions.extend(depth.map(|depth| (Attribute::Depth, depth.into())));
    }

    /// Adds the size of an I/O: the mean if directions differ, none if one direction has several.
    fn add_size(&self, found: &mut FioConditions) {
        /// Share of the I/O that may be in flight at the end: its bytes are counted and it is not,
        /// or the other way round.
        const IN_FLIGHT: f64 = 1e-3;
        if self.option(&["bssplit", "bsrange", "blocksize_range"]).is_some() {
            return;
        }
        let mut sizes = Vec::new();
        for at in 0..self.counts.ios.len() {
            let (ios, bytes) = (self.counts.ios[at] as f64, self.counts.bytes[at]);
            if ios > 0.0 && bytes > 0.0 {
                sizes.push(self.size_of_direction(at, bytes / ios, (1.5 / ios).max(IN_FLIGHT)));
            }
        }
        let total = self.counts.total_ios() as f64;
        let Some((first, asked)) = sizes.first().copied() else { return };
        let bytes = match sizes.iter().all(|it| it.0 == first) {
            true => first,
            false => (self.counts.bytes.iter().sum::<f64>() / total).round() as u64,
        };
        if let Some(asked) = asked.filter(|asked| *asked != first) {
            found.contradict(Attribute::Bytes, &asked.to_string(), bytes.to_string());
        }
        if bytes > 0 {
            found.dimensions.insert(Attribute::Bytes, bytes.into());
        }
    }

    /// Returns the size of one direction's I/O, and the size that the options name. `ending` is the
    /// share of an I/O that may be short at the end, or was counted and not finished.
    fn size_of_direction(&self, at: usize, mean: f64, ending: f64) -> (u64, Option<u64>) {
        let asked = self.option(&["bs", "blocksize"]);
        let asked = asked.and_then(|text| asked_size(text, at));
        let tolerance = mean * (self.rounding + ending.min(0.01));
        let near = |size: u64| (size as f64 - mean).abs() <= tolerance;
        let sector = ((mean / 512.0).round() * 512.0) as u64;
        // Sizes that differ have a mean; a rounded figure of one size is near a usual one.
        let power = 1 << (mean.clamp(1.0, 1e18).log2().round() as u32);
        let usual = [power, sector].into_iter().filter(|size| near(*size));
        let mut usual = usual.filter(|size| tolerance < 256.0 || *size == power);
        let size = asked.filter(|asked| near(*asked)).or_else(|| usual.next());
        (size.unwrap_or(mean.round() as u64), asked)
    }

    fn add_place(&self, found: &mut FioConditions) {
        let engine = self.option(&["ioengine"]);
        found.dimensions.extend(engine.map(|name| (Attribute::Engine, name.into())));
        let files = self.option(&["filename"]).map(format_file_names);
        found.dimensions.extend(files.map(|files| (Attribute::Target, files.into())));
        // Direct I/O is an option; a job whose options are listed without it uses the page cache.
        let is_listed = self.way().is_some() && self.option(&["printed_as_text"]).is_none();
        let is_direct =
            self.option(&["direct"]) == Some("1") || self.option(&["buffered"]) == Some("0");
        if is_listed && !is_direct && engine != Some("null") {
            found.dimensions.insert(Attribute::PageCache, true.into());
        }
    }
}

/// Returns the size of a direction in `bs=read,write,trim`; a missing one is that of the one before.
fn asked_size(text: &str, at: usize) -> Option<u64> {
    let sizes: Vec<&str> = text.split(',').map(str::trim).collect();
    let own = sizes.get(at).filter(|size| !size.is_empty() && at < 3);
    let before = || sizes.iter().rfind(|size| !size.is_empty());
    let size = own.or_else(before)?;
    match size.split_once('-') {
        Some((from, to)) if from != to => None,
        Some((from, _)) => parse_fio_size(from),
        None => parse_fio_size(size),
    }
}
