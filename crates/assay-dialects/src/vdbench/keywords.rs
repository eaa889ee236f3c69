//! Vdbench's keywords per kind of definition, in the order in which Vdbench compares them.
//!
//! The table holds the value kind of each keyword, and whether assay supports it.

use assay_model::spelling::nearest_word;

/// Kind of definition, or the general parameters before all definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum DefinitionKind {
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
pub(super) enum KeywordValue {
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
pub(super) enum KeywordSupport {
    /// Implemented.
    Full,
    /// Ignored, with the reason.
    Ignored(&'static str),
    /// Rejected with the reason, because ignoring it would change the meaning of the file.
    Unsupported(&'static str),
}

/// Keyword of the table.
#[derive(Debug)]
pub(super) struct Keyword {
    /// Full spelling.
    pub(super) spelled: &'static str,
    /// Name in the rest of the compiler, shared by synonyms.
    pub(super) name: &'static str,
    pub(super) values: KeywordValue,
    pub(super) support: KeywordSupport,
}

impl DefinitionKind {
    /// Returns the kind of definition that a keyword begins.
    pub(super) fn from_keyword(keyword: &str) -> Option<Self> {
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
    pub(super) const fn description(self) -> &'static str {
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
pub(super) enum KeywordMatch {
    /// Unique match.
    Unique(&'static Keyword),
    /// Ambiguous prefix: the match that Vdbench takes, and another one.
    Ambiguous(&'static Keyword, &'static Keyword),
    /// No match.
    Unknown,
}

/// Finds the keyword for `written` (lower case): its full spelling, a prefix or the plural.
pub(super) fn find_keyword(kind: DefinitionKind, written: &str) -> KeywordMatch {
    let rows = kind.keywords();
    if let Some(row) = rows.iter().find(|row| row.spelled == written) {
        return KeywordMatch::Unique(row);
    }
    if written.len() >= 2 {
        let mut begun = rows.iter().filter(|row| row.spelled.starts_with(written));
        if let Some(first) = begun.next() {
            return match begun.find(|row| row.name != first.name) {
                Some(second) => KeywordMatch::Ambiguous(first, second),
                None => KeywordMatch::Unique(first),
            };
        }
    }
    let singular = |row: &&Keyword| written.strip_prefix(row.spelled) == Some("s");
    match rows.iter().find(singular) {
        Some(row) => KeywordMatch::Unique(row),
        None => KeywordMatch::Unknown,
    }
}

/// Returns the keyword with the most similar spelling.
pub(super) fn nearest_keyword(kind: DefinitionKind, written: &str) -> Option<&'static str> {
    nearest_word(written, kind.keywords().iter().map(|row| row.spelled))
}

/// Constructors for the tables; all but `ignored` and `unsupported` mean full support.
const fn keyword(spelled: &'static str, values: KeywordValue) -> Keyword {
    Keyword { spelled, name: spelled, values, support: KeywordSupport::Full }
}

const fn synonym(spelled: &'static str, name: &'static str, values: KeywordValue) -> Keyword {
    Keyword { spelled, name, values, support: KeywordSupport::Full }
}

const fn ignored(spelled: &'static str, why: &'static str) -> Keyword {
    Keyword {
        spelled,
        name: spelled,
        values: KeywordValue::Words,
        support: KeywordSupport::Ignored(why),
    }
}

const fn unsupported(spelled: &'static str, why: &'static str) -> Keyword {
    Keyword {
        spelled,
        name: spelled,
        values: KeywordValue::Words,
        support: KeywordSupport::Unsupported(why),
    }
}

use KeywordValue::{Either, Numbers, Times, Words};

const NO_JOURNAL: &str = "journals are not kept; -v checks data within one execution";
const NO_REPLAY: &str = "traces are not replayed";
const UNIQUE: &str = "blocks of files are written unique; storage that deduplicates stores more than with Vdbench";

const GENERAL: &[Keyword] = &[
    ignored("messagescan", "the kernel's log is not copied into the output"),
    keyword("data_errors", Either),
    synonym("dataerrors", "data_errors", Either),
    keyword("compratio", Numbers),
    keyword("compression", Numbers),
    ignored("compressionseed", "data is generated anew in every run"),
    keyword("dedupratio", Numbers),
    keyword("dedupunit", Numbers),
    keyword("dedupsets", Numbers),
    ignored(
        "dedupflipflop",
        "a duplicate block keeps its contents when it is written again, as with dedupflipflop=no",
    ),
    ignored("deduphotsets", "all sets of duplicates have as many blocks"),
    keyword("concatenatesds", Words),
    synonym("concatenate", "concatenatesds", Words),
    keyword("create_anchors", Words),
    keyword("formatsds", Words),
    keyword("formatxfersize", Numbers),
    ignored("histogram", "the histogram has its default limits"),
    keyword("startcmd", Words),
    synonym("start_cmd", "startcmd", Words),
    keyword("endcmd", Words),
    synonym("end_cmd", "endcmd", Words),
    keyword("monitor", Words),
    keyword("validate", Words),
    unsupported("journal", NO_JOURNAL),
    ignored("report", "all reports are written"),
    ignored("report_run_totals", "all reports are written"),
    ignored("port", "no port is opened"),
    ignored("debug", "debugging output is not supported"),
    ignored("misc", "it applies to Java only"),
    ignored("swat", "no Swat file is written"),
    ignored("timeout", "an I/O may take as long as the kernel allows"),
    ignored("ios_per_jvm", "one process does all I/O"),
    keyword("loop", Words),
    ignored("pattern", "written data is random and as compressible as compratio sets"),
    unsupported("force_error_after", "errors are not simulated"),
    ignored("abort_failed_skew", "the shares reached are reported, not enforced"),
    unsupported("replay", NO_REPLAY),
    ignored(
        "dedupacross",
        "unique blocks occur on one storage definition only, as with dedupacross=yes",
    ),
    ignored("dedupmaxkey", "it limits the versions of a block of dedupflipflop"),
    ignored("auxreport", "no other program's report is collected"),
    ignored("heartbeat_error", "one process does all I/O, and its end is the end of the run"),
    ignored("pattern_buffer", "written data is generated, not taken from a buffer"),
    ignored("showlba", "no list of addresses is written"),
];

const HOST: &[Keyword] = &[
    keyword("system", Words),
    ignored("jvms", "one process does all I/O of a host"),
    keyword("shell", Words),
    keyword("user", Words),
    ignored("vdbench", "assay copies itself to the host"),
    keyword("clients", Numbers),
    unsupported(
        "mount",
        "assay mounts nothing; mount it on each host beforehand and remove mount=",
    ),
    ignored("master", "the master is the host that assay is started on"),
];

const STORAGE: &[Keyword] = &[
    keyword("lun", Words),
    keyword("host", Words),
    synonym("hd", "host", Words),
    keyword("size", Numbers),
    keyword("threads", Numbers),
    keyword("openflags", Words),
    keyword("range", Numbers),
    keyword("offset", Numbers),
    keyword("align", Numbers),
    keyword("hitarea", Numbers),
    keyword("count", Numbers),
    unsupported("streams", "give streams to the workload definition (wd)"),
    ignored("kstat", "Solaris alone has such statistics"),
    ignored("instance", "Solaris alone has such statistics"),
    unsupported("journal", NO_JOURNAL),
    keyword("dedupratio", Numbers),
    unsupported("dedupunit", "Vdbench accepts it as a general parameter only"),
    keyword("dedupsets", Numbers),
    unsupported("replay", NO_REPLAY),
    unsupported("resetlun", "no command is sent to a device"),
    unsupported("resetbus", "no command is sent to a device"),
];

const WORKLOAD: &[Keyword] = &[
    keyword("sd", Words),
    keyword("host", Words),
    synonym("hd", "host", Words),
    keyword("rdpct", Numbers),
    synonym("readpct", "rdpct", Numbers),
    keyword("writepct", Numbers),
    synonym("wrpct", "writepct", Numbers),
    keyword("xfersize", Numbers),
    keyword("seekpct", Either),
    keyword("skew", Numbers),
    keyword("rhpct", Numbers),
    keyword("whpct", Numbers),
    keyword("range", Numbers),
    keyword("hotband", Numbers),
    keyword("stride", Numbers),
    keyword("streams", Numbers),
    keyword("iorate", Numbers),
    keyword("priority", Numbers),
    keyword("threads", Numbers),
    keyword("openflags", Words),
];

const RUN: &[Keyword] = &[
    keyword("wd", Words),
    keyword("sd", Words),
    keyword("fwd", Words),
    unsupported("fsd", "name the trees in the workload definitions (fwd)"),
    keyword("iorate", Either),
    keyword("curve", Either),
    keyword("stopcurve", Numbers),
    keyword("distribution", Words),
    keyword("elapsed", Times),
    keyword("interval", Times),
    keyword("warmup", Times),
    keyword("pause", Times),
    keyword("maxdata", Numbers),
    keyword("maxdataread", Numbers),
    keyword("maxdatawritten", Numbers),
    keyword("openflags", Words),
    keyword("startcmd", Words),
    synonym("start_cmd", "startcmd", Words),
    keyword("endcmd", Words),
    synonym("end_cmd", "endcmd", Words),
    unsupported("replay", NO_REPLAY),
    unsupported(
        "mount",
        "assay mounts nothing; mount it on each host beforehand and remove mount=",
    ),
    synonym("forxfersize", "xfersize", Either),
    synonym("xfersize", "xfersize", Either),
    synonym("forthreads", "threads", Numbers),
    synonym("threads", "threads", Numbers),
    synonym("forrdpct", "rdpct", Numbers),
    synonym("rdpct", "rdpct", Numbers),
    synonym("forreadpct", "rdpct", Numbers),
    synonym("readpct", "rdpct", Numbers),
    synonym("forrhpct", "rhpct", Numbers),
    synonym("rhpct", "rhpct", Numbers),
    synonym("forwhpct", "whpct", Numbers),
    synonym("whpct", "whpct", Numbers),
    synonym("forseekpct", "seekpct", Either),
    synonym("seekpct", "seekpct", Either),
    synonym("forhitarea", "hitarea", Numbers),
    synonym("hitarea", "hitarea", Numbers),
    synonym("forcompratio", "compratio", Numbers),
    synonym("compratio", "compratio", Numbers),
    keyword("fwdrate", Either),
    keyword("format", Words),
    synonym("foroperations", "operations", Words),
    synonym("operations", "operations", Words),
    synonym("fordepth", "depth", Numbers),
    synonym("depth", "depth", Numbers),
    synonym("forwidth", "width", Numbers),
    synonym("width", "width", Numbers),
    synonym("forfiles", "files", Numbers),
    synonym("files", "files", Numbers),
    synonym("forsizes", "sizes", Numbers),
    synonym("sizes", "sizes", Numbers),
    synonym("forsize", "sizes", Numbers),
    synonym("fortotalsize", "totalsize", Numbers),
    synonym("totalsize", "totalsize", Numbers),
];

const FILE_SYSTEM: &[Keyword] = &[
    keyword("anchor", Words),
    keyword("depth", Numbers),
    keyword("width", Numbers),
    keyword("files", Numbers),
    synonym("sizes", "size", Numbers),
    keyword("size", Numbers),
    keyword("distribution", Words),
    keyword("openflags", Words),
    keyword("shared", Words),
    keyword("totalsize", Numbers),
    synonym("total_size", "totalsize", Numbers),
    keyword("workingsetsize", Numbers),
    synonym("wss", "workingsetsize", Numbers),
    keyword("count", Numbers),
    unsupported("journal", NO_JOURNAL),
    ignored("log", "no list of reads and writes is written"),
    ignored("dedupratio", UNIQUE),
    ignored("dedupunit", UNIQUE),
    ignored("dedupsets", UNIQUE),
];

const FILE_WORKLOAD: &[Keyword] = &[
    keyword("fsd", Words),
    keyword("operation", Words),
    synonym("operations", "operation", Words),
    keyword("fileio", Words),
    keyword("fileselect", Words),
    keyword("xfersize", Numbers),
    keyword("rdpct", Numbers),
    synonym("readpct", "rdpct", Numbers),
    keyword("threads", Numbers),
    keyword("skew", Numbers),
    keyword("stopafter", Numbers),
    keyword("host", Words),
    synonym("hd", "host", Words),
    keyword("target", Words),
    keyword("openflags", Words),
];
