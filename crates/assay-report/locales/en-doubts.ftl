# What is doubtful or failed, in words: the message is the text, its attribute the advice. Without digits and
# units, as in the other file.

## Doubts
advice-more-time = give it more time, for example `--budget 10m`
advice-tool-repeats = the tool decides how often it repeats; run the case several times
advice-raw-output = look at the stored raw output
advice-kernel-log = look at the kernel's messages with `dmesg`, then repeat
advice-check-address = check the address and the route to it
luck-pages = placement in memory
luck-connections = round of connections
luck-launch = launch
depends-pages = the result depends on where the pages lie; huge pages make it depend less, and more time gives more preparations
depends-connections = the result depends on the connection: on the CPUs that serve it, and on what else is on its way; more time gives more connections
depends-launch = the result depends on the launch: on memory and CPUs that its processes got; more time gives more launches
doubt-no-interval = { $n ->
    [one] no { $level } interval of the median from { $n } sample: it takes { $needed } independent ones
   *[other] no { $level } interval of the median from { $n } samples: it takes { $needed } independent ones
}
doubt-no-interval-worth = { $n ->
    [one] no { $level } interval of the median from { $n } sample worth { $worth }: it takes { $needed } independent ones
   *[other] no { $level } interval of the median from { $n } samples worth { $worth }: it takes { $needed } independent ones
}
doubt-wide-interval = the { $level } interval of the median reaches ±{ $width }, where ±{ $target } was asked for (n = { $n }, worth { $worth })
    .advice = { $first }, or quiet the machine: `assay doctor` lists what disturbs it
doubt-one-preparation = all samples share one { $luck }, where { $asked } were asked for; the interval does not show how much it matters
doubt-few-preparations = there was time for { $had } preparations, where { $asked } were asked for
doubt-preparations-differ = { $share } of the variance lies between the { $preparations } preparations: { $n } samples are worth { $worth } independent ones
doubt-autocorrelated = neighbouring repetitions resemble each other: { $n } samples are worth { $worth } independent ones
    .advice = something slower than a repetition moves the result, such as the clock frequency, heat or another process; `assay doctor` lists what it sees
doubt-warm-up-discarded = { $discarded } of { $all } samples stand out from those after them, and were discarded as warm-up
    .advice = the result is of what came later; all samples are in the store in order of measurement
doubt-several-modes = the samples fall into groups: { $few } near { $low } and { $many } near { $high }; one number describes neither
    .advice = find what switches between them: page placement, clock frequency, another process; the samples are in the store in order of measurement
doubt-samples-not-finite = { $refused } of { $all } samples are not finite and do not count
    .advice = the measurer divided by a time of zero or printed no number; look at its raw output
doubt-not-a-value = { $figure } cannot be a measured value of { $metric }
    .advice = the measurement did nothing, or its output was misread; look at the raw output
doubt-out-of-order = { $law } is broken: { $less } > { $more }
    .advice = these figures cannot come from one sample; do not use them
order-low-median = lower end of the interval ≤ median
order-median-high = median ≤ upper end of the interval
doubt-above-limit = the median is { $share } of its limit, { $limit } ({ $basis })
    .advice = you measured the cache, or the unit or the limit is wrong: look at the size, at the unit and at what the limit is made of
doubt-no-rpeak = there is no Rpeak: the best rate is { $rate } FLOP per cycle of the measured clock, which no core has
    .advice = something else used these CPUs: look for steal and CPU pressure, and measure again
advice-limit-contended = something else used these CPUs: look for steal and CPU pressure, and measure again
doubt-unknown-metric = { $case } has samples of `{ $metric }`, which is unknown here
    .advice = read the run with the version of assay that made it
doubt-cache-assisted = arrays of { $size } are only { $multiple } times the last-level caches, so part of the traffic never reached memory
    .advice = use arrays of at least { $needed } times the caches, or free memory
doubt-steal = the hypervisor took { $stolen } of CPU time ({ $share }) away within { $span }
    .advice = repeat at a quieter time, or on a machine that shares no CPUs with others
doubt-cpu-pressure = some task waited for a CPU in { $share } of the time
    .advice = stop other programs, or measure with fewer threads than CPUs
doubt-memory-pressure = some task waited for memory in { $share } of the time
    .advice = use smaller arrays, or free memory before the run
doubt-throttled = { $n ->
    [one] the control group ran out of its CPU quota { $n } time within { $span }
   *[other] the control group ran out of its CPU quota { $n } times within { $span }
}
    .advice = raise the CPU limit of the container or service, or use no more threads than it allows
doubt-frequency-drop = the highest CPU frequency fell from { $before } before to { $after } after ({ $change })
    .advice = check cooling and power limits; fix the frequency when two machines are compared
doubt-other-load = the load average was { $load } before anything was measured
    .advice = stop other programs; a measurement that has just ended counts for a minute, too
doubt-another-assay = another assay is measuring on this machine; the two may disturb each other
    .advice = wait until it has finished and measure again
doubt-suspended = the machine was suspended for { $time } meanwhile
    .advice = measure again: times in which nobody measured are part of these results
doubt-paused = { $n ->
    [one] assay stood still for { $time }, { $n } time: it was stopped, or got no CPU
   *[other] assay stood still for { $time }, { $n } times: it was stopped, or got no CPU
}
    .advice = measure again: times in which nobody measured are part of these results
doubt-cpus-taken = { $n ->
    [one] assay could no longer use CPU { $cpus }: taken offline, or away from its cpuset or affinity
   *[other] assay could no longer use CPUs { $cpus }: taken offline, or away from its cpuset or affinity
}
    .advice = measure again: threads that belong on such a CPU shared another with the rest
doubt-clock-stepped = the clock of the day was set by { $step } meanwhile
    .advice = durations are of another clock and stay right; times of day in the run are of both
doubt-over-budget = the run took { $elapsed }, where { $budget } were the budget: every case is measured at least once, and an official tool decides itself how long it takes
    .advice = choose fewer cases in a suite file, or fewer tools with `--by`
unsteady-too-few = there were too few rounds, or rounds without any I/O
unsteady-window = the last { $n } still differ by { $range } and change by { $slope }
unsteady-drift = and a trend of { $drift } goes on
doubt-steady-state-not-reached = steady state not reached in { $rounds } rounds: { $found }
    .advice = at most { $range } and { $slope } are allowed: write more before it (`--precondition`), give longer rounds (`--for`), or look for what else uses this storage
doubt-file-with-holes = { $path } has { $size } and only { $stored } of them are stored
    .advice = reading a hole takes no I/O: name a path where assay makes a file, or write all of this one first; or its file system compresses
doubt-littles-law = { $flight } I/O were in flight, but rate × latency is { $product }: they differ by { $difference }
    .advice = latency or rate is wrong; look at the series kept with the run
doubt-rate-missed = { $asked } were asked for and { $reached } were reached
    .advice = the storage or the depth is the limit: latency from the intended start grows as long as it runs; ask for less, or for more depth
doubt-not-started = { $n } of { $due } that were due had not started when the time was up
    .advice = they count with the time they had waited until then, so that latencies from the intended start are at least what is printed; ask for less, or for more depth
doubt-generator-near = the generator alone does { $rate }, only { $factor } times what was reached
    .advice = give it more threads: part of the latency may be the generator's
doubt-io-failed = { $operation } of { $size } bytes at byte { $offset } of target { $target } failed: { $cause }
doubt-file-operation-failed = { $operation } of { $path } failed: { $cause }
doubt-measured-once = { $by } measures once, without looking for a steady state
    .advice = let assay measure in the same run first: what it finds steady is so for both
doubt-other-binding = the ranks were bound to the CPUs { $bound } where { $asked } were asked for, one each
    .advice = the launcher or its configuration binds otherwise: the placement named is not what was measured
doubt-unbound-ranks = { $unbound } of { $ranks } ranks are not bound to one CPU, and { $moved } of them moved
    .advice = bind them by the launcher: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)
doubt-function-bypassed = the virtual function { $function } carried { $share } of what { $device } carried during the test
    .advice = accelerated networking is set up and not in use: look for `Data path switched` in the kernel's log
rounded-at = {" "}at { $at }
doubt-rounded-output = the tool prints so few decimals that { $metric } is only known to ±{ $share }{ $at }
    .advice = compare larger messages, or the figures of assay, which are not rounded
doubt-process-cpu-only = `iperf3` reports the CPU time of its processes alone: the softirqs that receive are not in it
    .advice = look at assay's own figures beside it for the whole account
doubt-far-process-cpu-only = the far end is `iperf3`, which reports the CPU time of its process alone: the softirqs that receive are not in it
    .advice = run `assay iperf3 -s` at the far end to get the whole account
doubt-copy-unknown = a far end that is `iperf3` below { $version } copies what it receives, whatever it is asked
    .advice = run `assay iperf3 -s` at the far end
doubt-other-thread-count = stream ran { $ran } threads where { $asked } were asked for
    .advice = compile `stream.c` with `-fopenmp`, and let nothing else set OpenMP's variables
doubt-smaller-arrays = the tool's arrays hold { $held } where { $wanted } were asked for: { $multiple } times the last-level caches
    .advice = give the tool larger arrays; STREAM's own rule is four times the caches
doubt-events-changed = what is stored of this run is not what was written
    .advice = `assay verify RUN` names every place
doubt-events-lost = { $n ->
    [one] { $n } event of this run is lost: what is shown is not all that was measured
   *[other] { $n } events of this run are lost: what is shown is not all that was measured
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
    .advice = it or a firewall may ignore ICMP; `assay net latency` asks by TCP or UDP
failure-residual-too-large = the solution is wrong: its scaled residual is { $residual } and must be below { $bound }
    .advice = repeat once; if it fails again, test the memory and the clock settings of this machine
failure-unknown-instruction-set = there is no instruction set `{ $name }`
    .advice = the plan was made by another version of assay; make it again
failure-skipped = skipped: { $lack }
    .advice = see the case that found it out: its failure says what to do
lack-address = the host { $host } could not be found
lack-port = port { $port } of { $host } could not be reached
lack-echo = nothing at { $host } answers ping-pongs
failure-tool-cannot-search = { $by } measures a rate, and does not look for one
    .advice = let assay look for it, and give the tool what it finds as `--rate`
failure-curve-without-maximum = the maximum rate of this curve is not known
    .advice = the case before it failed: look at its reason first
no-io-done = no I/O was done
failure-no-rate-keeps-goal = no rate was shown to keep { $goal }: { $last }
    .advice = allow more latency, or give every step more time (`--for`): a percentile needs many I/O
rate-tried = { $asked } asked for, { $reached } reached, { $late } of the I/O later: { $verdict }
failure-io-failed = { $n ->
    [one] one I/O failed: { $operation } at byte { $offset } of { $target }
   *[other] { $n } I/O failed, first: { $operation } at byte { $offset } of { $target }
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
failure-not-connected = cannot connect to { $address }
advice-refused = nothing listens there: start a server on that host (`assay iperf3 -s -B ADDRESS` or `iperf3 -s` for streams, `qperf` for ping-pongs), or name its port
advice-timed-out = a firewall between the two hosts may drop the packets: open the port, or name another
failure-no-ping-pong = nothing at { $host } answers ping-pongs
    .advice = an `iperf3` server alone does not: run `qperf` beside `iperf3 -s` there, or `assay iperf3 -s`, which serves both; ICMP echoes need neither
failure-stalled = nothing has moved between here and { $peer } for { $time }
    .advice = the path was cut, a firewall forgot the connections, or the other end hangs
failure-peer-busy = { $peer } is busy running a test, or refuses this client
    .advice = wait until its present test has ended, or name another port
failure-peer-stopped = { $peer } has terminated the test
    .advice = it was stopped at that end, as streams are that only load a link while something else is measured
failure-no-data = no data arrived
    .advice = a firewall may let the control connection through and not the data
failure-wrong-contents = messages of { $size } arrived with wrong contents
    .advice = the library or the network damages data: test both
failure-rank-died = a rank died: { $how }
    .advice = if nobody killed it, the kernel did so for want of memory (`dmesg` says so) or the library failed; { $see }
launcher-ended = the launcher ended with code { $code }
launcher-killed = the launcher was killed by a signal
launcher-said = { $how }; it said: { $words }
launcher-executable = see whether { $launcher } can be executed
failure-no-outcome-here = the first rank wrote nothing on this host
    .advice = it must run on the host that assay was started on: name that host first in the list
failure-no-outcome = the launch ended well, and the first rank wrote nothing
    .advice = it must run on the host that assay was started on: name that host first in the list
failure-other-version = the ranks are assay { $found }, this one is { $own }
    .advice = install the same assay on all hosts
failure-other-rank-count = { $found } ranks took part where { $asked } were asked for
failure-launch-broke-off = the launch ended before all sizes were measured
see-by-hand = see what it prints (kept with the run, too): { $command }
area-stream = smaller arrays (`--bytes`) need less memory; wrong contents mean defective memory or an overclocked machine
area-latency = choose a smaller working set (`to` in a suite file), and see `assay doctor`
area-peak-flops = `assay doctor` shows what keeps threads from their CPUs; a wrong sum means a defective processor
area-linpack = choose a smaller system with `--n` or `--memory`
area-blas = install the library (Debian: `libopenblas0-pthread`, `libblis4-pthread`) or give its full path
area-generator = the generator alone must run anywhere: report this
area-icmp = `sysctl net.ipv4.ping_group_range="0 2147483647"` allows everybody to ping; or run as root
area-rdma = `rdma link` lists the devices of RDMA and their state; `assay help rdma` says more
area-launcher = see whether the launcher can be executed
area-process = run the recorded command by hand to see what is wrong
area-tool = look at the stored raw output; if it is a version of the tool that assay does not know, report it with that output
area-temporary-folder = free some space in the folder for temporary files
area-host = see the warning about that host
area-own-program = start assay by its path, from a folder that still exists

## What a suite asks for and a run could do without
missing-host = no second host is named
    .advice = name one with `--to HOST`
missing-target = no file, folder or device is named
    .advice = name one with `--target`; a file in a folder is created there, and removed
missing-mpi = no MPI was found
    .advice = install one, or name its prefix with `--mpi`; `assay doctor` lists what is found
missing-domain = this machine has no such domains, or hides them
    .advice = `assay doctor` shows what it has
missing-memory = there is too little memory
    .advice = free some of it
missing-tool = no tool was found that measures it
    .advice = `assay help tools` lists them
doubt-worse-than-peers = { $host } is worse than its peers: { $value } against a median of { $median } over { $hosts } hosts ({ $change }); chance alone does not explain it
    .advice = `assay doctor --hosts` shows in what it differs; leave it out, or have it looked at
doubt-host-saturated = { $host } was busy up to its limit: { $resource } at { $share }; what was measured may be its limit
    .advice = use more hosts, or a larger one, so that each has less to do
