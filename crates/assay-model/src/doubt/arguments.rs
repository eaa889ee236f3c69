//! Arguments of doubts that are more than a figure.

use serde::{Deserialize, Serialize};

/// Resource of a host that a measurement can saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostResource {
    /// All its CPUs together.
    Cpus,
    /// A single CPU.
    OneCpu,
    /// A network device.
    Network,
}

/// The last rounds of a steady-state test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyWindow {
    /// Number of rounds.
    pub rounds: u32,
    /// Range of their rates over the mean.
    pub range: f64,
    /// Change along a straight line through them over the mean.
    pub slope: f64,
    /// Change along a lasting trend over the mean; `None` = no trend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// Required order between two figures of one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureOrder {
    /// min ≤ median.
    MinMedian,
    /// median ≤ p99.
    MedianP99,
    /// median ≤ max.
    MedianMax,
    /// p99 ≤ max.
    P99Max,
    /// Percentiles ascend, up to the maximum.
    Percentiles,
    /// min ≤ mean.
    MinMean,
    MeanMax,
    /// Lower end of the interval ≤ median.
    LowMedian,
    /// median ≤ upper end of the interval.
    MedianHigh,
}
