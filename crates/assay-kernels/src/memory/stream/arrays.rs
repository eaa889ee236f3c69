//! Placement of the three STREAM arrays, and their division between the members of a team.
//!
//! Never writes an element: the owner of a part touches it first.

use std::io;
use std::ops::Range;

use super::error::StreamError;
use crate::mapping::{Mapping, PageAdvice};

/// Elements in a cache line of 64 bytes.
pub(super) const LINE_ELEMENTS: usize = 8;
/// Elements in a page of 4 KiB.
pub(super) const PAGE_ELEMENTS: usize = 512;

/// Additional offset of each array within its pages, relative to the one before: one page and 21
/// lines. Arrays whose equal elements share the low address bits compete for the same cache sets,
/// way predictor entries and memory banks. Measured on Zen 4 (a guest of KVM), one core, arrays of
/// 256 MiB in huge pages, Triad with plain walks: 25 GB/s without this, 28 with 33 lines, 29 with
/// 43, 37 with 10, and 40 with this, the best of ten offsets tried.
const STAGGER: usize = PAGE_ELEMENTS + 21 * LINE_ELEMENTS;

/// Minimum number of pages in a member's share for it to be rounded to whole pages.
const MIN_PAGES_TO_ROUND: usize = 64;

/// Storage of the arrays a, b and c.
#[derive(Debug)]
pub(super) struct Arrays {
    mappings: [Mapping; 3],
    ranges: Vec<Range<usize>>,
    elements: usize,
}

/// Part of each array that one member owns; the three are equally long and start at a cache line.
#[derive(Debug)]
pub(super) struct ArraysPart<'a> {
    pub a: &'a mut [f64],
    pub b: &'a mut [f64],
    pub c: &'a mut [f64],
    /// Index of this part's first element in the whole array.
    pub first: usize,
}

impl ArraysPart<'_> {
    /// Returns the part in pieces of `elements` elements of each array; the last one may be shorter.
    pub(super) fn pieces(&mut self, elements: usize) -> impl Iterator<Item = ArraysPart<'_>> {
        let first = self.first;
        let (a, b) = (self.a.chunks_mut(elements), self.b.chunks_mut(elements));
        let pieces = a.zip(b).zip(self.c.chunks_mut(elements));
        pieces.enumerate().map(move |(nth, ((a, b), c))| ArraysPart {
            a,
            b,
            c,
            first: first + nth * elements,
        })
    }

    /// Returns window `nth` of `count` windows of this part, divided as by [`divide`].
    pub(super) fn window(self, nth: usize, count: usize) -> Self {
        let range = divide(self.a.len(), count).swap_remove(nth);
        Self {
            a: &mut self.a[range.clone()],
            b: &mut self.b[range.clone()],
            c: &mut self.c[range.clone()],
            first: self.first + range.start,
        }
    }
}

impl Arrays {
    pub(super) fn map(
        bytes_per_array: usize,
        members: usize,
        advice: PageAdvice,
    ) -> Result<Self, StreamError> {
        let elements = bytes_per_array / size_of::<f64>();
        if elements / LINE_ELEMENTS < members {
            return Err(StreamError::DivideArray { bytes_per_array, threads: members });
        }
        let map = |array: usize| {
            let bytes = (elements + array * STAGGER).saturating_mul(size_of::<f64>());
            Mapping::new(bytes, advice).map_err(StreamError::MapArray)
        };
        let mappings = [map(0)?, map(1)?, map(2)?];
        Ok(Self { mappings, ranges: divide(elements, members), elements })
    }

    pub(super) fn bytes_per_array(&self) -> usize {
        self.elements * size_of::<f64>()
    }

    /// Returns the number of elements of each array that these members own.
    pub(super) fn member_elements(&self, members: Range<usize>) -> usize {
        self.ranges[members].iter().map(ExactSizeIterator::len).sum()
    }

    /// Returns the memory of the array `a`.
    pub(super) fn source(&self) -> &Mapping {
        &self.mappings[0]
    }

    pub(super) fn huge_bytes(&self) -> io::Result<usize> {
        self.mappings.iter().map(Mapping::huge_bytes).sum()
    }

    /// Returns the parts of all members, in their order.
    pub(super) fn parts(&mut self) -> Vec<ArraysPart<'_>> {
        let mut array = 0;
        let [mut a, mut b, mut c] = self.mappings.each_mut().map(|mapping| {
            let elements = &mut mapping.as_mut_slice::<f64>()[array * STAGGER..];
            array += 1;
            elements
        });
        let cut = |range: &Range<usize>| ArraysPart {
            a: cut_front(&mut a, range.len()),
            b: cut_front(&mut b, range.len()),
            c: cut_front(&mut c, range.len()),
            first: range.start,
        };
        self.ranges.iter().map(cut).collect()
    }
}

fn cut_front<'a>(rest: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
    rest.split_off_mut(..len).expect("the ranges add up to the array")
}

/// Divides `elements` into `members` consecutive ranges that start at whole cache lines (at whole
/// pages when the ranges are long) and differ by at most one such unit. None is empty when there is
/// a line for each; the last includes an incomplete line.
fn divide(elements: usize, members: usize) -> Vec<Range<usize>> {
    let long = elements / members >= MIN_PAGES_TO_ROUND * PAGE_ELEMENTS;
    let unit = if long { PAGE_ELEMENTS } else { LINE_ELEMENTS };
    let units = elements / unit;
    let start = |member: usize| {
        let whole = units / members * member + (units % members).min(member);
        if member == members { elements } else { whole * unit }
    };
    (0..members).map(|member| start(member)..start(member + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_array_evenly_and_start_at_lines() {
        for (elements, members) in [
            (8, 1),
            (15, 1),
            (16, 2),
            (17, 2),
            (1000, 7),
            (LINE_ELEMENTS * 9 + 3, 9),
            (MIN_PAGES_TO_ROUND * PAGE_ELEMENTS * 3 + 5, 3),
            (10_000_019, 48),
        ] {
            let ranges = divide(elements, members);
            assert_eq!(ranges.len(), members);
            assert_eq!((ranges[0].start, ranges[members - 1].end), (0, elements));
            for pair in ranges.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
            }
            let lengths = || ranges.iter().map(ExactSizeIterator::len);
            assert!(
                ranges
                    .iter()
                    .all(|range| range.start % LINE_ELEMENTS == 0 && !range.is_empty())
            );
            assert!(
                lengths().max().unwrap() - lengths().min().unwrap()
                    <= PAGE_ELEMENTS + LINE_ELEMENTS
            );
        }
    }

    #[test]
    fn parts_are_disjoint_equally_long_and_aligned() {
        for members in [1, 3] {
            let mut arrays = Arrays::map(100_003, members, PageAdvice::Default).unwrap();
            let mut total = 0;
            for part in arrays.parts() {
                assert_eq!(part.first, total);
                assert_eq!((part.a.len(), part.b.len()), (part.c.len(), part.c.len()));
                for pointer in [part.a.as_ptr(), part.b.as_ptr(), part.c.as_ptr()] {
                    assert_eq!(pointer as usize % 64, 0);
                }
                total += part.a.len();
            }
            assert_eq!(total, 100_003 / 8);
        }
    }

    #[test]
    fn windows_cover_the_part_in_order() {
        let mut arrays = Arrays::map(100_003, 3, PageAdvice::Default).unwrap();
        let mut next = 0;
        for member in 0..3 {
            for nth in 0..5 {
                let window = arrays.parts().swap_remove(member).window(nth, 5);
                assert_eq!(window.first, next);
                assert_eq!(window.c.as_ptr() as usize % 64, 0);
                next += window.a.len();
            }
        }
        assert_eq!(next, 100_003 / 8);
    }

    #[test]
    fn pieces_cover_the_part_in_order() {
        let mut arrays = Arrays::map(100_003, 2, PageAdvice::Default).unwrap();
        let mut next = 0;
        for mut part in arrays.parts() {
            for piece in part.pieces(1000) {
                assert_eq!(piece.first, next);
                assert_eq!((piece.b.len(), piece.c.len()), (piece.a.len(), piece.a.len()));
                next += piece.a.len();
            }
        }
        assert_eq!(next, 100_003 / 8);
    }

    #[test]
    fn rejects_too_small_and_too_large_arrays() {
        let map = |bytes, members| Arrays::map(bytes, members, PageAdvice::Default);
        assert!(matches!(map(127, 2), Err(StreamError::DivideArray { threads: 2, .. })));
        assert!(matches!(map(0, 1), Err(StreamError::DivideArray { .. })));
        assert!(matches!(map(usize::MAX, 1), Err(StreamError::MapArray(_))));
    }
}
