//! Tests of further job options: pauses, skew, zones, file rotation, run times, logs.

use super::*;

#[test]
fn compiles_pauses_skew_and_cpus() {
    check_cases(10, &expect_file!["cases/pauses.txt"], render_compiled);
}

#[test]
fn compiles_sizes_trims_zones_and_files() {
    check_cases(6, &expect_file!["cases/sizes.txt"], render_compiled);
}

#[test]
fn concurrent_jobs_have_own_run_periods() {
    check_cases(3, &expect_file!["cases/periods.txt"], render_compiled);
}

#[test]
fn logs_without_averaging_keep_a_journal() {
    check_cases(3, &expect_file!["cases/logs.txt"], render_compiled);
}

/// The seed of the third job with `lfsr` ends with three set bits, as many as its register has.
#[test]
fn rejects_conflicts_with_location() {
    check_cases(46, &expect_file!["cases/conflicts.txt"], render_refused);
}

#[test]
fn memory_is_placed_on_nodes_without_cpus() {
    for (policy, expected) in [
        ("bind:3", vec![3]),
        ("prefer:3", vec![3]),
        ("bind:all", vec![0, 3]),
        ("interleave", vec![0, 3]),
    ] {
        let job = format!("[a]\nrw=write\nsize=1m\nnuma_mem_policy={policy}\n");
        let phases = plan("job", &[("job", &job)]).unwrap().plan.phases;
        let memory = phases[0].workload.streams[0].conduct.memory_policy.as_ref();
        assert_eq!(memory.unwrap().nodes, expected, "{policy}");
    }
}

/// Their `size` is that of the file, and not in the job.
#[test]
fn jobs_that_write_no_duplicates_have_no_working_set() {
    for more in ["rw=read", "rw=randtrim", "rw=write\nverify=md5"] {
        let job = format!(
            "[a]\nfilename=/there/a\ndedupe_percentage=50\ndedupe_mode=working_set\n{more}\n"
        );
        let phases = plan("job", &[("job", &job)]).unwrap().plan.phases;
        let content = phases[0].workload.streams[0].conduct.content.as_ref();
        assert_eq!(content.and_then(|it| it.working_set), None, "{more}");
    }
}

#[test]
fn wait_for_splits_phases() {
    let phases = |file: &str| {
        let plan = plan("job", &[("job", file)]).unwrap_or_else(|fault| panic!("{fault}"));
        plan.plan.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>()
    };
    let job = |name: &str, more: &str| format!("[{name}]\nrw=read\nsize=1m\n{more}\n");
    let fill = job("fill", "numjobs=2");
    let after = |name: &str, other: &str| job(name, &format!("wait_for={other}"));
    for (file, expected) in [
        (fill.clone() + &after("a", "fill") + &after("b", "fill"), vec!["fill", "a+b"]),
        (fill.clone() + &after("a", "fill") + &after("b", "a"), vec!["fill", "a", "b"]),
        (fill.clone() + &job("a", "stonewall") + &after("b", "fill"), vec!["fill", "a+b"]),
        (
            fill.clone() + &job("x", "") + &job("a", "stonewall") + &after("b", "a"),
            vec!["fill+x", "a", "b"],
        ),
    ] {
        assert_eq!(phases(&file), expected, "{file}");
    }
    for (file, expected) in [
        (
            fill.clone() + &after("a", "fall"),
            expect![[r#"
                job:5:1: job `a`: it waits for `fall`, but no earlier job has that name
                name one job that is defined before this one
            "#]],
        ),
        (
            fill.clone() + &fill + &after("a", "fill"),
            expect![[r#"
                job:9:1: job `a`: it waits for `fill`, but two jobs have that name
                name one job that is defined before this one
            "#]],
        ),
        (
            fill.clone() + &after("a", "fill") + &job("b", ""),
            expect![[r#"
                job:9:1: job `b`: other jobs would run at the same time as it and as the job it waits for
                make all other concurrent jobs wait as well, or separate them with stonewall
            "#]],
        ),
        (
            fill.clone() + &job("b", "") + &after("a", "fill"),
            expect![[r#"
                job:9:1: job `a`: other jobs would run at the same time as it and as the job it waits for
                make all other concurrent jobs wait as well, or separate them with stonewall
            "#]],
        ),
    ] {
        check_refused("job", &file, &expected);
    }
}

#[test]
fn flow_sets_shares() {
    let file = "[global]\nrw=read\nsize=1m\n[a]\nflow=3\nnumjobs=2\n[b]\nflow=2\n[c]\n";
    let plan = plan("job", &[("job", file)]).unwrap();
    let work = &plan.plan.phases[0].workload;
    assert_eq!(work.load, assay_model::workload::storage::StorageLoad::Balanced);
    let shares: Vec<f64> = work.streams.iter().map(|stream| stream.rate_share).collect();
    assert_eq!(shares, [0.375, 0.375, 0.25, 0.0]);
    for (more, expected) in [
        (
            "[a]\nflow=1\n[b]\nflow=1\nflow_id=2\n",
            expect![[r#"
                job:6:1: job `b`: jobs of several flows run at the same time
                give them one flow_id
            "#]],
        ),
        (
            "[a]\nflow=1\nrate_iops=100\n",
            expect![[r#"
                job:4:1: job `a`: flow excludes a rate and thinktime
                leave out one of them
            "#]],
        ),
        (
            "[a]\nflow=1001\n",
            expect![[r#"
                job:5:1: invalid value `1001` for `flow`: it must be a whole number from 0 to 1000
                see `man fio` for the values of this option
            "#]],
        ),
    ] {
        check_refused("job", &format!("[global]\nrw=read\nsize=1m\n{more}"), &expected);
    }
}

/// Checks how a job creates, opens and syncs its file.
fn check_opening(options: &str, expected: &str) {
    let plan = plan("job", &[("job", &format!("[a]\nsize=1m\n{options}"))]).unwrap();
    let work = &plan.plan.phases[0].workload;
    let conduct = &work.streams[0].conduct;
    let opening = serde_json::to_string(&work.targets[0].opening).unwrap();
    let rest = [conduct.plain_pages, conduct.syncs_data_only].map(u8::from);
    let found = opening.replace(['{', '}', '"'], "") + &format!(" {rest:?}");
    assert_eq!(found, expected, "{options}");
}

#[test]
fn creates_and_opens_files_like_fio() {
    for (options, expected) in [
        ("rw=read", "drops_cache:true,expects:sequential,new_file:written [1, 0]"),
        ("rw=randrw", "drops_cache:true,expects:random,new_file:written [1, 0]"),
        ("rw=randwrite", "drops_cache:true,expects:random,new_file:allocated [1, 0]"),
        (
            "rw=write\noverwrite=1",
            "drops_cache:true,expects:sequential,new_file:written [1, 0]",
        ),
        (
            "rw=write\nfdatasync=1\nioengine=sync\nbs=2300",
            "drops_cache:true,expects:sequential,new_file:allocated [1, 1]",
        ),
        (
            "rw=write\nfallocate=none\ninvalidate=0\nfadvise_hint=0\nmem=mmaphuge",
            "drops_cache:false,expects:null,new_file:empty [0, 0]",
        ),
        (
            "rw=write\nfallocate=keep",
            "drops_cache:true,expects:sequential,new_file:allocated-past-end [1, 0]",
        ),
        (
            "rw=write\nfallocate=truncate\nfadvise_hint=random",
            "drops_cache:true,expects:random,new_file:hole [1, 0]",
        ),
        ("rw=read\nioengine=null", "drops_cache:false,expects:null,new_file:written [1, 0]"),
    ] {
        check_opening(options, expected);
    }
}

#[test]
fn end_of_a_job_is_that_of_its_last_pass() {
    let job = "[a]\nrw=write\nsize=1m\nverify=crc32c\nexitall\npre_read=1\nloops=2\n";
    let phases = plan("job", &[("job", job)]).unwrap().plan.phases;
    let ends: Vec<bool> =
        phases.iter().map(|it| it.workload.streams[0].conduct.ends_phase).collect();
    assert_eq!(ends, [false, false, true, false]);
    let pre_reads: Vec<bool> =
        phases.iter().map(|it| it.workload.targets[0].opening.pre_reads).collect();
    assert_eq!(pre_reads, [true, false, false, false]);
}

#[test]
fn new_file_that_is_to_be_filled_is_not_allocated() {
    for (more, expected) in [
        ("fill_device=1\n", NewFile::Empty),
        ("fill_device=1\nrw=randrw\n", NewFile::Written),
        ("overwrite=1\n", NewFile::Written),
        ("overwrite=1\nfile_append=1\n", NewFile::Allocated),
    ] {
        let job = format!("[a]\nrw=write\nsize=1m\n{more}");
        let phases = plan("job", &[("job", &job)]).unwrap().plan.phases;
        assert_eq!(phases[0].workload.targets[0].opening.new_file, expected, "{more}");
    }
    check_refused(
        "job",
        "[a]\nrw=write\nsize=1m\nioengine=mmap\nfile_append=1\n",
        &expect![[r#"
            job:1:1: job `a`: mmap and file_append exclude each other: a mapped file does not grow
            leave one out
        "#]],
    );
}
