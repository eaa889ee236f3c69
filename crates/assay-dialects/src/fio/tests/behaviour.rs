//! Tests of further job options: pauses, skew, zones, file rotation, run times, logs.

use super::*;

#[test]
fn compiles_pauses_skew_and_cpus() {
    for (file, expected) in [
        (
            "[a]\nioengine=filecreate\nrw=write\nnrfiles=2\nbs=8k\ndirect=1\nend_fsync=1\n\
             [b]\nstonewall\nioengine=filestat\nstat_type=statx\nfilesize=4k\n\
             [c]\nstonewall\nioengine=filedelete\nfilesize=4k\n",
            expect![[r#"
                a: None warm 0 s, Closed, Threads, seed 137
                  a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(8192, 8192, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(16384)
                    besides file_call "create", turns "round"
                    a.0.0 Some((0, 8192)) make None
                    a.0.1 Some((0, 8192)) make None
                b: None warm 0 s, Closed, Threads, seed 138
                  b.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(4096)
                    besides file_call "stat-extended"
                    b.0.0 Some((0, 4096)) make Some(4096)
                c: None warm 0 s, Closed, Threads, seed 139
                  c.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(4096)
                    besides file_call "delete"
                    c.0.0 Some((0, 4096)) make Some(4096)
                report a group 0 jobs 1 parts 1
                report b group 1 jobs 1 parts 1
                report c group 2 jobs 1 parts 1
            "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nthinktime=200\nthinktime_blocks=4\ncpus_allowed=0-1\nmax_latency=50ms\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Permutation [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
            besides cpus [0,1], most_latency_ns 50000000, pauses {"after_ios":4,"length_ns":200000}
            a.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nnumjobs=2\ncpus_allowed=0-1\ncpus_allowed_policy=split\nnuma_cpu_nodes=0\nrandom_distribution=zipf:1.2\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Random [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 0.50 own None stop Some(1048576)
            besides cpus [0], skew {"centre":null,"law":{"kind":"zipf","theta":1.2},"seeds":[2686932836]}
            a.0.0 Some((0, 1048576)) make Some(1048576)
          a.1: Random [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 0.50 own None stop Some(1048576)
            besides cpus [1], skew {"centre":null,"law":{"kind":"zipf","theta":1.2},"seeds":[2187031640]}
            a.1.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nrw=randwrite\nsize=1m\nrandom_distribution=pareto:0.3\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Random [(4096, 4096, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
            besides skew {"centre":null,"law":{"area":0.3,"kind":"self-similar"},"seeds":[2686932836]}
            a.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nrw=randrw\nsize=10m\nrandom_distribution=zoned:50/5:30/15:20/,100/100\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Random [(4096, 4096, 1.0)] read 0.5 depth 1×1 sync 0 share 1.00 own None stop Some(10485760)
            besides skew {"centre":null,"law":{"in_bytes":false,"kind":"zones","reads":[{"io_percent":50,"size":5},{"io_percent":30,"size":15},{"io_percent":20,"size":80}],"writes":[{"io_percent":100,"size":100}]},"seeds":[2686932836]}
            a.0.0 Some((0, 10485760)) make Some(10485760)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nrw=randread\nsize=10m\nrandom_distribution=zoned_abs:60/1m:40/9m\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Random [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(10485760)
            besides skew {"centre":null,"law":{"in_bytes":true,"kind":"zones","reads":[{"io_percent":60,"size":1048576},{"io_percent":40,"size":9437184}],"writes":[{"io_percent":60,"size":1048576},{"io_percent":40,"size":9437184}]},"seeds":[2686932836]}
            a.0.0 Some((0, 10485760)) make Some(10485760)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nrw=randread\nsize=10m\nrandom_distribution=normal:20\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Random [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(10485760)
            besides skew {"centre":null,"law":{"kind":"bell","percent":20.0},"seeds":[2686932836]}
            a.0.0 Some((0, 10485760)) make Some(10485760)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
    ] {
        check("job", file, &expected);
    }
}

#[test]
fn compiles_sizes_trims_zones_and_files() {
    for (file, expected) in [
        (
            "[a]\nrw=randrw\nbs=4k,64k\nsize=1m\nrwmixread=75\nnumber_ios=100\n",
            expect![[r#"
                a: None warm 0 s, Closed, Threads, seed 137
                  a.0: Permutation [(4096, 4096, 1.0)] read 0.75 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
                    besides write_sizes [{"max_bytes":65536,"min_bytes":65536,"share":1.0,"step_bytes":65536}]
                    a.0.0 Some((0, 1048576)) make Some(1048576)
                report a group 0 jobs 1 parts 1
            "#]],
        ),
        (
            "[a]\nrw=randrw\nbssplit=4k/60:8k/40,64k/100\nsize=1m\nrate=1m,2m\n",
            expect![[r#"
                a: None warm 0 s, Open { rate_per_s: 214.85714285714286, arrivals: Constant }, Threads, seed 137
                  a.0: Permutation [(8192, 8192, 0.4), (4096, 4096, 0.6)] read 0.851063829787234 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
                    besides write_sizes [{"max_bytes":65536,"min_bytes":65536,"share":1.0,"step_bytes":65536}]
                    a.0.0 Some((0, 1048576)) make Some(1048576)
                report a group 0 jobs 1 parts 1
            "#]],
        ),
        (
            "[a]\nrw=randtrim\nfilename=/there/d\nbs=64k\nioengine=libaio\niodepth=8\n",
            expect![[r#"
                a: None warm 0 s, Closed, Threads, seed 137
                  a.0: Permutation [(65536, 65536, 1.0)] read 0 depth 1×1 sync 0 share 1.00 own None stop Some(1073741824)
                    besides trims true
                    /there/d Some((0, 1073741824)) make None
                report a group 0 jobs 1 parts 1
            "#]],
        ),
        (
            "[a]\nrw=read\nsize=16m\nzonemode=strided\nzonesize=1m\nzoneskip=3m\n",
            expect![[r#"
                a: None warm 0 s, Closed, Threads, seed 137
                  a.0: Strides { least_bytes: 3145728, most_bytes: 3145728 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(16777216)
                    a.0.0 Some((0, 16777216)) make Some(16777216)
                report a group 0 jobs 1 parts 1
            "#]],
        ),
        (
            "[a]\nnrfiles=3\nsize=3m\nfile_service_type=random\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(3145728)
            besides turns "random"
            a.0.0 Some((0, 1048576)) make Some(1048576)
            a.0.1 Some((0, 1048576)) make Some(1048576)
            a.0.2 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nfilename=/there/x:/there/y\nioengine=libaio\niodepth=5\nsize=2m\nfile_service_type=sequential\n",
            expect![[r#"
                a: None warm 0 s, Closed, Libaio, seed 137
                  a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×5 sync 0 share 1.00 own None stop Some(2097152)
                    besides batches {"collect_least":1,"collect_most":1,"refill_below":5,"submit":1}, times_submission true, turns "in-order"
                    /there/x Some((0, 1048576)) make None
                    /there/y Some((0, 1048576)) make None
                report a group 0 jobs 1 parts 1
            "#]],
        ),
    ] {
        check("job", file, &expected);
    }
}

#[test]
fn concurrent_jobs_have_own_run_periods() {
    for (file, expected) in [
        (
            "[global]\nsize=1m\n[a]\nruntime=5\nstartdelay=2\n[b]\nruntime=6\nstartdelay=4\nexitall\n",
            expect![[r#"
                a+b: Some(8.0) warm 0 s, Closed, Threads, seed 137
                  a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 0.50 own None stop Some(1048576)
                    besides duration_s 5.0, ends_phase true
                    a.0.0 Some((0, 1048576)) make Some(1048576)
                  b.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 0.50 own None stop Some(1048576)
                    besides duration_s 6.0, ends_phase true, start_after_s 2.0
                    b.0.0 Some((0, 1048576)) make Some(1048576)
                report a group 0 jobs 1 parts 1
                report b group 0 jobs 1 parts 1
            "#]],
        ),
        (
            "[global]\nsize=1m\nramp_time=1\n[a]\nruntime=5\n[b]\nbs=8k\n",
            expect![[r#"
        a+b: None warm 1 s, Closed, Threads, seed 137
          a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 0.50 own None stop Some(1048576)
            besides duration_s 6.0
            a.0.0 Some((0, 1048576)) make Some(1048576)
          b.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(8192, 8192, 1.0)] read 1 depth 1×1 sync 0 share 0.50 own None stop Some(1048576)
            b.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
        report b group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nsize=1m\nss=iops:2%\nss_dur=10\nss_ramp=2\nruntime=60\ntime_based\n",
            expect![[r#"
        a: Some(60.0) warm 0 s, Closed, Threads, seed 137
          a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop None
            a.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
    ] {
        check("job", file, &expected);
    }
}

#[test]
fn logs_without_averaging_keep_a_journal() {
    for (file, expected) in [
        (
            "[a]\nsize=1m\nwrite_bw_log=x\nlog_avg_msec=100\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
            a.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nsize=1m\nwrite_lat_log\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
            besides keeps_journal true
            a.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
        (
            "[a]\nsize=1m\nwrite_hist_log\nlog_hist_msec=1000\nlog_avg_msec=1000\n",
            expect![[r#"
        a: None warm 0 s, Closed, Threads, seed 137
          a.0: Sequential { cursor: Shared, at_end: Wrap, gap_bytes: 0 } [(4096, 4096, 1.0)] read 1 depth 1×1 sync 0 share 1.00 own None stop Some(1048576)
            besides keeps_journal true
            a.0.0 Some((0, 1048576)) make Some(1048576)
        report a group 0 jobs 1 parts 1
    "#]],
        ),
    ] {
        check("job", file, &expected);
    }
}

#[test]
fn rejects_conflicts_with_location() {
    for (file, expected) in [
        (
            "[a]\nrw=randread\nsize=1m\nthinktime=10\nrate=1m\n",
            expect![[r#"
                job:1:1: job `a`: thinktime and a rate exclude each other
                leave one out
            "#]],
        ),
        (
            "[a]\nsize=1m\nramp_size=1k\nramp_time=1\n",
            expect![[r#"
                job:1:1: job `a`: ramp_time and ramp_size exclude each other, as in fio
                leave one out
            "#]],
        ),
        (
            "[a]\nsize=1m\ncmdprio_percentage=20\n",
            expect![[r#"
            job:1:1: job `a`: ioengine=psync has no option cmdprio_percentage, as in fio
            use ioengine=libaio or io_uring
        "#]],
        ),
        (
            "[a]\nsize=1m\nioengine=libaio\ncmdprio_percentage=20\ncmdprio_bssplit=4k/20\n",
            expect![[r#"
                job:1:1: job `a`: cmdprio_percentage and cmdprio_bssplit are mutually exclusive
                leave one out
            "#]],
        ),
        (
            "[a]\nsize=1m\nioengine=libaio\ncmdprio_bssplit=4k/70:4k/40\n",
            expect![[r#"
            job:1:1: job `a`: cmdprio_bssplit: the shares of 4096 B exceed 100 %
            lower the percentages
        "#]],
        ),
        (
            "[a]\nsize=1m\nioengine=libaio\ncmdprio_bssplit=4k/70/1\n",
            expect![[r#"
            job:4:1: invalid value `4k/70/1` for `cmdprio_bssplit`: it must be sizes with percentages, like 64k/20:4k/10/3/0
            see `man fio` for the values of this option
        "#]],
        ),
        (
            "[a]\nsize=1m\nioengine=libaio\nrw=randtrim\ncmdprio_percentage=20\n",
            expect![[r#"
                job:1:1: job `a`: trims have no priority of their own
                leave out cmdprio_percentage and its like
            "#]],
        ),
        (
            "[a]\nsize=1m\nnrfiles=3\nzonemode=strided\nzonesize=64k\nopenfiles=2\nnumjobs=2\n",
            expect![[r#"
                job:1:1: job `a`: several open files turn its zones off, and fio refuses them for further clones
                add openfiles=1, or leave out numjobs or zonesize
            "#]],
        ),
        (
            "[a]\nsize=1m\nioengine=splice\n",
            expect![[r#"
                job:1:1: job `a`: assay has no ioengine `splice` (its data goes through a pipe, 64 KiB at most at once, which is not the device's); it has sync, psync, vsync, pvsync, pvsync2, mmap, filecreate, filestat, filedelete, libaio, posixaio, io_uring, null
                choose io_uring or libaio, or run this job with fio
            "#]],
        ),
        (
            "[a]\nsize=1m\nfile_service_type=random:x\n",
            expect![[r#"
                job:3:1: invalid value `random:x` for `file_service_type`: after the colon must be a number of I/O, like roundrobin:8
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nrandom_distribution=zipf:0\n",
            expect![[r#"
                job:4:1: invalid value `zipf:0` for `random_distribution`: zipf takes an exponent like 1.2, but not 1
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nrandom_distribution=zoned:50/60:50/60\n",
            expect![[r#"
                job:4:1: invalid value `zoned:50/60:50/60` for `random_distribution`: shares of I/O must add up to 100, sizes to at most 100
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nrandom_distribution=zoned_abs:60/64k:40/\n",
            expect![[r#"
                job:4:1: invalid value `zoned_abs:60/64k:40/` for `random_distribution`: a zone needs a size like 10g
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nrandom_distribution=zoned_abs:100/2m\n",
            expect![[r#"
        job:1:1: job `a`: its zones are larger than the file
        lower their sizes or raise size=
    "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nrandom_distribution=zipf:1\n",
            expect![[r#"
                job:4:1: invalid value `zipf:1` for `random_distribution`: zipf takes an exponent like 1.2, but not 1
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nrw=randread\nsize=1m\nrandom_distribution=pareto:0.2:1.5\n",
            expect![[r#"
                job:4:1: invalid value `pareto:0.2:1.5` for `random_distribution`: the centre of pareto must be from 0 to 1, like 0.5
                see `man fio` for the values of this option
            "#]],
        ),
        (
            // The seed of the third job ends with three set bits, as many as its register has.
            "[a]\nrw=randread\nsize=28k\nnumjobs=3\nrandom_generator=lfsr\n",
            expect![[r#"
                job:1:1: job `a`: random_generator=lfsr cannot begin with its seed, as in fio
                give another randseed, or leave random_generator out
            "#]],
        ),
        (
            "[a]\nsize=1m\nzonesize=64k\n",
            expect![[r#"
            job:1:1: job `a`: zonesize has no effect without zonemode=strided, and fio refuses it
            add zonemode=strided, or leave it out
        "#]],
        ),
        (
            "[a]\nnrfiles=2\nfilesize=4k\nioengine=filestat\nfsync=1\n",
            expect![[r#"
            job:1:1: job `a`: ioengine=filestat reads and writes nothing, and excludes fsync and its like
            leave one out
        "#]],
        ),
        (
            "[a]\nnrfiles=2\nfilesize=4k\nioengine=dirdelete\n",
            expect![[r#"
            job:1:1: job `a`: assay has no ioengine `dirdelete` (an engine of fio 3.37; assay makes calls on files only); it has sync, psync, vsync, pvsync, pvsync2, mmap, filecreate, filestat, filedelete, libaio, posixaio, io_uring, null
            choose io_uring or libaio, or run this job with fio
        "#]],
        ),
        (
            "[a]\nsize=1m\nzonemode=strided\n",
            expect![[r#"
        job:1:1: job `a`: zonemode=strided needs a zonesize
        add zonesize=64m
    "#]],
        ),
        (
            "[a]\nsize=1m\ncpus_allowed=3-1\n",
            expect![[r#"
                job:3:1: invalid value `3-1` for `cpus_allowed`: it must be numbers below 8192 and ranges, like 0-3,8
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nsize=1m\nnuma_cpu_nodes=7\n",
            expect![[r#"
        job:1:1: job `a`: this machine has no NUMA node 7
        `assay doctor` and `lscpu` show the nodes
    "#]],
        ),
        (
            "[a]\nsize=1m\nlatency_target=10ms\n",
            expect![[r#"
                job:1:1: job `a`: latency_target searches a depth, and its engine has one I/O in flight
                use ioengine=io_uring or libaio with iodepth=
            "#]],
        ),
        (
            "[a]\nsize=1m\nlog_hist_coarseness=7\n",
            expect![[r#"
                job:3:1: invalid value `7` for `log_hist_coarseness`: it must be a whole number from 0 to 6
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nsize=1m\nss=iops:2%\nss_dur=10\nnumjobs=2\n",
            expect![[r#"
        job:1:1: job `a`: steadystate applies to all jobs that run together
        add group_reporting, or separate the jobs with stonewall
    "#]],
        ),
        (
            "[a]\nsize=1m\nread_beyond_wp=1\n",
            expect![[r#"
                job:3:1: `assay fio` does not support read_beyond_wp=1: zoned block devices are not supported
                remove it, or run this job with fio itself; docs/fio.md lists the supported options
            "#]],
        ),
        (
            "[a]\nsize=1m\nspr_op=1\n",
            expect![[r#"
                job:3:1: `assay fio` does not support spr_op=1 (new in fio 3.41): a device is not prepared by overwrites
                write it twice at random, with norandommap
            "#]],
        ),
        (
            "[a]\nsize=1m\nbuffer_pattern=%o\n",
            expect![[r#"
                job:3:1: invalid value `%o` for `buffer_pattern`: the offset of a block cannot be part of a pattern
                see `man fio` for the values of this option
            "#]],
        ),
        (
            "[a]\nsize=1m\nrw=write\nverify=pattern\n",
            expect![[r#"
                job:1:1: job `a`: verify=pattern has no pattern
                add verify_pattern=0xdeadbeef
            "#]],
        ),
        (
            "[a]\nsize=1m\nfile_service_type=zipf:1.2\n",
            expect![[r#"
                job:3:1: invalid value `zipf:1.2` for `file_service_type`: it must be random, roundrobin or sequential
                see `man fio` for the values of this option
            "#]],
        ),
    ] {
        check_refused("job", file, &expected);
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
