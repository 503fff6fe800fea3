//! Public servers as they are today: what of their definitions would be held back, marked or asked about.
//!
//! Servers are installed and started once, their answers to `tools/list` kept under target/wild. Then the built kernel
//! is put in front of all of them together, each played back from its file, and says what it makes of them. This is no
//! part of the tests: packages come and go, and some take minutes to install.

mod matrix;
mod requests;
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::layout::Layout;
use crate::peers;
use crate::process;
use crate::tally::{brief, say};

pub(crate) use matrix::run as matrix;
pub(crate) use server::replay;

const TABLE: &str = include_str!("../wild/servers.txt");
/// A kernel that starts a hundred played back servers on two cores.
const KERNEL_LIMIT: Duration = Duration::from_secs(300);
/// The meaning of "asks" in a listed tool.
const SECURITY: &str = "/_meta/dev.cloto~1mgp/security";

/// What to run.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Only packages whose name contains this word.
    pub(crate) only: Option<String>,
    /// A folder of definitions that were kept before: nothing is installed or started.
    pub(crate) from: Option<PathBuf>,
    /// Search for the tools of everyday requests instead.
    pub(crate) requests: bool,
}

/// One line of the table.
struct Package<'a> {
    registry: &'a str,
    name: &'a str,
    program: &'a str,
    arguments: Vec<&'a str>,
    variables: Vec<(&'a str, &'a str)>,
}

impl<'a> Package<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (registry, name, program) = (words.next()?, words.next()?, words.next()?);
        let variable = |word: &&str| word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains('=');
        let (variables, arguments): (Vec<&str>, Vec<&str>) = words.partition(variable);
        let variables = variables.into_iter().filter_map(|word| word.split_once('=')).collect();
        Some(Self { registry, name, program, arguments, variables })
    }

    fn slug(&self) -> String {
        slug(self.name)
    }

    /// Installs the package and returns the command that starts it.
    fn install(&self, folder: &Path) -> Result<Command> {
        let program = match self.registry {
            "npm" => {
                peers::once(folder, &[self.name], |place| peers::install_scriptless(place, &[self.name]))?;
                folder.join("node_modules/.bin").join(self.program)
            }
            "pip" => {
                peers::once(folder, &[self.name], |place| peers::install_python(place, &[self.name]))?;
                folder.join("bin").join(self.program)
            }
            other => bail!("no such registry: {other}"),
        };
        if !program.exists() {
            bail!("{} has no program {}", self.name, self.program);
        }
        let mut command = Command::new(program);
        command.args(&self.arguments).envs(self.variables.iter().copied()).current_dir(folder);
        Ok(command)
    }
}

fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name = name.trim_start_matches('@').replace("==", "@");
    let name = name.split('@').next().unwrap_or_default();
    name.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}

/// Runs all of it and prints the table.
pub(crate) fn run(layout: &Layout, options: &Options) -> Result<()> {
    let definitions = match &options.from {
        Some(folder) => folder.clone(),
        None => collect(layout, options)?,
    };
    if options.requests {
        return requests::measure(layout, &definitions);
    }
    judge(layout, &definitions, options.only.as_deref())
}

/// Starts every server of the table and keeps what it lists. A server that does not start is named and left out.
fn collect(layout: &Layout, options: &Options) -> Result<PathBuf> {
    let place = layout.target.join("wild");
    let definitions = place.join("definitions");
    fs::create_dir_all(&definitions)?;
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    for package in lines.filter_map(Package::read) {
        if options.only.as_deref().is_some_and(|word| !package.name.contains(word)) {
            continue;
        }
        let kept = definitions.join(format!("{}.json", package.slug()));
        let listed = package
            .install(&place.join("installed").join(package.slug()))
            .and_then(|mut command| server::visit(&mut command, &[]))
            .and_then(|answer| {
                let (tools, instructions, info) = (answer.tools, answer.instructions, answer.info);
                let text = json!({"package": package.name, "tools": tools, "instructions": instructions, "info": info});
                Ok(fs::write(&kept, text.to_string())?)
            });
        match listed {
            Ok(()) => say(&format!("listed {}", package.name)),
            Err(error) => say(&format!("left out {}: {}", package.name, brief(&format!("{error:#}"), 160))),
        }
    }
    Ok(definitions)
}

/// What the kernel makes of one server.
#[derive(Debug, Default)]
struct Row {
    tools: usize,
    held: Vec<(String, String)>,
    marked: Vec<(String, String)>,
    risks: BTreeMap<String, usize>,
    asked: usize,
}

/// Puts the kernel in front of what was kept, and prints what it says.
fn judge(layout: &Layout, definitions: &Path, only: Option<&str>) -> Result<()> {
    let scratch = layout.scratch("wild")?;
    let replayer = std::env::current_exe().context("the path of this program")?;
    let mut config =
        "data_dir = \"data\"\n[limits]\nlist_wait_ms = 120000\n[tool_context]\nlevel = \"all\"\n".to_owned();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for entry in fs::read_dir(definitions).with_context(|| format!("reading {}", definitions.display()))? {
        let file = entry?.path();
        let Ok(kept) = serde_json::from_str::<Value>(&fs::read_to_string(&file)?) else { continue };
        let package = kept["package"].as_str().unwrap_or_default();
        if file.extension().is_none_or(|ending| ending != "json") || only.is_some_and(|word| !package.contains(word)) {
            continue;
        }
        let id = slug(package);
        let tools = kept["tools"].as_array().map_or(0, Vec::len);
        let (command, arguments) = (json!(replayer), json!(["replay", file]));
        config.push_str(&format!("[[servers]]\nid = \"{id}\"\ncommand = {command}\nargs = {arguments}\n"));
        config.push_str("start_timeout_ms = 120000\n");
        rows.insert(id, Row { tools, ..Row::default() });
    }
    fs::write(scratch.join("switchboard.toml"), config)?;
    let ask = |words: &[&str]| -> Result<Value> {
        let mut kernel = Command::new(layout.kernel()?);
        kernel.args(words).arg("--config").arg(scratch.join("switchboard.toml")).current_dir(&scratch);
        let output = process::quiet(&mut kernel, KERNEL_LIMIT)?;
        serde_json::from_str(&output.stdout).with_context(|| brief(&output.stderr, 400))
    };
    let servers = ask(&["servers", "--json"])?;
    for line in servers["servers"].as_array().or(servers.as_array()).into_iter().flatten() {
        let Some(row) = line["id"].as_str().and_then(|id| rows.get_mut(id)) else { continue };
        let pairs = |key: &str| -> Vec<(String, String)> {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let list = line[key].as_array().into_iter().flatten();
            list.map(|pair| (text(&pair["name"]), text(&pair["why"]))).collect()
        };
        (row.held, row.marked) = (pairs("held"), pairs("marked"));
    }
    for tool in ask(&["tools", "--json"])?["tools"].as_array().into_iter().flatten() {
        // A server that stands alone is shown without its id.
        let id = tool["name"].as_str().and_then(|name| name.split_once("__")).map_or("", |(id, _)| id);
        let row = if rows.len() == 1 { rows.values_mut().next() } else { rows.get_mut(id) };
        let Some(row) = row else { continue };
        let security = tool.pointer(SECURITY).cloned().unwrap_or_default();
        *row.risks.entry(security["risk_level"].as_str().unwrap_or("unknown").to_owned()).or_default() += 1;
        row.asked += usize::from(security["confirmation_required"] == true);
    }
    print(&rows);
    Ok(())
}

fn print(rows: &BTreeMap<String, Row>) {
    say("| server | tools | held | marked | safe / moderate / dangerous | asked |\n|---|---|---|---|---|---|");
    for (id, row) in rows {
        let risk = |word: &str| row.risks.get(word).copied().unwrap_or_default();
        let (held, marked) = (row.held.len(), row.marked.len());
        let risks = format!("{} / {} / {}", risk("safe"), risk("moderate"), risk("dangerous"));
        say(&format!("| {id} | {} | {held} | {marked} | {risks} | {} |", row.tools, row.asked));
    }
    for (what, pick) in
        [("held", (|row| &row.held) as fn(&Row) -> &Vec<(String, String)>), ("marked", |row| &row.marked)]
    {
        for (id, row) in rows {
            pick(row).iter().for_each(|(name, why)| say(&format!("{what} {id} {name}: {}", brief(why, 300))));
        }
    }
    let sum = |count: fn(&Row) -> usize| rows.values().map(count).sum::<usize>();
    let tools = sum(|row| row.tools);
    let of = |count: usize| format!("{count} ({:.1} %)", 100.0 * count as f64 / tools.max(1) as f64);
    say(&format!(
        "{} servers, {tools} tools: {} held in {} servers, {} marked, {} asked; instructions: {} held, {} marked",
        rows.len(),
        of(sum(|row| row.held.iter().filter(|(name, _)| is_tool(name)).count())),
        rows.values().filter(|row| !row.held.is_empty()).count(),
        of(sum(|row| row.marked.iter().filter(|(name, _)| is_tool(name)).count())),
        of(sum(|row| row.asked)),
        sum(|row| row.held.iter().filter(|(name, _)| !is_tool(name)).count()),
        sum(|row| row.marked.iter().filter(|(name, _)| !is_tool(name)).count()),
    ));
}

/// Whether a pin is that of a tool: those of everything else have a mark in their names.
fn is_tool(pin: &str) -> bool {
    !pin.starts_with('(') && !pin.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let packages: Vec<_> = TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(Package::read).collect();
        assert!(packages.len() >= 40, "{}", packages.len());
        assert!(packages.iter().all(|package| ["npm", "pip"].contains(&package.registry)));
        let mut slugs: Vec<_> = packages.iter().map(Package::slug).collect();
        slugs.sort_unstable();
        slugs.dedup();
        assert_eq!(slugs.len(), packages.len(), "each has a place of its own");
        let one = Package::read("npm @a/b@1.0.0 b-mcp --stdio KEY=x=y")
            .map(|package| (package.slug(), package.arguments, package.variables));
        assert_eq!(one, Some(("a-b".to_owned(), vec!["--stdio"], vec![("KEY", "x=y")])));
    }
}
