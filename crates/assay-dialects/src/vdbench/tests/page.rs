//! Tests with the nine files that the script of a published page generates.

use super::generated::generate_files;
use super::*;

#[test]
fn published_files_compile_as_described() {
    let files = generate_files(24, 6);
    assert_eq!(files.len(), 9);
    type Row<'a> = (&'a str, &'a [(&'a str, f64)], &'a str);
    let table: [Row<'_>; 7] = [
        ("FillWrite", &[("Initialize-LUNs-Full", 1.0)], "avg_2-259200"),
        ("RndRead", &[("RndRead", 25.0)], "avg_61-660"),
        ("RndWrite", &[("RndWrite", 20.0)], "avg_61-660"),
        ("SeqRead", &[("SeqRead-4", 20.0)], "avg_61-660"),
        (
            "SeqWrite",
            &[("SeqWrite-26", 26.0), ("SeqWrite-32", 32.0), ("SeqWrite-40", 40.0)],
            "avg_61-660",
        ),
        ("RndMix", &[("RndMix", 25.0)], "avg_61-660"),
        ("SeqMix", &[("SeqMix-6", 6.0), ("SeqMix-7", 7.0)], "avg_61-660"),
    ];
    for (file, runs, average) in table {
        let execution = compile(&files, &input(&format!("vnet1-{file}-workload"))).unwrap();
        assert_eq!(execution.hosts.len(), 24, "{file}");
        let found: Vec<_> = execution
            .runs
            .iter()
            .map(|run| (run.name.as_str(), run.parameters.threads.unwrap()))
            .collect();
        assert_eq!(found, runs, "{file}");
        for (run, phase) in execution.runs.iter().zip(&execution.plan.phases) {
            let threads = run.parameters.threads.unwrap();
            assert_eq!(run.resources.storages, 144, "{file}");
            assert_eq!(run.resources.outstanding, 144 * threads as u64, "{file}");
            let first = output::first_averaged_interval(run);
            let last = ((run.warmup_s + run.elapsed_s) / run.interval_s) as usize;
            assert_eq!(output::average_label(first, last), average, "{file}");
            let bytes: u64 =
                phase.workload.targets.iter().filter_map(|target| target.size_bytes).sum();
            assert_eq!(bytes >> 30, 99_792, "{file}");
            assert!(phase.workload.targets.iter().all(|target| target.direct), "{file}");
            assert_eq!(phase.workload.streams.len(), 1, "{file}");
        }
    }
}

#[test]
fn explains_published_files() {
    let files = generate_files(24, 6);
    let execution = compile(&files, &input("vnet1-SeqMix-workload")).unwrap();
    expect_test::expect![[r#"
        Nothing is read or written: the runs of the parameter files.
        Simulating RD=SeqMix-6; I/O rate: Uncontrolled MAX; elapsed=600 warmup=60; For loops: threads=6
        Simulating RD=SeqMix-7; I/O rate: Uncontrolled MAX; elapsed=600 warmup=60; For loops: threads=7

        run                   I/O rate   warmup  elapsed    SDs  WDs threads/SD outstanding  for loops
        SeqMix-6      Uncontrolled MAX     60 s    600 s    144    1          6         864  threads=6
        SeqMix-7      Uncontrolled MAX     60 s    600 s    144    1          7        1008  threads=7

        2 runs on 144 files or devices of 97.45 TiB from 24 hosts; at most 1008 I/O in flight
        at most 0 h 22 min 00 s without the time to lay files out; runs to the end of data (eof, maxdata) end sooner
    "#]].assert_eq(&super::super::explain::explain(&execution));
    expect_test::expect![[r#"
        note[V114]: `jvms` has no effect here: one process does all I/O of a host
          --> vnet1-hosts-nfs:1:12
           | hd=default,jvms=1,shell=ssh
           |            ^^^^^^
    "#]]
    .assert_eq(&render(&execution.notes));
}
