//! Places onward with gaps that are drawn anew each time.
//!
//! Pure arithmetic over an area.

use std::sync::atomic::{AtomicU64, Ordering};

use super::places::Area;
use super::random::Draws;

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
