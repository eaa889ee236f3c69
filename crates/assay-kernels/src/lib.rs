//! Timed code: everything that runs between two readings of the clock, and the modules it builds
//! on.
//!
//! `clock`, `pin`, `mapping`, `numa`, `barrier` and `team` are the base. `timed` is the only module that
//! starts and stops the clock around a team; `null` measures the cost of that. `memory`, `compute`,
//! `network`, `storage`, `mpi` and `rdma` are the kernels; `library` opens shared libraries of the
//! machine.
//!
//! | result | formula | source |
//! |---|---|---|
//! | bandwidth, B/s | bytes of the arrays in the formula over the time of a pass: two arrays (Copy, Scale) or three (Add, Triad) | STREAM |
//! | latency of a load, s | time over the number of dependent loads | pointer chasing |
//! | latency between cores, s | time over the number of hand-overs, half of a round trip | compare-and-swap |
//! | peak, FLOP/s | two operations for each element of a multiply-add, over the time | registers alone |
//! | LINPACK, FLOP/s | (2/3 N³ + 3/2 N²) over the time of factorisation and solve | `HPL_pdtest.c` |
//! | latency of an I/O, s | completion minus submission, and minus the time at which it was due | open loop |
//! | latency of a message, s | half of a round trip (MPI, RDMA) or all of it (TCP, ICMP), by the tool that is followed | OSU, perftest, qperf |
//!
//! Times are [`timed`] passes: the last member's end minus the first member's start. A wrong result (contents, residual)
//! is an error of the kernel's own enumeration, never a value.
//!
//! This crate depends on no suites, hosts or output formats. It is the only crate with
//! `unsafe`: one block per operation, each with its reason. Its public interface consists of plain
//! numbers whose names end in their unit, and of the model's request and result types where there
//! are many.

pub mod background;
pub mod barrier;
mod c_text;
pub mod clock;
pub mod compute;
pub mod heap;
mod library;
pub mod loop_device;
pub mod mapping;
pub mod memory;
pub mod memory_policy;
pub mod mpi;
pub mod network;
pub mod null;
pub mod numa;
pub mod openssl;
pub mod perf_event;
pub mod pin;
pub mod priority;
pub mod process_counters;
pub mod program;
pub mod rdma;
pub mod standard_output;
pub mod storage;
mod sync;
pub mod team;
pub mod timed;
pub mod timers;
