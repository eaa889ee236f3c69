//! Table of the libibverbs functions that are symbols.
//!
//! The loader returns the default version of each, 1.1 or newer; those of 1.0 are hidden.

use std::ffi::{c_char, c_int, c_void};

use super::abi::{
    AddressAttributes, CompletionQueue, DeviceLimits, MemoryRegion, Opaque, PortState,
    QueuePair, QueuePairInit, QueuePairState, VerbsContext,
};
use crate::library::SharedLibrary;

/// Declares the table and its loader from the field, the name in the library and the arguments of
/// each function.
macro_rules! table {
    ($($field:ident = $name:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions of the library.
        #[derive(Debug, Clone, Copy)]
        pub(super) struct VerbsCalls {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl VerbsCalls {
            /// Looks up all functions; the error is the name of the first missing one.
            pub(super) fn load(library: &SharedLibrary) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: a function of this name has these arguments in the library's
                    // interface.
                    $($field: unsafe { library.load_function(&[$name]) }?,)*
                })
            }
        }
    };
}

table! {
    get_device_list = "ibv_get_device_list"(*mut c_int) -> *mut *mut Opaque;
    free_device_list = "ibv_free_device_list"(*mut *mut Opaque) -> ();
    get_device_name = "ibv_get_device_name"(*mut Opaque) -> *const c_char;
    open_device = "ibv_open_device"(*mut Opaque) -> *mut VerbsContext;
    close_device = "ibv_close_device"(*mut VerbsContext) -> c_int;
    query_device = "ibv_query_device"(*mut VerbsContext, *mut DeviceLimits) -> c_int;
    query_port = "ibv_query_port"(*mut VerbsContext, u8, *mut PortState) -> c_int;
    query_gid = "ibv_query_gid"(*mut VerbsContext, u8, c_int, *mut [u8; 16]) -> c_int;
    alloc_pd = "ibv_alloc_pd"(*mut VerbsContext) -> *mut Opaque;
    dealloc_pd = "ibv_dealloc_pd"(*mut Opaque) -> c_int;
    reg_mr = "ibv_reg_mr"(*mut Opaque, *mut c_void, usize, c_int) -> *mut MemoryRegion;
    dereg_mr = "ibv_dereg_mr"(*mut MemoryRegion) -> c_int;
    create_cq = "ibv_create_cq"(*mut VerbsContext, c_int, *mut c_void, *mut Opaque, c_int) -> *mut CompletionQueue;
    destroy_cq = "ibv_destroy_cq"(*mut CompletionQueue) -> c_int;
    create_qp = "ibv_create_qp"(*mut Opaque, *mut QueuePairInit) -> *mut QueuePair;
    modify_qp = "ibv_modify_qp"(*mut QueuePair, *mut QueuePairState, c_int) -> c_int;
    destroy_qp = "ibv_destroy_qp"(*mut QueuePair) -> c_int;
    create_ah = "ibv_create_ah"(*mut Opaque, *mut AddressAttributes) -> *mut Opaque;
    destroy_ah = "ibv_destroy_ah"(*mut Opaque) -> c_int;
    wc_status_str = "ibv_wc_status_str"(u32) -> *const c_char;
}
