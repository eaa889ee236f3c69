//! Workload of one kind: accessors for code that concerns a single kind of benchmark.
//!
//! Each accessor lists every variant, so that a new benchmark is assigned to all of them.

use super::file_set::FileTest;
use super::io500::Io500Workload;
use super::storage::StorageTest;
use super::{
    CacheBandwidthWorkload, CommandWorkload, CopyWorkload, CoreToCoreWorkload, LatencyWorkload,
    LinpackWorkload, LoadedLatencyWorkload, MpiWorkload, NetworkWorkload, PeakFlopsWorkload,
    RdmaWorkload, StreamWorkload, Workload,
};

/// Accessor of one kind, also for changes if it has a second name: its variants, and all others.
macro_rules! accessor {
    ($(#[doc = $doc:literal])+ $name:ident -> $type:ty: $($part:ident)+, not $($other:ident)+) => {
        $(#[doc = $doc])+
        #[must_use]
        pub const fn $name(&self) -> Option<&$type> {
            match self {
                $(Self::$part(work))|+ => Some(work),
                $(Self::$other(_))|+ => None,
            }
        }
    };
    ($(#[doc = $doc:literal])+ $name:ident $to_change:ident -> $type:ty: $($part:ident)+, not $($other:ident)+) => {
        accessor! { $(#[doc = $doc])+ $name -> $type: $($part)+, not $($other)+ }

        $(#[doc = $doc])+
        #[must_use]
        pub fn $to_change(&mut self) -> Option<&mut $type> {
            match self {
                $(Self::$part(work))|+ => Some(work),
                $(Self::$other(_))|+ => None,
            }
        }
    };
}

impl Workload {
    accessor! {
        /// Returns the STREAM workload, if it is one.
        as_stream -> StreamWorkload: Stream,
        not Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the working set of dependent loads, if it is one.
        as_latency -> LatencyWorkload: Latency,
        not Stream Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the copies between memory domains, if it is that.
        as_copy -> CopyWorkload: Copy,
        not Stream Latency CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the reads of a working set by each core, if it is that.
        as_cache_bandwidth -> CacheBandwidthWorkload: CacheBandwidth,
        not Stream Latency Copy CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the pairs of CPUs, if it is that.
        as_core_to_core -> CoreToCoreWorkload: CoreToCore,
        not Stream Latency Copy CacheBandwidth LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the dependent loads under traffic, if it is that.
        as_loaded_latency -> LoadedLatencyWorkload: LoadedLatency,
        not Stream Latency Copy CacheBandwidth CoreToCore PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the multiply-adds in registers, if it is that.
        as_peak_flops -> PeakFlopsWorkload: PeakFlops,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the system of equations, if it is one.
        as_linpack -> LinpackWorkload: Linpack,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the network workload, if it is one.
        as_network as_network_mut -> NetworkWorkload: NetworkTcp NetworkUdp NetworkIcmp,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the workload over TCP, if it is one.
        as_tcp -> NetworkWorkload: NetworkTcp,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the workload over UDP, if it is one.
        as_udp -> NetworkWorkload: NetworkUdp,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkIcmp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the ICMP echoes, if it is that.
        as_icmp -> NetworkWorkload: NetworkIcmp,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp Storage Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the test of files or devices, if it is one.
        as_storage as_storage_mut -> StorageTest: Storage,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Files Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the test of file trees, if it is one.
        as_files -> FileTest: Files,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Io500 Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the phases of IO500, if it is that.
        as_io500 -> Io500Workload: Io500,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Command Imported Mpi Rdma
    }
    accessor! {
        /// Returns the program, if it is one.
        as_command -> CommandWorkload: Command,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Imported Mpi Rdma
    }
    accessor! {
        /// Returns the MPI messages, if it is that.
        as_mpi -> MpiWorkload: Mpi,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Rdma
    }
    accessor! {
        /// Returns the RDMA messages, if it is that.
        as_rdma -> RdmaWorkload: Rdma,
        not Stream Latency Copy CacheBandwidth CoreToCore LoadedLatency PeakFlops Linpack NetworkTcp NetworkUdp NetworkIcmp Storage Files Io500 Command Imported Mpi
    }
}
