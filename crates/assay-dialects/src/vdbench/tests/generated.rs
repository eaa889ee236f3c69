//! Parameter files that the script of a published page generates.

use std::collections::HashMap;
use std::path::PathBuf;

/// Generates the files for `hosts` machines of `volumes` volumes each.
pub(crate) fn generate_files(hosts: u32, volumes: u32) -> HashMap<PathBuf, Vec<u8>> {
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
