//! How far servers have come that are being started, line by line. Who waits for less than a moment is told nothing.

use std::collections::HashSet;
use std::time::Duration;

use super::ServerReport;
use crate::screen;
use crate::waiting::MOMENT;

/// How often those are named again that are still waited for.
const AGAIN: Duration = Duration::from_secs(10);
/// Servers that are named in one line at most.
const MAX_NAMED: usize = 6;
/// Characters of a reason at most.
const BRIEF: usize = 160;

/// What was said so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Servers of which the end of the start was said, or had come before anything was.
    told: HashSet<String>,
    /// When it was last said who is waited for.
    named: Option<Duration>,
}

impl Progress {
    /// What there is to say so long after the beginning.
    pub(crate) fn lines(&mut self, elapsed: Duration, seen: &[ServerReport]) -> Vec<String> {
        let waiting: Vec<&ServerReport> = seen.iter().filter(|server| server.is_starting()).collect();
        let ended = seen.iter().filter(|server| !server.is_starting());
        if elapsed < MOMENT || self.named.is_none() && waiting.is_empty() {
            return Vec::new();
        }
        let was_silent = self.named.is_none();
        let mut lines = Vec::new();
        for server in ended {
            // Those that were there before the first word are counted in it.
            if self.told.insert(server.id.clone()) && !was_silent {
                lines.push(said_of(server));
            }
        }
        let is_time = self.named.is_none_or(|named| elapsed.saturating_sub(named) >= AGAIN);
        if is_time && !waiting.is_empty() {
            self.named = Some(elapsed);
            let all = seen.len();
            lines.push(format!(
                "{} of {all} servers have started; waiting for {}",
                all - waiting.len(),
                named(&waiting)
            ));
        }
        lines
    }
}

fn said_of(server: &ServerReport) -> String {
    let id = screen::plain_line(&server.id);
    match (&*server.phase, &server.why) {
        ("ready", _) if server.counts[0] == 1 => format!("{id} is ready: 1 tool"),
        ("ready", _) => format!("{id} is ready: {} tools", server.counts[0]),
        ("failed", Some(why)) => format!("{id} has failed: {}", screen::brief(why, BRIEF)),
        ("failed", None) => format!("{id} has failed"),
        (phase, Some(why)) => format!("{id} is {phase}: {}", screen::brief(why, BRIEF)),
        (phase, None) => format!("{id} is {phase}"),
    }
}

fn named(servers: &[&ServerReport]) -> String {
    let names: Vec<String> = servers.iter().take(MAX_NAMED).map(|server| screen::plain_line(&server.id)).collect();
    match servers.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(id: &str, phase: &str) -> ServerReport {
        ServerReport {
            id: id.to_owned(),
            phase: phase.to_owned(),
            why: (phase == "failed").then(|| "no such program".to_owned()),
            revision: None,
            counts: [3, 0, 0, 0],
            problems: Vec::new(),
            hidden: Vec::new(),
            mended: Vec::new(),
            held: Vec::new(),
            marked: Vec::new(),
            trust_level: "standard".to_owned(),
            permissions_missing: Vec::new(),
            tools_lacking: Vec::new(),
        }
    }

    #[test]
    fn a_short_start_is_silent_and_a_long_one_is_told_line_by_line() {
        let mut progress = Progress::default();
        let at = Duration::from_millis;
        let first = [server("a", "ready"), server("b", "starting"), server("c", "starting")];
        assert!(progress.lines(at(900), &first).is_empty());
        assert_eq!(progress.lines(at(1_000), &first), ["1 of 3 servers have started; waiting for b, c"]);
        assert!(progress.lines(at(1_050), &first).is_empty());
        let second = [server("a", "ready"), server("b", "ready"), server("c", "starting")];
        assert_eq!(progress.lines(at(1_100), &second), ["b is ready: 3 tools"]);
        assert_eq!(progress.lines(at(11_000), &second), ["2 of 3 servers have started; waiting for c"]);
        let third = [server("a", "ready"), server("b", "ready"), server("c", "failed")];
        assert_eq!(progress.lines(at(12_000), &third), ["c has failed: no such program"]);
        let mut quick = Progress::default();
        assert!(quick.lines(at(5_000), &third).is_empty(), "nobody was waited for");
    }

    #[test]
    fn many_servers_are_named_in_one_short_line() {
        let many: Vec<ServerReport> = (0..20).map(|number| server(&format!("s{number}"), "starting")).collect();
        let lines = Progress::default().lines(MOMENT, &many);
        assert_eq!(lines, ["0 of 20 servers have started; waiting for s0, s1, s2, s3, s4, s5 and 14 more"]);
    }
}
