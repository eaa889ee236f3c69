//! Options of perftest 26.x that `assay rdma` does not support, each with the reason and an
//! alternative.

use crate::unsupported_options::{RefusedOption, describe_tool, find_refused, reject};
use assay_dialects::option::UnsupportedOption;

const USE_PERFTEST: &str = "use perftest itself";

pub(in crate::options) const UNSUPPORTED_OPTIONS: &[RefusedOption] = &[
    reject(
        "-C --report-cycles",
        "times are in ns of the system clock; cycles have no known length",
        "leave it out; -U prints every result",
    ),
    reject(
        "-e --events -X --vector",
        "both ends spin: a sleep would be included in the latency",
        "",
    ),
    reject(
        "--run_infinitely",
        "every measurement ends; in perftest the option repeats it",
        "repeat it with `while assay rdma …; do :; done`, and use --forever at the far end",
    ),
    reject(
        "-R --rdma_cm -z --comm_rdma_cm -T --tos --retry_count",
        "queue pairs are connected over TCP, not by the RDMA connection manager",
        "leave it out; --tclass sets the traffic class",
    ),
    reject(
        "-l --post_list --recv_post_list",
        "requests are posted one by one, as most programs do",
        "leave it out; use -t for more requests in flight, -Q for fewer completions",
    ),
    reject(
        "-g --mcg -M --MGID --connectionless",
        "one end sends to one other, never to a group",
        "leave it out; `assay run rdma --hosts … --pairs …` measures many pairs",
    ),
    reject(
        "-O --dualport --report-per-port",
        "a test uses one port",
        "run two tests at once, each with its own -i and -p",
    ),
    reject(
        "--reversed",
        "the end with a host leads",
        "start the test at the other end, or use -b for both directions",
    ),
    reject(
        "--report-both",
        "the rates of both ends are added",
        "run two tests without -b, one from each end",
    ),
    reject("-L --hop_limit", "the hop limit is 255, the maximum", ""),
    reject(
        "-w --limit_bw -y --limit_msgrate",
        "stored runs are compared with limits, including their uncertainty",
        "use `assay compare`, or `assay run rdma --expect SYSTEM`",
    ),
    reject(
        "-W --report-counters",
        "port counters are not part of a result",
        "use `assay doctor rdma` to see counters that increase",
    ),
    reject("--cpu_util", "both ends spin, so that their CPUs are always busy", ""),
    reject(
        "--output",
        "the table is printed in full",
        "use --json for every figure in base units",
    ),
    reject(
        "--data_validation --data_validation_debug",
        "contents are compared after every size anyway",
        "",
    ),
    reject("--use_hugepages", "memory is in huge pages anyway, if the kernel has them", ""),
    reject(
        "--pin_cores --numa_node --disable_numa --cpu_id",
        "each end runs on the CPUs of its device's NUMA node",
        "use `taskset -c LIST assay rdma …` to restrict them",
    ),
    reject("--ipv6", "an IPv6 GID is used if there is none of IPv4", "use -x for any other"),
    reject("--ipv6-addr", "addresses of both kinds are supported", ""),
    reject(
        "--bind_source_ip",
        "the route selects the source address",
        "show it with `ip route get HOST`; set the listening address with -B",
    ),
    reject(
        "--force-link",
        "the driver reports the link type of a port",
        "select another port with -d and -i",
    ),
    reject(
        "--dont_xchg_versions",
        "both ends need the same version, because their exchange differs between versions",
        "use the same version of assay at both ends",
    ),
    reject(
        "--use_cuda --use_cuda_bus_id --use_cuda_dmabuf --use_cuda_pcie_mapping \
         --use_data_direct --cuda_mem_type --use_musa --use_musa_bus_id \
         --use_musa_dmabuf --use_musa_pcie_mapping --use_rocm --use_rocm_dmabuf \
         --use_neuron --use_neuron_dmabuf --use_hl --use_mlu --use_mlu_dmabuf \
         --use_opencl --opencl_platform_id --use_ib_dm_dmabuf --gpu_touch",
        "messages are in host memory, never in that of an accelerator",
        "use perftest itself, built for that accelerator",
    ),
    reject(
        "--mmap --mmap-offset --payload_file_path",
        "memory and contents are assay's own, so that they can be compared",
        "",
    ),
    reject(
        "-v --mac_fwd -G --use_rss -E --dest_mac -J --dest_ip -j --source_ip -K \
         --dest_port -k --source_port -Y --ethertype -Z --server -P --client \
         --source_mac --remote_mac --local_mac --remote_ip --local_ip --remote_port \
         --local_port --raw_ipv6 --raw_mcast --promiscuous --sniffer --vlan_en \
         --vlan_pcp --flows --flows_burst --reply_every --tcp",
        "raw Ethernet needs queue pairs that few network cards, and not software RoCE, have",
        "use perftest's raw_ethernet_bw or a similar program",
    ),
    reject(
        "--burst_size --typical_pkt_size --rate_limit --rate_units --rate_limit_type",
        "the number of requests in flight (-t) determines the rate",
        USE_PERFTEST,
    ),
    reject("--latency_gap", "messages follow each other without a pause", USE_PERFTEST),
    reject(
        "--use-srq --no_lock --use-null-mr --mr_per_qp --odp --use_old_post_send \
         --pkey_index --dlid --flow_label --wait_destroy --disable_pcie_relaxed \
         --use_ooo --no_enhanced_reorder --congest_type --write_with_imm \
         --send_with_imm --unsolicited_write --cqe_poll --disable_dynamic_polling \
         --tph_mem --ph --log_dci_streams --log_active_dci_streams --sig_offload \
         --aes_xts --encrypt_on_tx --sig_before --aes_block_size --kek_path \
         --credentials_path --data_enc_keys_number --data_enc_key_app_path",
        "queue pairs and memory are created as by perftest without this option",
        USE_PERFTEST,
    ),
];

/// Finds the refusal of this option of perftest.
pub fn find_refusal(option: &str) -> Option<UnsupportedOption> {
    find_refused(UNSUPPORTED_OPTIONS, &describe_tool("rdma"), option)
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
            let is_refused = find_refusal(&option).is_some();
            assert_ne!(taken.contains(&option), is_refused, "{option}");
        }
        let mut seen = BTreeSet::new();
        for option in UNSUPPORTED_OPTIONS.iter().flat_map(|row| row.spellings()) {
            assert!(!taken.contains(option), "{option} is taken");
            assert!(seen.insert(option), "{option} has two rows");
        }
        assert_eq!(find_refusal("--output=bandwidth"), find_refusal("--output"));
        assert!(find_refusal("--nonsense").is_none());
    }
}
