//! Faults that need a virtual machine: CPUs, clocks and devices of a guest in the laboratory.
//!
//! They would disturb other users of the host, or its kernel lacks the modules.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use laboratory::guest::GuestJob;
use laboratory::{GuestMachine, guest, image, split_sections};

use super::{FaultCheck, FaultResult};
use crate::packages;

/// Time after which the guest is killed; it takes a few minutes under emulation.
const DEADLINE: Duration = Duration::from_secs(900);

/// Fault with the expected result of its section in the script.
struct GuestRow {
    section: &'static str,
    fault: &'static str,
    expected: &'static str,
    code: u8,
    /// Texts of which the output must contain at least one.
    expected_output: &'static [&'static str],
}

const NOT_MEASURED: &str =
    "the case fails with the kernel's error; nothing is stored as measured";
const REFUSED: &str = "a refusal that reports the user of the device";
/// Errors of a removed device; its size may also read as 0 bytes.
const DEVICE_REMOVED: &[&str] = &["Input/output error", "No such device", "short: 0 of"];

const ROWS: [GuestRow; 13] = [
    GuestRow {
        section: "cpu",
        fault: "a CPU goes offline (`echo 0 > /sys/devices/system/cpu/cpu1/online`)",
        expected: "the results carry the doubt `cpus-taken`",
        code: 0,
        expected_output: &["\"cpus-taken\""],
    },
    GuestRow {
        section: "clock",
        fault: "the clock is set an hour ahead (`date -s`)",
        expected: "the results carry the doubt `clock-stepped`",
        code: 0,
        expected_output: &["\"clock-stepped\""],
    },
    GuestRow {
        section: "suspend",
        fault: "the machine is suspended and wakes by its clock",
        expected: "the results carry the doubt `paused`",
        code: 0,
        expected_output: &["\"paused\""],
    },
    GuestRow {
        section: "huge-pages",
        fault: "others have reserved the huge pages, and the kernel grants no more of them",
        expected: "the run succeeds; its results carry the share 0 of huge pages",
        code: 0,
        expected_output: &["\"huge_pages\": 0.0"],
    },
    GuestRow {
        section: "dm-error",
        fault: "device-mapper replaces the underlying device by errors, during a run",
        expected: NOT_MEASURED,
        code: 4,
        expected_output: DEVICE_REMOVED,
    },
    GuestRow {
        section: "removed",
        fault: "the device is removed during a run (null_blk)",
        expected: NOT_MEASURED,
        code: 4,
        expected_output: DEVICE_REMOVED,
    },
    GuestRow {
        section: "zram-reset",
        fault: "zram is reset during a writing run",
        expected: "the kernel refuses the reset; the run succeeds",
        code: 0,
        expected_output: &["the reset is refused"],
    },
    GuestRow {
        section: "zram-swap",
        fault: "writing a zram device that holds swap",
        expected: REFUSED,
        code: 2,
        expected_output: &["it is in use: "],
    },
    GuestRow {
        section: "dm-holder",
        fault: "writing a device below a mapping (dm)",
        expected: REFUSED,
        code: 2,
        expected_output: &["it is in use: "],
    },
    GuestRow {
        section: "md-holder",
        fault: "writing a member of an array (md)",
        expected: REFUSED,
        code: 2,
        expected_output: &["it is in use: "],
    },
    GuestRow {
        section: "partition",
        fault: "writing a disk of which a partition is mounted",
        expected: REFUSED,
        code: 2,
        expected_output: &["it is in use: "],
    },
    GuestRow {
        section: "disk",
        fault: "writing a partition of a disk whose other partition is mounted",
        expected: "one is written, the other is unchanged",
        code: 0,
        expected_output: &["same contents"],
    },
    GuestRow {
        section: "namespace",
        fault: "writing a device that is mounted in another mount namespace",
        expected: REFUSED,
        code: 2,
        expected_output: &["it is in use: "],
    },
];

const SCRIPT: &str = r#"
A=/lab/assay
fresh() { echo; echo "== $1"; export XDG_DATA_HOME=$(mktemp -d); }
into() {
  for second in $(seq 60); do
    grep -qs case-started $XDG_DATA_HOME/assay/runs/*/events.jsonl && break
    sleep 1
  done
  sleep 3
}
ended() { wait $run; echo "code $?"; $A show --json; }
there() { for second in $(seq 20); do [ -b $1 ] && return; sleep 1; done; echo "cannot be made: there is no $1"; }
refused() { $A storage write $1 --for 1s --destroy-data $1; echo "code $?"; }
for module in crc32c_generic null_blk dm-mod md_mod raid0 zram ext4; do
  modprobe $module $([ $module = null_blk ] && echo nr_devices=3 gb=1 memory_backed=1 irqmode=0)
done
null="storage read --engine null --for 9s"

fresh cpu
$A $null & run=$!
into
echo 0 > /sys/devices/system/cpu/cpu1/online || echo "cannot be made: the kernel keeps the CPU"
ended
echo 1 > /sys/devices/system/cpu/cpu1/online

fresh clock
$A $null & run=$!
into
date -s @$(($(date +%s) + 3600))
ended

fresh suspend
echo "cannot be made: an emulated machine does not wake by its clock"

fresh huge-pages
echo 100 > /proc/sys/vm/nr_hugepages
echo never > /sys/kernel/mm/transparent_hugepage/enabled || echo "cannot be made: the kernel has no such setting"
code=0; $A linpack --n 500 --budget 10s --json || code=$?
echo; echo "code $code"
echo 0 > /proc/sys/vm/nr_hugepages

fresh dm-error
sectors=$(cat /sys/block/nullb0/size)
dmsetup create volume --noudevsync --table "0 $sectors linear /dev/nullb0 0"
$A storage read /dev/dm-0 --random --for 9s & run=$!
into
dmsetup suspend --noudevsync volume
dmsetup load volume --table "0 $sectors error"
dmsetup resume --noudevsync volume
ended
dmsetup load volume --table "0 $sectors linear /dev/nullb0 0"
dmsetup suspend --noudevsync volume
dmsetup resume --noudevsync volume

fresh dm-holder
refused /dev/nullb0
dmsetup remove --noudevsync volume

fresh removed
mount -t configfs none /sys/kernel/config
disk=/sys/kernel/config/nullb/leaving
mkdir $disk && echo 64 > $disk/size && echo 1 > $disk/memory_backed && echo 1 > $disk/power
there /dev/leaving
$A storage read /dev/leaving --random --for 9s & run=$!
into
echo 0 > $disk/power
ended

echo 64M > /sys/block/zram0/disksize
fresh zram-reset
$A storage write /dev/zram0 --for 9s --destroy-data /dev/zram0 & run=$!
into
echo 1 > /sys/block/zram0/reset || echo "the reset is refused"
ended

fresh zram-swap
mkswap /dev/zram0 && swapon /dev/zram0 || echo "cannot be made: the guest takes no swap"
refused /dev/zram0
swapoff /dev/zram0

fresh md-holder
mdadm --build /dev/md0 --level=0 --raid-devices=2 /dev/nullb0 /dev/nullb1 ||
  echo "cannot be made: there is no array"
refused /dev/nullb0
mdadm --stop /dev/md0

fresh partition
printf 'o\nn\np\n1\n\n+64M\nn\np\n2\n\n+64M\nw\n' | fdisk /dev/nullb2 > /dev/null
there /dev/nullb2p1; there /dev/nullb2p2
mke2fs /dev/nullb2p1 > /dev/null; mkdir -p /tmp/at /tmp/away
mount -t ext4 /dev/nullb2p1 /tmp/at || echo "cannot be made: there are no partitions"
refused /dev/nullb2

fresh disk
echo precious > /tmp/at/file; sync
# A file system that may be written changes its own counters.
mount -o remount,ro /tmp/at; before=$(md5sum < /dev/nullb2p1)
refused /dev/nullb2p2
[ "$before" = "$(md5sum < /dev/nullb2p1)" ] && echo "same contents"
umount /tmp/at

fresh namespace
unshare -m sh -c 'mount -t ext4 /dev/nullb2p1 /tmp/away && exec sleep 600' &
sleep 3
refused /dev/nullb2p1
exit 0
"#;

/// Runs all faults in one guest; `--brief` starts none.
pub(super) fn try_all(root: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    if is_brief {
        return Ok(Vec::new());
    }
    packages::install(root, packages::FOR_LAB)?;
    if let Some(why) = guest::unavailable_reason() {
        let row = |row: &GuestRow| row.with_result(FaultResult::NotTried(why.clone()));
        return Ok(ROWS.iter().map(row).collect());
    }
    let image = image::ensure_image(root).context("cannot build the image of the guests")?;
    let job = GuestJob { machines: &[GuestMachine::PLAIN], script: SCRIPT, variables: "" };
    let said = guest::run(root, &image, job, DEADLINE)?;
    let sections = split_sections(&said);
    let judged = ROWS.iter().map(|row| {
        let found = sections.iter().find(|(name, _)| *name == row.section);
        row.with_result(row.judge(found.map_or("", |(_, text)| text)))
    });
    Ok(judged.collect())
}

impl GuestRow {
    fn with_result(&self, end: FaultResult) -> FaultCheck {
        FaultCheck { fault: self.fault, expected: self.expected, result: end }
    }

    fn judge(&self, said: &str) -> FaultResult {
        let starting_with =
            |start: &str| said.lines().find_map(|it| it.trim().strip_prefix(start));
        if let Some(why) = starting_with("cannot be made: ") {
            return FaultResult::NotTried(why.to_owned());
        }
        let code = starting_with("code ").unwrap_or("none").to_owned();
        let is_reported = self.expected_output.iter().any(|it| said.contains(it));
        let refusal = starting_with("why: ").or_else(|| starting_with("error: "));
        let first = |it: &str| it.split("; ").next().unwrap_or_default().to_owned();
        let what = refusal.map_or(format!("exit code {code}"), first);
        FaultResult::passed_if(code == self.code.to_string() && is_reported, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_code_and_output() {
        let row =
            ROWS.iter().find(|row| row.section == "dm-holder").expect("it is in the table");
        for (said, expected) in [
            ("error: a\n  why: it is in use: dm-0 holds it\ncode 2\n", "held"),
            ("error: a\n  why: it is in use: dm-0 holds it\ncode 0\n", "BROKE"),
            ("error: another\ncode 2\n", "BROKE"),
            ("cannot be made: no dm\ncode 2\n", "not tried"),
            ("", "BROKE"),
        ] {
            assert_eq!(row.judge(said).word(), expected, "{said}");
        }
    }

    #[test]
    fn every_row_has_section_in_script() {
        for row in &ROWS {
            assert!(SCRIPT.contains(&format!("fresh {}\n", row.section)), "{}", row.section);
        }
    }
}
