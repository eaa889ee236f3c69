//! One reader of external input, named by the environment variable `ASSAY_FUZZ_READER`.

#![no_main]

use std::sync::LazyLock;

use assay_fuzz::readers::{FuzzedReader, READERS};
use libfuzzer_sys::fuzz_target;

static READER: LazyLock<&FuzzedReader> = LazyLock::new(|| {
    let name = std::env::var("ASSAY_FUZZ_READER").expect("ASSAY_FUZZ_READER names a reader");
    READERS.iter().find(|reader| reader.name == name).expect("the reader has a row in READERS")
});

fuzz_target!(|input: &[u8]| {
    (READER.read)(input);
});
