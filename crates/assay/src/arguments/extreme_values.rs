//! Tries every option of every command with malformed and extreme values: each is accepted or
//! rejected, without a panic.

use clap::CommandFactory;

use super::Arguments;

/// Empty, infinite, out-of-range and misleading values.
const EXTREME_VALUES: &[&str] = &[
    "",
    " ",
    "-",
    "--",
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "18446744073709551616",
    "99999999999999999999999g",
    "0.0000000000000000001%",
    "1/0",
    "4k,,8k",
    "a=b=c",
    "é\u{202e}\u{1b}[2J",
    "/../\n",
    "[::1]:99999",
    "1-4294967296",
    "p99<=1e400s",
];

#[test]
fn options_never_panic_on_extreme_values() {
    let mut left = vec![Arguments::command()];
    let mut tried = 0;
    while let Some(mut command) = left.pop() {
        left.extend(command.get_subcommands().cloned());
        let options = command.get_arguments().filter_map(|it| it.get_long());
        let mut options: Vec<String> = options.map(|long| format!("--{long}=")).collect();
        // Also as a word of its own.
        options.push(String::new());
        for option in options {
            for value in EXTREME_VALUES {
                let words = [command.get_name().to_owned(), format!("{option}{value}")];
                let taken = command.try_get_matches_from_mut(words);
                drop(taken.map_err(|error| error.to_string()));
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}
