//! Command-line options of the comparisons.

use anyhow::{Context, Result, bail};
use assay_model::quantity::Bytes;

use super::USAGE;

/// Parsed options; `None` means the default of the comparison.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BenchOptions {
    /// Number of turns.
    pub turns: usize,
    /// Number of CPUs.
    pub threads: Option<usize>,
    /// Seed of the order of the turns.
    pub seed: u64,
    /// Size of one array.
    pub bytes: Option<Bytes>,
    /// Orders of the linear systems.
    pub orders: Vec<usize>,
    /// Largest order for which hpcc is run. Its other tests grow with the order and cannot be
    /// skipped: at 16,000 on two cores they take more than ten minutes.
    pub hpcc_up_to: usize,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self {
            turns: 10,
            threads: None,
            seed: 1,
            bytes: None,
            orders: vec![4000, 8000, 16000],
            hpcc_up_to: 8000,
        }
    }
}

impl BenchOptions {
    /// Parses `--name value` pairs.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { bail!("{} needs a value\n{USAGE}", pair[0]) };
            options.set(name, value).with_context(|| format!("{name} {value}"))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "--turns" => self.turns = positive(value)?,
            "--threads" => self.threads = Some(positive(value)?),
            "--seed" => self.seed = value.parse()?,
            "--bytes" => self.bytes = Some(value.parse()?),
            "--hpcc-up-to" => self.hpcc_up_to = positive(value)?,
            "--n" => self.orders = value.split(',').map(positive).collect::<Result<_>>()?,
            _ => bail!("unknown option\n{USAGE}"),
        }
        Ok(())
    }
}

fn positive(text: &str) -> Result<usize> {
    match text.parse()? {
        0 => bail!("must be at least 1"),
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_options_in_any_order() {
        let options =
            BenchOptions::parse(&["--n", "100,200", "--bytes", "1GiB", "--turns", "6"]);
        let expected = BenchOptions {
            turns: 6,
            bytes: Some(Bytes::gib(1)),
            orders: vec![100, 200],
            ..BenchOptions::default()
        };
        assert_eq!(options.unwrap(), expected);
        assert_eq!(BenchOptions::parse(&[]).unwrap(), BenchOptions::default());
    }

    #[test]
    fn rejects_invalid_options() {
        for bad in
            [&["--turns"][..], &["--turns", "0"], &["--n", "4000,"], &["--size", "1"], &["x"]]
        {
            assert!(BenchOptions::parse(bad).is_err(), "{bad:?}");
        }
    }
}
