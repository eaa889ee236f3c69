//! Mutations of an input: bytes, numbers, words, lines, and parts of another input.

use std::ops::Range;

use fastrand::Rng;

use crate::corpus::MAX_INPUT_BYTES;

/// Limits of number types, and other numbers that are easily misread.
const NUMBERS: [&str; 34] = [
    "0",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "100000",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "1e18",
    "1e19",
    "1e308",
    "1e-308",
    "1e999",
    "-0.0",
    "0.1",
    "nan",
    "inf",
    "1/0",
    "99999999999999999999999",
    "16384P",
    "8191T",
];

/// Text fragments with a special meaning in one of the formats.
const FRAGMENTS: [&str; 24] = [
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "=",
    ",",
    ":",
    "-",
    "--",
    "%",
    "\"",
    "'",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\0",
    "\u{1b}[31m",
    "\u{202e}",
    "é",
    "$",
    "#",
];

/// Words of all seeds of a reader.
#[derive(Debug, Clone)]
pub struct Dictionary(Vec<Vec<u8>>);

impl Dictionary {
    /// Splits the seeds into words.
    pub fn from_seeds(seeds: &[Vec<u8>]) -> Self {
        const MAX_WORDS: usize = 20_000;
        let words = seeds.iter().flat_map(|seed| {
            seed.split(|byte| !byte.is_ascii_alphanumeric() && !b"_-.$".contains(byte))
        });
        let mut words: Vec<Vec<u8>> =
            words.filter(|word| (2..40).contains(&word.len())).map(<[u8]>::to_vec).collect();
        words.sort();
        words.dedup();
        words.truncate(MAX_WORDS);
        Self(words)
    }

    /// Returns a number, a fragment, or half of the time a word of the seeds.
    fn random_word<'a>(&'a self, random: &mut Rng) -> &'a [u8] {
        let word_count = self.0.len();
        match random.u8(..4) {
            0 => NUMBERS[random.usize(..NUMBERS.len())].as_bytes(),
            1 => FRAGMENTS[random.usize(..FRAGMENTS.len())].as_bytes(),
            _ if word_count == 0 => b"x",
            _ => &self.0[random.usize(..word_count)],
        }
    }
}

/// Mutates `input` one to eight times; `other` provides parts to insert.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], dictionary: &Dictionary, random: &mut Rng) {
    let changes = 1 << random.u32(..4);
    for _ in 0..random.u32(1..=changes) {
        apply_mutation(input, other, dictionary, random);
        input.truncate(MAX_INPUT_BYTES);
    }
}

/// Applies one random mutation.
fn apply_mutation(
    input: &mut Vec<u8>,
    other: &[u8],
    dictionary: &Dictionary,
    random: &mut Rng,
) {
    let position = random.usize(..=input.len());
    match random.u8(..12) {
        0 if position < input.len() => input[position] ^= 1 << random.u8(..8),
        1 if position < input.len() => input[position] = random.u8(..),
        2 => drop(input.splice(position..position, [random.u8(..)])),
        3 => drop(input.drain(random_range(position, input.len(), random))),
        4 => {
            let copied = input[random_range(position, input.len(), random)].to_vec();
            let to = random.usize(..=input.len());
            drop(input.splice(to..to, copied));
        }
        5 => drop(
            input.splice(position..position, dictionary.random_word(random).iter().copied()),
        ),
        6 => {
            let range =
                matching_range(input, position, |byte| byte.is_ascii_digit() || byte == b'.');
            let number = NUMBERS[random.usize(..NUMBERS.len())];
            drop(input.splice(range, number.bytes()));
        }
        7 => {
            let range = matching_range(input, position, |byte| byte.is_ascii_alphanumeric());
            drop(input.splice(range, dictionary.random_word(random).iter().copied()));
        }
        8 => drop(input.drain(matching_range(input, position, |byte| byte != b'\n'))),
        9 => {
            let line = matching_range(input, position, |byte| byte != b'\n');
            let copied = [&input[line.clone()], b"\n"].concat().repeat(random.usize(1..4));
            drop(input.splice(line.start..line.start, copied));
        }
        10 if !other.is_empty() => {
            let from = random_range(random.usize(..other.len()), other.len(), random);
            drop(input.splice(position..position, other[from].iter().copied()));
        }
        11 if !other.is_empty() => {
            input.truncate(position);
            input.extend_from_slice(&other[random.usize(..other.len())..]);
        }
        _ => input.truncate(position),
    }
}

/// Returns a random range from `start`, more often short than long.
fn random_range(start: usize, length: usize, random: &mut Rng) -> Range<usize> {
    let maximum = 1 << random.u32(..12);
    start..(start + random.usize(..=maximum)).min(length)
}

/// Returns the longest range around `position` whose bytes all match.
fn matching_range(input: &[u8], position: usize, matches: impl Fn(u8) -> bool) -> Range<usize> {
    let start = input[..position]
        .iter()
        .rposition(|byte| !matches(*byte))
        .map_or(0, |before| before + 1);
    let end = input[position..]
        .iter()
        .position(|byte| !matches(*byte))
        .map_or(input.len(), |length| position + length);
    start..end
}
