//! The one spelling of each option of assay's own commands, and the words that users try instead.

/// Options by their meaning, with other spellings of it, which no command has:
/// an unknown option of one is answered with the spelling that the command has.
pub(crate) const MEANINGS: &[(&str, &[&str])] = &[
    // Length of one measurement.
    ("for", &["time", "duration", "length", "seconds", "runtime"]),
    // Time of the whole run.
    ("budget", &["time-budget", "max-time", "limit"]),
    // Maximum time of a single program.
    ("timeout", &["deadline"]),
    // Size of files that are created, and of one I/O.
    ("size", &["file-size", "bytes", "filesize"]),
    ("bs", &["block-size", "io-size", "blocksize"]),
    ("message-size", &["message", "len", "msg-size"]),
    // Work in flight.
    ("depth", &["queue-depth", "iodepth", "in-flight", "qd"]),
    ("threads", &["jobs", "workers", "numjobs"]),
    // Rate at which load is offered.
    ("rate", &["iops", "bandwidth", "bitrate", "target-rate"]),
    // Far end, hosts of a run, and the host of results.
    ("to", &["far-end", "server", "remote", "peer"]),
    ("hosts", &["nodes", "machines", "hostlist"]),
    ("host", &["hostname", "node", "machine"]),
    // Largest difference that counts as equivalent.
    ("margin", &["tolerance", "threshold", "noise"]),
    ("expect", &["gate", "limits", "data-sheet", "reference", "claims", "compare", "baseline"]),
    ("streams", &["parallel", "flows"]),
    ("locale", &["lang", "language"]),
    ("store", &["store-dir", "data-dir", "database"]),
    ("no-store", &["dry", "temporary", "no-save"]),
    ("output", &["out", "file", "output-file"]),
    ("format", &["fmt", "output-format", "type"]),
    ("quiet", &["silent", "no-progress"]),
    ("dry-run", &["plan", "simulate", "check-only"]),
    ("label", &["tag", "condition"]),
    ("note", &["comment", "description"]),
    ("seed", &["random-seed", "rng"]),
];

/// Options of some commands, with those of a related meaning that others have instead.
pub(crate) const RELATED: &[(&str, &str)] =
    &[("size", "array-size"), ("size", "message-size"), ("bs", "message-size")];

/// Options of one letter in other tools, with their meanings there, the most frequent one first.
/// An unknown option of one letter is answered with those that the command has.
pub(crate) const LETTERS: &[(&str, &[&str])] = &[
    ("-b", &["bs", "rate"]),
    ("-c", &["to"]),
    ("-d", &["depth"]),
    ("-f", &["format"]),
    ("-i", &["interval"]),
    ("-j", &["threads", "json"]),
    ("-l", &["message-size", "label"]),
    ("-m", &["memory", "message-size"]),
    ("-n", &["n", "runs", "array-size", "samples", "threads"]),
    ("-P", &["streams"]),
    ("-r", &["runs", "rate"]),
    ("-s", &["size", "array-size", "message-size"]),
    ("-t", &["for", "budget", "threads", "timeout"]),
    ("-T", &["threads"]),
];

/// Counts that no storage test has.
const STORAGE_COUNTS: &[&str] =
    &["n", "runs", "count", "repetitions", "repeat", "samples", "loops"];
const STORAGE_COUNT_ADVICE: &str = "a test runs once, for a time: `--for 30s` sets it, `--steady-state` repeats rounds until \
     the rate is steady, `--threads N` sets the threads; start the command again for another run";

/// Words that are no option of a command, with the advice that names the right form.
pub(crate) const OPTION_WORDS: &[(&str, &[&str], &str)] = &[
    (
        "list",
        &["last", "limit", "head", "count", "newest", "number", "n"],
        "the newest runs are listed first: `assay list | head -n 12`; `assay list --since 1d` lists \
         those of a day",
    ),
    ("net latency", &["size", "bytes", "len"], "use --message-size"),
    ("storage read", STORAGE_COUNTS, STORAGE_COUNT_ADVICE),
    ("storage write", STORAGE_COUNTS, STORAGE_COUNT_ADVICE),
    ("storage mix", STORAGE_COUNTS, STORAGE_COUNT_ADVICE),
    ("rm", &["label"], "name the label itself: `assay rm LABEL` removes its runs"),
    ("run", &["list"], "`assay help suites` lists the suites"),
    ("report", &["title"], "name the subject of a page: `--format learn --subject TEXT`"),
    (
        "report",
        &["pdf"],
        "write a page and print it in a browser: `assay report RUN -o page.html`",
    ),
    (
        "show",
        &["pdf"],
        "write a page and print it in a browser: `assay report RUN -o page.html`",
    ),
];
