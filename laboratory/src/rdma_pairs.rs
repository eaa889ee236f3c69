//! Scenario `rdma-pairs`: two hosts of a run that have no network between them except RDMA.

use std::time::Duration;

use anyhow::{Context, Result};

use super::rdma_ways::check_turns;
use super::{CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "rdma-pairs",
    title: "RDMA between the hosts of a run, without a port",
    description: "Two network namespaces as hosts. First they have no link, not even to each other, and share a device of \
            software RoCE: what queue pairs have to tell each other can only go over assay's own pipes, and nobody listens on \
            a TCP port in either. A suite asks for datagrams, four queue pairs both ways, a GID and path MTU; a fleet file names the \
            device of each host in place of the suite's. Then a link, over which perftest's ends find each other by TCP, in turns \
            with assay. That who listens is seen shows `rpcbind`, for 5 s and looked for in the same way.",
    runner: ScenarioRunner::Guest(GuestMachine::PLAIN, SCRIPT),
    cpu_use: CpuUse::Busy,
    deadline: Duration::from_secs(900),
    judge,
};

const SCRIPT: &str = include_str!("../scripts/rdma_pairs.sh");

const UD: &str = "rdma.send_lat,half_round_trip";
const WRITE: &str = "rdma.write_bw,bandwidth";

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let no_device = output_section(output, "no device")?;
    let pairs = output_section(output, "pairs")?;
    let ring = output_section(output, "ring")?;
    let perftest = output_section(output, "perftest")?;
    let [idle, control] =
        [parse_listening(pairs)?, parse_listening(output_section(output, "listener")?)?];
    let mut figures = vec![
        LabFigure::condition(
            "without a device",
            "no row, exit code 4",
            format_exit_reason(no_device),
            no_device.contains("exit 4")
                && no_device.contains("there is no RDMA device")
                && matching_rows(no_device, "rdma.send_lat,half").is_empty(),
        ),
        LabFigure::condition(
            "n1:n2, rows of 4 sizes and of reads",
            "4, 1, exit code 0",
            format!(
                "{}, {}, {}",
                matching_rows(pairs, "rdma.send_lat,half_round_trip").len(),
                matching_rows(pairs, "rdma.read_lat,latency").len(),
                format_exit_reason(pairs)
            ),
            matching_rows(pairs, "rdma.send_lat,half_round_trip").len() == 4
                && matching_rows(pairs, "rdma.read_lat,latency").len() == 1
                && pairs.contains("exit 0"),
        ),
        LabFigure::condition(
            "ports that listen meanwhile",
            "none, looked at 3 times or more",
            format!("{} in {} looks", idle.1, idle.0),
            idle.1 == 0 && idle.0 >= 3,
        ),
        LabFigure::condition(
            "n1:n2 and n2:n1, rows of reads",
            "2, exit code 0",
            format!(
                "{}, {}",
                matching_rows(ring, "rdma.read_lat,latency").len(),
                format_exit_reason(ring)
            ),
            matching_rows(ring, "rdma.read_lat,latency").len() == 2 && ring.contains("exit 0"),
        ),
        LabFigure::condition(
            "perftest beside it, rows",
            "2, of both, exit code 0",
            format!(
                "{}, {}",
                matching_rows(perftest, "rdma.send_lat,half").len(),
                format_exit_reason(perftest)
            ),
            matching_rows(perftest, "rdma.send_lat,half").len() == 2
                && perftest.contains(",ib_send_lat,6.06")
                && perftest.contains("exit 0"),
        ),
        check_turns(output_section(output, "turns")?),
        LabFigure::condition(
            "rpcbind's port, looked for in the same way",
            "at least once",
            format!("{} in {} looks", control.1, control.0),
            control.1 > 0,
        ),
    ];
    // Insert before perftest's figures, in the order of measurement.
    let perftest = figures.len() - 3;
    figures.splice(perftest..perftest, check_suite_options(output)?);
    Ok(figures)
}

/// Checks the options of suites and fleet files.
fn check_suite_options(output: &str) -> Result<[LabFigure; 4]> {
    let [ways, per_host] =
        [output_section(output, "ways")?, output_section(output, "per host")?];
    let wrong = output_section(output, "wrong")?;
    let kind = ["parameters.connection", "parameters.streams", "parameters.direction"];
    let [ud, write] = [UD, WRITE].map(|metric| cells(ways, metric, kind));
    Ok([
        LabFigure::condition(
            "UD, and 4 queue pairs both ways",
            "a row each, exit code 0",
            format!("{}, {}, {}", ud.len(), write.len(), format_exit_reason(ways)),
            ud == [["ud", "", ""]] && write == [["rc", "4", "both"]] && ways.contains("exit 0"),
        ),
        LabFigure::exact(
            "path MTU of datagrams; GID and path MTU of writes",
            "512; 0, 256",
            format!("{}; {}", format_gid_and_mtu(ways, UD), format_gid_and_mtu(ways, WRITE)),
        ),
        LabFigure::condition(
            "a device that no host has",
            "no row, named, exit code 4",
            format_exit_reason(wrong),
            wrong.contains("exit 4")
                && wrong.contains("mlx5_0")
                && matching_rows(wrong, "rdma.read_lat,latency").is_empty(),
        ),
        LabFigure::condition(
            "the same where the fleet file names theirs, rows",
            "1, exit code 0",
            format!(
                "{}, {}",
                matching_rows(per_host, "rdma.read_lat,latency").len(),
                format_exit_reason(per_host)
            ),
            matching_rows(per_host, "rdma.read_lat,latency").len() == 1
                && per_host.contains("exit 0"),
        ),
    ])
}

fn matching_rows<'s>(text: &'s str, pattern: &str) -> Vec<&'s str> {
    text.lines().filter(|line| line.contains(pattern)).collect()
}

/// Returns the named columns of each row of a metric.
fn cells<'s, const N: usize>(
    text: &'s str,
    metric: &str,
    names: [&str; N],
) -> Vec<[&'s str; N]> {
    let Some(head) = text.lines().find(|line| line.starts_with("run,host,")) else {
        return Vec::new();
    };
    let column = |name| head.split(',').position(|column_name| column_name == name);
    let cells_in = |row: &&'s str| {
        names.map(|name| {
            column(name).and_then(|index| row.split(',').nth(index)).unwrap_or_default()
        })
    };
    matching_rows(text, metric).iter().map(cells_in).collect()
}

/// Formats the GID index, if one was requested, and the path MTU of a test.
fn format_gid_and_mtu(text: &str, metric: &str) -> String {
    let names =
        ["parameters.asked_gid_index", "parameters.gid_index", "parameters.path_mtu_bytes"];
    match &cells(text, metric, names)[..] {
        [["", _, mtu]] => (*mtu).to_owned(),
        [[_, gid, mtu]] => format!("{gid}, {mtu}"),
        _ => "no row".to_owned(),
    }
}

/// Formats the exit code and the program's reason, if there is one.
fn format_exit_reason(text: &str) -> String {
    let code = text.lines().find_map(|line| line.strip_prefix("exit "));
    let reason = text.lines().find_map(|line| line.trim_start().strip_prefix("why: "));
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    format!("exit code {}{reason}", code.unwrap_or("none"))
}

/// Parses the number of looks, and of listening sockets seen.
fn parse_listening(text: &str) -> Result<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("looks "));
    let (looks, listening) = line
        .and_then(|line| line.split_once(" listening "))
        .context("the listening sockets were not read")?;
    Ok((looks.trim().parse()?, listening.trim().parse()?))
}

#[cfg(test)]
mod tests {
    use super::super::row_names_where;
    use super::*;

    #[test]
    fn detects_each_wrong_value() {
        let sizes = "1,n1,rdma.send_lat,half_round_trip,assay\n".repeat(4);
        let columns = "run,host,benchmark,metric,parameters.connection,parameters.streams,parameters.direction,\
                       parameters.asked_gid_index,parameters.gid_index,parameters.path_mtu_bytes";
        let good = format!(
            "x\n== no device\nwhy: there is no RDMA device\nexit 4\n== pairs\n{sizes}rdma.read_lat,latency\nexit 0\n\
             looks 12 listening 0\n== ring\nrdma.read_lat,latency\nrdma.read_lat,latency\nexit 0\n\
             == ways\n{columns}\n1,n1,rdma.send_lat,half_round_trip,ud,,,,1,512\n\
             1,n1,rdma.write_bw,bandwidth,rc,4,both,0,0,256\nexit 0\n\
             == wrong\nwhy: there is no RDMA device mlx5_0\nexit 4\n\
             == per host\nrdma.read_lat,latency\nexit 0\n\
             == perftest\nrdma.send_lat,half_round_trip,assay\nrdma.send_lat,half_round_trip,ib_send_lat,6.06\n\
             exit 0\n== turns\nassay\nib_send_lat\nassay\n== listener\nlooks 5 listening 3\n"
        );
        let wrong = |output: &str| row_names_where(judge(output), |holds| holds != Some(true));
        assert_eq!(wrong(&good), Vec::<String>::new());
        for (from, to, expected) in [
            ("exit 4", "exit 0", "without a device"),
            ("why: there is no RDMA device", "why: n1: no answer", "without a device"),
            (
                "rdma.send_lat,half_round_trip,assay\n",
                "",
                "n1:n2, rows of 4 sizes and of reads",
            ),
            ("looks 12 listening 0", "looks 12 listening 1", "ports that listen meanwhile"),
            ("looks 12 listening 0", "looks 2 listening 0", "ports that listen meanwhile"),
            ("listening 3", "listening 0", "rpcbind's port, looked for in the same way"),
            (",6.06", "", "perftest beside it, rows"),
            ("turns\nassay\n", "turns\n", "assay and ib_send_lat: stretches of one's samples"),
            (",rc,4,both", ",rc,4,", "UD, and 4 queue pairs both ways"),
            (",0,0,256", ",0,1,256", "path MTU of datagrams; GID and path MTU of writes"),
            (",1,512", ",1,1024", "path MTU of datagrams; GID and path MTU of writes"),
            ("mlx5_0", "rxe0", "a device that no host has"),
            (
                "per host\nrdma.read_lat,latency",
                "per host\n",
                "the same where the fleet file names theirs, rows",
            ),
        ] {
            assert_eq!(wrong(&good.replacen(from, to, 1)), [expected], "{from}");
        }
    }
}
