//! Shapes of `assay show --as`: outputs of other tools, and the imported file.

use clap::ValueEnum;

/// Output formats of tools in which a stored run can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolShape {
    /// Text output of iperf3
    Iperf3,
    /// JSON output of iperf3 (-J)
    Iperf3Json,
    /// Output of qperf
    Qperf,
    /// Output of sockperf
    Sockperf,
    /// Console output of ntttcp
    Ntttcp,
    /// XML file of ntttcp (-x)
    NtttcpXml,
    /// JSON file of ntttcp (-j)
    NtttcpJson,
    /// Statistics of ping
    Ping,
    /// Table of perftest
    Perftest,
    /// JSON output of perftest
    PerftestJson,
    /// Table of the OSU benchmarks
    Osu,
    /// Text output of IOR
    Ior,
    /// JSON output of IOR (summaryFormat=JSON)
    IorJson,
    /// Output of mdtest
    Mdtest,
    /// Summary of IO500's result
    Io500,
    /// Console output of Vdbench; with --output also its folder
    Vdbench,
    /// Text output of fio
    #[value(alias = "fio")]
    FioNormal,
    /// JSON output of fio
    FioJson,
    /// JSON output of fio with latency bins
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// Terse output of fio
    FioTerse,
    /// File that was imported, unchanged
    Imported,
}

impl ToolShape {
    /// Whether a file of this format that was imported has this shape.
    pub(crate) fn is_imported_format(self, format: &str) -> bool {
        match self {
            Self::Iperf3 => format == "iperf3-text",
            Self::Iperf3Json => format == "iperf3-json",
            Self::Qperf => format == "qperf",
            Self::Sockperf => format == "sockperf",
            Self::Ntttcp => format == "ntttcp",
            Self::NtttcpXml => format == "ntttcp-xml",
            Self::NtttcpJson => false,
            Self::Ping => format == "ping",
            Self::Perftest => format == "perftest",
            Self::PerftestJson => format == "perftest-json",
            Self::Osu => format == "osu",
            Self::Ior | Self::IorJson => format == "ior",
            Self::Mdtest => format == "mdtest",
            Self::Io500 => format == "io500",
            Self::Vdbench => format == "vdbench-summary",
            Self::FioNormal => format == "fio-text",
            Self::FioJson | Self::FioJsonPlus => format == "fio-json",
            Self::FioTerse => format == "fio-terse",
            Self::Imported => true,
        }
    }

    /// Returns the language whose runs can be printed in this shape.
    pub(crate) const fn language(self) -> &'static str {
        match self {
            Self::Iperf3 | Self::Iperf3Json => "iperf3",
            Self::Qperf => "qperf",
            Self::Sockperf => "sockperf",
            Self::Ntttcp | Self::NtttcpXml | Self::NtttcpJson => "ntttcp",
            Self::Ping => "ping",
            Self::Perftest | Self::PerftestJson => "perftest",
            Self::Osu => "osu",
            Self::Ior | Self::IorJson => "ior",
            Self::Mdtest => "mdtest",
            Self::Io500 => "io500",
            Self::Vdbench => "vdbench",
            Self::FioNormal | Self::FioJson | Self::FioJsonPlus | Self::FioTerse => "fio",
            Self::Imported => "imported",
        }
    }
}
