//! Objects that libibverbs creates for one end: context, domain, memory region, queues.

use std::io;
use std::ptr;

use super::abi::{
    self, AddressAttributes, CompletionQueue, DeviceLimits, MemoryRegion, Opaque, PortState,
    QueueCapacity, QueuePair, QueuePairInit, ReceiveRequest, SendRequest, VerbsContext,
    WorkCompletion,
};
use super::calls::VerbsCalls;
use super::device::is_routable;
use super::endpoint_config::{Connection, EndpointConfig};
use super::error::RdmaError;
use crate::mapping::Mapping;

pub(super) type Poll =
    unsafe extern "C" fn(*mut CompletionQueue, i32, *mut WorkCompletion) -> i32;
pub(super) type PostSend =
    unsafe extern "C" fn(*mut QueuePair, *mut SendRequest, *mut *mut SendRequest) -> i32;
pub(super) type PostReceive =
    unsafe extern "C" fn(*mut QueuePair, *mut ReceiveRequest, *mut *mut ReceiveRequest) -> i32;

/// Objects of the library; null until created. Destroyed on drop.
pub(super) struct VerbsObjects {
    pub(super) calls: &'static VerbsCalls,
    context: *mut VerbsContext,
    domain: *mut Opaque,
    pub(super) region: *mut MemoryRegion,
    pub(super) send_queue: *mut CompletionQueue,
    pub(super) receive_queue: *mut CompletionQueue,
    pub(super) queue_pairs: Vec<*mut QueuePair>,
    pub(super) handle: *mut Opaque,
}

impl Drop for VerbsObjects {
    fn drop(&mut self) {
        let calls = self.calls;
        if !self.handle.is_null() {
            // SAFETY: created by the library and destroyed once, like all objects here, each before
            // the objects it uses.
            unsafe { (calls.destroy_ah)(self.handle) };
        }
        for pair in &self.queue_pairs {
            // SAFETY: as above.
            unsafe { (calls.destroy_qp)(*pair) };
        }
        for queue in [self.send_queue, self.receive_queue] {
            if !queue.is_null() {
                // SAFETY: as above.
                unsafe { (calls.destroy_cq)(queue) };
            }
        }
        if !self.region.is_null() {
            // SAFETY: as above.
            unsafe { (calls.dereg_mr)(self.region) };
        }
        if !self.domain.is_null() {
            // SAFETY: as above.
            unsafe { (calls.dealloc_pd)(self.domain) };
        }
        if !self.context.is_null() {
            // SAFETY: as above.
            unsafe { (calls.close_device)(self.context) };
        }
    }
}

impl VerbsObjects {
    pub(super) fn open(
        calls: &'static VerbsCalls,
        device: *mut Opaque,
    ) -> Result<Self, RdmaError> {
        // SAFETY: a device of a list that is not freed yet.
        let context = unsafe { (calls.open_device)(device) };
        let made = Self {
            calls,
            context: check_object("ibv_open_device", context)?,
            domain: ptr::null_mut(),
            region: ptr::null_mut(),
            send_queue: ptr::null_mut(),
            receive_queue: ptr::null_mut(),
            queue_pairs: Vec::new(),
            handle: ptr::null_mut(),
        };
        // SAFETY: just opened.
        if unsafe { (*made.context).device } != device {
            return Err(RdmaError::InterfaceMismatch("the device of a context"));
        }
        Ok(made)
    }

    pub(super) fn limits(&self) -> Result<DeviceLimits, RdmaError> {
        let mut limits = DeviceLimits::new();
        // SAFETY: the structure is the library's.
        let code = unsafe { (self.calls.query_device)(self.context, &raw mut limits) };
        check_code("ibv_query_device", code).map(|()| limits)
    }

    pub(super) fn port(&self, number: u8) -> Result<PortState, RdmaError> {
        let mut state = PortState::default();
        // SAFETY: the structure has room for more than the library writes.
        let code = unsafe { (self.calls.query_port)(self.context, number, &raw mut state) };
        check_code("ibv_query_port", code).map(|()| state)
    }

    fn gid(&self, port: u8, index: u32) -> Option<[u8; 16]> {
        let mut gid = [0; 16];
        let at = i32::try_from(index).ok()?;
        // SAFETY: room for one identifier.
        let code = unsafe { (self.calls.query_gid)(self.context, port, at, &raw mut gid) };
        (code == 0 && gid != [0; 16]).then_some(gid)
    }

    /// Returns the requested GID, or one of RoCE v2, preferably of IPv4; `None` on InfiniBand,
    /// which has local identifiers.
    pub(super) fn choose_gid(
        &self,
        device: &str,
        wanted: &EndpointConfig<'_>,
        state: &PortState,
    ) -> Result<Option<(u32, [u8; 16])>, RdmaError> {
        /// `::ffff:0:0/96`
        const IPV4: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
        let (device_name, port) = (device.to_owned(), wanted.port);
        if let Some(index) = wanted.gid_index {
            let missing = RdmaError::NoSuchGid { device: device_name, port, index };
            return self.gid(port, index).map(|gid| Some((index, gid))).ok_or(missing);
        }
        if state.link_layer != abi::LINK_ETHERNET {
            return Ok(None);
        }
        let indices = (0..state.gids.unsigned_abs())
            .filter(|index| is_routable(device, port, *index))
            .filter_map(|index| Some((index, self.gid(port, index)?)));
        let best = indices.min_by_key(|(index, gid)| (!gid.starts_with(&IPV4), *index));
        best.map(Some).ok_or(RdmaError::NoGid { device: device_name, port })
    }

    pub(super) fn register(&mut self, memory: &Mapping) -> Result<(), RdmaError> {
        // SAFETY: the context is open.
        self.domain =
            check_object("ibv_alloc_pd", unsafe { (self.calls.alloc_pd)(self.context) })?;
        let (start, bytes) = (memory.as_ptr().cast(), memory.len_bytes());
        // SAFETY: the memory is mapped, and [`Endpoint`] drops it after the region.
        let region =
            unsafe { (self.calls.reg_mr)(self.domain, start, bytes, access_flags() as i32) };
        self.region = check_object("ibv_reg_mr", region)?;
        Ok(())
    }

    /// Returns the functions of the device's driver, from its table.
    pub(super) fn driver_functions(&self) -> Result<(Poll, PostSend, PostReceive), RdmaError> {
        // SAFETY: the context is open.
        let context = unsafe { &*self.context };
        let function = |at: usize, what: &'static str| {
            let function = context.driver_function(at);
            if function.is_null() {
                Err(RdmaError::InterfaceMismatch(what))
            } else {
                Ok(function)
            }
        };
        let poll = function(VerbsContext::POLL_CQ, "poll_cq")?;
        let send = function(VerbsContext::POST_SEND, "post_send")?;
        let receive = function(VerbsContext::POST_RECEIVE, "post_recv")?;
        Ok((
            // SAFETY: the interface has this function at this index of the table.
            unsafe { std::mem::transmute::<*const (), Poll>(poll) },
            // SAFETY: as above.
            unsafe { std::mem::transmute::<*const (), PostSend>(send) },
            // SAFETY: as above.
            unsafe { std::mem::transmute::<*const (), PostReceive>(receive) },
        ))
    }

    /// Creates the queues; returns the largest size of messages that are copied into the request.
    pub(super) fn create_queues(
        &mut self,
        wanted: &EndpointConfig<'_>,
    ) -> Result<u32, RdmaError> {
        let count = wanted.queue_pairs.max(1);
        let sends = wanted.depth.max(1);
        let receives = wanted.posted_receives.max(1);
        let entries = [sends, receives].map(|each| each.saturating_mul(count) as i32);
        for (queue, entries) in
            [&mut self.send_queue, &mut self.receive_queue].into_iter().zip(entries)
        {
            // SAFETY: the context is open; no channel, and no user data.
            let made = unsafe {
                (self.calls.create_cq)(
                    self.context,
                    entries,
                    ptr::null_mut(),
                    ptr::null_mut(),
                    0,
                )
            };
            *queue = check_object("ibv_create_cq", made)?;
        }
        let mut inline_bytes = wanted.inline_bytes;
        for _ in 0..count {
            inline_bytes =
                self.create_queue_pair(wanted.connection, (sends, receives), inline_bytes)?;
        }
        Ok(inline_bytes)
    }

    fn create_queue_pair(
        &mut self,
        connection: Connection,
        (sends, receives): (u32, u32),
        mut inline_bytes: u32,
    ) -> Result<u32, RdmaError> {
        let kind = match connection {
            Connection::Rc => abi::QUEUE_PAIR_RC,
            Connection::Ud => abi::QUEUE_PAIR_UD,
        };
        loop {
            let mut asked = QueuePairInit {
                context: ptr::null_mut(),
                send_queue: self.send_queue,
                receive_queue: self.receive_queue,
                shared: ptr::null_mut(),
                capacity: QueueCapacity {
                    sends,
                    receives,
                    send_pieces: 1,
                    receive_pieces: 1,
                    inline_bytes,
                },
                kind,
                signals_all: 0,
            };
            // SAFETY: the domain and the queues live as long as the queue pair.
            let made = unsafe { (self.calls.create_qp)(self.domain, &raw mut asked) };
            if made.is_null() && inline_bytes > 0 {
                // Not every device supports this size.
                inline_bytes = next_inline_size(inline_bytes);
                continue;
            }
            self.queue_pairs.push(check_object("ibv_create_qp", made)?);
            return Ok(inline_bytes);
        }
    }

    /// Returns the numbers of the queue pairs and the key of the memory, after checking the layout
    /// of the library's structures.
    pub(super) fn numbers_and_key(
        &self,
        memory: &Mapping,
    ) -> Result<(Vec<u32>, u32), RdmaError> {
        // SAFETY: just created.
        let region = unsafe { &*self.region };
        // SAFETY: as above.
        let pairs = self.queue_pairs.iter().map(|pair| unsafe { &**pair });
        let is_ours = |pair: &QueuePair| pair.context == self.context;
        // SAFETY: as above.
        let owner = unsafe { (*self.send_queue).context };
        let is_known = region.address == memory.as_ptr().cast()
            && region.length == memory.len_bytes()
            && pairs.clone().all(is_ours)
            && owner == self.context;
        if !is_known {
            return Err(RdmaError::InterfaceMismatch("the owner of an object"));
        }
        Ok((pairs.map(|pair| pair.number).collect(), region.remote_key))
    }

    pub(super) fn create_address_handle(
        &mut self,
        mut way: AddressAttributes,
    ) -> Result<(), RdmaError> {
        // SAFETY: the domain lives as long as the handle.
        let handle = unsafe { (self.calls.create_ah)(self.domain, &raw mut way) };
        self.handle = check_object("ibv_create_ah", handle)?;
        Ok(())
    }
}

/// Returns the next smaller size that some device copies into requests (perftest 4.5,
/// `ctx_set_max_inline`: cards of `QLogic`, Intel, Broadcom, Huawei and Amazon); finally 0.
fn next_inline_size(inline_bytes: u32) -> u32 {
    const SIZES: [u32; 5] = [128, 101, 96, 48, 32];
    SIZES.into_iter().find(|size| *size < inline_bytes).unwrap_or(0)
}

/// Returns the access rights of the far end to the memory.
pub(super) const fn access_flags() -> u32 {
    abi::LOCAL_WRITE | abi::REMOTE_WRITE | abi::REMOTE_READ | abi::REMOTE_ATOMIC
}

/// Returns a created object, or the system's error for null.
fn check_object<T>(call: &'static str, made: *mut T) -> Result<*mut T, RdmaError> {
    if made.is_null() {
        return Err(RdmaError::CallFailed { call, source: io::Error::last_os_error() });
    }
    Ok(made)
}

/// Converts a return code: the library returns 0 or an error number; some drivers return it
/// negative.
pub(super) fn check_code(call: &'static str, code: i32) -> Result<(), RdmaError> {
    if code == 0 { Ok(()) } else { Err(call_error(call, code)) }
}

pub(super) fn call_error(call: &'static str, code: i32) -> RdmaError {
    let source = match code {
        -1 => io::Error::last_os_error(),
        code => io::Error::from_raw_os_error(code.saturating_abs()),
    };
    RdmaError::CallFailed { call, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_size_falls_to_zero() {
        let asked = std::iter::successors(Some(236), |&size| {
            (size > 0).then(|| next_inline_size(size))
        });
        assert_eq!(asked.collect::<Vec<_>>(), [236, 128, 101, 96, 48, 32, 0]);
    }
}
