//! The word that was probably meant: the nearest of those that exist.

/// The candidate that differs from `given` in the fewest letters, if it is near enough to be meant:
/// at most a third of the letters differ.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let given: Vec<char> = given.chars().take(64).flat_map(char::to_lowercase).collect();
    let allowed = (given.len() / 3).max(1);
    let scored = candidates.map(|name| (differences(&given, name), name));
    let near = scored.filter(|(count, _)| *count <= allowed);
    near.min_by_key(|(count, _)| *count).map(|(_, name)| name)
}

/// Letters to insert, delete, replace or swap with their neighbour (Damerau and Levenshtein).
fn differences(given: &[char], name: &str) -> usize {
    let name: Vec<char> = name.chars().collect();
    let mut before: Vec<usize> = vec![];
    let mut above: Vec<usize> = (0..=name.len()).collect();
    for (i, left) in given.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in name.iter().enumerate() {
            let replaced = above[j] + usize::from(left != right);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == name[j - 1] && given[i - 1] == *right {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_or_none() {
        let words = ["iodepth", "iodepth_low", "rw", "runtime", "ramp_time"];
        let table = [
            ("iodpeth", Some("iodepth")),
            ("IODEPT", Some("iodepth")),
            ("runtme", Some("runtime")),
            ("wr", Some("rw")),
            ("nonsense", None),
            ("", None),
        ];
        for (given, expected) in table {
            assert_eq!(nearest(given, words.into_iter()), expected, "{given}");
        }
    }
}
