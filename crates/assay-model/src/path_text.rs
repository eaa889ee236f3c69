//! Paths as they are stored: a text, or the bytes of a name that is none. Linux takes any bytes but `/` and zero.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Bytes(Vec<u8>),
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.collect_seq(path.as_os_str().as_bytes()),
    }
}

/// For `#[serde(with)]`.
///
/// # Errors
/// What is neither a text nor bytes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Text(text) => PathBuf::from(text),
        Stored::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] PathBuf);

    #[test]
    fn any_name_comes_back_as_it_was() {
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
}
