//! `--version` of the emulated tools whose own options lack it.

use std::ffi::OsString;

/// Commands with the version of the tool that they emulate, as far as there is one.
const TOOLS: [(&str, &str); 7] = [
    ("ior", "IOR-4.1.0+dev"),
    ("mdtest", "mdtest-4.1.0+dev"),
    ("ntttcp", "ntttcp-for-linux 1.4.3"),
    ("vdbench", "Vdbench"),
    ("ping", "ping"),
    ("mpi", "OSU micro-benchmarks"),
    ("rdma", "perftest"),
];

/// Returns the line for a command line that asks such a tool for its version, and nothing else.
pub(crate) fn requested_version(words: &[OsString]) -> Option<String> {
    let [_, tool, option] = words else { return None };
    let (_, name) = TOOLS.iter().find(|(command, _)| tool == command)?;
    (option == "--version").then(|| format!("{name} (assay {})\n", env!("CARGO_PKG_VERSION")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_tools_without_the_option() {
        for (line, expected) in [
            ("assay ior --version", Some("IOR-4.1.0+dev (assay ")),
            ("assay vdbench --version", Some("Vdbench (assay ")),
            ("assay ior -V", None),
            ("assay fio --version", None),
            ("assay ior -o --version", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = requested_version(&words);
            assert_eq!(found.is_some(), expected.is_some(), "{line}");
            assert!(found.unwrap_or_default().starts_with(expected.unwrap_or("")), "{line}");
        }
    }
}
