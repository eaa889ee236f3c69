//! The name by which the program was called: by a tool's name, it is that tool.
//!
//! A link, `ln -s assay fio`, lets existing scripts run unchanged.

use std::ffi::OsString;
use std::path::Path;

use crate::options::osu::{MpiProgram, find_unsupported_benchmark};

/// Names of tools with the command of each.
const TOOLS: &[(&str, &[&str])] = &[
    ("fio", &["fio"]),
    ("vdbench", &["vdbench"]),
    ("ior", &["ior"]),
    ("mdtest", &["mdtest"]),
    ("iperf3", &["iperf3"]),
    ("qperf", &["qperf"]),
    ("sockperf", &["sockperf"]),
    ("ntttcp", &["ntttcp"]),
    ("ping", &["ping"]),
    ("ib_send_lat", &["rdma", "send-lat"]),
    ("ib_send_bw", &["rdma", "send-bw"]),
    ("ib_write_lat", &["rdma", "write-lat"]),
    ("ib_write_bw", &["rdma", "write-bw"]),
    ("ib_read_lat", &["rdma", "read-lat"]),
    ("ib_read_bw", &["rdma", "read-bw"]),
    ("ib_atomic_lat", &["rdma", "atomic-lat"]),
    ("ib_atomic_bw", &["rdma", "atomic-bw"]),
];

/// Name of this program.
const PROGRAM: &str = "assay";
/// Prefix of OSU's programs; each test has the name of one.
const OSU_PREFIX: &str = "osu_";
/// Option that selects OSU's method, and the method of its present version.
const PRESET: [&str; 2] = ["--preset", "osu-7"];

/// Inserts the command of the tool whose name the program was called by.
pub fn insert_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let called = words.first().map(Path::new).and_then(Path::file_name);
    let Some(name) = called.and_then(|name| name.to_str()) else { return words };
    let mut command: Vec<&str> = TOOLS
        .iter()
        .find(|(tool, _)| *tool == name)
        .map_or_else(Vec::new, |(_, command)| command.to_vec());
    let test = name.strip_prefix(OSU_PREFIX).and_then(|name| {
        let known = MpiProgram::from_name(name).map(MpiProgram::name);
        known.or_else(|| find_unsupported_benchmark(name))
    });
    if let Some(test) = test {
        command.extend(["mpi", test]);
        let is_preset =
            |word: &OsString| word.to_str().is_some_and(|word| word.starts_with(PRESET[0]));
        if !words.iter().any(is_preset) {
            command.extend(PRESET);
        }
    }
    if !command.is_empty() {
        // Help and errors print the command that was inserted.
        words.splice(..1, [PROGRAM].into_iter().chain(command).map(OsString::from));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted(line: &str) -> String {
        let words = insert_command(line.split(' ').map(OsString::from).collect());
        words.join(" ".as_ref()).into_string().expect("the words are text")
    }

    #[test]
    fn inserts_commands_of_tools() {
        for (line, expected) in [
            ("/usr/bin/fio a.fio", "assay fio a.fio"),
            ("iperf3 -c h", "assay iperf3 -c h"),
            ("./ior -b 1m", "assay ior -b 1m"),
            ("bin/mdtest -n 10", "assay mdtest -n 10"),
            ("vdbench -t", "assay vdbench -t"),
            ("qperf h tcp_lat", "assay qperf h tcp_lat"),
            ("sockperf pp -i h", "assay sockperf pp -i h"),
            ("ntttcp -s h", "assay ntttcp -s h"),
            ("ping -c 2 h", "assay ping -c 2 h"),
            ("ib_send_lat -a", "assay rdma send-lat -a"),
            ("osu_latency -m 1:4", "assay mpi latency --preset osu-7 -m 1:4"),
            ("osu_bw --preset=assay", "assay mpi bw --preset=assay"),
            ("osu_latency_mt -x 1", "assay mpi latency_mt --preset osu-7 -x 1"),
            ("osu_hello", "assay mpi hello --preset osu-7"),
            ("osu_other -x", "osu_other -x"),
            ("assay fio a.fio", "assay fio a.fio"),
            ("fio-3.33 a.fio", "fio-3.33 a.fio"),
        ] {
            assert_eq!(inserted(line), expected);
        }
    }
}
