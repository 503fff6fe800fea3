//! The streaming server of the test kit as a program, for tests that need a process.

use std::time::Duration;

fn main() -> std::io::Result<()> {
    let pause = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    switchboard_testkit::streamer::run(Duration::from_millis(pause), std::io::stdin().lock(), std::io::stdout().lock())
}
