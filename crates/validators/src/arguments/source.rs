//! Code in arguments.

use switchboard_protocol::mgp::security::CodeSafety;

use super::role::Role;
use super::walk::{Doubts, Reason, Refused, at, refused};
use super::{Checks, SCOPE, connect, markup, pairs, reach, remote};
use crate::code::{self, Bounds, Cell, Language, Level, MAX_BYTES, Reached, Rejection};
use crate::{Answer, Finding, Verdict, shell};

/// How code is judged for one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRules {
    /// How much it may do.
    pub level: Level,
    /// The language, where the tool runs only one.
    pub language: Option<Language>,
    /// The size, and what may be imported.
    pub bounds: Bounds,
    /// Text that may not occur.
    pub blocked_patterns: Vec<String>,
}

impl Default for CodeRules {
    fn default() -> Self {
        Self::new(None)
    }
}

impl CodeRules {
    /// The rules that a server declares, as far as they are stricter than the kernel's own: `unrestricted` is not for
    /// a server to say, and neither is a greater size.
    #[must_use]
    pub fn new(declared: Option<&CodeSafety>) -> Self {
        let level = declared.and_then(|declared| declared.level.as_deref()).map_or(Level::Standard, Level::from_name);
        let size = declared.and_then(|declared| declared.max_code_size_bytes);
        let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(MAX_BYTES);
        Self {
            level: level.max(Level::Standard),
            language: declared.and_then(|declared| declared.language.as_deref()).and_then(Language::from_name),
            bounds: Bounds {
                max_bytes: size.min(MAX_BYTES),
                blocked_imports: declared.map(|declared| declared.blocked_imports.clone()).unwrap_or_default(),
                allowed_imports: declared.and_then(|declared| declared.allowed_imports.clone()),
            },
            blocked_patterns: declared.map(|declared| declared.blocked_patterns.clone()).unwrap_or_default(),
        }
    }

    /// What these rules add to those of the language.
    fn findings(&self, language: Language, level: Level, source: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        let most = self.bounds.max_bytes;
        if source.len() > most {
            let message = format!("{} bytes of code, of which at most {most} are read", source.len());
            findings.push(Finding::new("code-size", message).suggest("split the program into smaller ones"));
        }
        for pattern in self.blocked_patterns.iter().filter(|pattern| !pattern.is_empty()) {
            if source.contains(pattern.as_str()) {
                findings.push(Finding::new("blocked-pattern", format!("Blocked pattern: '{pattern}'")));
            }
        }
        let limited = self.bounds.allowed_imports.as_ref().filter(|_| level >= Level::Strict);
        if self.bounds.blocked_imports.is_empty() && limited.is_none() {
            return findings;
        }
        for import in code::imports(language, source) {
            let listed = |list: &[String]| code::names(list, &import);
            if listed(&self.bounds.blocked_imports) || limited.is_some_and(|allowed| !listed(allowed)) {
                findings.push(Finding::new("blocked-import", format!("Blocked import: '{import}'")));
            }
        }
        findings
    }
}

/// `language` is what stands beside the code in the arguments.
pub(super) fn check(
    checks: &Checks,
    role: Role,
    text: &str,
    language: Option<&str>,
    doubts: Doubts<'_>,
) -> Result<(), Refused> {
    // What is called content may be data for the code: it is code for certain only where its language is named.
    let is_code = matches!(role, Role::Code | Role::Script) || (role == Role::Content && language.is_some());
    let judged = checks.code || (checks.readonly && !checks.sandbox);
    if is_code {
        let language = known_language(checks, language)?;
        allowed_language(checks, language)?;
        if checks.limits_hosts() {
            within_hosts(checks, text, language)?;
        }
        if judged { whole_program(checks, text, language, doubts) } else { Ok(()) }
    } else if checks.code && !matches!(role, Role::Command | Role::Commands) {
        hidden_program(checks, role, text, known_language(checks, language)?)
    } else {
        Ok(())
    }
}

/// Whether a program connects to nothing but what limits of hosts cover: it has to be understood, and what it gives to modules
/// that connect has to be written in it.
fn within_hosts(checks: &Checks, text: &str, language: Option<Language>) -> Result<(), Refused> {
    let (mut doubt, mut understood) = (None, false);
    rootless(text).try_for_each(|address| at(SCOPE, remote::check_operand(&checks.scopes, &address, None)))?;
    for language in candidates(language) {
        let cell = code::notebook(text).filter(|_| *language == Language::Python);
        let (findings, reached) = match cell {
            Some(cell) => reached_by_cell(&cell),
            None => code::reached(*language, text),
        };
        if findings.first().is_some_and(|finding| finding.rule == "code-syntax") {
            continue;
        }
        // What one language finds nothing in may mean something in another.
        reached.iter().try_for_each(|one| at(SCOPE, lies_inside(checks, one)))?;
        match findings.into_iter().next() {
            Some(finding) if !finding.asks() && finding.rule != "code-unknown" => {
                return Err(refused(SCOPE, unseen(&finding.message)));
            }
            Some(finding) => doubt = doubt.or(Some(finding)),
            None => understood = true,
        }
    }
    match doubt {
        _ if understood => Ok(()),
        Some(finding) => Err(refused(SCOPE, unseen(&finding.message))),
        // In no language that is read here: of a tool that runs code nothing is known then.
        None if checks.code || language.is_some() || checks.carried.iter().any(|(_, role)| *role == Role::Code) => {
            Err(refused(SCOPE, unseen("the code cannot be read")))
        }
        None => Ok(()),
    }
}

fn reached_by_cell(cell: &Cell) -> (Vec<Finding>, Vec<Reached>) {
    let (mut findings, mut reached) = code::reached(Language::Python, &cell.python);
    for (language, program) in &cell.programs {
        let (more, also) = code::reached(*language, program);
        findings.extend(more);
        reached.extend(also);
    }
    reached.extend(cell.commands.iter().map(|line| Reached::Command(line.clone())));
    reached.extend(cell.unknown.iter().map(|what| Reached::Unseen(format!("what `{what}` reaches"))));
    (findings, reached)
}

fn unseen(why: &str) -> Finding {
    let message = format!("under a limit of hosts it has to be seen where code connects to, and it is not: {why}");
    Finding::new("host-unseen", message).suggest(
        "write every address as a constant string inside of the allowed hosts, and use modules that are known; or an operator \
         permits it by a grant without a limit of hosts",
    )
}

/// Strings of a program that are addresses of hosts without a scheme: `"//x.example/a"`.
fn rootless(text: &str) -> impl Iterator<Item = String> {
    let pieces =
        text.split(['"', '\'', '`']).filter(|piece| piece.starts_with("//") && !piece.contains(char::is_whitespace));
    let is_host = |piece: &&str| {
        let host = piece[2..].split(['/', ':', '?', '#', '$']).next().unwrap_or_default();
        remote::is_host_form(host)
    };
    pieces.filter(is_host).map(str::to_owned)
}

/// Whether what a program reaches is covered.
fn lies_inside(checks: &Checks, reached: &Reached) -> Verdict {
    let scopes = &checks.scopes;
    match reached {
        Reached::Url(text) => remote::check_operand(scopes, text, None),
        Reached::Host(text, port) => match pairs::of(text) {
            found if found.is_empty() => {
                text.split(',').try_for_each(|host| remote::check_operand(scopes, host.trim(), *port))
            }
            found => {
                let mut hosts = found.iter().filter(|(name, _)| reach::glued::is_host_name(name));
                hosts.try_for_each(|(_, value)| {
                    reach::glued::hosts_of(value).try_for_each(|host| remote::check_operand(scopes, host, *port))
                })
            }
        },
        Reached::Markup(text) => {
            let fetched = markup::addresses(text).into_iter();
            fetched.chain(rootless(text)).try_for_each(|address| remote::check_operand(scopes, &address, None))
        }
        Reached::Command(line) => connect::check(scopes, line),
        Reached::Unseen(why) => Err(unseen(&format!("{why} is not written in it"))),
    }
}

fn known_language(checks: &Checks, beside: Option<&str>) -> Result<Option<Language>, Refused> {
    let Some(name) = beside else {
        let only =
            checks.scopes.iter().filter_map(|scope| scope.languages.as_deref()).find_map(|languages| match languages {
                [only] => Language::from_name(only),
                _ => None,
            });
        return Ok(checks.rules.language.or(only));
    };
    let unknown = |message: String| Err(refused("code_safety", Finding::new("code-language", message)));
    match (Language::from_name(name), checks.rules.language) {
        (None, _) if !checks.code => Ok(None),
        (None, _) => unknown(format!("code in `{}` cannot be judged", name.chars().take(32).collect::<String>())),
        (Some(said), Some(runs)) if said != runs => unknown(format!("the tool runs {runs:?}, not {said:?}")),
        (said, _) => Ok(said),
    }
}

fn allowed_language(checks: &Checks, language: Option<Language>) -> Result<(), Refused> {
    for languages in checks.scopes.iter().filter_map(|scope| scope.languages.as_ref()) {
        let allowed = language
            .is_some_and(|language| languages.iter().any(|allowed| Language::from_name(allowed) == Some(language)));
        if !allowed {
            let finding = Finding::new("language-outside", "the language of the code is not among the allowed ones")
                .suggest(format!("say which of these it is: {}", languages.join(", ")));
            return Err(refused(SCOPE, finding));
        }
    }
    Ok(())
}

/// A string that is a program. In an unknown language it has to be accepted in one, and refused in none that can read
/// it at all.
fn whole_program(checks: &Checks, text: &str, language: Option<Language>, doubts: Doubts<'_>) -> Result<(), Refused> {
    let languages = candidates(language);
    let mut accepted = false;
    // What looks like a cell of a notebook in one language may be a program in another.
    let (mut clean, mut is_cell) = (false, false);
    let mut doubt = None;
    let mut unreadable = None;
    for language in languages {
        let findings = match code::notebook(text).filter(|_| *language == Language::Python) {
            Some(cell) => {
                is_cell = true;
                cell_findings(checks, &cell, doubts)
            }
            None => findings(checks, *language, text),
        };
        if let Some(first) = findings.first().filter(|_| findings.iter().all(Finding::asks)) {
            accepted = true;
            doubt.get_or_insert_with(|| first.clone());
        } else if findings.is_empty() {
            (accepted, clean) = (true, true);
        } else if languages.len() == 1 || findings.iter().any(|finding| finding.rule != "code-syntax") {
            return Err(rejected(checks, *language, text, findings));
        } else if unreadable.is_none() {
            unreadable = Some((*language, findings));
        }
    }
    match (unreadable, doubt.filter(|_| !(is_cell && clean))) {
        (Some((language, findings)), _) if !accepted => Err(rejected(checks, language, text, findings)),
        // Where only little is let in, nobody is asked about the rest.
        (_, Some(doubt)) if level(checks) >= Level::Strict => {
            Err(refused("code_safety", Finding { answer: Answer::Block, ..doubt }))
        }
        (_, Some(doubt)) => doubts.weigh(Err(doubt)).map_err(|doubt| refused("code_safety", doubt)),
        _ => Ok(()),
    }
}

/// The same of a cell of a notebook: its commands are commands, and its other programs are held to the same.
fn cell_findings(checks: &Checks, cell: &Cell, doubts: Doubts<'_>) -> Vec<Finding> {
    let mut all = findings(checks, Language::Python, &cell.python);
    for (language, program) in &cell.programs {
        all.extend(findings(checks, *language, program));
    }
    for line in &cell.commands {
        if level(checks) >= Level::Strict {
            all.push(Finding::new("code-process", format!("`{}` is a command of the shell", shown(line))));
        } else {
            all.extend(script(line, doubts).err());
        }
    }
    let unknown = |what: &String| Finding::new("code-unknown", format!("what `{what}` does is not known")).ask();
    all.extend(cell.unknown.iter().map(unknown));
    // What is hostile comes before what is only not understood.
    all.sort_by_key(Finding::asks);
    all
}

/// A script is as harmless as its lines, where each is a command by itself.
fn script(text: &str, doubts: Doubts<'_>) -> Verdict {
    let verdict = shell::check_with(text, doubts.understood);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let goes_on = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        line.ends_with(['\\', '|', '&', '(', '{'])
            || line.contains("<<")
            || first.contains('=')
            || matches!(
                first,
                "cd" | "pushd" | "popd" | "export" | "alias" | "set" | "source" | "." | "exec" | "function" | "trap"
            )
    };
    let apart = || !lines().any(goes_on) && lines().all(|line| shell::check_with(line, doubts.understood).is_ok());
    if verdict.as_ref().is_err_and(Finding::asks) && apart() { Ok(()) } else { verdict }
}

fn shown(line: &str) -> String {
    line.chars().take(64).collect::<String>().replace('`', "'")
}

/// A string that is something else, unless it happens to be a program that breaks a rule.
fn hidden_program(checks: &Checks, role: Role, text: &str, language: Option<Language>) -> Result<(), Refused> {
    if !text.contains('(') && !text.contains("import") {
        return Ok(());
    }
    if role == Role::Prose && text.len() > MAX_BYTES {
        return Ok(());
    }
    let program = without_fence(text);
    for language in candidates(language).iter().filter(|language| **language != Language::Shell) {
        let findings = findings(checks, *language, program);
        // What only asks because honest programs do it too is no part of a text.
        let breaks =
            |finding: &Finding| finding.rule != "code-syntax" && (!finding.asks() || finding.rule != "code-unknown");
        if findings.iter().any(breaks) {
            return Err(rejected(checks, *language, text, findings));
        }
    }
    Ok(())
}

/// The code in a Markdown fence, as models write it.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.split_once('\n').map_or(inner, |(_, code)| code)
}

const fn candidates(language: Option<Language>) -> &'static [Language] {
    match language {
        Some(Language::Python) => &[Language::Python],
        Some(Language::JavaScript) => &[Language::JavaScript],
        Some(Language::TypeScript) => &[Language::TypeScript],
        Some(Language::Shell) => &[Language::Shell],
        // Every JavaScript program that can be written is one in TypeScript, nearly.
        None => &[Language::Python, Language::TypeScript],
    }
}

fn level(checks: &Checks) -> Level {
    if checks.readonly { Level::Readonly } else { checks.rules.level }
}

fn findings(checks: &Checks, language: Language, text: &str) -> Vec<Finding> {
    let level = level(checks);
    let mut findings = code::findings(language, level, text);
    findings.extend(checks.rules.findings(language, level, text));
    findings
}

fn rejected(checks: &Checks, language: Language, text: &str, mut findings: Vec<Finding>) -> Refused {
    let hints = checks.rules.bounds.hints(language, level(checks), text);
    if let Some(allowed) = hints["allowed_imports"].as_array() {
        // The rules of the language know nothing of what a tool allows besides.
        let names: Vec<&str> = allowed.iter().filter_map(serde_json::Value::as_str).collect();
        let advice = if names.is_empty() {
            "import nothing".to_owned()
        } else {
            format!("import only from {}", names.join(", "))
        };
        for finding in findings.iter_mut().filter(|finding| matches!(finding.rule, "code-import" | "blocked-import")) {
            finding.suggestion = Some(advice.clone());
        }
    }
    let rejection = Rejection::new(&findings, hints);
    let finding = findings.swap_remove(0);
    let rejection = Some(Box::new(rejection));
    Box::new(Reason { step: "code_safety", pointer: String::new(), finding, rejection, host: None })
}
