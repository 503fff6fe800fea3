//! Runs the official conformance suite and demands what the issue of a release demands.
//!
//! Three targets: the fixture server alone, the kernel with the fixture server as its only
//! upstream, and our client. For each revision every scored check must pass, and the kernel must
//! score exactly what the server scores by itself. Era-bridging runs are reported beside them.

mod score;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use self::score::{Required, Score};
use crate::layout::Layout;
use crate::peers::{self, Peers};
use crate::process::{self, Background};
use crate::tally::{Tally, say, seconds};

/// What the operator of the kernel says of the fixture: the suite has no person who could be asked about tools whose names
/// say that they trigger something.
const OPERATOR_WORDS: &str = "[servers.tools.test_trigger_tool_change]\nrisk = \"moderate\"\n\
    [servers.tools.test_trigger_resource_update]\nrisk = \"moderate\"\n";
const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];
const START_LIMIT: Duration = Duration::from_secs(30);
const SHOWN: usize = 40;
/// The slowest known run takes 15 s on an idle machine.
const SUITE_LIMIT: Duration = Duration::from_secs(600);

/// One way to put the fixture server behind the kernel.
struct Behind {
    name: &'static str,
    upstream: Upstream,
    /// Whether the kernel's scored result must equal the server's own.
    demanded: bool,
}

enum Upstream {
    Http,
    /// The fixture as a child process that speaks the named eras.
    Stdio(&'static str),
}

/// Turn `demanded` on for a row as soon as it passes; from then on it must keep passing.
const BEHIND: &[Behind] = &[
    Behind { name: "kernel > http", upstream: Upstream::Http, demanded: true },
    Behind { name: "kernel > stdio, both eras", upstream: Upstream::Stdio("both"), demanded: true },
    Behind { name: "kernel > stdio, legacy only", upstream: Upstream::Stdio("legacy"), demanded: false },
    Behind { name: "kernel > stdio, modern only", upstream: Upstream::Stdio("modern"), demanded: true },
];

/// Runs every row whose name contains `only` (all without it).
pub(crate) fn run(layout: &Layout, only: Option<&str>) -> Result<Tally> {
    let peers = peers::install(layout)?;
    let suite = Suite { layout, peers: &peers };
    let wanted = |name: &str| only.is_none_or(|word| name.contains(word));
    let mut tally = Tally::default();
    let folder = layout.scratch("conformance")?;
    for revision in REVISIONS {
        let required = Required::read(&peers.node_modules(), revision)?;
        let kernel_rows: Vec<&Behind> = BEHIND.iter().filter(|row| wanted(row.name)).collect();
        let mut alone = None;
        if wanted("server") || !kernel_rows.is_empty() {
            let outcome = suite.server_alone(&folder, revision);
            alone = judge("server", revision, &required.server, outcome, &mut tally);
        }
        for row in kernel_rows {
            let outcome = suite.behind_kernel(&folder, revision, row);
            if row.demanded {
                let score = judge(row.name, revision, &required.server, outcome, &mut tally);
                compare(row.name, revision, &required.server, alone.as_ref(), score.as_ref(), &mut tally);
            } else {
                report(row.name, revision, &required.server, outcome);
            }
        }
        if wanted("client") {
            let outcome = suite.client(&folder, revision);
            judge("client", revision, &required.client, outcome, &mut tally);
        }
    }
    Ok(tally)
}

struct Suite<'a> {
    layout: &'a Layout,
    peers: &'a Peers,
}

impl Suite<'_> {
    fn server_alone(&self, folder: &Path, revision: &str) -> Result<Score> {
        let mut command = Command::new(self.layout.fixture_server()?);
        command.args(["--listen", "127.0.0.1:0"]);
        let mut server = Background::serve(&mut command, &folder.join(format!("server-{revision}.log")), START_LIMIT)?;
        self.server_mode(&mut server, &folder.join(format!("server-{revision}")), revision)
    }

    fn behind_kernel(&self, folder: &Path, revision: &str, row: &Behind) -> Result<Score> {
        let place = folder.join(format!("{}-{revision}", row.name.replace([' ', '>', ','], "_")));
        std::fs::create_dir_all(&place).with_context(|| format!("creating {}", place.display()))?;
        let fixture = self.layout.fixture_server()?;
        let mut upstream = None;
        let table = match row.upstream {
            Upstream::Http => {
                let mut command = Command::new(&fixture);
                command.args(["--listen", "127.0.0.1:0"]);
                let server = Background::serve(&mut command, &place.join("upstream.log"), START_LIMIT)?;
                let table = format!("transport = \"streamable-http\"\nurl = {:?}\n", server.url);
                upstream = Some(server);
                table
            }
            Upstream::Stdio(era) => {
                let program = fixture.display().to_string();
                format!("transport = \"stdio\"\ncommand = {program:?}\nargs = [\"--stdio\", \"--era\", {era:?}]\n")
            }
        };
        let config = place.join("mgp.toml");
        std::fs::write(&config, format!("data_dir = \"data\"\n[[servers]]\nid = \"fixture\"\n{table}{OPERATOR_WORDS}"))
            .with_context(|| format!("writing {}", config.display()))?;
        let mut command = Command::new(self.layout.kernel()?);
        command.arg("serve").arg("--config").arg(&config).args(["--listen", "127.0.0.1:0", "--no-auth"]);
        let mut kernel = Background::serve(&mut command, &place.join("kernel.log"), START_LIMIT)?;
        let score = self.server_mode(&mut kernel, &place.join("out"), revision);
        // The upstream outlives the kernel so that the kernel never sees it go.
        drop(kernel);
        drop(upstream);
        score
    }

    fn server_mode(&self, server: &mut Background, out: &Path, revision: &str) -> Result<Score> {
        let mut command = self.suite();
        command.arg("server").args(["--url", &server.url, "--requirements", revision]).arg("-o").arg(out);
        let started = Instant::now();
        let output = process::quiet(&mut command, SUITE_LIMIT)?;
        std::fs::write(beside(out), format!("{}\n{}", output.stdout, output.stderr))?;
        let mut score = Score::read(out, "server-")?;
        score.time = started.elapsed();
        if !server.alive() {
            score.note("the program under test ended during the run".to_owned());
        }
        Ok(score)
    }

    fn client(&self, folder: &Path, revision: &str) -> Result<Score> {
        let out = folder.join(format!("client-{revision}"));
        let program = self.layout.fixture_client()?.display().to_string();
        let mut command = self.suite();
        command.arg("client").args(["--command", &program, "--requirements", revision]).arg("-o").arg(&out);
        let started = Instant::now();
        let output = process::quiet(&mut command, SUITE_LIMIT)?;
        std::fs::write(beside(&out), format!("{}\n{}", output.stdout, output.stderr))?;
        let mut score = Score::read(&out, "")?;
        score.time = started.elapsed();
        if !output.success {
            // Exit codes of our client are judged by the suite only; they are in no result file.
            score.note(format!("the suite does not accept the run, see {}", beside(&out).display()));
        }
        Ok(score)
    }

    fn suite(&self) -> Command {
        let mut command = Command::new(self.peers.node());
        command.arg(self.peers.official("conformance"));
        command
    }
}

/// The file for what the suite printed, beside the folder of its results.
fn beside(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".txt");
    PathBuf::from(name)
}

/// Counts the scored checks of a demanded run.
fn judge(name: &str, revision: &str, scored: &[String], outcome: Result<Score>, tally: &mut Tally) -> Option<Score> {
    let score = match outcome {
        Ok(score) => score,
        Err(error) => {
            say(&format!("FAILED  {name} {revision}: {error:#}"));
            tally.fail(format!("{name} {revision}: {error:#}"));
            return None;
        }
    };
    let failures = score.failures(scored);
    let passed = score.passed(scored);
    let word = if failures.is_empty() { "ok" } else { "FAILED" };
    say(&format!(
        "{word:7} {name} {revision}: {} scored scenarios, {passed} checks passed, {} failed; unscored: {} ({})",
        scored.len(),
        failures.len(),
        score.unscored_line(scored),
        seconds(score.time),
    ));
    show(&failures);
    for _ in 0..passed {
        tally.pass();
    }
    for failure in failures {
        tally.fail(format!("{name} {revision}: {failure}"));
    }
    Some(score)
}

/// The kernel's scored result must equal the server's own, scenario by scenario.
fn compare(
    name: &str,
    revision: &str,
    scored: &[String],
    alone: Option<&Score>,
    behind: Option<&Score>,
    tally: &mut Tally,
) {
    let (Some(alone), Some(behind)) = (alone, behind) else { return };
    let differences = alone.differences(behind, scored);
    if differences.is_empty() {
        tally.pass();
    }
    for difference in differences {
        tally.fail(format!("{name} {revision}: not what the server scores by itself: {difference}"));
    }
}

/// Enough lines to see what is wrong; all of them are in the files of the run.
fn show(failures: &[String]) {
    for failure in failures.iter().take(SHOWN) {
        say(&format!("        {failure}"));
    }
    if failures.len() > SHOWN {
        say(&format!("        and {} more", failures.len() - SHOWN));
    }
}

/// Shows a run that is not demanded yet.
fn report(name: &str, revision: &str, scored: &[String], outcome: Result<Score>) {
    match outcome {
        Ok(score) => {
            let failures = score.failures(scored);
            let verdict = if failures.is_empty() { "passes, could be demanded" } else { "not demanded" };
            say(&format!(
                "info    {name} {revision}: {} checks passed, {} failed ({verdict})",
                score.passed(scored),
                failures.len()
            ));
            show(&failures);
        }
        Err(error) => say(&format!("info    {name} {revision}: {error:#} (not demanded)")),
    }
}
