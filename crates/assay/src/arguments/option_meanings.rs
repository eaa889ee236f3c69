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
    ("expect", &["gate", "limits", "data-sheet", "reference", "claims"]),
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
