//! Application of a section's settings to the options of its job.
//!
//! Options are applied in fio's order: globals first, then the job's own.

use super::job_error::{FioJobError, FioJobErrorKind};
use super::jobfile::{FioSection, FioSetting};
use super::option::{self, OptionSupport, ValueKind};
use super::section_options::FioOptions;

impl FioOptions {
    /// Parses the settings of a section.
    ///
    /// # Errors
    /// A value that its option cannot have.
    pub fn from_section(section: &FioSection) -> Result<Self, FioJobError> {
        let mut job = Self::new(&section.name);
        let settings = || section.globals.iter().chain(&section.own);
        // The base applies to all other numbers, even before its own line.
        let (bases, others): (Vec<_>, Vec<_>) =
            settings().partition(|setting| setting.name == option::BASE);
        for setting in bases.into_iter().chain(others) {
            job.apply(setting).map_err(|why| invalid_value(setting, &why))?;
        }
        job.settle();
        Ok(job)
    }

    /// Applies one setting; an error describes the expected value.
    fn apply(&mut self, setting: &FioSetting) -> Result<(), String> {
        let apply = match setting.option.support {
            OptionSupport::Implemented(apply) => apply,
            OptionSupport::Ignored(why) => {
                if !self.ignored.contains(&(setting.name, why)) {
                    self.ignored.push((setting.name, why));
                }
                return Ok(());
            }
            // A value that changes nothing.
            OptionSupport::Rejected { .. } => return Ok(()),
        };
        let value = setting.value.as_deref();
        let text = match setting.option.value {
            ValueKind::Switch | ValueKind::Flag => value.unwrap_or("1"),
            ValueKind::OptionalText => value.unwrap_or_default(),
            ValueKind::Text => {
                value.filter(|text| !text.is_empty()).ok_or("a value is missing")?
            }
        };
        apply(self, text)
    }
}

fn invalid_value(setting: &FioSetting, why: &str) -> FioJobError {
    let kind = FioJobErrorKind::InvalidValue {
        name: setting.name.to_owned(),
        value: setting.value.clone().unwrap_or_default(),
        why: why.to_owned(),
    };
    FioJobError::new(setting.origin.clone(), kind)
}
