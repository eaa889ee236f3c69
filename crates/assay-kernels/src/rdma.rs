//! RDMA by verbs: queue pairs, and the timed passes over them.
//!
//! libibverbs is opened at run time (`device`) through structures of our own (`abi`, `calls`), so
//! that the program starts without it. The caller exchanges the data that the two ends need of each
//! other: [`PeerInfo`].

mod abi;
mod calls;
mod device;
mod endpoint;
mod endpoint_config;
mod error;
mod flow;
mod limits;
mod pass_result;
mod passes;
mod peak;
mod posted_receives;
mod verbs_objects;

pub use device::has_devices;
pub use endpoint::{Endpoint, PeerInfo};
pub use endpoint_config::{Connection, EndpointConfig, Tuning};
pub use error::{DeviceResource, RdmaError};
pub use pass_result::{PassResult, ProgressMark};
pub use passes::{RdmaOperation, RdmaPass};
