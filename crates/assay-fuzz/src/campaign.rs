//! Fuzzing campaign of one reader for a given time.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fastrand::Rng;
use fs_err as fs;

use crate::corpus;
use crate::mutation::{Dictionary, mutate};
use crate::readers::FuzzedReader;
use crate::watchdog::Watchdog;

/// Result of a campaign.
#[derive(Debug, Default)]
pub struct FuzzOutcome {
    pub executions: u64,
    /// Number of inputs in the corpus, seeds included.
    pub inputs: usize,
    /// Files of new findings, each with the message of its panic.
    pub findings: Vec<(PathBuf, String)>,
}

/// Maximum number of inputs in the corpus.
const MAX_INPUTS: usize = 20_000;
/// Maximum number of findings per reader; more are mostly duplicates.
const MAX_FINDINGS: usize = 5;

/// Runs `reader` on its seeds, then on mutated inputs until `duration` is over.
///
/// # Errors
/// If the goldens cannot be read or a finding cannot be written.
pub fn run(reader: &FuzzedReader, duration: Duration, seed: u64) -> Result<FuzzOutcome> {
    let deadline = Instant::now() + duration;
    let watchdog = Watchdog::start()?;
    let seeds = corpus::read_seeds(reader)?;
    let dictionary = Dictionary::from_seeds(&seeds);
    let mut random = Rng::with_seed(seed);
    let (mut inputs, mut seen_shapes) = (Vec::new(), BTreeSet::new());
    let mut outcome = FuzzOutcome::default();
    let folder = corpus::findings_folder(reader);
    fs::create_dir_all(&folder)?;
    let mut execute = |input: Vec<u8>, inputs: &mut Vec<Vec<u8>>| -> Result<bool> {
        watchdog.begin(&input, folder.join("without-end.bin"));
        let result = run_once(reader, &input);
        watchdog.end();
        outcome.executions += 1;
        match result {
            Ok(message) => {
                if seen_shapes.insert(hash_shape(&message)) && inputs.len() < MAX_INPUTS {
                    inputs.push(input);
                }
            }
            Err(message) => {
                let input = minimize_input(reader, input);
                let mut hasher = DefaultHasher::new();
                input.hash(&mut hasher);
                let path = folder.join(format!("{:016x}.bin", hasher.finish()));
                fs::write(&path, &input).context("cannot store a finding")?;
                outcome.findings.push((path, message));
            }
        }
        Ok(outcome.findings.len() < MAX_FINDINGS)
    };
    let mut continues = true;
    for input in &seeds {
        continues = continues && execute(input.clone(), &mut inputs)?;
    }
    inputs.extend(seeds);
    while continues && Instant::now() < deadline {
        // An execution may take only a microsecond, so the clock is read once per 64.
        for _ in 0..64 {
            let mut input = inputs[random.usize(..inputs.len())].clone();
            let other = inputs[random.usize(..inputs.len())].clone();
            mutate(&mut input, &other, &dictionary, &mut random);
            continues = continues && execute(input, &mut inputs)?;
        }
    }
    outcome.inputs = inputs.len();
    // Fails if the folder contains findings.
    drop(std::fs::remove_dir(&folder));
    Ok(outcome)
}

/// Runs the reader once and returns its result.
///
/// # Errors
/// Message of a panic.
pub fn run_once(reader: &FuzzedReader, input: &[u8]) -> Result<String, String> {
    panic::catch_unwind(AssertUnwindSafe(|| (reader.read)(input))).map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

/// Hashes a result without input-specific parts: numbers and quoted text.
fn hash_shape(result: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut is_quoted = false;
    for byte in result.bytes() {
        match byte {
            b'`' => is_quoted = !is_quoted,
            _ if is_quoted || byte.is_ascii_digit() => {}
            _ => byte.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// Removes the parts of an input without which it still causes a panic.
fn minimize_input(reader: &FuzzedReader, mut input: Vec<u8>) -> Vec<u8> {
    /// Enough for most inputs; a longer finding is still a finding.
    const MAX_TRIES: usize = 2000;
    let mut tries = 0;
    let mut piece = input.len().div_ceil(2);
    while piece > 0 {
        let mut position = 0;
        while position < input.len() && tries < MAX_TRIES {
            let mut candidate = input.clone();
            candidate.drain(position..(position + piece).min(input.len()));
            tries += 1;
            if run_once(reader, &candidate).is_err() {
                input = candidate;
            } else {
                position += piece;
            }
        }
        piece /= 2;
    }
    input
}
