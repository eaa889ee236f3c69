//! LINPACK kernels compiled once per instruction set, and the table that picks them at run time.
//!
//! The kernels themselves are written once, over [`Vector`]; only this file lists the instruction
//! sets.

use crate::compute::isa::Isa;
use crate::compute::linpack::dot;
use crate::compute::linpack::layout::Panel;
use crate::compute::linpack::panel::sweep::{self, Candidate, Columns, Pivot};
use crate::compute::linpack::panel::update::{self, PanelProduct};
use crate::compute::linpack::tile::{self, TILE_VECTORS, Tile};
use crate::compute::linpack::vector::Vector;
#[cfg(target_arch = "aarch64")]
use crate::compute::linpack::vector::aarch64::Neon;
use crate::compute::linpack::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::compute::linpack::vector::x86::{Avx2, Avx512};

/// Kernels of one instruction set. The definition of each gives its safety conditions;
/// [`Kernels::for_isa`] ensures that the CPU has the instruction set.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) isa: Isa,
    /// Columns of a tile; a divisor of 24.
    pub(super) tile_columns: usize,
    /// Trailing update of one tile.
    pub(super) tile: unsafe fn(&Tile),
    /// Triangular solve of one packed tile.
    pub(super) solve_lower: unsafe fn(&Panel, *mut f64),
    /// Search for the largest element of a column.
    pub(super) largest: unsafe fn(&Columns) -> Candidate,
    /// Elimination of one column.
    pub(super) eliminate: unsafe fn(&Columns, &Pivot) -> Candidate,
    /// Matrix product inside a panel.
    pub(super) panel_product: unsafe fn(&PanelProduct),
    /// Scalar product of two slices of the same length.
    pub(super) dot: unsafe fn(&[f64], &[f64]) -> f64,
}

impl Kernels {
    /// Returns the kernels of an instruction set, if this CPU has it. SSE2 has none of its own and
    /// gets the portable ones, which the compiler translates to SSE2 anyway.
    pub(super) fn for_isa(isa: Isa) -> Option<&'static Self> {
        if !isa.is_available() {
            return None;
        }
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(&avx512::KERNELS),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(&avx2::KERNELS),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Some(&neon::KERNELS),
            _ => Some(&portable::KERNELS),
        }
    }
}

/// Compiles all kernels for one vector type. `$rows` rows of a tile and `$columns` columns of a
/// panel fit into the registers together with the operands.
macro_rules! kernels {
    ($module:ident, $vector:ty, $isa:expr, $rows:literal, $columns:literal
     $(, #[$feature:meta])?) => {
        mod $module {
            use super::*;

            pub(super) static KERNELS: Kernels = Kernels {
                isa: $isa,
                tile_columns: TILE_VECTORS * <$vector>::LANES,
                tile,
                solve_lower,
                largest,
                eliminate,
                panel_product,
                dot,
            };

            $(#[$feature])?
            unsafe fn tile(tile: &Tile) {
                // SAFETY: passed on to the caller.
                unsafe { tile::subtract_product::<$vector, $rows>(tile) }
            }
            $(#[$feature])?
            unsafe fn solve_lower(panel: &Panel, b: *mut f64) {
                // SAFETY: passed on to the caller.
                unsafe { tile::solve_lower::<$vector, $rows>(panel, b) }
            }
            $(#[$feature])?
            unsafe fn largest(columns: &Columns) -> Candidate {
                // SAFETY: passed on to the caller.
                unsafe { sweep::largest::<$vector>(columns) }
            }
            $(#[$feature])?
            unsafe fn eliminate(columns: &Columns, pivot: &Pivot) -> Candidate {
                // SAFETY: passed on to the caller.
                unsafe { sweep::eliminate::<$vector>(columns, pivot) }
            }
            $(#[$feature])?
            unsafe fn panel_product(product: &PanelProduct) {
                // SAFETY: passed on to the caller.
                unsafe { update::subtract_product::<$vector, $columns>(product) }
            }
            $(#[$feature])?
            unsafe fn dot(a: &[f64], b: &[f64]) -> f64 {
                // SAFETY: passed on to the caller.
                unsafe { dot::dot::<$vector>(a, b) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernels!(avx512, Avx512, Isa::Avx512, 8, 8, #[target_feature(enable = "avx512f")]);
#[cfg(target_arch = "x86_64")]
kernels!(avx2, Avx2, Isa::Avx2, 4, 4, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "aarch64")]
kernels!(neon, Neon, Isa::Neon, 8, 8, #[target_feature(enable = "neon")]);
kernels!(portable, Portable, Isa::Portable, 4, 4);
