//! RDMA by verbs: queue pairs, and the timed passes over them.
//!
//! libibverbs is opened at run time (`device`) through structures of our own (`abi`, `calls`), so
//! that the program starts without it. The caller exchanges the data that the two ends need of each
//! other: [`PeerInfo`].

mod abi;
mod calls;
mod device;
mod endpoint;
mod error;
mod flow;
mod held;
mod limits;
mod made;
mod passes;
mod peak;

pub use device::has_devices;
pub use endpoint::{Card, Connection, Endpoint, Tuning, Wanted};
pub use error::{Bounded, RdmaError};
pub use flow::Carried;
pub use passes::{Mark, Operation, Pass};
