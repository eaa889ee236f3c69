//! Help, man pages, completion and error texts of a command line that is defined with clap.
//!
//! Every function takes the definition, or clap's error, and tables of the caller. This crate knows no
//! command and no option, never prints, and never ends the process, except to answer a shell
//! ([`completion::answer_shell`]).

pub mod completion;
pub mod errors;
pub mod examples;
pub mod layout;
pub mod man_page;

pub use layout::{HelpLayout, arrange};
