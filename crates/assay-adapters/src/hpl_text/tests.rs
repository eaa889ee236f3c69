//! Tests of HPL's input, grids and blocks.

use expect_test::expect;

use super::{HplInput, block_size, process_grid};

#[test]
fn grid_is_as_square_as_possible() {
    let table =
        [(0, (1, 1)), (1, (1, 1)), (2, (1, 2)), (6, (2, 3)), (7, (1, 7)), (96, (8, 12))];
    for (ranks, expected) in table {
        assert_eq!(process_grid(ranks), expected, "{ranks} ranks");
    }
}

#[test]
fn block_size_fits_the_system() {
    let table = [
        (1, 1, 8),
        (500, 2, 56),
        (1000, 2, 120),
        (4000, 2, 128),
        (9999, 2, 128),
        (10_000, 2, 192),
        (100_000, 12, 192),
    ];
    for (n, q, expected) in table {
        assert_eq!(block_size(n, q), expected, "N = {n} on {q} columns");
    }
}

#[test]
fn input_has_hpl_line_order() {
    let input = HplInput { n: 4000, rows: 3, block: 128, p: 1, q: 2 };
    expect![[r#"
        HPLinpack benchmark input file
        Innovative Computing Laboratory, University of Tennessee
        HPL.out      output file name (if any)
        6            device out (6=stdout,7=stderr,file)
        3            # of problems sizes (N)
        4000 4000 4000 Ns
        1            # of NBs
        128          NBs
        0            PMAP process mapping (0=Row-,1=Column-major)
        1            # of process grids (P x Q)
        1            Ps
        2            Qs
        16.0         threshold
        1            # of panel fact
        2            PFACTs (0=left, 1=Crout, 2=Right)
        1            # of recursive stopping criterium
        4            NBMINs (>= 1)
        1            # of panels in recursion
        2            NDIVs
        1            # of recursive panel fact.
        1            RFACTs (0=left, 1=Crout, 2=Right)
        1            # of broadcast
        1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
        1            # of lookahead depth
        1            DEPTHs (>=0)
        2            SWAP (0=bin-exch,1=long,2=mix)
        64           swapping threshold
        0            L1 in (0=transposed,1=no-transposed) form
        0            U  in (0=transposed,1=no-transposed) form
        1            Equilibration (0=no,1=yes)
        8            memory alignment in double (> 0)
    "#]]
    .assert_eq(&input.text());
}
