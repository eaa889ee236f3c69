//! Labels of MPI libraries in reports: name and version, and the prefix if another one has the same
//! version.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::Attribute;
use assay_model::summary::MetricEstimate;

use super::estimate_parts::text;

/// Installation prefixes of every MPI name on the page.
pub(super) struct MpiLabels(BTreeMap<String, BTreeSet<String>>);

impl MpiLabels {
    /// Collects the names from all results of a page, so that labels agree in all tables and
    /// warnings.
    pub(super) fn from_results(results: &[MetricEstimate]) -> Self {
        let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for estimate in results {
            if let (Some(name), Some(prefix)) =
                (name(estimate), text(estimate, Attribute::Prefix))
            {
                labels.entry(name).or_default().insert(prefix);
            }
        }
        Self(labels)
    }

    /// Returns `MPICH 4.0.2`, or `MPICH 4.0.2 in …/mpich`; `None` for results of other benchmarks.
    pub(super) fn label(&self, estimate: &MetricEstimate) -> Option<String> {
        let name = name(estimate)?;
        let known = self.0.get(&name).filter(|prefixes| prefixes.len() > 1);
        Some(match (known, text(estimate, Attribute::Prefix)) {
            (Some(known), Some(prefix)) => {
                message!("name-in", name = name, place = unique_suffix(&prefix, known))
            }
            _ => name,
        })
    }
}

/// Returns the name of the MPI; the same library has another name when used through the standard
/// ABI.
fn name(estimate: &MetricEstimate) -> Option<String> {
    let mpi = text(estimate, Attribute::Mpi)?;
    let is_standard = text(estimate, Attribute::Abi).as_deref() == Some("standard");
    Some(if is_standard { message!("mpi-standard-abi", mpi = mpi) } else { mpi })
}

/// Returns the shortest unique suffix of a path; a short path in full.
fn unique_suffix(prefix: &str, all: &BTreeSet<String>) -> String {
    /// Maximum length of a path that is shown in full; fits after a name in the heading of a
    /// column.
    const MAX_FULL_CHARS: usize = 12;
    let parts: Vec<&str> = prefix.split('/').filter(|part| !part.is_empty()).collect();
    if prefix.chars().count() <= MAX_FULL_CHARS {
        return prefix.to_owned();
    }
    let ending = |count: usize| format!("/{}", parts[parts.len() - count..].join("/"));
    let is_unique = |end: &String| {
        all.iter().filter(|other| other.trim_end_matches('/').ends_with(end.as_str())).count()
            == 1
    };
    let found = (1..parts.len()).map(ending).find(is_unique);
    found.map_or_else(|| prefix.to_owned(), |end| format!("…{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_prefixes_to_unique_suffixes() {
        let all =
            ["/usr", "/opt/site/mpich", "/opt/site/other", "/home/user/mpich", "/a/b/site"];
        let all: BTreeSet<String> = all.iter().map(|it| (*it).to_owned()).collect();
        for (prefix, expected) in [
            ("/usr", "/usr"),
            ("/opt/site/other", "…/other"),
            ("/opt/site/mpich", "…/site/mpich"),
            ("/home/user/mpich", "…/user/mpich"),
            ("/a/b/site", "/a/b/site"),
            ("", ""),
            ("relative-and-alone", "relative-and-alone"),
        ] {
            assert_eq!(unique_suffix(prefix, &all), expected);
        }
    }
}
