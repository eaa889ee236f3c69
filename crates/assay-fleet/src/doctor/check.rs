//! Row of the doctor's table, and the inputs of a check.

use assay_model::facts::{HostFacts, HostState};
use assay_model::finding::{CheckOutcome, DoctorFinding, FindingSeverity};
use assay_model::network_setup::NetworkSetup;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};

use crate::root::{Root, UnavailableFile};

/// Check of one setting. For the meaning of the texts see [`DoctorFinding`].
pub(super) struct DoctorCheck {
    pub(super) id: &'static str,
    pub(super) expected: &'static str,
    pub(super) why: &'static str,
    pub(super) source: &'static str,
    pub(super) severity: FindingSeverity,
    pub(super) change: &'static str,
    pub(super) observe: fn(&CheckInput) -> Result<CheckResult, CheckObstacle>,
}

pub(super) struct CheckResult {
    pub(super) as_expected: bool,
    pub(super) observed: Phrase,
    /// Command for this host, if the general one of the table is not specific enough.
    pub(super) change: Option<String>,
}

/// Reason why a check has no result.
pub(super) enum CheckObstacle {
    /// Hidden file or property: completes "… is not visible".
    Hidden(Phrase),
    /// Object that does not exist although it would be visible.
    Absent(Phrase),
    /// Reason why the file could not be read.
    Unreadable(Phrase),
}

pub(super) struct CheckInput<'a> {
    pub(super) root: &'a Root,
    pub(super) facts: &'a HostFacts,
    pub(super) state: &'a HostState,
    pub(super) network: &'a NetworkSetup,
}

impl DoctorCheck {
    pub(super) fn run(&self, input: &CheckInput) -> DoctorFinding {
        let mut change = None;
        let (outcome, observed) = match (self.observe)(input) {
            Ok(seen) => {
                change = seen.change;
                let is_ok = seen.as_expected;
                (if is_ok { CheckOutcome::Ok } else { CheckOutcome::Deviates }, seen.observed)
            }
            Err(CheckObstacle::Hidden(what)) => (CheckOutcome::NotVisible, input.hidden(what)),
            Err(CheckObstacle::Absent(said)) => (CheckOutcome::NotVisible, said),
            Err(CheckObstacle::Unreadable(reason)) => (CheckOutcome::Unreadable, reason),
        };
        DoctorFinding {
            id: self.id.to_owned(),
            outcome,
            observed: observed.to_string(),
            seen: Some(observed),
            expected: self.expected.to_owned(),
            why: self.why.to_owned(),
            source: self.source.to_owned(),
            severity: self.severity,
            change: change.unwrap_or_else(|| input.fill_in_device(self)),
        }
    }
}

impl CheckResult {
    pub(super) fn ok(observed: impl Into<Phrase>) -> Self {
        Self::from_verdict(true, observed)
    }

    pub(super) fn deviates(observed: impl Into<Phrase>) -> Self {
        Self::from_verdict(false, observed)
    }

    pub(super) fn from_verdict(as_expected: bool, observed: impl Into<Phrase>) -> Self {
        Self { as_expected, observed: observed.into(), change: None }
    }

    /// Combines the verdicts of several devices by name; hidden if none has the property `what`.
    pub(super) fn from_each(
        what: Phrase,
        reported: impl Iterator<Item = (Phrase, (bool, Phrase))>,
    ) -> Result<Self, CheckObstacle> {
        let (verdicts, texts): (Vec<bool>, Vec<Phrase>) =
            reported.map(|(name, (ok, text))| (ok, Phrase::list(" ", [name, text]))).unzip();
        if verdicts.is_empty() {
            return Err(CheckObstacle::hidden(what));
        }
        let is_good = verdicts.into_iter().all(|ok| ok);
        Ok(Self::from_verdict(is_good, Phrase::list(", ", texts)))
    }

    pub(super) fn with_change(self, change: String) -> Self {
        Self { change: Some(change), ..self }
    }
}

impl CheckObstacle {
    pub(super) fn hidden(what: impl Into<Phrase>) -> Self {
        Self::Hidden(what.into())
    }

    /// Reports a field of a file as hidden.
    pub(super) fn hidden_field(field: &str, file: &str) -> Self {
        Self::Hidden(phrase!("field-of", "{field} of {file}", field = field, file = file))
    }

    /// Reports that a file has unexpected content.
    pub(super) fn unexpected_content(file: &str, text: &str) -> Self {
        let text = format!("{text:?}");
        Self::Unreadable(phrase!("holds", "{file} holds {text}", file = file, text = text))
    }
}

impl CheckInput<'_> {
    /// Returns the change that a check recommends, with the device filled in if there is only one.
    fn fill_in_device(&self, check: &DoctorCheck) -> String {
        match self.network.devices.as_slice() {
            [only] if check.id.starts_with("network.") => {
                check.change.replace("DEVICE", &only.device)
            }
            _ => check.change.to_owned(),
        }
    }

    /// Reads the text of a file, or returns why it is unavailable.
    pub(super) fn text(&self, path: &str) -> Result<String, CheckObstacle> {
        self.root.read(path).map_err(|missing| match missing {
            UnavailableFile::NotVisible => CheckObstacle::hidden(format!("/{path}")),
            UnavailableFile::Unreadable(reason) => CheckObstacle::Unreadable(reason.into()),
        })
    }

    /// Reads the number in a file, or returns why it is unavailable.
    pub(super) fn number(&self, path: &str) -> Result<u64, CheckObstacle> {
        let text = self.text(path)?;
        text.parse().map_err(|_| CheckObstacle::unexpected_content(&format!("/{path}"), &text))
    }

    /// Returns whether all processes of the machine are visible: the kernel's second process
    /// (kthreadd) is not visible in a PID namespace of a container.
    pub(super) fn can_see_all_processes(&self) -> bool {
        self.root.text("proc/2/stat").is_some_and(|stat| stat.contains("(kthreadd)"))
    }

    fn hidden(&self, what: Phrase) -> Phrase {
        match self.facts.system.virtualization.as_deref() {
            Some(layer) => phrase!(
                "hidden-in-guest",
                "{what} is not visible in this guest or container ({layer})",
                what = what,
                layer = layer,
            ),
            None => {
                phrase!("hidden-on-host", "{what} is not visible on this host", what = what)
            }
        }
    }
}

/// Formats a number of bytes for people.
pub(super) fn size(bytes: u64) -> Phrase {
    Quantity::new(bytes as f64, Unit::Byte).into()
}

/// Formats an exact number of bytes.
pub(super) fn bytes(count: u64) -> Phrase {
    Phrase::exact_value(format!("{count} B"))
}

/// Joins names with a separator.
pub(super) fn list_names<'n>(
    between: &str,
    names: impl IntoIterator<Item = &'n (impl AsRef<str> + ?Sized + 'n)>,
) -> Phrase {
    Phrase::list(between, names.into_iter().map(|name| name.as_ref().into()))
}

/// Phrase for an empty result.
pub(super) fn none() -> Phrase {
    phrase!("none", "none")
}
