//! Application of one setting to the options of a job.

use super::super::jobfile::Setting;
use super::super::option::Standing;
use super::super::value;
use super::read::{
    at_colons, choice, first, milliseconds, number, one_size, percentage, percentiles, rates,
    sizes, sync,
};
use super::{Check, Way, Worker};

/// Maximum number of clones: each is a thread.
const MOST_CLONES: u64 = 4096;
/// Maximum depth: the limit of the kernel's rings.
const DEEPEST: u64 = 32_768;

impl Worker {
    /// Applies one setting; an error describes the expected value.
    pub(super) fn apply(&mut self, setting: &Setting) -> Result<(), String> {
        if let Standing::Noted(why) = setting.row.standing {
            if !self.noted.contains(&(setting.row.name, why)) {
                self.noted.push((setting.row.name, why));
            }
            return Ok(());
        }
        if setting.row.standing != Standing::Done {
            return Ok(());
        }
        let value = setting.value.as_deref();
        let name = setting.row.name;
        if self.flag(name, value)?
            || self.amount(name, value)?
            || self.logs.apply(name, value)?
            || self.manner.apply(name, value, self.base())?
        {
            return Ok(());
        }
        let text = value.filter(|text| !text.is_empty()).ok_or("a value is missing")?;
        match name {
            "description" => text.clone_into(&mut self.description),
            "name" => text.clone_into(&mut self.name),
            "filename" => self.files = at_colons(text),
            "directory" => self.directories = at_colons(text),
            "filename_format" => text.clone_into(&mut self.name_format),
            "ioengine" => text.clone_into(&mut self.engine),
            "rw" => self.way(text)?,
            "bs" | "bsrange" | "bssplit" => self.sizes = sizes(name, text, self.base())?,
            "percentile_list" => self.percentiles = percentiles(text)?,
            "rate" => self.rate_bytes = rates(text, self.base(), &self.rate_bytes)?,
            "rate_iops" => self.rate_iops = rates(text, self.base(), &self.rate_iops)?,
            "rate_process" => self.poisson = choice(text, &["linear", "poisson"])? == 1,
            "sync" => self.sync = sync(text)?,
            "verify" => self.verify(text)?,
            // `kb_base` was applied before all others.
            _ => {}
        }
        Ok(())
    }

    /// Applies an on/off option; returns whether `name` is one.
    fn flag(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let place: &mut bool = match name {
            "direct" => &mut self.direct,
            "hipri" => &mut self.polls,
            "time_based" => &mut self.time_based,
            "randrepeat" | "allrandrepeat" => &mut self.repeat,
            "end_fsync" | "fsync_on_close" => &mut self.sync_at_end,
            "unlink" => &mut self.unlink,
            "serialize_overlap" => &mut self.no_overlap,
            "stonewall" => &mut self.stonewall,
            "new_group" => &mut self.new_group,
            "group_reporting" => &mut self.group_reporting,
            "clat_percentiles" => &mut self.clat_percentiles,
            "lat_percentiles" => &mut self.lat_percentiles,
            "buffered" | "norandommap" | "zero_buffers" | "do_verify" => {
                return self.inverse(name, value);
            }
            _ => return Ok(false),
        };
        *place = value::flag(value).ok_or("it must be 0 or 1")?;
        Ok(true)
    }

    fn inverse(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let on = value::flag(value).ok_or("it must be 0 or 1")?;
        match name {
            "buffered" => self.direct = !on,
            "norandommap" => self.map = !on,
            "zero_buffers" if on => self.compress_percent = 100.0,
            "do_verify" => self.read_back = on,
            _ => {}
        }
        Ok(true)
    }

    /// Applies a numeric option; returns whether `name` is one.
    fn amount(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let text = value.unwrap_or_default();
        let base = self.base();
        let size = || base.size(text).ok_or("it must be a size like 4k or 1g, or a percentage");
        let bytes = || base.bytes(text).ok_or("it must be a size like 4k or 1g");
        let percent = || percentage(text);
        let whole = |minimum, most| number(text, minimum, most);
        let time = || value::seconds(text).ok_or("it must be a time like 30s or 5m");
        match name {
            "size" => self.size = Some(size()?),
            "io_size" => self.io_size = Some(size()?),
            "offset" => self.offset = size()?,
            "offset_increment" => self.offset_increment = size()?,
            "filesize" => self.file_size_bytes = Some(one_size(text, base)?),
            "ba" => self.align_bytes = Some(one_size(text, base)?).filter(|bytes| *bytes > 0),
            "iodepth" => self.depth = whole(1, DEEPEST)? as u32,
            "numjobs" => self.clones = whole(1, MOST_CLONES)? as u32,
            "nrfiles" => self.file_count = whole(1, 100_000)?,
            "loops" => self.loops = whole(1, u64::MAX)?,
            "number_ios" => self.ios = Some(bytes()?).filter(|count| *count > 0),
            "fsync" | "fdatasync" => {
                self.sync_every = whole(0, u64::MAX)?;
                self.manner.syncs_data_only = name == "fdatasync";
            }
            "randseed" => self.seed = bytes()?,
            "rwmixread" => self.read_percent = percent()?,
            "rwmixwrite" => self.read_percent = 100.0 - percent()?,
            "percentage_random" => self.random_percent = percentage(first(text))?,
            "buffer_compress_percentage" => self.compress_percent = percent()?,
            "runtime" => self.runtime_s = Some(time()?).filter(|seconds| *seconds > 0.0),
            "ramp_time" => self.ramp_s = time()?,
            "startdelay" => self.delay_s = time()?,
            "bwavgtime" => self.sample_s = milliseconds(text)?,
            "verify_backlog" => self.at_once = bytes()? > 0,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn way(&mut self, text: &str) -> Result<(), String> {
        let (word, gap) = text.split_once(':').unwrap_or((text, ""));
        let known = [
            ("read", true, false, false),
            ("write", false, true, false),
            ("trim", false, true, false),
            ("rw", true, true, false),
            ("readwrite", true, true, false),
            ("randread", true, false, true),
            ("randwrite", false, true, true),
            ("randtrim", false, true, true),
            ("randrw", true, true, true),
        ];
        let Some((_, reads, writes, random)) = known.iter().find(|row| row.0 == word) else {
            return Err(match word.contains("trim") {
                true => "a job trims or it reads and writes, not both".to_owned(),
                false => "it must be read, write, rw, trim, randread, randwrite, randrw or \
                          randtrim"
                    .to_owned(),
            });
        };
        let gap_bytes = match (gap, random) {
            ("", _) | ("1", true) => 0,
            (_, true) => return Err("a new offset is drawn for every I/O".to_owned()),
            (gap, false) => {
                self.base().bytes(gap).ok_or("behind the colon must stand a size")?
            }
        };
        let trims = word.ends_with("trim");
        self.way = Way { reads: *reads, writes: *writes, trims, random: *random, gap_bytes };
        let word = if word == "readwrite" { "rw" } else { word };
        word.clone_into(&mut self.way_text);
        Ok(())
    }

    fn verify(&mut self, text: &str) -> Result<(), String> {
        const METHODS: [&str; 16] = [
            "md5",
            "crc64",
            "crc32c",
            "crc32c-intel",
            "crc32",
            "crc16",
            "crc7",
            "xxhash",
            "sha512",
            "sha256",
            "sha1",
            "sha3-224",
            "sha3-256",
            "sha3-384",
            "sha3-512",
            "meta",
        ];
        self.check = match text {
            "0" | "none" => Check::Off,
            "null" => return Err("it checks nothing".to_owned()),
            "pattern" | "pattern_hdr" => {
                return Err("blocks hold numbers drawn anew, not a pattern".to_owned());
            }
            method if METHODS.contains(&method) => Check::On,
            _ => return Err(format!("it must be 0 or one of {}", METHODS.join(", "))),
        };
        Ok(())
    }
}
