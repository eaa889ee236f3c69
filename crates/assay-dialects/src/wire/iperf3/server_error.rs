//! Descriptions of an iperf3 server's error numbers.

/// Errors that a client can cause, or that explain a failure at the server (`iperf_api.h`).
const DESCRIPTIONS: [(i32, &str); 33] = [
    (5, "the test is longer than it allows"),
    (6, "there are more streams than it allows"),
    (7, "the block size is larger than it allows"),
    (8, "the socket buffer is larger than it allows"),
    (10, "the segment size is larger than it allows"),
    (12, "the omitted time is longer than it allows"),
    (14, "it cannot open its file (-F), or has one for several streams"),
    (15, "the burst is larger than it allows"),
    (20, "the size of the datagrams is not one that it allows"),
    (21, "the type of service is not valid"),
    (27, "the bit rate of all streams together is above its --server-bitrate-limit"),
    (37, "the test is longer than its --server-max-duration"),
    (102, "it cannot listen for the streams"),
    (103, "it cannot connect a stream"),
    (105, "the cookie could not be exchanged"),
    (109, "the control connection was closed"),
    (110, "it received an unknown message"),
    (114, "it cannot read the parameters"),
    (115, "it cannot build its results"),
    (116, "the results could not be sent"),
    (117, "it cannot read the results"),
    (121, "it is busy with another test"),
    (123, "it cannot set the segment size"),
    (124, "it cannot set the socket buffers"),
    (127, "it cannot set the flow label"),
    (132, "it cannot use the requested CPU (-A)"),
    (134, "it cannot set the congestion control"),
    (140, "it cannot pace the sockets"),
    (141, "it could not set the requested socket buffers (net.core.rmem_max, wmem_max)"),
    (super::NOT_AUTHORIZED, "it rejected user and password, or received none"),
    (144, "no message arrived for too long"),
    (145, "it cannot forbid fragments of datagrams"),
    (160, "the test did not end in time"),
];

/// Describes a server's error by iperf3's number, and by the system's if there is one.
pub(super) fn describe(iperf3: i32, system: i32) -> String {
    let known = DESCRIPTIONS.iter().find(|(number, _)| *number == iperf3);
    let known = known.map_or("for a reason that is not known here", |(_, words)| words);
    let system = match system {
        0 => String::new(),
        number => format!(", {}", std::io::Error::from_raw_os_error(number)),
    };
    format!("{known} (its error {iperf3}{system})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_error_numbers() {
        for (iperf3, system, expected) in [
            (
                27,
                0,
                "the bit rate of all streams together is above its --server-bitrate-limit (its error 27)",
            ),
            (
                134,
                2,
                "it cannot set the congestion control (its error 134, No such file or directory (os error 2))",
            ),
            (-7, 0, "for a reason that is not known here (its error -7)"),
        ] {
            assert_eq!(describe(iperf3, system), expected);
        }
        assert!(DESCRIPTIONS.is_sorted_by_key(|(number, _)| *number));
    }
}
