//! Implemented options, each with the function that applies its value to a job.

use assay_model::workload::storage::FileCall;

use super::super::section_options::FioOptions;
use super::super::section_options::behaviour::{
    parse_cpu_mask, parse_cpus, parse_distribution, parse_generator, parse_hint, parse_memory,
    parse_memory_policy, parse_microseconds, parse_new_file, parse_nice, parse_nodes,
    parse_steady, parse_sync_range, parse_turns, parse_zone_mode,
};
use super::super::section_options::parse_values::{
    PATTERN, first_of_list, parse_bytes, parse_choice, parse_continued_errors,
    parse_direction_report, parse_directions, parse_error_lists, parse_fixed_size, parse_flag,
    parse_integer, parse_kb_base, parse_milliseconds, parse_names, parse_percentage,
    parse_percentiles, parse_rate, parse_rw, parse_single_size, parse_size, parse_size_range,
    parse_size_split, parse_sync, parse_text, parse_time, parse_verify,
};
use super::super::section_options::pattern::{parse_pattern, parse_pattern_with_offsets};
use super::super::section_options::priorities::{
    parse_class, parse_class_or_none, parse_io_hint, parse_level, parse_split_priorities,
};
use super::{ApplyFio, BASE, FioOption, NAME, OptionSpec, TRACE, ValueKind};

/// Maximum number of clones: each is a thread.
const MAX_CLONES: u64 = 4096;
/// Maximum depth: the limit of the kernel's rings.
const MAX_DEPTH: u64 = 32_768;
/// fio's maximum of `flow`.
const MAX_FLOW: u64 = 1000;
/// Maximum interval of a log: above a day, the value is a mistake.
const DAY_MS: u64 = 86_400_000;

pub(super) const IMPLEMENTED: &[FioOption] = &[
    // The job and its report.
    text(NAME, |job, text| parse_text(text).map(|it| job.name = it)),
    text("description", |job, text| parse_text(text).map(|it| job.description = it)),
    text(BASE, |job, text| parse_kb_base(text).map(|it| job.kb_base = it)),
    switch("group_reporting", |job, text| parse_flag(text).map(|it| job.group_reporting = it)),
    switch("new_group", |job, text| parse_flag(text).map(|it| job.new_group = it)),
    flag("clat_percentiles", |job, text| parse_flag(text).map(|it| job.clat_percentiles = it)),
    flag("lat_percentiles", |job, text| parse_flag(text).map(|it| job.lat_percentiles = it)),
    flag("slat_percentiles", |job, text| parse_flag(text).map(|it| job.slat_percentiles = it)),
    flag("disk_util", |job, text| parse_flag(text).map(|it| job.logs.hides_disks = !it)),
    flag("stats", |job, text| parse_flag(text).map(|it| job.is_unreported = !it)),
    text("unified_rw_reporting", |job, text| {
        parse_direction_report(text).map(|it| job.direction_report = it)
    }),
    text("percentile_list", |job, text| parse_percentiles(text).map(|it| job.percentiles = it)),
    text("bwavgtime", |job, text| parse_milliseconds(text).map(|it| job.sample_s = it)),
    // Files.
    text("filename", |job, text| parse_names(text).map(|it| job.files = it)),
    text("directory", |job, text| parse_names(text).map(|it| job.directories = it)),
    text("filename_format", |job, text| parse_text(text).map(|it| job.name_format = it)),
    text("nrfiles nr_files", |job, text| {
        parse_integer(text, 1, 100_000).map(|it| job.file_count = it)
    }),
    text("file_service_type", |job, text| {
        let (turns, length) = parse_turns(text)?;
        (job.behaviour.turns, job.behaviour.turn_length) = (Some(turns), length);
        Ok(())
    }),
    text("openfiles", |job, text| {
        parse_integer(text, 0, 100_000).map(|it| job.behaviour.open_files = it as usize)
    }),
    text("size", |job, text| parse_size(text, job.base()).map(|it| job.size = Some(it))),
    text("filesize", |job, text| {
        parse_single_size(text, job.base()).map(|it| job.file_size_bytes = Some(it))
    }),
    text("io_size io_limit", |job, text| {
        parse_size(text, job.base()).map(|it| job.io_size = Some(it))
    }),
    text("offset fileoffset", |job, text| {
        parse_size(text, job.base()).map(|it| job.offset = it)
    }),
    text("offset_align", |job, text| {
        parse_bytes(text, job.base())
            .map(|it| job.behaviour.offset_align_bytes = Some(it).filter(|bytes| *bytes > 0))
    }),
    text("offset_increment", |job, text| {
        parse_size(text, job.base()).map(|it| job.offset_increment = it)
    }),
    text("loops", |job, text| parse_integer(text, 1, u64::MAX).map(|it| job.loops = it)),
    text("number_ios", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.ios = Some(it).filter(|count| *count > 0))
    }),
    text("zonemode", |job, text| parse_zone_mode(text).map(|it| job.behaviour.strided = it)),
    text("zonesize", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.behaviour.zone_bytes = it)
    }),
    text("zonerange", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.behaviour.zone_range_bytes = it)
    }),
    text("zoneskip", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.behaviour.zone_skip_bytes = it)
    }),
    switch("fill_device fill_fs", |job, text| {
        parse_flag(text).map(|it| job.behaviour.ends_when_full = it)
    }),
    flag("file_append", |job, text| parse_flag(text).map(|it| job.behaviour.appends = it)),
    flag("create_only", |job, text| parse_flag(text).map(|it| job.behaviour.creates_only = it)),
    flag("create_on_open", |job, text| {
        parse_flag(text).map(|it| job.behaviour.creates_on_open = it)
    }),
    flag("pre_read", |job, text| parse_flag(text).map(|it| job.behaviour.pre_reads = it)),
    flag("unlink", |job, text| parse_flag(text).map(|it| job.unlink = it)),
    text("fallocate", |job, text| parse_new_file(text).map(|it| job.behaviour.new_file = it)),
    flag("overwrite", |job, text| parse_flag(text).map(|it| job.behaviour.overwrites = it)),
    flag("invalidate", |job, text| parse_flag(text).map(|it| job.behaviour.keeps_cache = !it)),
    text("fadvise_hint", |job, text| parse_hint(text).map(|it| job.behaviour.hint = it)),
    // I/O.
    text("rw readwrite", |job, text| {
        parse_rw(text, job.base()).map(|it| (job.rw, job.rw_text) = it)
    }),
    text("rwmixread", |job, text| parse_percentage(text).map(|it| job.read_percent = it)),
    text("rwmixwrite", |job, text| {
        parse_percentage(text).map(|it| job.read_percent = 100.0 - it)
    }),
    text("bs blocksize", |job, text| {
        let base = job.base();
        parse_directions(text, &job.sizes, |part| parse_fixed_size(part, base))
            .map(|it| job.sizes = it)
    }),
    text("bsrange blocksize_range", |job, text| {
        let base = job.base();
        parse_directions(text, &job.sizes, |part| parse_size_range(part, base))
            .map(|it| job.sizes = it)
    }),
    text("bssplit", |job, text| {
        let base = job.base();
        parse_directions(text, &job.sizes, |part| parse_size_split(part, base))
            .map(|it| job.sizes = it)
    }),
    text("ba blockalign", |job, text| {
        let base = job.base();
        let align = |part: &str| Ok(Some(parse_bytes(part, base)?).filter(|bytes| *bytes > 0));
        parse_directions(text, &job.align_bytes, align).map(|it| job.align_bytes = it)
    }),
    switch("bs_unaligned blocksize_unaligned", |job, text| {
        parse_flag(text).map(|it| job.behaviour.any_bytes = it)
    }),
    flag("bs_is_seq_rand", |job, text| {
        parse_flag(text).map(|it| job.behaviour.sizes_by_order = it)
    }),
    text("percentage_random", |job, text| {
        parse_directions(text, &job.random_percent, parse_percentage)
            .map(|it| job.random_percent = it)
    }),
    switch("norandommap", |job, text| parse_flag(text).map(|it| job.random_map = !it)),
    text("random_distribution", |job, text| {
        parse_distribution(text, job.base()).map(|it| job.behaviour.distribution = it)
    }),
    flag("randrepeat", |job, text| parse_flag(text).map(|it| job.repeats_offsets = it)),
    flag("allrandrepeat", |job, text| parse_flag(text).map(|it| job.repeats_all = it)),
    text("randseed", |job, text| {
        job.has_seed = true;
        parse_bytes(text, job.base()).map(|it| job.seed = it)
    }),
    text("random_generator", |job, text| parse_generator(text).map(|it| job.generator = it)),
    text("rw_sequencer", |job, text| {
        parse_choice(text, &["sequential", "identical"]).map(|it| job.repeats_offset = it == 1)
    }),
    flag("direct", |job, text| parse_flag(text).map(|it| job.direct = it)),
    flag("buffered", |job, text| parse_flag(text).map(|it| job.direct = !it)),
    text("sync", |job, text| parse_sync(text).map(|it| job.sync = it)),
    text("fsync", |job, text| {
        job.behaviour.syncs_data_only = false;
        set_sync(job, parse_integer(text, 0, u64::MAX)?, None)
    }),
    text("fdatasync", |job, text| {
        job.behaviour.syncs_data_only = true;
        set_sync(job, parse_integer(text, 0, u64::MAX)?, None)
    }),
    text("sync_file_range", |job, text| {
        let (flags, every) = parse_sync_range(text)?;
        set_sync(job, every, Some(flags))
    }),
    flag("end_fsync", |job, text| parse_flag(text).map(|it| job.sync_at_end = it)),
    flag("fsync_on_close", |job, text| parse_flag(text).map(|it| job.sync_at_end = it)),
    flag("end_syncfs", |job, text| {
        let syncs = parse_flag(text)?;
        (job.sync_at_end, job.behaviour.syncs_file_system) = (job.sync_at_end || syncs, syncs);
        Ok(())
    })
    .since("fio 3.42"),
    text("buffer_compress_percentage", |job, text| {
        parse_percentage(text).map(|it| job.compress_percent = it)
    }),
    text("buffer_pattern", |job, text| {
        parse_pattern(text).map(|it| job.contents.buffer_pattern = it)
    }),
    text("dedupe_percentage", |job, text| {
        parse_percentage(text).map(|it| job.contents.duplicate_percent = it)
    }),
    text("dedupe_mode", |job, text| {
        parse_choice(text, &["repeat", "working_set"])
            .map(|it| job.contents.uses_working_set = it == 1)
    }),
    text("dedupe_working_set_percentage", |job, text| {
        parse_integer(text, 0, 100).map(|it| job.contents.working_set_percent = Some(it))
    }),
    flag("dedupe_global", |job, text| {
        parse_flag(text).map(|it| job.contents.shares_working_set = it)
    }),
    switch("zero_buffers", |job, text| {
        job.compress_percent = if parse_flag(text)? { 100.0 } else { job.compress_percent };
        Ok(())
    }),
    // Load.
    text("ioengine", |job, text| parse_text(text).map(|it| job.engine = it)),
    text("stat_type", |job, text| {
        const CALLS: [FileCall; 3] =
            [FileCall::Inspect, FileCall::InspectLink, FileCall::InspectExtended];
        parse_choice(text, &["stat", "lstat", "statx"])
            .map(|it| job.behaviour.inspection = CALLS[it])
    }),
    text("iodepth", |job, text| {
        parse_integer(text, 1, MAX_DEPTH).map(|it| job.depth = it as u32)
    }),
    text("iodepth_batch iodepth_batch_submit", |job, text| {
        parse_integer(text, 0, u64::MAX).map(|it| job.load.submit = it)
    }),
    text("iodepth_batch_complete_min iodepth_batch_complete", |job, text| {
        parse_integer(text, 0, u64::MAX).map(|it| job.load.complete_least = it)
    }),
    text("iodepth_batch_complete_max", |job, text| {
        parse_integer(text, 0, u64::MAX).map(|it| job.load.complete_most = it)
    }),
    text("iodepth_low", |job, text| {
        parse_integer(text, 0, u64::MAX).map(|it| job.load.refill_below = it)
    }),
    text("numjobs", |job, text| {
        parse_integer(text, 1, MAX_CLONES).map(|it| job.clones = it as u32)
    }),
    switch("hipri", |job, text| parse_flag(text).map(|it| job.polls = it)),
    flag("serialize_overlap", |job, text| parse_flag(text).map(|it| job.no_overlap = it)),
    text("rate", |job, text| {
        let base = job.base();
        parse_directions(text, &job.rate_bytes, |part| parse_rate(part, base))
            .map(|it| job.rate_bytes = it)
    }),
    text("rate_iops", |job, text| {
        let base = job.base();
        parse_directions(text, &job.rate_iops, |part| parse_rate(part, base))
            .map(|it| job.rate_iops = it)
    }),
    text("rate_min ratemin", |job, text| {
        let base = job.base();
        parse_directions(text, &job.load.least_bytes_per_s, |part| parse_rate(part, base))
            .map(|it| job.load.least_bytes_per_s = it)
    }),
    text("rate_iops_min", |job, text| {
        let base = job.base();
        parse_directions(text, &job.load.least_ios_per_s, |part| parse_rate(part, base))
            .map(|it| job.load.least_ios_per_s = it)
    }),
    text("rate_cycle ratecycle", |job, text| {
        parse_integer(text, 0, DAY_MS).map(|it| job.load.cycle_ms = it)
    }),
    text("rate_process", |job, text| {
        parse_choice(text, &["linear", "poisson"]).map(|it| job.poisson = it == 1)
    }),
    text("flow", |job, text| {
        parse_integer(text, 0, MAX_FLOW).map(|it| job.behaviour.flow = it)
    }),
    text("flow_id", |job, text| {
        parse_integer(text, 0, i32::MAX as u64).map(|it| job.behaviour.flow_id = it)
    }),
    text("thinktime", |job, text| {
        parse_microseconds(text).map(|it| job.behaviour.think_ns = it)
    }),
    text("thinktime_spin", |job, text| {
        parse_microseconds(text).map(|it| job.behaviour.think_spin_ns = it)
    }),
    text("thinktime_blocks", |job, text| {
        parse_integer(text, 1, u32::MAX.into())
            .map(|it| job.behaviour.think_after_ios = it as u32)
    }),
    text("thinktime_iotime", |job, text| {
        parse_time(text).map(|it| job.behaviour.think_io_ns = (it * 1e9).round() as u64)
    }),
    text("nice", |job, text| parse_nice(text).map(|it| job.behaviour.nice = it)),
    text("prio", |job, text| parse_level(text).map(|it| job.behaviour.io_level = Some(it))),
    text("prioclass", |job, text| {
        parse_class_or_none(text).map(|it| job.behaviour.io_class = Some(it))
    }),
    text("priohint", |job, text| parse_io_hint(text).map(|it| job.behaviour.io_hint = it))
        .since("fio 3.36"),
    text("cmdprio_percentage", |job, text| {
        job.behaviour.priorities.given.get_or_insert("cmdprio_percentage");
        parse_directions(text, &job.behaviour.priorities.percent, |part| {
            parse_integer(part, 0, 100)
        })
        .map(|it| job.behaviour.priorities.percent = it)
    }),
    text("cmdprio_class", |job, text| {
        job.behaviour.priorities.given.get_or_insert("cmdprio_class");
        parse_directions(text, &job.behaviour.priorities.class, parse_class)
            .map(|it| job.behaviour.priorities.class = it)
    }),
    text("cmdprio", |job, text| {
        job.behaviour.priorities.given.get_or_insert("cmdprio");
        parse_directions(text, &job.behaviour.priorities.level, parse_level)
            .map(|it| job.behaviour.priorities.level = it)
    }),
    text("cmdprio_hint", |job, text| {
        job.behaviour.priorities.given.get_or_insert("cmdprio_hint");
        parse_directions(text, &job.behaviour.priorities.hint, parse_io_hint)
            .map(|it| job.behaviour.priorities.hint = it)
    })
    .since("fio 3.36"),
    text("cmdprio_bssplit", |job, text| {
        job.behaviour.priorities.given.get_or_insert("cmdprio_bssplit");
        let base = job.base();
        let split = |part: &str| parse_split_priorities(part, base);
        parse_directions(text, &job.behaviour.priorities.split, split)
            .map(|it| job.behaviour.priorities.split = it)
    }),
    text("cpus_allowed", |job, text| parse_cpus(text).map(|it| job.behaviour.cpus = it)),
    text("cpumask", |job, text| parse_cpu_mask(text).map(|it| job.behaviour.cpus = it)),
    text("cpus_allowed_policy", |job, text| {
        parse_choice(text, &["shared", "split"]).map(|it| job.behaviour.splits_cpus = it == 1)
    }),
    text("numa_cpu_nodes", |job, text| parse_nodes(text).map(|it| job.behaviour.nodes = it)),
    text("numa_mem_policy", |job, text| {
        parse_memory_policy(text).map(|it| job.behaviour.memory_policy = it)
    }),
    text("mem iomem", |job, text| parse_memory(text).map(|it| job.behaviour.huge_pages = it)),
    // Time.
    text("runtime timeout", |job, text| {
        parse_time(text).map(|it| job.runtime_s = Some(it).filter(|seconds| *seconds > 0.0))
    }),
    switch("time_based", |job, text| parse_flag(text).map(|it| job.time_based = it)),
    text("ramp_time", |job, text| parse_time(text).map(|it| job.ramp_s = it)),
    text("ramp_size", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.behaviour.ramp_bytes = it)
    })
    .since("fio 3.42"),
    text("startdelay", |job, text| parse_time(text).map(|it| job.delay_s = it)),
    switch("stonewall wait_for_previous", |job, text| {
        parse_flag(text).map(|it| job.stonewall = it)
    }),
    text("wait_for", |job, text| parse_text(text).map(|it| job.behaviour.waits_for = Some(it))),
    switch("exitall", |job, text| parse_flag(text).map(|it| job.behaviour.ends_all = it)),
    text("exit_what", |job, text| {
        parse_choice(text, &["group", "stonewall", "all"])
            .map(|it| job.behaviour.ends_later_jobs = it == 2)
    }),
    text("max_latency", |job, text| {
        let ns = parse_microseconds(first_of_list(text))?;
        job.behaviour.max_latency_ns = Some(ns).filter(|ns| *ns > 0);
        Ok(())
    }),
    text("latency_target", |job, text| {
        parse_microseconds(first_of_list(text)).map(|it| job.load.latency_ns = it)
    }),
    text("latency_window", |job, text| {
        parse_microseconds(first_of_list(text)).map(|it| job.load.latency_window_ns = it)
    }),
    text("latency_percentile", |job, text| {
        parse_percentage(text).map(|it| job.load.latency_percent = it)
    }),
    flag("latency_run", |job, text| parse_flag(text).map(|it| job.load.adjusts_depth = it)),
    text("steadystate ss", |job, text| {
        parse_steady(text, job.base()).map(|it| job.behaviour.steady = Some(it))
    }),
    text("steadystate_duration ss_dur", |job, text| {
        parse_time(text).map(|it| job.behaviour.steady_duration_s = it)
    }),
    text("steadystate_ramp_time ss_ramp", |job, text| {
        parse_time(text).map(|it| job.behaviour.steady_ramp_s = it)
    }),
    // Checking.
    text("verify", |job, text| {
        job.contents.verifies_pattern = text == PATTERN;
        parse_verify(text).map(|it| job.verify = it)
    }),
    text("verify_pattern", |job, text| {
        let (bytes, places) = parse_pattern_with_offsets(text)?;
        (job.contents.verify_pattern, job.contents.offset_places) = (bytes, places);
        Ok(())
    }),
    flag("verify_only", |job, text| parse_flag(text).map(|it| job.contents.only_verifies = it)),
    flag("verify_state_save", |job, text| {
        parse_flag(text).map(|it| job.contents.saves_state = it)
    }),
    flag("verify_state_load", |job, text| {
        parse_flag(text).map(|it| job.contents.loads_state = it)
    }),
    flag("do_verify", |job, text| parse_flag(text).map(|it| job.read_back = it)),
    text("verify_backlog", |job, text| {
        parse_bytes(text, job.base())
            .map(|it| job.verify_backlog = Some(it).filter(|it| *it > 0))
    }),
    text("verify_backlog_batch", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.verify_batch = Some(it).filter(|it| *it > 0))
    }),
    text("continue_on_error", |job, text| {
        parse_continued_errors(text).map(|it| job.load.continues_on = it)
    }),
    text("ignore_error", |job, text| {
        job.load.tolerated_errors = parse_error_lists(text)?;
        let pairs = job.load.continues_on.iter_mut().zip(&job.load.tolerated_errors);
        pairs.for_each(|(continues, listed)| *continues |= !listed.is_empty());
        Ok(())
    }),
    flag("verify_fatal", |job, text| parse_flag(text).map(|it| job.load.ends_on_damage = it)),
    switch("exitall_on_error", |job, text| {
        parse_flag(text).map(|it| job.load.ends_all_on_error = it)
    }),
    // Recorded I/O.
    text(TRACE, |job, text| parse_text(text).map(|it| job.replay.trace = Some(it))),
    text("replay_redirect", |job, text| {
        parse_text(text).map(|it| job.replay.redirect = Some(it))
    }),
    flag("replay_no_stall", |job, text| {
        parse_flag(text).map(|it| job.replay.skips_pauses = it)
    }),
    text("replay_time_scale", |job, text| {
        parse_integer(text, 1, u64::MAX).map(|it| job.replay.speed_percent = it)
    }),
    text("replay_scale", |job, text| {
        parse_bytes(text, job.base()).map(|it| job.replay.divisor = it.max(1))
    }),
    text("replay_align", |job, text| {
        let bytes = parse_bytes(text, job.base())?;
        if bytes > 0 && !bytes.is_power_of_two() {
            return Err("it must be a power of two".to_owned());
        }
        job.replay.align_bytes = bytes;
        Ok(())
    }),
    // Logs.
    optional("write_bw_log", |job, text| {
        parse_text(text).map(|it| job.logs.bandwidth = Some(it))
    }),
    optional("write_iops_log", |job, text| parse_text(text).map(|it| job.logs.rate = Some(it))),
    optional("write_lat_log", |job, text| {
        parse_text(text).map(|it| job.logs.latency = Some(it))
    }),
    optional("write_hist_log", |job, text| {
        parse_text(text).map(|it| job.logs.histogram = Some(it))
    }),
    text("write_iolog", |job, text| parse_text(text).map(|it| job.logs.trace = Some(it))),
    flag("per_job_logs", |job, text| parse_flag(text).map(|it| job.logs.per_clone = it)),
    text("log_avg_msec", |job, text| {
        parse_integer(text, 0, DAY_MS).map(|it| job.logs.average_ms = it)
    }),
    text("log_hist_msec", |job, text| {
        parse_integer(text, 0, DAY_MS).map(|it| job.logs.histogram_ms = it)
    }),
    text("log_hist_coarseness", |job, text| {
        parse_integer(text, 0, 6).map(|it| job.logs.coarseness = it as u32)
    }),
    flag("log_max_value", |job, text| parse_flag(text).map(|it| job.logs.maximum = it)),
    text("log_window_value", |job, text| {
        parse_choice(text, &["avg", "max"]).map(|it| job.logs.maximum = it == 1)
    })
    .since("fio 3.37"),
    flag("log_prio", |job, text| parse_flag(text).map(|it| job.logs.priority = it)),
    flag("log_issue_time", |job, text| parse_flag(text).map(|it| job.logs.issue_time = it))
        .since("fio 3.38"),
    flag("log_offset", |job, text| parse_flag(text).map(|it| job.logs.offset = it)),
    flag("log_unix_epoch", |job, text| parse_flag(text).map(|it| job.logs.unix_epoch = it)),
    flag("log_alternate_epoch", |job, text| {
        parse_flag(text).map(|it| job.logs.unix_epoch = it)
    }),
    flag("gtod_reduce", |job, text| {
        let reduces = parse_flag(text)?;
        job.logs.disabled = [reduces; 3];
        Ok(())
    }),
    flag("disable_lat", |job, text| parse_flag(text).map(|it| job.logs.disabled[0] = it)),
    flag("disable_slat", |job, text| parse_flag(text).map(|it| job.logs.disabled[1] = it)),
    flag("disable_clat", |job, text| parse_flag(text).map(|it| job.logs.disabled[2] = it)),
];

/// Sets the writes between two syncs, and the flags of syncs of a range.
fn set_sync(job: &mut FioOptions, every: u64, range_flags: Option<u32>) -> Result<(), String> {
    let is_other = job.behaviour.sync_range_flags.is_some() != range_flags.is_some();
    if job.sync_every > 0 && every > 0 && is_other {
        return Err("sync_file_range excludes fsync and fdatasync here".to_owned());
    }
    (job.sync_every, job.behaviour.sync_range_flags) = (every, range_flags);
    Ok(())
}

/// Creates the row of an option that never takes the next word as its value.
const fn switch(names: &'static str, apply: ApplyFio) -> FioOption {
    OptionSpec::implement(names, ValueKind::Switch, apply)
}

/// Creates the row of an on/off option; without a value it is on.
const fn flag(names: &'static str, apply: ApplyFio) -> FioOption {
    OptionSpec::implement(names, ValueKind::Flag, apply)
}

/// Creates the row of an option with a value.
const fn text(names: &'static str, apply: ApplyFio) -> FioOption {
    OptionSpec::implement(names, ValueKind::Text, apply)
}

/// Creates the row of an option whose value may be missing.
const fn optional(names: &'static str, apply: ApplyFio) -> FioOption {
    OptionSpec::implement(names, ValueKind::OptionalText, apply)
}
