//! Text in buffers that the kernel and C libraries fill.

/// Returns the text up to the first NUL byte, or all of it: a name may fill its buffer.
pub(crate) fn text_until_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_at_the_first_nul_or_with_the_buffer() {
        let check = |bytes: &[u8], text| assert_eq!(text_until_nul(bytes), text, "{bytes:?}");
        check(b"cubic\0\0x", "cubic");
        check(b"full", "full");
        check(b"\0left over", "");
        check(b"", "");
        check(b"a\xffb\0", "a\u{fffd}b");
    }
}
