# Texts of commands other than run reports: lists, comparisons, histories, findings, plans, references.

## The list of runs
list-title = Runs
list-results-title = Results
list-empty = There are no runs yet.
list-no-match = No run matches the filter; stored runs: { $n }.
list-unreadable = Unreadable
list-unreadable-advice = remove it with `assay rm { $id }`
column-run = run
column-label = label
column-suite = suite
column-state = state
column-cases = cases
column-host = host
column-hosts = hosts
column-values = values
state-damaged = damaged
state-noisy = noisy
state-suspect = suspect
state-complete = complete
state-failed = failed
state-partial = partial
state-interrupted = interrupted
state-running = running
state-killed = killed
known-machine = { $what }: { $own }, published for { $system }: { $published }; full comparison: `assay compare latest SYSTEM`
written-beside = also written: { $files }
next-stored = Stored as { $run }. Next:
next-show = the full report
next-page = a page with plots
next-doctor = is this machine set up for measuring?
next-volume = response curves with their knee
next-network = throughput, round trips, CPU at both ends
next-mpi = every MPI of this machine side by side
next-memory = every NUMA node, cache and core count
next-compare = against the run before: better, worse or equal
progress-done = { $case } done
progress-done-with = { $case } done: { $value }
progress-failed = { $case } failed: { $why }
progress-failed-on = { $case } failed on { $host }: { $why }
progress-warning = warning: { $what }
progress-help = help: { $what }
progress-left = { $time } left
progress-over = { $time } over plan
progress-late = { $late } over plan, then { $left }
progress-cpu = { $share } CPU
progress-finishing = finishing
progress-looking = looking at the machine
progress-files = reading the files
progress-runs = reading stored runs
progress-pages = reading the pages
progress-hosts-sought = looking for the hosts
progress-waiting-for = waiting for { $host }
progress-waiting = { $n ->
    [one] waiting for { $n } host
   *[other] waiting for { $n } hosts
}
hosts-measuring = { $n ->
    [one] { $n } host
   *[other] { $n } hosts
}
host-examined = { $done } of { $all }: { $host }: examined
host-no-answer = { $done } of { $all }: { $host }: no answer
slurm-waiting = waiting for Slurm to give nodes
slurm-gave = Slurm gave { $nodes } as job { $job }
imported-measurements = { $n ->
    [one] { $n } measurement
   *[other] { $n } measurements
}
list-no-result = No run has a result.
list-without-result = { $n ->
    [one] { $n } run ended without a result: `assay list --all` shows it, `assay prune --failed` removes it.
   *[other] { $n } runs ended without a result: `assay list --all` shows them, `assay prune --failed` removes them.
}

## The history of a result
history-changes = Level shifts
history-around = Environment changes
history-too-few-runs = Too few runs to tell whether the level changed: { $needed } are needed, and there are { $n }.
history-unchanged = No shift of the level was found.
history-unchanged-within = No shift of the level was found. A step by a factor of { $factor } or more in the middle of these runs would have been found.
history-other-conditions = The same result under other conditions
history-select-condition = `--label` and `--where` select one of these conditions.
history-one-run = A single run shows no change: later runs are compared with it.
history-over-n = N differs from run to run: assay chooses it by time and memory, and Rmax grows with N. `--where n=…` selects one N.
history-runs = runs
history-level = level
history-span = { $n }, { $first } to { $last }
history-newest = newest
history-other-results = other results
history-others = { $n } of this metric, selected with `--where`
history-explanation = A shift is found by { $method } with { $permutations } permutations (seed { $seed }): at most { $risk } of them separate the runs as clearly, and it exceeds { $margin }. Differences between two shifts are taken to be chance.
history-plot = { $metric } over the runs
history-changed = Level shifts: { $n }.
history-drawn = One point for each run, in the order in which they were started; the line is the level.
column-condition = condition
column-from-run = from run
column-since = since
column-before = before
column-after = after
column-ratio = ratio
column-which-is = which is
column-same-time = at the same time
column-started = started
history-surroundings = environment changed

## Two conditions side by side
compare-one-run = run { $run }
compare-runs = { $n } runs, { $which }
from-to = { $first } to { $last }
compare-result = Compared with { $a }, { $b } is: { $reported }.
compare-suspect = Suspect: { $n } of { $all } runs. The first one because: { $why }
compare-with-neighbour = Each run counts as one value and is compared with its neighbour in time.
compare-with-looks = Each run counts as one value and is compared with its neighbour in time. The looks after each block share the error, so that the interval holds whenever they end.
compare-with-all = Each run counts as one value and is compared with all of the other condition.
compare-explanation = Better, worse: the ratio is further than { $margin } from one, and not by chance among { $tested } metrics tested (at most { $wrong } of such verdicts are false). Equivalent: the whole confidence interval is within { $margin }. Cannot tell: neither could be shown; the number in brackets is roughly how many runs per condition would decide.
compare-floor = Noise floor: the interval of the ratio between runs of the same condition.
forest-title = Ratios of { $b } to { $a }
forest-description = { $shown } of { $all } metrics that decide; lines are confidence intervals, the shaded range is { $margin } around no difference.
compare-nothing = Nothing was measured under both conditions.
gates-title = Gates
column-gate = gate
column-outcome = outcome
gate-passed = passed
gate-failed = failed
gates-others = (and { $n } more)
compare-differences = Other differences
compare-unmatched = Measured under only one condition
compare-control = control
compare-one-each = One run per condition is too few for a verdict: about { $n } are needed.
run-table-empty = The runs have no results.
run-table-explanation = Differences from the first run are ratios of medians, without a verdict. Marked: worse by { $margin } or more. `assay compare` decides by intervals.
compare-needs = { $n } runs
compare-alone = { $what }: { $side } only
compare-nearest = The closest match is { $what }: { $a } in { $first }, { $b } in { $second }.
compare-no-condition = no such condition
column-floor = noise floor
items-goodput = Goodput
items-cpu-is = CPU is the busy share of all CPUs at the local / at the remote end during the measurement.
attribute-not = no { $what }
attribute-in-flight = { $n } in flight
attribute-reads = { $share } reads
attribute-passes = { $n } passes before

## Dimensions of results
dimension-host = host
dimension-peer = peer
dimension-to = to
dimension-placement = placement
dimension-source = source
dimension-distance = distance
dimension-concurrent = concurrent
dimension-end = end
dimension-test = test
dimension-program = program
dimension-phase = phase
dimension-loops = loops
dimension-operation = operation
dimension-files = files
dimension-file-bytes = file size
dimension-levels = levels
dimension-direction = direction
dimension-bytes = size
dimension-bytes-per-array = array size
dimension-n = N
dimension-cpu = CPU
dimension-instruction-set = instruction set
dimension-mpi = MPI
dimension-prefix = prefix
dimension-abi = ABI
dimension-ranks = ranks
dimension-preset = preset
dimension-hosts = hosts
dimension-hostfile = host file
dimension-threads = threads
dimension-connection = connection
dimension-asked-device = device
dimension-asked-gid-index = GID index
dimension-asked-path-mtu-bytes = path MTU
dimension-service-level = service level
dimension-streams = streams
dimension-depth = depth
dimension-read-share = share of reads
dimension-pause-s = pause
dimension-pattern = pattern
dimension-target = target
dimension-page-cache = page cache
dimension-precondition-passes = precondition passes
dimension-goal = goal
dimension-point = point
dimension-percent-of-max = share of the maximum
dimension-step = step
dimension-requested-rate = requested rate
dimension-copy = copy
dimension-seconds = seconds
dimension-rate-bit-per-s = rate per stream
dimension-congestion = congestion control
dimension-segmentation = segmentation by the kernel
dimension-waiting = waiting
dimension-load-streams = load streams
dimension-busy-poll-s = busy polling
dimension-messages-per-s = messages per second
dimension-engine = engine
dimension-stream = stream
dimension-target-index = target number
dimension-member = member
dimension-stage = stage
dimension-stretch = stretch
dimension-buffers = message buffers
dimension-timed = timed operation

## The doctor
doctor-title = Benchmark configuration of { $host }
doctor-counts = { $all ->
    [one] { $all } check: { $bad ->
        [one] { $bad } deviates
       *[other] { $bad } deviate
    }, { $good } as expected, { $hidden } not observable here, { $unread } could not be read.
   *[other] { $all } checks: { $bad ->
        [one] { $bad } deviates
       *[other] { $bad } deviate
    }, { $good } as expected, { $hidden } not observable here, { $unread } could not be read.
}
doctor-no-change = Nothing was changed. Whether to make a printed change is your decision.
doctor-no-deviation = No deviations found.
doctor-deviations = Deviations
doctor-others = The other checks: `{ $command }`.
doctor-as-expected = As expected
doctor-hidden = Not observable here
doctor-unreadable = Could not be read
column-observed = observed
column-expected = expected
column-reason = reason
column-why = why
column-change = change
column-source = source
column-check = check
severity-blocks = invalidates measurements
severity-skews = skews measurements
severity-note = note
hosts-title = { $n ->
    [one] Benchmark configuration of { $n } host
   *[other] Benchmark configuration of { $n } hosts
}
hosts-unreached = { $n ->
    [one] { $few } of { $n } host gave no answer.
   *[other] { $few } of { $n } hosts gave no answer.
}
hosts-heading = Hosts
hosts-without-answer = Hosts without an answer
hosts-help = help
column-host-name = host name
column-invalidate = invalidate
column-skew = skew
column-notes = notes
column-clock-offset = clock offset
hosts-table = Deviations by their effect on measurements
hosts-differ = Differences
hosts-alike = None: these hosts have the same configuration.

## Plans
plan-title = Plan of suite { $suite }
plan-nothing-run = Nothing was run.
plan-turns = Runs: { $runs }, each of { $n } cases in { $each }. Switch commands: { $commands }, with { $settle } to settle. In all { $time }, besides the time of the commands.
plan-cases-beyond = { $n ->
    [one] { $n } case with a time budget of { $time }.
   *[other] { $n } cases with a time budget of { $time }.
}
plan-cases = { $n ->
    [one] { $n } case in at most { $time }.
   *[other] { $n } cases in at most { $time }.
}
column-resolved-to = resolved to
column-stops-at = stops at
column-budget = budget
plan-left-out = Left out: { $benchmark }, because { $why }; { $advice }
plan-repetitions = { $n } × in { $preparations }
plan-cpus = { $n ->
    [one] CPU { $which }
   *[other] CPUs { $which }
}
plan-arrays = arrays of { $size } ({ $times } × the last-level caches)
plan-to = to { $to }
plan-this-machine = this machine over loopback
plan-port = port { $port }
plan-each = at { $rate } each
plan-per-repetition = { $time } per repetition
plan-own-congestion = the system's congestion control
plan-there-and-back = messages of { $size } there and back
plan-spinning = spinning
plan-connection-each = a connection for each
plan-sleeping = sleeping
plan-placed-by-launcher = placed by the launcher
plan-on-hosts = on hosts { $hosts }
plan-one-on = one of them on { $host }
plan-on-hosts-of-file = on hosts of the file { $file }
plan-started-by = started by { $launcher }
plan-messages-of = messages of { $size }
plan-messages = messages of { $low } to { $high }
plan-sizes = { $low } to { $high }, { $n } sizes
plan-preconditioned = { $n ->
    [one] preconditioned: written in full { $n } time
   *[other] preconditioned: written in full { $n } times
}
plan-rounds = in rounds until steady state, at most { $n }
plan-search = then the maximum rate that meets { $goal }
plan-shares = then { $shares } of the maximum rate
plan-points-near-the-knee = { $n ->
    [one] then { $n } point near the knee
   *[other] then { $n } points near the knee
}
plan-near-the-knee = a share near the knee
plan-directories = { $n ->
    [one] { $n } directory
   *[other] { $n } directories
}
plan-io500-phases = { $n } phases
plan-io500-writes = { $n } write phases of { $time } each
plan-io500-invalid = invalid for `IO500`, which requires { $least }
plan-files = { $files } files of { $size } in { $directories }
plan-each-once = each once, repeatedly
plan-in-order = in order
plan-at-random = at random
plan-read-checked = every read checked
plan-write-checked = every write read back and checked
plan-compressible = data { $share } compressible
plan-operation = { $pattern } { $operation }
plan-of-the-rate = { $share } of the rate
plan-fsync-every = fsync every { $n } writes
plan-permutation = random, each once,
plan-strided = strided with gaps of { $low } to { $high }
plan-per-thread = per thread
plan-in-parts = in parts
plan-to-the-end = to the end
plan-with-gaps = with gaps of { $size }
plan-partly-random = sequential with { $share } random
plan-blocks = { $order } in blocks of { $size }
plan-blocks-every = { $order } in blocks of { $size } every { $stride }
plan-no-target = none: the load generator alone
plan-page-cache = through the page cache
plan-fsync-at-the-end = fsync at the end
plan-closed-loop = max (closed loop)
plan-in-given-shares = closed loop, in given shares
plan-at-most = at most { $value }
plan-share-of = { $share } of { $what }
plan-maximum-rate = the maximum rate
plan-exponential-gaps = exponential gaps
plan-uniform-gaps = uniform gaps
plan-constant-gaps = constant gaps
days = { $n } d
hours = { $n } h
minutes = { $n } min
plan-pause = pause { $time }
plan-warm-up = warm-up { $time }
plan-until-done = until done
storage-plan-title = Storage plan
column-phase = phase
column-targets = targets
column-load = load
column-time = time
plan-phases = phases
plan-files-and-devices = files and devices
plan-required-size = required size
plan-maximum-in-flight = maximum in flight
plan-until-the-work-is-done = until the work is done
plan-and-open-phases = { $n ->
    [one] { $time }, and { $n } phase until its work is done
   *[other] { $time }, and { $n } phases until their work is done
}

## When cases stop
plan-stops-at = Cases stop at { $stop }: when the interval is that narrow, after at least that many repetitions in that many preparations, or when their time budget is spent.
plan-stop-as-shown = the shown values

## References
references-title = Published figures
references-title-of = Published figures of { $system }
at-least = at least { $value }
at-most = at most { $value }
best-of-many = best { $value }
mean-of-many = mean { $value }
calculated = calculated { $value }
references-hint = `assay references SYSTEM` prints the figures with their sources; `assay compare RUN SYSTEM` and `assay run --expect SYSTEM` compare results with them.
references-source = Source: { $source }
column-system = system
column-figures = figures
column-figure = figure
column-published = published
column-conditions = conditions
held-title = Compared with { $name }
column-you = you
column-you-share = you / it
held-reached = reached
held-missed = missed
held-count-missed = missed: { $n } of { $all } results are worse than the figures of { $name }: { $which }
held-count-conflict = sources differ: { $n } of { $all } results reach some of the figures of { $name } and miss others: { $which }
held-count-undecided = cannot tell: { $n } of { $all } results are worse than the figures of { $name }, but are suspect or have no interval: { $which }
held-count-none = cannot tell: no figure of { $name } applies to these results
held-explanation = A result misses a figure if its whole interval is worse by more than the tolerance ({ $tolerance } unless the reference says otherwise). A suspect result, or one of assay without an interval, shows no miss. Best-of figures and suspect ones are shown but decide nothing.
references-nothing = none of the figures of { $name } was measured here

## Verification of stored runs
verify-intact = { $n ->
    [one] intact, { $n } raw output
   *[other] intact, { $n } raw outputs
}
verify-lost = damaged, events lost: { $n }

## The page itself
page-contents = Contents
page-language = Language
page-units = Units
page-raw = Raw data
page-back = to the first row

## The site of all runs
site-pages = Pages
site-histories = Histories
site-comparison = Runs side by side
site-machine = machine type
site-filters = Filters
site-search = Search
site-any = any
site-tick = compare
site-tick-run = Compare run { $run }
site-compare-ticked = Compare ticked runs: { $n }
site-newer = Newer
site-older = Older
site-shown = { $first } to { $last } of { $all }
site-no-match = No run matches.
site-needs-script = The list of runs needs JavaScript. Without it, open the pages in the folder { $folder }.
site-no-choice = Tick two or more runs in the list of runs to see them side by side.
site-not-here = This site does not contain the run { $run }.
site-ratios = Below each value are its interval and the ratio of its median to that of the first run, with the range that the { $level } intervals of both medians allow. This is no verdict, because runs also differ by chance. These commands give one:
site-history-limit = A history has at most the newest { $n } runs of its host and one result of each metric; `assay history` reads all runs and any result.
site-running = { $time } min, { $n } of { $all } cases finished
site-live-lost = The server does not answer. The page shows its last state.
site-live-store = The runs cannot be read: { $reason }. The page shows their last state.
site-curves = Curves
site-distributions = Distributions
site-percentile = percentile
site-host-map = Hosts of these runs
site-host-map-legend = The stronger the colour, the further from the best value of the column. Below each value is its share of the best one.
site-labels = Verdicts between labels
site-labels-limit = Verdicts are written for the newest { $labels } labels, and for at most { $pairs } pairs of them, each on one host; `assay compare` judges any others.
site-verdict = verdict: { $one } → { $two }
site-verdict-source = Each verdict is that of this command, over all runs of both labels. The ratios below the values are those of the ticked runs alone, and no verdict:
site-pick = Select two points in the plot, or tick two runs in the table, to see them side by side.
site-written = written: { $page } (runs: { $runs }, files written: { $written }, unchanged: { $kept }, removed: { $removed })
