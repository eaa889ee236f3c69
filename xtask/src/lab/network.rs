//! Scenario `network`: a veth pair between two namespaces with a known delay and a known loss.

use std::time::Duration;

use anyhow::{Context, Result};

use super::{Figure, Scenario, section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "network",
    title: "Delay and loss of a link (netem)",
    about: "A veth pair between two network namespaces; `netem` delays every packet by 10 ms each way, or \
            loses 10 % of them one way. A round trip has both delays; what is lost is counted in 2000 \
            echoes.",
    script: SCRIPT,
    deadline: Duration::from_secs(300),
    judge,
};

const SCRIPT: &str = "\
set -e
for module in veth ipv6 af_packet sch_netem; do modprobe $module; done
ip netns add far
[ -d /sys/class/net/veth0 ] || ip link add veth0 type veth peer name veth1
ip link set veth1 netns far
ip addr add 10.0.0.1/24 dev veth0
ip link set veth0 up
ip netns exec far ip addr add 10.0.0.2/24 dev veth1
ip netns exec far ip link set veth1 up
ip netns exec far ip link set lo up
sleep 1
tc qdisc add dev veth0 root netem delay 10ms
ip netns exec far tc qdisc add dev veth1 root netem delay 10ms
echo '== delay'
/lab/assay ping 10.0.0.2 -c 200 -i 0 -q --no-store
ip netns exec far tc qdisc del dev veth1 root
tc qdisc change dev veth0 root netem delay 0ms loss 10%
echo '== loss'
/lab/assay ping 10.0.0.2 -c 2000 -i 0 -W 0.02 -q --no-store
";

fn judge(said: &str) -> Result<Vec<Figure>> {
    Ok(vec![delay(section(said, "delay")?)?, loss(section(said, "loss")?)?])
}

/// netem delays no packet less than it was told; what it adds beyond is the kernel's timer and the guest.
fn delay(text: &str) -> Result<Figure> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("rtt min/avg/max/mdev = "))
        .context("there are no round trips")?;
    let minimum_ms: f64 = line.split('/').next().unwrap_or_default().parse()?;
    Ok(Figure {
        what: "minimum round trip".to_owned(),
        truth: "20 ms, and at most 2 ms beyond".to_owned(),
        reported: format!("{minimum_ms} ms"),
        holds: Some((20.0..=22.0).contains(&minimum_ms)),
    })
}

/// 2000 of 10 %: 200 ± 4 × 13.4 (a binomial's standard deviation).
fn loss(text: &str) -> Result<Figure> {
    let (before, _) = text.split_once("% packet loss").context("there is no loss")?;
    let share: f64 = before.rsplit(' ').next().unwrap_or_default().parse()?;
    Ok(Figure {
        what: "loss of echoes".to_owned(),
        truth: "10 % of 2000, ± 2.7".to_owned(),
        reported: format!("{share:.2} %"),
        holds: Some((share - 10.0).abs() <= 2.7),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ping_prints_is_held_against_the_link() {
        let said = |minimum: &str, loss: &str| {
            format!(
                "x\n== delay\nrtt min/avg/max/mdev = {minimum}/20.5/21/0.1 ms\n== loss\n2000 packets transmitted, 1800 received, {loss}% packet loss, time 1ms\n"
            )
        };
        for (minimum, share, expected) in [
            ("20.1", "10.2", [true, true]),
            ("19.9", "7.2", [false, false]),
            ("22.1", "12.8", [false, false]),
        ] {
            let figures = judge(&said(minimum, share)).unwrap();
            let holds: Vec<_> = figures.iter().filter_map(|it| it.holds).collect();
            assert_eq!(holds, expected, "{minimum} {share}");
        }
        assert!(judge("x\n== delay\nnothing\n").is_err());
    }
}
