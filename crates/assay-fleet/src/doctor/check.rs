//! One row of the doctor's table, and what it may look at.

use assay_model::facts::{HostFacts, HostState};
use assay_model::finding::{Finding, Outcome, Severity};
use assay_model::network_setup::NetworkSetup;
use assay_model::quantity::{Quantity, Unit};

use crate::root::{Missing, Root};

/// One check. All texts are for people; see [`Finding`] for what each means.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) expected: &'static str,
    pub(super) why: &'static str,
    pub(super) source: &'static str,
    pub(super) severity: Severity,
    pub(super) change: &'static str,
    pub(super) look: fn(&Scene) -> Result<Seen, Unseen>,
}

/// What a look saw.
pub(super) struct Seen {
    pub(super) as_expected: bool,
    pub(super) observed: String,
}

/// Why a look saw nothing.
pub(super) enum Unseen {
    /// What is not visible: completes "… is not visible".
    Hidden(String),
    /// The reason for which it could not be read.
    Unreadable(String),
}

/// The host as the checks see it.
pub(super) struct Scene<'a> {
    pub(super) root: &'a Root,
    pub(super) facts: &'a HostFacts,
    pub(super) state: &'a HostState,
    pub(super) network: &'a NetworkSetup,
}

impl Check {
    pub(super) fn carry_out(&self, scene: &Scene) -> Finding {
        let (outcome, observed) = match (self.look)(scene) {
            Ok(Seen { as_expected: true, observed }) => (Outcome::Ok, observed),
            Ok(Seen { as_expected: false, observed }) => (Outcome::Deviates, observed),
            Err(Unseen::Hidden(what)) => {
                (Outcome::NotVisible, format!("{what} is not visible {}", scene.place()))
            }
            Err(Unseen::Unreadable(reason)) => (Outcome::Unreadable, reason),
        };
        Finding {
            id: self.id.to_owned(),
            outcome,
            observed,
            expected: self.expected.to_owned(),
            why: self.why.to_owned(),
            source: self.source.to_owned(),
            severity: self.severity,
            change: self.change.to_owned(),
        }
    }
}

impl Seen {
    pub(super) fn ok(observed: impl Into<String>) -> Self {
        Self::judged(true, observed)
    }

    pub(super) fn deviates(observed: impl Into<String>) -> Self {
        Self::judged(false, observed)
    }

    pub(super) fn judged(as_expected: bool, observed: impl Into<String>) -> Self {
        Self { as_expected, observed: observed.into() }
    }
}

impl Unseen {
    pub(super) fn hidden(what: impl Into<String>) -> Self {
        Self::Hidden(what.into())
    }
}

impl Scene<'_> {
    /// The text of a file, or why there is none.
    pub(super) fn text(&self, path: &str) -> Result<String, Unseen> {
        self.root.read(path).map_err(|missing| match missing {
            Missing::NotVisible => Unseen::Hidden(format!("/{path}")),
            Missing::Unreadable(reason) => Unseen::Unreadable(reason),
        })
    }

    /// The number that a file holds, or why there is none.
    pub(super) fn number(&self, path: &str) -> Result<u64, Unseen> {
        let text = self.text(path)?;
        text.parse()
            .map_err(|_| Unseen::Unreadable(format!("/{path} holds no number: {text:?}")))
    }

    /// Whether all processes of the machine are visible: the kernel's own second process is. In a
    /// container with process numbers of its own it is not.
    pub(super) fn sees_all_processes(&self) -> bool {
        self.root.text("proc/2/stat").is_some_and(|stat| stat.contains("(kthreadd)"))
    }

    fn place(&self) -> String {
        match &self.facts.system.virtualization {
            Some(name) => format!("in this guest or container ({name})"),
            None => "on this host".to_owned(),
        }
    }
}

/// A number of bytes for people.
pub(super) fn size(bytes: u64) -> String {
    format!("{:.3}", Quantity::new(bytes as f64, Unit::Byte))
}
