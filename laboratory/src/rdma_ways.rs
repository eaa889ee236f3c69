//! Scenario `rdma-ways`: options of RDMA tests (several queue pairs, both directions, datagrams),
//! perftest as a measurer, and error messages.

use std::time::Duration;

use anyhow::Result;
use assay_adapters::perftest_text::{PerftestColumn, parse_rows};

use super::{CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "rdma-ways",
    title: "RDMA over software RoCE: ways to measure, and what goes wrong",
    description: "What is asked for is measured, with right contents; what cannot be measured has its reason and its \
            remedy. Figures mean nothing here and are left out.",
    runner: ScenarioRunner::Guest(GuestMachine::PLAIN, SCRIPT),
    cpu_use: CpuUse::Busy,
    deadline: Duration::from_secs(600),
    judge,
};

const SCRIPT: &str = include_str!("../scripts/rdma_ways.sh");

/// Number of sizes from 2 B to 8 MiB, powers of two.
const SIZES: usize = 23;
/// Number of datagram sizes, from 2 B to 1024 B, which every path carries.
const DATAGRAM_SIZES: usize = 10;
/// Options of perftest at both ends: those of the suite, otherwise assay's choice at that end.
const PERFTEST_COMMANDS: [&str; 6] = [
    "ib_read_lat -x 0 -m 512 client",
    "ib_read_lat -x 0 -m 512 server",
    "ib_send_lat -x 1 -m 1024 client",
    "ib_send_lat -x 1 -m 1024 server",
    "ib_write_bw -x 1 -m 1024 client",
    "ib_write_bw -x 1 -m 1024 server",
];
/// MTU and GID that perftest printed in its stored outputs.
const PERFTEST_HEADS: [&str; 3] = [
    "RDMA_Read Latency Mtu 512[B] GID index 0",
    "RDMA_Write BW Mtu 1024[B] GID index 1",
    "Send Latency Mtu 1024[B] GID index 1",
];
/// Maximum share of lost datagrams. Receive buffers for 512 datagrams are posted before the first
/// of 500 is sent, so none is lost for lack of memory; the kernel of a busy guest may drop a few
/// packets.
const MAX_LOST_SHARE: f64 = 0.01;

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut figures: Vec<LabFigure> = EXPECTED_TEXTS
        .iter()
        .map(|(name, expected)| check_texts(output, name, expected))
        .collect::<Result<_>>()?;
    figures.push(check_tables(output, "queue pairs", (1, SIZES), PerftestColumn::MessageRate)?);
    figures.push(check_tables(output, "both ways", (3, 1), PerftestColumn::Rate)?);
    figures.push(check_tables(output, "datagrams", (1, 1), PerftestColumn::Rate)?);
    figures.push(check_tables(output, "for a time", (3, 1), PerftestColumn::Rate)?);
    // With two decimals, the MiB/s of the smallest datagrams are 0.00.
    let tables = (1, DATAGRAM_SIZES);
    figures.push(check_tables(
        output,
        "datagrams of all sizes",
        tables,
        PerftestColumn::MessageRate,
    )?);
    figures.push(check_tables(output, "as perftest", (1, SIZES), PerftestColumn::Typical)?);
    figures.push(check_lost_datagrams(output_section(output, "datagrams")?));
    figures.push(check_missing_buffers(output, 16, true)?);
    figures.push(check_missing_buffers(output, 512, false)?);
    figures.push(check_lines(output, "ends of perftest", &PERFTEST_COMMANDS)?);
    figures.push(check_lines(output, "heads of perftest", &PERFTEST_HEADS)?);
    figures.push(check_turns(output_section(output, "turns")?));
    Ok(figures)
}

/// Checks for `count` tables with `sizes` rows each, all with a value above zero.
fn check_tables(
    output: &str,
    name: &str,
    (count, sizes): (usize, usize),
    column: PerftestColumn,
) -> Result<LabFigure> {
    let text = output_section(output, name)?;
    // Split at the heads of the tables; text before the first one is ignored.
    let starts: Vec<usize> = text.match_indices("#bytes").map(|(start, _)| start).collect();
    let row_counts: Vec<usize> = starts
        .iter()
        .map(|start| {
            let rows = parse_rows(&text[*start..]).unwrap_or_default();
            rows.iter()
                .filter(|row| row.get(&column).is_some_and(|figure| *figure > 0.0))
                .count()
        })
        .collect();
    let format_counts =
        |counts: &[usize]| counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let expected = vec![sizes; count];
    Ok(LabFigure::condition(
        format!("{name}: sizes with a figure, by table"),
        format_counts(&expected),
        format_counts(&row_counts),
        row_counts == expected,
    ))
}

/// Checks a line like `1024 B: 3 of 500 datagrams lost (0.60 %)`.
fn check_lost_datagrams(text: &str) -> LabFigure {
    let counts = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(" B: ")?;
        let (lost, rest) = rest.split_once(" of ")?;
        let (sent, _) = rest.split_once(" datagrams lost")?;
        Some((lost.parse::<f64>().ok()?, sent.parse::<f64>().ok()?))
    });
    LabFigure::condition(
        "datagrams: lost",
        format!("of 500, at most {:.0} %: there is room for all", MAX_LOST_SHARE * 100.0),
        counts.map_or("not reported".to_owned(), |(lost, sent)| format!("{lost} of {sent}")),
        counts.is_some_and(|(lost, sent)| {
            (sent - 500.0).abs() < 0.5 && lost / sent <= MAX_LOST_SHARE
        }),
    )
}

/// Checks the kernel's count of messages that found no receive buffer and were sent again. With
/// fewer buffers than messages in flight there are some: on a single processor, the sender fills
/// the buffers before the receiver runs.
fn check_missing_buffers(output: &str, buffers: u64, is_expected: bool) -> Result<LabFigure> {
    let text = output_section(output, &format!("memory for {buffers}"))?;
    let count = text.lines().find_map(|line| line.strip_prefix("refused "));
    let is_found =
        count.and_then(|count| count.trim().parse::<u64>().ok()).map(|count| count > 0);
    Ok(LabFigure::condition(
        format!("128 in flight, memory for {buffers}: messages that found none"),
        if is_expected { "some" } else { "none" }.to_owned(),
        count.unwrap_or("not reported").to_owned(),
        is_found == Some(is_expected) && text.contains("exit 0"),
    ))
}

/// Checks that the measurers alternate: without turns there would be two lines, one for each.
pub(super) fn check_turns(text: &str) -> LabFigure {
    let runs_of_samples = text.lines().filter(|line| !line.trim().is_empty()).count();
    LabFigure::condition(
        "assay and ib_send_lat: stretches of one's samples",
        "3 or more, in turns",
        runs_of_samples.to_string(),
        runs_of_samples >= 3,
    )
}

/// Checks the lines of a section, each reduced by [`normalize_line`].
fn check_lines(output: &str, name: &str, expected: &[&str]) -> Result<LabFigure> {
    let lines =
        output_section(output, name)?.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut normalized: Vec<String> = lines.map(normalize_line).collect();
    normalized.sort();
    Ok(LabFigure::exact(name, &expected.join(", "), normalized.join(", ")))
}

/// Reduces a command line of perftest to the program, `-x`, `-m`, and its end, which is the
/// client's if it names a server. Returns any other line unchanged.
fn normalize_line(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(program) = words[0].split('/').next_back().filter(|name| name.starts_with("ib_"))
    else {
        return words.join(" ");
    };
    let option_with_value = |option| {
        let index = words.iter().position(|word| *word == option)?;
        words.get(index + 1).map(|value| format!(" {option} {value}"))
    };
    let [gid, mtu] = ["-x", "-m"].map(|option| option_with_value(option).unwrap_or_default());
    let end = if line.ends_with("127.0.0.1") { "client" } else { "server" };
    format!("{program}{gid}{mtu} {end}")
}

/// Sections, and the texts that each must contain.
const EXPECTED_TEXTS: [(&str, &[&str]); 25] = [
    ("bad gid", &["has no GID 200", "chooses one", "exit 4"]),
    ("bad mtu", &["a path MTU of 4096 B exceeds the 1024 B of the port", "exit 4"]),
    ("bad device", &["there is no RDMA device mlx5_7; available: rxe0", "exit 4"]),
    ("bad datagram", &["does not fit the path MTU", "exit 4"]),
    ("bad port", &["has no port 2", "exit 4"]),
    ("bad providers", &["ibverbs-providers", "exit 4"]),
    ("bad memlock", &["ibv_reg_mr failed", "ulimit -l", "exit 4"]),
    // Both ends use the smaller of their MTUs.
    ("bad mtus", &[": 512[B]", "exit 0"]),
    ("bad gids", &["choose GIDs of the same kind at both ends", "exit 4"]),
    ("bad contents read", &["messages of 4194304 B arrived with wrong contents", "exit 4"]),
    ("bad contents written", &["messages of 4194304 B arrived with wrong contents", "exit 4"]),
    (
        "bad peer",
        &[
            "has disconnected",
            "a work request ended with status 12, transport retry counter exceeded",
            "check the far end's output",
            "exit 4",
        ],
    ),
    (
        "bad link",
        &[
            "a work request ended with status 12, transport retry counter exceeded",
            "a link on the way is down",
            "exit 4",
        ],
    ),
    ("bad absent", &["no connection to 127.0.0.1:18515", "start the far end first", "exit 4"]),
    ("bad down", &["port 1 of rxe0 is not active", "exit 4"]),
    ("doctor down", &["rxe0 port 1 DOWN"]),
    (
        "doctor",
        &["rxe0 port 1 ACTIVE (LinkUp)", "RoCE v2", "rdma.gid", "rdma.mtu", "rdma.errors"],
    ),
    ("queue pairs", &["Number of qps   : 4", "exit 0"]),
    (
        "both ways",
        &["RDMA_Write Bidirectional BW Test", "Send Bidirectional BW Test", "exit 0"],
    ),
    ("datagrams", &["exit 0"]),
    ("datagrams of all sizes", &["exit 0"]),
    ("for a time", &["datagrams lost", "exit 0"]),
    (
        "bad level",
        &["invalid value '16' for '--sl <N>': expected an integer from 0 to 15", "exit 2"],
    ),
    (
        "by perftest",
        &[
            "rdma.send_lat,half_round_trip",
            ",ib_send_lat,6.06",
            ",ib_read_lat,6.06",
            ",ib_write_bw,6.06",
            "exit 0",
        ],
    ),
    ("as perftest-json", &["\"percentile_99.9\"", "\"MsgSize\": 8388608"]),
];

/// Checks that a section contains these texts.
fn check_texts(output: &str, name: &str, expected: &[&str]) -> Result<LabFigure> {
    let text = output_section(output, name)?;
    let missing: Vec<&str> =
        expected.iter().filter(|text_part| !text.contains(**text_part)).copied().collect();
    // Prefer the program's error to the first line.
    let line = text.lines().find(|line| line.contains("why: ") || line.contains("error"));
    let first = line.or_else(|| text.lines().find(|line| !line.trim().is_empty()));
    let reported = match &missing[..] {
        [] => "as expected".to_owned(),
        missing => {
            format!("no {}: {}", missing.join(", no "), first.unwrap_or("nothing").trim())
        }
    };
    Ok(LabFigure::condition(
        name,
        format!("contains {}", expected.join(", ")),
        reported,
        missing.is_empty(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: &str =
        " #bytes #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";
    const TIMES: &str = " #bytes #iterations    t_typical[usec]    t_avg[usec]\n";

    fn table(head: &str, sizes: usize) -> String {
        let row = |power: usize| {
            let bytes = 1 << power;
            let rate = format!(" {:.6}", 12.5 * 1.048_576 / f64::from(bytes));
            let rate = if head == TIMES { String::new() } else { rate };
            format!(" {bytes} 1000 19.25 12.5{rate}\n")
        };
        let rows: String = (1..=sizes).map(row).collect();
        format!("{head}{rows}-----\n")
    }

    /// Output of a guest with correct results.
    fn guest_output() -> String {
        let tables = |name: &str| match name {
            "queue pairs" => table(RATES, SIZES),
            "both ways" | "for a time" => table(RATES, 1).repeat(3),
            "datagrams" => table(RATES, 1) + "1024 B: 2 of 500 datagrams lost (0.40 %)\n",
            "datagrams of all sizes" => table(RATES, DATAGRAM_SIZES),
            _ => String::new(),
        };
        let sections = EXPECTED_TEXTS.iter().map(|(name, expected)| {
            format!("\n== {name}\n{}{}\n", tables(name), expected.join("\n"))
        });
        let own = format!(
            "\n== as perftest\n{}\n== memory for 16\nexit 0\nrefused 9\n\n== memory for 512\nexit 0\nrefused 0\n",
            table(TIMES, SIZES)
        );
        let end = |line: &str| {
            line.replace(" client", " -d rxe0 127.0.0.1\n").replace(" server", " -d rxe0\n")
        };
        let ends: String =
            PERFTEST_COMMANDS.iter().map(|line| format!("/usr/bin/{}", end(line))).collect();
        let perftest = format!(
            "\n== turns\nassay\nib_send_lat\nassay\n\n== ends of perftest\n{ends}\n== heads of perftest\n{} \n",
            PERFTEST_HEADS.join(" \n")
        );
        sections.chain([own, perftest]).collect()
    }

    fn wrong(output: &str) -> Vec<String> {
        let figures = judge(output).unwrap().into_iter();
        figures.filter(|it| it.is_correct() == Some(false)).map(|it| it.name).collect()
    }

    #[test]
    fn detects_each_missing_text() {
        let good = guest_output();
        assert_eq!(wrong(&good), Vec::<String>::new());
        for (name, expected) in EXPECTED_TEXTS {
            for text in expected {
                let (before, after) = good.split_once(&format!("\n== {name}\n")).unwrap();
                let silent = format!("{before}\n== {name}\n{}", after.replacen(text, "", 1));
                assert!(wrong(&silent).contains(&name.to_owned()), "{name}: {text}");
            }
        }
    }

    #[test]
    fn detects_missing_figures_and_lost_datagrams() {
        let rate = "queue pairs: sizes with a figure, by table";
        for (from, to, expected) in [
            (" 64 1000 19.25 12.5 0.204800\n", "", rate),
            (" 64 1000 19.25 12.5 0.204800", " 64 1000 19.25 0.00 0.000000", rate),
            (
                &*table(RATES, 1).repeat(3),
                &table(RATES, 1),
                "both ways: sizes with a figure, by table",
            ),
            (" 64 1000 19.25 12.5\n", "", "as perftest: sizes with a figure, by table"),
            ("2 of 500", "495 of 500", "datagrams: lost"),
            ("2 of 500", "0 of 5", "datagrams: lost"),
            ("2 of 500 datagrams lost", "all well", "datagrams: lost"),
            (
                "refused 9",
                "refused 0",
                "128 in flight, memory for 16: messages that found none",
            ),
            (
                "refused 0",
                "refused 1",
                "128 in flight, memory for 512: messages that found none",
            ),
            (
                "ib_send_lat\nassay\n\n",
                "ib_send_lat\n\n",
                "assay and ib_send_lat: stretches of one's samples",
            ),
            ("refused 0", "", "128 in flight, memory for 512: messages that found none"),
            ("-x 1 -m 1024 -d rxe0\n", "-d rxe0\n", "ends of perftest"),
            (
                "ib_read_lat -x 0 -m 512 -d rxe0\n",
                "ib_read_lat -x 1 -m 512 -d rxe0\n",
                "ends of perftest",
            ),
            (
                "Send Latency Mtu 1024[B] GID index 1",
                "Send Latency Mtu 256[B] GID index 1",
                "heads of perftest",
            ),
        ] {
            assert!(guest_output().contains(from), "{from}");
            assert_eq!(wrong(&guest_output().replacen(from, to, 1)), [expected], "{from} {to}");
        }
    }
}
