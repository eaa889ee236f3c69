//! Checks a request against the limits of the device, because the driver would reject it without a
//! reason.

use super::abi::DeviceLimits;
use super::endpoint::Wanted;
use super::error::{Bounded, RdmaError};

/// Returns an error for the first limit that is exceeded.
pub(super) fn check(
    device: &str,
    limits: &DeviceLimits,
    wanted: &Wanted<'_>,
) -> Result<(), RdmaError> {
    if !(1..=limits.ports).contains(&wanted.port) {
        let (asked, ports) = (wanted.port, limits.ports);
        return Err(RdmaError::NoSuchPort { device: device.to_owned(), asked, ports });
    }
    let pairs = u64::from(wanted.queue_pairs.max(1));
    let (sends, receives) = (u64::from(wanted.depth), u64::from(wanted.receives));
    let reads = u64::from(wanted.tuning.reads.unwrap_or(0));
    for (what, asked, most) in [
        (Bounded::QueuePairs, pairs, limits.queue_pairs),
        (Bounded::Requests, sends, limits.requests),
        (Bounded::Receives, receives, limits.requests),
        // All queue pairs share one queue of each kind.
        (Bounded::Completions, sends * pairs, limits.completions),
        (Bounded::Arrivals, receives * pairs, limits.completions),
        (Bounded::Reads, reads, limits.reads_out),
    ] {
        // Without a known limit the driver decides.
        let Some(most) = u64::try_from(most).ok().filter(|most| *most > 0) else { continue };
        if asked > most {
            return Err(RdmaError::BeyondDevice {
                device: device.to_owned(),
                what,
                asked,
                most,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::{Connection, Endpoint, Tuning};
    use super::*;

    fn wanted() -> Wanted<'static> {
        Wanted {
            device: None,
            port: 1,
            gid_index: None,
            mtu: None,
            connection: Connection::Rc,
            queue_pairs: 1,
            most_bytes: 8,
            depth: 128,
            receives: Endpoint::RECEIVES,
            inline_bytes: 0,
            tuning: Tuning::default(),
        }
    }

    #[test]
    fn what_a_device_cannot_do_is_said_with_its_limit_and_the_option() {
        let mut limits = DeviceLimits::new();
        (limits.ports, limits.reads_out) = (2, 16);
        (limits.queue_pairs, limits.requests, limits.completions) = (100, 1000, 20_000);
        let usual = wanted();
        let reads = |reads| Tuning { reads: Some(reads), ..Tuning::default() };
        for (wanted, expected) in [
            (Wanted { port: 2, ..usual }, None),
            (Wanted { port: 3, ..usual }, Some(("rxe0 has no port 3; it has 2", "-i"))),
            (Wanted { port: 0, ..usual }, Some(("rxe0 has no port 0", "-i"))),
            (Wanted { depth: 1000, queue_pairs: 20, ..usual }, None),
            (
                Wanted { depth: 1001, ..usual },
                Some((
                    "1001 requests in flight on a queue pair are more than rxe0 has room for: 1000",
                    "-t",
                )),
            ),
            (Wanted { queue_pairs: 101, ..usual }, Some(("101 queue pairs", "-q"))),
            (
                Wanted { depth: 1000, queue_pairs: 21, ..usual },
                Some(("21000 requests in flight on all queue pairs", "-t or -q")),
            ),
            (Wanted { receives: 1001, ..usual }, Some(("messages to receive", "-r"))),
            (Wanted { queue_pairs: 40, ..usual }, Some(("20480 messages", "-r or -q"))),
            (Wanted { tuning: reads(16), ..usual }, None),
            (Wanted { tuning: reads(17), ..usual }, Some(("has room for: 16", "-o"))),
        ] {
            let found = check("rxe0", &limits, &wanted).err();
            let found = found.map(|error| (error.to_string(), error.advice()));
            match (&found, expected) {
                (None, None) => {}
                (Some((said, advice)), Some((text, option))) => {
                    assert!(said.contains(text) && advice.contains(option), "{said}: {advice}");
                }
                _ => panic!("{found:?} is not {expected:?}"),
            }
        }
        // A driver without limits is not checked here.
        let mut silent = DeviceLimits::new();
        silent.ports = 1;
        assert!(check("rxe0", &silent, &usual).is_ok());
    }
}
