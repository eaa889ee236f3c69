//! RDMA endpoint: one end of a connection, with its device, registered memory and queue pairs.

use std::cell::Cell;
use std::ffi::CStr;
use std::ptr;

use super::abi::{
    self, AddressAttributes, CompletionQueue, HEADER_BYTES, PortState, QueuePairState,
    ReceiveRequest, ScatterGatherEntry, SendRequest, WorkCompletion,
};
use super::device::{DeviceList, verbs_calls};
use super::endpoint_config::{Connection, EndpointConfig, Tuning};
use super::error::RdmaError;
use super::limits;
use super::posted_receives::PostedReceives;
use super::verbs_objects::{
    Poll, PostReceive, PostSend, VerbsObjects, access_flags, call_error, check_code,
};
use crate::c_text::text_until_nul;
use crate::mapping::{HUGE_PAGE_BYTES, Mapping, PageAdvice};

/// Queue key of every UD queue pair: any number common to both ends, without the top bit, which is
/// for privileged keys (InfiniBand 1.4, 10.2.5).
const QUEUE_KEY: u32 = 0x1111_1111;
/// Number of retries of a packet; every acknowledgement resets the count. perftest uses 7, and so
/// do network cards (`ibv_modify_qp(3)`, `retry_cnt`). Software RoCE treats 7 as unlimited (Linux:
/// `rxe_comp.c`, `COMPST_ERROR_RETRY`), so a far end that does not reply would never cause an
/// error. With 6, cards give up one timeout earlier.
const RETRIES: u8 = 6;
/// Retries for a receiver that is not ready, 0.64 ms apart; 7 = unlimited.
const NOT_READY_RETRIES: u8 = 7;
const NOT_READY_TIMER: u8 = 12;
/// Hop limit of RoCE packets; the maximum.
const HOP_LIMIT: u8 = 255;
/// Alignment of the memory slots: a cache line of every machine.
const ALIGNMENT: usize = 128;

/// Connection data that each end sends to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerInfo {
    /// Local identifier on InfiniBand; 0 on RoCE.
    pub lid: u16,
    /// Numbers of the queue pairs.
    pub numbers: Vec<u32>,
    /// First packet sequence number.
    pub sequence: u32,
    /// Global identifier; on RoCE an address.
    pub gid: [u8; 16],
    /// Path MTU in bytes.
    pub mtu: u32,
    /// Address that messages are written to.
    pub address: u64,
    /// Address that messages are read from.
    pub source: u64,
    /// Memory key for both addresses.
    pub key: u32,
    /// Maximum number of incoming reads and atomic operations at the same time.
    pub reads: u8,
}

/// RDMA endpoint.
#[expect(
    missing_debug_implementations,
    reason = "addresses of the library's objects are not informative"
)]
pub struct Endpoint {
    pub(super) verbs: VerbsObjects,
    pub(super) memory: Mapping,
    slot_bytes: usize,
    /// Size of the largest message.
    pub(super) max_message_bytes: u64,
    /// Receive requests posted to each queue pair.
    pub(super) posted_receives: Vec<Cell<PostedReceives>>,
    pub(super) connection: Connection,
    pub(super) far: Option<PeerInfo>,
    poll: Poll,
    post_send: PostSend,
    post_receive: PostReceive,
    /// Name of the device.
    pub device: String,
    /// Firmware version of the device.
    pub firmware: String,
    /// Whether the link is Ethernet (RoCE).
    pub is_ethernet: bool,
    /// Index of the GID, if one is used.
    pub gid_index: Option<u32>,
    /// Messages up to this size are copied into the request.
    pub inline_bytes: u32,
    /// Connection data for the other end.
    pub info: PeerInfo,
    /// Port of the device.
    pub port: u8,
    tuning: Tuning,
    /// Outgoing reads of the device at the same time.
    reads: u8,
}

/// Returns the requested path MTU or that of the port; a datagram must fit into it.
fn choose_mtu(wanted: &EndpointConfig<'_>, port_mtu: u32) -> Result<u32, RdmaError> {
    let mtu = wanted.mtu.unwrap_or(port_mtu);
    if mtu > port_mtu {
        return Err(RdmaError::MtuTooLarge { asked: mtu, mtu: port_mtu });
    }
    if wanted.connection == Connection::Ud && wanted.max_message_bytes > mtu.into() {
        return Err(RdmaError::TooLong { bytes: wanted.max_message_bytes, mtu });
    }
    Ok(mtu)
}

impl Endpoint {
    /// Opens a device and creates queue pairs over registered memory for two messages: one to send,
    /// and one to receive.
    ///
    /// # Errors
    /// There is no such device, its port is not active, or a driver call fails.
    pub fn open(wanted: &EndpointConfig<'_>) -> Result<Self, RdmaError> {
        let devices = DeviceList::read()?;
        let (device, at) = devices.find(wanted.device)?;
        let mut made = VerbsObjects::open(verbs_calls()?, at)?;
        let limits = made.limits()?;
        limits::check(&device, &limits, wanted)?;
        let state = made.port(wanted.port)?;
        check_port(&device, wanted.port, &state)?;
        let mtu = choose_mtu(wanted, 128 << state.active_mtu.clamp(1, 5))?;
        let is_ethernet = state.link_layer == abi::LINK_ETHERNET;
        let chosen = made.choose_gid(&device, wanted, &state)?;
        let slot_bytes =
            (wanted.max_message_bytes as usize + HEADER_BYTES).next_multiple_of(ALIGNMENT);
        let mut memory = Mapping::new(2 * slot_bytes, PageAdvice::Huge)?;
        // Touched by the thread that uses it, before the device pins it in place.
        memory.as_mut_slice::<u8>().fill(0);
        made.register(&memory)?;
        let (poll, post_send, post_receive) = made.driver_functions()?;
        let inline_bytes = made.create_queues(wanted)?;
        let (numbers, key) = made.numbers_and_key(&memory)?;
        let address = memory.as_ptr() as u64;
        // The device's maximum, as in perftest (`ctx_set_out_reads`): 16 on network cards, 128 on
        // software RoCE.
        let reads = |limit: i32| limit.clamp(0, u8::MAX.into()) as u8;
        let card = PeerInfo {
            lid: state.lid,
            numbers,
            // Any 24 bits; perftest draws them at random, too.
            sequence: crate::clock::now_ns() as u32 & 0x00ff_ffff,
            gid: chosen.map_or([0; 16], |(_, gid)| gid),
            mtu,
            address: address + slot_bytes as u64 + HEADER_BYTES as u64,
            source: address,
            key,
            reads: reads(limits.reads_in),
        };
        let endpoint = Self {
            verbs: made,
            memory,
            slot_bytes,
            max_message_bytes: wanted.max_message_bytes,
            posted_receives: vec![
                Cell::new(PostedReceives::new(
                    wanted.posted_receives.max(1).into(),
                    wanted.connection
                ));
                wanted.queue_pairs.max(1) as usize
            ],
            connection: wanted.connection,
            far: None,
            poll,
            post_send,
            post_receive,
            device,
            firmware: text_until_nul(&limits.firmware),
            is_ethernet,
            gid_index: chosen.map(|(index, _)| index),
            inline_bytes,
            info: card,
            port: wanted.port,
            tuning: wanted.tuning,
            reads: wanted.tuning.reads.unwrap_or_else(|| reads(limits.reads_out)),
        };
        endpoint.initialise()?;
        Ok(endpoint)
    }

    /// Connects to the other end, which does the same with this end's data.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn connect(&mut self, far: &PeerInfo) -> Result<(), RdmaError> {
        let way = self.address_attributes(far);
        let path_mtu = self.info.mtu.min(far.mtu);
        let is_connected = self.connection == Connection::Rc;
        for (at, number) in far.numbers.iter().enumerate().take(self.verbs.queue_pairs.len()) {
            self.connect_one(at, far, (*number, path_mtu, way))?;
        }
        if !is_connected {
            self.verbs.create_address_handle(way)?;
        }
        self.info.mtu = path_mtu;
        self.far = Some(far.clone());
        Ok(())
    }

    /// Changes one queue pair to the states ready to receive and then ready to send.
    fn connect_one(
        &self,
        at: usize,
        far: &PeerInfo,
        (number, path_mtu, way): (u32, u32, AddressAttributes),
    ) -> Result<(), RdmaError> {
        let is_connected = self.connection == Connection::Rc;
        let mut state = QueuePairState { state: abi::STATE_RTR, ..QueuePairState::default() };
        let mut mask = abi::MASK_STATE;
        if is_connected {
            state.path_mtu = path_mtu.ilog2() - 7;
            state.far_number = number;
            state.receive_number = far.sequence;
            state.far_reads = self.info.reads;
            state.not_ready_timer = NOT_READY_TIMER;
            state.way = way;
            mask |= abi::MASK_AV | abi::MASK_PATH_MTU | abi::MASK_FAR_NUMBER;
            mask |= abi::MASK_RQ_PSN | abi::MASK_FAR_READS | abi::MASK_RNR_TIMER;
        }
        self.modify(at, &mut state, mask)?;
        let mut state = QueuePairState {
            state: abi::STATE_RTS,
            send_number: self.info.sequence,
            ..QueuePairState::default()
        };
        let mut mask = abi::MASK_STATE | abi::MASK_SQ_PSN;
        if is_connected {
            state.timeout = self.tuning.timeout;
            state.retries = RETRIES;
            state.not_ready_retries = NOT_READY_RETRIES;
            // The far end rejects more reads than it has announced.
            state.reads = self.reads.min(far.reads);
            mask |= abi::MASK_TIMEOUT | abi::MASK_RETRY | abi::MASK_RNR_RETRY | abi::MASK_READS;
        }
        self.modify(at, &mut state, mask)
    }

    fn initialise(&self) -> Result<(), RdmaError> {
        let mut state = QueuePairState {
            state: abi::STATE_INIT,
            port: self.port,
            ..QueuePairState::default()
        };
        let mut mask = abi::MASK_STATE | abi::MASK_PKEY | abi::MASK_PORT;
        match self.connection {
            Connection::Rc => {
                state.access = access_flags();
                mask |= abi::MASK_ACCESS;
            }
            Connection::Ud => {
                state.queue_key = QUEUE_KEY;
                mask |= abi::MASK_QKEY;
            }
        }
        (0..self.verbs.queue_pairs.len()).try_for_each(|at| self.modify(at, &mut state, mask))
    }

    fn modify(
        &self,
        at: usize,
        state: &mut QueuePairState,
        mask: i32,
    ) -> Result<(), RdmaError> {
        // SAFETY: the queue pair is ours, and the structure is the library's.
        let code =
            unsafe { (self.verbs.calls.modify_qp)(self.verbs.queue_pairs[at], state, mask) };
        check_code("ibv_modify_qp", code)
    }

    fn address_attributes(&self, far: &PeerInfo) -> AddressAttributes {
        let global = self.gid_index;
        AddressAttributes {
            gid: far.gid,
            own_gid: global.unwrap_or(0) as u8,
            hop_limit: HOP_LIMIT,
            traffic_class: self.tuning.traffic_class,
            lid: far.lid,
            service_level: self.tuning.service_level,
            is_global: u8::from(global.is_some()),
            port: self.port,
            ..AddressAttributes::default()
        }
    }

    /// Returns the share of the messages' memory that is in huge pages; `None` if it is smaller
    /// than one.
    pub fn huge_share(&self) -> Option<f64> {
        let bytes = self.memory.len_bytes();
        let huge =
            (bytes >= HUGE_PAGE_BYTES).then(|| self.memory.huge_bytes().ok()).flatten()?;
        Some((huge as f64 / bytes as f64).min(1.0))
    }

    /// Returns the first `bytes` of the memory that is sent, or that replies to reads and atomics
    /// overwrite.
    pub(super) fn source(&mut self, bytes: usize) -> &mut [u8] {
        &mut self.memory.as_mut_slice::<u8>()[..bytes]
    }

    /// Returns the first `bytes` of the memory that messages are received in.
    pub(super) fn sink(&mut self, bytes: usize) -> &mut [u8] {
        let from = self.slot_bytes + HEADER_BYTES;
        &mut self.memory.as_mut_slice::<u8>()[from..from + bytes]
    }

    /// Returns the memory range that messages are sent from.
    pub(super) fn source_entry(&self, bytes: u64) -> ScatterGatherEntry {
        ScatterGatherEntry {
            address: self.info.source,
            bytes: bytes as u32,
            key: self.local_key(),
        }
    }

    /// Returns the memory range that messages are received in, including the header of a datagram
    /// before it.
    pub(super) fn sink_entry(&self, bytes: u64) -> ScatterGatherEntry {
        let header = match self.connection {
            Connection::Rc => 0,
            Connection::Ud => HEADER_BYTES as u64,
        };
        ScatterGatherEntry {
            address: self.info.address - header,
            bytes: (bytes + header) as u32,
            key: self.local_key(),
        }
    }

    /// Returns the destination of a queue pair's messages, in the format of datagrams.
    pub(super) fn datagram(&self, at: usize) -> [u64; 4] {
        let far = self.far.as_ref();
        let number = far.and_then(|far| far.numbers.get(at).copied()).unwrap_or(0);
        SendRequest::datagram(self.verbs.handle, number, QUEUE_KEY)
    }

    fn local_key(&self) -> u32 {
        // SAFETY: the region lives as long as this end.
        unsafe { (*self.verbs.region).local_key }
    }

    /// Posts a send request to a queue pair.
    pub(super) fn send(&self, at: usize, request: &mut SendRequest) -> Result<(), RdmaError> {
        let mut bad = ptr::null_mut();
        // SAFETY: the request and its entry live until the call returns, the memory as long as this
        // end.
        let code =
            unsafe { (self.post_send)(self.verbs.queue_pairs[at], request, &raw mut bad) };
        check_code("ibv_post_send", code)
    }

    /// Posts a receive request to a queue pair.
    pub(super) fn receive(
        &self,
        at: usize,
        request: &mut ReceiveRequest,
    ) -> Result<(), RdmaError> {
        let mut bad = ptr::null_mut();
        let pair = self.verbs.queue_pairs[at];
        // SAFETY: as above.
        let code = unsafe { (self.post_receive)(pair, request, &raw mut bad) };
        check_code("ibv_post_recv", code)
    }

    /// Returns the next completion, if there is one.
    #[inline]
    pub(super) fn poll(
        &self,
        queue: *mut CompletionQueue,
    ) -> Result<Option<WorkCompletion>, RdmaError> {
        let mut found = WorkCompletion::default();
        // SAFETY: a queue of ours, and room for one completion.
        match unsafe { (self.poll)(queue, 1, &raw mut found) } {
            0 => Ok(None),
            1 if found.status == 0 => Ok(Some(found)),
            1 => Err(self.completion_error(&self.root_failure(found))),
            code => Err(call_error("ibv_poll_cq", code)),
        }
    }

    /// Returns the first completion that failed; after it, all other requests of the queue pair are
    /// flushed.
    #[cold]
    fn root_failure(&self, found: WorkCompletion) -> WorkCompletion {
        if found.status != abi::STATUS_FLUSHED {
            return found;
        }
        let queues = [self.verbs.send_queue, self.verbs.receive_queue];
        queues.into_iter().find_map(|queue| self.first_failure(queue)).unwrap_or(found)
    }

    fn first_failure(&self, queue: *mut CompletionQueue) -> Option<WorkCompletion> {
        loop {
            let mut found = WorkCompletion::default();
            // SAFETY: a queue of ours, and room for one completion.
            if unsafe { (self.poll)(queue, 1, &raw mut found) } != 1 {
                return None;
            }
            if ![0, abi::STATUS_FLUSHED].contains(&found.status) {
                return Some(found);
            }
        }
    }

    fn completion_error(&self, found: &WorkCompletion) -> RdmaError {
        // SAFETY: accepts any number; the string is the library's and never freed.
        let status = unsafe { (self.verbs.calls.wc_status_str)(found.status) };
        // SAFETY: the library has a string for every number.
        let status = unsafe { CStr::from_ptr(status) }.to_string_lossy().into_owned();
        RdmaError::Completion { code: found.status, status, vendor: found.vendor_error }
    }
}

fn check_port(device: &str, port: u8, state: &PortState) -> Result<(), RdmaError> {
    /// Names of `enum ibv_port_state`.
    const STATES: [&str; 5] = ["no state", "down", "initialising", "armed", "active"];
    if state.state == abi::PORT_ACTIVE {
        return Ok(());
    }
    let state = STATES.get(state.state as usize).copied().unwrap_or("unknown state");
    Err(RdmaError::PortDown { device: device.to_owned(), port, state })
}
