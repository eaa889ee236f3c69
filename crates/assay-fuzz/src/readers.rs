//! Table of all readers of external input, with their seeds. A reader describes its result in a
//! text; the campaign keeps inputs with a new kind of text and mutates them further.

use std::fmt::{Debug, Display};
use std::io;
use std::path::Path;

use assay_claims::expectation::{Expectations, JudgedResults};
use assay_claims::lint;
use assay_dialects::wire::iperf3::{self, Cookie, Iperf3Parameters, Iperf3Results};
use assay_dialects::wire::{ntttcp, qperf, sockperf};
use assay_dialects::{fio, ior, mdtest, osu, vdbench};
use assay_model::quantity::{self, Bytes, Quantity, Unit};
use assay_model::suite::{self, Placement};
use assay_model::workload::measurement_mode::LatencyGoal;
use assay_model::workload::storage::Verify;
use assay_report::{build, render};
use assay_stats::summarize::summarize;

use crate::tools;

/// Reader of external input.
#[derive(Debug)]
pub struct FuzzedReader {
    pub name: &'static str,
    /// Patterns of seed files, relative to `crates`: folder, `*`, ending of the names.
    pub seed_patterns: &'static [&'static str],
    /// Additional seeds.
    pub seed_texts: &'static [&'static str],
    /// Reads any bytes and describes the result.
    pub read: fn(&[u8]) -> String,
}

const fn reader(
    name: &'static str,
    goldens: &'static [&'static str],
    texts: &'static [&'static str],
    read: fn(&[u8]) -> String,
) -> FuzzedReader {
    FuzzedReader { name, seed_patterns: goldens, seed_texts: texts, read }
}

/// All readers.
pub const READERS: &[FuzzedReader] = &[
    reader("vdbench", &["assay-dialects/tests/golden/vdbench/*.parm"], VDBENCH, vdbench),
    reader("fio", &["assay-fuzz/corpus/*.fio"], FIO, fio_file),
    reader("fio-words", &[], FIO_WORDS, fio_words),
    reader("ior-words", &[], IOR_WORDS, ior_words),
    reader("mdtest-words", &[], MDTEST_WORDS, mdtest_words),
    reader("ior-script", &["assay-fuzz/corpus/*.ior"], IOR_SCRIPT, ior_script),
    reader("suite", &["../suites/*.toml"], SUITES, parse_suite_file),
    reader("events", &["assay/tests/fixtures/*events.jsonl"], &[], read_events),
    reader("quantities", &[], QUANTITIES, parse_quantities),
    reader("iperf3-server", &[], IPERF3_CLIENT, iperf3_server),
    reader("iperf3-client", &[], IPERF3_SERVER, iperf3_client),
    reader("iperf3-messages", &[], IPERF3_MESSAGES, iperf3_messages),
    reader("qperf-server", &[], &["\0\0\x04\0\x0b\0\x09\0"], qperf_server),
    reader("qperf-client", &[], &["\x01\x10\0\0synchronization before test"], qperf_client),
    reader(
        "sockperf-messages",
        &[],
        &["\0\0\0\0\0\0\0\x01\0\x03\0\0\0\x14four…"],
        sockperf_messages,
    ),
    reader("ntttcp-numbers", &[], &["\0\0\0X\0\0\0<\0\0\0R\0\0\0E"], ntttcp_numbers),
    reader("hpcc", &["assay-adapters/tests/golden/hpcc/*"], &[], tools::hpcc),
    reader("xhpl", &["assay-adapters/tests/golden/xhpl/*"], &[], tools::xhpl),
    reader("stream", &["assay-adapters/tests/golden/stream/*"], &[], tools::stream),
    reader("likwid-bench", &["assay-adapters/tests/golden/likwid-bench/*"], &[], tools::likwid),
    reader("osu", &["assay-adapters/tests/golden/osu/*"], &[], tools::osu),
    reader("osu-graph", &[], &["# from, to\n2, 0\n0,1\n\n1,3\n"], osu_graph),
    reader("imb", &["assay-adapters/tests/golden/imb/*"], &[], tools::imb),
    reader("fio-output", &["assay-adapters/tests/golden/fio/*"], &[], tools::fio),
    reader("ior-output", &["assay-adapters/tests/golden/ior/*"], &[], tools::ior),
    reader("vdbench-output", &["assay-adapters/tests/golden/vdbench/*"], &[], tools::vdbench),
    reader("iperf3-output", &["assay-adapters/tests/golden/iperf3/*"], &[], tools::iperf3),
    reader("qperf-output", &["assay-adapters/tests/golden/qperf/*"], &[], tools::qperf),
    reader(
        "sockperf-output",
        &["assay-adapters/tests/golden/sockperf/*"],
        &[],
        tools::sockperf,
    ),
    reader("lint", &["assay-claims/tests/pages/*.md"], PAGES, lint_page),
    reader("references", &[], CLAIM_FILES, read_expectations),
    reader("import", IMPORT_PATTERNS, IMPORT_TEXTS, tools::import),
    reader("ping-output", &["assay-adapters/tests/golden/ping/*"], &[], tools::ping),
];

const PAGES: &[&str] = &[
    "<html lang=\"fr\"><table><tr><th>#bytes</th><th>(Mo/s)</th><th>(Gbit/s)</th></tr><tr><td>2</td><td>1 000,5</td>\
     <td>~8,00</td></tr></table><p>4.5GiB / s 300 kB I/O</p></html>",
];
const CLAIM_FILES: &[&str] = &[
    "system = \"a\"\n[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"260 GB/s\"\nqualifier = \"about\"\n\
     tolerance = \"5%\"\nwhere = { placement = \"node\" }\n",
    "[[gate]]\nmetric = \"storage/latency\"\nworse_by = \"5%\"\nat_most = \"2ms\"\nwhere = { bytes = 4096 }\n",
];
const IMPORT_PATTERNS: &[&str] = &[
    "assay-adapters/tests/golden/fio/*.out",
    "assay-adapters/tests/golden/imb/*.out",
    "assay-adapters/tests/golden/ior/*.out",
    "assay-adapters/tests/golden/iperf3/*.out",
    "assay-adapters/tests/golden/osu/*.out",
    "assay-adapters/tests/golden/qperf/*.out",
    "assay-adapters/tests/golden/stream/*.out",
    "assay-adapters/tests/golden/vdbench/*.out",
    "assay-adapters/tests/golden/xhpl/*.out",
    "assay-adapters/tests/import/*",
];
const IMPORT_TEXTS: &[&str] = &[
    "<PhoronixTestSuite><Result><Title>a</Title><Scale>MB/s</Scale><Proportion>HIB</Proportion><Data><Entry>\
     <Identifier>x</Identifier><RawString>9:10</RawString></Entry></Data></Result></PhoronixTestSuite>",
    "descr|a_value|a_unit\nx|1|GB/s\n",
    "Send Latency Test\n #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec]\n2 1000 1 2 3 4\n",
    "Connecting to host h, port 5201\n[ ID] Interval\n[SUM] 0.00-10.00 sec 1 GBytes 9.4 Gbits/sec 23 sender\n\
     [SUM] 0.00-10.00 sec 1 GBytes 9.4 Gbits/sec 0.01 ms 0/8327 (0%) receiver\nLost/Total Datagrams\n",
    "j: (g=0): rw=randrw, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=32\nj: (groupid=0, jobs=2): err= 0:\n\
     read: IOPS=70.1k, BW=274MiB/s (287MB/s)\nclat (usec): min=52, max=9k, avg=400.5\n\
     clat percentiles (usec):\n| 50.00th=[ 388], 99.00th=[ 701]\n",
    "sockperf: x\nsockperf: Summary: Latency is 20.5 usec\npercentile 50.000 = 20.1\nBandWidth is 10 MBps\n",
    "2 tasks, 10 files/directories\nSUMMARY rate\nFile creation : 2.0 1.0 1.5 0.1\n",
    "Starting RD=a; elapsed=4\n12:00:01.001 1 4000.0 31.25 8192 100.0 0.9\n12:00:03.002 avg_1-1 1 1 1 1 1\n",
];
const VDBENCH: &[&str] = &[
    "hd=a\nhd=b$host\nsd=sd1,lun=/a,size=1g\nwd=wd1,sd=*,xfersize=(4k,50,8k,50),skew=10,seekpct=eof\n\
     rd=rd1,wd=wd*,iorate=(100,200,max),elapsed=10,interval=1,forthreads=(1-64,d)\n",
    "fsd=fsd1,anchor=/a,depth=2,width=3,files=10,sizes=(4k,50,8k,50)\n\
     fwd=fwd1,fsd=fsd*,operation=read,fileio=random,threads=2\n\
     rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=10,interval=1,foroperations=(read,write)\n",
    "sd=sd1,lun=/a,size=1g,count=(1,4),range=(10,20),hitarea=1m\nwd=wd1,sd=sd1,rdpct=70,rhpct=10\n\
     rd=rd1,wd=wd1,iorate=curve,curve=(10-100,10),elapsed=1h,interval=1,warmup=10,distribution=(e,variable)\n",
];
const FIO: &[&str] = &[
    "[global]\nioengine=libaio\ndirect=1\nsize=64m\nbs=4k,8k\niodepth=8\nruntime=10s\ntime_based\n\
     [a]\nrw=randrw\nrwmixread=70\nrate_iops=100,200\nnumjobs=4\nbssplit=4k/50:64k/50,8k/\n\
     [b]\nstonewall\nrw=write:8k\nrandom_distribution=zipf:1.2\nfilename=/there/x:/there/y\n",
    "[a]\nsize=50%\noffset=10%\noffset_increment=1m\nnrfiles=10\nfilesize=4k-1m\nfile_service_type=random\n\
     loops=3\nramp_time=2\nrate=1m,2m,3m\nrate_process=poisson\nlatency_target=1ms\nlatency_percentile=99.9\n\
     zonemode=strided\nzonesize=1m\nzoneskip=1m\nio_size=1g\nverify=crc32c\nsteadystate=iops:1%\nss_dur=10\n",
];
const FIO_WORDS: &[&str] = &[
    "--name=a --rw=randread --size=1m --bs=4k --iodepth=32 --numjobs=4 --time_based --runtime=10",
    "--output-format=json+,terse --status-interval=1 --eta=never --section=a job",
];
const IOR_WORDS: &[&str] = &[
    "-w -r -b 1m -t 64k -s 16 -i 3 -F -C -e -N 8 -o /a/b -k -vv --posix.odirect",
    "-a POSIX -D 10 -z -Z -X 7 -q -O summaryFormat=JSON,stoneWallingWearOut=1 -T 1 -d 2 -j 3",
];
const MDTEST_WORDS: &[&str] = &[
    "--ranks 4 -n 1000 -z 2 -b 3 -L -N 1 -i 3 -w 3901 -e 3901 -d /a -P -vv --print-all-procs",
    "-I 10 -u -F -C -W 300 -x status -Y -G=27 -a POSIX -R --random-seed 5 -f 1 -l 2 -s 1 -t",
];
const IOR_SCRIPT: &[&str] = &[
    "IOR START\napi=POSIX\ntestFile=/a/b\nblockSize=1m\ntransferSize=64k\nsegmentCount=16\nnumTasks=4\n\
     writeFile=1\nreadFile=1\nRUN\nrepetitions=3\nfilePerProc=1\nRUN\nIOR STOP\n",
];
const SUITES: &[&str] = &[
    "name = \"a\"\nbudget = \"60s\"\n[[measure]]\nbenchmark = \"storage\"\noperation = \"mix\"\nread-share = \"70%\"\n\
     path = [\"/a\", \"/b\"]\nsize = \"1GiB\"\nbs = [\"4KiB\", \"64KiB\"]\ndepth = [1, 32]\nthreads = 2\n\
     curve = [10, 50, 90]\nbend-points = 2\nprecondition = \"2x\"\nlength = \"10s\"\nwarmup = \"1s\"\nceiling = \"4500MiB/s\"\n",
    "name = \"b\"\n[[measure]]\nbenchmark = \"network.tcp\"\nto = \"h\"\nport = 5201\nstreams = [1, 6]\nseconds = 10\n\
     rate = \"1Gbit/s\"\nshare = 2\ninterval = \"1%\"\n[[measure]]\nbenchmark = \"compute.linpack\"\nn = 1000\nthreads = 2\n",
];
const QUANTITIES: &[&str] = &[
    "4k",
    "64KiB",
    "10Gbit/s",
    "500us",
    "80%",
    "1e9",
    "2ns/B",
    "1.5TFLOP/s",
    "300kIO/s",
    "2.5GHz",
    "1_000",
    "p99<=1ms",
    "p99.9 <= 500us @ 1%",
    "numa:0",
    "l3:4",
    "cores:8",
    "2x",
    "16PiB",
];
const IPERF3_PARAMETERS: &str = r#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":2,"len":131072,"bandwidth":10000000,"pacing_timer":1000,"client_version":"3.12"}"#;
const IPERF3_RESULTS: &str = r#"{"cpu_util_total":6.46,"cpu_util_user":1.3,"cpu_util_system":5.1,"sender_has_retransmits":1,"congestion_used":"bbr","streams":[{"id":1,"bytes":1310720,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000159}]}"#;
const IPERF3_MESSAGES: &[&str] = &[IPERF3_PARAMETERS, IPERF3_RESULTS];
const IPERF3_CLIENT: &[&str] = &[
    "yfeymxvrgkrymballveqfvh7dcda6tymyluv\0\0\0\0\x0c{\"tcp\":true}\x04\0\0\0\x0e{\"streams\":[]}\x10",
];
const IPERF3_SERVER: &[&str] = &["\x09\x0a\x01\x02\x0d\0\0\0\x0e{\"streams\":[]}\x0e"];

/// Describes a result: the message of an error, or the amount of output, rounded to a power of two.
fn describe_result<T>(
    result: Result<T, impl ToString>,
    amount: impl FnOnce(T) -> usize,
) -> String {
    match result {
        Ok(value) => {
            format!("read {}", "x".repeat(amount(value).checked_ilog2().unwrap_or(0) as usize))
        }
        Err(error) => error.to_string(),
    }
}

fn split_words(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).split_whitespace().map(str::to_owned).collect()
}

fn vdbench(bytes: &[u8]) -> String {
    let file = Path::new("file");
    let input = vdbench::VdbenchInput {
        files: vec![file.to_owned()],
        variables: vec![],
        elapsed_s: None,
        interval_s: None,
        warmup_s: None,
        format: None,
        verify: Verify::Off,
        submitters: 4,
        seed: 1,
        is_apart: bytes.len() % 2 == 1,
        simulates: bytes.len() % 3 == 1,
    };
    let mut load = |path: &Path| match path == file {
        true => Ok(bytes.to_vec()),
        false => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let present = vdbench::PathInfo { bytes: 1 << 30, device: false };
    let mut inspect = |path: &Path| path.starts_with("/a").then_some(present);
    let mut env = vdbench::VdbenchEnv { read_file: &mut load, inspect: &mut inspect };
    let scanned = vdbench::scan(&input, &mut env);
    match vdbench::compile_files(&input, &mut env) {
        Ok(execution) => {
            let explained = vdbench::explain::explain(&execution);
            describe_result(Ok::<_, String>(()), |()| {
                execution.runs.len() + explained.len() + scanned.len()
            })
        }
        Err(diagnostics) => diagnostics
            .iter()
            .take(3)
            .map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message))
            .collect(),
    }
}

fn lint_page(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    // The second half serves as the source page of the first.
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let findings = lint::lint(&text, Some(&text[half..]));
    for it in &findings {
        assert!(it.start <= it.end && it.end <= text.len(), "a finding points behind the page");
        assert!(it.line > 0 && it.column > 0, "lines and columns are counted from 1");
    }
    let (fixed, _) = lint::apply_fixes(&text, &findings);
    let rules: Vec<&str> = findings.iter().take(8).map(|it| it.rule.name()).collect();
    format!("{} {}", rules.join(" "), fixed.len() == text.len())
}

fn read_expectations(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    describe_result(Expectations::parse(&text, JudgedResults::TwoConditions), |read| {
        read.claims.len() + read.limits.len() + read.gates.len()
    })
}

/// Parses and compiles fio's command line; `job` is the text of the job file of that name.
fn compile_fio(words: &[String], job: &str) -> String {
    let read_file = |path: &str| match path {
        "job" => Ok(job.to_owned()),
        _ => Err("not found".to_owned()),
    };
    let context = fio::jobfile::FioParseContext {
        read_file: &read_file,
        variable: &|name| (name == "SIZE").then(|| "64m".to_owned()),
        page_bytes: 4096,
        memory_mib: 1000,
        cpus: 2,
    };
    let size_of = |path: &Path| path.starts_with("/there").then_some(1 << 30);
    let cpus_of_node = |node: usize| (node == 0).then(|| vec![0, 1]);
    let env = fio::compile::FioCompileEnv {
        size_of: &size_of,
        assumed_bytes: None,
        cpus_of_node: &cpus_of_node,
        memory_nodes: Some(&[0, 3]),
        count_passes: &|_, _| 1,
        read_state: &|_| Err("no such file".to_owned()),
        fresh_seed: 7,
    };
    let compiled = fio::command_line::parse(words, &context)
        .and_then(|request| Ok((fio::compile::compile(&request, &env)?, request)));
    describe_result(compiled.map_err(|fault| format!("{fault} {}", fault.hint())), |it| {
        let (plan, request) = it;
        fio::text::render_start(&fio::reported_job::reported_jobs(&request, &plan), "3.36")
            .len()
            + plan.clones.len()
            + fio::log::log_files(&plan).len()
    })
}

fn fio_file(bytes: &[u8]) -> String {
    compile_fio(&["job".to_owned()], &String::from_utf8_lossy(bytes))
}

fn fio_words(bytes: &[u8]) -> String {
    compile_fio(&split_words(bytes), "[a]\nsize=1m\n")
}

fn compile_ior(words: &[String], script: &str) -> String {
    let mut read_script = |_: &str| Ok(script.to_owned());
    let tests = ior::command_line::parse(words, &mut read_script);
    describe_result(tests.map_err(|error| format!("{error} {}", error.hint())), |tests| {
        let planned = tests.iter().map(|options| {
            let (plan, _) = ior::compile::compile(options, 0);
            plan.phases.len() + ior::text::describe_options(options).len()
        });
        planned.sum()
    })
}

fn ior_words(bytes: &[u8]) -> String {
    compile_ior(&split_words(bytes), "")
}

fn osu_graph(bytes: &[u8]) -> String {
    describe_result(osu::parse_graph(&String::from_utf8_lossy(bytes)), |topology| {
        let neighbors = topology.neighbors(0, &[]);
        let is_rank = |rank: &u32| u64::from(*rank) < topology.min_ranks();
        assert!(neighbors.sources.iter().all(is_rank), "a neighbour is no rank");
        topology.max_degree(&[]) + neighbors.destinations.len()
    })
}

fn mdtest_words(bytes: &[u8]) -> String {
    let options = mdtest::command_line::parse(&split_words(bytes));
    describe_result(options.map_err(|error| format!("{error} {}", error.hint())), |options| {
        let phases = mdtest::phase::list_phases(&options);
        let size = mdtest::layout::TreeSize::from_options(&options);
        // A large tree takes its memory.
        let is_small = size.is_some_and(|it| it.directories < 1000 && it.items < 1000);
        let layout = is_small
            .then(|| mdtest::layout::MdtestLayout::new(&options, options.tasks, 0))
            .flatten();
        let mut text = String::new();
        if let Some(layout) = layout {
            for (phase, count) in phases.iter().map(|it| (*it, layout.count(*it, 0))) {
                (0..count).for_each(|at| layout.push_name(phase, (0, at), None, &mut text));
            }
        }
        phases.len() + text.len() + options.task_counts().len()
    })
}

fn ior_script(bytes: &[u8]) -> String {
    compile_ior(&["-f".to_owned(), "script".to_owned()], &String::from_utf8_lossy(bytes))
}

fn parse_suite_file(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match suite::parse_suite(&text) {
        Err(error) => {
            assert!(error.span.end <= text.len(), "an error points behind the text");
            error.to_string()
        }
        Ok(suite) => describe_result(tools::plan(&suite), |plan| plan.cases.len()),
    }
}

fn read_events(bytes: &[u8]) -> String {
    // Mutations mostly break the checksums; most lines are then skipped.
    let unsealed_result = describe_result(assay_store::decode(bytes), |(run, problems)| {
        run.cases.len() + problems.len()
    });
    let sealed_result =
        describe_result(assay_store::decode(&fix_checksums(bytes)), |(run, problems)| {
            let summary = summarize(&run);
            // Rendering takes a hundred times as long as reading; each input gets at most one format.
            let size = match bytes.len() % 16 {
                0 => {
                    let page = build::run(&summary, Some(&run));
                    render::html::document(&page).len()
                }
                1 => render::json::summary(&summary).len(),
                2 => render::csv::summary(&summary).len(),
                _ => run.cases.len(),
            };
            size + problems.len()
        });
    unsealed_result + &sealed_result
}

/// Replaces the numbers and checksums of the lines by valid ones, so that the events are read.
fn fix_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let text = String::from_utf8_lossy(line);
        let rest = text.split_once("\"event\":").map_or(&*text, |(_, rest)| rest);
        let body = format!("\"n\":{number},\"event\":{rest}");
        let crc = crc32fast::hash(body.as_bytes());
        sealed.extend_from_slice(format!("{{\"crc\":\"{crc:08x}\",{body}\n").as_bytes());
    }
    sealed
}

fn parse_quantities(bytes: &[u8]) -> String {
    const UNITS: [Unit; 10] = [
        Unit::Byte,
        Unit::BytePerSecond,
        Unit::BitPerSecond,
        Unit::FlopPerSecond,
        Unit::IoPerSecond,
        Unit::Second,
        Unit::SecondPerByte,
        Unit::Hertz,
        Unit::Ratio,
        Unit::Count,
    ];
    let text = String::from_utf8_lossy(bytes);
    let mut results = String::new();
    for unit in UNITS {
        results.push_str(&describe_result(Quantity::parse(&text, unit), |quantity| {
            assert!(quantity.value.is_finite() && quantity.value >= 0.0, "{quantity:?}");
            quantity.to_string().len()
        }));
    }
    results.push_str(&describe_result(text.parse::<Bytes>(), |bytes| bytes.to_string().len()));
    results.push_str(&describe_result(quantity::parse_ratio(&text), |_| 1));
    results.push_str(&describe_result(LatencyGoal::parse(&text), |_| 1));
    results.push_str(&describe_result(text.parse::<Placement>(), |_| 1));
    results
}

/// Formats the events of a protocol's state machine until it needs more input or returns an error.
fn collect_events<E: Debug, F: Display>(
    mut next: impl FnMut() -> Result<Option<E>, F>,
) -> String {
    let mut events = Vec::new();
    loop {
        match next() {
            Ok(Some(event)) => events.push(format!("{event:?}")),
            Ok(None) => return events.concat(),
            Err(error) => return events.concat() + &error.to_string(),
        }
    }
}

/// Splits received bytes into at most seven pieces, as they may arrive from a socket.
fn split_pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(1 + bytes.len() / 7)
}

fn iperf3_server(bytes: &[u8]) -> String {
    let mut server = iperf3::Iperf3Server::default();
    let results = split_pieces(bytes).map(|piece| {
        server.receive(piece);
        collect_events(|| server.next_event())
    });
    results.collect()
}

fn iperf3_client(bytes: &[u8]) -> String {
    let mut client = iperf3::Iperf3Client::new(Cookie::from_random([0; 36]));
    let results = split_pieces(bytes).map(|piece| {
        client.receive(piece);
        collect_events(|| client.next_event())
    });
    results.collect()
}

fn iperf3_messages(bytes: &[u8]) -> String {
    let parameters = describe_result(Iperf3Parameters::from_json(bytes), |parameters| {
        let again = Iperf3Parameters::from_json(&parameters.to_json());
        assert!(again.is_ok(), "what was read is refused when it is written: {parameters:?}");
        1
    });
    let results = describe_result(Iperf3Results::from_json(bytes), |results| {
        assert!(Iperf3Results::from_json(&results.to_json()).is_ok(), "{results:?}");
        results.streams.len()
    });
    parameters + &results
}

fn qperf_server(bytes: &[u8]) -> String {
    // Pads the request with zeros.
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(qperf::QperfRequest::BYTES), 0);
    let mut server = qperf::QperfServer::default();
    server.receive(&bytes);
    collect_events(|| server.next_event())
}

fn qperf_client(bytes: &[u8]) -> String {
    let names = ["tcp_lat", "tcp_bw", "udp_lat", "udp_bw", "conf", "quit"];
    let results = names.into_iter().filter_map(qperf::QperfTestKind::from_name).map(|test| {
        let mut client = qperf::QperfClient::new(qperf::QperfRequest::new(test));
        client.receive(bytes);
        collect_events(|| client.next_event()) + &client.rejection().to_string()
    });
    results.collect()
}

fn sockperf_messages(bytes: &[u8]) -> String {
    let mut stream = sockperf::SockperfReceiver::new(sockperf::MAX_DATAGRAM_BYTES);
    let mut rest = bytes;
    let mut messages = 0_u32;
    while !rest.is_empty() {
        let room = stream.room();
        let count = room.len().min(rest.len()).min(7);
        room[..count].copy_from_slice(&rest[..count]);
        stream.add(count);
        rest = &rest[count..];
        loop {
            match stream.take_message() {
                Ok(Some((header, message))) => {
                    assert_eq!(header.length as usize, message.len());
                    messages += 1;
                }
                Ok(None) => break,
                Err(error) => return format!("{messages} {error}"),
            }
        }
    }
    let mut datagram = sockperf::SockperfReceiver::new(sockperf::MAX_DATAGRAM_BYTES);
    let room = datagram.room_for_datagram();
    let count = room.len().min(bytes.len());
    room[..count].copy_from_slice(&bytes[..count]);
    datagram.add(count);
    format!("{messages} {}", datagram.take_datagram().is_some())
}

fn ntttcp_numbers(bytes: &[u8]) -> String {
    let mut reader = ntttcp::NumberReader::default();
    let mut requests = ntttcp::SenderRequests::default();
    let mut rest = bytes;
    let mut read = Vec::new();
    while !rest.is_empty() {
        let room = reader.room();
        let count = room.len().min(rest.len()).min(3);
        room[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        if let Some(number) = reader.add(count) {
            let answers = (ntttcp::check_state(number), ntttcp::read_start(number));
            let seconds = ntttcp::read_seconds(number, 0);
            read.push(format!("{:?} {answers:?} {seconds:?}", requests.read(number)));
        }
    }
    read.join(" ")
}
