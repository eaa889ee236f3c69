//! Vdbench's keywords per kind of definition, in the order in which Vdbench compares them.
//!
//! The table holds the value kind of each keyword, and whether assay supports it.

use assay_model::near::nearest;

/// Kind of definition, or the general parameters before all definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    General,
    Host,
    ReplayGroup,
    Storage,
    Workload,
    FileSystem,
    FileWorkload,
    Run,
}

/// Value kind of a keyword, which determines parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Words, even if they look like numbers.
    Words,
    /// Sizes, counts, percentages: `k` is 1024.
    Numbers,
    /// Times: `m` is a minute.
    Times,
    /// Numbers where they parse as such, otherwise words.
    Either,
}

/// Support of a keyword by assay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    /// Implemented.
    Full,
    /// Ignored, with the reason.
    Idle(&'static str),
    /// Rejected with the reason, because ignoring it would change the meaning of the file.
    None(&'static str),
}

/// Keyword of the table.
#[derive(Debug)]
pub(super) struct Keyword {
    /// Full spelling.
    pub(super) spelled: &'static str,
    /// Name in the rest of the compiler, shared by synonyms.
    pub(super) name: &'static str,
    pub(super) values: Values,
    pub(super) support: Support,
}

impl Kind {
    /// Returns the kind of definition that a keyword begins.
    pub(super) fn of(keyword: &str) -> Option<Self> {
        Some(match keyword {
            "hd" | "host" => Self::Host,
            "rg" => Self::ReplayGroup,
            "sd" => Self::Storage,
            "wd" => Self::Workload,
            "fsd" => Self::FileSystem,
            "fwd" => Self::FileWorkload,
            "rd" => Self::Run,
            _ => return None,
        })
    }

    /// Describes a parameter of this kind.
    pub(super) const fn called(self) -> &'static str {
        match self {
            Self::General => "general parameter",
            Self::Host => "parameter of a host definition (hd)",
            Self::ReplayGroup => "parameter of a replay group (rg)",
            Self::Storage => "parameter of a storage definition (sd)",
            Self::Workload => "parameter of a workload definition (wd)",
            Self::FileSystem => "parameter of a file-system definition (fsd)",
            Self::FileWorkload => "parameter of a file-system workload (fwd)",
            Self::Run => "parameter of a run definition (rd)",
        }
    }

    /// Returns the keywords of this kind.
    pub(super) const fn keywords(self) -> &'static [Keyword] {
        match self {
            Self::General => GENERAL,
            Self::Host => HOST,
            Self::ReplayGroup => &[],
            Self::Storage => STORAGE,
            Self::Workload => WORKLOAD,
            Self::FileSystem => FILE_SYSTEM,
            Self::FileWorkload => FILE_WORKLOAD,
            Self::Run => RUN,
        }
    }
}

/// Result of a search for a keyword.
#[derive(Debug)]
pub(super) enum Found {
    /// Unique match.
    One(&'static Keyword),
    /// Ambiguous prefix: the match that Vdbench takes, and another one.
    First(&'static Keyword, &'static Keyword),
    /// No match.
    Unknown,
}

/// Finds the keyword for `written` (lower case): its full spelling, a prefix or the plural.
pub(super) fn find(kind: Kind, written: &str) -> Found {
    let rows = kind.keywords();
    if let Some(row) = rows.iter().find(|row| row.spelled == written) {
        return Found::One(row);
    }
    if written.len() >= 2 {
        let mut begun = rows.iter().filter(|row| row.spelled.starts_with(written));
        if let Some(first) = begun.next() {
            return match begun.find(|row| row.name != first.name) {
                Some(second) => Found::First(first, second),
                None => Found::One(first),
            };
        }
    }
    let singular = |row: &&Keyword| written.strip_prefix(row.spelled) == Some("s");
    match rows.iter().find(singular) {
        Some(row) => Found::One(row),
        None => Found::Unknown,
    }
}

/// Returns the keyword with the most similar spelling.
pub(super) fn near(kind: Kind, written: &str) -> Option<&'static str> {
    nearest(written, kind.keywords().iter().map(|row| row.spelled))
}

/// Constructors for the tables; all but `ignored` and `unsupported` mean full support.
const fn row(spelled: &'static str, values: Values) -> Keyword {
    Keyword { spelled, name: spelled, values, support: Support::Full }
}

const fn also(spelled: &'static str, name: &'static str, values: Values) -> Keyword {
    Keyword { spelled, name, values, support: Support::Full }
}

const fn idle(spelled: &'static str, why: &'static str) -> Keyword {
    Keyword { spelled, name: spelled, values: Values::Words, support: Support::Idle(why) }
}

const fn none(spelled: &'static str, why: &'static str) -> Keyword {
    Keyword { spelled, name: spelled, values: Values::Words, support: Support::None(why) }
}

use Values::{Either, Numbers, Times, Words};

const NO_JOURNAL: &str = "journals are not kept; -v checks data within one execution";
const NO_REPLAY: &str = "traces are not replayed";
const UNIQUE: &str =
    "every block is written unique; storage that deduplicates stores more than with Vdbench";

const GENERAL: &[Keyword] = &[
    idle("messagescan", "the kernel's log is not copied into the output"),
    row("data_errors", Either),
    also("dataerrors", "data_errors", Either),
    row("compratio", Numbers),
    row("compression", Numbers),
    idle("compressionseed", "what is written is drawn anew in every run"),
    idle("dedupratio", UNIQUE),
    idle("dedupunit", UNIQUE),
    idle("dedupsets", UNIQUE),
    idle("dedupflipflop", UNIQUE),
    idle("deduphotsets", UNIQUE),
    row("concatenatesds", Words),
    also("concatenate", "concatenatesds", Words),
    row("create_anchors", Words),
    row("formatsds", Words),
    row("formatxfersize", Numbers),
    idle("histogram", "the histogram has its default limits"),
    row("startcmd", Words),
    also("start_cmd", "startcmd", Words),
    row("endcmd", Words),
    also("end_cmd", "endcmd", Words),
    row("monitor", Words),
    row("validate", Words),
    none("journal", NO_JOURNAL),
    idle("report", "all reports are written"),
    idle("report_run_totals", "all reports are written"),
    idle("port", "nothing listens"),
    idle("debug", "there is nothing to debug"),
    idle("misc", "it concerns Java"),
    idle("swat", "no Swat file is written"),
    idle("timeout", "an I/O may take as long as the kernel allows"),
    idle("ios_per_jvm", "one process does all I/O"),
    row("loop", Words),
    idle("pattern", "what is written is random and as compressible as compratio says"),
    none("force_error_after", "errors are not made up"),
    idle("abort_failed_skew", "the shares reached are told, not enforced"),
    none("replay", NO_REPLAY),
    idle("dedupacross", UNIQUE),
    idle("dedupmaxkey", UNIQUE),
    idle("auxreport", "no other program's report is collected"),
    idle("heartbeat_error", "one process does all I/O, and its end is the end of the run"),
    idle("pattern_buffer", "what is written is drawn, not taken from a buffer"),
    idle("showlba", "no list of addresses is written"),
];

const HOST: &[Keyword] = &[
    row("system", Words),
    idle("jvms", "one process does all I/O of a host"),
    row("shell", Words),
    row("user", Words),
    idle("vdbench", "assay brings itself to the host"),
    row("clients", Numbers),
    none("mount", "assay mounts nothing; mount it on each host beforehand and remove mount="),
    idle("master", "the master is the host that assay is started on"),
];

const STORAGE: &[Keyword] = &[
    row("lun", Words),
    row("host", Words),
    also("hd", "host", Words),
    row("size", Numbers),
    row("threads", Numbers),
    row("openflags", Words),
    row("range", Numbers),
    row("offset", Numbers),
    row("align", Numbers),
    row("hitarea", Numbers),
    row("count", Numbers),
    none("streams", "give streams to the workload definition (wd)"),
    idle("kstat", "Solaris alone has such statistics"),
    idle("instance", "Solaris alone has such statistics"),
    none("journal", NO_JOURNAL),
    idle("dedupratio", UNIQUE),
    idle("dedupunit", UNIQUE),
    idle("dedupsets", UNIQUE),
    none("replay", NO_REPLAY),
    none("resetlun", "no command is sent to a device"),
    none("resetbus", "no command is sent to a device"),
];

const WORKLOAD: &[Keyword] = &[
    row("sd", Words),
    row("host", Words),
    also("hd", "host", Words),
    row("rdpct", Numbers),
    also("readpct", "rdpct", Numbers),
    row("writepct", Numbers),
    also("wrpct", "writepct", Numbers),
    row("xfersize", Numbers),
    row("seekpct", Either),
    row("skew", Numbers),
    row("rhpct", Numbers),
    row("whpct", Numbers),
    row("range", Numbers),
    row("hotband", Numbers),
    row("stride", Numbers),
    row("streams", Numbers),
    row("iorate", Numbers),
    row("priority", Numbers),
    row("threads", Numbers),
    row("openflags", Words),
];

const RUN: &[Keyword] = &[
    row("wd", Words),
    row("sd", Words),
    row("fwd", Words),
    none("fsd", "name the trees in the workload definitions (fwd)"),
    row("iorate", Either),
    row("curve", Either),
    row("stopcurve", Numbers),
    row("distribution", Words),
    row("elapsed", Times),
    row("interval", Times),
    row("warmup", Times),
    row("pause", Times),
    row("maxdata", Numbers),
    row("maxdataread", Numbers),
    row("maxdatawritten", Numbers),
    row("openflags", Words),
    row("startcmd", Words),
    also("start_cmd", "startcmd", Words),
    row("endcmd", Words),
    also("end_cmd", "endcmd", Words),
    none("replay", NO_REPLAY),
    none("mount", "assay mounts nothing; mount it on each host beforehand and remove mount="),
    also("forxfersize", "xfersize", Either),
    also("xfersize", "xfersize", Either),
    also("forthreads", "threads", Numbers),
    also("threads", "threads", Numbers),
    also("forrdpct", "rdpct", Numbers),
    also("rdpct", "rdpct", Numbers),
    also("forreadpct", "rdpct", Numbers),
    also("readpct", "rdpct", Numbers),
    also("forrhpct", "rhpct", Numbers),
    also("rhpct", "rhpct", Numbers),
    also("forwhpct", "whpct", Numbers),
    also("whpct", "whpct", Numbers),
    also("forseekpct", "seekpct", Either),
    also("seekpct", "seekpct", Either),
    also("forhitarea", "hitarea", Numbers),
    also("hitarea", "hitarea", Numbers),
    also("forcompratio", "compratio", Numbers),
    also("compratio", "compratio", Numbers),
    row("fwdrate", Either),
    row("format", Words),
    also("foroperations", "operations", Words),
    also("operations", "operations", Words),
    also("fordepth", "depth", Numbers),
    also("depth", "depth", Numbers),
    also("forwidth", "width", Numbers),
    also("width", "width", Numbers),
    also("forfiles", "files", Numbers),
    also("files", "files", Numbers),
    also("forsizes", "sizes", Numbers),
    also("sizes", "sizes", Numbers),
    also("forsize", "sizes", Numbers),
    also("fortotalsize", "totalsize", Numbers),
    also("totalsize", "totalsize", Numbers),
];

const FILE_SYSTEM: &[Keyword] = &[
    row("anchor", Words),
    row("depth", Numbers),
    row("width", Numbers),
    row("files", Numbers),
    also("sizes", "size", Numbers),
    row("size", Numbers),
    row("distribution", Words),
    row("openflags", Words),
    row("shared", Words),
    row("totalsize", Numbers),
    also("total_size", "totalsize", Numbers),
    row("workingsetsize", Numbers),
    also("wss", "workingsetsize", Numbers),
    row("count", Numbers),
    none("journal", NO_JOURNAL),
    idle("log", "no list of reads and writes is written"),
    idle("dedupratio", UNIQUE),
    idle("dedupunit", UNIQUE),
    idle("dedupsets", UNIQUE),
];

const FILE_WORKLOAD: &[Keyword] = &[
    row("fsd", Words),
    row("operation", Words),
    also("operations", "operation", Words),
    row("fileio", Words),
    row("fileselect", Words),
    row("xfersize", Numbers),
    row("rdpct", Numbers),
    also("readpct", "rdpct", Numbers),
    row("threads", Numbers),
    row("skew", Numbers),
    row("stopafter", Numbers),
    row("host", Words),
    also("hd", "host", Words),
    row("target", Words),
    row("openflags", Words),
];
