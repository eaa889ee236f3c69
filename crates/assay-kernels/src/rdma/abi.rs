//! Structures and constants of libibverbs, in its stable binary interface on 64-bit systems.
//!
//! Sizes and offsets are those that a C compiler prints for rdma-core 44 (`infiniband/verbs.h`).
//! They are asserted below, and [`super::endpoint`] checks the values of the running library
//! against them. Unused fields are merged, and structures end after the last field in use.

use std::ffi::c_void;
use std::mem::{offset_of, size_of};
use std::ptr;

pub(super) const PORT_ACTIVE: u32 = 4;
pub(super) const LINK_ETHERNET: u8 = 2;

pub(super) const LOCAL_WRITE: u32 = 1;
pub(super) const REMOTE_WRITE: u32 = 2;
pub(super) const REMOTE_READ: u32 = 4;
pub(super) const REMOTE_ATOMIC: u32 = 8;

pub(super) const QUEUE_PAIR_RC: u32 = 2;
pub(super) const QUEUE_PAIR_UD: u32 = 4;

pub(super) const STATE_INIT: u32 = 1;
pub(super) const STATE_RTR: u32 = 2;
pub(super) const STATE_RTS: u32 = 3;

pub(super) const MASK_STATE: i32 = 1;
pub(super) const MASK_ACCESS: i32 = 8;
pub(super) const MASK_PKEY: i32 = 16;
pub(super) const MASK_PORT: i32 = 32;
pub(super) const MASK_QKEY: i32 = 64;
pub(super) const MASK_AV: i32 = 128;
pub(super) const MASK_PATH_MTU: i32 = 256;
pub(super) const MASK_TIMEOUT: i32 = 512;
pub(super) const MASK_RETRY: i32 = 1024;
pub(super) const MASK_RNR_RETRY: i32 = 2048;
pub(super) const MASK_RQ_PSN: i32 = 4096;
pub(super) const MASK_READS: i32 = 8192;
pub(super) const MASK_RNR_TIMER: i32 = 32_768;
pub(super) const MASK_SQ_PSN: i32 = 65_536;
pub(super) const MASK_FAR_READS: i32 = 131_072;
pub(super) const MASK_FAR_NUMBER: i32 = 1_048_576;

pub(super) const OPCODE_WRITE: u32 = 0;
pub(super) const OPCODE_SEND: u32 = 2;
pub(super) const OPCODE_READ: u32 = 4;
pub(super) const OPCODE_FETCH_ADD: u32 = 6;

pub(super) const SIGNALED: u32 = 2;
pub(super) const INLINE: u32 = 8;

/// `IBV_WC_WR_FLUSH_ERR`: the request was flushed after an earlier error of the queue pair.
pub(super) const STATUS_FLUSHED: u32 = 5;

/// Bytes that precede a message received over UD: its global route header.
pub(super) const HEADER_BYTES: usize = 40;

/// Opaque object of the library.
pub(super) type Opaque = c_void;

/// `struct ibv_context`, up to the table of driver functions that are no symbols.
#[repr(C)]
pub(super) struct VerbsContext {
    pub(super) device: *mut Opaque,
    operations: [*const (); 32],
}

impl VerbsContext {
    pub(super) const POLL_CQ: usize = 11;
    pub(super) const POST_SEND: usize = 25;
    pub(super) const POST_RECEIVE: usize = 26;

    /// Returns a function of the device's driver.
    pub(super) const fn driver_function(&self, at: usize) -> *const () {
        self.operations[at]
    }
}

/// `struct ibv_qp`, up to its number.
#[repr(C)]
pub(super) struct QueuePair {
    pub(super) context: *mut VerbsContext,
    between: [u64; 5],
    handle: u32,
    pub(super) number: u32,
}

/// `struct ibv_cq`, up to its context.
#[repr(C)]
pub(super) struct CompletionQueue {
    pub(super) context: *mut VerbsContext,
}

/// `struct ibv_mr`.
#[repr(C)]
pub(super) struct MemoryRegion {
    context: *mut VerbsContext,
    domain: *mut Opaque,
    pub(super) address: *mut c_void,
    pub(super) length: usize,
    handle: u32,
    pub(super) local_key: u32,
    pub(super) remote_key: u32,
}

/// `struct ibv_sge`: scatter/gather entry, a range of memory.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct ScatterGatherEntry {
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) key: u32,
}

/// `struct ibv_send_wr`.
#[repr(C)]
pub(super) struct SendRequest {
    pub(super) id: u64,
    pub(super) next: *mut Self,
    pub(super) pieces: *mut ScatterGatherEntry,
    pub(super) piece_count: i32,
    pub(super) opcode: u32,
    pub(super) flags: u32,
    pub(super) immediate: u32,
    /// Union by opcode; see the functions that fill it.
    pub(super) far: [u64; 4],
    rest: [u64; 7],
}

impl SendRequest {
    pub(super) const fn new(
        opcode: u32,
        piece: *mut ScatterGatherEntry,
        far: [u64; 4],
    ) -> Self {
        Self {
            id: 0,
            next: ptr::null_mut(),
            pieces: piece,
            piece_count: 1,
            opcode,
            flags: 0,
            immediate: 0,
            far,
            rest: [0; 7],
        }
    }

    /// `wr.rdma`: remote address of a write or a read.
    pub(super) fn remote(address: u64, key: u32) -> [u64; 4] {
        [address, key.into(), 0, 0]
    }

    /// `wr.atomic` of a fetch-and-add.
    pub(super) fn fetch_add(address: u64, key: u32, summand: u64) -> [u64; 4] {
        [address, summand, 0, key.into()]
    }

    /// `wr.ud`: destination of a datagram.
    pub(super) fn datagram(handle: *mut Opaque, number: u32, key: u32) -> [u64; 4] {
        [handle as u64, u64::from(number) | u64::from(key) << 32, 0, 0]
    }
}

/// `struct ibv_recv_wr`.
#[repr(C)]
pub(super) struct ReceiveRequest {
    pub(super) id: u64,
    pub(super) next: *mut Self,
    pub(super) pieces: *mut ScatterGatherEntry,
    pub(super) piece_count: i32,
}

/// `struct ibv_wc`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WorkCompletion {
    pub(super) id: u64,
    pub(super) status: u32,
    opcode: u32,
    pub(super) vendor_error: u32,
    pub(super) bytes: u32,
    immediate: u32,
    number: u32,
    far_number: u32,
    flags: u32,
    rest: [u16; 4],
}

/// `struct ibv_device_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct DeviceLimits {
    pub(super) firmware: [u8; 64],
    names: [u64; 5],
    version: u32,
    pub(super) queue_pairs: i32,
    /// Maximum number of requests of a queue pair, of each kind.
    pub(super) requests: i32,
    abilities: [i32; 4],
    pub(super) completions: i32,
    regions: [i32; 2],
    pub(super) reads_in: i32,
    between: [i32; 2],
    pub(super) reads_out: i32,
    rest: [i32; 16],
    partitions: u16,
    delay: u8,
    pub(super) ports: u8,
    end: [u8; 4],
}

impl DeviceLimits {
    pub(super) const fn new() -> Self {
        Self {
            firmware: [0; 64],
            names: [0; 5],
            version: 0,
            queue_pairs: 0,
            requests: 0,
            abilities: [0; 4],
            completions: 0,
            regions: [0; 2],
            reads_in: 0,
            between: [0; 2],
            reads_out: 0,
            rest: [0; 16],
            partitions: 0,
            delay: 0,
            ports: 0,
            end: [0; 4],
        }
    }
}

/// `struct ibv_port_attr`, with room for fields that newer libraries add.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PortState {
    pub(super) state: u32,
    max_mtu: u32,
    pub(super) active_mtu: u32,
    pub(super) gids: i32,
    between: [u32; 4],
    partitions: u16,
    pub(super) lid: u16,
    subnet: [u8; 7],
    pub(super) width: u8,
    pub(super) speed: u8,
    physical: u8,
    pub(super) link_layer: u8,
    flags: u8,
    newer: [u32; 4],
}

/// `struct ibv_qp_cap`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueCapacity {
    pub(super) sends: u32,
    pub(super) receives: u32,
    pub(super) send_pieces: u32,
    pub(super) receive_pieces: u32,
    pub(super) inline_bytes: u32,
}

/// `struct ibv_qp_init_attr`.
#[repr(C)]
pub(super) struct QueuePairInit {
    pub(super) context: *mut Opaque,
    pub(super) send_queue: *mut CompletionQueue,
    pub(super) receive_queue: *mut CompletionQueue,
    pub(super) shared: *mut Opaque,
    pub(super) capacity: QueueCapacity,
    pub(super) kind: u32,
    pub(super) signals_all: i32,
}

/// `struct ibv_ah_attr`: address of a port and the path to it.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AddressAttributes {
    pub(super) gid: [u8; 16],
    pub(super) flow_label: u32,
    pub(super) own_gid: u8,
    pub(super) hop_limit: u8,
    pub(super) traffic_class: u8,
    pub(super) lid: u16,
    pub(super) service_level: u8,
    pub(super) source_bits: u8,
    pub(super) rate: u8,
    pub(super) is_global: u8,
    pub(super) port: u8,
}

/// `struct ibv_qp_attr`.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueuePairState {
    pub(super) state: u32,
    pub(super) current: u32,
    pub(super) path_mtu: u32,
    pub(super) migration: u32,
    pub(super) queue_key: u32,
    pub(super) receive_number: u32,
    pub(super) send_number: u32,
    pub(super) far_number: u32,
    pub(super) access: u32,
    pub(super) capacity: QueueCapacity,
    pub(super) way: AddressAttributes,
    pub(super) alternative: AddressAttributes,
    pub(super) partition: u16,
    pub(super) alternative_partition: u16,
    pub(super) draining: [u8; 2],
    pub(super) reads: u8,
    pub(super) far_reads: u8,
    pub(super) not_ready_timer: u8,
    pub(super) port: u8,
    pub(super) timeout: u8,
    pub(super) retries: u8,
    pub(super) not_ready_retries: u8,
    pub(super) rest: [u8; 2],
    pub(super) rate: u32,
}

const _: () = {
    assert!(
        cfg!(target_endian = "little"),
        "unions are filled as little-endian systems read them"
    );
    assert!(offset_of!(VerbsContext, operations) == 8);
    assert!(8 + 8 * VerbsContext::POLL_CQ == 96);
    assert!(8 + 8 * VerbsContext::POST_SEND == 208);
    assert!(8 + 8 * VerbsContext::POST_RECEIVE == 216);
    assert!(offset_of!(QueuePair, number) == 52);
    assert!(size_of::<MemoryRegion>() == 48);
    assert!(
        offset_of!(MemoryRegion, local_key) == 36 && offset_of!(MemoryRegion, remote_key) == 40
    );
    assert!(size_of::<ScatterGatherEntry>() == 16);
    assert!(size_of::<SendRequest>() == 128 && offset_of!(SendRequest, far) == 40);
    assert!(offset_of!(SendRequest, opcode) == 28 && offset_of!(SendRequest, flags) == 32);
    assert!(size_of::<ReceiveRequest>() == 32);
    assert!(size_of::<WorkCompletion>() == 48 && offset_of!(WorkCompletion, status) == 8);
    assert!(offset_of!(WorkCompletion, bytes) == 20);
    assert!(size_of::<DeviceLimits>() == 232);
    assert!(offset_of!(DeviceLimits, reads_in) == 144);
    assert!(offset_of!(DeviceLimits, reads_out) == 156);
    assert!(offset_of!(DeviceLimits, queue_pairs) == 108);
    assert!(offset_of!(DeviceLimits, requests) == 112);
    assert!(offset_of!(DeviceLimits, completions) == 132);
    assert!(offset_of!(DeviceLimits, ports) == 227);
    assert!(size_of::<PortState>() >= 52 && offset_of!(PortState, lid) == 34);
    assert!(offset_of!(PortState, width) == 43 && offset_of!(PortState, link_layer) == 46);
    assert!(size_of::<QueuePairInit>() == 64);
    assert!(offset_of!(QueuePairInit, capacity) == 32 && offset_of!(QueuePairInit, kind) == 52);
    assert!(
        size_of::<AddressAttributes>() == 32 && offset_of!(AddressAttributes, own_gid) == 20
    );
    assert!(
        offset_of!(AddressAttributes, lid) == 24
            && offset_of!(AddressAttributes, is_global) == 29
    );
    assert!(offset_of!(AddressAttributes, port) == 30);
    assert!(size_of::<QueuePairState>() == 144 && offset_of!(QueuePairState, way) == 56);
    assert!(offset_of!(QueuePairState, queue_key) == 16);
    assert!(offset_of!(QueuePairState, partition) == 120);
    assert!(offset_of!(QueuePairState, reads) == 126);
    assert!(offset_of!(QueuePairState, not_ready_timer) == 128);
    assert!(offset_of!(QueuePairState, not_ready_retries) == 132);
};
