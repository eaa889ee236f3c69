//! Scenario `rdma-ways`: several queue pairs, both ways, datagrams, perftest as a measurer, and what goes wrong.

use std::time::Duration;

use anyhow::Result;

use super::rdma::{soft_roce, veth_pair};
use super::{Figure, Machine, Manner, Place, Scenario, section};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "rdma-ways",
    title: "RDMA over software RoCE: ways to measure, and what goes wrong",
    about: "What is asked for is measured, with right contents; what cannot be measured has its reason and its \
            remedy. Figures mean nothing here and are left out.",
    place: Place::Guest(Machine::PLAIN, SCRIPT),
    manner: Manner::Busy,
    deadline: Duration::from_secs(900),
    judge,
};

const SCRIPT: &str = concat!(
    veth_pair!(),
    soft_roce!(),
    "\
# What goes wrong has a reason and a remedy.
bad() {
  name=$1; shift
  echo \"== bad $name\"
  code=0
  timeout 120 \"$@\" 2>&1 || code=$?
  echo \"exit $code\"
}
alone='--loopback --no-store -d rxe0'
bad gid /lab/assay rdma send-lat $alone -x 200
bad mtu /lab/assay rdma send-lat $alone -m 4096
bad device /lab/assay rdma send-lat --loopback --no-store -d mlx5_7
bad datagram /lab/assay rdma send-lat $alone -c UD -s 4096
bad memlock /usr/bin/setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock sh -c \"ulimit -l 64; exec /lab/assay rdma send-bw $alone -s 1048576\"
# While reads go on, one of which is always under way, something happens. Reads get no answer then, and the queue pair gives up.
meanwhile() {
  name=$1 far_device=$2; shift 2
  echo \"== bad $name\"
  /lab/assay rdma read-lat -d $far_device > /tmp/far 2>&1 & far=$!
  listens
  timeout 120 /lab/assay rdma read-lat -d rxe0 -n 10000000 127.0.0.1 --no-store > /tmp/near 2>&1 & near=$!
  until grep -q '#bytes' /tmp/near || ! kill -0 $near; do sleep 1; done
  sleep 2
  \"$@\"
  code=0
  wait $near || code=$?
  cat /tmp/near
  echo \"exit $code\"
  wait $far || true
}
kill_far() { kill -9 $far; }
meanwhile peer rxe0 kill_far
# Each end of the cable has a device. Both are this kernel's: that one may hear the other has to be allowed.
for conf in all veth0 veth1; do
  echo 1 > /proc/sys/net/ipv4/conf/$conf/accept_local
  echo 0 > /proc/sys/net/ipv4/conf/$conf/rp_filter
done
ip addr add 10.0.0.2/24 dev veth1
rdma link add rxe1 type rxe netdev veth1
sleep 1
meanwhile link rxe1 ip link set veth1 down
rdma link del rxe1
ip addr del 10.0.0.2/24 dev veth1
ip link set veth1 up
sleep 1
bad absent /lab/assay rdma send-lat -d rxe0 127.0.0.1 --no-store
ip link set veth0 down
bad down /lab/assay rdma send-lat $alone
ip link set veth0 up
ip addr add 10.0.0.1/24 dev veth0 2> /dev/null || true
sleep 1
echo '== doctor'
/lab/assay doctor rdma --all
echo '== queue pairs'
/lab/assay rdma send-bw --loopback -q 4 -s 4096 -n 200 --store /tmp/store; echo \"exit $?\"
echo '== both ways'
/lab/assay rdma write-bw --loopback -b -s 4096 -n 200 --store /tmp/store &&
  /lab/assay rdma read-bw --loopback -b -s 4096 -n 200 --store /tmp/store &&
  /lab/assay rdma send-bw --loopback -b -q 2 -s 4096 -n 200 --store /tmp/store; echo \"exit $?\"
echo '== datagrams'
/lab/assay rdma send-bw --loopback -c UD -s 1024 -n 500 --store /tmp/store; echo \"exit $?\"
echo '== by perftest'
cat > /tmp/two.toml <<'SUITE'
name = \"two\"
title = \"two tests\"
budget = \"20s\"
[[measure]]
benchmark = \"rdma.send_lat\"
by = [\"assay\", \"ib_send_lat\"]
[[measure]]
benchmark = \"rdma.write_bw\"
by = [\"ib_write_bw\"]
SUITE
/lab/assay run /tmp/two.toml --quiet --format csv --store /tmp/store; echo \"exit $?\"
echo '== a run of its own'
/lab/assay rdma send-lat --loopback -a -n 5 --store /tmp/store
/lab/assay show latest --store /tmp/store
echo '== as perftest'
/lab/assay show latest --as perftest --store /tmp/store
echo '== as perftest-json'
/lab/assay show latest --as perftest-json --store /tmp/store
",
);

fn judge(said: &str) -> Result<Vec<Figure>> {
    SAID.iter().map(|(name, expected)| expects(said, name, expected)).collect()
}

/// Sections, and texts that have to stand in each.
const SAID: [(&str, &[&str]); 16] = [
    ("bad gid", &["has no GID 200", "chooses one", "exit 4"]),
    ("bad mtu", &["a path MTU of 4096 B is more than the 1024 B of the port", "exit 4"]),
    ("bad device", &["there is no RDMA device mlx5_7; there is rxe0", "exit 4"]),
    ("bad datagram", &["does not fit the path MTU", "exit 4"]),
    ("bad memlock", &["ibv_reg_mr failed", "ulimit -l", "exit 4"]),
    (
        "bad peer",
        &[
            "has gone",
            "a work request ended with status 12, transport retry counter exceeded",
            "why it ended",
            "exit 4",
        ],
    ),
    (
        "bad link",
        &[
            "a work request ended with status 12, transport retry counter exceeded",
            "a link on the way is down",
            "exit 4",
        ],
    ),
    ("bad absent", &["start the far end first", "exit 4"]),
    ("bad down", &["port 1 of rxe0 is not active", "exit 4"]),
    ("doctor", &["rdma.link", "rdma.gid", "rdma.mtu", "rdma.errors"]),
    ("queue pairs", &["Number of qps   : 4", "exit 0"]),
    (
        "both ways",
        &["Bidirectional RDMA_Write BW Test", "Bidirectional Send BW Test", "exit 0"],
    ),
    ("datagrams", &["datagrams lost", "exit 0"]),
    (
        "by perftest",
        &["rdma.send_lat,half_round_trip", ",ib_send_lat,6.06", ",ib_write_bw,6.06", "exit 0"],
    ),
    ("as perftest", &["t_typical[usec]", " 8388608"]),
    ("as perftest-json", &["\"percentile_99.9\"", "\"MsgSize\": 8388608"]),
];

/// What a section says has to hold these texts.
fn expects(said: &str, name: &str, expected: &[&str]) -> Result<Figure> {
    let text = section(said, name)?;
    let missing: Vec<&str> =
        expected.iter().filter(|it| !text.contains(**it)).copied().collect();
    // The reason, where the program says one.
    let line = text.lines().find(|line| line.contains("why: ") || line.contains("error"));
    let first = line.or_else(|| text.lines().find(|line| !line.trim().is_empty()));
    let reported = match &missing[..] {
        [] => "as expected".to_owned(),
        missing => {
            format!("no {}: {}", missing.join(", no "), first.unwrap_or("nothing").trim())
        }
    };
    Ok(Figure {
        what: name.to_owned(),
        truth: format!("says {}", expected.join(", ")),
        reported,
        holds: Some(missing.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_missing_is_wrong() {
        let all: Vec<String> = SAID
            .iter()
            .map(|(name, expected)| format!("\n== {name}\n{}\n", expected.join("\n")))
            .collect();
        let said = all.concat();
        assert!(judge(&said).unwrap().iter().all(|it| it.holds == Some(true)));
        let silent = said.replacen("has gone", "well", 1);
        let wrong: Vec<_> =
            judge(&silent).unwrap().into_iter().filter(|it| it.holds == Some(false)).collect();
        assert_eq!(wrong.len(), 1);
        assert_eq!(wrong[0].what, "bad peer");
    }
}
