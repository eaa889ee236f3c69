//! Tests of the number parsers, and of the messages quoted from failed processes.

use super::*;

#[test]
fn parses_only_plain_numbers() {
    let good = [("12.5", 12.5), (" 8.6554e+01", 86.554), ("-1", -1.0), ("1E3", 1000.0)];
    for (text, expected) in good {
        assert_eq!(parse_number("x", text), Ok(expected), "{text}");
    }
    for text in ["", " ", "nan", "NaN", "inf", "-inf", "1,5", "1.2.3", "0x10", "1e999", "٣"] {
        assert!(parse_number("x", text).is_err(), "{text}");
    }
    for text in ["0", "-3", "0.0", "-0"] {
        assert!(parse_positive("x", text).is_err(), "{text}");
    }
    for text in ["", "+1", "1.0", "-1", "1e3", "99999999999999999999"] {
        assert!(parse_whole("x", text).is_err(), "{text}");
    }
    assert_eq!(parse_whole("x", " 42 "), Ok(42));
    let scaled = [("8.133e+00", 9, 8_133_000_000.0), ("31659.3", 6, 3.16593e10), ("5", 0, 5.0)];
    for (text, power, expected) in scaled {
        assert_eq!(parse_positive_scaled("x", text, power), Ok(expected), "{text}");
    }
    for text in ["1e308", "0e5", "e5", "1e99999999999"] {
        assert!(parse_positive_scaled("x", text, 9).is_err(), "{text}");
    }
}

#[test]
fn failed_process_is_quoted() {
    let check = |exit_code, stderr: &str, expected: &str| {
        let outputs = Outputs { exit_code, stderr: stderr.to_owned(), ..Outputs::default() };
        assert_eq!(outputs.check_exit().unwrap_err().to_string(), expected);
    };
    check(Some(3), "", "the tool exited with code 3");
    check(None, "a\nb\n\n", "the tool was killed by a signal: b");
    check(
        Some(1),
        "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n\
         >>> Need at least 4 processes for these tests <<<\n---\nmpirun detected …\n",
        "the tool exited with code 1: >>> Need at least 4 processes for these tests <<<",
    );
    check(
        Some(1),
        "ERROR: Illegal instruction\nThis happens if …\n",
        "the tool exited with code 1: ERROR: Illegal instruction",
    );
    assert_eq!(Outputs { exit_code: Some(0), ..Outputs::default() }.check_exit(), Ok(()));
}
