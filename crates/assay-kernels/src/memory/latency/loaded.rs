//! Latency of dependent loads while other CPUs move data: a pointer chain on one CPU, and a traffic
//! generator on each of the others.
//!
//! **Traffic.** A generator walks through a buffer of its own in blocks of 1 KiB. It reads each block,
//! and rewrites every n-th one, whose lines are read and written. No other stores occur, so the
//! bytes of the program are those that memory moves, without a hidden read for a written line. A
//! pause after each block sets the rate.
//!
//! **Window.** The chain is followed for a while first, until every generator has moved blocks.
//! Latency and bandwidth are those of the same window. Each generator publishes its bytes after each
//! block, and the bandwidth includes the lines of the chain. Adding the bytes of hundreds of generators
//! takes microseconds, so the bandwidth has a time of its own: from sum to sum, of which the latency
//! excludes the first.
//!
//! **Idle.** Traffic fills the caches, and the page walks of a guest then miss them, so that the loads
//! after it take longer than those of [`PointerChase`]. Before the idle repetition the chain is
//! read as a whole, as in its preparation, while the generators sleep.
//!
//! **Check.** Each rewrite increments all words of a block, so the sum of a buffer gives the number of
//! rewritten blocks.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_model::poisoned_lock::PoisonedLock as _;

use super::{LatencyConfig, LatencyError, PointerChase};
use crate::barrier::CachePadded;
use crate::clock;
use crate::mapping::{Mapping, PageAdvice};
use crate::timed::TimedTeam;

/// Bytes between two pauses: 16 lines, which a core reads in 40 to 100 ns.
const BLOCK_BYTES: usize = 1024;
const WORDS_PER_BLOCK: usize = BLOCK_BYTES / size_of::<u64>();
/// Repetitions after which the latency after traffic is that before it: 260 ns fell to 200 ns within
/// eight (Emerald Rapids, a guest of KVM, a chain of 1 GiB in huge pages).
const RECOVERY_PASSES: usize = 16;
/// Share of a repetition that precedes the window.
const WARM_UP_SHARE: usize = 4;

/// Working set of the chain, and the CPUs that generate traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedLatencyConfig {
    /// The chain and its CPU.
    pub chain: LatencyConfig,
    /// CPUs with a generator each.
    pub traffic_cpus: Vec<usize>,
    /// Size of the buffer of each generator; rounded down to whole blocks, at least one.
    pub bytes_per_generator: usize,
}

/// Traffic of all generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Read lines for each written one; 0 = reads only.
    pub reads_per_write: u32,
    /// Pause after each block in nanoseconds.
    pub pause_ns: u64,
}

/// Latency and bandwidth of one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadedSample {
    /// Seconds per dependent load.
    pub latency_s: f64,
    /// Bytes per second that were read and written, by the generators and the chain.
    pub bytes_per_s: f64,
}

/// A chain, the generators, and their pinned threads.
#[derive(Debug)]
pub struct LoadedLatency {
    chase: PointerChase,
    line_bytes: usize,
    /// A generator stores its fields for each block.
    generators: Vec<CachePadded<Mutex<Generator>>>,
    /// Bytes that each generator has moved so far.
    moved: Vec<CachePadded<AtomicU64>>,
}

impl LoadedLatency {
    /// Starts the threads, which touch their memory first; links and checks the chain.
    ///
    /// # Errors
    /// The errors of [`PointerChase::prepare`], also for the buffers of the generators.
    pub fn prepare(
        config: &LoadedLatencyConfig,
        cancel: &AtomicBool,
    ) -> Result<Self, LatencyError> {
        let mut cpus = vec![config.chain.cpu];
        cpus.extend(&config.traffic_cpus);
        let team = TimedTeam::new(&cpus).map_err(LatencyError::StartThread)?;
        let advice = PageAdvice::from_huge_pages(config.chain.huge_pages);
        let generators = config
            .traffic_cpus
            .iter()
            .map(|_| Generator::new(config.bytes_per_generator, advice))
            .map(|generator| generator.map(|it| CachePadded(Mutex::new(it))))
            .collect::<Result<Vec<_>, _>>()?;
        let moved = generators.iter().map(|_| CachePadded::default()).collect();
        let chase = PointerChase::prepare_on(team, &config.chain, cancel)?;
        let mut loaded = Self { chase, line_bytes: config.chain.line_bytes, generators, moved };
        loaded.on_generators(|generator, _| generator.touch());
        Ok(loaded)
    }

    /// Returns the bytes of the chain that are in huge pages.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn huge_bytes(&self) -> io::Result<usize> {
        self.chase.huge_bytes()
    }

    /// Follows the chain without traffic, in the state of a new [`PointerChase`].
    ///
    /// # Errors
    /// [`LatencyError::WrongChain`], since it reads the whole chain first; or `cancel`.
    pub fn idle_repetition(
        &mut self,
        cancel: &AtomicBool,
    ) -> Result<LoadedSample, LatencyError> {
        let latency_s = self.chase.repetition_as_prepared(cancel)?;
        Ok(LoadedSample { latency_s, bytes_per_s: self.line_bytes as f64 / latency_s })
    }

    /// Follows the chain without traffic until translation caches contain it again, and returns
    /// nothing: for use before little traffic that comes after much.
    pub fn recover(&mut self) {
        let passes = RECOVERY_PASSES * self.chase.steps;
        self.chase.on_thread(|chain| chain.follow(passes));
    }

    /// Follows the chain while all generators move data.
    pub fn repetition(&mut self, traffic: Traffic) -> LoadedSample {
        let loads = self.chase.loads_per_repetition();
        let (moved, generators) = (&self.moved, &self.generators);
        let PointerChase { team, chain, steps } = &mut self.chase;
        let (has_ended, window) = (AtomicBool::new(false), Mutex::new(Window::default()));
        team.team().run(|member| {
            if let Some(generator) = member.checked_sub(1) {
                generators[generator].0.lock().even_if_poisoned().run(
                    traffic,
                    &moved[generator].0,
                    &has_ended,
                );
                return;
            }
            wait_for_traffic(moved);
            chain.follow(steps.div_ceil(WARM_UP_SHARE));
            let (counted_ns, bytes_before) = (clock::now_ns(), total(moved));
            let start_ns = clock::now_ns();
            chain.follow(*steps);
            let (end_ns, bytes_after) = (clock::now_ns(), total(moved));
            has_ended.store(true, Ordering::Relaxed);
            *window.lock().even_if_poisoned() = Window {
                loads_s: clock::seconds_between(start_ns, end_ns),
                traffic_bytes: bytes_after - bytes_before,
                traffic_s: clock::seconds_between(counted_ns, end_ns),
            };
        });
        let window = *window.lock().even_if_poisoned();
        window.sample(loads, self.line_bytes)
    }

    /// Checks the chain, and that every buffer was rewritten as often as counted. Nothing is timed.
    ///
    /// # Errors
    /// [`LatencyError::WrongChain`], or [`LatencyError::WrongTraffic`] with both numbers.
    pub fn verify(&mut self, cancel: &AtomicBool) -> Result<(), LatencyError> {
        self.chase.verify(cancel)?;
        self.on_generators(|generator, _| generator.sum_buffer());
        for generator in &self.generators {
            generator.0.lock().even_if_poisoned().check()?;
        }
        Ok(())
    }

    fn on_generators(&mut self, work: impl Fn(&mut Generator, usize) + Sync) {
        let generators = &self.generators;
        self.chase.team.team().run(|member| {
            if let Some(generator) = member.checked_sub(1) {
                work(&mut generators[generator].0.lock().even_if_poisoned(), generator);
            }
        });
    }
}

/// Times and bytes of a window. Each time ends where the bytes of the first generator are read, and the
/// time of the traffic begins there, too.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// Time of the loads in seconds.
    loads_s: f64,
    /// Bytes that the generators moved.
    traffic_bytes: u64,
    /// Time from the first sum of their bytes to the second in seconds.
    traffic_s: f64,
}

impl Window {
    fn sample(self, loads: usize, line_bytes: usize) -> LoadedSample {
        let latency_s = self.loads_s / loads as f64;
        let traffic = self.traffic_bytes as f64 / self.traffic_s;
        LoadedSample { latency_s, bytes_per_s: traffic + line_bytes as f64 / latency_s }
    }
}

/// Waits until every generator has moved a block since this call.
fn wait_for_traffic(moved: &[CachePadded<AtomicU64>]) {
    let bytes = |counter: &CachePadded<AtomicU64>| counter.0.load(Ordering::Relaxed);
    let before: Vec<u64> = moved.iter().map(bytes).collect();
    for (counter, before) in moved.iter().zip(before) {
        while bytes(counter) == before {
            std::hint::spin_loop();
        }
    }
}

fn total(moved: &[CachePadded<AtomicU64>]) -> u64 {
    moved.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
}

/// Buffer of one traffic generator, and the position in it.
#[derive(Debug)]
struct Generator {
    buffer: Mapping,
    blocks: usize,
    next_block: usize,
    /// Blocks until the next one that is rewritten.
    until_rewrite: u32,
    rewritten_blocks: u64,
    /// Sum of all words at the last check.
    sum: u64,
}

impl Generator {
    fn new(bytes: usize, advice: PageAdvice) -> Result<Self, LatencyError> {
        let blocks = (bytes / BLOCK_BYTES).max(1);
        let buffer =
            Mapping::new(blocks * BLOCK_BYTES, advice).map_err(LatencyError::MapSet)?;
        let (next_block, until_rewrite, rewritten_blocks, sum) = (0, 0, 0, 0);
        Ok(Self { buffer, blocks, next_block, until_rewrite, rewritten_blocks, sum })
    }

    fn touch(&mut self) {
        self.buffer.as_mut_slice::<u64>().fill(0);
    }

    /// Moves blocks until `has_ended`, and publishes the bytes after each.
    fn run(&mut self, traffic: Traffic, moved: &AtomicU64, has_ended: &AtomicBool) {
        let mut bytes = moved.load(Ordering::Relaxed);
        while !has_ended.load(Ordering::Relaxed) {
            bytes += self.move_block(traffic.reads_per_write) as u64;
            moved.store(bytes, Ordering::Relaxed);
            if traffic.pause_ns > 0 {
                let end_ns = clock::now_ns() + traffic.pause_ns;
                while clock::now_ns() < end_ns && !has_ended.load(Ordering::Relaxed) {}
            }
        }
    }

    /// Reads the next block, or rewrites it. Returns the bytes that were read and written.
    fn move_block(&mut self, reads_per_write: u32) -> usize {
        let from = self.next_block * WORDS_PER_BLOCK;
        self.next_block = (self.next_block + 1) % self.blocks;
        let block = &mut self.buffer.as_mut_slice::<u64>()[from..from + WORDS_PER_BLOCK];
        if reads_per_write == 0 || self.until_rewrite > 0 {
            self.until_rewrite = self.until_rewrite.saturating_sub(1);
            std::hint::black_box(block.iter().fold(0, |sum: u64, word| sum ^ word));
            return BLOCK_BYTES;
        }
        // The rewritten block is one of the reads.
        self.until_rewrite = reads_per_write - 1;
        block.iter_mut().for_each(|word| *word = word.wrapping_add(1));
        self.rewritten_blocks += 1;
        2 * BLOCK_BYTES
    }

    fn sum_buffer(&mut self) {
        let words = self.buffer.as_slice::<u64>();
        self.sum = words.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
    }

    /// Checks the sum of the buffer, which [`Generator::sum_buffer`] has computed.
    fn check(&self) -> Result<(), LatencyError> {
        let found = self.sum;
        let expected = self.rewritten_blocks.wrapping_mul(WORDS_PER_BLOCK as u64);
        if found == expected {
            return Ok(());
        }
        Err(LatencyError::WrongTraffic { found, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CALIBRATION_PASSES, Chain};
    use super::*;
    use crate::pin;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn chain_config(cpu: usize) -> LatencyConfig {
        LatencyConfig { cpu, bytes: 1 << 20, line_bytes: 64, huge_pages: false, memory: None }
    }

    fn prepare(generators: usize) -> LoadedLatency {
        let cpus = pin::allowed_cpus().unwrap();
        let chain = chain_config(cpus[0]);
        let traffic_cpus = cpus.iter().cycle().skip(1).take(generators).copied().collect();
        let bytes_per_generator = 256 << 10;
        let config = LoadedLatencyConfig { chain, traffic_cpus, bytes_per_generator };
        LoadedLatency::prepare(&config, &NEVER).unwrap()
    }

    #[test]
    fn counts_bytes_of_every_mix() {
        for (reads_per_write, [reads, writes]) in
            [(0, [12, 0]), (1, [12, 12]), (2, [12, 6]), (3, [12, 4])]
        {
            let mut generator = Generator::new(4 * BLOCK_BYTES, PageAdvice::Default).unwrap();
            let bytes: usize = (0..12).map(|_| generator.move_block(reads_per_write)).sum();
            assert_eq!(bytes, (reads + writes) * BLOCK_BYTES, "{reads_per_write}");
            assert_eq!(generator.rewritten_blocks, writes as u64);
            generator.sum_buffer();
            generator.check().unwrap();
        }
    }

    #[test]
    fn generators_share_no_cache_line() {
        let loaded = prepare(3);
        let places: Vec<usize> =
            loaded.generators.iter().map(|it| std::ptr::from_ref(it).addr()).collect();
        assert!(places.windows(2).all(|it| it[1] - it[0] >= 128), "{places:?}");
        assert!(places.iter().all(|it| it % 128 == 0), "{places:?}");
    }

    /// The sums of the bytes take a tenth of the time: the latency excludes it, the rate does not.
    #[test]
    fn bytes_and_loads_have_times_of_their_own() {
        let window = Window { loads_s: 1e-3, traffic_bytes: 11_000_000, traffic_s: 1.1e-3 };
        let sample = window.sample(10_000, 64);
        assert!((sample.latency_s - 100e-9).abs() < 1e-15, "{sample:?}");
        assert!((sample.bytes_per_s - (10e9 + 640e6)).abs() < 1.0, "{sample:?}");
    }

    #[test]
    fn traffic_is_counted_and_left_in_the_buffers() {
        let mut loaded = prepare(2);
        let before = total(&loaded.moved);
        for traffic in [(0, 0), (1, 0), (2, 500), (3, 5_000)] {
            loaded.recover();
            let (reads_per_write, pause_ns) = traffic;
            let sample = loaded.repetition(Traffic { reads_per_write, pause_ns });
            assert!(sample.latency_s > 0.0 && sample.bytes_per_s > 0.0, "{sample:?}");
            loaded.verify(&NEVER).unwrap();
        }
        let idle = loaded.idle_repetition(&NEVER).unwrap();
        assert!((idle.bytes_per_s * idle.latency_s - 64.0).abs() < 1e-6);
        assert!(total(&loaded.moved) > before);
    }

    /// The law of the idle end, as far as it is exact: the same lines in the same order after the same
    /// preparation.
    #[test]
    fn idle_end_is_a_new_pointer_chase() {
        let mut loaded = prepare(1);
        let config = chain_config(pin::allowed_cpus().unwrap()[0]);
        let mut alone = PointerChase::prepare(&config, &NEVER).unwrap();
        loaded.repetition(Traffic { reads_per_write: 1, pause_ns: 0 });
        (alone.steps, loaded.chase.steps) = (33, 33);
        for chase in [&mut alone, &mut loaded.chase] {
            chase.on_thread(Chain::rewind);
        }
        for _ in 0..=CALIBRATION_PASSES {
            assert!(alone.repetition() > 0.0);
        }
        loaded.idle_repetition(&NEVER).unwrap();
        assert_eq!(alone.chain.order(), loaded.chase.chain.order());
        assert_eq!(alone.chain.cursor_line(), loaded.chase.chain.cursor_line());
        assert_eq!(alone.loads_per_repetition(), loaded.chase.loads_per_repetition());
    }

    /// An idle repetition that did not read every line first would not see the fault.
    #[test]
    fn idle_end_reads_the_whole_chain_first() {
        let mut loaded = prepare(1);
        loaded.chase.on_thread(Chain::shorten);
        let refused = loaded.idle_repetition(&NEVER);
        assert!(matches!(refused, Err(LatencyError::WrongChain { .. })), "{refused:?}");
    }

    #[test]
    fn rejects_buffer_that_misses_a_rewrite() {
        let mut loaded = prepare(1);
        loaded.repetition(Traffic { reads_per_write: 1, pause_ns: 0 });
        loaded.generators[0].0.lock().even_if_poisoned().rewritten_blocks += 1;
        let refused = loaded.verify(&NEVER);
        assert!(matches!(refused, Err(LatencyError::WrongTraffic { .. })), "{refused:?}");
    }
}
