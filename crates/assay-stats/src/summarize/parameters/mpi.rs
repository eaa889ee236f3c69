//! What was asked of MPI.

use assay_model::event::Parameter;
use assay_model::workload::MpiWorkload;

/// The parameters of one series; `bytes` tells which size it is about, as a case measures them all.
pub(super) fn asked(work: &MpiWorkload, bytes: Option<&str>) -> Vec<(&'static str, Parameter)> {
    let named = |name: &str| Parameter::Text(name.to_owned());
    let mut list = vec![
        ("mpi", named(&work.mpi.label())),
        ("prefix", named(&work.mpi.prefix)),
        ("abi", named(work.mpi.abi.name())),
        ("ranks", Parameter::Integer(u64::from(work.ranks))),
        ("placement", named(&work.placement.placement)),
    ];
    let bytes = bytes.and_then(|text| text.parse().ok());
    list.extend(bytes.map(|bytes| ("bytes", Parameter::Integer(bytes))));
    if !work.preset.is_assay() {
        list.push(("preset", named(work.preset.name())));
    }
    let hosts = [("hosts", &work.hosts.list), ("hostfile", &work.hosts.file)];
    list.extend(
        hosts.into_iter().filter_map(|(name, value)| Some((name, named(value.as_ref()?)))),
    );
    list
}
