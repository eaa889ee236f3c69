//! One rank of a job in which assay's loops and compiled C run alternately, batch by batch, over the
//! same library, connections, memory and CPUs; for `cargo xtask bench mpi`.
//!
//! Neighbours differ in the code of the loop and in how it reaches the library: through a table that
//! was filled when the library was opened, or through the procedure linkage table of an object that
//! `mpicc` has linked. Batches are short, so that both meet the same speed of the host.
//!
//!     mpi_in_turns LIBRARY OBJECT latency|bw MINIMUM MAXIMUM SECONDS
//!
//! A block is three batches: C, assay, and C once more. Rank 0 prints a line for each size, with the
//! median over the blocks of C's time over assay's, and of C's over its own second one, whose
//! distance from 1 is chance. The last line is the geometric mean over the sizes.

use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_long};
use std::io::Write as _;
use std::time::Instant;

use assay_kernels::mpi::{
    LoadedMpi, MpiBenchmark, MpiBenchmarkRequest, MpiFigures, MpiPass, MpiWorld,
    ReductionElement, StuckHandler, Timing, WindowBuffers,
};
use assay_model::benchmark::{MpiBenchmarkKind, RmaSynchronization, WindowCreation};

/// Messages in flight in a window, as in `mpi_loop.c`.
const WINDOW: u32 = 64;
/// Length of a batch: a thousand readings of the clock, and far below the time for which the host
/// keeps one speed.
const BATCH_S: f64 = 3e-4;
/// Minimum blocks of a size.
const MINIMUM_BLOCKS: u64 = 6;
/// Turns of the rough measurement before, which decides how many a batch has, and windows of large
/// messages for the same.
const ROUGH_TURNS: u64 = 40;
const ROUGH_WINDOWS: u64 = 2;
/// Size above which a window takes milliseconds.
const LARGE_BYTES: usize = 8192;
/// Contenders of a block, and every order of them, each followed by its reverse.
const C: usize = 0;
const OWN: usize = 1;
const AGAIN: usize = 2;
const ORDERS: [[usize; 3]; 6] = [
    [C, OWN, AGAIN],
    [AGAIN, OWN, C],
    [OWN, C, AGAIN],
    [AGAIN, C, OWN],
    [OWN, AGAIN, C],
    [C, AGAIN, OWN],
];

type Failure = Box<dyn Error>;
type IsReady = unsafe extern "C" fn() -> c_int;
type Batch =
    unsafe extern "C" fn(c_int, c_long, c_long, *const c_char, *mut c_char, c_int) -> f64;

/// Object that `mpicc` has linked.
struct CompiledLoop {
    is_ready: IsReady,
    batch: Batch,
}

impl CompiledLoop {
    fn open(file: &str) -> Result<Self, Failure> {
        let name = CString::new(file)?;
        // SAFETY: a valid string; the object has no initialisers of its own.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(format!("cannot open {file}").into());
        }
        // SAFETY: the handle is open and the strings are valid.
        let symbols = [c"mpi_loop_is_ready", c"mpi_loop_batch"]
            .map(|name| unsafe { libc::dlsym(handle, name.as_ptr()) });
        let [is_ready, batch] = symbols;
        if is_ready.is_null() || batch.is_null() {
            return Err(format!("{file} is not mpi_loop.c").into());
        }
        // SAFETY: `mpi_loop.c` gives these names these signatures.
        Ok(unsafe {
            Self {
                is_ready: std::mem::transmute::<*mut libc::c_void, IsReady>(is_ready),
                batch: std::mem::transmute::<*mut libc::c_void, Batch>(batch),
            }
        })
    }

    /// Returns the seconds of one turn over the memory of a benchmark.
    fn time_turn(&self, benchmark: &MpiBenchmark<'_>, size: &Size, turns: u64) -> f64 {
        let (out, into) = benchmark.buffer_addresses();
        let is_latency = c_int::from(size.kind == MpiBenchmarkKind::Latency);
        let (warm_up, count) = (turns.div_ceil(10) as c_long, turns as c_long);
        let bytes = size.bytes as c_int;
        // SAFETY: `bytes` bytes are at both places and nobody else uses them until the call returns;
        // the library is initialised, and the other rank makes the same call.
        let elapsed_s =
            unsafe { (self.batch)(is_latency, warm_up, count, out.cast(), into.cast(), bytes) };
        elapsed_s / turns as f64
    }
}

/// Benchmark and bytes of a message.
struct Size {
    kind: MpiBenchmarkKind,
    bytes: usize,
}

/// Medians over the blocks of one size: C's time over assay's, and over that of C again.
struct Ratios {
    own: f64,
    again: f64,
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [library, object, benchmark, minimum, maximum, seconds] = &words[..] else {
        let usage = "usage: mpi_in_turns LIBRARY OBJECT latency|bw MINIMUM MAXIMUM SECONDS";
        return Err(usage.into());
    };
    let is_latency = benchmark == "latency";
    let kind = if is_latency { MpiBenchmarkKind::Latency } else { MpiBenchmarkKind::Bandwidth };
    let (minimum, maximum): (usize, usize) = (minimum.parse()?, maximum.parse()?);
    let seconds: f64 = seconds.parse()?;
    let loaded = LoadedMpi::open(library)?;
    let world = loaded.start()?;
    let compiled = CompiledLoop::open(object)?;
    // SAFETY: takes nothing, and may be called at any time.
    if world.size() != 2 || unsafe { (compiled.is_ready)() } == 0 {
        return Err(format!("{object} and {library} are not of one job of two ranks").into());
    }
    let mut lines = String::new();
    let mut all = Vec::new();
    for bytes in std::iter::successors(Some(minimum), |it| Some(it * 2)) {
        if bytes > maximum {
            break;
        }
        let found = compare(&world, &compiled, &Size { kind, bytes }, seconds)?;
        lines += &format!("{bytes} ratio {:.6} again {:.6}\n", found.own, found.again);
        all.push(found);
    }
    let mean = |ratio: fn(&Ratios) -> f64| {
        (all.iter().map(|it| ratio(it).ln()).sum::<f64>() / all.len().max(1) as f64).exp()
    };
    lines += &format!("all ratio {:.6} again {:.6}\n", mean(|it| it.own), mean(|it| it.again));
    if world.rank() == 0 {
        std::io::stdout().write_all(lines.as_bytes())?;
    }
    world.finish()?;
    Ok(())
}

/// Takes blocks of one size until its time is over.
fn compare(
    world: &MpiWorld,
    compiled: &CompiledLoop,
    size: &Size,
    seconds: f64,
) -> Result<Ratios, Failure> {
    let request = MpiBenchmarkRequest {
        kind: size.kind,
        bytes: size.bytes,
        window: WINDOW,
        threads: (1, 1),
        element: ReductionElement::Float,
        buffers: WindowBuffers::Single,
        window_creation: WindowCreation::Allocate,
        synchronization: RmaSynchronization::Flush,
        test_calls: 0,
        times_parts: false,
    };
    // Of one thread.
    let mut benchmark = world.prepare(&request, StuckHandler(&|_| {}))?;
    let is_heavy = size.kind == MpiBenchmarkKind::Bandwidth && size.bytes > LARGE_BYTES;
    let rough = if is_heavy { ROUGH_WINDOWS } else { ROUGH_TURNS };
    let turn_s = time_own_turn(&mut benchmark, size, rough)?;
    let turns = world.broadcast_number((BATCH_S / turn_s).clamp(1.0, 1e6) as u64)?;
    let start = Instant::now();
    let (mut own, mut again) = (Vec::new(), Vec::new());
    for (order, block) in ORDERS.iter().cycle().zip(0..) {
        let is_over = start.elapsed().as_secs_f64() > seconds && block >= MINIMUM_BLOCKS;
        if world.broadcast_number(u64::from(is_over))? == 1 {
            break;
        }
        let mut taken_s = [0.0; 3];
        for contender in *order {
            taken_s[contender] = match contender {
                OWN => time_own_turn(&mut benchmark, size, turns)?,
                _ => compiled.time_turn(&benchmark, size, turns),
            };
        }
        own.push(taken_s[C] / taken_s[OWN]);
        again.push(taken_s[C] / taken_s[AGAIN]);
    }
    benchmark.release()?;
    Ok(Ratios { own: median(own), again: median(again) })
}

/// Returns the seconds of one turn by assay: a round trip, or a window.
fn time_own_turn(
    benchmark: &mut MpiBenchmark<'_>,
    size: &Size,
    turns: u64,
) -> Result<f64, Failure> {
    let pass =
        MpiPass { warm_up: turns.div_ceil(10), iterations: turns, timing: Timing::Batch };
    match benchmark.time_batch(&pass)? {
        MpiFigures::Latency { seconds } => Ok(2.0 * seconds),
        MpiFigures::Bandwidth { bytes_per_s } => {
            Ok(size.bytes as f64 * f64::from(WINDOW) / bytes_per_s)
        }
        MpiFigures::Call { .. } | MpiFigures::Overlap { .. } => {
            Err("neither a latency nor a bandwidth".into())
        }
    }
}

/// Returns the median of values, of which there is at least one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}
