//! Tests of concatenated storage.

use assay_model::workload::storage::TargetRotation;

use super::*;

fn file(workloads: &str, run: &str) -> String {
    format!(
        "concatenatesds=yes\nsd=default,openflags=o_direct\nsd=sd1,lun=/a,size=1g\n\
         sd=sd2,lun=/b,size=3g\n{workloads}\nrd=rd1,wd=*,iorate=max,elapsed=10,interval=1{run}"
    )
}

#[test]
fn concatenated_storage_has_one_number_of_threads() {
    let in_order = Some(TargetRotation::InOrder);
    let table = [
        (
            "wd=wd1,sd=*,threads=6",
            "",
            [("wd1", 6, Some(TargetRotation::BySize))].as_slice(),
            6.0,
        ),
        ("wd=wd1,sd=*,seekpct=0,threads=6", "", &[("wd1", 6, in_order)], 6.0),
        ("wd=wd1,sd=*,seekpct=eof,threads=6", ",threads=4", &[("wd1", 4, in_order)], 4.0),
        (
            "wd=wd1,sd=*,skew=75\nwd=wd2,sd=sd*,seekpct=seq",
            ",forthreads=8",
            &[("wd1", 6, Some(TargetRotation::BySize)), ("wd2", 2, in_order)],
            8.0,
        ),
    ];
    for (workloads, run, expected, threads) in table {
        let execution = compile_valid(&file(workloads, run));
        let workload = &execution.plan.phases[0].workload;
        let streams: Vec<_> = workload
            .streams
            .iter()
            .map(|it| (it.name.as_str(), it.in_flight_per_target, it.conduct.turns))
            .collect();
        assert_eq!(streams, expected, "{workloads}{run}");
        assert!(workload.streams.iter().all(|it| it.targets == [0, 1] && it.threads == 1));
        let run = &execution.runs[0];
        assert_eq!(run.parameters.threads, Some(threads), "{workloads}");
        assert_eq!(run.resources.outstanding, threads as u64);
        assert_eq!(run.parameters.storage_bytes, 4 << 30);
    }
}

#[test]
fn rejects_options_excluded_by_concatenation() {
    let table = [
        ("wd=wd1,sd=*", "", "V166 5:4"),
        ("wd=wd1,sd=*,threads=2,seekpct=50", "", "V114 5:4"),
        ("wd=wd1,sd=*,threads=2,hotband=(1,2)", "", "V114 5:4"),
        ("wd=wd1,sd=*,threads=2,rhpct=10", "", "V114 5:4"),
        ("sd=sd3,lun=/c,size=1g,range=(1,2)\nwd=wd1,sd=*,threads=2", "", "V114 6:4"),
        ("wd=wd1,sd=*,threads=0", "", "V123 5:13"),
    ];
    for (workloads, run, expected) in table {
        let found = compile_text(&file(workloads, run)).unwrap_err();
        let error = found.iter().find(|it| it.severity == DiagnosticSeverity::Error).unwrap();
        let place = error.location.as_ref().unwrap();
        assert_eq!(
            format!("{} {}:{}", error.code, place.line, place.column),
            expected,
            "{workloads}"
        );
    }
    let separate = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=*,threads=2\n\
                 rd=rd1,wd=*,iorate=max,elapsed=10,interval=1";
    assert_eq!(
        compile_text(separate).unwrap_err()[0].code,
        "V166",
        "threads belong to storage otherwise"
    );
}
