//! Statistics of sockperf's replies, as sockperf computes them.
//!
//! The first 400 ms and the last 50 ms are left out, by the times at which messages were sent.

use assay_dialects::wire::sockperf::SockperfProtocolError;
use assay_model::event::EventCount;
use serde::{Deserialize, Serialize};

/// Time after the first message that is left out.
pub const WARM_UP_NS: u64 = 400_000_000;
/// Time before the last message that is left out.
const COOL_DOWN_NS: u64 = 50_000_000;
/// Reported shares of the replies, from the highest.
pub const PERCENTILES: [f64; 8] = [0.999_99, 0.9999, 0.999, 0.99, 0.90, 0.75, 0.50, 0.25];

/// Times of messages with a requested reply.
#[derive(Debug, Clone, Default)]
pub struct SockperfTimes {
    /// Time of each send.
    sent_ns: Vec<u64>,
    /// Time of each reply; 0 = none, and the list may be shorter.
    received_ns: Vec<u64>,
    duplicated: u64,
    /// Number of replies without duplicates.
    pub received: u64,
    /// Time of the last receive before the end: later replies are unknown.
    pub watched_until_ns: u64,
}

impl SockperfTimes {
    /// Adds the times of the sends.
    ///
    /// # Errors
    /// A reply arrived before its request was sent: the server guessed its number.
    pub fn with_sends(
        self,
        sent_ns: Vec<u64>,
        reply_every: u32,
    ) -> Result<Self, SockperfProtocolError> {
        let mut pairs = sent_ns.iter().zip(&self.received_ns);
        match pairs.position(|(sent_ns, time_ns)| *time_ns != 0 && time_ns < sent_ns) {
            None => Ok(Self { sent_ns, ..self }),
            Some(at) => {
                let sequence = (at as u64 + 1).saturating_mul(reply_every.into());
                Err(SockperfProtocolError::Early { sequence })
            }
        }
    }

    /// Returns the time of the reply to a request; `None` if none arrived.
    fn reply_ns(&self, at: usize) -> Option<u64> {
        self.received_ns.get(at).copied().filter(|time_ns| *time_ns != 0)
    }

    /// Whether replies were requested, and none arrived.
    pub fn lacks_all_replies(&self) -> bool {
        !self.sent_ns.is_empty() && self.received == 0
    }

    /// Counts the lost replies among those that were due after the excluded start: a request waited
    /// longer than any that was answered. `None` if none was due.
    pub fn count_lost(&self) -> Option<EventCount> {
        let requests = || self.sent_ns.iter().copied().enumerate();
        let from_ns = self.sent_ns.first()?.saturating_add(WARM_UP_NS);
        let longest_ns = requests()
            .filter_map(|(at, sent_ns)| self.reply_ns(at)?.checked_sub(sent_ns))
            .max()?;
        let to_ns = self.watched_until_ns.checked_sub(longest_ns)?;
        let mut count = EventCount { part: 0, whole: 0 };
        for (at, _) in requests().filter(|(_, sent_ns)| (from_ns..to_ns).contains(sent_ns)) {
            count.whole += 1;
            count.part += u64::from(self.reply_ns(at).is_none());
        }
        (count.whole > 0).then_some(count)
    }

    /// Adds the reply to a message; one to a message that requested none does not count.
    pub fn add_reply(&mut self, sequence: u64, reply_every: u32, now_ns: u64) {
        let every = u64::from(reply_every.max(1));
        if sequence == 0 || !sequence.is_multiple_of(every) {
            return;
        }
        let at = (sequence / every - 1) as usize;
        if self.received_ns.len() <= at {
            self.received_ns.resize(at + 1, 0);
        }
        match &mut self.received_ns[at] {
            time_ns @ 0 => {
                *time_ns = now_ns;
                self.received += 1;
            }
            _ => self.duplicated += 1,
        }
    }

    /// Returns the replies that count; `None` if there are none.
    pub fn observe(&self, reply_every: u32) -> Option<SockperfReplies> {
        let from_ns = self.sent_ns.first()?.saturating_add(WARM_UP_NS);
        let to_ns = self.sent_ns.last()?.saturating_sub(COOL_DOWN_NS);
        let mut found = SockperfReplies::default();
        let (mut first, mut last) = (None, (0, 0));
        let mut latest_ns = 0;
        for (at, sent_ns) in self.sent_ns.iter().copied().enumerate() {
            if found.round_trips_ns.len() as u64 >= self.received || sent_ns > to_ns {
                break;
            }
            if sent_ns < from_ns {
                continue;
            }
            let first = *first.get_or_insert((at, sent_ns));
            match self.reply_ns(at) {
                None => {
                    found.dropped += 1;
                    if last.1 < sent_ns {
                        last = (at, sent_ns);
                    }
                }
                Some(received_ns) if received_ns < latest_ns => found.out_of_order += 1,
                Some(received_ns) => {
                    latest_ns = received_ns;
                    last = (at, received_ns);
                    found.sends_ns.push(sent_ns);
                    found.round_trips_ns.push(received_ns.saturating_sub(sent_ns));
                }
            }
            found.run_ns = last.1.saturating_sub(first.1);
            found.sent = ((last.0.max(first.0) - first.0) as u64) * u64::from(reply_every) + 1;
        }
        found.duplicated = self.duplicated;
        (!found.round_trips_ns.is_empty()).then_some(found)
    }
}

/// Replies that count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SockperfReplies {
    /// Time of each send.
    pub sends_ns: Vec<u64>,
    /// Time between a send and its reply.
    pub round_trips_ns: Vec<u64>,
    /// Time from the first send to the last reply.
    pub run_ns: u64,
    /// Messages sent in that time.
    pub sent: u64,
    /// Requests without a reply, as sockperf counts them: replies under way at the end are missing,
    /// too.
    pub dropped: u64,
    /// Replies that arrived again, in the whole test.
    pub duplicated: u64,
    /// Replies that arrived after one to a later request; their times are left out.
    pub out_of_order: u64,
}

/// Figures of the replies that count. Times are those of round trips, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SockperfFigures {
    /// Time from the first send to the last reply in seconds.
    pub run_s: f64,
    /// Messages sent in that time.
    pub sent: u64,
    /// Number of replies that count.
    pub replies: u64,
    /// Requests without a reply.
    pub dropped: u64,
    /// Replies that arrived again.
    pub duplicated: u64,
    /// Replies that arrived after one to a later request.
    pub out_of_order: u64,
    pub mean_ns: f64,
    pub deviation_ns: f64,
    pub max_ns: u64,
    /// Times at [`PERCENTILES`]; `None` with too few replies.
    pub percentiles_ns: [Option<u64>; 8],
    pub min_ns: u64,
}

impl SockperfFigures {
    /// Computes the figures of the replies.
    pub fn from_replies(observed: &SockperfReplies) -> Self {
        let mut sorted_ns = observed.round_trips_ns.clone();
        sorted_ns.sort_unstable();
        let count = sorted_ns.len();
        let mean_ns = sorted_ns.iter().map(|ns| *ns as f64).sum::<f64>() / count.max(1) as f64;
        let squares: f64 = sorted_ns.iter().map(|ns| (*ns as f64 - mean_ns).powi(2)).sum();
        let percentile = |share: f64| {
            let rank = (0.5 + share * count as f64) as usize;
            rank.checked_sub(1).and_then(|at| sorted_ns.get(at).copied())
        };
        Self {
            run_s: observed.run_ns as f64 * 1e-9,
            sent: observed.sent,
            replies: count as u64,
            dropped: observed.dropped,
            duplicated: observed.duplicated,
            out_of_order: observed.out_of_order,
            mean_ns,
            deviation_ns: (squares / count.saturating_sub(1).max(1) as f64).sqrt(),
            max_ns: sorted_ns.last().copied().unwrap_or(0),
            percentiles_ns: PERCENTILES.map(percentile),
            min_ns: sorted_ns.first().copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Times of `count` requests, one a millisecond, with replies after these microseconds; `None` =
    /// no reply.
    fn times(count: u64, reply_us: impl Fn(u64) -> Option<u64>) -> SockperfTimes {
        let mut times =
            SockperfTimes { watched_until_ns: (1000 + count) * MS, ..Default::default() };
        let sent_ns = |at| 1000 * MS + at * MS;
        for at in 0..count {
            if let Some(us) = reply_us(at) {
                times.add_reply((at + 1) * 100, 100, sent_ns(at) + us * 1000);
            }
        }
        times.with_sends((0..count).map(sent_ns).collect(), 100).unwrap()
    }

    #[test]
    fn replies_under_way_at_the_end_are_not_lost() {
        let lost = |times: &SockperfTimes| times.count_lost().map(|it| (it.part, it.whole));
        // Each reply takes 200 ms, and those after the end are not seen.
        let slow = |at: u64| (at < 800).then_some(200_000);
        assert_eq!(lost(&times(1000, slow)), Some((0, 400)));
        let with_loss = |at: u64| slow(at).filter(|_| at % 100 != 7);
        assert_eq!(lost(&times(1000, with_loss)), Some((4, 400)));
        // A lost message ends a ping-pong.
        let mut pings = times(501, |at| (at < 500).then_some(10));
        pings.watched_until_ns -= MS;
        assert_eq!(lost(&pings), Some((0, 100)));
        pings.watched_until_ns += 100 * MS;
        assert_eq!(lost(&pings), Some((1, 101)));
        for (count, reply_us) in
            [(0, Some(1)), (400, Some(1)), (1000, None), (1000, Some(9_000_000))]
        {
            assert_eq!(lost(&times(count, |_| reply_us)), None, "{count} {reply_us:?}");
        }
    }

    #[test]
    fn reply_before_its_request_is_an_error() {
        let mut times = SockperfTimes::default();
        times.add_reply(100, 100, 10);
        times.add_reply(200, 100, 19);
        let sends = |second| times.clone().with_sends(vec![10, second], 100);
        assert!(sends(19).is_ok());
        assert_eq!(sends(20).unwrap_err(), SockperfProtocolError::Early { sequence: 200 });
    }

    #[test]
    fn start_and_end_are_left_out() {
        // The times before 400 ms and after 949 ms would be seen in the maximum.
        let slow = |at: u64| Some(if (400..=949).contains(&at) { 10 } else { 900 });
        let observed = times(1000, slow).observe(100).unwrap();
        assert_eq!(observed.round_trips_ns, vec![10_000; 550]);
        assert_eq!(observed.sent, 549 * 100 + 1);
        assert_eq!(observed.run_ns, 549 * MS + 10_000);
        assert_eq!(times(451, slow).observe(100).map(|it| it.sent), Some(1));
        assert_eq!(times(450, slow).observe(100).map(|it| it.sent), None);
        assert_eq!(times(0, slow).observe(100), None);
    }

    #[test]
    fn lost_repeated_and_reordered_replies_are_counted() {
        let mut times = times(1000, |at| match at {
            500 => None,
            // Its reply arrives after that to 601.
            600 => Some(1500),
            _ => Some(10),
        });
        times.add_reply(50_000, 100, 2000 * MS);
        // Neither is a reply to a request.
        times.add_reply(50, 100, 2000 * MS);
        times.add_reply(0, 100, 2000 * MS);
        let observed = times.observe(100).unwrap();
        assert_eq!((observed.dropped, observed.duplicated, observed.out_of_order), (1, 1, 1));
        // 600 counts, 601 arrived before it.
        assert_eq!(observed.round_trips_ns.len(), 548);
        assert_eq!(observed.round_trips_ns.iter().max(), Some(&1_500_000));
        assert_eq!(observed.sends_ns.len(), 548);
    }

    #[test]
    fn figures_are_those_of_sockperf() {
        let round_trips_ns: Vec<u64> = (1..=1000).rev().collect();
        let observed = SockperfReplies { round_trips_ns, ..Default::default() };
        let figures = SockperfFigures::from_replies(&observed);
        let expected = [1000, 1000, 999, 990, 900, 750, 500, 250].map(Some);
        assert_eq!(figures.percentiles_ns, expected);
        assert_eq!((figures.min_ns, figures.max_ns), (1, 1000));
        assert!((figures.mean_ns - 500.5).abs() < 1e-9);
        assert!((figures.deviation_ns - 288.819_436).abs() < 1e-6, "{}", figures.deviation_ns);
        let one = SockperfReplies { round_trips_ns: vec![7], ..Default::default() };
        let figures = SockperfFigures::from_replies(&one);
        assert!(figures.deviation_ns < 1e-9, "{}", figures.deviation_ns);
        let expected = [Some(7), Some(7), Some(7), Some(7), Some(7), Some(7), Some(7), None];
        assert_eq!(figures.percentiles_ns, expected);
    }
}
