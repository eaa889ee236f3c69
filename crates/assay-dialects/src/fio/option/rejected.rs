//! Options that are rejected because they would change the result. Options with the same reason share
//! a row.

use super::{FioOption, OptionSpec, ValueKind};

pub(super) const REJECTED: &[FioOption] = &[
    reject(
        "allow_mounted_write",
        "a mounted device is never written",
        "unmount it, or write to a file on it",
    )
    .unless(&["0"]),
    reject(
        "arguments bindname brick busy_poll busy_wait_polling chunk_size clientname \
         clustername cmd_type conf cont cpuchunks cpuload cpumode cuda_io \
         direct_write_to_pmem donorname dummy exit_on_io_done gpu_dev_ids grace_time \
         hdfs_use_direct hdfsdirectory hipri_percentage hostname http_host http_mode \
         http_pass http_s3_key http_s3_keyid http_s3_region \
         http_s3_sse_customer_algorithm http_s3_sse_customer_key http_s3_storage_class \
         http_swift_auth_token http_user http_verbose https initiator inplace interface \
         listen mss namenode nfs_url no_completion_thread nodelay object_class pingpong \
         pool port program protocol rbdname serverip sg_write_mode single_instance \
         skip_bad std_redirect stream_id svcl thp touch_objects ttl uri verb \
         proto volume window_size xnvme_admin xnvme_async xnvme_be xnvme_dev_nsid \
         xnvme_iovec xnvme_sync",
        "it belongs to an engine that assay does not have",
        "run this job with fio itself",
    ),
    reject("atomic", "writes are not made atomic (RWF_ATOMIC)", "").unless(&["0"]),
    reject(
        "cgroup cgroup_nodelete cgroup_weight gid ioscheduler uid",
        "assay changes no setting of the machine",
        "set it before the run",
    ),
    reject(
        "exec_postrun exec_prerun",
        "assay starts no command that a job file names",
        "start it before or after assay",
    ),
    reject(
        "force_async nowait readfua uncached writefua",
        "I/O is handed over as the kernel does by default",
        "",
    )
    .unless(&["0"]),
    reject("gpu_dev_id", "memory of graphics cards is not used", "").unless(&["0"]),
    reject(
        "ignore_zone_limits job_max_open_zones max_open_zones read_beyond_wp \
         zone_reset_frequency zone_reset_threshold zonecapacity",
        "zoned block devices are not supported",
        "",
    )
    .unless(&["0"]),
    reject("lockfile", "files are not locked against other jobs", "").unless(&["none"]),
    reject(
        "merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars replay_skip",
        "traces of blktrace are not replayed",
        "replay a trace of write_iolog with read_iolog",
    ),
    reject("opendir", "it opens all files of a folder", "name the files with filename"),
    reject(
        "profile",
        "profiles are not supported",
        "write the jobs of the profile into a job file",
    ),
    reject(
        "rate_ignore_thinktime",
        "pauses and a rate are mutually exclusive",
        "leave out thinktime or the rate",
    )
    .unless(&["0"]),
    OptionSpec::reject("sqthread_poll", ValueKind::Switch, "the engine does not poll", "")
        .unless(&["0"]),
    reject("sqthread_poll_cpu", "the engine does not poll", "").unless(&["0"]),
    reject("thinktime_blocks_type", "it is complete or issue", "")
        .unless(&["complete", "issue"]),
    reject(
        "trim_backlog trim_backlog_batch trim_percentage trim_verify_zero",
        "what was written is not trimmed",
        "",
    )
    .unless(&["0"]),
    reject("unlink_each_loop", "files stay until the run is over", "use unlink=1")
        .unless(&["0"]),
];

const fn reject(names: &'static str, why: &'static str, instead: &'static str) -> FioOption {
    OptionSpec::reject(names, ValueKind::Flag, why, instead)
}
