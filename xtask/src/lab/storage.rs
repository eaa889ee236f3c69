//! Scenario `storage`: devices with configured completion times or rates: `null_blk` with a timer,
//! `dm-delay`, and NVMe disks of qemu's, single and as RAID0.

use std::time::Duration;

use anyhow::{Context, Result};

use self::latency::{DelayedDevice, ReadResults};
use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section, parse_document,
};

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

const SCRIPT: &str = "\
set -e
for module in dm-mod dm-delay md_mod raid0; do modprobe $module; done
modprobe nvme poll_queues=1
modprobe null_blk irqmode=2 completion_nsec=20000000 queue_mode=2 gb=1 nr_devices=1
# The device of an NVMe disk, when it is there.
nvme() {
  for second in $(seq 20); do
    for it in /sys/class/nvme/nvme*; do
      [ \"$(tr -d ' ' < $it/serial)\" = $1 ] || continue
      [ -b /dev/${it##*/}n1 ] && echo ${it##*/}n1 && return
    done
    sleep 1
  done
  echo \"there is no disk $1\" >&2
  return 1
}
# What the kernel sees of a device's reads: from the block layer to their completion.
mount -t tracefs none /sys/kernel/tracing
traced() {
  cd /sys/kernel/tracing
  number=$(($(cut -d: -f1 /sys/block/$1/dev) << 20 | $(cut -d: -f2 /sys/block/$1/dev)))
  for event in block_bio_queue block_bio_complete block_rq_complete; do
    echo \"dev == $number\" > events/block/$event/filter
    echo 1 > events/block/$event/enable
  done
  echo mono > trace_clock
  echo > trace
  cd - > /dev/null
}
# Each read that ended in the last s, in ns; a completion of a request has the sector one word further. of whom, s
by_kernel() {
  echo kernel of $1 $(awk -v of_s=$2 '{
    for (at = 1; at < NF && $at !~ /^block_/; at++);
    if ($(at + 2) !~ /R/) next
    sector = $(at + 3 + ($at ~ /_rq_/))
    if ($at ~ /queue/) began[sector] = $(at - 1)
    else if (sector in began) {
      ended[++reads] = last = $(at - 1) + 0
      took[reads] = last - began[sector]
      delete began[sector]
    }
  } END {
    for (read = 1; read <= reads; read++) if (ended[read] > last - of_s) printf \"%.0f \", took[read] * 1e9
  }' /sys/kernel/tracing/trace)
}
# The same by another program, and what each read took, in ns. device, processes
by_ioping() {
  traced $1
  for number in $(seq $2); do
    ioping -D -A -q -i 0 -c 101 -p 1 -S 512m -e $number /dev/$1 > /tmp/ioping.$number &
  done
  wait
  echo ioping $(cat /tmp/ioping.* | awk '{print $6}')
  by_kernel ioping 60
  rm /tmp/ioping.*
}
# device, depth
by_assay() {
  /lab/assay fio --name=read --filename=/dev/$1 --rw=randread --bs=4k --iodepth=$2 --ioengine=libaio \\
    --direct=1 --time_based --ramp_time=1 --runtime=5 --lat_percentiles=1 --output-format=json --no-store
  echo
}
# name, device, depth
read_from() {
  echo \"== $1 $3\"
  by_ioping $2 $3
  traced $2
  by_assay $2 $3
  by_kernel assay 5
  by_ioping $2 $3
}
read_from null_blk nullb0 1
read_from null_blk nullb0 8
rmmod null_blk
modprobe null_blk irqmode=0 gb=1 nr_devices=1 poll_queues=0
dmsetup create slow --noudevsync --table \"0 $(cat /sys/block/nullb0/size) delay /dev/nullb0 0 20\"
read_from dm-delay dm-0 1
read_from NVMe $(nvme slow) 1
read_from NVMe $(nvme slow) 8
echo \"== limit 8\"
by_assay $(nvme limited) 8
# How often the disk's queues have interrupted.
interrupts() {
  awk -v of=\"${1%n1}q[1-9]\" '$0 ~ of { for (at = 2; $at ~ /^[0-9]+$/; at++) sum += $at } END { print sum + 0 }' /proc/interrupts
}
# name, option
interrupted() {
  echo \"== interrupts $1\"
  disk=$(nvme slow)
  before=$(interrupts $disk)
  /lab/assay fio --name=read --filename=/dev/$disk --rw=randread --bs=4k --ioengine=io_uring $2 \\
    --direct=1 --time_based --runtime=3 --lat_percentiles=1 --output-format=json --no-store
  echo
  echo interrupts $(($(interrupts $disk) - before))
}
interrupted waiting
interrupted polled --hipri
echo \"== polled without queues\"
/lab/assay storage read /dev/nullb0 --engine io_uring-polled --for 1s --store /tmp/store 2>&1 || echo \"exit $?\"
# name, disks, what IOR does
raid() {
  name=$1; of=$2; shift 2
  mdadm --build /dev/md0 --level=0 --chunk=64 --raid-devices=4 \\
    /dev/$(nvme ${of}0) /dev/$(nvme ${of}1) /dev/$(nvme ${of}2) /dev/$(nvme ${of}3)
  echo \"== RAID0 $name\"
  /lab/assay ior -N 4 -b 32m -t 1m --posix.odirect -O summaryFormat=JSON -o /dev/md0 \\
    --destroy-data=/dev/md0 --no-store \"$@\" || echo \"exit $?\"
  mdadm --stop /dev/md0
}
raid rate part -w -r
raid contents disk -w -r -R
";

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
        LabFigure {
            name: "NVMe, waited for: interrupts".to_owned(),
            truth: format!("{reads} reads, one each or more"),
            reported: format!("{waited}"),
            is_correct: Some(reads > 0 && waited >= reads as f64),
        },
        LabFigure {
            name: "NVMe, polled (hipri): interrupts".to_owned(),
            truth: format!("{polled_reads} reads, none but a few of opening"),
            reported: format!("{interrupted}"),
            is_correct: Some(polled_reads > 0 && interrupted < polled_reads as f64 * 0.2),
        },
        LabFigure {
            name: "NVMe, polled: median latency".to_owned(),
            truth: "no less than the 20 ms that are set".to_owned(),
            reported: format!("{:.2} ms", polled.median_ms),
            is_correct: Some(polled.median_ms >= DELAYED[3].minimum_ms * 0.995),
        },
        LabFigure {
            name: "null_blk without queues for polling: io_uring-polled".to_owned(),
            truth: "refused by what the kernel says, exit code 4".to_owned(),
            reported: match refusal {
                Some(line) => line.trim().to_owned(),
                None => "no refusal".to_owned(),
            },
            is_correct: Some(refusal.is_some() && refused.lines().any(|line| line == "exit 4")),
        },
    ])
}

/// Checks the rate of a disk limited by qemu, which adds the burst of a tenth of a second to the
/// measured time. In a disturbed guest a lower rate decides nothing.
fn check_limit(rate_per_s: f64, is_quiet: bool) -> LabFigure {
    let kept_back_per_s = LIMIT_PER_S * 0.1 / RUNTIME_S;
    let least = LIMIT_PER_S * 0.99;
    let most = LIMIT_PER_S * 1.01 + kept_back_per_s;
    LabFigure {
        name: "NVMe limited to 200 I/O per second, depth 8: rate".to_owned(),
        truth: format!("{least:.0} to {most:.0} per second"),
        reported: format!("{rate_per_s:.1} per second"),
        is_correct: match rate_per_s >= least {
            true => Some(rate_per_s <= most),
            false => is_quiet.then_some(false),
        },
    }
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
        ));
    }
    let contents = output_section(output, "RAID0 contents")?;
    let ended = contents.lines().find_map(|line| line.strip_prefix("exit "));
    let is_whole =
        parse_document(contents)?["summary"].as_array().is_some_and(|all| all.len() == 2);
    figures.push(LabFigure {
        name: "RAID0 of four NVMe disks, IOR: contents (-R)".to_owned(),
        truth: "as written, exit code 0".to_owned(),
        reported: format!("exit code {}", ended.unwrap_or("0")),
        is_correct: Some(ended.is_none() && is_whole),
    });
    Ok(figures)
}

fn relative_figure(
    what: &str,
    (truth, unit, tolerance): (f64, &str, f64),
    reported: f64,
) -> LabFigure {
    LabFigure {
        name: what.to_owned(),
        truth: format!("{truth:.1} {unit}, ± {:.0} %", tolerance * 100.0),
        reported: format!("{reported:.1} {unit}"),
        is_correct: Some((reported / truth - 1.0).abs() <= tolerance),
    }
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
            assert_eq!(check_limit(rate, is_quiet).is_correct, holds, "{rate}");
        }
        for (rate, holds) in [(16.1, true), (15.6, false), (16.4, false)] {
            let figure = relative_figure("a limit", (LIMIT_MIB_PER_S, "MiB/s", 0.02), rate);
            assert_eq!(figure.is_correct, Some(holds), "{rate}");
        }
    }
}
