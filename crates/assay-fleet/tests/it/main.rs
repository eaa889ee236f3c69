//! Tests of the public API: hosts as text files, children as `/bin/sh`.

#[cfg(test)]
mod damage;
#[cfg(test)]
mod doctor;
mod doctor_mpi;
mod doctor_network;
mod doctor_rdma;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod memory_nodes;
#[cfg(test)]
mod process;
#[cfg(test)]
mod state;
#[cfg(test)]
mod test_host;
