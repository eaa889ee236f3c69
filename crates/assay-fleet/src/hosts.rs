//! Host lists: `vm1,vm2`, `vm[01-24]`, a file of lists, or the nodes of a Slurm job.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::path_text;
use assay_model::run::ALL_HOSTS;

/// Maximum number of hosts in one list; more indicates a typing error in a range.
const MAXIMUM_HOSTS: usize = 10_000;

/// Variable with the nodes of a Slurm job in range notation (sbatch(1), output environment
/// variables).
const SLURM_NODES: &str = "SLURM_JOB_NODELIST";

/// Error in a host list.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    #[error("{list:?}: column {column}: {reason}")]
    Syntax { list: String, column: usize, reason: &'static str },
    #[error("{list:?} names more than {MAXIMUM_HOSTS} hosts")]
    TooMany { list: String },
    #[error("{host} is named twice")]
    Duplicate { host: String },
    #[error("no host is named")]
    Empty,
    #[error("the list of hosts is empty")]
    EmptyList,
    #[error("cannot read the hosts from {}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("line {line} of {}", path.display())]
    Line { path: PathBuf, line: usize, source: Box<Self> },
    #[error("not within a Slurm job: {SLURM_NODES} is not set")]
    NotSlurm,
}

impl HostsError {
    /// Returns the recommended action.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::NotSlurm => {
                "start assay within the job, by salloc or sbatch, or list the hosts"
            }
            Self::EmptyList => {
                "name hosts like vm1,vm[2-24], or leave out --hosts to measure on this machine; the variable \
                 of a script may be unset"
            }
            _ => "name them like vm1,vm[2-24], or give a file by its path (./hosts or @hosts)",
        }
    }
}

/// Parses a host list and keeps its order: names and ranges separated by commas. `slurm` means the
/// nodes of the Slurm job of this process. A list with a `/`, or after an `@`, is a path to a file with
/// one list per line and comments after `#`.
///
/// # Errors
/// [`HostsError`] with the position.
pub fn parse(list: &str) -> Result<Vec<String>, HostsError> {
    let hosts = match list {
        "slurm" => expand(&std::env::var(SLURM_NODES).map_err(|_| HostsError::NotSlurm)?)?,
        list if list.trim().is_empty() => return Err(HostsError::EmptyList),
        list => match list.strip_prefix('@').or(list.contains('/').then_some(list)) {
            Some(file) => read_file(&path_text::decode_path(file))?,
            None => expand(list)?,
        },
    };
    let mut seen = HashSet::new();
    match hosts.iter().find(|host| !seen.insert(host.as_str())) {
        Some(twice) => Err(HostsError::Duplicate { host: twice.clone() }),
        None if hosts.is_empty() => Err(HostsError::Empty),
        None => Ok(hosts),
    }
}

fn read_file(path: &Path) -> Result<Vec<String>, HostsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| HostsError::File { path: path.to_owned(), source })?;
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let list = line.split('#').next().unwrap_or_default().trim();
        if !list.is_empty() {
            let place = |source| HostsError::Line {
                path: path.to_owned(),
                line: number + 1,
                source: Box::new(source),
            };
            hosts.extend(expand(list).map_err(place)?);
        }
        if hosts.len() > MAXIMUM_HOSTS {
            return Err(HostsError::TooMany { list: path.display().to_string() });
        }
    }
    Ok(hosts)
}

/// Expands a list of names and ranges, split at commas outside brackets.
pub(crate) fn expand(list: &str) -> Result<Vec<String>, HostsError> {
    let mut hosts = Vec::new();
    let (mut start, mut is_inside) = (0, false);
    let ends = list.char_indices().chain([(list.len(), ',')]);
    for (at, character) in ends {
        let fault = |reason| syntax_error(list, at, reason);
        match character {
            '[' if is_inside => return Err(fault("nested brackets")),
            ']' if !is_inside => return Err(fault("unmatched closing bracket")),
            '[' | ']' => is_inside = character == '[',
            ',' if !is_inside => {
                hosts.extend(expand_item(list, start, at, hosts.len())?);
                start = at + 1;
            }
            ',' if at == list.len() => return Err(fault("unclosed bracket")),
            _ => {}
        }
    }
    Ok(hosts)
}

fn syntax_error(list: &str, at: usize, reason: &'static str) -> HostsError {
    let column = list.get(..at).map_or(1, |before| before.chars().count() + 1);
    HostsError::Syntax { list: list.to_owned(), column, reason }
}

/// Expands one item, which may contain several ranges: `r[1-2]n[1-4]`.
fn expand_item(
    list: &str,
    start: usize,
    end: usize,
    before: usize,
) -> Result<Vec<String>, HostsError> {
    let mut names = vec![String::new()];
    let mut at = start;
    while at < end {
        let rest = &list[at..end];
        let plain = rest.find('[').unwrap_or(rest.len());
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        if let Some(odd) = rest[..plain].find(is_odd) {
            return Err(syntax_error(list, at + odd, "a name must not contain spaces"));
        }
        names.iter_mut().for_each(|name| name.push_str(&rest[..plain]));
        at += plain;
        if plain == rest.len() {
            break;
        }
        let close = rest[plain..].find(']').map_or(end, |close| at + close);
        let numbers = parse_ranges(list, at + 1, close)?;
        if before + names.len() * numbers.len() > MAXIMUM_HOSTS {
            return Err(HostsError::TooMany { list: list.to_owned() });
        }
        names = names
            .iter()
            .flat_map(|name| numbers.iter().map(move |number| format!("{name}{number}")))
            .collect();
        at = close + 1;
    }
    match names.first() {
        Some(first) if first.is_empty() => Err(syntax_error(list, start, "a name is missing")),
        // Transport commands would take it for an option.
        Some(first) if first.starts_with('-') => {
            Err(syntax_error(list, start, "a name must not begin with '-'"))
        }
        // Reserved for the totals over all hosts.
        Some(_) if names.iter().any(|name| name == ALL_HOSTS) => {
            Err(syntax_error(list, start, "no host is called `all`, which is their total"))
        }
        _ => Ok(names),
    }
}

/// Parses `1-3,07`; numbers keep their width.
fn parse_ranges(list: &str, start: usize, end: usize) -> Result<Vec<String>, HostsError> {
    let mut numbers = Vec::new();
    let mut at = start;
    for part in list[start..end].split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| match text.parse::<u64>() {
            Ok(number) if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
            _ => Err(syntax_error(list, at, "brackets hold numbers, as in [1-3,7]")),
        };
        let (low, high) = (number(first)?, number(last)?);
        if low > high {
            return Err(syntax_error(list, at, "the range is descending"));
        }
        if high - low >= MAXIMUM_HOSTS as u64 || numbers.len() > MAXIMUM_HOSTS {
            return Err(HostsError::TooMany { list: list.to_owned() });
        }
        let width = first.len();
        numbers.extend((low..=high).map(|number| format!("{number:0width$}")));
        at += part.len() + 1;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use assay_model::host_names::format_host_list;

    use super::*;

    fn check(list: &str, expected: &str) {
        let found = match parse(list) {
            Ok(hosts) => hosts.join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{list}");
    }

    #[test]
    fn expands_names_and_ranges() {
        check("vm1", "vm1");
        check("vm1,vm2,192.0.2.7,::1", "vm1 vm2 192.0.2.7 ::1");
        check("vm[1-3,7]", "vm1 vm2 vm3 vm7");
        check("n[008-011].site,login", "n008.site n009.site n010.site n011.site login");
        check("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
        check("user@vm[1-2]", "user@vm1 user@vm2");
    }

    #[test]
    fn errors_have_positions() {
        check("", "the list of hosts is empty");
        check(" ", "the list of hosts is empty");
        check("a,,b", r#""a,,b": column 3: a name is missing"#);
        check("a[1-3", r#""a[1-3": column 6: unclosed bracket"#);
        check("a1-3]", r#""a1-3]": column 5: unmatched closing bracket"#);
        check("a[[1]]", r#""a[[1]]": column 3: nested brackets"#);
        check("é[3-1]", r#""é[3-1]": column 3: the range is descending"#);
        check("a[1-x]", r#""a[1-x]": column 3: brackets hold numbers, as in [1-3,7]"#);
        check("a[]", r#""a[]": column 3: brackets hold numbers, as in [1-3,7]"#);
        check("a b", r#""a b": column 2: a name must not contain spaces"#);
        check(
            "-oProxyCommand=x",
            r#""-oProxyCommand=x": column 1: a name must not begin with '-'"#,
        );
        check(
            "vm1,all",
            r#""vm1,all": column 5: no host is called `all`, which is their total"#,
        );
        check("a[1-2],a2", "a2 is named twice");
        check("a[1-99999]", r#""a[1-99999]" names more than 10000 hosts"#);
        check("a[1-200]b[1-200]", r#""a[1-200]b[1-200]" names more than 10000 hosts"#);
        check("no/such/file", "cannot read the hosts from no/such/file");
    }

    #[test]
    fn reads_files_with_a_list_per_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        std::fs::write(&path, "# ours\nvm[1-2]\n\n  far1,far2 # over there\n").unwrap();
        check(path.to_str().unwrap(), "vm1 vm2 far1 far2");
        check(&format!("@{}", path.display()), "vm1 vm2 far1 far2");
        std::fs::write(&path, "vm1\nvm[\n").unwrap();
        check(path.to_str().unwrap(), &format!("line 2 of {}", path.display()));
        std::fs::write(&path, "# none\n").unwrap();
        check(path.to_str().unwrap(), "no host is named");
    }

    #[test]
    fn compact_lists_round_trip() {
        for (hosts, short) in [
            ("vm1 vm2 vm3 vm7", "vm[1-3,7]"),
            ("n008.site n009.site n010.site login", "n[008-010].site,login"),
            ("192.0.2.7 192.0.2.8 ::1", "192.0.2.7,192.0.2.8,::1"),
            ("vm1", "vm1"),
            ("vm01 vm2", "vm01,vm2"),
        ] {
            let hosts: Vec<&str> = hosts.split(' ').collect();
            assert_eq!(format_host_list(&hosts), short);
            assert_eq!(parse(short).unwrap(), hosts);
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_lists_cause_no_panic(list in r"[a-c0-9\[\],é -]{0,24}") {
            if let Ok(mut hosts) = expand(&list) {
                // `parse` rejects duplicate hosts.
                hosts.sort();
                hosts.dedup();
                let names: Vec<&str> = hosts.iter().map(String::as_str).collect();
                let mut again = expand(&format_host_list(&names)).unwrap();
                again.sort();
                proptest::prop_assert_eq!(again, hosts);
            }
        }
    }
}
