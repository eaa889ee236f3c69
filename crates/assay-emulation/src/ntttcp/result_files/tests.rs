//! Tests of the files against members of ntttcp.

use serde_json::Value;

use super::super::output::tests::{outcome, sender_style};
use super::*;

fn machine() -> NtttcpMachine {
    NtttcpMachine { name: "a<\"b".to_owned(), system: "Linux \"h\" 6.1\n".to_owned() }
}

fn verbose() -> NtttcpStyle {
    NtttcpStyle { is_verbose: true, shows_retransmits: true, ..sender_style() }
}

#[test]
fn xml_has_units_and_escapes() {
    let text = verbose().format_xml(&machine(), &outcome());
    for expected in [
        "<ntttcps computername=\"a&lt;&quot;b\" version=\"5.33-linux\">\n\t<parameters>\n\
         \t\t<send_socket_buff>131072</send_socket_buff>\n",
        "\t\t<sync_port>5000</sync_port>\n\t\t<no_sync>False</no_sync>\n",
        "\t<thread index=\"3\">\n\t\t<realtime metric=\"s\">1.996</realtime>\n",
        "\t<conns_tested>4</conns_tested>\n\t<total_bytes metric=\"MB\">8349.417472</total_bytes>\n\
         \t<realtime metric=\"s\">1.996205</realtime>\n",
        "\t<throughput metric=\"mbps\">33461.162",
        "\t<tcp_retransmits metric=\"lost_retrans_per_sec\">0.50</tcp_retransmits>\n",
        "\t<tcp_average_rtt metric=\"us\">74</tcp_average_rtt>\n\
         \t<os>Linux &quot;h&quot; 6.1</os>\n</ntttcps>\n",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn json_is_valid_and_has_the_members_of_ntttcp() {
    let text = verbose().format_json(&machine(), &outcome());
    let parsed: Value = serde_json::from_str(&text).unwrap_or_else(|it| panic!("{it}: {text}"));
    let root = &parsed["ntttcps"];
    assert_eq!(root["computername"], "a<\"b");
    assert_eq!(root["parameters"]["syncPort"], "5000");
    assert_eq!(root["threads"][3]["index"], "3");
    assert_eq!(root["threads"][2]["throughputs"][1]["value"], "1176.942 bps");
    assert_eq!(root["totalBytes"]["value"], "8349.417472");
    assert_eq!(root["throughputs"][1]["metric"], "mbps");
    assert_eq!(root["tcp_retransmits"][1]["value"], "12.52");
    assert_eq!(root["tcpAverageRtt metric"], "74 us");
    assert_eq!(root["cycles"]["value"], "1.241");
}
