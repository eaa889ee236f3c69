//! Options on the repetition of recorded I/O (`read_iolog`).

/// Trace of a job, and how its I/O is repeated; the defaults are fio's.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOptions {
    /// `read_iolog`: name of the trace.
    pub trace: Option<String>,
    /// `replay_redirect`: file or device of all I/O.
    pub redirect: Option<String>,
    /// `replay_no_stall`: no pauses.
    pub skips_pauses: bool,
    /// `replay_time_scale`: speed in percent.
    pub speed_percent: u64,
    /// `replay_scale`: divisor of offsets.
    pub divisor: u64,
    /// `replay_align`: power of two to which offsets are rounded down; 0 = not.
    pub align_bytes: u64,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            trace: None,
            redirect: None,
            skips_pauses: false,
            speed_percent: 100,
            divisor: 1,
            align_bytes: 0,
        }
    }
}
