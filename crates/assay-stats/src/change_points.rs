//! Detection of level changes in a series of runs: E-Divisive means, a hierarchical division by the
//! energy distance with a permutation test (Matteson and James, J. Am. Stat. Assoc. 109:334, 2014;
//! for benchmarks Daly et al., ICPE 2020).
//!
//! Assumes that runs between two changes are exchangeable: no drift, no season. The permutations
//! are drawn from a seed, so the same series always gives the same result.

use crate::random::Random;

/// Name of the method in documents.
pub const METHOD_NAME: &str = "e-divisive-means";
/// Number of random permutations of a test.
const RANDOM_PERMUTATIONS: u32 = 999;
/// Maximum number of values whose permutations are all tried, 8! = 40,320. Random ones would miss a
/// clean step of eight values, p = 2.9 %, in half of all seeds.
const MAX_ENUMERATED: usize = 8;
/// Maximum p value of a change point, hence the rate of false change points in series without a
/// change. A smaller value would miss two runs after a change among twelve, whose p value is at
/// least 2 / 66 = 3 %.
pub const SIGNIFICANCE: f64 = 0.03;
/// Minimum number of values in a segment, because a single value has no distances within it.
const MIN_SEGMENT_VALUES: usize = 2;

/// Returns the number of permutations with which a series of this length is tested.
pub fn permutation_count(values: usize) -> u32 {
    if values > MAX_ENUMERATED { RANDOM_PERMUTATIONS } else { (1..=values as u32).product() }
}

/// Returns the minimum number of values with which any step can be significant. A clean step in the
/// middle of n values has p = 2 / C(n, n / 2): the two orders of the parts.
pub fn required_values() -> usize {
    let is_sufficient = |n: &usize| 2.0 / binomial_coefficient(*n, n / 2) <= SIGNIFICANCE;
    (2 * MIN_SEGMENT_VALUES..).find(is_sufficient).unwrap_or(usize::MAX)
}

/// Returns n! / (k! (n − k)!).
fn binomial_coefficient(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Returns the smallest step, up or down in the middle of the series, with which a change would
/// have been found, within 5 % of itself; `None` if not even `most` is found. The values and both
/// ends of the search are on the scale of [`find`].
pub fn smallest_found_step(values: &[f64], seed: u64, [least, most]: [f64; 2]) -> Option<f64> {
    if values.len() < required_values() {
        return None;
    }
    let is_found = |step: f64| {
        [step, -step].into_iter().all(|step| {
            let middle = values.len() / 2;
            let shift = |(index, value): (usize, &f64)| {
                if index < middle { *value } else { value + step }
            };
            let shifted: Vec<f64> = values.iter().enumerate().map(shift).collect();
            has_change(&shifted, seed)
        })
    };
    if !is_found(most) {
        return None;
    }
    let (mut below, mut found) = (least, most);
    if is_found(least) {
        return Some(least);
    }
    while found > 1.05 * below {
        let between = (below * found).sqrt();
        if is_found(between) { found = between } else { below = between }
    }
    Some(found)
}

/// Whether the clearest split of the whole series is a change point.
fn has_change(values: &[f64], seed: u64) -> bool {
    let segment = Segment::new(values, 0);
    let Some((_, distance)) = segment.best_split() else { return false };
    permutation_p(&[segment], distance, &mut Random::new(seed)).is_some()
}

/// Boundary between two values of a series, at which the level changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Share of permutations with a split at least as clear.
    pub p: f64,
}

/// Returns the change points of a series, in order.
pub fn find(values: &[f64], seed: u64) -> Vec<ChangePoint> {
    let mut random = Random::new(seed);
    let mut changes: Vec<ChangePoint> = Vec::new();
    let mut segments = vec![Segment::new(values, 0)];
    loop {
        let clearest = (0..segments.len())
            .filter_map(|index| Some((index, segments[index].best_split()?)))
            .max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let Some((index, (split, distance))) = clearest else { break };
        let Some(p) = permutation_p(&segments, distance, &mut random) else { break };
        let segment = segments.swap_remove(index);
        changes.push(ChangePoint { index: segment.start + split, p });
        let (before, after) = segment.values.split_at(split);
        segments.extend([
            Segment::new(before, segment.start),
            Segment::new(after, segment.start + split),
        ]);
        segments.sort_by_key(|segment| segment.start);
    }
    changes.sort_by_key(|change| change.index);
    changes
}

/// Returns the share of permutations within the segments whose best split has at least this
/// distance. Returns `None` as soon as it is certain to exceed [`SIGNIFICANCE`].
fn permutation_p(segments: &[Segment], distance: f64, random: &mut Random) -> Option<f64> {
    if let [segment] = segments
        && segment.ranks.len() <= MAX_ENUMERATED
    {
        return enumerated_p(segment, distance);
    }
    let total = f64::from(RANDOM_PERMUTATIONS + 1);
    let mut clear_count = 1.0;
    let mut segments: Vec<Segment> = segments.to_vec();
    for _ in 0..RANDOM_PERMUTATIONS {
        segments.iter_mut().for_each(|segment| random.shuffle(&mut segment.ranks));
        let splits = segments.iter().filter_map(Segment::best_split);
        if splits.map(|it| it.1).fold(0.0, f64::max) >= distance * ROUNDING {
            clear_count += 1.0;
            if clear_count > SIGNIFICANCE * total {
                return None;
            }
        }
    }
    Some(clear_count / total)
}

/// Factor that tolerates rounding: sums in another order differ in their last digits.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Returns the same share over all permutations of one short segment (Heap's algorithm).
fn enumerated_p(segment: &Segment, distance: f64) -> Option<f64> {
    let len = segment.ranks.len();
    if len < required_values() {
        return None;
    }
    let total = f64::from(permutation_count(len));
    let mut permuted = segment.clone();
    let is_clear =
        |it: &Segment| it.best_split().is_some_and(|split| split.1 >= distance * ROUNDING);
    let mut clear_count = f64::from(u8::from(is_clear(&permuted)));
    let (mut counters, mut place) = (vec![0; len], 1);
    while place < len {
        if counters[place] < place {
            let other = if place % 2 == 0 { 0 } else { counters[place] };
            permuted.ranks.swap(other, place);
            clear_count += f64::from(u8::from(is_clear(&permuted)));
            if clear_count > SIGNIFICANCE * total {
                return None;
            }
            counters[place] += 1;
            place = 1;
        } else {
            counters[place] = 0;
            place += 1;
        }
    }
    Some(clear_count / total)
}

/// Segment of the series without a known change.
#[derive(Debug, Clone)]
struct Segment {
    /// Index of its first value in the series.
    start: usize,
    values: Vec<f64>,
    /// The values in ascending order.
    sorted: Vec<f64>,
    /// Sum of the distances of each sorted value to all others.
    distance_sums: Vec<f64>,
    /// Ranks of the values, in the order of the series or of a permutation.
    ranks: Vec<usize>,
}

impl Segment {
    fn new(values: &[f64], start: usize) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut ranks = vec![0; values.len()];
        order.iter().enumerate().for_each(|(rank, index)| ranks[*index] = rank);
        let sorted: Vec<f64> = order.iter().map(|index| values[*index]).collect();
        let distance = |a: &f64| sorted.iter().map(|b| (a - b).abs()).sum::<f64>();
        let distance_sums = sorted.iter().map(distance).collect();
        Self { start, values: values.to_vec(), sorted, distance_sums, ranks }
    }

    /// Returns the split with the maximum scaled energy distance, and that distance: Q = m n / (m +
    /// n) × (2 Σ|x − y| / (m n) − Σ|x − x′| / C(m, 2) − Σ|y − y′| / C(n, 2)).
    fn best_split(&self) -> Option<(usize, f64)> {
        let len = self.ranks.len();
        let total = self.distance_sums.iter().sum::<f64>() / 2.0;
        let (mut before, mut after) = (0.0, total);
        let mut passed = FenwickTree::new(len);
        let mut clearest: Option<(usize, f64)> = None;
        for (index, rank) in self.ranks.iter().enumerate() {
            let to_before = passed.distance_sum(*rank, self.sorted[*rank]);
            before += to_before;
            after -= self.distance_sums[*rank] - to_before;
            passed.add(*rank, self.sorted[*rank]);
            let (m, n) = (index + 1, len - index - 1);
            if m < MIN_SEGMENT_VALUES || n < MIN_SEGMENT_VALUES {
                continue;
            }
            let across = total - before - after;
            let (m, n) = (m as f64, n as f64);
            let between = 2.0 * across / (m * n);
            let within = 2.0 * (before / (m * (m - 1.0)) + after / (n * (n - 1.0)));
            let distance = m * n / (m + n) * (between - within);
            if distance > 0.0 && clearest.is_none_or(|best| distance > best.1) {
                clearest = Some((index + 1, distance));
            }
        }
        clearest
    }
}

/// Counts and sums of the values added so far, indexed by rank (Fenwick tree, Software: Practice
/// and Experience 24:327, 1994).
struct FenwickTree {
    tree: Vec<(f64, f64)>,
    count: f64,
    sum: f64,
}

impl FenwickTree {
    fn new(len: usize) -> Self {
        Self { tree: vec![(0.0, 0.0); len + 1], count: 0.0, sum: 0.0 }
    }

    fn add(&mut self, rank: usize, value: f64) {
        (self.count, self.sum) = (self.count + 1.0, self.sum + value);
        let mut node = rank + 1;
        while let Some((count, sum)) = self.tree.get_mut(node) {
            (*count, *sum) = (*count + 1.0, *sum + value);
            node += node & node.wrapping_neg();
        }
    }

    /// Returns the sum of the distances from a value to all values added so far.
    fn distance_sum(&self, rank: usize, value: f64) -> f64 {
        let (mut count, mut sum, mut node) = (0.0, 0.0, rank + 1);
        while node > 0 {
            (count, sum) = (count + self.tree[node].0, sum + self.tree[node].1);
            node &= node - 1;
        }
        (value * count - sum) + (self.sum - sum) - value * (self.count - count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_matches_definition() {
        let values = [1.0, 1.5, 0.5, 4.0, 4.5, 3.0, 4.0];
        let mean = |a: &[f64], b: &[f64], pairs: f64| {
            a.iter().flat_map(|a| b.iter().map(move |b| (a - b).abs())).sum::<f64>() / pairs
        };
        let by_definition = |split: usize| {
            let (x, y) = values.split_at(split);
            let (m, n) = (x.len() as f64, y.len() as f64);
            let within = mean(x, x, m * (m - 1.0)) + mean(y, y, n * (n - 1.0));
            m * n / (m + n) * (2.0 * mean(x, y, m * n) - within)
        };
        let best = (2..=5).max_by(|a, b| by_definition(*a).total_cmp(&by_definition(*b)));
        let (split, distance) = Segment::new(&values, 0).best_split().unwrap();
        assert_eq!(Some(split), best);
        assert!((distance - by_definition(split)).abs() < 1e-12, "{distance}");
    }

    fn change_indices(values: &[f64]) -> Vec<usize> {
        find(values, 1).iter().map(|change| change.index).collect()
    }

    /// A clean fivefold step is found from eight runs on; fewer could not show any.
    #[test]
    fn eight_values_show_a_clean_step() {
        assert_eq!(required_values(), 8);
        let noise = |i: usize| 0.01 * ((i * 37 % 17) as f64 - 8.0) / 8.0;
        for n in 4..14 {
            let level = |i: usize| if i < n / 2 { 0.0 } else { 5f64.ln() };
            let steps: Vec<f64> = (0..n).map(|i| level(i) + noise(i)).collect();
            let expected = if n < 8 { vec![] } else { vec![n / 2] };
            for seed in 0..20 {
                let found: Vec<usize> = find(&steps, seed).iter().map(|it| it.index).collect();
                assert_eq!(found, expected, "{n} values, seed {seed}");
            }
            let flat: Vec<f64> = (0..n).map(noise).collect();
            assert_eq!(smallest_found_step(&flat, 1, [0.02, 7.0]).is_some(), n >= 8, "{n}");
        }
    }

    /// The smallest step that would have been found is found, and a clearly smaller one is not.
    #[test]
    fn smallest_step_is_the_limit_of_detection() {
        for (spread, n) in [(0.01, 8), (0.05, 12), (0.2, 20)] {
            let noise = |i: usize| spread * ((i * 37 % 17) as f64 - 8.0) / 8.0;
            let with_step = |step: f64| {
                let value = |i| if i < n / 2 { noise(i) } else { noise(i) + step };
                !change_indices(&(0..n).map(value).collect::<Vec<f64>>()).is_empty()
            };
            let flat: Vec<f64> = (0..n).map(noise).collect();
            let smallest = smallest_found_step(&flat, 1, [0.001, 7.0]).unwrap();
            assert!(with_step(smallest) && with_step(-smallest), "{spread}, {n}: {smallest}");
            let less = 0.9 * smallest;
            assert!(!with_step(less) || !with_step(-less), "{spread}, {n}: {smallest}");
        }
    }

    #[test]
    fn finds_steps_without_false_changes() {
        let noise = |i: usize| 0.01 * ((i * 37 % 17) as f64 - 8.0) / 8.0;
        let level = |i: usize| {
            if i < 20 {
                0.0
            } else if i < 45 {
                0.05
            } else {
                0.02
            }
        };
        let steps: Vec<f64> = (0..60).map(|i| level(i) + noise(i)).collect();
        assert_eq!(change_indices(&steps), [20, 45]);
        let unchanged: Vec<f64> = (0..60).map(noise).collect();
        assert!(change_indices(&unchanged).is_empty());
        // Two runs after a change suffice after fourteen before it.
        assert_eq!(change_indices(&[&unchanged[..14], &[0.05, 0.06]].concat()), [14]);
        for few in [&[][..], &[1.0], &[1.0, 9.0, 9.0], &[1.0; 50]] {
            assert!(change_indices(few).is_empty(), "{few:?}");
        }
    }
}
