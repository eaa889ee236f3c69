//! The program: its library, and nothing else. The linker optimises all crates of a released program at the
//! level of this file, and the library is compiled for size (`cargo xtask dist`).

use std::process::ExitCode;

fn main() -> ExitCode {
    assay::run()
}
