//! Application of one setting to the options of a job.

use super::super::jobfile::FioSetting;
use super::super::option::OptionSupport;
use super::super::value;
use super::parse_values::{
    first_of_list, parse_choice, parse_integer, parse_milliseconds, parse_percentage,
    parse_percentiles, parse_rates, parse_single_size, parse_sizes, parse_sync,
    split_at_colons,
};
use super::{FioOptions, RwMode, VerifyMode};

/// Maximum number of clones: each is a thread.
const MAX_CLONES: u64 = 4096;
/// Maximum depth: the limit of the kernel's rings.
const MAX_DEPTH: u64 = 32_768;

impl FioOptions {
    /// Applies one setting; an error describes the expected value.
    pub(super) fn apply(&mut self, setting: &FioSetting) -> Result<(), String> {
        if let OptionSupport::Ignored(why) = setting.option.support {
            if !self.ignored.contains(&(setting.option.name, why)) {
                self.ignored.push((setting.option.name, why));
            }
            return Ok(());
        }
        if setting.option.support != OptionSupport::Implemented {
            return Ok(());
        }
        let value = setting.value.as_deref();
        let name = setting.option.name;
        if self.apply_flag(name, value)?
            || self.apply_number(name, value)?
            || self.logs.apply(name, value)?
            || self.behaviour.apply(name, value, self.base())?
        {
            return Ok(());
        }
        let text = value.filter(|text| !text.is_empty()).ok_or("a value is missing")?;
        match name {
            "description" => text.clone_into(&mut self.description),
            "name" => text.clone_into(&mut self.name),
            "filename" => self.files = split_at_colons(text),
            "directory" => self.directories = split_at_colons(text),
            "filename_format" => text.clone_into(&mut self.name_format),
            "ioengine" => text.clone_into(&mut self.engine),
            "rw" => self.set_rw(text)?,
            "bs" | "bsrange" | "bssplit" => self.sizes = parse_sizes(name, text, self.base())?,
            "percentile_list" => self.percentiles = parse_percentiles(text)?,
            "rate" => self.rate_bytes = parse_rates(text, self.base(), &self.rate_bytes)?,
            "rate_iops" => self.rate_iops = parse_rates(text, self.base(), &self.rate_iops)?,
            "rate_process" => self.poisson = parse_choice(text, &["linear", "poisson"])? == 1,
            "sync" => self.sync = parse_sync(text)?,
            "verify" => self.set_verify(text)?,
            // `kb_base` was applied before all others.
            _ => {}
        }
        Ok(())
    }

    /// Applies an on/off option; returns whether `name` is one.
    fn apply_flag(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let place: &mut bool = match name {
            "direct" => &mut self.direct,
            "hipri" => &mut self.polls,
            "time_based" => &mut self.time_based,
            "randrepeat" | "allrandrepeat" => &mut self.repeats_offsets,
            "end_fsync" | "fsync_on_close" => &mut self.sync_at_end,
            "unlink" => &mut self.unlink,
            "serialize_overlap" => &mut self.no_overlap,
            "stonewall" => &mut self.stonewall,
            "new_group" => &mut self.new_group,
            "group_reporting" => &mut self.group_reporting,
            "clat_percentiles" => &mut self.clat_percentiles,
            "lat_percentiles" => &mut self.lat_percentiles,
            "buffered" | "norandommap" | "zero_buffers" | "do_verify" => {
                return self.apply_inverted_flag(name, value);
            }
            _ => return Ok(false),
        };
        *place = value::parse_flag(value).ok_or("it must be 0 or 1")?;
        Ok(true)
    }

    fn apply_inverted_flag(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let on = value::parse_flag(value).ok_or("it must be 0 or 1")?;
        match name {
            "buffered" => self.direct = !on,
            "norandommap" => self.random_map = !on,
            "zero_buffers" if on => self.compress_percent = 100.0,
            "do_verify" => self.read_back = on,
            _ => {}
        }
        Ok(true)
    }

    /// Applies a numeric option; returns whether `name` is one.
    fn apply_number(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let text = value.unwrap_or_default();
        let base = self.base();
        let size =
            || base.parse_size(text).ok_or("it must be a size like 4k or 1g, or a percentage");
        let bytes = || base.parse_bytes(text).ok_or("it must be a size like 4k or 1g");
        let percent = || parse_percentage(text);
        let whole = |minimum, most| parse_integer(text, minimum, most);
        let time = || value::parse_seconds(text).ok_or("it must be a time like 30s or 5m");
        match name {
            "size" => self.size = Some(size()?),
            "io_size" => self.io_size = Some(size()?),
            "offset" => self.offset = size()?,
            "offset_increment" => self.offset_increment = size()?,
            "filesize" => self.file_size_bytes = Some(parse_single_size(text, base)?),
            "ba" => {
                self.align_bytes =
                    Some(parse_single_size(text, base)?).filter(|bytes| *bytes > 0);
            }
            "iodepth" => self.depth = whole(1, MAX_DEPTH)? as u32,
            "numjobs" => self.clones = whole(1, MAX_CLONES)? as u32,
            "nrfiles" => self.file_count = whole(1, 100_000)?,
            "loops" => self.loops = whole(1, u64::MAX)?,
            "number_ios" => self.ios = Some(bytes()?).filter(|count| *count > 0),
            "fsync" | "fdatasync" => {
                self.sync_every = whole(0, u64::MAX)?;
                self.behaviour.syncs_data_only = name == "fdatasync";
            }
            "randseed" => self.seed = bytes()?,
            "rwmixread" => self.read_percent = percent()?,
            "rwmixwrite" => self.read_percent = 100.0 - percent()?,
            "percentage_random" => self.random_percent = parse_percentage(first_of_list(text))?,
            "buffer_compress_percentage" => self.compress_percent = percent()?,
            "runtime" => self.runtime_s = Some(time()?).filter(|seconds| *seconds > 0.0),
            "ramp_time" => self.ramp_s = time()?,
            "startdelay" => self.delay_s = time()?,
            "bwavgtime" => self.sample_s = parse_milliseconds(text)?,
            "verify_backlog" => self.verify_at_once = bytes()? > 0,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_rw(&mut self, text: &str) -> Result<(), String> {
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
                true => "trims cannot be combined with reads or writes".to_owned(),
                false => "it must be read, write, rw, trim, randread, randwrite, randrw or \
                          randtrim"
                    .to_owned(),
            });
        };
        let gap_bytes = match (gap, random) {
            ("", _) | ("1", true) => 0,
            (_, true) => return Err("a new offset is drawn for every I/O".to_owned()),
            (gap, false) => {
                self.base().parse_bytes(gap).ok_or("expected a size after the colon")?
            }
        };
        let trims = word.ends_with("trim");
        self.rw = RwMode { reads: *reads, writes: *writes, trims, random: *random, gap_bytes };
        let word = if word == "readwrite" { "rw" } else { word };
        word.clone_into(&mut self.rw_text);
        Ok(())
    }

    fn set_verify(&mut self, text: &str) -> Result<(), String> {
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
        self.verify = match text {
            "0" | "none" => VerifyMode::Off,
            "null" => return Err("it checks nothing".to_owned()),
            "pattern" | "pattern_hdr" => {
                return Err("blocks hold numbers drawn anew, not a pattern".to_owned());
            }
            method if METHODS.contains(&method) => VerifyMode::On,
            _ => return Err(format!("it must be 0 or one of {}", METHODS.join(", "))),
        };
        Ok(())
    }
}
