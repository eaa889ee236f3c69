//! Letters of conditions: two share a letter exactly if they cannot be distinguished.

/// Letters in order; conditions that need more have none.
const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Returns the letters of `count` conditions, of which the pairs in `differing` differ. Returns `None`
/// if more than 52 letters would be needed.
///
/// Starts with one letter for all. For each differing pair, every letter that both have is divided
/// into two; a letter whose conditions all share another one is dropped (insert and absorb; Piepho,
/// J. Comput. Graph. Stat. 13:456, 2004).
pub fn assign_letters(count: usize, differing: &[(usize, usize)]) -> Option<Vec<String>> {
    let mut columns: Vec<Vec<bool>> = vec![vec![true; count]];
    for (a, b) in differing {
        let (both, mut kept): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|it| it[*a] && it[*b]);
        let halves = both.iter().flat_map(|column| {
            [a, b].map(|left_out| {
                let mut half = column.clone();
                half[*left_out] = false;
                half
            })
        });
        for half in halves {
            if !kept.iter().any(|it| includes(it, &half)) {
                kept.retain(|it| !includes(&half, it));
                kept.push(half);
            }
        }
        if kept.len() > LETTERS.len() {
            return None;
        }
        columns = kept;
    }
    // The first condition has the first letter.
    columns.sort_by(|a, b| b.cmp(a));
    let of = |condition: usize| {
        let own = columns.iter().zip(LETTERS).filter(|(column, _)| column[condition]);
        own.map(|(_, letter)| char::from(*letter)).collect()
    };
    Some((0..count).map(of).collect())
}

/// Whether every condition of the second column is in the first.
fn includes(column: &[bool], other: &[bool]) -> bool {
    column.iter().zip(other).all(|(has, needed)| *has || !*needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn letters_of_known_cases() {
        for (count, differing, expected) in [
            (3, &[][..], "a a a"),
            (3, &[(0, 1), (0, 2), (1, 2)], "a b c"),
            (3, &[(0, 2)], "a ab b"),
            (4, &[(0, 2), (0, 3), (1, 3)], "a ab bc c"),
            (4, &[(0, 3), (1, 3), (2, 3)], "a a a b"),
            (1, &[], "a"),
            (0, &[], ""),
        ] {
            let found = assign_letters(count, differing).unwrap();
            assert_eq!(found.join(" "), expected, "{differing:?}");
        }
    }

    /// Two conditions share a letter exactly if they do not differ, for random pairs.
    #[test]
    fn letters_are_shared_exactly_by_equals() {
        let mut random = Random::new(1);
        for _ in 0..500 {
            let count = 2 + random.next_below(6);
            let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
            let differing: Vec<_> =
                pairs.clone().filter(|_| random.next_below(2) == 0).collect();
            let letters = assign_letters(count, &differing).unwrap();
            for (a, b) in pairs {
                let shares = letters[a].chars().any(|it| letters[b].contains(it));
                assert_eq!(shares, !differing.contains(&(a, b)), "{differing:?}: {letters:?}");
            }
        }
    }

    #[test]
    fn too_many_letters_are_none() {
        let pairs: Vec<_> = (0..20).map(|it| (2 * it, 2 * it + 1)).collect();
        assert_eq!(assign_letters(40, &pairs), None);
    }
}
