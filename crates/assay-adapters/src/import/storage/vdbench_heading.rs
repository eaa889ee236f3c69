//! Headings of Vdbench's summaries: two lines of words that name each column. Block runs and
//! file-system runs have different columns, and so do the versions.

/// Columns of a table, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SummaryHeading {
    /// Group and name of each column behind the interval: `("read", "resp")`.
    columns: Vec<(String, String)>,
    /// Whether the runs below are on file systems.
    pub is_file_system: bool,
    /// Date in the heading: `Jan 05, 2024`.
    pub date: String,
}

/// Whether a line is the first one of a heading.
pub(super) fn begins_heading(line: &str) -> bool {
    let is_interval = |word: &str| word.trim_matches('.').eq_ignore_ascii_case("interval");
    line.split_whitespace().any(is_interval) && line.to_ascii_lowercase().contains("mb/sec")
}

/// Whether the words are the second line of a heading.
pub(super) fn continues_heading(line: &str) -> bool {
    line.split_whitespace().next() == Some("rate")
}

impl SummaryHeading {
    /// Parses the two lines of a heading; `None` if a column has no name.
    pub(super) fn parse(first: &str, second: &str) -> Option<Self> {
        let words: Vec<&str> = first.split_whitespace().collect();
        let interval = words
            .iter()
            .position(|word| word.trim_matches('.').eq_ignore_ascii_case("interval"))?;
        let groups = words.get(interval + 1..)?;
        let names: Vec<&str> = second.split_whitespace().collect();
        let is_file_system = groups.first()?.contains("ReqstdOps");
        let columns = if is_file_system {
            divide_groups(groups, &names)?
        } else {
            pair_words(groups, &names)?
        };
        let date = words.get(..interval)?.join(" ");
        Some(Self { columns, is_file_system, date })
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the position of a column behind the interval.
    pub(super) fn position(&self, group: &str, name: &str) -> Option<usize> {
        self.columns.iter().position(|(one, other)| one == group && other == name)
    }

    /// Returns the groups of columns with a rate and a response time, in their order.
    pub(super) fn operations(&self) -> impl Iterator<Item = &str> {
        let rates = self.columns.iter().filter(|(_, name)| name == "rate");
        rates.map(|(group, _)| group.as_str())
    }

    /// Returns the names of columns that satisfy `is_unused`, as one text.
    pub(super) fn name_columns(&self, is_unused: impl Fn(&str, &str) -> bool) -> String {
        let unused = self.columns.iter().filter(|(group, name)| is_unused(group, name));
        unused.map(|(group, name)| format!("{group} {name}")).collect::<Vec<_>>().join(", ")
    }
}

/// Pairs the words of both lines: each column of a block run has one of each.
fn pair_words(groups: &[&str], names: &[&str]) -> Option<Vec<(String, String)>> {
    let pair = |(group, name): (&&str, &&str)| ((*group).to_owned(), (*name).to_owned());
    (groups.len() == names.len()).then(|| groups.iter().zip(names).map(pair).collect())
}

/// Divides the names among the groups of a file-system run: dots show that a group is wider than
/// its name, and has two columns.
fn divide_groups(groups: &[&str], names: &[&str]) -> Option<Vec<(String, String)>> {
    let mut names = names.iter();
    let mut columns = Vec::new();
    for group in groups {
        let name = group.trim_matches('.');
        let has_two = group.len() > name.len() && name != "xfer";
        for _ in 0..if has_two { 2 } else { 1 } {
            columns.push((name.to_owned(), (*names.next()?).to_owned()));
        }
    }
    names.next().is_none().then_some(columns)
}
