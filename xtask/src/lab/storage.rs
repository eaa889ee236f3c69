//! Scenario `storage`: devices whose completion times or rates are set: `null_blk` with a timer, `dm-delay`, and
//! NVMe disks of qemu's, alone and as RAID0.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Figure, Machine, Manner, Place, Scenario, document, section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "storage",
    title: "Devices with set completion times and rates (null_blk, dm-delay, NVMe, RAID0)",
    about: "Random reads of 4 KiB. `null_blk` completes each by a high-resolution timer after 20 ms, and so does an NVMe disk \
            of qemu's (`null-co`); `dm-delay` of 20 ms counts ticks of 4 ms, so that a read takes 16 ms or more. What the \
            emulated kernel adds is measured by another program: Debian's `ioping`, one read at a time by the same calls \
            (`io_submit`, `io_getevents`), before assay and after it, as many processes as assay has reads in flight. At depth \
            1 assay's median and mean are to be within 0.5 ms of ioping's; at depth 8, where one process is woken in place of \
            eight, no more than 0.5 ms above ioping's and no less than the set time and the kernel's own mean \
            (`/sys/block/…/stat`, from request to completion). Where ioping before and after differ by more than 0.5 ms, or the \
            kernel's mean is beyond 21 ms (dm-delay: 25 ms; NVMe, whose timers wait for qemu's one main loop: 22 ms), the guest \
            was disturbed by more than is to be shown, and only too little is wrong. Nothing that assay reports is part of a \
            bound. A rate follows from the latency and the I/O in flight (Little's law). Another NVMe disk is limited to 200 \
            I/O per second by qemu, and four more to 4 MiB/s each, which are a RAID0 of `md` for `assay ior`, 1 MiB at a time by \
            four ranks; a limit of qemu's lets a tenth of a second through at once. A polled disk does not interrupt (`/proc/interrupts`).",
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
# The same by another program, and what each read took, in ns. device, processes
by_ioping() {
  for number in $(seq $2); do
    ioping -D -A -q -i 0 -c 101 -p 1 -S 512m -e $number /dev/$1 > /tmp/ioping.$number &
  done
  wait
  echo ioping $(cat /tmp/ioping.* | awk '{print $6}')
  rm /tmp/ioping.*
}
# name, device, depth
read_from() {
  echo \"== $1 $3\"
  [ $1 = limit ] || by_ioping $2 $3
  before=$(cat /sys/block/$2/stat)
  /lab/assay fio --name=read --filename=/dev/$2 --rw=randread --bs=4k --iodepth=$3 --ioengine=libaio \\
    --direct=1 --time_based --ramp_time=1 --runtime=5 --lat_percentiles=1 --output-format=json --no-store
  echo
  echo kernel of assay $before $(cat /sys/block/$2/stat)
  [ $1 = limit ] || by_ioping $2 $3
}
read_from null_blk nullb0 1
read_from null_blk nullb0 8
rmmod null_blk
modprobe null_blk irqmode=0 gb=1 nr_devices=1 poll_queues=0
dmsetup create slow --noudevsync --table \"0 $(cat /sys/block/nullb0/size) delay /dev/nullb0 0 20\"
read_from dm-delay dm-0 1
read_from NVMe $(nvme slow) 1
read_from NVMe $(nvme slow) 8
read_from limit $(nvme limited) 8
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
/// How far assay may be from ioping (issue: 20 ms ± 0.5 ms, but for what the emulated kernel adds).
const NEAR_MS: f64 = 0.5;
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
    figures.extend(polled(said)?);
    figures.extend(array(said)?);
    Ok(figures)
}

/// A device that is waited for interrupts once for each read, and one that is polled does not.
fn polled(said: &str) -> Result<[Figure; 4]> {
    let counts = |name: &str| -> Result<(Read, u64, f64)> {
        let text = section(said, &format!("interrupts {name}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("interrupts "));
        let interrupts: f64 = line.context("interrupts were not counted")?.trim().parse()?;
        let reads = document(text)?["jobs"][0]["read"]["total_ios"].as_u64();
        Ok((Read::of(text)?, reads.context("no reads are counted")?, interrupts))
    };
    let (_, reads, waited) = counts("waiting")?;
    let (polled, polled_reads, interrupted) = counts("polled")?;
    let refused = section(said, "polled without queues")?;
    let refusal = refused.lines().find(|line| line.contains("queue/io_poll is 0"));
    Ok([
        Figure {
            what: "NVMe, waited for: interrupts".to_owned(),
            truth: format!("{reads} reads, one each or more"),
            reported: format!("{waited}"),
            holds: Some(reads > 0 && waited >= reads as f64),
        },
        Figure {
            what: "NVMe, polled (hipri): interrupts".to_owned(),
            truth: format!("{polled_reads} reads, none but a few of opening"),
            reported: format!("{interrupted}"),
            holds: Some(polled_reads > 0 && interrupted < polled_reads as f64 * 0.2),
        },
        Figure {
            what: "NVMe, polled: median latency".to_owned(),
            truth: "no less than the 20 ms that are set".to_owned(),
            reported: format!("{:.2} ms", polled.median_ms),
            holds: Some(polled.median_ms >= DELAYED[3].least_ms * 0.995),
        },
        Figure {
            what: "null_blk without queues for polling: io_uring-polled".to_owned(),
            truth: "refused by what the kernel says, exit code 4".to_owned(),
            reported: match refusal {
                Some(line) => line.trim().to_owned(),
                None => "no refusal".to_owned(),
            },
            holds: Some(refusal.is_some() && refused.lines().any(|line| line == "exit 4")),
        },
    ])
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
    rate_per_s: f64,
}

impl Read {
    fn of(text: &str) -> Result<Self> {
        let reported = document(text)?;
        let read = &reported["jobs"][0]["read"];
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        Ok(Self {
            median_ms: number(&read["lat_ns"]["percentile"]["50.000000"])? * 1e-6,
            mean_ms: number(&read["lat_ns"]["mean"])? * 1e-6,
            rate_per_s: number(&read["iops"])?,
        })
    }
}

/// The kernel's own mean of assay's reads: milliseconds that they took over their number, between two looks at the
/// device's counters (Documentation/block/stat.rst: reads are the first field, their milliseconds the fourth, of 17).
fn kernel_ms(text: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("kernel of assay "));
    let counts: Vec<f64> = line
        .context("the kernel's counters are missing")?
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let (before, after) = counts.split_at(counts.len() / 2);
    let moved = |at: usize| Some(after.get(at)? - before.get(at)?);
    let (reads, taken_ms) = moved(0).zip(moved(3)).context("too few counters")?;
    Ok(taken_ms / reads)
}

/// The same reads by ioping, before and after.
struct Beside([Times; 2]);

/// What they took, ascending.
struct Times(Vec<f64>);

impl Times {
    fn median_ms(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    fn mean_ms(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

impl Beside {
    fn of(text: &str) -> Result<Self> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("ioping "));
        let times = |line: &str| -> Result<Times> {
            let of = |ns: &str| Ok::<_, std::num::ParseFloatError>(ns.parse::<f64>()? * 1e-6);
            let mut times: Vec<f64> =
                line.split_whitespace().map(of).collect::<Result<_, _>>()?;
            times.sort_by(f64::total_cmp);
            Ok(Times(times))
        };
        let both: Vec<Times> = lines.map(times).collect::<Result<_>>()?;
        let Ok(both) = <[Times; 2]>::try_from(both) else { bail!("ioping has not run twice") };
        if both.iter().any(|times| times.0.is_empty()) {
            bail!("ioping has read nothing");
        }
        Ok(Self(both))
    }

    /// The lower one and the higher one of a figure.
    fn range_ms(&self, figure: fn(&Times) -> f64) -> (f64, f64) {
        let [before, after] = [figure(&self.0[0]), figure(&self.0[1])];
        (before.min(after), before.max(after))
    }

    /// Whether nothing has changed meanwhile.
    fn is_steady(&self) -> bool {
        let (low, high) = self.range_ms(Times::median_ms);
        high - low <= NEAR_MS
    }
}

impl Delayed {
    /// Whether the kernel's own mean shows that the guest was left alone.
    fn is_quiet(self, text: &str) -> Result<bool> {
        Ok(kernel_ms(text)? <= self.quiet_ms)
    }

    /// Too little is always wrong; too much, or less than ioping had, only where the guest was left alone.
    fn judged(self, text: &str) -> Result<[Figure; 3]> {
        let read = Read::of(text)?;
        let beside = Beside::of(text)?;
        let Self { name, depth, least_ms, .. } = self;
        let is_quiet = self.is_quiet(text)? && beside.is_steady();
        // The histogram has three digits; the kernel's sum has whole milliseconds, and a read or two of before.
        let (set_ms, by_kernel_ms) = (least_ms * 0.995, kernel_ms(text)? * 0.995);
        let judged = |what, figure: fn(&Times) -> f64, least_ms: f64, reported_ms: f64| {
            let (low, high) = beside.range_ms(figure);
            let from = if depth < 1.5 { (low - NEAR_MS).max(least_ms) } else { least_ms };
            let to = high + NEAR_MS;
            let is_right = (from..=to).contains(&reported_ms);
            let is_enough = reported_ms >= least_ms;
            Figure {
                what: format!("{name}, depth {depth}: {what} latency"),
                truth: format!("{low:.2} and {high:.2} ms by ioping: {from:.2} to {to:.2} ms"),
                reported: format!("{reported_ms:.2} ms"),
                holds: (is_quiet || !is_enough).then_some(is_enough && is_right),
            }
        };
        let expected = depth / (read.mean_ms * 1e-3);
        let rate = near(
            &format!("{name}, depth {depth}: rate by its mean latency"),
            (expected, "per second", 0.01),
            read.rate_per_s,
        );
        Ok([
            judged("median", Times::median_ms, set_ms, read.median_ms),
            judged("mean", Times::mean_ms, by_kernel_ms, read.mean_ms),
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

    /// The kernel's mean is 20.1 ms; ioping has 20.3 and 20.4 ms.
    fn reported(median_ns: u64, mean_ns: u64, iops: f64) -> String {
        format!(
            r#"ioping 20200000 20300000 20400000
{{"jobs":[{{"read":{{"iops":{iops},"lat_ns":{{"mean":{mean_ns},"percentile":{{"50.000000":{median_ns}}}}}}}}}]}}
kernel of assay 10 0 80 100 0 0 0 0 0 100 100 260 0 2080 5125 0 0 0 0 0 5125 5125
ioping 20500000 20400000 20300000
"#
        )
    }

    #[test]
    fn latency_and_rate_are_held_against_the_device_and_another_program() {
        const ONE: usize = 0;
        const EIGHT: usize = 1;
        for (device, median_ns, mean_ns, iops, expected) in [
            (ONE, 20_100_000, 20_200_000, 49.5, [true, true, true]),
            // 0.5 ms above the higher one of ioping's, which has 20.40 ms.
            (ONE, 20_880_000, 20_880_000, 47.9, [true, true, true]),
            (ONE, 20_920_000, 20_200_000, 49.5, [false, true, true]),
            (ONE, 20_100_000, 20_920_000, 47.8, [true, false, true]),
            // Less than the device was told.
            (ONE, 19_850_000, 20_200_000, 49.5, [false, true, true]),
            // Less than the kernel has counted.
            (ONE, 20_100_000, 19_800_000, 50.5, [true, false, true]),
            (ONE, 20_100_000, 20_200_000, 50.2, [true, true, false]),
            (EIGHT, 20_100_000, 20_200_000, 396.0, [true, true, true]),
            (EIGHT, 20_920_000, 20_920_000, 382.4, [false, false, true]),
            (EIGHT, 19_850_000, 19_850_000, 403.0, [false, false, true]),
        ] {
            let text = reported(median_ns, mean_ns, iops);
            let figures = DELAYED[device].judged(&text).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected.map(Some), "{text}");
        }
    }

    #[test]
    fn nothing_that_is_reported_loosens_a_bound() {
        // What took 22 ms is beyond, whatever part of it is called submission.
        let text = reported(22_000_000, 22_000_000, 45.4)
            .replace(r#""lat_ns""#, r#""slat_ns":{"mean":1900000},"lat_ns""#);
        let figures = DELAYED[0].judged(&text).unwrap();
        assert_eq!(figures.map(|it| it.holds), [Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn less_than_another_program_had_is_wrong_too() {
        let slow = reported(20_100_000, 20_200_000, 49.5)
            .replace("ioping 20", "ioping 21")
            .replace(" 20300000 20400000", " 21300000 21400000")
            .replace(" 20400000 20300000", " 21400000 21300000");
        let held = |device: Delayed| device.judged(&slow).unwrap().map(|it| it.holds);
        assert_eq!(held(DELAYED[0]), [Some(false), Some(false), Some(true)]);
        // One process has a shorter way than eight.
        assert_eq!(held(DELAYED[1])[..2], [Some(true), Some(true)]);
        assert!(DELAYED[0].judged(&slow.replacen("\nioping ", "\n", 1)).is_err());
    }

    #[test]
    fn a_guest_that_stalls_decides_only_what_is_too_little() {
        let restless = Delayed { quiet_ms: 20.0, ..DELAYED[0] };
        let steady = |text: String| text;
        let moves =
            |text: String| text.replace("ioping 20500000 20400000", "ioping 21500000 21400000");
        for (device, changed, median_ns, mean_ns, iops, expected) in [
            (restless, steady as fn(String) -> String, 22_000_000, 28_000_000, 50.2, [None; 3]),
            (restless, steady, 19_000_000, 19_000_000, 50.2, [Some(false), Some(false), None]),
            (DELAYED[0], moves, 23_000_000, 23_000_000, 50.2, [None; 3]),
            (DELAYED[0], moves, 19_000_000, 19_000_000, 50.2, [Some(false), Some(false), None]),
        ] {
            let text = changed(reported(median_ns, mean_ns, iops));
            let figures = device.judged(&text).unwrap();
            assert_eq!(figures.map(|it| it.holds), expected, "{text}");
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
