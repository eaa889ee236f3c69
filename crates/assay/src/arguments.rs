//! tmp
pub(crate) mod network;
