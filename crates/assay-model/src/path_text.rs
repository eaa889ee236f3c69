//! Lossless storage of paths: as text, or as bytes if the name is not UTF-8. Linux allows any bytes
//! except `/` and NUL.
//!
//! For names inside a text, such as arguments of a tool, [`encode`] encodes any name as text and
//! [`decode_path`] decodes it.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// Offset of the characters that encode non-UTF-8 bytes: the private range U+EF80 to U+EFFF, as in
/// `MirBSD`'s OPTU.
const BYTE_BASE: u32 = 0xEF00;

/// Whether a character encodes a non-UTF-8 byte.
pub const fn is_encoded_byte(c: char) -> bool {
    matches!(c, '\u{ef80}'..='\u{efff}')
}

/// Encodes a name as text: each non-UTF-8 byte becomes a private character, which [`decode_path`]
/// decodes.
pub fn encode(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    let byte = |byte: &u8| char::from_u32(BYTE_BASE + u32::from(*byte)).unwrap_or_default();
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match is_encoded_byte(c) {
                // A name may contain such a character itself.
                true => text.extend(c.encode_utf8(&mut [0; 4]).as_bytes().iter().map(byte)),
                false => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().map(byte));
    }
    text
}

/// Decodes a text of [`encode`] to bytes.
pub fn decode_bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(is_encoded_byte) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match is_encoded_byte(c) {
            true => bytes.push((u32::from(c) - BYTE_BASE) as u8),
            false => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Decodes a text of [`encode`] to a word.
pub fn decode_word(text: &str) -> OsString {
    OsString::from_vec(decode_bytes(text).into_owned())
}

/// Decodes a text of [`encode`] to a path.
pub fn decode_path(text: &str) -> PathBuf {
    decode_word(text).into()
}

/// `#[serde(with)]` module for a list of paths, each as text.
pub mod each {
    use super::{Deserialize, Deserializer, PathBuf, Serializer};

    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| super::encode(path.as_os_str())))
    }

    /// # Errors
    /// If the input is not a list of texts.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        Ok(texts.iter().map(|text| super::decode_path(text)).collect())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredPath {
    Text(String),
    Bytes(Vec<u8>),
}

/// For `#[serde(with)]`.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.collect_seq(path.as_os_str().as_bytes()),
    }
}

/// For `#[serde(with)]`.
///
/// # Errors
/// If the input is neither text nor bytes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match StoredPath::deserialize(deserializer)? {
        StoredPath::Text(text) => PathBuf::from(text),
        StoredPath::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] PathBuf);

    #[test]
    fn paths_round_trip() {
        for (name, stored) in [
            (&b"/data/x"[..], "\"/data/x\""),
            ("/ö/[1,2]".as_bytes(), "\"/ö/[1,2]\""),
            (b"/x\xff", "[47,120,255]"),
        ] {
            let path = Holder(PathBuf::from(OsString::from_vec(name.to_vec())));
            assert_eq!(serde_json::to_string(&path).unwrap(), stored);
            assert_eq!(serde_json::from_str::<Holder>(stored).unwrap(), path);
        }
        assert!(serde_json::from_str::<Holder>("[256]").is_err(), "no byte");
    }

    #[test]
    fn encoded_names_round_trip() {
        for (name, expected) in [
            (&b"/data/x"[..], "/data/x"),
            ("/ö/日本".as_bytes(), "/ö/日本"),
            (b"x\xff.fio", "x\u{efff}.fio"),
            (b"\xc3", "\u{efc3}"),
            // The character itself is three bytes, each of which is encoded.
            ("\u{efff}".as_bytes(), "\u{efee}\u{efbf}\u{efbf}"),
        ] {
            let made = encode(OsStr::from_bytes(name));
            assert_eq!(made, expected);
            assert_eq!(decode_word(&made).as_bytes(), name);
        }
    }
}
