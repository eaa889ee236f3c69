//! What a doubt is about, where that is more than a figure.

use serde::{Deserialize, Serialize};

/// What of a host can be used up by what it measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// All its CPUs together.
    Cpus,
    /// A single CPU.
    OneCpu,
    /// A network device.
    Network,
}

/// The last rounds of a test that looks for a steady state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyWindow {
    /// Number of rounds.
    pub rounds: u32,
    /// Range of their rates over the mean.
    pub range: f64,
    /// Change along a straight line through them over the mean.
    pub slope: f64,
    /// The same of a trend that lasts; `None` = there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// The laws of order between the figures of one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// min ≤ median.
    MinMedian,
    /// median ≤ p99.
    MedianP99,
    /// median ≤ max.
    MedianMax,
    /// p99 ≤ max.
    P99Max,
    /// min ≤ mean.
    MinMean,
    /// mean ≤ max.
    MeanMax,
    /// Lower end of the interval ≤ median.
    LowMedian,
    /// median ≤ upper end of the interval.
    MedianHigh,
}
