//! Checks a request against the limits of the device, because the driver would reject it without a
//! reason.

use super::abi::DeviceLimits;
use super::endpoint_config::EndpointConfig;
use super::error::{DeviceResource, RdmaError};

/// Returns an error for the first limit that is exceeded.
pub(super) fn check(
    device: &str,
    limits: &DeviceLimits,
    wanted: &EndpointConfig<'_>,
) -> Result<(), RdmaError> {
    if !(1..=limits.ports).contains(&wanted.port) {
        let (asked, ports) = (wanted.port, limits.ports);
        return Err(RdmaError::NoSuchPort { device: device.to_owned(), asked, ports });
    }
    let pairs = u64::from(wanted.queue_pairs.max(1));
    let (sends, receives) = (u64::from(wanted.depth), u64::from(wanted.posted_receives));
    let reads = u64::from(wanted.tuning.reads.unwrap_or(0));
    for (what, asked, most) in [
        (DeviceResource::QueuePairs, pairs, limits.queue_pairs),
        (DeviceResource::Requests, sends, limits.requests),
        (DeviceResource::Receives, receives, limits.requests),
        // All queue pairs share one queue of each kind.
        (DeviceResource::Completions, sends * pairs, limits.completions),
        (DeviceResource::Arrivals, receives * pairs, limits.completions),
        (DeviceResource::Reads, reads, limits.reads_out),
    ] {
        // Without a known limit the driver decides.
        let Some(most) = u64::try_from(most).ok().filter(|most| *most > 0) else { continue };
        if asked > most {
            return Err(RdmaError::ExceedsDevice {
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
    use super::super::endpoint::Endpoint;
    use super::super::endpoint_config::{Connection, Tuning};
    use super::*;

    fn wanted() -> EndpointConfig<'static> {
        EndpointConfig {
            device: None,
            port: 1,
            gid_index: None,
            mtu: None,
            connection: Connection::Rc,
            queue_pairs: 1,
            max_message_bytes: 8,
            depth: 128,
            posted_receives: Endpoint::DEFAULT_RECEIVES,
            inline_bytes: 0,
            tuning: Tuning::default(),
        }
    }

    #[test]
    fn limit_error_names_the_limit_and_the_option() {
        let mut limits = DeviceLimits::new();
        (limits.ports, limits.reads_out) = (2, 16);
        (limits.queue_pairs, limits.requests, limits.completions) = (100, 1000, 20_000);
        let usual = wanted();
        let reads = |reads| Tuning { reads: Some(reads), ..Tuning::default() };
        for (wanted, expected) in [
            (EndpointConfig { port: 2, ..usual }, None),
            (EndpointConfig { port: 3, ..usual }, Some(("rxe0 has no port 3; it has 2", "-i"))),
            (EndpointConfig { port: 0, ..usual }, Some(("rxe0 has no port 0", "-i"))),
            (EndpointConfig { depth: 1000, queue_pairs: 20, ..usual }, None),
            (
                EndpointConfig { depth: 1001, ..usual },
                Some((
                    "1001 requests in flight on a queue pair exceed the limit of rxe0: 1000",
                    "-t",
                )),
            ),
            (EndpointConfig { queue_pairs: 101, ..usual }, Some(("101 queue pairs", "-q"))),
            (
                EndpointConfig { depth: 1000, queue_pairs: 21, ..usual },
                Some(("21000 requests in flight on all queue pairs", "-t or -q")),
            ),
            (
                EndpointConfig { posted_receives: 1001, ..usual },
                Some(("messages to receive", "-r")),
            ),
            (EndpointConfig { queue_pairs: 40, ..usual }, Some(("20480 messages", "-r or -q"))),
            (EndpointConfig { tuning: reads(16), ..usual }, None),
            (
                EndpointConfig { tuning: reads(17), ..usual },
                Some(("the limit of rxe0: 16", "-o")),
            ),
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
