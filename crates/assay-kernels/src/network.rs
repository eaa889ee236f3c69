//! Network: sockets, one thread per stream, ping-pong, datagrams and ICMP.
//!
//! Blocking sockets throughout. Every wait has an end: sockets carry a short timeout after which a
//! stream looks whether it was told to stop. Never speaks a tool's protocol and never chooses a
//! peer: connected sockets come in, plain numbers go out.

pub mod cpu;
mod datagram;
pub mod device;
pub mod ethtool;
pub mod icmp;
pub mod pace;
pub mod path_mtu;
pub mod pingpong;
mod progress;
pub mod socket;
pub mod stream;
pub mod tcp_info;
pub mod transfer;
mod udp;
