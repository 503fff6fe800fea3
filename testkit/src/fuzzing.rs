//! Mutational fuzzing on stable Rust: committed seeds of one parser, changed in ways that parsers fear, for a bounded time.
//!
//! It knows no coverage: `cargo fuzz` does, and reads the same corpora (`fuzz/corpus/TARGET`). This one needs no other
//! toolchain and runs with the tests, so that a parser that panics or takes forever on strange bytes is seen before it is shipped.
//! A run begins with the same numbers each time: what failed once fails again.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::effort::worked;

/// Seconds for each target; `cargo xtask test` sets ten.
pub const SECONDS: &str = "SWITCHBOARD_FUZZ_SECONDS";
/// Another beginning for the numbers, to try other inputs.
pub const SEED: &str = "SWITCHBOARD_FUZZ_SEED";

/// How long a target runs where nothing is said.
const USUAL_TIME: Duration = Duration::from_millis(250);
/// An input that is more work has found something that grows too fast.
const MAX_INPUT_TIME: Duration = Duration::from_secs(5);
/// Inputs are cut to this, but for those that repeat one piece.
const MAX_INPUT_BYTES: usize = 4 << 10;
/// Inputs that repeat one piece: depth and length are what they are for.
const MAX_REPEATED_BYTES: usize = 64 << 10;
/// Changes to one input.
const MAX_CHANGES: u64 = 6;

/// Runs `check` on the seeds of `target` and on changed ones, until its time is over.
///
/// # Panics
/// As `check` does, after the input was printed; where there are no seeds; where one input took too long.
pub fn fuzz(target: &str, check: impl Fn(&[u8])) {
    let seeds = seeds(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target));
    assert!(!seeds.is_empty(), "fuzz/corpus/{target} has no seeds");
    let mut random = Random::new(variable(SEED).unwrap_or(0x5eed_0001));
    let time = variable(SECONDS).map_or(USUAL_TIME, Duration::from_secs);
    let began = Instant::now();
    let mut slowest = (Duration::ZERO, Vec::new());
    let mut tried = |input: Vec<u8>| {
        let took = run(target, &check, &input);
        if took > slowest.0 {
            slowest = (took, input);
        }
    };
    seeds.iter().cloned().for_each(&mut tried);
    while began.elapsed() < time {
        tried(mutated(&seeds, &mut random));
    }
    report(target, &slowest.1, slowest.0);
}

#[expect(clippy::print_stderr, reason = "whoever looks for what grows too fast begins with the slowest input")]
fn report(target: &str, slowest: &[u8], took: Duration) {
    eprintln!(
        "{target}: the slowest input took {took:?} and has {} bytes: b\"{}\"",
        slowest.len(),
        slowest.escape_ascii()
    );
}

#[expect(clippy::print_stderr, reason = "whoever reads the failed test needs the input")]
fn run(target: &str, check: &impl Fn(&[u8]), input: &[u8]) -> Duration {
    let before = worked();
    let outcome = catch_unwind(AssertUnwindSafe(|| check(input)));
    let took = worked().saturating_sub(before);
    if outcome.is_err() || took > MAX_INPUT_TIME {
        let shown: String = input.escape_ascii().to_string();
        eprintln!("{target}: this input of {} bytes: b\"{shown}\"", input.len());
    }
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
    assert!(took <= MAX_INPUT_TIME, "{target}: one input took {took:?}");
    took
}

/// The committed inputs, in the order of their names.
fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files.iter().filter_map(|file| fs::read(file).ok()).collect()
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// One seed, or two halves, changed a few times.
fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.pick(seeds).clone();
    if random.below(4) == 0 {
        let other = random.pick(seeds);
        input.truncate(random.index(input.len() + 1));
        input.extend_from_slice(&other[random.index(other.len() + 1)..]);
    }
    for _ in 0..=random.below(MAX_CHANGES) {
        change(&mut input, seeds, random);
    }
    if random.below(64) == 0 && !input.is_empty() {
        return repeated(&input, random);
    }
    input.truncate(MAX_INPUT_BYTES);
    input
}

/// One piece, very often, with what stood around it.
fn repeated(input: &[u8], random: &mut Random) -> Vec<u8> {
    let from = random.index(input.len());
    let to = (from + 1 + random.index(16)).min(input.len());
    let piece = &input[from..to];
    let times = random.index(MAX_REPEATED_BYTES / piece.len().max(1)).max(1);
    [&input[..from], &piece.repeat(times), &input[to..]].concat()
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    /// What parsers take for a boundary, a number or an end.
    const WORDS: &[&[u8]] = &[
        b"\0",
        b"\n",
        b"\r\n",
        b"\r",
        b"\"",
        b"'",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
        b")",
        b"<",
        b">",
        b"`",
        b"$(",
        b"${",
        b"#",
        b"%",
        b"%00",
        b"%2e%2e%2f",
        b"../",
        b"//",
        b"--",
        b"/*",
        b"*/",
        b";",
        b":",
        b"=",
        b"&&",
        b"||",
        b"|",
        b"-1",
        b"0",
        b"18446744073709551615",
        b"18446744073709551616",
        b"9223372036854775808",
        b"1e999",
        b"-0",
        b"0x",
        b"null",
        b"true",
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
        b"\xe2\x80\xa8",
        b"\\u0000",
        b"\\ud800",
        b"0\r\n\r\n",
        b"ffffffffffffffff\r\n",
    ];
    let at = random.index(input.len() + 1);
    match random.below(9) {
        0 if !input.is_empty() => {
            let at = random.index(input.len());
            input[at] ^= 1 << random.below(8);
        }
        1 if !input.is_empty() => {
            let at = random.index(input.len());
            input[at] = random.byte();
        }
        2 => input.insert(at, random.byte()),
        3 | 4 => {
            let word = random.pick(WORDS);
            input.splice(at..at, word.iter().copied());
        }
        5 => {
            let (from, to) = random.range(input.len());
            input.drain(from..to);
        }
        6 => {
            let (from, to) = random.range(input.len().min(64));
            let piece = input[from..to].to_vec();
            input.splice(at..at, piece);
        }
        7 => {
            let other = random.pick(seeds);
            let (from, to) = random.range(other.len());
            input.splice(at..at, other[from..to.min(from + 64)].iter().copied());
        }
        _ => {
            let (from, to) = random.range(input.len());
            let word = random.pick(WORDS);
            input.splice(from..to.min(from + 8), word.iter().copied());
        }
    }
}

/// Numbers that are the same in each run (splitmix64).
struct Random(u64);

impl Random {
    const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length.max(1) as u64)).unwrap_or_default()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// A piece of something of this length.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let (one, other) = (self.index(length + 1), self.index(length + 1));
        (one.min(other), one.max(other))
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.index(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_bounded_and_the_same_in_each_run() {
        let seeds = vec![b"{\"jsonrpc\":\"2.0\"}".to_vec(), b"GET / HTTP/1.1\r\n\r\n".to_vec(), Vec::new()];
        let inputs = |seed| {
            let mut random = Random::new(seed);
            (0..2_000).map(|_| mutated(&seeds, &mut random)).collect::<Vec<_>>()
        };
        let first = inputs(1);
        assert_eq!(first, inputs(1));
        assert_ne!(first, inputs(2));
        assert!(first.iter().all(|input| input.len() <= MAX_REPEATED_BYTES + 2 * MAX_INPUT_BYTES));
        assert!(first.iter().any(|input| input.len() > MAX_INPUT_BYTES), "some repeat a piece");
    }

    #[test]
    fn a_panic_on_a_seed_is_not_swallowed() {
        let failed = catch_unwind(|| run("example", &|input: &[u8]| assert!(input.is_empty()), b"x"));
        assert!(failed.is_err());
    }
}
