//! Tests of concatenated storage.

use assay_model::workload::storage::Turns;

use super::*;

fn file(workloads: &str, run: &str) -> String {
    format!(
        "concatenatesds=yes\nsd=default,openflags=o_direct\nsd=sd1,lun=/a,size=1g\n\
         sd=sd2,lun=/b,size=3g\n{workloads}\nrd=rd1,wd=*,iorate=max,elapsed=10,interval=1{run}"
    )
}

#[test]
fn all_storage_of_a_workload_is_one_with_one_number_of_threads() {
    let in_order = Some(Turns::InOrder);
    let table = [
        ("wd=wd1,sd=*,threads=6", "", [("wd1", 6, Some(Turns::BySize))].as_slice(), 6.0),
        ("wd=wd1,sd=*,seekpct=0,threads=6", "", &[("wd1", 6, in_order)], 6.0),
        ("wd=wd1,sd=*,seekpct=eof,threads=6", ",threads=4", &[("wd1", 4, in_order)], 4.0),
        (
            "wd=wd1,sd=*,skew=75\nwd=wd2,sd=sd*,seekpct=seq",
            ",forthreads=8",
            &[("wd1", 6, Some(Turns::BySize)), ("wd2", 2, in_order)],
            8.0,
        ),
    ];
    for (workloads, run, expected, threads) in table {
        let execution = fine(&file(workloads, run));
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
        assert_eq!(run.used.outstanding, threads as u64);
        assert_eq!(run.parameters.storage_bytes, 4 << 30);
    }
}

#[test]
fn what_joined_storage_cannot_do_is_refused() {
    let table = [
        ("wd=wd1,sd=*", "", "V166 5:4"),
        ("wd=wd1,sd=*,threads=2,seekpct=50", "", "V114 5:4"),
        ("wd=wd1,sd=*,threads=2,hotband=(1,2)", "", "V114 5:4"),
        ("wd=wd1,sd=*,threads=2,rhpct=10", "", "V114 5:4"),
        ("sd=sd3,lun=/c,size=1g,range=(1,2)\nwd=wd1,sd=*,threads=2", "", "V114 6:4"),
        ("wd=wd1,sd=*,threads=0", "", "V123 5:13"),
    ];
    for (workloads, run, expected) in table {
        let found = one(&file(workloads, run)).unwrap_err();
        let error = found.iter().find(|it| it.severity == Severity::Error).unwrap();
        let place = error.place.as_ref().unwrap();
        assert_eq!(
            format!("{} {}:{}", error.code, place.line, place.column),
            expected,
            "{workloads}"
        );
    }
    let separate = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=*,threads=2\n\
                 rd=rd1,wd=*,iorate=max,elapsed=10,interval=1";
    assert_eq!(one(separate).unwrap_err()[0].code, "V166", "threads belong to storage otherwise");
}
