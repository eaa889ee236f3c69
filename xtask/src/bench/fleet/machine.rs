//! Facts about the machine and the program, for the page.

use std::fs;
use std::path::Path;

use assay_model::quantity::Bytes;
pub(crate) use workbench::page::PageFact;

use crate::command;

use super::workplace::BenchWorkplace;

/// Returns CPU, caches, memory, kernel and date. A fact that the machine does not report is marked
/// as such.
pub(crate) fn facts(workplace: &BenchWorkplace) -> Vec<PageFact> {
    let lscpu = program_output(workplace, "lscpu", &[]);
    let field = |name: &str| labelled_value(&lscpu, name).unwrap_or_else(|| "not told".into());
    let virtualised = labelled_value(&lscpu, "Hypervisor vendor");
    let virtualised =
        virtualised.map_or("none detected".into(), |vendor| format!("guest of {vendor}"));
    let memory = labelled_value(&read_file("/proc/meminfo"), "MemTotal");
    let memory = memory.and_then(|memory| memory.strip_suffix(" kB")?.parse::<u64>().ok());
    let memory = memory.map(|kib| Bytes(kib << 10).to_quantity().to_string());
    vec![
        ("date", first_line(workplace, "date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        ("CPU", format!("{}, {} CPUs, {virtualised}", field("Model name"), field("CPU(s)"))),
        ("caches", format!("L2 {}, L3 {}", field("L2 cache"), field("L3 cache"))),
        ("memory", memory.unwrap_or_else(|| "not reported".into())),
        (
            "huge pages",
            read_file("/sys/kernel/mm/transparent_hugepage/enabled").trim().to_owned(),
        ),
        ("kernel", first_line(workplace, "uname", &["-sr"])),
        ("load before", workbench::load_average()),
    ]
}

/// Returns assay's version and the commit it was built from.
pub(crate) fn assay_version(workplace: &BenchWorkplace, program: &Path) -> PageFact {
    let commit =
        first_line(workplace, "git", &["describe", "--always", "--dirty", "--abbrev=10"]);
    let version = first_line(workplace, program, &["--version"]);
    ("assay", format!("{version}, commit {commit}"))
}

/// Returns the first line of a program's output.
fn first_line(
    workplace: &BenchWorkplace,
    program: impl AsRef<Path>,
    arguments: &[&str],
) -> String {
    let printed = program_output(workplace, program, arguments);
    printed.lines().next().unwrap_or_default().trim().to_owned()
}

/// Returns a program's output, or a text that there is none.
fn program_output(
    workplace: &BenchWorkplace,
    program: impl AsRef<Path>,
    arguments: &[&str],
) -> String {
    let program = program.as_ref();
    let output = command::output(workplace.command(program).args(arguments));
    output.unwrap_or_else(|_| format!("{} failed", program.display()))
}

fn read_file(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|_| "not reported".into())
}

/// Returns the value of `name: value`.
fn labelled_value(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(label, _)| label.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_whole_labels() {
        let text = "CPU(s):   2\nOn-line CPU(s) list: 0,1\nModel name: A: B\n";
        assert_eq!(labelled_value(text, "CPU(s)").as_deref(), Some("2"));
        assert_eq!(labelled_value(text, "Model name").as_deref(), Some("A: B"));
        assert_eq!(labelled_value(text, "Model"), None);
    }
}
