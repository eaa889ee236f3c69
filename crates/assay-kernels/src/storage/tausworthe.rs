//! Tausworthe generators of fio: the same seed gives the same draws.
//!
//! Combined generators of three 32-bit components (taus88) and five 64-bit ones (taus258), L'Ecuyer,
//! Mathematics of Computation 65 and 68 (1996, 1999). Not for secrets.

/// Generator with 32 or 64 bits.
#[derive(Debug, Clone)]
pub(super) enum Tausworthe {
    Narrow([u32; 3]),
    Wide([u64; 5]),
}

/// Shifts of a component: s ← ((s & mask) << left) ^ (((s << first) ^ s) >> second), and the least
/// valid state.
struct Component<T> {
    first: u32,
    second: u32,
    left: u32,
    least: T,
}

const NARROW: [Component<u32>; 3] = [
    Component { first: 13, second: 19, left: 12, least: 1 },
    Component { first: 2, second: 25, left: 4, least: 7 },
    Component { first: 3, second: 11, left: 17, least: 15 },
];
/// Masks of the 64-bit components clear 1, 9, 12, 17 and 23 bits.
const WIDE: [(Component<u64>, u32); 5] = [
    (Component { first: 1, second: 53, left: 10, least: 1 }, 1),
    (Component { first: 24, second: 50, left: 5, least: 7 }, 9),
    (Component { first: 3, second: 23, left: 29, least: 15 }, 12),
    (Component { first: 5, second: 24, left: 23, least: 33 }, 17),
    (Component { first: 3, second: 33, left: 8, least: 49 }, 23),
];
/// Start of fio's seeding, and the draws that it throws away.
const FIRST_STATE: u32 = 53;
const WARM_UP_DRAWS: usize = 6;

impl Tausworthe {
    /// Creates the generator of a seed; one with 32 bits uses the low half of it.
    pub(super) fn new(seed: u64, is_wide: bool) -> Self {
        let mut all = if is_wide { Self::Wide(wide_state(seed)) } else { Self::narrow(seed) };
        for _ in 0..WARM_UP_DRAWS {
            all.next_word();
        }
        all
    }

    fn narrow(seed: u64) -> Self {
        let mut before = FIRST_STATE;
        Self::Narrow(NARROW.map(|part| {
            let drawn = before.wrapping_mul(69_069) ^ seed as u32;
            before = if drawn < part.least { drawn + part.least } else { drawn };
            before
        }))
    }

    /// Returns the next word.
    pub(super) fn next_word(&mut self) -> u64 {
        match self {
            Self::Narrow(state) => {
                for (s, part) in state.iter_mut().zip(&NARROW) {
                    let mask = !part.least;
                    *s =
                        ((*s & mask) << part.left) ^ (((*s << part.first) ^ *s) >> part.second);
                }
                state.iter().fold(0, |sum, s| sum ^ s).into()
            }
            Self::Wide(state) => {
                for (s, (part, cleared)) in state.iter_mut().zip(&WIDE) {
                    let mask = u64::MAX << cleared;
                    *s =
                        ((*s & mask) << part.left) ^ (((*s << part.first) ^ *s) >> part.second);
                }
                state.iter().fold(0, |sum, s| sum ^ s)
            }
        }
    }

    /// Returns a number in [0, 1).
    pub(super) fn next_share(&mut self) -> f64 {
        let range = match self {
            Self::Narrow(_) => 4_294_967_296.0,
            Self::Wide(_) => 18_446_744_073_709_551_616.0,
        };
        self.next_word() as f64 / range
    }

    /// Returns the largest word.
    pub(super) const fn max_word(&self) -> u64 {
        match self {
            Self::Narrow(_) => u32::MAX as u64,
            Self::Wide(_) => u64::MAX,
        }
    }
}

fn wide_state(seed: u64) -> [u64; 5] {
    let mut before = u64::from(FIRST_STATE);
    WIDE.map(|(part, _)| {
        let drawn = before.wrapping_mul(6_906_969_069) ^ seed;
        before = if drawn < part.least { drawn + part.least } else { drawn };
        before
    })
}
