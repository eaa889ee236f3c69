//! Guides of the folder `docs`, printed by `assay help docs/NAME.md`.

/// Returns the name of each page with its text.
macro_rules! guides {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../../docs/", $name, ".md")))),*]
    };
}

/// Guides with their texts in Markdown, in alphabetical order.
const GUIDES: &[(&str, &str)] = guides![
    "compare" "compatibility" "exec" "export" "export-columns" "factors" "fio" "fio-options"
    "history" "hosts" "import" "install" "io500" "ior" "ior-options" "iperf3-options"
    "lint" "mdtest" "mdtest-options" "memory" "mpi" "network" "ntttcp-options" "osu-options"
    "overview" "perftest-options" "ping-options" "publishing" "qperf-options"
    "rdma" "references" "reliability" "results" "security" "serve" "site" "sockperf-options"
    "statistics" "storage"
    "vdbench" "vdbench-options" "witness"
];

/// Returns the text of a guide by its name as messages cite it: `docs/fio.md`, or `docs/fio`.
/// Without `docs/`, the name must not be that of a command.
pub(super) fn find_guide(
    topic: &str,
    is_command: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let name = topic.strip_prefix("docs/");
    let is_ambiguous = name.is_none() && is_command(topic);
    let name = name.unwrap_or(topic);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let (_, text) = GUIDES.iter().find(|(known, _)| *known == name)?;
    (!is_ambiguous).then_some(*text)
}

/// Returns all names with their titles.
pub(super) fn guide_titles() -> impl Iterator<Item = (String, &'static str)> {
    GUIDES.iter().map(|(name, text)| {
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        (format!("docs/{name}.md"), title)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Pages that describe this project's own measurements, tests and contents, not the use of the program.
    const NOT_GUIDES: [&str; 6] =
        ["SUMMARY", "laboratory", "mpi-side-by-side", "scaling", "scaling-fleet", "transcript"];

    #[test]
    fn every_page_of_docs_is_a_guide() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for page in fs::read_dir(folder).unwrap() {
            let page = page.unwrap().path();
            let name = page.file_stem().unwrap().to_str().unwrap();
            let is_page = page.extension().is_some_and(|it| it == "md");
            if is_page && !NOT_GUIDES.contains(&name) {
                assert!(GUIDES.iter().any(|(known, _)| *known == name), "{name}");
            }
        }
    }

    #[test]
    fn guide_is_found_as_cited() {
        let find = |topic| find_guide(topic, |name| name == "fio").map(str::len);
        assert!(find("docs/fio.md").is_some() && find("docs/fio") == find("docs/fio.md"));
        assert!(find("fio").is_none(), "`assay help fio` is about the command");
        assert!(find("security").is_some() && find("docs/nothing.md").is_none());
    }
}
