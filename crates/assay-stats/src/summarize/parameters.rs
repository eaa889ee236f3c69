//! What distinguishes and describes an estimate: what was asked, and what was learned on the way.

use assay_model::event::{Parameter, Parameters};
use assay_model::facts::HostFacts;
use assay_model::plan::Case;
use assay_model::run::CaseRecord;
use assay_model::summary::Tool;
use assay_model::workload::{StreamWorkload, Workload};

use super::Series;

mod mpi;
mod network;
mod storage;

/// The name under which an adapter tells the version of its tool; it becomes [`Tool::version`].
const TOOL_VERSION: &str = "tool_version";

/// The parameters of a series and who measured it.
///
/// What was learned wins over what was asked, because a tool may not do exactly what it is asked;
/// what was learned about the metric wins over what was learned about the case.
pub(super) fn describe(
    record: &CaseRecord,
    series: &Series<'_>,
    host: &HostFacts,
) -> (Parameters, Tool) {
    let mut parameters = asked(&record.case, series.placement);
    let about_case = record.learned.iter().filter(|learned| learned.metric.is_none());
    let about_metric = record
        .learned
        .iter()
        .filter(|learned| learned.metric.as_deref() == Some(series.metric.name));
    for learned in about_case.chain(about_metric) {
        parameters.insert(learned.name.clone(), learned.value.clone());
    }
    let name = record.case.by.clone();
    let told = parameters.remove(TOOL_VERSION).map(text);
    let version = told.or_else(|| host.versions.get(&name).cloned());
    (parameters, Tool { name, version })
}

fn text(parameter: Parameter) -> String {
    match parameter {
        Parameter::Text(text) => text,
        Parameter::Flag(flag) => flag.to_string(),
        Parameter::Integer(integer) => integer.to_string(),
        Parameter::Number(number) => number.to_string(),
    }
}

fn asked(case: &Case, placement: Option<&str>) -> Parameters {
    let integer = |value: usize| Parameter::Integer(value as u64);
    let named = |name: &str| Parameter::Text(name.to_owned());
    let list = match &case.workload {
        Workload::Stream(work) => stream(work, placement),
        Workload::Latency(work) => vec![
            ("bytes", Parameter::Integer(work.bytes)),
            ("cpu", Parameter::Integer(u64::from(work.cpu))),
        ],
        Workload::PeakFlops(work) => vec![
            ("placement", named(&work.domain.placement)),
            ("threads", integer(work.domain.cpus.len())),
            ("instruction_set", named(&work.instruction_set)),
        ],
        Workload::Linpack(work) => {
            // Which library a tool multiplies with, only the tool can tell.
            let own = (case.by == "assay").then_some("assay");
            let blas = work.blas.as_deref().or(own).map(|blas| ("blas", named(blas)));
            let mut list =
                vec![("n", Parameter::Integer(work.n)), ("threads", integer(work.cpus.len()))];
            list.extend(blas);
            list
        }
        Workload::NetworkTcp(work)
        | Workload::NetworkUdp(work)
        | Workload::NetworkIcmp(work) => network::asked(work, placement),
        Workload::Mpi(work) => mpi::asked(work, placement),
        Workload::Storage(test) => storage::asked(test),
    };
    list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A sample names its domain when several run at once; otherwise it is about all of them.
fn stream(work: &StreamWorkload, placement: Option<&str>) -> Vec<(&'static str, Parameter)> {
    let chosen = work.domains.iter().filter(|d| placement.is_none_or(|p| p == d.placement));
    let threads: usize = chosen.map(|domain| domain.cpus.len()).sum();
    let all = || {
        let names: Vec<&str> = work.domains.iter().map(|d| d.placement.as_str()).collect();
        names.join("+")
    };
    let mut list = vec![
        ("placement", Parameter::Text(placement.map_or_else(all, str::to_owned))),
        ("threads", Parameter::Integer(threads as u64)),
        ("bytes_per_array", Parameter::Integer(work.bytes_per_array)),
    ];
    if placement.is_some() && work.domains.len() > 1 {
        list.push(("concurrent", Parameter::Integer(work.domains.len() as u64)));
    }
    list
}
