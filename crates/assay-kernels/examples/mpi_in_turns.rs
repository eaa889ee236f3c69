//! One rank of a job in which assay's loops and compiled C run alternately, batch by batch, over the same
//! library, connections, memory and CPUs; for `cargo xtask bench mpi`.
//!
//! What differs between neighbours is the code of the loop and how it reaches the library: through a table
//! that was filled when the library was opened, or through the procedure linkage table of an object that
//! `mpicc` has linked. Batches are short, so that both meet the same moods of the host. Never part of the
//! program that users get, and never decides what a ratio should be.
//!
//!     mpi_in_turns LIBRARY OBJECT latency|bw MINIMUM MAXIMUM SECONDS
//!
//! Rank 0 prints a line per block of three batches: bytes, and seconds of one turn in C, in assay, and in
//! C once more, which reports how well two equals can be distinguished.

use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_long};
use std::io::Write as _;
use std::time::Instant;

use assay_kernels::mpi::{
    Buffers, Element, Exchange, Figures, Kind, Mpi, Pass, Request, Timing, World,
};

/// Messages in flight in a window, as in `mpi_loop.c`.
const WINDOW: u32 = 64;
/// Length of a batch: a thousand readings of the clock, and far below the time the host stays in one mood.
const BATCH_S: f64 = 3e-4;
/// Blocks that a size gets, however long they take.
const MINIMUM_BLOCKS: u64 = 6;
/// Turns of the rough measurement that finds out what a batch holds, and of windows of large messages.
const ROUGH: u64 = 40;
const ROUGH_WINDOWS: u64 = 2;
/// Above this a window takes milliseconds.
const LARGE_BYTES: usize = 8192;
/// The contenders of a block, and every order of them, each followed by its reverse.
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

type IsReady = unsafe extern "C" fn() -> c_int;
type Batch =
    unsafe extern "C" fn(c_int, c_long, c_long, *const c_char, *mut c_char, c_int) -> f64;

/// The object that `mpicc` has linked.
struct Foreign {
    is_ready: IsReady,
    batch: Batch,
}

impl Foreign {
    fn open(file: &str) -> Result<Self, Box<dyn Error>> {
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
}

/// What is measured on the command line's behalf.
struct Plan {
    kind: Kind,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [library, object, benchmark, minimum, maximum, seconds] = &words[..] else {
        return Err(
            "usage: mpi_in_turns LIBRARY OBJECT latency|bw MINIMUM MAXIMUM SECONDS".into()
        );
    };
    let kind = if benchmark == "latency" { Kind::Latency } else { Kind::Bandwidth };
    let plan = Plan { kind, seconds: seconds.parse()? };
    let (mut bytes, maximum): (usize, usize) = (minimum.parse()?, maximum.parse()?);
    let world = Mpi::open(library)?.start()?;
    let foreign = Foreign::open(object)?;
    // SAFETY: takes nothing, and may be called at any time.
    if world.size() != 2 || unsafe { (foreign.is_ready)() } == 0 {
        return Err(format!("{object} and {library} are not of one job of two ranks").into());
    }
    while bytes <= maximum {
        measure(&world, &foreign, &plan, bytes)?;
        bytes *= 2;
    }
    world.finish()?;
    Ok(())
}

/// Blocks of one size until its time is over.
fn measure(
    world: &World,
    foreign: &Foreign,
    plan: &Plan,
    bytes: usize,
) -> Result<(), Box<dyn Error>> {
    let request = Request {
        kind: plan.kind,
        bytes,
        window: WINDOW,
        element: Element::Float,
        buffers: Buffers::Single,
        tests: 0,
        parts: false,
    };
    let mut exchange = world.prepare(&request)?;
    let is_heavy = plan.kind == Kind::Bandwidth && bytes > LARGE_BYTES;
    let rough = if is_heavy { ROUGH_WINDOWS } else { ROUGH };
    let turn_s = own(&mut exchange, plan.kind, bytes, rough, rough)?;
    let turns = world.agree((BATCH_S / turn_s).clamp(1.0, 1e6) as u64)?;
    let warm_up = turns.div_ceil(10);
    let start = Instant::now();
    let mut lines = String::new();
    for block in 0.. {
        let is_over = start.elapsed().as_secs_f64() > plan.seconds && block >= MINIMUM_BLOCKS;
        if world.agree(u64::from(is_over))? == 1 {
            break;
        }
        let mut seconds = [0.0; 3];
        for contender in ORDERS[block as usize % ORDERS.len()] {
            seconds[contender] = match contender {
                OWN => own(&mut exchange, plan.kind, bytes, warm_up, turns)?,
                _ => theirs(foreign, &exchange, plan.kind, bytes, warm_up, turns),
            };
        }
        let [c, own, again] = seconds;
        lines += &format!("{bytes} {c:e} {own:e} {again:e}\n");
    }
    exchange.release()?;
    if world.rank() == 0 {
        std::io::stdout().write_all(lines.as_bytes())?;
    }
    Ok(())
}

/// Seconds of one turn by assay: a round trip, or a window.
fn own(
    exchange: &mut Exchange<'_>,
    kind: Kind,
    bytes: usize,
    warm_up: u64,
    turns: u64,
) -> Result<f64, Box<dyn Error>> {
    let pass = Pass { warm_up, iterations: turns, timing: Timing::Batch };
    Ok(match (exchange.batch(&pass)?, kind) {
        (Figures::Latency { seconds }, _) => 2.0 * seconds,
        (Figures::Bandwidth { bytes_per_s }, _) => {
            bytes as f64 * f64::from(WINDOW) / bytes_per_s
        }
        _ => return Err("neither a latency nor a bandwidth".into()),
    })
}

/// Seconds of one turn by compiled C, over the same memory.
fn theirs(
    foreign: &Foreign,
    exchange: &Exchange<'_>,
    kind: Kind,
    bytes: usize,
    warm_up: u64,
    turns: u64,
) -> f64 {
    let (out, into) = exchange.places();
    let is_latency = c_int::from(kind == Kind::Latency);
    let (warm_up, count) = (warm_up as c_long, turns as c_long);
    // SAFETY: `bytes` bytes are at both places and are nobody else's until the call returns; the library
    // is initialised, and the other rank makes the same call.
    let elapsed_s = unsafe {
        (foreign.batch)(is_latency, warm_up, count, out.cast(), into.cast(), bytes as c_int)
    };
    elapsed_s / turns as f64
}
