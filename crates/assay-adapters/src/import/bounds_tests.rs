//! Tests of the bounds of imports: limits by name, and steps that grow with the input only.

use super::*;
use crate::limits::MAX_SERIES;

/// Reads a text, and checks that it is refused for the limit `what`.
fn check_refused(text: &str, what: &str) {
    match read(text).map(|file| (file.format.name, file.contents.measurements.len())) {
        Err(ImportError::Malformed {
            error: ToolError::LimitExceeded { what: named, .. },
            ..
        }) => {
            assert_eq!(named, what);
        }
        other => panic!("{what}: {other:?}"),
    }
}

fn fio_entry(name: &str) -> String {
    let side = r#"{"total_ios":100,"iops":100.0,"bw_bytes":409600,"runtime":1000,
        "io_bytes":409600,"clat_ns":{"N":100,"mean":5.0,"min":1,"max":9,
        "percentile":{"50.000000":5,"99.000000":9},"bins":{"5":100}}}"#;
    format!(
        r#"{{"jobname":"{name}","groupid":0,"error":0,"usr_cpu":1.0,"sys_cpu":1.0,
        "read":{side},"write":{{"total_ios":0}}}}"#
    )
}

fn fio_document(jobs: &[String]) -> String {
    format!("{{\"fio version\":\"fio-3.33\",\"jobs\":[{}]}}\n", jobs.join(","))
}

#[test]
fn refuses_more_rows_and_groups_than_fit_into_memory() {
    let osu: String = (1..=MAX_SERIES + 1).map(|size| format!("{size} 1.00\n")).collect();
    check_refused(
        &format!("# OSU MPI Latency Test v7.5\n# Size          Latency (us)\n{osu}"),
        "rows of a table",
    );
    let jobs: Vec<String> =
        (0..=MAX_MEASUREMENTS).map(|at| fio_entry(&at.to_string())).collect();
    check_refused(&fio_document(&jobs), "groups of jobs");
    let reframe = "a|1|s\n".repeat(2 * FREE_SAMPLES);
    check_refused(&format!("name|t_value|t_unit\n{reframe}"), "samples");
    let lines = "x\n".repeat(MAX_LINES);
    check_refused(&format!("# OSU MPI Latency Test v7.5\n{lines}"), "lines");
    let line = "x".repeat(MAX_LINE_BYTES + 1);
    check_refused(&format!("# OSU MPI Latency Test v7.5\n{line}\n"), "bytes in a line");
    let heading = "x\n".repeat(1 << 19);
    let tests = "Send Latency Test\n".repeat(10);
    let head = "#bytes #iterations\n";
    check_refused(&format!("{heading}{head}{tests}"), "bytes of its heading for all tests");
}

#[test]
fn refuses_json_with_more_values_than_are_read() {
    let values = "{\"read\":1},".repeat(10_000);
    let job = fio_entry("a").replace("{\"5\":100}", &format!("[{values}0]"));
    check_refused(&fio_document(&[job]), "values of JSON that are read");
    let list = "1,".repeat(10_000);
    check_refused(
        &format!("{{\"test_start\":0,\"start\":{{\"num_streams\":[{list}1]}}}}"),
        "values of JSON that are read",
    );
    // Skipped members are not limited.
    let skipped = format!("{{\"fio version\":\"fio-3\",\"disk_util\":[{list}1],\"jobs\":[");
    let text = fio_document(&[fio_entry("a")])
        .replace("{\"fio version\":\"fio-3.33\",\"jobs\":[", &skipped);
    assert_eq!(read(&text).unwrap().contents.measurements.len(), 1);
}

#[test]
fn refuses_xml_with_more_tags_and_attributes_than_are_read() {
    let open = "<PhoronixTestSuite>";
    check_refused(&format!("{open}{}", "<a/>".repeat(250_000)), "tags");
    let attributes: String = (0..40_000).map(|at| format!(" a{at}='>'")).collect();
    check_refused(&format!("{open}<a{attributes}/>"), "attributes in one element");
    check_refused(&format!("{open}{}", "<a b='' c=''/>".repeat(125_001)), "attributes");
    check_refused(&format!("{open}{}", "<a xmlns='x'>".repeat(101)), "namespaces");
}

#[test]
fn refuses_long_names_and_many_machines() {
    let result = |title: &str, entries: &str| {
        format!(
            "<PhoronixTestSuite><Result><Title>{title}</Title><Scale>MB/s</Scale><Data>{entries}\
             </Data></Result></PhoronixTestSuite>"
        )
    };
    let entry = |system: &str| {
        format!("<Entry><Identifier>{system}</Identifier><Value>1</Value></Entry>")
    };
    check_refused(&result(&"x".repeat(1025), &entry("a")), "bytes in the name of a test");
    check_refused(&result("x", &entry(&"a".repeat(1025))), "bytes in a name");
    let systems: String = (0..101).map(|at| entry(&at.to_string())).collect();
    check_refused(&result("x", &systems), "machines");
}

/// Results within each limit may still exceed the memory together.
#[test]
fn refuses_results_that_take_too_much_memory_together() {
    let jobs: Vec<String> = (0..1200).map(|at| fio_entry(&format!("{at:0>900}"))).collect();
    assert!(read(&fio_document(&jobs[..400])).is_ok());
    check_refused(&fio_document(&jobs), "bytes of memory that its results take");
}

/// −1 marks a failed measurement of Phoronix; it is not a rate.
#[test]
fn refuses_negative_figures_with_units() {
    for (scale, value) in [("MB/s", "-1"), ("Seconds", "1:-1"), ("FPS", "1:")] {
        let text = format!(
            "<PhoronixTestSuite><Result><Title>t</Title><Scale>{scale}</Scale><Data><Entry>\
             <Value>1</Value><RawString>{value}</RawString></Entry></Data></Result>\
             </PhoronixTestSuite>"
        );
        match read(&text) {
            Ok(_) => assert_eq!(scale, "FPS"),
            Err(error) => assert!(error.to_string().contains("found \"-1\""), "{error}"),
        }
    }
    let reframe = read("name|rate_value|rate_unit\na|-1|MB/s\n").unwrap_err();
    assert!(reframe.to_string().contains("found \"-1\""), "{reframe}");
}

#[test]
fn reads_every_document_of_fio_and_refuses_damaged_ones() {
    let document = fio_document(&[fio_entry("a")]);
    let count = |text: &str| {
        let file = read(text).map_err(|it| it.to_string())?;
        match file.contents.failed.first() {
            None => Ok(file.contents.measurements.len()),
            Some(part) => Err(part.error.to_string()),
        }
    };
    assert_eq!(count(&format!("note\n{document}{document}")), Ok(2));
    assert_eq!(count(&format!("{document}fio: finished\n")), Ok(1));
    for (from, to) in
        [("\"jobs\":[", "\"jobs\":"), ("{\"fio", "\"fio"), ("\"iops\":100.0", "\"iops\":-1")]
    {
        let damaged = format!("{document}{}", document.replace(from, to));
        assert!(count(&damaged).is_err(), "{from} {to}");
    }
    let cut = format!("{document}{}", &document[..document.len() / 2]);
    assert!(count(&cut).unwrap_err().contains("truncated"));
}
