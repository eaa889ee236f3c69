//! Selection of the rows of an HPL log that become samples.

use assay_model::attribute::Attribute;

use super::{HplLog, HplRow};
use crate::outputs::{ParsedOutput, ToolError};

impl HplLog {
    /// Adds the samples of `rmax` for N = `asked`: the rows of the fastest parameter set, as HPL's
    /// users read a log. Reports a problem if other rows were left out.
    pub(crate) fn add_samples(
        &self,
        asked: u64,
        parsed: &mut ParsedOutput,
    ) -> Result<(), ToolError> {
        let rows = self.rows.iter().filter(|row| row.n == asked);
        let Some(best) = rows.max_by(|a, b| a.flops.total_cmp(&b.flops)) else {
            let what = format!("there is no row of N = {asked}");
            return Err(ToolError::Contradiction { what });
        };
        let rows: Vec<_> =
            self.rows.iter().filter(|row| parameter_set(row) == parameter_set(best)).collect();
        let others = self.rows.len() - rows.len();
        if others > 0 {
            let problem = format!("{others} rows of another N, or slower ones, were ignored");
            parsed.problems.push(problem);
        }
        let residual = rows.iter().map(|row| row.residual).fold(0.0, f64::max);
        let HplRow { n, block, p, q, variant, .. } = best;
        parsed.add_samples("rmax", rows.iter().map(|row| row.flops).collect());
        parsed.set_attribute(Attribute::N, *n);
        parsed.set_attribute(Attribute::Block, *block);
        parsed.set_attribute(Attribute::Grid, format!("{p}x{q}"));
        parsed.set_attribute(Attribute::Variant, variant.clone());
        parsed.set_attribute(Attribute::Residual, residual);
        Ok(())
    }
}

/// Returns the parameters that identify a set.
fn parameter_set(row: &HplRow) -> (&str, u64, u64, u64, u64) {
    (&row.variant, row.n, row.block, row.p, row.q)
}
