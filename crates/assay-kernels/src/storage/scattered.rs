//! Places that are neither uniform nor one after another: near the start, or onward with drawn gaps.
//!
//! Pure arithmetic over an area.

use std::sync::atomic::{AtomicU64, Ordering};

use super::places::Area;
use super::random::Draws;

/// A slot of `bytes` whose distance from the start is exponential with the mean `mean_share` of the area;
/// beyond the end it goes on from the start. `None` where not one slot fits.
#[inline]
pub(super) fn near_start(
    area: Area,
    bytes: u64,
    align: u64,
    mean_share: f64,
    draws: &mut Draws,
) -> Option<u64> {
    let first = area.start.next_multiple_of(align);
    let slots = area.end.checked_sub(first)?.checked_sub(bytes)? / align + 1;
    // −ln u of a uniform u above 0 is exponential with mean 1.
    let drawn = -(1.0 - draws.unit()).ln() * mean_share * slots as f64;
    Some(first + drawn as u64 % slots * align)
}

/// The next place behind `position`, with a gap of whole steps of `bytes` from `least` to `most` bytes; at
/// the end on from the start, without a gap. `None` where nothing fits.
#[inline]
pub(super) fn onward(
    area: Area,
    bytes: u64,
    (least, most): (u64, u64),
    position: &AtomicU64,
    draws: &mut Draws,
) -> Option<u64> {
    let steps = most.saturating_sub(least) / bytes;
    let gap = least.saturating_add(draws.below(steps + 1) * bytes);
    area.end.checked_sub(area.start)?.checked_sub(bytes)?;
    let place = |at: u64| {
        let next = if at == area.start { at } else { at.saturating_add(gap) };
        if next.saturating_add(bytes) <= area.end { next } else { area.start }
    };
    let before = position
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| Some(place(at) + bytes))
        .ok()?;
    Some(place(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_the_start_is_likelier() {
        let area = Area { start: 4096, end: 4096 + 1_000 * 4096 };
        let mut draws = Draws::new(1, 2);
        let mut places: Vec<u64> = (0..30_000)
            .map(|_| near_start(area, 4096, 4096, 1.0 / 3.0, &mut draws).unwrap())
            .collect();
        places.sort_unstable();
        assert!(places[0] >= area.start && places[29_999] + 4096 <= area.end);
        assert!(places.iter().all(|place| place % 4096 == 0));
        // With a third as mean and what lies beyond the end folded back: the median is ln 2 / 3 of an
        // exponential cut off at 3 means, −ln(1 − 0.5 (1 − e⁻³)) / 3 = 0.2148.
        let median = (places[15_000] - area.start) as f64 / 4_096_000.0;
        assert!((median - 0.2148).abs() < 0.01, "{median}");
        assert_eq!(near_start(Area { start: 0, end: 100 }, 4096, 4096, 0.3, &mut draws), None);
    }

    #[test]
    fn gaps_are_drawn_within_their_bounds() {
        let area = Area { start: 0, end: 1 << 20 };
        let (mut draws, position) = (Draws::new(1, 2), AtomicU64::new(0));
        let mut next = || onward(area, 4096, (8192, 16_384), &position, &mut draws).unwrap();
        let mut before = next();
        assert_eq!(before, 0);
        let mut wraps = 0;
        for _ in 0..1_000 {
            let place = next();
            if place == 0 {
                wraps += 1;
            } else {
                let gap = place - before - 4096;
                assert!((8192..=16_384).contains(&gap) && gap % 4096 == 0, "{gap}");
            }
            assert!(place + 4096 <= area.end);
            before = place;
        }
        assert!((10..=20).contains(&wraps), "{wraps}");
    }
}
