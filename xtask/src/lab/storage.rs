//! Scenario `storage`: devices whose completion times or rates are set: `null_blk` with a timer, `dm-delay`, and
//! NVMe disks of qemu's, alone and as RAID0.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Figure, Machine, Manner, Place, Scenario, document, section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "storage",
    title: "Devices with set completion times and rates (null_blk, dm-delay, NVMe, RAID0)",
    about: "Random reads of 4 KiB. `null_blk` completes each by a high-resolution timer after 20 ms, and so does an NVMe \
            disk of qemu's (`null-co`); `dm-delay` of 20 ms counts ticks of 4 ms, so that a read takes 16 ms or more. How \
            late a timer is under emulation the kernel tells itself (`/sys/block/…/stat`, from request to completion). A \
            latency lies between its figure and that with what stands at its two ends: `io_submit` until the kernel has \
            the request, at most the submission latency that is reported beside it, and waking the program by emulated \
            interrupts, 0.5 ms or as far beyond as in the cycle of as many `dd` at a time, where that is more. (Traced, \
            NVMe at depth 8: the disk ends 7.3 reads in one interrupt; 0.14 ms from `io_submit` to a request, 0.20 ms \
            from its end to `io_getevents`.) Where the kernel's figure is beyond 21 ms (dm-delay: 25 ms; NVMe, whose timers \
            wait for qemu's one main loop: 22 ms), the guest was disturbed by more than is to be shown, and only too little \
            is wrong. A rate follows from the latency and the I/O in flight (Little's law). Another NVMe disk is limited to 200 I/O per second by qemu, and four more to 4 MiB/s each, \
            which are a RAID0 of `md` for `assay ior`, 1 MiB at a time by four ranks; a limit of qemu's lets a tenth of a second through at once.",
    place: Place::Guest(MACHINE, SCRIPT),
    manner: Manner::Alone,
    deadline: Duration::from_secs(300),
    judge,
};

/// NVMe disks: one with a set latency, one with a set rate, four with a set bandwidth that keep nothing, and four that
/// keep what is written. Each has its name as its serial number.
const MACHINE: Machine = Machine {
    more: &[
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
    ..Machine::PLAIN
};

const SCRIPT: &str = "\
set -e
for module in dm-mod dm-delay nvme md_mod raid0; do modprobe $module; done
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
# The same by dd: few reads and then many, so that starting it can be taken off.
also_by_dd() {
  for count in 25 200; do
    before=$(cat /sys/block/$1/stat); began=$(cut -d' ' -f1 /proc/uptime)
    for number in $(seq $2); do
      dd if=/dev/$1 of=/dev/null bs=4k iflag=direct count=$count 2> /dev/null &
    done
    wait
    echo dd $count $began $(cut -d' ' -f1 /proc/uptime)
    echo kernel of dd $before $(cat /sys/block/$1/stat)
  done
}
# name, device, depth
read_from() {
  echo \"== $1 $3\"
  before=$(cat /sys/block/$2/stat)
  /lab/assay fio --name=read --filename=/dev/$2 --rw=randread --bs=4k --iodepth=$3 --ioengine=libaio \\
    --direct=1 --time_based --ramp_time=1 --runtime=5 --output-format=json --no-store
  echo
  echo kernel of assay $before $(cat /sys/block/$2/stat)
  [ $1 = limit ] || also_by_dd $2 $3
}
read_from null_blk nullb0 1
read_from null_blk nullb0 8
rmmod null_blk
modprobe null_blk irqmode=0 gb=1 nr_devices=1
dmsetup create slow --noudevsync --table \"0 $(cat /sys/block/nullb0/size) delay /dev/nullb0 0 20\"
read_from dm-delay dm-0 1
read_from NVMe $(nvme slow) 1
read_from NVMe $(nvme slow) 8
read_from limit $(nvme limited) 8
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

/// A device with a set latency.
#[derive(Clone, Copy)]
struct Delayed {
    name: &'static str,
    depth: f64,
    /// No read takes less.
    least_ms: f64,
    /// What the kernel's own mean is below in a guest that nobody disturbs.
    quiet_ms: f64,
}

const DELAYED: [Delayed; 5] = [
    Delayed { name: "null_blk", depth: 1.0, least_ms: 20.0, quiet_ms: 21.0 },
    Delayed { name: "null_blk", depth: 8.0, least_ms: 20.0, quiet_ms: 21.0 },
    Delayed { name: "dm-delay", depth: 1.0, least_ms: 16.0, quiet_ms: 25.0 },
    Delayed { name: "NVMe", depth: 1.0, least_ms: 20.0, quiet_ms: 22.0 },
    Delayed { name: "NVMe", depth: 8.0, least_ms: 20.0, quiet_ms: 22.0 },
];
/// What waking a program that waits for a request takes at least, under emulation.
const BEYOND_MS: f64 = 0.5;
const LIMIT_PER_S: f64 = 200.0;
/// The script's.
const RUNTIME_S: f64 = 5.0;
/// Four disks of 4 MiB/s.
const LIMIT_MIB_PER_S: f64 = 16.0;

fn judge(said: &str) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for device in DELAYED {
        let text = section(said, &format!("{} {}", device.name, device.depth))?;
        figures.extend(device.judged(text)?);
    }
    let quiet = DELAYED[4].is_quiet(section(said, "NVMe 8")?)?;
    figures.push(limited(Read::of(section(said, "limit 8")?)?.rate_per_s, quiet));
    figures.extend(array(said)?);
    Ok(figures)
}

/// What qemu lets through of a limit: in the measured time also what a tenth of a second had kept back. A guest that
/// is kept waiting for longer has fewer, which decides nothing.
fn limited(rate_per_s: f64, is_quiet: bool) -> Figure {
    let kept_back_per_s = LIMIT_PER_S * 0.1 / RUNTIME_S;
    let least = LIMIT_PER_S * 0.99;
    let most = LIMIT_PER_S * 1.01 + kept_back_per_s;
    Figure {
        what: "NVMe limited to 200 I/O per second, depth 8: rate".to_owned(),
        truth: format!("{least:.0} to {most:.0} per second"),
        reported: format!("{rate_per_s:.1} per second"),
        holds: match rate_per_s >= least {
            true => Some(rate_per_s <= most),
            false => is_quiet.then_some(false),
        },
    }
}

/// The array: its rate, and that what was written is read.
fn array(said: &str) -> Result<Vec<Figure>> {
    let limited = document(section(said, "RAID0 rate")?)?;
    let mut figures = Vec::new();
    for operation in ["write", "read"] {
        let all = limited["summary"].as_array().context("IOR has no summary")?;
        let of = all.iter().find(|it| it["operation"] == operation);
        let rate = of.and_then(|it| it["bwMaxMIB"].as_f64()).context("IOR has no rate")?;
        figures.push(near(
            &format!("RAID0 of four NVMe disks, IOR: {operation}"),
            (LIMIT_MIB_PER_S, "MiB/s", 0.02),
            rate,
        ));
    }
    let kept = section(said, "RAID0 contents")?;
    let ended = kept.lines().find_map(|line| line.strip_prefix("exit "));
    let is_whole = document(kept)?["summary"].as_array().is_some_and(|all| all.len() == 2);
    figures.push(Figure {
        what: "RAID0 of four NVMe disks, IOR: contents (-R)".to_owned(),
        truth: "as written, exit code 0".to_owned(),
        reported: format!("exit code {}", ended.unwrap_or("0")),
        holds: Some(ended.is_none() && is_whole),
    });
    Ok(figures)
}

/// What a section says of its reads.
struct Read {
    median_ms: f64,
    mean_ms: f64,
    /// Of the latency: until `io_submit` has returned.
    submission_ms: f64,
    rate_per_s: f64,
}

impl Read {
    fn of(text: &str) -> Result<Self> {
        let reported = document(text)?;
        let read = &reported["jobs"][0]["read"];
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        Ok(Self {
            median_ms: number(&read["clat_ns"]["percentile"]["50.000000"])? * 1e-6,
            mean_ms: number(&read["lat_ns"]["mean"])? * 1e-6,
            submission_ms: number(&read["slat_ns"]["mean"])? * 1e-6,
            rate_per_s: number(&read["iops"])?,
        })
    }
}

/// The kernel's own mean of each program's reads: milliseconds that they took over their number, between two looks at
/// the device's counters (Documentation/block/stat.rst: reads are the first field, their milliseconds the fourth, of 17).
fn kernel_ms(text: &str, program: &str) -> Result<Vec<f64>> {
    let start = format!("kernel of {program} ");
    let lines = text.lines().filter_map(|line| line.strip_prefix(&start));
    let of = |line: &str| {
        let counts: Vec<f64> =
            line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let (before, after) = counts.split_at(counts.len() / 2);
        let moved = |at: usize| Some(after.get(at)? - before.get(at)?);
        let (reads, taken_ms) = moved(0).zip(moved(3)).context("too few counters")?;
        Ok(taken_ms / reads)
    };
    lines.map(of).collect()
}

/// That of assay's reads.
fn of_assay_ms(text: &str) -> Result<f64> {
    let [kernel_ms] = kernel_ms(text, "assay")?[..] else {
        bail!("the kernel's counters are missing")
    };
    Ok(kernel_ms)
}

/// How far the cycle of a `dd` lies beyond the kernel's mean of its reads.
fn beyond_of_dd_ms(text: &str) -> Result<f64> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("dd "));
    let runs = lines.map(|line| {
        let words: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        words.ok()?.try_into().ok()
    });
    let runs: Option<Vec<[f64; 3]>> = runs.collect();
    let Some([few, many]) = runs.as_deref() else { bail!("dd has not run twice") };
    let took_s = |run: &[f64; 3]| run[2] - run[1];
    let cycle_ms = (took_s(many) - took_s(few)) / (many[0] - few[0]) * 1e3;
    let by_kernel_ms = kernel_ms(text, "dd")?;
    Ok(cycle_ms - by_kernel_ms.last().context("the kernel's counters of dd are missing")?)
}

impl Delayed {
    /// Whether the kernel's own mean shows that the guest was left alone.
    fn is_quiet(self, text: &str) -> Result<bool> {
        Ok(of_assay_ms(text)? <= self.quiet_ms)
    }

    /// Too little is always wrong; too much only where the kernel's own figure shows that the guest was left alone.
    fn judged(self, text: &str) -> Result<[Figure; 3]> {
        let read = Read::of(text)?;
        let kernel_ms = of_assay_ms(text)?;
        let Self { name, depth, least_ms, .. } = self;
        let beyond_ms = beyond_of_dd_ms(text)?.max(BEYOND_MS) + read.submission_ms;
        let most_ms = kernel_ms + beyond_ms;
        let is_quiet = self.is_quiet(text)?;
        let judged = |is_enough: bool, is_right: bool| {
            (is_quiet || !is_enough).then_some(is_enough && is_right)
        };
        let expected = depth / (read.mean_ms * 1e-3);
        let rate = near(
            &format!("{name}, depth {depth}: rate by its mean latency"),
            (expected, "per second", 0.01),
            read.rate_per_s,
        );
        Ok([
            Figure {
                what: format!("{name}, depth {depth}: median latency"),
                truth: format!("{least_ms} ms, and at most {most_ms:.2} ms"),
                reported: format!("{:.2} ms", read.median_ms),
                // The histogram has three digits.
                holds: judged(read.median_ms >= least_ms * 0.995, read.median_ms <= most_ms),
            },
            Figure {
                what: format!("{name}, depth {depth}: mean latency"),
                truth: format!(
                    "{kernel_ms:.2} ms by the kernel, and at most {beyond_ms:.2} ms beyond"
                ),
                reported: format!("{:.2} ms", read.mean_ms),
                // The kernel's sum has whole milliseconds, and a read or two of before.
                holds: judged(read.mean_ms >= kernel_ms * 0.995, read.mean_ms <= most_ms),
            },
            // A stall across the beginning is part of a latency and not of the time.
            Figure { holds: rate.holds.filter(|_| is_quiet), ..rate },
        ])
    }
}

fn near(what: &str, (truth, unit, tolerance): (f64, &str, f64), reported: f64) -> Figure {
    Figure {
        what: what.to_owned(),
        truth: format!("{truth:.1} {unit}, ± {:.0} %", tolerance * 100.0),
        reported: format!("{reported:.1} {unit}"),
        holds: Some((reported / truth - 1.0).abs() <= tolerance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(median_ns: u64, mean_ns: u64, iops: f64) -> String {
        format!(
            r#"{{"jobs":[{{"read":{{"iops":{iops},"slat_ns":{{"mean":0}},"clat_ns":{{"percentile":{{"50.000000":{median_ns}}}}},"lat_ns":{{"mean":{mean_ns}}}}}}}]}}
kernel of assay 10 0 80 100 0 0 0 0 0 100 100 260 0 2080 5125 0 0 0 0 0 5125 5125
dd 25 0.00 0.60
kernel of dd 260 0 0 1000 0 0 0 0 0 0 0 285 0 0 1500 0 0 0 0 0 0 0
dd 200 10.00 14.10
kernel of dd 285 0 0 1500 0 0 0 0 0 0 0 485 0 0 5440 0 0 0 0 0 0 0
"#
        )
    }

    #[test]
    fn latency_and_rate_are_held_against_the_device_and_the_kernel() {
        for (median_ns, mean_ns, iops, expected) in [
            (20_100_000, 20_200_000, 49.5, [true, true, true]),
            (20_700_000, 20_200_000, 49.5, [false, true, true]),
            (19_000_000, 20_200_000, 49.5, [false, true, true]),
            (20_100_000, 19_800_000, 50.5, [true, false, true]),
            (20_100_000, 20_700_000, 48.3, [true, false, true]),
            (20_100_000, 20_200_000, 50.2, [true, true, false]),
        ] {
            let text = reported(median_ns, mean_ns, iops);
            let figures = DELAYED[0].judged(&text).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected.map(Some), "{text}");
        }
    }

    #[test]
    fn what_waking_a_program_takes_is_not_the_device() {
        // 3.5 s for 175 reads of 19.7 ms, and 4.0 s for them: 0.3 and 3.2 ms beyond the kernel's mean.
        let quick = reported(20_100_000, 22_000_000, 45.5);
        let slow = quick.replace("10.00 14.10", "10.00 14.60");
        for (text, beyond_ms, expected) in
            [(quick, 0.3, [true, false, true]), (slow, 3.157, [true, true, true])]
        {
            assert!((beyond_of_dd_ms(&text).unwrap() - beyond_ms).abs() < 1e-3);
            let figures = DELAYED[0].judged(&text).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected.map(Some), "{text}");
        }
        assert!(DELAYED[0].judged(&reported(1, 1, 1.0).replace("\ndd 200", "")).is_err());
    }

    #[test]
    fn what_submitting_takes_is_not_the_device() {
        let text = reported(20_100_000, 21_000_000, 47.6);
        let submitting =
            text.replace(r#""slat_ns":{"mean":0}"#, r#""slat_ns":{"mean":600000}"#);
        for (text, expected) in [(text, [true, false, true]), (submitting, [true; 3])] {
            let figures = DELAYED[0].judged(&text).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected.map(Some), "{text}");
        }
    }

    #[test]
    fn a_guest_that_stalls_decides_only_what_is_too_little() {
        let restless = Delayed { quiet_ms: 20.0, ..DELAYED[0] };
        for (median_ns, mean_ns, iops, expected) in [
            (20_700_000, 28_000_000, 50.2, [None; 3]),
            (19_000_000, 19_000_000, 50.2, [Some(false), Some(false), None]),
        ] {
            let figures = restless.judged(&reported(median_ns, mean_ns, iops)).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected);
        }
    }

    #[test]
    fn a_limit_is_neither_missed_nor_exceeded() {
        for (rate, is_quiet, holds) in [
            (200.9, true, Some(true)),
            (203.0, true, Some(true)),
            (206.5, false, Some(false)),
            (197.5, true, Some(false)),
            (197.5, false, None),
        ] {
            assert_eq!(limited(rate, is_quiet).holds, holds, "{rate}");
        }
        for (rate, holds) in [(16.1, true), (15.6, false), (16.4, false)] {
            let figure = near("a limit", (LIMIT_MIB_PER_S, "MiB/s", 0.02), rate);
            assert_eq!(figure.holds, Some(holds), "{rate}");
        }
    }
}
