//! MPI world from the view of one process: calls of the library with its constants filled in.
//!
//! The library's error handler is set to return errors, so every call returns a `Result`. Memory is
//! passed as addresses; the running benchmark owns it.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use crate::clock::now_ns;

use assay_model::benchmark::{Collective, Neighbors};

use super::abi::{Constants, Handle};
use super::calls::{MpiCalls, MpiResult, PersistentCollectiveCalls, check_call};
use super::fan_partners::FanPartners;
use super::process_set::{ProcessSet, ProcessSetCalls};

/// Buffer size for an error's text; the longest `MPI_MAX_ERROR_STRING` is 1024, in MPICH.
const ERROR_TEXT_BYTES: usize = 2048;

fn seconds_since(start_ns: u64) -> f64 {
    (now_ns() - start_ns) as f64 * 1e-9
}

/// Initialised library, and this process's rank in its world.
#[derive(Debug)]
pub(super) struct Communicator<H: Handle> {
    pub(super) calls: MpiCalls<H>,
    pub(super) constants: Constants<H>,
    /// Functions of persistent collectives, or the name of the first one that is missing.
    pub(super) persistent: Result<PersistentCollectiveCalls<H>, &'static str>,
    pub(super) rank: c_int,
    pub(super) size: c_int,
    /// Seconds that the initialisation took on this rank.
    pub(super) startup_s: f64,
    /// Communicator of a topology, if there is one.
    neighborhood: Option<H>,
    /// Neighbours in the topology, in the order of their parts.
    pub(super) neighbors: Neighbors,
    /// Ranks of other hosts that this rank exchanges messages with, if one host does so with all.
    pub(super) fan: FanPartners,
    /// Processes that this rank forked.
    pub(super) forked: Vec<libc::pid_t>,
    /// Session that initialised the library, if any; `names.world` is its communicator then.
    process_set: Option<ProcessSet<H>>,
}

impl<H: Handle> Communicator<H> {
    /// Initialises the library for a process of one thread, as compiled programs do: requesting
    /// more from Open MPI 4 (`MPI_THREAD_FUNNELED`) makes each of its messages 7 % slower.
    ///
    /// # Errors
    /// The call that failed. Most libraries end the process instead if initialisation fails.
    pub(super) fn start(
        calls: MpiCalls<H>,
        names: Constants<H>,
        persistent: Result<PersistentCollectiveCalls<H>, &'static str>,
    ) -> MpiResult<Self> {
        let start_ns = now_ns();
        // SAFETY: `MPI_Init` may be called once, with null for the arguments of the program.
        check_call("MPI_Init", unsafe { (calls.init)(ptr::null_mut(), ptr::null_mut()) })?;
        Self::join_world(calls, names, persistent, None, seconds_since(start_ns))
    }

    /// Initialises the library for a process of several threads; `None` if it does not support
    /// them.
    ///
    /// # Errors
    /// Those of [`Self::start`].
    pub(super) fn start_threaded(
        calls: MpiCalls<H>,
        names: Constants<H>,
        persistent: Result<PersistentCollectiveCalls<H>, &'static str>,
    ) -> MpiResult<Option<Self>> {
        let start_ns = now_ns();
        let mut provided = 0;
        // SAFETY: as `MPI_Init`, and an integer to be written.
        check_call("MPI_Init_thread", unsafe {
            (calls.init_thread)(
                ptr::null_mut(),
                ptr::null_mut(),
                names.thread_multiple,
                &raw mut provided,
            )
        })?;
        let elapsed_s = seconds_since(start_ns);
        let world = Self::join_world(calls, names, persistent, None, elapsed_s)?;
        if provided < names.thread_multiple {
            world.finish()?;
            return Ok(None);
        }
        Ok(Some(world))
    }

    /// Initialises the library by a session.
    ///
    /// # Errors
    /// Those of [`Self::start`].
    pub(super) fn start_session(
        calls: MpiCalls<H>,
        names: Constants<H>,
        persistent: Result<PersistentCollectiveCalls<H>, &'static str>,
        process_set: ProcessSetCalls<H>,
    ) -> MpiResult<Self> {
        let start_ns = now_ns();
        let process_set = ProcessSet::start(process_set, &names)?;
        let startup_s = seconds_since(start_ns);
        let names = Constants { world: process_set.world, ..names };
        Self::join_world(calls, names, persistent, Some(process_set), startup_s)
    }

    fn join_world(
        calls: MpiCalls<H>,
        names: Constants<H>,
        persistent: Result<PersistentCollectiveCalls<H>, &'static str>,
        process_set: Option<ProcessSet<H>>,
        startup_s: f64,
    ) -> MpiResult<Self> {
        // SAFETY: two handles of the library.
        check_call("MPI_Comm_set_errhandler", unsafe {
            (calls.set_errhandler)(names.world, names.errors_return)
        })?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: an integer to be written.
        check_call("MPI_Comm_rank", unsafe { (calls.rank)(names.world, &raw mut rank) })?;
        // SAFETY: as above.
        check_call("MPI_Comm_size", unsafe { (calls.size)(names.world, &raw mut size) })?;
        Ok(Self {
            calls,
            constants: names,
            persistent,
            rank,
            size,
            startup_s,
            neighborhood: None,
            neighbors: Neighbors::default(),
            fan: FanPartners::default(),
            forked: Vec::new(),
            process_set,
        })
    }

    /// Finalises the library on all ranks.
    pub(super) fn finish(&self) -> MpiResult {
        self.await_forked();
        if let Some(mut neighborhood) = self.neighborhood {
            // SAFETY: the communicator was created by `join_neighborhood`, and no operation is
            // pending.
            let code = unsafe { (self.calls.communicator_free)(&raw mut neighborhood) };
            check_call("MPI_Comm_free", code)?;
        }
        if let Some(process_set) = &self.process_set {
            return process_set.finish();
        }
        // SAFETY: the library was initialised, and no operation is pending.
        check_call("MPI_Finalize", unsafe { (self.calls.finalize)() })
    }

    /// Ends all processes of the job.
    pub(super) fn abort(&self, code: c_int) -> ! {
        // SAFETY: may be called at any time; it does not return if it can end the processes.
        unsafe { (self.calls.abort)(self.constants.world, code) };
        std::process::exit(code)
    }

    /// Keeps the communicator of a topology until the library is finalised.
    pub(super) fn set_neighborhood(&mut self, created: H, neighbors: Neighbors) {
        self.neighborhood = Some(created);
        self.neighbors = neighbors;
    }

    /// Returns the communicator of an operation: that of the topology, or of all ranks.
    pub(super) fn communicator_of(&self, operation: Collective) -> H {
        let neighborhood = self.neighborhood.filter(|_| operation.is_neighborhood());
        neighborhood.unwrap_or(self.constants.world)
    }

    /// Returns the library's message for an error code.
    pub(super) fn error_text(&self, code: c_int) -> String {
        let mut text = [0_u8; ERROR_TEXT_BYTES];
        let mut length = 0;
        let start = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: there is more room than any library writes.
        let status = unsafe { (self.calls.error_string)(code, start, &raw mut length) };
        let end = usize::try_from(length).unwrap_or(0).min(text.len());
        match status {
            0 => String::from_utf8_lossy(&text[..end]).trim_end_matches('\0').to_owned(),
            _ => "the library has no message for it".to_owned(),
        }
    }

    /// Returns the library's own clock in seconds.
    #[inline(always)]
    pub(super) fn wtime(&self) -> f64 {
        // SAFETY: takes nothing, and is allowed while the library is initialised.
        unsafe { (self.calls.wtime)() }
    }

    /// Waits until every rank has called this.
    #[inline(always)]
    pub(super) fn barrier(&self) -> MpiResult {
        // SAFETY: a handle of the library.
        check_call("MPI_Barrier", unsafe { (self.calls.barrier)(self.constants.world) })
    }

    /// Sends `count` bytes to rank `to`.
    ///
    /// # Safety
    /// `from` must point to `count` readable bytes.
    #[inline(always)]
    pub(super) unsafe fn send(
        &self,
        from: *const u8,
        count: c_int,
        to: c_int,
        tag: c_int,
    ) -> MpiResult {
        let Self { calls, constants: names, .. } = self;
        // SAFETY: guaranteed by the caller; the memory is not kept.
        check_call("MPI_Send", unsafe {
            (calls.send)(from.cast(), count, names.char, to, tag, names.world)
        })
    }

    /// Receives up to `count` bytes from rank `from`.
    ///
    /// # Safety
    /// `into` must point to `count` writable bytes that no other thread uses.
    #[inline(always)]
    pub(super) unsafe fn receive(
        &self,
        into: *mut u8,
        count: c_int,
        from: c_int,
        tag: c_int,
    ) -> MpiResult {
        let Self { calls, constants: names, .. } = self;
        let ignore = names.status_ignore;
        // SAFETY: guaranteed by the caller; the memory is not kept.
        check_call("MPI_Recv", unsafe {
            (calls.receive)(into.cast(), count, names.char, from, tag, names.world, ignore)
        })
    }

    /// Starts a send of `count` bytes to rank `to`.
    ///
    /// # Safety
    /// The same as for [`Self::send`], until the request is complete.
    #[inline(always)]
    pub(super) unsafe fn isend(
        &self,
        from: *const u8,
        count: c_int,
        to: c_int,
        tag: c_int,
        request: &mut H,
    ) -> MpiResult {
        let Self { calls, constants: names, .. } = self;
        // SAFETY: guaranteed by the caller.
        check_call("MPI_Isend", unsafe {
            (calls.isend)(from.cast(), count, names.char, to, tag, names.world, request)
        })
    }

    /// Starts to receive up to `count` bytes from rank `from`.
    ///
    /// # Safety
    /// The same as for [`Self::receive`], until the request is complete.
    #[inline(always)]
    pub(super) unsafe fn ireceive(
        &self,
        into: *mut u8,
        count: c_int,
        from: c_int,
        tag: c_int,
        request: &mut H,
    ) -> MpiResult {
        let Self { calls, constants: names, .. } = self;
        // SAFETY: guaranteed by the caller.
        check_call("MPI_Irecv", unsafe {
            (calls.ireceive)(into.cast(), count, names.char, from, tag, names.world, request)
        })
    }

    /// Creates a persistent send of `count` bytes to rank `to`.
    ///
    /// # Safety
    /// The same as for [`Self::send`], until the request is freed.
    pub(super) unsafe fn send_init(
        &self,
        from: *const u8,
        count: c_int,
        to: c_int,
        tag: c_int,
        request: &mut H,
    ) -> MpiResult {
        let Self { calls, constants: names, .. } = self;
        // SAFETY: guaranteed by the caller.
        check_call("MPI_Send_init", unsafe {
            (calls.send_init)(from.cast(), count, names.char, to, tag, names.world, request)
        })
    }

    /// Creates a persistent receive of up to `count` bytes from rank `from`.
    ///
    /// # Safety
    /// The same as for [`Self::receive`], until the request is freed.
    pub(super) unsafe fn receive_init(
        &self,
        into: *mut u8,
        count: c_int,
        from: c_int,
        tag: c_int,
        request: &mut H,
    ) -> MpiResult {
        let Self { calls, constants: names, .. } = self;
        // SAFETY: guaranteed by the caller.
        check_call("MPI_Recv_init", unsafe {
            (calls.receive_init)(
                into.cast(),
                count,
                names.char,
                from,
                tag,
                names.world,
                request,
            )
        })
    }

    /// Starts a persistent request.
    #[inline(always)]
    pub(super) fn start_request(&self, request: &mut H) -> MpiResult {
        // SAFETY: an inactive persistent request of this library.
        check_call("MPI_Start", unsafe { (self.calls.start)(request) })
    }

    /// Starts all persistent requests.
    #[inline(always)]
    pub(super) fn start_all(&self, requests: &mut [H]) -> MpiResult {
        let count = requests.len() as c_int;
        // SAFETY: `count` inactive persistent requests of this library.
        check_call("MPI_Startall", unsafe {
            (self.calls.start_all)(count, requests.as_mut_ptr())
        })
    }

    /// Frees persistent requests.
    pub(super) fn free_requests(&self, requests: &mut [H]) -> MpiResult {
        requests.iter_mut().try_for_each(|request| {
            // SAFETY: an inactive persistent request of this library.
            check_call("MPI_Request_free", unsafe { (self.calls.request_free)(request) })
        })
    }

    /// Completes one request.
    #[inline(always)]
    pub(super) fn wait(&self, request: &mut H) -> MpiResult {
        // SAFETY: a request of this library, or the null request that replaced it.
        check_call("MPI_Wait", unsafe {
            (self.calls.wait)(request, self.constants.status_ignore)
        })
    }

    /// Tests whether a request is complete, which lets the library make progress.
    pub(super) fn test(&self, request: &mut H) -> MpiResult<bool> {
        let mut is_complete = 0;
        let ignore = self.constants.status_ignore;
        // SAFETY: a request of this library, or the null request that replaced it, and an integer.
        check_call("MPI_Test", unsafe {
            (self.calls.test)(request, &raw mut is_complete, ignore)
        })?;
        Ok(is_complete != 0)
    }

    /// Completes all requests.
    #[inline(always)]
    pub(super) fn wait_all(&self, requests: &mut [H]) -> MpiResult {
        let count = requests.len() as c_int;
        // SAFETY: `count` is the number of requests, all of this library.
        check_call("MPI_Waitall", unsafe {
            (self.calls.wait_all)(count, requests.as_mut_ptr(), self.constants.status_ignore)
        })
    }

    /// Broadcasts rank 0's number to all ranks.
    pub(super) fn broadcast_number(&self, number: u64) -> MpiResult<u64> {
        let Self { calls, constants: names, .. } = self;
        let mut number = number;
        let address = (&raw mut number).cast::<c_void>();
        // SAFETY: one number of this type to be read on rank 0 and written elsewhere.
        check_call("MPI_Bcast", unsafe {
            (calls.broadcast)(address, 1, names.uint64, 0, names.world)
        })?;
        Ok(number)
    }

    /// Returns the sums over all ranks, number by number, on rank 0; elsewhere the numbers
    /// unchanged.
    pub(super) fn sum(&self, numbers: &[f64]) -> MpiResult<Vec<f64>> {
        self.reduce(numbers, self.constants.sum)
    }

    /// Returns the minimum and maximum over all ranks; valid only on rank 0.
    pub(super) fn min_max(&self, number: f64) -> MpiResult<(f64, f64)> {
        let minimum = self.reduce(&[number], self.constants.min)?;
        let maximum = self.reduce(&[number], self.constants.max)?;
        Ok((minimum[0], maximum[0]))
    }

    fn reduce(&self, numbers: &[f64], operation: H) -> MpiResult<Vec<f64>> {
        let Self { calls, constants: names, .. } = self;
        let mut all = numbers.to_vec();
        let count = numbers.len() as c_int;
        // SAFETY: two arrays of `count` doubles.
        check_call("MPI_Reduce", unsafe {
            (calls.reduce)(
                numbers.as_ptr().cast(),
                all.as_mut_ptr().cast(),
                count,
                names.double,
                operation,
                0,
                names.world,
            )
        })?;
        Ok(all)
    }

    /// Gathers the contributions of all ranks, in the order of ranks, on all ranks.
    pub(super) fn all_gather(&self, own: &[u8]) -> MpiResult<Vec<Vec<u8>>> {
        let longest = self.max_length(own.len() as u64)?;
        let Self { calls, constants: names, .. } = self;
        // The length comes first, so that contributions may differ in length.
        let mut message = (own.len() as u64).to_le_bytes().to_vec();
        message.extend_from_slice(own);
        message.resize(longest + 8, 0);
        let mut all = vec![0_u8; message.len() * self.size as usize];
        let count = message.len() as c_int;
        // SAFETY: `count` bytes, and room for as many from every rank.
        check_call("MPI_Allgather", unsafe {
            (calls.all_gather)(
                message.as_ptr().cast(),
                count,
                names.char,
                all.as_mut_ptr().cast(),
                count,
                names.char,
                names.world,
            )
        })?;
        let strip_length = |contribution: &[u8]| {
            let (length, rest) = contribution.split_at(8);
            let length = length.try_into().map_or(0, u64::from_le_bytes) as usize;
            rest[..length.min(rest.len())].to_vec()
        };
        Ok(all.chunks(message.len()).map(strip_length).collect())
    }

    fn max_length(&self, length: u64) -> MpiResult<usize> {
        let Self { calls, constants: names, .. } = self;
        let mut longest = length;
        // SAFETY: one number of this type each.
        check_call("MPI_Allreduce", unsafe {
            (calls.all_reduce)(
                (&raw const length).cast(),
                (&raw mut longest).cast(),
                1,
                names.uint64,
                names.max,
                names.world,
            )
        })?;
        Ok(longest as usize)
    }
}
