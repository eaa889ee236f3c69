# Doubts and failures: the message is the text, its attribute the advice. Digits and units come in as
# variables, as in the other file.

## Doubts
advice-more-time = give it more time, for example `--budget 10m` or a longer `--for`
advice-tool-repeats = the tool or its options decide the number of repetitions; request more, or run the case several times
advice-raw-output = look at the stored raw output
advice-kernel-log = check the kernel log (`dmesg`), then repeat
advice-check-address = check the address and the route to it
luck-pages = placement in memory
luck-connections = set of connections
luck-launch = launch
depends-pages = the result depends on page placement; huge pages reduce the effect, and more time allows more preparations
depends-connections = the result depends on the connection: on the CPUs that serve it and on other traffic on its path; more time allows more connections
depends-launch = the result depends on the launch: on the memory and CPUs its processes got; more time allows more launches
doubt-no-interval = { $n ->
    [one] no { $level } interval for the median from { $n } sample: { $needed } independent ones are needed
   *[other] no { $level } interval for the median from { $n } samples: { $needed } independent ones are needed
}
doubt-no-interval-worth = { $n ->
    [one] no { $level } interval for the median from { $n } sample ({ $worth } effective): { $needed } independent ones are needed
   *[other] no { $level } interval for the median from { $n } samples ({ $worth } effective): { $needed } independent ones are needed
}
doubt-wider-than-value = the { $level } interval of the median is wider than the value itself; the target was ±{ $target } (n = { $n }, { $worth } effective)
    .advice = { $first }, or quiet the machine: `assay doctor` lists the disturbances
doubt-wide-interval = the { $level } interval of the median is ±{ $width }; the target was ±{ $target } (n = { $n }, { $worth } effective)
    .advice = { $first }, or quiet the machine: `assay doctor` lists the disturbances
doubt-one-preparation = all samples share one { $luck }; { $asked } were requested, and the interval does not show how much that matters
doubt-few-preparations = there was time for { $had } of the { $asked } preparations requested
doubt-preparations-differ = { $share } of the variance lies between the { $preparations } preparations: { $n } samples amount to { $worth } effective ones
doubt-autocorrelated = successive samples are correlated: { $n } samples amount to { $worth } effective ones
    .advice = something slower than a repetition affects the result, such as clock frequency, temperature or another process; `assay doctor` lists its findings
doubt-warm-up-discarded = { $discarded } of { $all } samples differ from those that follow and were discarded as warm-up
    .advice = the result covers the samples after them; all samples are stored in the order measured
doubt-several-modes = the samples fall into groups: { $few } near { $low } and { $many } near { $high }; no single number describes both
    .advice = find the cause of the switching: page placement, clock frequency, another process; the samples are stored in the order measured
doubt-samples-not-finite = { $refused } of { $all } samples are not finite and were left out
    .advice = the tool divided by a time of zero or printed no number; look at its raw output
doubt-not-a-value = { $figure } cannot be a measured value of { $metric }
    .advice = the measurement did nothing, or its output was misread; look at the raw output
doubt-out-of-order = { $law } does not hold: { $less } > { $more }
    .advice = these figures cannot come from one sample; do not use them
order-low-median = lower end of the interval ≤ median
order-median-high = median ≤ upper end of the interval
doubt-above-limit = the median is { $share } of its limit, { $limit } ({ $basis })
    .advice = the cache was measured, or the unit or the limit is wrong: check the size, the unit and how the limit was derived
doubt-no-rpeak = no Rpeak: the best rate is { $rate } FLOP per cycle of the measured clock, which matches no core
    .advice = something else used these CPUs: check steal and CPU pressure, then measure again
advice-limit-contended = something else used these CPUs: check steal and CPU pressure, then measure again
doubt-unknown-metric = { $case } has samples of `{ $metric }`, which this version does not know
    .advice = read the run with the version of assay that wrote it
doubt-cache-assisted = arrays of { $size } are only { $multiple } times the last-level caches, so part of the traffic never reached memory
    .advice = use arrays of at least { $needed } times the caches, or free memory
doubt-idle-latency-differs = without traffic the chain takes { $idle } per load, but memory latency of the same working set is { $latency }
    .advice = other load or other pages: check the huge pages of both, then measure both again
doubt-traffic-above-stream = the traffic of { $traffic } exceeds every rate of STREAM, { $stream }
    .advice = the traffic came from a cache, or STREAM ran slower: measure both again on an idle machine
doubt-cache-ends-early = loads leave the L{ $level } cache at working sets above { $end }, but the kernel reports { $size }
    .advice = a guest has a share of the cache, or other CPUs use it: take the end from the curve
doubt-hand-over-below-load = a hand-over took { $time }, less than the shortest load, { $load }
    .advice = the virtual CPUs or their clock are not what they seem: check steal and the clock source, then measure again
doubt-steal = the hypervisor took { $stolen } of CPU time ({ $share }) within { $span }
    .advice = repeat at a quieter time, or on a machine that does not share its CPUs
doubt-cpu-pressure = some task was waiting for a CPU { $share } of the time
    .advice = stop other programs, or measure with fewer threads than CPUs
doubt-memory-pressure = some task was waiting for memory { $share } of the time
    .advice = use smaller arrays, or free memory before the run
doubt-throttled = { $n ->
    [one] the control group ran out of its CPU quota { $n } time within { $span }
   *[other] the control group ran out of its CPU quota { $n } times within { $span }
}
    .advice = raise the CPU limit of the container or service, or use no more threads than it allows
doubt-frequency-drop = the highest CPU frequency fell from { $before } before to { $after } after ({ $change })
    .advice = check cooling and power limits; pin the frequency when comparing two machines
doubt-other-load = the load average was { $load } before anything was measured
    .advice = stop other programs; a measurement that has just ended still counts for a minute
doubt-other-demand = other processes used { $cpus } of { $all } CPUs ({ $share }) during the measurement
    .advice = stop other programs; `assay doctor load` lists the busiest
doubt-another-assay = another assay is measuring on this machine; the two may disturb each other
    .advice = wait until it has finished and measure again
doubt-emulated-cpu = the processor is emulated in software (QEMU without KVM): the speeds measured here do not apply to a real machine
    .advice = use these figures to see that the program works, and measure on real hardware or under KVM
doubt-suspended = the machine was suspended for { $time } during the run
    .advice = measure again: these results include time when nothing was measured
doubt-paused = { $n ->
    [one] assay stalled for { $time }, { $n } time: it was stopped or got no CPU
   *[other] assay stalled for { $time }, { $n } times: it was stopped or got no CPU
}
    .advice = measure again: these results include time when nothing was measured
doubt-cpus-taken = { $n ->
    [one] assay could no longer use CPU { $cpus }: taken offline, or removed from its cpuset or affinity
   *[other] assay could no longer use CPUs { $cpus }: taken offline, or removed from its cpuset or affinity
}
    .advice = measure again: threads meant for such a CPU shared another one
doubt-clock-stepped = the system clock was stepped by { $step } during the run
    .advice = durations and the order of events come from a monotonic clock and are unaffected; find the program that sets the system clock: `timedatectl`, `chronyc tracking`
doubt-over-budget = the run took { $elapsed } against a budget of { $budget }: fixed lengths and first results are not shortened
    .advice = give it more time (`--budget`), or choose fewer cases in a suite file
unsteady-too-few = too few rounds, or rounds without any I/O
unsteady-window = the last { $n } still differ by { $range } and change by { $slope }
unsteady-drift = and a trend of { $drift } goes on
doubt-steady-state-not-reached = steady state not reached in { $rounds } rounds: { $found }
    .advice = at most { $range } and { $slope } are allowed: write more before it (`--precondition`), give longer rounds (`--for`), or look for other users of this storage
doubt-search-not-finished = search interrupted after { $n } rates: between { $keeps }, which meets the goal, and { $misses } nothing is known
    .advice = let it run to its end: the maximum rate that meets the goal may be higher
doubt-target-in-memory = { $path } is in memory ({ $kind }): no storage device is measured
    .advice = name a file, a folder or a device of the intended storage
advice-page-cache = the page cache of this host has the rest: measure with O_DIRECT, or with more data than fits into memory, and end writes with fsync
advice-cache-below = something between this host and the device has the rest: look for a cache or compression of the volume, and for holes in the file
doubt-cached-reads = at least { $share } of the bytes read did not come from { $place }: it supplied { $moved } of { $payload }
doubt-cached-writes = at least { $share } of the bytes written did not reach { $place } during the measurement: it received { $moved } of { $payload }
doubt-card-traffic-more = { $device } moved { $factor } times the payload, more than headers explain
    .advice = look for other traffic on the device (`ip -s link`) and for retransmits (`nstat`)
doubt-card-traffic-less = { $device } moved only { $factor } times the payload
    .advice = another device carried the rest, or the driver does not count all of it: check the route (`ip route get`) and `ethtool -S`
doubt-rpc-retransmits = calls that the NFS client of { $mount } sent again: { $n } of { $calls }
    .advice = the server or the path lost calls or answered too late: check `nfsstat -c`, the network and the load of the server
doubt-interrupt-bound = { $cpu } spent { $share } of its time in interrupts and had none left: it limited the result
    .advice = distribute the interrupts over more CPUs: more queues (`ethtool -L`), or receive packet steering; more streams help only if they reach other queues
doubt-io-limit-reached = { $device } reached the limit of the control group: { $reached } of { $limit }
    .advice = the value is that of the limit, not of the device: raise `io.max` or `blkio.throttle` to measure the device
doubt-file-with-holes = { $path } is { $size }, but only { $stored } of it is allocated
    .advice = reading a hole does no I/O: name a path where assay can create a file, or write the whole file first; or the file system compresses
doubt-littles-law = { $flight } I/Os were in flight, but rate × latency is { $product }: they differ by { $difference }
    .advice = latency or rate is wrong; look at the series stored with the run
doubt-rate-missed = { $asked } requested, { $reached } reached
    .advice = the storage, the queue depth or a busy machine is the limit: latency from the intended start keeps growing; request a lower rate or more depth
doubt-not-started = { $n } of { $due } requests that were due had not started when the time was up
    .advice = they count with the time they had waited by then, so the printed latencies from the intended start are lower bounds; request a lower rate, or more depth where there is one
doubt-message-rate-missed = { $asked } messages per second were requested and { $reached } answered: the rate was not reached
    .advice = one message at a time is under way on the connection, so a round trip is the shortest time between two; latency counts from when each was due and grows while it lasts, also of those that were not sent in time; request a lower rate
doubt-generator-near = the generator alone reaches { $rate }, only { $factor } times the measured rate
    .advice = give it more threads: part of the latency may be the generator's
doubt-io-failed = { $operation } of { $size } bytes at byte { $offset } of target { $target } failed: { $cause }
doubt-file-operation-failed = { $operation } of { $path } failed: { $cause }
doubt-measured-once = { $by } measures once, without looking for a steady state
    .advice = let assay measure first in the same run: the steady state it finds holds for both
doubt-other-binding = the ranks were bound to CPUs { $bound }; { $asked } were requested, one each
    .advice = the launcher or its configuration binds differently: the measured placement differs from the one named
doubt-one-kernel = both hosts run on one kernel: the MPI library may have used shared memory instead of the network
    .advice = name a host that is another machine, or keep the library from using shared memory: `UCX_TLS=^shm`, `I_MPI_FABRICS=ofi`
doubt-unbound-ranks = { $unbound } of { $ranks } ranks are not bound to one CPU, and { $moved } of them moved
    .advice = bind them through the launcher: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)
doubt-function-bypassed = the virtual function { $function } carried { $share } of the traffic of { $device } during the test
    .advice = accelerated networking is configured but not in use: look for `Data path switched` in the kernel log
rounded-at = {" "}at { $at }
doubt-score-contradicted = the score of the file does not follow from its phases: it prints { $printed }, and they give { $calculated }
    .advice = check whether lines of the file were changed or belong to another run
doubt-rounded-output = the tool prints so few decimals that { $metric } is known only to ±{ $share }{ $at }
    .advice = compare larger messages, or use assay's own figures, which are not rounded
doubt-option-contradicted = the options give { $option } for { $condition }, the figures { $figures }: the figures are stored
    .advice = check that the file belongs to these options, and that the tool ran to its end
doubt-process-cpu-only = `iperf3` reports only the CPU time of its own processes: receive softirqs are not included
    .advice = see assay's own figures for the full cost
doubt-far-process-cpu-only = the far end is `iperf3`, which reports only the CPU time of its own process: receive softirqs are not included
    .advice = run `assay iperf3 -s` at the far end to get the full cost
doubt-broke-off = the case ended early: the result covers the time until then
    .advice = measure again for the whole
doubt-copy-unknown = `iperf3` older than { $version } at the far end copies received data regardless of the request
    .advice = run `assay iperf3 -s` at the far end
doubt-shared-server = the server also ran other tests during { $share } of this one (number: { $n }): they shared its link and CPUs
    .advice = measure alone, or start the server without `--clients`
doubt-other-thread-count = stream ran { $ran } threads; { $asked } were requested
    .advice = compile `stream.c` with `-fopenmp`, and make sure nothing else sets OpenMP's variables
doubt-smaller-arrays = the tool's arrays hold { $held }; { $wanted } were requested: { $multiple } times the last-level caches
    .advice = give the tool larger arrays; STREAM's own rule is four times the caches
doubt-events-changed = the stored events of this run were changed after they were written
    .advice = `assay verify RUN` names every place
doubt-events-lost = { $n ->
    [one] { $n } event of this run is lost: the report is incomplete
   *[other] { $n } events of this run are lost: the report is incomplete
}
    .advice = `assay verify RUN` names every place
doubt-store-index = the index { $path } cannot be written: { $cause }
    .advice = nothing is lost: runs are listed from their events, only more slowly; make the folder writable

## Failures
failure-no-samples = nothing measured: the case has no samples
    .advice = look at the stored raw output
failure-no-finite-sample = nothing measured: no sample of { $metric } is a finite number
    .advice = look at the stored raw output
failure-icmp-has-no-streams = ICMP carries no streams
    .advice = ask for `latency`
failure-no-echo = the host answers no ICMP echo
    .advice = it or a firewall may ignore ICMP; `assay net latency` uses TCP or UDP
failure-residual-too-large = the solution is wrong: its scaled residual is { $residual } and must be below { $bound }
    .advice = repeat once; if it fails again, test the memory and the clock settings of this machine
failure-unknown-instruction-set = there is no instruction set `{ $name }`
    .advice = the plan was written by another version of assay; plan again
failure-skipped = skipped: { $lack }
    .advice = see the case that found it: its failure has the remedy
lack-address = the host { $host } could not be found
lack-port = port { $port } of { $host } could not be reached
lack-echo = nothing at { $host } answers ping-pongs
lack-connection = no connection to { $host } could be made
failure-tool-cannot-search = { $by } measures a given rate and does not search for one
    .advice = let assay search, and give the tool the result as `--rate`
failure-curve-without-maximum = the maximum rate of this curve is not known
    .advice = the case before it failed: look at its reason first
no-io-done = no I/O was done
failure-no-rate-keeps-goal = no rate was shown to meet { $goal }: { $last }
    .advice = allow more latency, or give every step more time (`--for`): a percentile needs many I/Os
rate-tried = { $asked } requested, { $reached } reached, { $late } of the I/O too late: { $verdict }
failure-io-failed = { $n ->
    [one] one I/O failed: { $operation } at byte { $offset } of { $target }
   *[other] { $n } I/Os failed, first: { $operation } at byte { $offset } of { $target }
}
failure-file-operation-failed = { $n ->
    [one] one operation failed: { $operation } of { $path }
   *[other] { $n } operations failed, first: { $operation } of { $path }
}
failure-no-io = no I/O completed in the time that counts
    .advice = give it more time with `--for` or `--budget`
failure-unknown-host = the host { $host } is not known
    .advice = check the name, or give an address
failure-no-address = the host { $host } has no address of the requested family
    .advice = leave out `-4` or `-6`
failure-no-interface = the link-local address { $host } names no interface of this host
    .advice = give the interface that leads to it: { $addresses }
failure-not-connected = cannot connect to { $address }
advice-refused = nothing listens there: start a server on that host (`assay iperf3 -s -B ADDRESS` or `iperf3 -s` for streams, `qperf` for ping-pongs), or name its port
advice-refused-connections = nothing listens there: start `assay iperf3 -s -B ADDRESS` on that host, or name its port
advice-timed-out = a firewall between the two hosts may drop the packets: open the port, or name another
failure-no-ping-pong = nothing at { $host } answers ping-pongs
    .advice = an `iperf3` server alone does not: run `qperf` in addition to `iperf3 -s` there, or `assay iperf3 -s`, which serves both; ICMP echoes need neither
failure-stalled = no data has moved between here and { $peer } for { $time }
    .advice = the path was cut, a firewall forgot the connections, or the other end hangs
failure-peer-busy = { $peer } is busy running a test, or refuses this client
    .advice = wait until its current test has ended, or name another port
failure-peer-stopped = { $peer } has terminated the test
    .advice = it was stopped at that end, as happens to streams that only load a link while something else is measured
failure-no-data = no data arrived
    .advice = a firewall may pass the control connection but not the data
failure-wrong-contents = messages of { $size } arrived with wrong contents
    .advice = the library or the network corrupts data: test both
failure-rank-died = a rank died: { $how }
    .advice = if no user killed it, the kernel killed it for lack of memory (see `dmesg`) or the library failed; { $see }
launcher-ended = the launcher ended with code { $code }
launcher-killed = the launcher was killed by a signal
launcher-said = { $how }; its output: { $words }
launcher-executable = check that { $launcher } can be executed
failure-no-outcome-here = the first rank wrote nothing on this host
    .advice = it must run on the host that assay was started on: name that host first in the list
failure-no-outcome = the launch succeeded, but the first rank wrote nothing
    .advice = it must run on the host that assay was started on: name that host first in the list
failure-other-version = the ranks are assay { $found }, this one is { $own }
    .advice = install the same version of assay on all hosts
failure-other-rank-count = { $found } ranks took part; { $asked } were requested
failure-launch-broke-off = the launch ended before all sizes were measured
see-by-hand = see its output (also stored with the run): { $command }
area-threads = measure again: a CPU may have gone offline or left the cpuset, or the system refuses further threads (`ulimit -u`, `pids.max`)
area-stream = smaller arrays (`--bytes`) need less memory; wrong contents mean defective memory or an overclocked machine
area-latency = choose a smaller working set (`to` in a suite file), and see `assay doctor`
area-peak-flops = `assay doctor` shows the competing load on these CPUs; a wrong sum means a defective processor
area-linpack = choose a smaller system with `--n` or `--memory`
area-blas = install the library (Debian: `libopenblas0-pthread`, `libblis4-pthread`) or give its full path
area-generator = the generator alone should run anywhere: please report this
area-icmp = `sysctl net.ipv4.ping_group_range="0 2147483647"` allows every user to ping; or run as root
area-rdma = `rdma link` lists RDMA devices and their state; see `assay help rdma`
area-launcher = check that the launcher can be executed
area-process = run the recorded command by hand to see its errors
area-tool = look at the stored raw output; if it is a version of the tool that assay does not know, report it with that output
area-temporary-folder = free some space in the folder for temporary files
area-host = see the warning about that host
area-own-program = start assay by its path, from a folder that still exists

## Missing requirements of optional cases
missing-host = no second host is named
    .advice = name one with `--to HOST`
missing-target = no file, folder or device is named
    .advice = name one with `--target`; a file in a folder is created there, and removed
missing-mpi = no MPI was found
    .advice = install one, or name its prefix with `--mpi`; `assay doctor` lists the installed ones
missing-domain = this machine has no such domains, or hides them
    .advice = `assay doctor` shows its topology
missing-cores = more threads or ranks are asked for than there are cores
    .advice = ask for fewer, or leave the number out
missing-memory = there is too little memory
    .advice = free some of it
missing-known-memory = the size of the usable memory is unknown
    .advice = make /proc/meminfo readable here, or limit the memory of the control group
missing-tool = the tool was not found
    .advice = `assay help tools` lists them
missing-library = the library that it is to use was not found
    .advice = install the library, or take it out of the suite
missing-rdma-device = no RDMA device was found
    .advice = load the driver of the network card (`rdma link` lists devices), or add software RoCE: `rdma link add rxe0 type rxe netdev eth0`
missing-time = the budget of the run ended before it
    .advice = give it more time with `--budget`, or measure less at once
doubt-worse-than-pairs = { $from } to { $to } is worse than the other pairs: { $value } against a median of { $median } over { $pairs } pairs ({ $change }); chance alone does not explain it
    .advice = compare with the pairs that share one of its hosts: is it a host, or the way between the two? `assay doctor --to HOST` looks at the path
doubt-worse-than-peers = { $host } is worse than its peers: { $value } against a median of { $median } over { $hosts } hosts ({ $change }); chance alone does not explain it
    .advice = `assay doctor --hosts` shows how it differs; leave it out, or have it checked
doubt-host-saturated = { $host } was busy up to its limit: { $resource } at { $share }; the result may be the limit of this host
    .advice = use more hosts, or a larger one, so that each has less to do
