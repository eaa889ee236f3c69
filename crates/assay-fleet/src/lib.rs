//! Hosts: their facts, load, fitness for measurements, and child processes.
//!
//! Order of use: [`facts::read`] before a run, [`state::read`] right before and after it,
//! [`state::find_disturbances`] between the two, and [`process::run`] for external tools.
//! [`doctor::examine`] judges facts and state and recommends changes.
//!
//! Other hosts are reached by [`remote`]: frames over the pipe of a command such as ssh, with a
//! [`CallError`](remote::calls::CallError) for each failed call. Facts that a host hides are absent, never zero. Sizes
//! are in bytes, times in seconds, rates in bit/s.
//!
//! This crate never changes a setting of a host and is independent of benchmarks.

pub mod block_device;
pub mod capacity;
pub mod cpu_demand;
pub mod disk_stats;
pub mod doctor;
pub mod energy;
pub mod facts;
pub mod fleet_file;
pub mod hosts;
pub mod kernel_counters;
pub mod mounts;
pub mod mpi;
pub mod network_device;
pub mod nfs_client;
pub mod pairs;
pub mod process;
pub mod rdma_device;
pub mod remote;
pub mod root;
pub mod shared_memory;
pub mod slurm;
pub mod state;
pub mod system_events;

mod control_group;
pub mod cpu_list;
mod cpuinfo;
mod cpus;
pub mod meminfo;
mod process_table;
pub mod resource_limits;
#[cfg(test)]
mod shells;
