//! Tests of the table of tools: commands, supported workloads and parsers.

use assay_model::workload::{
    Domain, LatencyWorkload, LinpackWorkload, StreamWorkload, Workload,
};
use expect_test::{Expect, expect};

use super::*;
use crate::invocation::InstalledTool;
use crate::launcher::{Launcher, LauncherKind};

mod golden;
mod mpi;
mod network;
mod robust;
mod storage;

fn linpack(n: u64, cpus: &[u32], blas: Option<&str>) -> Workload {
    let blas = blas.map(str::to_owned);
    Workload::Linpack(LinpackWorkload { n, cpus: cpus.to_vec(), blas, seed: 1 })
}

fn stream(bytes_per_array: u64, domains: &[&[u32]]) -> Workload {
    let domain = |(index, cpus): (usize, &&[u32])| Domain {
        placement: format!("l3:{index}"),
        cpus: cpus.to_vec(),
    };
    let domains = domains.iter().enumerate().map(domain).collect();
    Workload::Stream(StreamWorkload { domains, bytes_per_array, cache_multiple: 4.0 })
}

fn installed_tool(tool: &ToolAdapter, launcher: Option<LauncherKind>) -> InstalledTool {
    let launcher = launcher.map(|kind| Launcher {
        path: "/usr/bin/mpirun".to_owned(),
        kind,
        version: None,
    });
    InstalledTool { path: format!("/opt/{}", tool.name), version: None, launcher }
}

/// Checks the commands for `workload` without a launcher, on a processor without known flags.
fn check_own_command(name: &str, workload: &Workload, expected: &Expect) {
    check_command(name, workload, None, "", expected);
}

/// Checks the command line of every process for `workload`, without the input files.
fn check_command(
    name: &str,
    workload: &Workload,
    launcher: Option<LauncherKind>,
    flags: &str,
    expected: &Expect,
) {
    let tool = find(name).unwrap();
    let found = installed_tool(tool, launcher);
    let cpu_flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
    let request = ToolRequest { workload, tool: &found, repetitions: 5, cpu_flags: &cpu_flags };
    let shown = match (tool.command)(&request) {
        Ok(invocations) => invocations.iter().map(format_invocation).collect(),
        Err(error) => format!("refused: {error}\n"),
    };
    expected.assert_eq(&shown);
}

fn format_invocation(invocation: &Invocation) -> String {
    let variables = invocation.environment.iter();
    let variables: Vec<_> = variables
        .filter(|(name, _)| !name.ends_with("NUM_THREADS") || name.starts_with("OMP"))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let Invocation { workload, label, program, arguments, repetitions, cpus, .. } = invocation;
    format!(
        "{} {label} ×{repetitions} on {cpus:?}\n{}\n{program} {}\n",
        workload.benchmark().id(),
        variables.join(" "),
        arguments.join(" ")
    )
}

/// Returns the lines of an input file with N, NB, P, Q and the sizes of their lists.
fn chosen_input_lines(
    name: &str,
    workload: &Workload,
    launcher: Option<LauncherKind>,
) -> String {
    let tool = find(name).unwrap();
    let found = installed_tool(tool, launcher);
    let request = ToolRequest { workload, tool: &found, repetitions: 3, cpu_flags: &[] };
    let invocation = (tool.command)(&request).unwrap().remove(0);
    let lines = invocation.files_to_write[0].content.lines().skip(4).take(8);
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn names_are_unique_and_hints_exist() {
    for (index, tool) in TOOLS.iter().enumerate() {
        assert!(TOOLS[..index].iter().all(|other| other.name != tool.name), "{}", tool.name);
        assert!(!tool.about.is_empty() && !tool.detect.hint.is_empty(), "{}", tool.name);
        assert!(
            !tool.about.contains("  ") && !tool.detect.hint.contains("  "),
            "{}",
            tool.name
        );
        assert_eq!(find(tool.name).map(|found| found.name), Some(tool.name));
    }
    assert!(find("nobody").is_none());
}

#[test]
fn each_tool_supports_expected_workloads() {
    let latency = Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 });
    let table = [
        (linpack(1000, &[0, 1], None), "hpcc xhpl"),
        (linpack(1000, &[0, 1], Some("openblas")), ""),
        (linpack(64, &[0, 1], None), "hpcc xhpl"),
        (linpack(63, &[0, 1], None), "xhpl"),
        (stream(8, &[&[0]]), "stream likwid-bench"),
        (linpack(0, &[0], None), ""),
        (linpack(1 << 31, &[0], None), ""),
        (linpack(1000, &[], None), ""),
        (stream(1 << 20, &[&[0, 1]]), "hpcc stream likwid-bench"),
        (stream(1 << 20, &[&[0], &[1]]), ""),
        (stream(1 << 20, &[&[]]), ""),
        (latency, ""),
    ];
    for (workload, expected) in table {
        let takers = TOOLS.iter().filter(|tool| (tool.supports)(&workload));
        let names: Vec<_> = takers.map(|tool| tool.name).collect();
        assert_eq!(names.join(" "), expected, "{workload:?}");
    }
}

#[test]
fn only_supported_workloads_have_commands() {
    let workloads = [
        linpack(1, &[3], None),
        linpack(i32::MAX as u64, &[0, 1, 2], None),
        stream(u64::MAX, &[&[0]]),
        stream(0, &[&[0, 1]]),
        stream(1, &[&[0], &[1]]),
        Workload::Latency(LatencyWorkload { cpu: 0, bytes: 4096, line_bytes: 64 }),
    ];
    for tool in TOOLS {
        for workload in &workloads {
            let found = installed_tool(tool, Some(LauncherKind::Hydra));
            let request =
                ToolRequest { workload, tool: &found, repetitions: 0, cpu_flags: &[] };
            let asked = (tool.command)(&request);
            if (tool.supports)(workload) {
                let invocations = asked.unwrap();
                assert!(!invocations.is_empty());
                assert!(invocations.iter().all(|it| it.repetitions > 0));
                assert!(invocations.iter().all(|it| it.cpus == workload.cpus()));
            } else {
                assert!(asked.is_err(), "{} {workload:?}", tool.name);
            }
        }
    }
}

#[test]
fn ranks_are_started_under_every_launcher() {
    check_command(
        "xhpl",
        &linpack(4000, &[0, 2], None),
        Some(LauncherKind::OpenMpi),
        "",
        &expect![[r#"
            compute.linpack xhpl ×5 on [0, 2]
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LC_ALL=C OMP_NUM_THREADS=1
            /usr/bin/mpirun --bind-to none -np 1 taskset -c 0 /opt/xhpl : -np 1 taskset -c 2 /opt/xhpl
        "#]],
    );
    check_command(
        "xhpl",
        &linpack(4000, &[0], None),
        Some(LauncherKind::Hydra),
        "",
        &expect![[r#"
            compute.linpack xhpl ×5 on [0]
            MV2_ENABLE_AFFINITY=0 LC_ALL=C OMP_NUM_THREADS=1
            /usr/bin/mpirun --bind-to none -np 1 taskset -c 0 /opt/xhpl
        "#]],
    );
    check_command(
        "hpcc",
        &stream(1 << 27, &[&[0, 1]]),
        Some(LauncherKind::IntelMpi),
        "",
        &expect![[r#"
            memory.stream hpcc ×5 on [0, 1]
            I_MPI_PIN=0 LC_ALL=C OMP_NUM_THREADS=1
            /usr/bin/mpirun --bind-to none -np 1 taskset -c 0 /opt/hpcc : -np 1 taskset -c 1 /opt/hpcc
        "#]],
    );
}

#[test]
fn without_launcher_uses_threads_or_fails() {
    check_own_command(
        "xhpl",
        &linpack(4000, &[0, 2], None),
        &expect![[r#"
        compute.linpack xhpl ×5 on [0, 2]
        LC_ALL=C OMP_NUM_THREADS=2
        /opt/xhpl 
    "#]],
    );
    check_own_command(
        "hpcc",
        &linpack(4000, &[0, 2], None),
        &expect![[r#"
            compute.linpack hpcc ×2 on [0, 2]
            LC_ALL=C OMP_NUM_THREADS=2
            /opt/hpcc 
        "#]],
    );
    check_own_command(
        "hpcc",
        &stream(1 << 27, &[&[0, 1]]),
        &expect![[r#"
        refused: hpcc uses 2 CPUs only under an MPI launcher, and no usable mpirun was found
    "#]],
    );
    check_own_command(
        "hpcc",
        &stream(1 << 27, &[&[1]]),
        &expect![[r#"
        memory.stream hpcc ×5 on [1]
        LC_ALL=C OMP_NUM_THREADS=1
        /opt/hpcc 
    "#]],
    );
}

#[test]
fn stream_pins_its_threads() {
    check_own_command(
        "stream",
        &stream(1 << 27, &[&[0, 8, 16]]),
        &expect![[r#"
        memory.stream stream ×5 on [0, 8, 16]
        LC_ALL=C OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_PLACES={0},{8},{16} OMP_PROC_BIND=close
        /opt/stream 
    "#]],
    );
}

#[test]
fn likwid_uses_the_widest_vectors() {
    let workload = stream(1 << 27, &[&[0, 1]]);
    check_command(
        "likwid-bench",
        &workload,
        None,
        "sse2 avx fma avx512f",
        &expect![[r#"
        memory.stream copy ×5 on [0, 1]
        LC_ALL=C
        /opt/likwid-bench -t copy_mem_avx512 -i 29 -W N:268436kB:2
        memory.stream triad ×5 on [0, 1]
        LC_ALL=C
        /opt/likwid-bench -t stream_mem_avx512 -i 19 -W N:402654kB:2
        memory.stream read ×5 on [0, 1]
        LC_ALL=C
        /opt/likwid-bench -t sum_avx512 -i 59 -W N:134218kB:2
        memory.stream write ×5 on [0, 1]
        LC_ALL=C
        /opt/likwid-bench -t store_mem_avx512 -i 59 -W N:134218kB:2
    "#]],
    );
    check_command(
        "likwid-bench",
        &stream(1 << 32, &[&[5]]),
        None,
        "sse2 avx fma",
        &expect![[r#"
        memory.stream copy ×5 on [5]
        LC_ALL=C
        /opt/likwid-bench -t copy_mem_avx -i 10 -W N:8589935kB:1
        memory.stream triad ×5 on [5]
        LC_ALL=C
        /opt/likwid-bench -t stream_mem_avx_fma -i 10 -W N:12884902kB:1
        memory.stream read ×5 on [5]
        LC_ALL=C
        /opt/likwid-bench -t sum_avx -i 10 -W N:4294968kB:1
        memory.stream write ×5 on [5]
        LC_ALL=C
        /opt/likwid-bench -t store_mem_avx -i 10 -W N:4294968kB:1
    "#]],
    );
    let small = stream(65536, &[&[0]]);
    check_command(
        "likwid-bench",
        &small,
        None,
        "sse2 avx",
        &expect![[r#"
        memory.stream copy ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t copy_mem_sse -i 61035 -W N:132kB:1
        memory.stream triad ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t stream_mem_sse -i 40690 -W N:197kB:1
        memory.stream read ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t sum_sse -i 122070 -W N:66kB:1
        memory.stream write ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t store_mem_sse -i 122070 -W N:66kB:1
    "#]],
    );
    check_command(
        "likwid-bench",
        &small,
        None,
        "asimd",
        &expect![[r#"
        memory.stream copy ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t copy -i 61035 -W N:132kB:1
        memory.stream triad ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t stream -i 40690 -W N:197kB:1
        memory.stream read ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t sum -i 122070 -W N:66kB:1
        memory.stream write ×5 on [0]
        LC_ALL=C
        /opt/likwid-bench -t store -i 122070 -W N:66kB:1
    "#]],
    );
}

#[test]
fn input_files_have_requested_sizes() {
    let open = Some(LauncherKind::OpenMpi);
    expect![[r#"
        1            # of problems sizes (N)
        16000 Ns
        1            # of NBs
        192          NBs
        0            PMAP process mapping (0=Row-,1=Column-major)
        1            # of process grids (P x Q)
        2            Ps
        3            Qs
    "#]]
    .assert_eq(&chosen_input_lines("xhpl", &linpack(16000, &[0, 1, 2, 3, 4, 5], None), open));
    expect![[r#"
        3            # of problems sizes (N)
        4000 4000 4000 Ns
        1            # of NBs
        128          NBs
        0            PMAP process mapping (0=Row-,1=Column-major)
        1            # of process grids (P x Q)
        1            Ps
        2            Qs
    "#]]
    .assert_eq(&chosen_input_lines("hpcc", &linpack(4000, &[0, 1], None), open));
    // 128 MiB per array on two ranks: 3 × 64 MiB = 8 × 5017² bytes, rounded up.
    expect![[r#"
        1            # of problems sizes (N)
        5017 Ns
        1            # of NBs
        128          NBs
        0            PMAP process mapping (0=Row-,1=Column-major)
        1            # of process grids (P x Q)
        1            Ps
        1            Qs
    "#]]
    .assert_eq(&chosen_input_lines("hpcc", &stream(1 << 27, &[&[0, 1]]), open));
}

#[test]
fn rejects_output_of_failed_process() {
    let left_nothing = Outputs { exit_code: Some(0), ..Outputs::default() };
    for tool in golden::tools() {
        for invocation in golden::invocations(tool) {
            assert!(tool.read(&invocation, &left_nothing).is_err(), "{}", tool.name);
            for (_, text) in golden::texts(tool) {
                let complete = golden::outputs(&invocation, &text);
                for exit_code in [Some(1), Some(137), None] {
                    let outputs = Outputs { exit_code, ..complete.clone() };
                    let refused = tool.read(&invocation, &outputs);
                    assert!(
                        matches!(refused, Err(ToolError::ProcessFailed { .. })),
                        "{}",
                        tool.name
                    );
                }
            }
        }
    }
}

#[test]
fn parses_likwid_version() {
    let VersionSource::FromOption { read, .. } = find("likwid-bench").unwrap().detect.version
    else {
        panic!("likwid-bench prints its version");
    };
    assert_eq!(read("likwid-bench -- Version 5.2.2\n").as_deref(), Some("5.2.2"));
    assert_eq!(read("likwid-bench: not found"), None);
    assert_eq!(read("likwid-bench -- Version "), None);
}
