//! fio's hash of the name of a file, from which it seeds the distribution of random offsets.

/// Returns fio's hash of a file's name: lookup3 of Bob Jenkins (2006), with one byte of each word
/// of all but the last block.
pub(super) fn hash_name(name: &[u8]) -> u32 {
    const BLOCK_BYTES: usize = 12;
    let start = 0x61c8_8647_u32.wrapping_add(name.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = name;
    while let [first, _, _, _, second, _, _, _, third, ..] = rest
        && rest.len() > BLOCK_BYTES
    {
        a = a.wrapping_add((*first).into());
        b = b.wrapping_add((*second).into());
        c = c.wrapping_add((*third).into());
        (a, b, c) = mix(a, b, c);
        rest = &rest[BLOCK_BYTES..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; BLOCK_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    let word =
        |at: usize| u32::from_le_bytes([last[at], last[at + 1], last[at + 2], last[at + 3]]);
    finish(a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)))
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for turns in [[4, 6, 8], [16, 19, 4]] {
        a = a.wrapping_sub(c) ^ c.rotate_left(turns[0]);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(turns[1]);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(turns[2]);
        b = b.wrapping_add(a);
    }
    (a, b, c)
}

const fn finish(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}
