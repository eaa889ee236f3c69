//! Spelling suggestions: the nearest known word.

/// Returns the candidate with the smallest edit distance to `given`, if at most a third of the
/// letters differ.
pub fn nearest_word<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // Longer words cannot match, and the cost of the distance is the product of the lengths.
    let given: String = given.chars().take(64).flat_map(char::to_lowercase).collect();
    let allowed = (given.chars().count() / 3).max(1);
    let scored = candidates.map(|name| (strsim::osa_distance(&given, name), name));
    let near = scored.filter(|(count, _)| *count <= allowed);
    near.min_by_key(|(count, _)| *count).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_nearest_word() {
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
            assert_eq!(nearest_word(given, words.into_iter()), expected, "{given}");
        }
    }
}
