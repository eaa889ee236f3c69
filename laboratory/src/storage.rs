//! Scenario `storage`: devices with configured completion times or rates: `null_blk` with a timer,
//! `dm-delay`, and NVMe disks of qemu's, single and as RAID0.

use std::time::Duration;

use anyhow::{Context, Result};

use self::latency::{DelayedDevice, ReadResults};
use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section, parse_document,
};
use crate::judge::{Evidence, Excused};

mod latency;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "storage",
    title: "Devices with set completion times and rates (null_blk, dm-delay, NVMe, RAID0)",
    description: "Random reads of 4 KiB. `null_blk` completes each by a high-resolution timer after 20 ms, and so does an NVMe disk \
            of qemu's (`null-co`); `dm-delay` of 20 ms counts ticks of 4 ms, so that a read takes 16 ms or more. When each of \
            assay's reads reached the device and when it was completed the kernel says (tracefs, `block_bio_queue` and \
            `block_bio_complete` or `block_rq_complete`): its median and mean of the same reads are the least that assay may report. What the way from a \
            program to the device and back adds is measured by another program, Debian's `ioping`, before assay and after it, \
            as many processes as assay has reads in flight, by the same calls (`io_submit`, `io_getevents`) and traced as well: \
            assay may report 0.5 ms more than that. Where ioping's addition before and after differ by more than 0.5 ms, or the \
            kernel's mean is beyond 21 ms (dm-delay: 25 ms; NVMe, whose timers wait for qemu's one main loop: 22 ms), the guest \
            was disturbed by more than is to be shown, and only too little is wrong. Nothing that assay reports is part of a \
            bound. A rate follows from the latency and the I/O in flight (Little's law). Another NVMe disk is limited to 200 \
            I/O per second by qemu, and four more to 4 MiB/s each, which are a RAID0 of `md` for `assay ior`, 1 MiB at a time by \
            four ranks; a limit of qemu's lets a tenth of a second through at once. A polled disk does not interrupt (`/proc/interrupts`).",
    runner: ScenarioRunner::Guest(MACHINE, SCRIPT),
    cpu_use: CpuUse::Exclusive,
    deadline: Duration::from_secs(300),
    judge,
};

/// NVMe disks: one with a fixed latency, one with a fixed rate, four with a fixed bandwidth that
/// discard their data, and four that store it. The serial number of each is its name.
const MACHINE: GuestMachine = GuestMachine {
    qemu_arguments: &[
        "-drive",
        "driver=null-co,if=none,id=slow,read-zeroes=on,size=1G,latency-ns=20000000",
        "-device",
        "nvme,drive=slow,serial=slow",
        "-drive",
        "driver=null-co,if=none,id=limited,read-zeroes=on,size=1G,throttling.iops-total=200",
        "-device",
        "nvme,drive=limited,serial=limited",
        "-drive",
        "driver=null-co,if=none,id=part0,read-zeroes=on,size=64M,throttling.bps-total=4194304",
        "-device",
        "nvme,drive=part0,serial=part0",
        "-drive",
        "driver=null-co,if=none,id=part1,read-zeroes=on,size=64M,throttling.bps-total=4194304",
        "-device",
        "nvme,drive=part1,serial=part1",
        "-drive",
        "driver=null-co,if=none,id=part2,read-zeroes=on,size=64M,throttling.bps-total=4194304",
        "-device",
        "nvme,drive=part2,serial=part2",
        "-drive",
        "driver=null-co,if=none,id=part3,read-zeroes=on,size=64M,throttling.bps-total=4194304",
        "-device",
        "nvme,drive=part3,serial=part3",
        "-device",
        "nvme,drive=disk0,serial=disk0",
        "-device",
        "nvme,drive=disk1,serial=disk1",
        "-device",
        "nvme,drive=disk2,serial=disk2",
        "-device",
        "nvme,drive=disk3,serial=disk3",
    ],
    disks_mib: &[64, 64, 64, 64],
    ..GuestMachine::PLAIN
};

const SCRIPT: &str = include_str!("../scripts/storage.sh");

const DELAYED: [DelayedDevice; 5] = [
    DelayedDevice { name: "null_blk", depth: 1.0, minimum_ms: 20.0, undisturbed_mean_ms: 21.0 },
    DelayedDevice { name: "null_blk", depth: 8.0, minimum_ms: 20.0, undisturbed_mean_ms: 21.0 },
    DelayedDevice { name: "dm-delay", depth: 1.0, minimum_ms: 16.0, undisturbed_mean_ms: 25.0 },
    DelayedDevice { name: "NVMe", depth: 1.0, minimum_ms: 20.0, undisturbed_mean_ms: 22.0 },
    DelayedDevice { name: "NVMe", depth: 8.0, minimum_ms: 20.0, undisturbed_mean_ms: 22.0 },
];
const LIMIT_PER_S: f64 = 200.0;
/// `--runtime` of the script.
const RUNTIME_S: f64 = 5.0;
/// Limit of the array: four disks of 4 MiB/s.
const LIMIT_MIB_PER_S: f64 = 16.0;

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    let mut figures = Vec::new();
    for device in DELAYED {
        let text = output_section(output, &format!("{} {}", device.name, device.depth))?;
        figures.extend(device.check(text)?);
    }
    let quiet = DELAYED[4].is_undisturbed(output_section(output, "NVMe 8")?)?;
    figures.push(check_limit(
        ReadResults::parse(output_section(output, "limit 8")?)?.rate_per_s,
        quiet,
    ));
    figures.extend(check_polling(output)?);
    figures.extend(check_array(output)?);
    Ok(figures)
}

/// Checks the interrupts: at least one for each read of a disk that is waited for, and almost none
/// for a polled disk.
fn check_polling(output: &str) -> Result<[LabFigure; 4]> {
    let counts = |name: &str| -> Result<(ReadResults, u64, f64)> {
        let text = output_section(output, &format!("interrupts {name}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("interrupts "));
        let interrupts: f64 = line.context("interrupts were not counted")?.trim().parse()?;
        let reads = parse_document(text)?["jobs"][0]["read"]["total_ios"].as_u64();
        Ok((ReadResults::parse(text)?, reads.context("no reads are counted")?, interrupts))
    };
    let (_, reads, waited) = counts("waiting")?;
    let (polled, polled_reads, interrupted) = counts("polled")?;
    let refused = output_section(output, "polled without queues")?;
    let refusal = refused.lines().find(|line| line.contains("queue/io_poll is 0"));
    Ok([
        LabFigure::condition(
            "NVMe, waited for: interrupts",
            format!("{reads} reads, one each or more"),
            format!("{waited}"),
            reads > 0 && waited >= reads as f64,
        ),
        LabFigure::condition(
            "NVMe, polled (hipri): interrupts",
            format!("{polled_reads} reads, none but a few of opening"),
            format!("{interrupted}"),
            polled_reads > 0 && interrupted < polled_reads as f64 * 0.2,
        ),
        LabFigure::new(
            "NVMe, polled: median latency",
            "no less than the 20 ms that are set",
            format!("{:.2} ms", polled.median_ms),
            Evidence::Number(polled.median_ms, DELAYED[3].minimum_ms * 0.995..=f64::INFINITY)
                .judge(),
        ),
        LabFigure::condition(
            "null_blk without queues for polling: io_uring-polled",
            "refused by what the kernel says, exit code 4",
            match refusal {
                Some(line) => line.trim().to_owned(),
                None => "no refusal".to_owned(),
            },
            refusal.is_some() && refused.lines().any(|line| line == "exit 4"),
        ),
    ])
}

/// Checks the rate of a disk limited by qemu, which adds the burst of a tenth of a second to the
/// measured time. In a disturbed guest a lower rate decides nothing.
fn check_limit(rate_per_s: f64, is_quiet: bool) -> LabFigure {
    let kept_back_per_s = LIMIT_PER_S * 0.1 / RUNTIME_S;
    let least = LIMIT_PER_S * 0.99;
    let most = LIMIT_PER_S * 1.01 + kept_back_per_s;
    LabFigure::new(
        "NVMe limited to 200 I/O per second, depth 8: rate",
        format!("{least:.0} to {most:.0} per second"),
        format!("{rate_per_s:.1} per second"),
        Evidence::Number(rate_per_s, least..=most)
            .judge_despite(Excused::TooLow.when(!is_quiet)),
    )
}

/// Checks the array: its rate, and that the written data is read back.
fn check_array(output: &str) -> Result<Vec<LabFigure>> {
    let limited = parse_document(output_section(output, "RAID0 rate")?)?;
    let mut figures = Vec::new();
    for operation in ["write", "read"] {
        let all = limited["summary"].as_array().context("IOR has no summary")?;
        let row = all.iter().find(|it| it["operation"] == operation);
        let rate = row.and_then(|it| it["bwMaxMIB"].as_f64()).context("IOR has no rate")?;
        figures.push(relative_figure(
            &format!("RAID0 of four NVMe disks, IOR: {operation}"),
            (LIMIT_MIB_PER_S, "MiB/s", 0.02),
            rate,
            Excused::Nothing,
        ));
    }
    let contents = output_section(output, "RAID0 contents")?;
    let ended = contents.lines().find_map(|line| line.strip_prefix("exit "));
    let is_whole =
        parse_document(contents)?["summary"].as_array().is_some_and(|all| all.len() == 2);
    figures.push(LabFigure::condition(
        "RAID0 of four NVMe disks, IOR: contents (-R)",
        "as written, exit code 0",
        format!("exit code {}", ended.unwrap_or("0")),
        ended.is_none() && is_whole,
    ));
    Ok(figures)
}

fn relative_figure(
    what: &str,
    (truth, unit, tolerance): (f64, &str, f64),
    reported: f64,
    excused: Excused,
) -> LabFigure {
    LabFigure::new(
        what,
        format!("{truth:.1} {unit}, ± {:.0} %", tolerance * 100.0),
        format!("{reported:.1} {unit}"),
        Evidence::relative(reported, truth, tolerance).judge_despite(excused),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_a_lower_and_an_upper_bound() {
        for (rate, is_quiet, holds) in [
            (200.9, true, Some(true)),
            (203.0, true, Some(true)),
            (206.5, false, Some(false)),
            (197.5, true, Some(false)),
            (197.5, false, None),
        ] {
            assert_eq!(check_limit(rate, is_quiet).is_correct(), holds, "{rate}");
        }
        for (rate, holds) in [(16.1, true), (15.6, false), (16.4, false)] {
            let figure = relative_figure(
                "a limit",
                (LIMIT_MIB_PER_S, "MiB/s", 0.02),
                rate,
                Excused::Nothing,
            );
            assert_eq!(figure.is_correct(), Some(holds), "{rate}");
        }
    }
}
