//! Import of figures with their own units: `ReFrame`'s performance logs and reports, and Phoronix's XML.

use super::{ImportFormat, format};

mod phoronix;
mod reframe;
mod reframe_json;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format(
        "phoronix-xml",
        "phoronix",
        "Phoronix Test Suite, composite.xml",
        phoronix::is_phoronix,
        phoronix::read_phoronix,
    )
    .with_others()
    .with_contents("every entry", "copies of an entry"),
    format(
        "reframe-json",
        "reframe",
        "ReFrame's JSON report (--report-file), of versions 3.1 to 4.10",
        reframe_json::is_reframe_json,
        reframe_json::read,
    )
    .with_others()
    .with_contents(
        "every performance variable of the tests that passed",
        "failed and skipped tests, with ReFrame's reason",
    ),
    format(
        "reframe",
        "reframe",
        "ReFrame's performance log, of versions 2 to 4",
        reframe::is_reframe,
        reframe::read_reframe,
    )
    .with_others()
    .with_contents("every performance variable, by its variant", "rows with `result=fail`"),
];
