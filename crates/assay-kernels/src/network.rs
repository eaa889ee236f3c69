//! Network kernels: sockets, one thread per stream, ping-pong, datagrams and ICMP.
//!
//! Uses blocking sockets. Every wait is bounded: sockets have a short timeout, after which a stream
//! checks whether it is stopped. Independent of tools' protocols and of the choice of peers: the
//! callers pass connected sockets and receive plain numbers.

pub mod connections;
pub mod cpu;
mod datagram;
mod datagram_batch;
mod descriptors;
pub mod device;
pub mod ethtool;
pub mod icmp;
pub mod pace;
pub mod path_mtu;
pub mod pingpong;
pub mod port_receiver;
mod progress;
pub mod socket;
pub mod stream;
pub mod tcp_info;
pub mod thread_refusal;
pub mod transfer;
pub mod turn_sender;
mod udp;
