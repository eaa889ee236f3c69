//! RDMA by verbs: queue pairs, and the timed loops over them.
//!
//! libibverbs is opened at run time (`device`) through structures of our own (`abi`, `calls`), so that
//! the program starts where there is none. Never knows how two ends find each other: what they have to
//! tell each other is a [`Card`].

mod abi;
mod calls;
mod device;
mod endpoint;
mod error;
mod flow;
mod made;
mod passes;

pub use device::has_devices;
pub use endpoint::{Card, Connection, Endpoint, Wanted};
pub use error::RdmaError;
pub use flow::Carried;
pub use passes::{Mark, Operation, Pass};
