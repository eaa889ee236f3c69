//! Scenario `storage-errors`: devices with one bad block, whose address must be reported, without
//! any result of the failed operation.

use std::time::Duration;

use anyhow::{Context, Result};

use super::{
    CpuUse, GuestMachine, LabFigure, Scenario, ScenarioRunner, output_section, parse_document,
};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "storage-errors",
    title: "Devices with a bad place (dm-error, dm-flakey, NVMe)",
    description: "1 MiB of which 4 KiB at byte 65,536 fail (`dm-error`), lose what is written (`dm-flakey` with `drop_writes`), or \
            are written with another byte (`corrupt_bio_byte`), and an NVMe disk of qemu's with a bad sector \
            (`blkdebug`). The place and the kernel's reason are to be said, the exit code is 4, and nothing that failed is a \
            result.",
    runner: ScenarioRunner::Guest(MACHINE, SCRIPT),
    cpu_use: CpuUse::Busy,
    deadline: Duration::from_secs(300),
    judge,
};

/// Sector 128 of the disk is at byte 65,536.
const MACHINE: GuestMachine = GuestMachine {
    qemu_arguments: &[
        "-drive",
        "driver=blkdebug,if=none,id=bad,image.driver=null-co,image.size=1M,image.read-zeroes=on,\
         inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.sector=128,inject-error.0.errno=5",
        "-device",
        "nvme,drive=bad,serial=bad",
    ],
    ..GuestMachine::PLAIN
};

const SCRIPT: &str = include_str!("../scripts/storage_errors.sh");

const EIO: &str = "Input/output error";

/// Fault, and the error that must be reported.
struct Fault {
    section: &'static str,
    name: &'static str,
    /// Failing operation, which must have no result.
    operation: &'static str,
    /// Location and reason in the error.
    expected_texts: [&'static str; 2],
}

const FAULTS: [Fault; 8] = [
    read_fault("read io_uring", "reads by io_uring"),
    read_fault("read libaio", "reads by libaio"),
    read_fault("read threads", "reads by threads"),
    Fault {
        section: "write",
        name: "writes",
        operation: "write",
        expected_texts: ["write of 4096 bytes at byte 65536 of /dev/mapper/bad", EIO],
    },
    Fault { section: "IOR", name: "`assay ior -r`", ..read_fault("", "") },
    Fault {
        section: "lost",
        name: "a write that is lost, `assay ior -R`",
        operation: "read",
        expected_texts: ["at byte 65536 of /dev/mapper/lost", "wrong data: "],
    },
    Fault {
        section: "wrong",
        name: "one byte that is written wrong, `assay ior -R`",
        operation: "read",
        expected_texts: ["at byte 65536 of /dev/mapper/wrong", "wrong data: "],
    },
    Fault {
        section: "NVMe",
        name: "a bad sector of an NVMe disk",
        operation: "read",
        // The kernel's error for a bad medium (`blk_errors`).
        expected_texts: [
            "read of 4096 bytes at byte 65536 of /dev/nvme0n1",
            "No data available",
        ],
    },
];

const fn read_fault(section: &'static str, what: &'static str) -> Fault {
    let says = ["read of 4096 bytes at byte 65536 of /dev/mapper/bad", EIO];
    Fault { section, name: what, operation: "read", expected_texts: says }
}

fn judge(output: &str) -> Result<Vec<LabFigure>> {
    FAULTS.iter().map(|fault| fault.check(output_section(output, fault.section)?)).collect()
}

impl Fault {
    fn check(&self, text: &str) -> Result<LabFigure> {
        let (printed, _) = text.split_once("\nexit ").context("no exit code")?;
        let is_reported = self.expected_texts.iter().all(|it| printed.contains(it));
        let stored = parse_document(text)?;
        let results = stored["results"].as_array().context("nothing is stored")?;
        let figures =
            results.iter().filter(|it| it["parameters"]["operation"] == self.operation).count();
        let failures = stored["failures"].as_array().map_or(0, Vec::len);
        let line = printed.lines().find(|line| line.contains(" bytes at byte "));
        let reported = line.or(printed.lines().next()).unwrap_or("nothing").trim();
        let first = reported.split("; ").next().unwrap_or_default();
        Ok(LabFigure::condition(
            self.name.to_owned(),
            format!("{}: {}; no result", self.expected_texts[0], self.expected_texts[1]),
            format!("{}; {figures} results", first.trim_start_matches("why: ")),
            is_reported && figures == 0 && failures > 0 && text.contains("\nexit 4\n"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_names_where;
    use super::*;

    #[test]
    fn detects_missing_location_and_results_of_failed_operations() {
        let good: String = FAULTS
            .iter()
            .map(|it| {
                format!(
                    "\n== {}\nerror: 3 I/O of a failed\n  why: {}: {}; more\nexit 4\n{{\"results\":[],\"failures\":[1]}}\n",
                    it.section, it.expected_texts[0], it.expected_texts[1]
                )
            })
            .collect();
        let wrong = |output: &str| row_names_where(judge(output), |holds| holds != Some(true));
        assert_eq!(wrong(&good), Vec::<String>::new());
        for (from, to) in [
            ("byte 65536", "byte 0"),
            ("Input/output error", "Invalid argument"),
            ("exit 4", "exit 0"),
            ("\"results\":[]", "\"results\":[{\"parameters\":{\"operation\":\"read\"}}]"),
            ("\"failures\":[1]", "\"failures\":[]"),
        ] {
            assert_eq!(wrong(&good.replacen(from, to, 1)), ["reads by io_uring"], "{from}");
        }
    }
}
