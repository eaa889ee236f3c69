//! The nine files that the script of a published page generates, and what they mean.

use super::*;

/// The files, for `hosts` machines of `volumes` volumes each.
fn generated(hosts: u32, volumes: u32) -> HashMap<PathBuf, Vec<u8>> {
    let mut files: HashMap<PathBuf, Vec<u8>> = HashMap::new();
    let mut add = |name: String, line: String| {
        let file = files.entry(PathBuf::from(name)).or_default();
        file.extend(line.into_bytes());
        file.push(b'\n');
    };
    add("vnet1-luns-nfs".into(), "sd=default,size=693g".into());
    add("vnet1-hosts-nfs".into(), "hd=default,jvms=1,shell=ssh".into());
    for vm in 1..=hosts {
        for vol in 1..=volumes {
            let line = format!(
                "sd=sd-{vm}-{vol},host=vm{vm},lun=/mnt/vdb{vol}/file-{vm}-{vol},openflags=o_direct"
            );
            add("vnet1-luns-nfs".into(), line);
        }
        let line = format!("hd=vm{vm},system=vdbench-vnet1-{vm},user=root");
        add("vnet1-hosts-nfs".into(), line);
    }
    let workloads = [
        ("FillWrite", "rdpct=0,seekpct=eof,xfersize=64k"),
        ("SeqWrite", "rdpct=0,seekpct=0,xfersize=64k"),
        ("SeqRead", "rdpct=100,seekpct=0,xfersize=64k"),
        ("RndRead", "rdpct=100,seekpct=100,xfersize=8k"),
        ("RndWrite", "rdpct=0,seekpct=100,xfersize=8k"),
        ("SeqMix", "rdpct=50,seekpct=0,xfersize=64k"),
        ("RndMix", "rdpct=50,seekpct=100,xfersize=8k"),
    ];
    for (name, parameters) in workloads {
        let file = || format!("vnet1-{name}-workload");
        add(file(), "include=vnet1-hosts-nfs".into());
        add(file(), "include=vnet1-luns-nfs".into());
        add(file(), format!("wd={name},sd=sd*,{parameters}"));
        add(file(), "* Run Defaults".into());
        if name != "FillWrite" {
            add(file(), "rd=default,warmup=60,elapsed=600,iorate=max".into());
            add(file(), "* Run Definitions".into());
        }
    }
    let runs = [
        (
            "FillWrite",
            "Initialize-LUNs-Full",
            "iorate=max,interval=1,forthreads=1,elapsed=259200",
        ),
        ("RndRead", "RndRead", "threads=25"),
        ("RndWrite", "RndWrite", "threads=20"),
        ("SeqRead", "SeqRead-4", "threads=20"),
        ("SeqWrite", "SeqWrite-26", "threads=26"),
        ("SeqWrite", "SeqWrite-32", "threads=32"),
        ("SeqWrite", "SeqWrite-40", "threads=40"),
        ("RndMix", "RndMix", "threads=25"),
        ("SeqMix", "SeqMix-6", "threads=6"),
        ("SeqMix", "SeqMix-7", "threads=7"),
    ];
    for (name, run, parameters) in runs {
        let line = format!("rd={run},wd={name},sd=(\"sd*\"),{parameters}");
        add(format!("vnet1-{name}-workload"), line);
    }
    files
}

#[test]
fn the_files_of_the_page_mean_what_it_says() {
    let files = generated(24, 6);
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
            assert_eq!(run.used.storages, 144, "{file}");
            assert_eq!(run.used.outstanding, 144 * threads as u64, "{file}");
            let first = output::first_counted(run);
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
fn the_page_is_explained() {
    let files = generated(24, 6);
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
    .assert_eq(&shown(&execution.notes));
}
