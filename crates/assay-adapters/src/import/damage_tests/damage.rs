//! Kinds of damage, each with the law that the account of a damaged file keeps.

/// Effect of a damage on the figures of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The account stays the same.
    None,
    /// Figures may occur twice.
    Repeats,
    /// Figures may be missing.
    Damages,
    /// Figures may be missing, or come from the other file.
    Mixes,
}

/// Damaged copies of a file, each with the place of its damage.
type DamagedCopies = Vec<(usize, Vec<u8>)>;

/// Kind of damage.
pub(super) struct Damage {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    /// Damages a file at several places. The second file belongs to the same tool.
    pub(super) apply: fn(&[u8], &[u8]) -> DamagedCopies,
}

const fn damage(
    name: &'static str,
    effect: Effect,
    apply: fn(&[u8], &[u8]) -> DamagedCopies,
) -> Damage {
    Damage { name, effect, apply }
}

pub(super) const DAMAGES: &[Damage] = &[
    damage("cut behind line", Effect::Damages, cut_lines),
    damage("cut behind byte", Effect::Damages, cut_bytes),
    damage("doubled", Effect::Repeats, double),
    damage("interleaved with itself", Effect::Damages, |file, _| interleave(file, file)),
    damage("interleaved with another", Effect::Mixes, interleave),
    damage("lines of Windows", Effect::None, |file, _| {
        vec![(0, encode(file, |text| text.replace('\n', "\r\n").into_bytes()))]
    }),
    damage("UTF-16", Effect::None, |file, _| {
        let encodings = [(true, false), (false, false), (true, true), (false, true)];
        (0..).zip(encodings.map(|kind| encode(file, |text| encode_utf16(text, kind)))).collect()
    }),
    damage("NUL at", Effect::Damages, |file, _| insert(file, 0)),
    damage("Latin-1 behind line", Effect::Damages, insert_lines),
];

/// Maximum number of places of one kind of damage in a file.
const PLACES: usize = 48;

/// Returns at most [`PLACES`] numbers below `count`, evenly spaced, with the last one.
fn choose_places(count: usize) -> impl Iterator<Item = usize> {
    let chosen = count.min(PLACES);
    (1..=chosen).map(move |at| (at * count).div_ceil(chosen) - 1)
}

fn split_lines(file: &[u8]) -> Vec<&[u8]> {
    file.split_inclusive(|byte| *byte == b'\n').collect()
}

fn cut_lines(file: &[u8], _: &[u8]) -> DamagedCopies {
    let lines = split_lines(file);
    choose_places(lines.len()).map(|at| (at, lines[..at].concat())).collect()
}

fn cut_bytes(file: &[u8], _: &[u8]) -> DamagedCopies {
    choose_places(file.len()).map(|at| (at, file[..at].to_vec())).collect()
}

/// Puts a line of Latin-1 in, as a batch system prints it.
fn insert_lines(file: &[u8], _: &[u8]) -> DamagedCopies {
    let lines = split_lines(file);
    choose_places(lines.len())
        .map(|at| {
            (
                at,
                [&lines[..at].concat(), &b"Ger\xe4t \xb5s\n"[..], &lines[at..].concat()]
                    .concat(),
            )
        })
        .collect()
}

fn double(file: &[u8], _: &[u8]) -> DamagedCopies {
    let gap: &[u8] = if file.ends_with(b"\n") { b"" } else { b"\n" };
    vec![(0, [file, gap, file].concat())]
}

/// Merges two files line by line, as two ranks print into one.
fn interleave(file: &[u8], other: &[u8]) -> DamagedCopies {
    let (ours, theirs) = (split_lines(file), split_lines(other));
    let mut merged = Vec::new();
    for at in 0..ours.len().max(theirs.len()) {
        for line in [ours.get(at), theirs.get(at)].into_iter().flatten() {
            merged.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            merged.push(b'\n');
        }
    }
    vec![(0, merged)]
}

/// Puts a byte in at several places.
fn insert(file: &[u8], byte: u8) -> DamagedCopies {
    let put = |at: usize| (at, [&file[..at], &[byte], &file[at..]].concat());
    choose_places(file.len()).map(put).collect()
}

fn encode(file: &[u8], encode: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(file);
    encode(&text.replace("\r\n", "\n"))
}

/// Encodes a text in the byte order of Windows, or the other one; with or without its mark.
fn encode_utf16(text: &str, (is_little, has_mark): (bool, bool)) -> Vec<u8> {
    let mark = has_mark.then_some(0xfeff);
    let units = mark.into_iter().chain(text.encode_utf16());
    let bytes = units.flat_map(|unit| match is_little {
        true => unit.to_le_bytes(),
        false => unit.to_be_bytes(),
    });
    bytes.collect()
}
