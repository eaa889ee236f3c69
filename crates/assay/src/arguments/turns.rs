//! Options of conditions that take turns: alternating ones, and levels of factors.

use assay_model::factor::FactorLevels;
use assay_model::suite::factorial::MAX_BLOCKS;
use clap::Args;

use super::values::{parse_margin, parse_pause};

/// Options of alternating conditions.
#[derive(Debug, Args)]
pub(crate) struct TurnsArguments {
    /// With --switch: exact number of runs, half of them under each condition [default: at most 28;
    /// from the 12th on, they end once the main metrics are decided]
    #[arg(long, value_name = "N", requires = "switch", value_parser = parse_turns)]
    pub(crate) turns: Option<u32>,
    /// With --switch: add half as many runs under the first condition, to show the noise floor
    #[arg(long, requires = "switch")]
    pub(crate) control: bool,
    /// With factors: number of blocks, each of which has every combination of levels once [default:
    /// that of the suite, or 14]
    #[arg(long, value_name = "N", conflicts_with = "switch", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BLOCKS)))]
    pub(crate) blocks: Option<u32>,
    /// With --switch or a factor that is applied by a command: time to wait after each command until
    /// the change has settled [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_pause)]
    pub(crate) settle: Option<f64>,
    /// With --switch: largest relative difference that counts as equivalent
    #[arg(long, value_name = "SHARE", default_value = "2%", requires = "switch", value_parser = parse_margin)]
    pub(crate) margin: f64,
}

/// Parses a factor with its levels.
pub(super) fn parse_factor(text: &str) -> Result<FactorLevels, String> {
    FactorLevels::parse(text).map_err(|error| format!("{error}; {}", error.advice()))
}

fn parse_turns(text: &str) -> Result<u32, String> {
    match text.parse() {
        // Both conditions take the same number of turns.
        Ok(turns) if turns > 0 && turns <= 1000 && turns % 2 == 0 => Ok(turns),
        _ => Err("expected an even number from 2 to 1000".into()),
    }
}
