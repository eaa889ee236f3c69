//! HPL inside `hpcc`: writes its input file, runs it, and parses its rows.
//!
//! hpcc runs a dozen other tests before HPL and cannot skip them. Their sizes follow from the order
//! of the system: a small order takes seconds, 16,000 a few minutes.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use assay_adapters::hpcc_text::find_section;
use assay_adapters::hpl_text::HplLog;

use super::workplace::BenchWorkplace;

/// FLOP/s of each solution, by block size.
pub(crate) type RatesByBlock = BTreeMap<usize, Vec<f64>>;

/// Solves a system of order `n`, `times` times with each block size.
pub(crate) fn run(
    workplace: &BenchWorkplace,
    n: usize,
    blocks: &[usize],
    times: usize,
) -> Result<RatesByBlock> {
    let folder = workplace.folder.join("hpcc");
    fs::create_dir_all(&folder)?;
    let input = format_input(n, blocks, times, squarest_grid(workplace.cpus.count()));
    fs::write(folder.join("hpccinf.txt"), input)?;
    let output = folder.join("hpccoutf.txt");
    if output.exists() {
        fs::remove_file(&output)?;
    }
    crate::command::output(command(workplace).current_dir(&folder))?;
    let output = fs::read_to_string(&output).context("hpcc wrote no hpccoutf.txt")?;
    parse_output(&output, n, blocks.len() * times)
}

/// Returns the command of [`run`]: one rank with one thread for each CPU.
pub(crate) fn command(workplace: &BenchWorkplace) -> Command {
    let mut command = workplace.command("mpirun");
    command
        .args([
            "--allow-run-as-root",
            "--cpu-set",
            &workplace.cpus.format_list(),
            "--bind-to",
            "core",
        ])
        .args(["-n", &workplace.cpus.count().to_string(), "hpcc"])
        .env("OPENBLAS_NUM_THREADS", "1");
    command
}

/// Returns the most square grid of ranks, with no more rows than columns, as HPL's documentation
/// advises.
fn squarest_grid(ranks: usize) -> (usize, usize) {
    let rows = (1..=ranks).filter(|p| p * p <= ranks && ranks.is_multiple_of(*p)).max();
    let rows = rows.unwrap_or(1);
    (rows, ranks / rows)
}

/// Returns the contents of `hpccinf.txt`; HPL identifies each line by its position. The parameters
/// of the algorithm are those of the file that hpcc comes with.
fn format_input(
    n: usize,
    blocks: &[usize],
    times: usize,
    (rows, columns): (usize, usize),
) -> String {
    let join =
        |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let (orders, blocks) = (join(&vec![n; times]), (blocks.len(), join(blocks)));
    format!(
        "HPLinpack benchmark input file\n\
         written by cargo xtask bench compute\n\
         HPL.out\n8 device out\n\
         {times} problem sizes\n{orders}\n\
         {} block sizes\n{}\n\
         0 PMAP\n1 grid\n{rows}\n{columns}\n16.0 threshold\n\
         1 PFACTs\n2\n1 NBMINs\n4\n1 NDIVs\n2\n1 RFACTs\n1\n1 BCASTs\n1\n1 DEPTHs\n1\n\
         2 SWAP\n64 threshold\n0 L1\n0 U\n1 equilibration\n8 alignment\n\
         ##### separator\n0 more sizes for PTRANS\n1200\n0 more blocks for PTRANS\n40\n",
        blocks.0, blocks.1
    )
}

/// Parses the rates by block size; rows of another order are an error.
fn parse_output(output: &str, n: usize, expected: usize) -> Result<RatesByBlock> {
    let log = HplLog::read(find_section(output, "HPL")?)?;
    let mut by_block = RatesByBlock::new();
    for row in &log.rows {
        ensure!(row.n == n as u64, "HPL solved a system of order {}", row.n);
        by_block.entry(usize::try_from(row.block)?).or_default().push(row.flops);
    }
    let solved_count = log.rows.len();
    ensure!(solved_count == expected, "HPL solved {solved_count} of {expected} systems");
    Ok(by_block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_the_squarest_grid() {
        for (ranks, expected) in
            [(1, (1, 1)), (2, (1, 2)), (4, (2, 2)), (6, (2, 3)), (7, (1, 7)), (44, (4, 11))]
        {
            assert_eq!(squarest_grid(ranks), expected);
        }
    }

    #[test]
    fn writes_each_value_on_its_line() {
        let input = format_input(4000, &[128, 192], 3, (1, 2));
        let lines: Vec<&str> = input.lines().collect();
        for (index, expected) in [
            (5, "4000 4000 4000"),
            (7, "128 192"),
            (10, "1"),
            (11, "2"),
            (31, "##### separator"),
        ] {
            assert_eq!(lines[index], expected, "line {}", index + 1);
        }
    }

    /// Output of hpcc 1.5.0, shortened.
    const OUTPUT: &str = "\
WALL  2000  2000 128 128   1   2     0.03 PASSED    1.229  0.00
Begin of HPL section.
WR11C2R4        4000   128     1     2               0.58              7.367e+01
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0027444 ...... PASSED
WR11C2R4        4000   192     1     2               0.61              6.966e+01
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0027586 ...... PASSED
Finished      2 tests with the following results:
              2 tests completed and passed residual checks,
              0 tests completed and failed residual checks,
              0 tests skipped because of illegal input values.
End of Tests.
End of HPL section.
";

    #[test]
    fn parses_rows_and_checks_residuals() {
        let expected = RatesByBlock::from([(128, vec![73.67e9]), (192, vec![69.66e9])]);
        assert_eq!(parse_output(OUTPUT, 4000, 2).unwrap(), expected);
        assert!(
            parse_output(&OUTPUT.replacen("PASSED\nWR", "FAILED\nWR", 1), 4000, 2).is_err()
        );
        assert!(parse_output(OUTPUT, 8000, 2).is_err(), "another order");
        assert!(parse_output(OUTPUT, 4000, 3).is_err(), "a row is missing");
        assert!(parse_output("", 4000, 2).is_err());
    }
}
