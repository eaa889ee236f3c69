//! Directives: options by their names, in `-O` and in scripts.

use super::option::{IOR, OPTIONS, parse_count};
use super::options::{IorOptions, IorOptionsError};
use crate::option::words::WordOptions as _;
use crate::option::{OptionSupport, ValueKind, WordError};
use assay_model::spelling::nearest_word;

/// Applies `name=value`.
pub(super) fn apply(options: &mut IorOptions, text: &str) -> Result<(), IorOptionsError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let (name, value) = (name.trim(), value.trim());
    let invalid = |name: &str, value: &str, why| WordError::InvalidValue {
        name: name.to_owned(),
        value: value.to_owned(),
        why,
    };
    if name.is_empty() {
        return Err(invalid("-O", text, "it must be NAME=VALUE, like blockSize=4m").into());
    }
    let is_directive = |known: &&str| !known.starts_with('-');
    let is_named = |known: &&str| is_directive(known) && known.eq_ignore_ascii_case(name);
    let Some(row) = OPTIONS.iter().find(|row| row.spellings().any(|it| is_named(&it))) else {
        let all = OPTIONS.iter().flat_map(|row| row.spellings());
        let near = nearest_word(name, all.filter(is_directive));
        let (tool, name) = (IorOptions::NAME, name.to_owned());
        return Err(WordError::Unknown { tool, name, near }.into());
    };
    if let Some(refusal) = row.find_refusal(&IOR, text, Some(value)) {
        return Err(WordError::Unsupported(refusal).into());
    }
    let applied = match row.support {
        OptionSupport::Implemented(apply) => apply(options, Some(value)),
        OptionSupport::Ignored(why) => {
            let is_off = row.value == ValueKind::Switch && parse_count(value) == Ok(0);
            if !is_off {
                options.note_once(format!("{name} has no effect: {why}"));
            }
            Ok(())
        }
        OptionSupport::Rejected { .. } => Ok(()),
    };
    applied.map_err(|why| invalid(name, value, why).into())
}
