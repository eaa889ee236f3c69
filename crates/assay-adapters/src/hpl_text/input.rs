//! Writer of HPL's input file.
//!
//! HPL reads it by line number and position, so that the order of the lines is the format. Text
//! after the values on a line is a comment.

/// Largest number of values per list in HPL (`HPL_MAX_PARAM` in its sources).
const MAX_SIZES: u32 = 20;

/// Largest N: HPL counts equations in a C `int`.
pub const MAX_N: u64 = i32::MAX as u64;

/// Parameters of HPL that assay chooses. The others have fixed values that suit most machines
/// (HPL's TUNING file): right-looking factorisation with Crout recursion, a modified ring
/// broadcast, one panel of look-ahead, and the residual check with HPL's own threshold of 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HplInput {
    /// Number of equations.
    pub n: u64,
    /// Number of times that the same system is solved.
    pub rows: u32,
    /// Width of a block of columns.
    pub block: u64,
    /// Rows of the process grid.
    pub p: u64,
    /// Columns of the process grid.
    pub q: u64,
}

impl HplInput {
    /// Formats `HPL.dat`, which is also the first 31 lines of `hpccinf.txt`.
    pub fn text(&self) -> String {
        let Self { n, rows, block, p, q } = self;
        let rows = (*rows).clamp(1, MAX_SIZES);
        let sizes = vec![n.to_string(); rows as usize].join(" ");
        format!(
            "HPLinpack benchmark input file\n\
             Innovative Computing Laboratory, University of Tennessee\n\
             HPL.out      output file name (if any)\n\
             6            device out (6=stdout,7=stderr,file)\n\
             {rows}            # of problems sizes (N)\n\
             {sizes} Ns\n\
             1            # of NBs\n\
             {block}          NBs\n\
             0            PMAP process mapping (0=Row-,1=Column-major)\n\
             1            # of process grids (P x Q)\n\
             {p}            Ps\n\
             {q}            Qs\n\
             16.0         threshold\n\
             1            # of panel fact\n\
             2            PFACTs (0=left, 1=Crout, 2=Right)\n\
             1            # of recursive stopping criterium\n\
             4            NBMINs (>= 1)\n\
             1            # of panels in recursion\n\
             2            NDIVs\n\
             1            # of recursive panel fact.\n\
             1            RFACTs (0=left, 1=Crout, 2=Right)\n\
             1            # of broadcast\n\
             1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)\n\
             1            # of lookahead depth\n\
             1            DEPTHs (>=0)\n\
             2            SWAP (0=bin-exch,1=long,2=mix)\n\
             64           swapping threshold\n\
             0            L1 in (0=transposed,1=no-transposed) form\n\
             0            U  in (0=transposed,1=no-transposed) form\n\
             1            Equilibration (0=no,1=yes)\n\
             8            memory alignment in double (> 0)\n"
        )
    }
}

/// Returns the most square grid `(p, q)` with p × q = `ranks` and p ≤ q, on which HPL communicates
/// least.
pub fn process_grid(ranks: u64) -> (u64, u64) {
    let ranks = ranks.max(1);
    let p = (1..=ranks.isqrt()).rev().find(|p| ranks.is_multiple_of(*p)).unwrap_or(1);
    (p, ranks / p)
}

/// Chooses the width of a block of columns for `n` equations on a grid of `q` columns.
///
/// 128 is as fast as any multiple of 64 up to 384 with Debian's OpenBLAS 0.3.21 on a Zen 4 at N =
/// 4,000 and 8,000. Larger systems hide the panels of 192 and gain from the larger updates. In
/// small systems every column of the grid should own several blocks, or ranks are idle.
pub fn block_size(n: u64, q: u64) -> u64 {
    const LARGE: u64 = 10_000;
    const BLOCKS_PER_COLUMN: u64 = 4;
    let widest = if n < LARGE { 128 } else { 192 };
    let share = n / (BLOCKS_PER_COLUMN * q.max(1)) / 8 * 8;
    share.clamp(8, widest)
}
