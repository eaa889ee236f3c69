# Texts of assay's reports. Numbers, units and names come in as formatted variables; text in backticks is
# typed literally. A no-break space keeps a number and its noun on one line.

## Answers and small words
yes = yes
no = no
on = on
off = off
unknown = unknown
interval = interval
interval-of-level = { $level } interval
no-interval = none
no-value = no value
full-stop = .
list-separator = {", "}
detail-separator = {", "}
fact-separator = {": "}
clause-separator = {"; "}
sentence-separator = {" "}
sentence-about = { $sentence } ({ $about }).
seed = seed { $seed }
and-more = and { $n } more
on-more-hosts = { $n ->
    [one] … and on { $n } more host: { $hosts }
   *[other] … and on { $n } more hosts: { $hosts }
}
one-and-two = { $one } and { $two }
what-by = { $what } by { $by }
name-in = { $name } in { $place }
test-at = { $test } at { $share }
is-mean = { $value } (mean)
per-second = { $rate } per second
about = about { $value }
threads = { $n ->
    [one] { $n } thread
   *[other] { $n } threads
}
cores = { $n ->
    [one] { $n } core
   *[other] { $n } cores
}
streams = { $n ->
    [one] { $n } stream
   *[other] { $n } streams
}
under-load = under load of { $n ->
    [one] { $n } stream
   *[other] { $n } streams
}
cpus = { $n } CPUs
cpus-on-cores = { $cpus } on { $cores } cores
cores-with-threads = { $cores } with { $threads }
arrays-of = arrays of { $size }
all-at-once = all at once
each-alone = each alone
all-operations = all
end-local = local end
end-remote = remote end
end-other = { $end } end
direction-send = send
direction-receive = receive
direction-both = both
pattern-random = random
pattern-sequential = sequential
operation-read = read
operation-write = write
no-copy = no copy
segmentation = segmentation by the kernel
from-due = { $what } from due
working-set = working set
time-per-load = time per dependent load
beyond-caches = memory
knee = knee
rate-max = max
up-to-the-knee = up to the knee
beyond-the-knee = beyond the knee
provisioned = provisioned { $limit }
limit-line = limit { $limit }

## Headings, captions and titles
heading-bandwidth = Memory bandwidth
heading-latency = Memory latency
heading-compute = Compute
heading-network = Network
heading-storage = Storage
heading-files = File trees
heading-programs = Programs
heading-copies = Copies between domains
heading-cache-bandwidth = Cache bandwidth
heading-core-to-core = Latency between cores
heading-loaded-latency = Memory latency under load
heading-other = Other results
heading-perftest = Latency by perftest's rules
heading-measurers = Measurers side by side
heading-warnings = Warnings
heading-failures = Failures
heading-omitted = Not measured
heading-method = Method
details-machine = Machine
details-bandwidth = All domains and numbers of cores
details-copies = Every pair of domains
details-loaded-latency = Every point of the curves
details-other-metrics = Other metrics
table-bandwidth = Bandwidth by placement
table-extremes = Medians over the domains of one kind
table-levels = Latency of each cache level and memory
table-compute = Multiply-add peak and LINPACK
table-other = Results of all other benchmarks
table-programs = Times, memory and figures of the programs
table-perftest = The same messages by perftest's rules
table-measurers = Medians and their ratio
table-turns = Medians, and the ratio of neighbouring turns (not that of the medians)
table-all-runs = Medians, and the ratio of runs, each with each (not that of the medians)
table-copies = Bandwidth in { $unit } of copies into the memory of a domain, by its CPUs (rows), from the memory of another (columns)
table-node-latency = Latency in { $unit } of dependent loads by the first CPU of a NUMA node (rows) in the memory of each node (columns)
table-cache-bandwidth = Read bandwidth of each cache level and memory
table-core-to-core = Latency of a cache line from one core to another by distance, with the lowest and the highest pair
table-loaded-latency = Memory latency over the bandwidth of other traffic
table-network-items = Goodput and CPU cost
table-network = Network metrics with their intervals
table-round-trips = Round trips
table-mpi-libraries = MPI libraries and the actual binding of their ranks
table-storage = Rate, bandwidth and latency
table-storage-pairs = Reads and writes side by side
table-storage-parameters = Parameters and CPU usage
table-storage-mixes = Reads and writes of mixes, from submission to completion
table-storage-due = Latency from when I/O was due
table-rounds = Rounds of { $test }
table-search = Search steps of { $test }
table-files = Rate and latency of operations on files and directories
response-curve = Response curve of { $name }
ladder-title = Latency over the working set
scaling-title = { $metric } over the number of cores
roofline-title = Roofline
roofline-title-of = Roofline of { $host }
roofline-measured = measured
roofline-limits = limits
roofline-description = Code with fewer than { $ridge } operations per byte waits for memory: it cannot exceed its operations per byte times { $bandwidth }. Code with more cannot exceed { $peak }.
bars-linear = bars
bars-logarithmic = logarithmic bars
bars-legend = { $name } over { $axis }; { $bars } from { $low } to { $high }
axis-operations-per-byte = operations per byte
axis-compute-rate = rate of operations
mpi-by-distance = { $metric ->
    [latency] Latency by pair distance, messages of { $size }
   *[bandwidth] Bandwidth by pair distance, messages of { $size }
}
axis-cores = cores
axis-message-size = message size
axis-rate-reached = rate reached
axis-bandwidth-per-core = read bandwidth per core
axis-traffic = bandwidth of all traffic
axis-time-measured = time measured
axis-share-at-most = share that takes at most this long
timeline-of = Time line: { $name }
timeline-payload = measured
timeline-read = read
timeline-written = written
timeline-received = received
timeline-sent = sent
timeline-busy = CPUs busy
timeline-interrupts = interrupts
timeline-stolen = stolen by the hypervisor
timeline-cpu-pressure = a task waits for a CPU
timeline-io-pressure = a task waits for I/O
timeline-share = share of the time
details-hardware = Hardware counters
column-observed-clock = observed clock
column-instructions-per-cycle = instructions per cycle
column-memory-traffic = memory traffic
column-traffic-of-work = traffic of the work
column-energy = energy
column-energy-efficiency = energy efficiency
hardware-flop = { $flop } of { $peak } FLOP per observed cycle and core, at { $clock } observed
hardware-flop-user = at most { $flop } of { $peak } FLOP per observed cycle and core, at { $clock } or more observed: cycles in the kernel were not counted
hardware-write-allocate = Memory traffic is what the memory controllers moved for the whole machine. STREAM counts no write-allocate: a store without a streaming instruction reads its line first, so that the traffic exceeds the bytes counted.
joules = { $value } J
joules-per-gigabyte = { $value } J/GB
gigaflop-per-joule = { $value } GFLOP/J
course-of-goodput = Goodput over time
course-of-cpu-load = CPU load over time
course-goes = { $name }: { $low } to { $high }.
rounds-go = The rate goes from { $first } in the first round to { $last } in the last.
distribution-of-round-trips = Distribution of round trips
distribution-goes = { $name }: half take at most { $median }, { $share } at most { $most }.
axis-latency-from-due = latency from when I/O was due

## Columns
column-bandwidth = bandwidth
column-block = block
column-by = by
column-case = case
column-cpu-load = CPU load
column-cpu-per-io = CPU per I/O
column-cpu-system = CPU system
column-cpu-time = CPU time
column-cpu-user = CPU user
column-cpus = CPUs
column-target-size = target size
column-depth = depth
column-generator = generator
column-goal = goal
column-goodput = goodput
column-highest = highest
column-in = in
column-in-flight = in flight
column-item = item
column-kernel = kernel
column-late = late
column-latency = latency
column-later-than-the-goal = later than the goal
column-level = level
column-letters = letters
column-efficiency = efficiency
column-library = library
column-lowest = lowest
column-median = median
column-median-from-due = median from due
column-middle = middle
column-note = note
column-of-limit = of limit
column-of-link = of link
column-of-peak = of peak
column-of-provisioned = of provisioned
column-of-rpeak = of Rpeak
column-operation = operation
column-per-core = per core
column-pairs = pairs
column-idle = idle
column-at-share = at { $share }
column-at-highest = at the highest
column-pause = pause
column-place = place
column-ranks-on-cpus = ranks on CPUs
column-rate = rate
column-reached = reached
column-reads = reads
column-requested = requested
column-retransmits = retransmits
column-round = round
column-service-median = service median
column-size = size
column-test = test
column-threads = threads
column-transport = transport
column-value = value
column-what = what
column-where = where
column-writes = writes

## Facts about machines
machine-hardware = hardware
machine-system = system
machine-settings = settings
machine-mitigations = mitigations
machine-versions = versions
fact-processor = processor
fact-vendor = vendor
fact-family-model-stepping = family/model/stepping
fact-microcode = microcode
fact-nominal-frequency = nominal frequency
fact-maximum-frequency = maximum frequency
fact-governor = governor
fact-boost = boost
fact-smt = SMT
fact-cpus = CPUs
fact-caches = caches
fact-numa-nodes = NUMA nodes
fact-memory = memory
fact-memory-modules = memory modules
fact-huge-page = huge page
fact-distribution = distribution
fact-kernel = kernel
fact-kernel-command-line = kernel command line
fact-virtualisation = virtualisation
fact-product = product
fact-clock-source = clock source
fact-cpu-quota = CPU quota
fact-memory-limit-of-the-control-group = memory limit of the control group
fact-fingerprint = fingerprint

## The run as a whole
suite = Suite { $suite }
suite-on-hosts = Suite { $suite } on { $hosts }
run-from-to = Run { $run }, { $started } to { $finished }
run-from = Run { $run }, started { $started }
host-memory = { $size } memory
host-kernel = kernel { $kernel }
host-guest = guest of { $hypervisor }
nothing-measured = Nothing was measured.
cases-failed = { $n ->
    [one] { $n } case failed
   *[other] { $n } cases failed
}
cases-skipped = { $n ->
    [one] { $n } was skipped because of that
   *[other] { $n } were skipped because of that
}
status-failed = { $reported }; see { $heading }.
failed-likewise = { $n ->
    [one] { $n } other case failed in the same way: { $cases }
   *[other] { $n } other cases failed in the same way: { $cases }
}
skipped-because = { $n ->
    [one] { $n } case was skipped because of it: { $cases }
   *[other] { $n } cases were skipped because of it: { $cases }
}
reached = {" "}after { $finished } of { $planned } cases
status-partial = The run is partial: { $n ->
    [one] a host is missing{ $hosts }
   *[other] hosts are missing{ $hosts }
}. The results of the other hosts are valid.
status-interrupted = The run was interrupted{ $reached }; the finished cases are valid.
status-interrupted-at-once = The run was interrupted before its first case had ended.
status-interrupted-late = The run was interrupted: every case was measured, some with fewer repetitions than planned.
status-unfinished = The run has no end{ $reached }: assay was killed or is still running. The finished cases are valid.
statistics = Values are medians. Confidence intervals come from order statistics and assume no distribution, or, below { $least } effective samples, from Student's t; fewer than { $least } samples give none. n is the number of samples after the warm-up, in brackets the number of effective samples if they are correlated.
statistics-version = This is statistics version { $version }.
imported = Another tool measured this; it was imported from { $files }, which is stored with the run. Its clock is unknown, and the machine is known only as far as the file describes it.
clock = The clock is { $name }: its resolution is { $resolution }, and reading it takes { $cost }. A repetition of the empty null kernel takes { $null }: the overhead of each timed pass.
stolen = The hypervisor took { $share } of the CPU time during the run.
throttled-times = { $n ->
    [one] The control group was throttled { $n } time during the run.
   *[other] The control group was throttled { $n } times during the run.
}

## Memory and compute
byte-counting = Bytes are counted as STREAM counts them: per element { $copy } for Copy and Scale, { $add } for Add and Triad, { $read } for read and write. The extra read of each line that an ordinary store causes is not counted.
kernels-within-noise = { $operations }: the kernel is one of the fastest; others were within the noise of its choice.
conditions = { $how }: { $places }.
limit-is = The limit is { $limit }: { $basis }.
no-memory-limit = No limit is known: { $why }, so the transfer rate of the memory modules is unknown.
smbios-without-speed = SMBIOS lists no module with a speed
smbios-hidden = SMBIOS is hidden in this guest of { $hypervisor }
smbios-unreadable = SMBIOS could not be read, which usually requires root
intervals-shaded = Intervals are shaded where they are wide enough to be seen.
scaling-description = Bandwidth is { $one } on { $few } and { $all } on { $many }.
ladder-description = Latency is { $low } in { $small } and { $high } in { $large }.
huge-pages-refused = Huge pages were requested but not granted: beyond the caches, latency includes TLB misses.
check-output = output checked
check-none = not checked
io500-valid = Valid by the rules of `IO500`.
io500-invalid = Invalid by the rules of `IO500`: { $reasons }.
io500-rule-stonewall = the stonewall is { $time }, and at least { $least } are required
io500-rule-short-write = { $phase } took { $time }, less than { $least }
io500-rule-no-result = no result of { $phases }
io500-rule-nothing-found = the find phase found no file
program-start = An empty program takes at least { $time } to start and end in the same way; nothing is subtracted.
program-memory-floor = Programs below { $size } have no figure for memory.
programs-compared = Programs compared with { $first }
levels-title = Levels of { $factors }
levels-without-letters = Too few common blocks for a verdict: letters need at least three blocks in which every level has a value above zero.
levels-more-blocks = With so few blocks, no two levels can differ: at least { $needed } blocks are needed (--blocks, or --runs of assay exec).
levels-more-runs = With so few runs, no two levels can differ: at least { $needed } runs of each are needed.
levels-overall = All levels together (Friedman’s test): { $statistic }, { $p } after correction for all metrics.
levels-sufficient = The smallest sufficient level is { $level }: no larger one ({ $larger }) is better by more than chance.
levels-sufficient-last = Every level below { $level }, the largest, is surpassed by another: a still larger one may be better.
levels-explanation = Levels with a letter in common cannot be told apart. Ratios are paired by block ({ $blocks } blocks); within a metric, the probability of any false difference is at most { $wrong } (Holm).
levels-explanation-independent = Levels with a letter in common cannot be told apart. Each run counts as one value, and ratios compare all runs of one level with all of another; within a metric, the probability of any false difference is at most { $wrong } (Holm).
levels-efficiency = Efficiency is the ratio to the fewest hosts, divided by the ratio of the numbers of hosts.
levels-unmatched = Results without a counterpart under another level: { $n }.
levels-plot = { $metric } over { $factor }
levels-plot-description = Median of each level with its interval.
levels-plan = { $combinations } combinations in { $blocks } blocks: { $turns } turns of at most { $time } each.
levels-plan-total = In all { $time }.
levels-plan-settling = In all { $time }, { $settle } of it to settle, besides the time of the commands.
huge-pages-granted = Huge pages were granted for every working set.
huge-pages-some = Huge pages were granted for these working sets only: { $sizes }.
products-by = matrix products by { $blas }
scaled-residual = scaled residual { $residual } (must stay below { $bound })
copies-explanation = Values are medians. Bytes are counted as STREAM counts Copy, reads and writes; on the diagonal both are in the domain's own memory.
copies-one-node = The topology has a single NUMA node: there are no distances between nodes to compare.
cache-bandwidth-description = { $place }: per core { $high } with { $small }, { $low } with { $large }
core-to-core-explanation = Time of one hand-over, half of a round trip by compare-and-swap. same-cache is the last-level cache; on the diagonal are the two threads of a core.
loaded-latency-explanation = Highest bandwidth of each mix, and the latency at shares of it, interpolated between measured points. Bytes read and written count, those of the chain too.
loaded-latency-description = { $mix }: from { $idle } idle to { $loaded } at { $rate }
measurers-ratios = Ratios are of the medians.
perftest-rules = By perftest's rules the last message is not timed, the two slowest of the others count neither for the median nor for the mean, and t_max is the second slowest: not the maximum. assay's own values in the other tables are of all messages.
basis-memory-channels = { $n ->
    [one] { $n } memory channel × { $rate } × { $width } (SMBIOS)
   *[other] { $n } memory channels × { $rate } × { $width } (SMBIOS)
}
basis-measured-peak = { $n ->
    [one] multiply-add peak in double precision, { $set } on { $n } core, measured in this run
   *[other] multiply-add peak in double precision, { $set } on { $n } cores, measured in this run
}
basis-link = link speed that { $device } reports
basis-link-unnamed = link speed that the device reports
basis-provisioned = what the volume is provisioned for
basis-data-sheet = data sheet: { $source }
rpeak-factors = { $n ->
    [one] { $n } core × { $flop }/cycle × { $clock } (clock measured at this load)
   *[other] { $n } cores × { $flop }/cycle × { $clock } (clock measured at this load)
}

## Network and MPI
network-items-say = CPU load is the busy share of all CPUs, CPU time what the transfer used, at the local / at the remote end. Medians; the intervals follow.
network-retransmits-say = Retransmits are TCP segments.
path-loopback = loopback
network-loopback = All traffic went over loopback within this machine: the results do not describe a network.
mpi-rule-best = ◀ marks the best of a row; ×{ $ratio } is the ratio to it
mpi-rule-overlap = ≈: the two intervals overlap
mpi-rule-no-interval = ±?: too few effective samples for an interval
mpi-rule-latency = Latency is half a round trip.
mpi-rule-transport = The transport is the library's choice between hosts; within a host all of them use shared memory.
mpi-no-such-pair = This machine has no two CPUs that are { $distances } to each other.
mpi-standard-abi = { $mpi }, standard ABI
ranks = { $ranks } ranks
curve-goes = { $name } goes from { $low } at { $small } to { $high } at { $large }.

## Storage
storage-explanation = Latency is from submission to completion (service time). Percentiles are over every single I/O.
storage-explanation-interval = ± is the wider half of the confidence interval of the median.
storage-explanation-generator = Generator: rate of the load generator without I/O, over the rate reached.
storage-explanation-due = Latency from due starts when the I/O was due: the wait of a user, as in response curves.
storage-cached = Some of this I/O went through the page cache: it measures memory as much as storage.
storage-kind = { $pattern } { $size }, { $depth } in flight
storage-target = Target: { $target }
storage-engine = Engine: { $engine }, { $reason }
steady-reached = { $test }: steady state reached in round { $rounds }
steady-not-reached = { $test }: steady state not reached in { $rounds } rounds
steady-spread = the last rounds differ by { $range } and change by { $slope }
goal-met = { $test }: { $goal } is met at { $rate }, and was not shown to be met at { $missed }; a closed loop reached { $closed }.
goal-kept = met
goal-missed = missed
goal-unclear = unclear
curve-knee = { $what }: { $knee }.
knee-unreported = latency from when I/O was due is not reported, so there is no knee
knee-between = the knee is at { $rate } ({ $low } to { $high }): there the median is twice that of an idle target, { $latency } from due
knee-at = the knee is at { $rate }: there the median is twice that of an idle target, { $latency } from due
no-knee = no knee up to { $rate }: { $why }
knee-found = the knee was found
knee-too-few-points = a knee needs at least five points
knee-flat = latency stays below twice that of an idle target
knee-within-uncertainty = latency rises by no more than its uncertainty
knee-no-idle = the lowest rate is beyond it already
knee-erratic = latency falls below a quarter while the rate rises, by more than its uncertainty: this curve cannot tell
response-description = Median latency goes from { $low } at { $few } to { $high } at { $many }; { $knee }.
engine-asked-for = requested
engine-best = the first choice, and the kernel grants it
engine-best-of-refused = the first choice, and libaio is refused
engine-refused = io_uring is refused ({ $cause })
engine-both-refused = io_uring is refused ({ $cause }), libaio as well ({ $other })
engine-refused-and-buffered = io_uring is refused ({ $cause }), libaio blocks in the page cache
engine-contest = the kernel may fall back to worker threads for io_uring here; of io_uring and libaio this one was faster, { $taken } against { $other }
engine-untried-contest = the kernel may fall back to worker threads for io_uring here; not tried, because of verification

## Comparisons
verdict-better = better
verdict-worse = worse
verdict-equivalent = equivalent
verdict-cannot-tell = cannot tell
differ = { $what }: { $a } and { $b }
differ-load = { $what }: { $a } and { $b } runnable tasks
differ-order = { $what }: one was measured { $a }, the other { $b }, so that drift looks like a difference; `assay run --switch` alternates the conditions
differ-unrecorded = { $what }: { $value }; the imported file does not contain it
aspect-host = the host
aspect-fingerprint = the machine (its fingerprint)
aspect-processor = the processor
aspect-microcode = the microcode
aspect-kernel = the kernel
aspect-governor = the governor
aspect-setting = the setting { $of }
aspect-version = assay's version
aspect-host-count = the number of hosts
aspect-loop = the loop of { $of }
aspect-engine = the engine of { $of }
aspect-far-end = the far end
aspect-congestion = the congestion control
aspect-array-size = the size of the arrays
aspect-file-size = the size of the targets
aspect-file-system = the file system
aspect-device = the device
aspect-load = load before the runs
aspect-steal = CPU time stolen during the runs
aspect-order = the time

## Pages for publication
learn-title = Performance of { $subject }
learn-description = Measured results for { $subject }, with their method and the commands that repeat them.
learn-intro = { $n ->
    [one] { $subject } was measured with { $tool }.
   *[other] { $subject } were measured with { $tool }.
} Each value is a median unless its column heading names another statistic; intervals have their own column.
learn-dates = Measured: { $dates }.
learn-workload = Workload
learn-linpack = High-performance Linpack (HPL)
learn-rdma = RDMA latency and bandwidth
learn-storage = { $tool } on { $target }
learn-reads-writes = { $reads } reads, { $writes } writes
learn-mixed = { $both } reads and writes together
learn-reads = { $reads } reads
learn-writes = { $writes } writes
learn-per-domain = { $whole } ({ $part } per { $domain })
learn-heading-send-latency = InfiniBand send latency
learn-heading-mpi-latency = MPI latency
learn-heading-mpi-bandwidth = MPI bandwidth
learn-heading-conditions = Side by side
learn-heading-commands = Commands to repeat it
learn-latency-of = Latency [{ $unit }] ({ $mpi })
learn-bandwidth-in = Bandwidth ({ $unit })
learn-bandwidth-of = Bandwidth ({ $unit }) ({ $mpi })
learn-cpu-usage = CPU usage
learn-impossible = These figures contradict each other and must not be used: { $figures }.
learn-nothing = There is no result for this page.
column-verdict = verdict
column-worst-host = worst host
column-worst-pair = worst pair
column-worst = worst
distrust-above-limit = above its limit
distrust-one-sample = one sample
distrust-no-interval = too few samples
distrust-wide-interval = the interval is ±{ $width }
distrust-wide = the interval is wider than ±{ $width }
distrust-wider-than-value = the interval is wider than the value
verdict-suspect = suspect: { $why }
verdict-noisy = noisy: { $why }
answer-doubted-one = { $first } ({ $why })
answer-doubted = { $some } of { $all } values are in doubt; the first is { $first } ({ $why })
answer-noisy = noisy: { $reasons }
answer-suspect = suspect: { $reasons }
answer-worse = { $n ->
   *[other] Worse than the other hosts: { $hosts }
}
answer-omitted = not measured: { $benchmarks }
verdict-slow = slow: under half of its limit
verdict-is-slow = slow
trust-sound = sound
trust-noisy = noisy
trust-suspect = suspect
answer-more = { $n } more: { $names }
answer-bandwidth = memory bandwidth, { $label }
answer-memory-latency = memory latency
answer-peak = { $label } peak
more-than = over { $value }
learn-not-measured = not measured: { $why }
learn-throughput-in = Throughput ({ $unit })
learn-test = { $what }, { $size }
learn-random-reads = { $share } random reads
learn-random-writes = { $share } random writes
learn-sequential-reads = { $share } sequential reads
learn-sequential-writes = { $share } sequential writes
learn-heading-quota = Service level and quota
learn-service-level = Service level
learn-per-quota = { $unit } per { $quota }
learn-quota = Quota for the highest throughput
learn-littles-law = Little's law: { $rate } × { $latency } mean latency = { $flight } I/Os in flight.

heat-throughput = Throughput from each host (row) to each (column)
heat-round-trips = Round trips from each host (row) to each (column)
heat-latency = Latency from each host (row) to each (column)
heat-core-to-core = Latency between cores, by the numbers of their first CPUs
heat-legend = darker is further from the best: ·░▒▓█; * is worse than the other pairs by more than chance
heat-description = From { $worst } ({ $from }) to { $best } ({ $to }).
resource-cpus = all CPUs
resource-one-cpu = busiest CPU
resource-network = network
answer-saturated = The limit may be a host's own: { $hosts }
answer-finishers = Farthest apart, { $case }: { $first } was done after { $first_after }, { $last } after { $last_after }
details-hosts = Hosts at work
column-done-after = done after
protocol-metric = { $protocol } { $metric }
