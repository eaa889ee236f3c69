//! Options of perftest 26.x that `assay rdma` does not support, each with the reason and an
//! alternative.

/// All spellings of an option, reason, alternative.
type UnsupportedPerftestOption = (&'static [&'static str], &'static str, &'static str);

const LEAVE_OUT: &str = "leave it out";
const USE_PERFTEST: &str = "perftest itself";
const UNSUPPORTED_OPTIONS: &[UnsupportedPerftestOption] = &[
    (
        &["-C", "--report-cycles"],
        "times are ns of the system's clock, and cycles of no known length say less",
        "leave it out; -U prints every result",
    ),
    (
        &["-e", "--events", "-X", "--vector"],
        "both ends spin: a sleep would be measured along",
        LEAVE_OUT,
    ),
    (
        &["--run_infinitely"],
        "in perftest it repeats the measurement at the leading end, and here every measurement ends",
        "`while assay rdma …; do :; done` repeats it; --forever keeps the far end waiting for more tests",
    ),
    (
        &["-R", "--rdma_cm", "-z", "--comm_rdma_cm", "-T", "--tos", "--retry_count"],
        "queue pairs are connected over TCP, not by the RDMA connection manager",
        "leave it out; --tclass sets the traffic class",
    ),
    (
        &["-l", "--post_list", "--recv_post_list"],
        "requests are posted one by one, as most programs do",
        "leave it out; -t keeps more in flight, -Q asks for fewer completions",
    ),
    (
        &["-g", "--mcg", "-M", "--MGID", "--connectionless"],
        "one end sends to one other, never to a group",
        "leave it out; `assay run rdma --hosts … --pairs …` measures many pairs",
    ),
    (
        &["-O", "--dualport", "--report-per-port"],
        "a test uses one port",
        "two tests at once, each with its -i and -p",
    ),
    (
        &["--reversed"],
        "the end that is given a host leads",
        "start the test at the other end; -b measures both directions",
    ),
    (
        &["--report-both"],
        "the rates of both ends are added",
        "two tests without -b, one from each end",
    ),
    (&["-L", "--hop_limit"], "packets may make 255 hops, all that fit", LEAVE_OUT),
    (
        &["-w", "--limit_bw", "-y", "--limit_msgrate"],
        "a limit is held against stored runs, with their uncertainty",
        "`assay compare`, or `assay run rdma --expect SYSTEM`",
    ),
    (
        &["-W", "--report-counters"],
        "counters of the port are no part of a result",
        "`assay doctor rdma` shows those that move",
    ),
    (&["--cpu_util"], "both ends spin, so that their CPUs are always busy", LEAVE_OUT),
    (&["--output"], "the table is printed in full", "--json has every figure in base units"),
    (&["-V", "--version"], "the version is that of assay", "`assay --version`"),
    (
        &["--data_validation", "--data_validation_debug"],
        "contents are compared after every size anyway",
        LEAVE_OUT,
    ),
    (
        &["--use_hugepages"],
        "memory lies in huge pages anyway, where the kernel has them",
        LEAVE_OUT,
    ),
    (
        &["--pin_cores", "--numa_node", "--disable_numa", "--cpu_id"],
        "each end runs on the CPUs of the NUMA node that its device hangs on",
        "`taskset -c LIST assay rdma …` leaves it fewer of them",
    ),
    (&["--ipv6"], "a GID of IPv6 is taken where there is none of IPv4", "-x names any other"),
    (&["--ipv6-addr"], "addresses of both kinds are understood", LEAVE_OUT),
    (
        &["--bind_source_ip"],
        "the route chooses where the exchange of queue pairs leaves from",
        "`ip route get HOST` tells; -B at the waiting end is where it is reached",
    ),
    (
        &["--force-link"],
        "what a port's link is, its driver says",
        "-d and -i name another port",
    ),
    (
        &["--dont_xchg_versions"],
        "ends of different versions refuse each other, as what they exchange differs",
        "the same assay at both ends",
    ),
    (
        &[
            "--use_cuda",
            "--use_cuda_bus_id",
            "--use_cuda_dmabuf",
            "--use_cuda_pcie_mapping",
            "--use_data_direct",
            "--cuda_mem_type",
            "--use_musa",
            "--use_musa_bus_id",
            "--use_musa_dmabuf",
            "--use_musa_pcie_mapping",
            "--use_rocm",
            "--use_rocm_dmabuf",
            "--use_neuron",
            "--use_neuron_dmabuf",
            "--use_hl",
            "--use_mlu",
            "--use_mlu_dmabuf",
            "--use_opencl",
            "--opencl_platform_id",
            "--use_ib_dm_dmabuf",
            "--gpu_touch",
        ],
        "messages lie in the host's memory, never in that of an accelerator",
        "perftest itself, built for that accelerator",
    ),
    (
        &["--mmap", "--mmap-offset", "--payload_file_path"],
        "memory and contents are assay's own, so that they can be compared",
        LEAVE_OUT,
    ),
    (
        &[
            "-v",
            "--mac_fwd",
            "-G",
            "--use_rss",
            "-E",
            "--dest_mac",
            "-J",
            "--dest_ip",
            "-j",
            "--source_ip",
            "-K",
            "--dest_port",
            "-k",
            "--source_port",
            "-Y",
            "--ethertype",
            "-Z",
            "--server",
            "-P",
            "--client",
            "--source_mac",
            "--remote_mac",
            "--local_mac",
            "--remote_ip",
            "--local_ip",
            "--remote_port",
            "--local_port",
            "--raw_ipv6",
            "--raw_mcast",
            "--promiscuous",
            "--sniffer",
            "--vlan_en",
            "--vlan_pcp",
            "--flows",
            "--flows_burst",
            "--reply_every",
            "--tcp",
        ],
        "raw Ethernet is not spoken",
        "perftest's raw_ethernet_bw and its siblings",
    ),
    (
        &[
            "--burst_size",
            "--typical_pkt_size",
            "--rate_limit",
            "--rate_units",
            "--rate_limit_type",
        ],
        "as many requests are in flight as -t says, at the rate that results",
        USE_PERFTEST,
    ),
    (
        &["--latency_gap"],
        "each message follows the one before, so that no pause is in a latency",
        USE_PERFTEST,
    ),
    (
        &[
            "--use-srq",
            "--no_lock",
            "--use-null-mr",
            "--mr_per_qp",
            "--odp",
            "--use_old_post_send",
            "--pkey_index",
            "--dlid",
            "--flow_label",
            "--wait_destroy",
            "--disable_pcie_relaxed",
            "--use_ooo",
            "--no_enhanced_reorder",
            "--congest_type",
            "--write_with_imm",
            "--send_with_imm",
            "--unsolicited_write",
            "--cqe_poll",
            "--disable_dynamic_polling",
            "--tph_mem",
            "--ph",
            "--log_dci_streams",
            "--log_active_dci_streams",
            "--sig_offload",
            "--aes_xts",
            "--encrypt_on_tx",
            "--sig_before",
            "--aes_block_size",
            "--kek_path",
            "--credentials_path",
            "--data_enc_keys_number",
            "--data_enc_key_app_path",
        ],
        "queue pairs and memory are made in one way, as perftest makes them without it",
        USE_PERFTEST,
    ),
];

/// Returns why this option of perftest is not supported, and an alternative.
pub(crate) fn find_reason(option: &str) -> Option<(&'static str, &'static str)> {
    let name = option.split('=').next().unwrap_or(option);
    let row = UNSUPPORTED_OPTIONS.iter().find(|row| row.0.contains(&name))?;
    Some((row.1, row.2))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Args, Command};

    use super::super::RdmaArguments;
    use super::*;

    /// `getopt_long`'s table of perftest 26.x, long names and letters (`perftest_parameters.c`,
    /// `parser`).
    const PERFTEST_OPTIONS: &str = "port ib-dev ib-port mtu size iters tx-depth qp-timeout sl gid-index all \
        CPU-freq connection qp events vector inline_size outs mcg comm_rdma_cm rdma_cm tos hop_limit help MGID \
        rx-depth bidirectional cq-mod noPeak version report-cycles report-histogrm report-unsorted atomic_type \
        dualport post_list duration margin source_mac dest_mac dest_ip source_ip dest_port source_port ethertype \
        limit_bw limit_msgrate server client mac_fwd use_rss report-counters force-link remote_mac local_mac \
        remote_ip local_ip remote_port local_port run_infinitely report_gbits use-srq no_lock use-null-mr \
        report-both reversed pkey_index tcp burst_size typical_pkt_size rate_limit rate_limit_type rate_units \
        output cpu_util out_json out_json_file latency_gap flow_label retry_count dont_xchg_versions \
        payload_file_path use_cuda use_cuda_bus_id use_cuda_dmabuf use_cuda_pcie_mapping use_data_direct \
        cuda_mem_type use_musa use_musa_bus_id use_musa_dmabuf use_musa_pcie_mapping use_rocm use_rocm_dmabuf \
        use_neuron use_neuron_dmabuf use_hl use_mlu use_mlu_dmabuf use_opencl opencl_platform_id \
        use_ib_dm_dmabuf gpu_touch mmap mmap-offset ipv6 ipv6-addr raw_ipv6 report-per-port odp use_hugepages \
        use_old_post_send promiscuous sniffer raw_mcast mr_per_qp dlid tclass wait_destroy flows flows_burst \
        reply_every perform_warm_up vlan_en vlan_pcp recv_post_list aes_xts encrypt_on_tx sig_before \
        aes_block_size kek_path credentials_path data_enc_keys_number data_enc_key_app_path log_dci_streams \
        log_active_dci_streams disable_pcie_relaxed use_ooo congest_type bind_source_ip write_with_imm \
        send_with_imm no_enhanced_reorder unsolicited_write connectionless cqe_poll tph_mem cpu_id ph \
        disable_dynamic_polling sig_offload data_validation data_validation_debug pin_cores numa_node disable_numa";
    const PERFTEST_LETTERS: &str = "wypdimsntuSxcqIoMrQAlDfBTLEJjKkXWaFegzRvhbNVCHUOZPG";

    #[test]
    fn perftest_options_are_either_supported_or_rejected() {
        let command = RdmaArguments::augment_args(Command::new("rdma"));
        let mut taken = BTreeSet::from(["-h".to_owned(), "--help".to_owned()]);
        for argument in command.get_arguments() {
            let long = argument.get_long().into_iter();
            let long = long.chain(argument.get_all_aliases().unwrap_or_default());
            taken.extend(long.map(|name| format!("--{name}")));
            taken.extend(argument.get_short().map(|letter| format!("-{letter}")));
        }
        let words = PERFTEST_OPTIONS.split_whitespace().map(|name| format!("--{name}"));
        for option in words.chain(PERFTEST_LETTERS.chars().map(|letter| format!("-{letter}"))) {
            let is_refused = find_reason(&option).is_some();
            assert_ne!(taken.contains(&option), is_refused, "{option}");
        }
        let mut seen = BTreeSet::new();
        for option in UNSUPPORTED_OPTIONS.iter().flat_map(|row| row.0) {
            assert!(!taken.contains(*option), "{option} is taken");
            assert!(seen.insert(option), "{option} has two rows");
        }
        assert_eq!(find_reason("--output=bandwidth"), find_reason("--output"));
        assert!(find_reason("--nonsense").is_none());
    }
}
