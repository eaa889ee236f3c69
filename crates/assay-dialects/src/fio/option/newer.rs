//! Options of fio 3.34 to 3.42 that assay accepts without effect or rejects; the others have their
//! rows among the implemented ones.

use super::{FioOption, OptionSpec, ValueKind};

/// Reason of options that belong to engines of other programs and devices.
const ENGINE: &str = "it belongs to an engine that assay does not have";
const ELSEWHERE: &str = "run this job with fio itself";

pub(super) const NEWER: &[FioOption] = &[
    ignore("job_start_clock_id", "the output is that of fio 3.33, without job_start")
        .since("fio 3.36"),
    ignore("verify_write_sequence", "the number of the last write is always checked")
        .since("fio 3.38"),
    OptionSpec::ignore("libaio_vectored", ValueKind::Switch, "the engine chooses its calls")
        .since("fio 3.39"),
    ignore("verify_header_seed", "assay's stamps have no such seed").since("fio 3.40"),
    ignore("verify_pattern_interval", "assay's stamps contain the offset").since("fio 3.40"),
    ignore("filetype", "the kernel reports the type of a file").since("fio 3.41"),
    ignore("comm", "threads have names of assay").since("fio 3.42"),
    reject(
        "fdp fdp_pli libblkio_driver libblkio_force_enable_completion_eventfd \
         libblkio_num_entries libblkio_path libblkio_pre_connect_props \
         libblkio_pre_start_props libblkio_queue_size libblkio_vectored libblkio_wait_mode \
         libblkio_write_zeroes_on_trim xnvme_dev_subnqn xnvme_mem",
        ENGINE,
        ELSEWHERE,
    )
    .since("fio 3.34"),
    reject(
        "steadystate_check_interval ss_interval",
        "the rates of the window are those of seconds",
        "lengthen steadystate_duration",
    )
    .unless(&["1", "1s"])
    .since("fio 3.35"),
    reject("apptag apptag_mask fdp_pli_select md_per_io_size pi_act pi_chk", ENGINE, ELSEWHERE)
        .since("fio 3.36"),
    reject("num_range", ENGINE, ELSEWHERE).since("fio 3.37"),
    reject("thinkcycles", "pauses are times", "use thinktime").unless(&["0"]).since("fio 3.37"),
    reject(
        "data_placement dataplacement dp_scheme plid_select plids verify_mode write_mode",
        ENGINE,
        ELSEWHERE,
    )
    .since("fio 3.38"),
    reject("deac", ENGINE, ELSEWHERE).since("fio 3.39"),
    reject("recover_zbd_write_error", "zoned block devices are not supported", "")
        .unless(&["0"])
        .since("fio 3.40"),
    reject("http_object_mode http_s3_security_token", ENGINE, ELSEWHERE).since("fio 3.41"),
    reject(
        "spr_num_regions spr_op sprandom",
        "a device is not prepared by overwrites",
        "write it twice at random, with norandommap",
    )
    .unless(&["0"])
    .since("fio 3.41"),
    reject("rbd_encryption_format rbd_encryption_passphrase", ENGINE, ELSEWHERE)
        .since("fio 3.42"),
    reject("spr_cs", "a device is not prepared by overwrites", "")
        .unless(&["0"])
        .since("fio 3.42"),
    reject("write_zone_remainder", "zoned block devices are not supported", "")
        .unless(&["0"])
        .since("fio 3.42"),
];

const fn ignore(names: &'static str, why: &'static str) -> FioOption {
    OptionSpec::ignore(names, ValueKind::Flag, why)
}

const fn reject(names: &'static str, why: &'static str, instead: &'static str) -> FioOption {
    OptionSpec::reject(names, ValueKind::Flag, why, instead)
}
