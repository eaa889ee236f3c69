//! Labels of a result in databases of time series: what distinguishes it from other results of the
//! same run, and stays the same from run to run.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Role, identity_attributes};

use super::results::ResultRow;
use crate::render::csv;

/// Returns names and values, sorted by name. Facts, rates derived from an earlier measurement and
/// the run itself are left out: they would make a new series of every run.
pub(super) fn series_labels(row: &ResultRow<'_>) -> BTreeMap<&'static str, String> {
    let (header, estimate) = (&row.run.summary.run, row.estimate);
    let parameters = &estimate.parameters;
    let identity = identity_attributes(parameters);
    let is_stable = |name: &Attribute| match name.row().role {
        Role::Identity => true,
        Role::Dimension => {
            *name != Attribute::Host
                && (*name != Attribute::RequestedRate || identity.contains_key(name))
        }
        Role::Part | Role::Fact => false,
    };
    let conditions = parameters.iter().filter(|(name, _)| is_stable(name));
    let mut labels: BTreeMap<&'static str, String> =
        conditions.map(|(name, value)| (name.name(), csv::attribute_text(value))).collect();
    labels.extend([
        ("case", estimate.case.clone()),
        ("host", estimate.host.clone()),
        ("suite", header.suite.clone()),
        ("tool", estimate.tool.name.clone()),
    ]);
    labels.extend(header.label.clone().map(|label| ("label", label)));
    labels.retain(|_, value| !value.is_empty());
    labels
}
