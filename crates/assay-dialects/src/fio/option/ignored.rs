//! Options that are accepted without effect, because assay behaves alike with and without them.

use super::{FioOption, OptionSpec, ValueKind};

pub(super) const IGNORED: &[FioOption] = &[
    ignore("allow_file_create", "a file that is missing is created"),
    ignore("block_error_percentiles", "it applies to trims only"),
    ignore("buffer_compress_chunk", "the share applies to every block"),
    ignore("clocksource", "the clock is the system's monotonic one"),
    ignore("create_fsync", "files are created before anything is timed"),
    ignore("create_serialize", "files are created before anything is timed"),
    ignore("disable_bw_measurement disable_bw", "fio 3.33 records bandwidth all the same"),
    ignore("error_dump", "the first errors are always reported"),
    switch("fixedbufs", "the engine registers buffers where it can"),
    ignore("flow_sleep", "a job that is ahead goes on as soon as the others have caught up"),
    ignore("flow_watermark", "fio does not use it any more"),
    ignore("gtod_cpu", "every thread reads the clock itself"),
    ignore("hugepage-size", "the kernel chooses the size of huge pages"),
    ignore(
        "io_submit_mode",
        "with a rate, I/O is due by schedule regardless of earlier I/O, which is the purpose of `offload`",
    ),
    ignore("iomem_align mem_align", "buffers begin on pages"),
    ignore("iopsavgtime", "bwavgtime sets the length of both kinds of sample"),
    ignore("lockmem", "no memory is set aside"),
    ignore("log_alternate_epoch_clock_id", "the epoch of logs is 1970"),
    ignore("log_compression", "logs are plain text"),
    ignore("log_compression_cpus", "logs are plain text"),
    ignore("log_entries", "logs grow as they need to"),
    ignore("log_store_compressed", "logs are plain text"),
    switch("nonvectored", "the engine chooses its calls"),
    ignore("percentage_sequential", "fio does not use it any more"),
    ignore("read_iolog_chunked", "a trace is read before the first I/O"),
    switch("refill_buffers", "every block is filled anew"),
    switch("registerfiles", "the engine registers files where it can"),
    ignore("rwmixcycle", "fio does not use it any more"),
    ignore("scramble_buffers", "every block is filled anew"),
    ignore("significant_figures", "four significant digits are printed"),
    ignore("softrandommap", "the map of written blocks takes no memory here"),
    switch("thread", "jobs are threads of one process here"),
    ignore("threads", "it belongs to fio's profile tiobench, and jobs are threads here"),
    ignore("unique_filename", "it applies to clients and servers only"),
    ignore("unit_base", "bytes are printed"),
    switch("userspace_reap", "completions are read as the engine reads them"),
    ignore("experimental_verify", "written blocks are recorded by their numbers"),
    ignore("verify_async", "blocks are checked by the thread that read them"),
    ignore("verify_async_cpus", "blocks are checked by the thread that read them"),
    ignore("verify_dump", "the location of the damage is reported, the block is not dumped"),
    ignore("verify_interval", "assay stamps every sector of 512 B"),
    ignore("verify_offset", "assay stamps every sector of 512 B"),
    ignore("write_barrier", "no engine for files has barriers"),
    ignore("write_hint", "it has no meaning for most devices"),
    ignore("verifysort", "fio does not use it any more"),
    ignore("verifysort_nr", "fio does not use it any more"),
];

const fn ignore(names: &'static str, why: &'static str) -> FioOption {
    OptionSpec::ignore(names, ValueKind::Flag, why)
}

const fn switch(names: &'static str, why: &'static str) -> FioOption {
    OptionSpec::ignore(names, ValueKind::Switch, why)
}
