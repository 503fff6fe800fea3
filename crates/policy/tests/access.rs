//! Who may use what: a table, laws, and a second evaluator that is slow and plain.

use std::hash::{BuildHasher, RandomState};

use jiff::{SignedDuration, Timestamp};
use switchboard_policy::access::{Access, AccessTable, ChainFault, Rule, Source};
use switchboard_protocol::mgp::DefaultPolicy::{self, OptIn, OptOut};

fn now() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().expect("a valid time")
}

fn rule(principal: &str, server: &str, tool: Option<&str>, allow: bool) -> Rule {
    Rule {
        principal: principal.to_owned(),
        server: server.to_owned(),
        tool: tool.map(str::to_owned),
        allow,
        expires_at: None,
    }
}

fn until(mut rule: Rule, nanoseconds: i64) -> Rule {
    rule.expires_at = Some(now() + SignedDuration::from_nanos(nanoseconds));
    rule
}

#[test]
fn the_nearer_grant_decides() {
    let server = |allow| rule("ada", "files", None, allow);
    let tool = |allow| rule("ada", "files", Some("read"), allow);
    let cases: Vec<(&str, Vec<Rule>, DefaultPolicy, bool, Source)> = vec![
        ("nothing, opt-in", vec![], OptIn, false, Source::DefaultPolicy),
        ("nothing, opt-out", vec![], OptOut, true, Source::DefaultPolicy),
        ("server grant", vec![server(true)], OptIn, true, Source::ServerGrant),
        ("server denial", vec![server(false)], OptOut, false, Source::ServerGrant),
        ("tool grant over server denial", vec![server(false), tool(true)], OptIn, true, Source::ToolGrant),
        ("tool denial over server grant", vec![server(true), tool(false)], OptOut, false, Source::ToolGrant),
        ("two of one level", vec![tool(true), tool(false), tool(true)], OptOut, false, Source::ToolGrant),
        ("expired at the instant", vec![until(tool(true), 0)], OptIn, false, Source::DefaultPolicy),
        ("in force until then", vec![until(tool(true), 1)], OptIn, true, Source::ToolGrant),
        ("an expired denial is gone", vec![until(tool(false), 0), tool(true)], OptIn, true, Source::ToolGrant),
        (
            "one denial expired, one not",
            vec![until(tool(false), -1), until(tool(false), 1), tool(true)],
            OptOut,
            false,
            Source::ToolGrant,
        ),
        (
            "an expired tool grant leaves the server's",
            vec![until(tool(false), 0), server(true)],
            OptIn,
            true,
            Source::ServerGrant,
        ),
        ("of another principal", vec![rule("bob", "files", None, true)], OptIn, false, Source::DefaultPolicy),
        ("of another server", vec![rule("ada", "mail", None, true)], OptIn, false, Source::DefaultPolicy),
        ("of another tool", vec![rule("ada", "files", Some("write"), true)], OptIn, false, Source::DefaultPolicy),
        ("another case is another name", vec![rule("Ada", "files", None, true)], OptIn, false, Source::DefaultPolicy),
    ];
    for (name, rules, default, allow, source) in cases {
        let answer = AccessTable::new(rules).decide("ada", "files", Some("read"), default, now());
        assert_eq!((answer.allow, answer.source), (allow, source), "{name}");
    }
    let table = AccessTable::new(vec![tool(true)]);
    assert!(!table.decide("ada", "files", None, OptIn, now()).allow, "a grant for a tool is none for the server");
    assert_eq!(Source::ToolGrant.as_str(), "tool_grant");
    assert_eq!(Source::ServerGrant.as_str(), "server_grant");
    assert_eq!(Source::DefaultPolicy.as_str(), "default_policy");
}

#[test]
fn delegation_gains_nothing() {
    let table = AccessTable::new(vec![
        rule("ada", "files", None, true),
        rule("bob", "files", None, true),
        rule("eve", "files", None, false),
        rule("dan", "files", None, true),
    ]);
    let ask = |chain: &[&str]| table.decide_chain(chain, "files", Some("read"), OptIn, now());
    for (chain, allow, rule) in [
        (&["ada"][..], true, Some(0)),
        (&["ada", "bob"], true, Some(0)),
        (&["ada", "bob", "dan"], true, Some(0)),
        (&["ada", "eve"], false, Some(2)),
        (&["eve", "ada"], false, Some(2)),
        (&["ada", "stranger"], false, None),
    ] {
        let answer = ask(chain).unwrap();
        assert_eq!((answer.allow, answer.rule), (allow, rule), "{chain:?}");
    }
    assert_eq!(ask(&[]), Err(ChainFault::Empty));
    assert_eq!(ask(&["ada", "bob", "dan", "eve"]), Err(ChainFault::TooDeep));
    assert_eq!(ask(&["ada", "ada"]), Err(ChainFault::Cycle));
    assert_eq!(ask(&["ada", "bob", "ada"]), Err(ChainFault::Cycle));
}

/// A second reading of MGP 5, written from its text: no index, no shortcut.
fn naive(
    rules: &[Rule],
    principal: &str,
    server: &str,
    tool: Option<&str>,
    default: DefaultPolicy,
    now: Timestamp,
) -> (bool, Source) {
    let mut tool_grants = Vec::new();
    let mut server_grants = Vec::new();
    for rule in rules {
        let expired = match rule.expires_at {
            Some(end) => end <= now,
            None => false,
        };
        if expired || rule.principal != principal || rule.server != server {
            continue;
        }
        match (&rule.tool, tool) {
            (Some(of_rule), Some(asked)) if of_rule == asked => tool_grants.push(rule.allow),
            (Some(_), _) => {}
            (None, _) => server_grants.push(rule.allow),
        }
    }
    // Priority: 1. tool_grant, 2. server_grant, 3. default_policy. At one level a denial wins.
    for (grants, source) in [(tool_grants, Source::ToolGrant), (server_grants, Source::ServerGrant)] {
        if !grants.is_empty() {
            return (!grants.contains(&false), source);
        }
    }
    (matches!(default, OptOut), Source::DefaultPolicy)
}

/// A small generator of numbers (splitmix64), so that a seed says everything about a run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).expect("small")]
    }

    fn tool(&mut self) -> Option<&'static str> {
        (self.below(3) > 0).then(|| self.one_of(&["read", "write", "list"]))
    }

    fn rule(&mut self) -> Rule {
        let rule =
            rule(self.one_of(&["ada", "bob", "eve"]), self.one_of(&["files", "mail"]), self.tool(), self.below(2) == 0);
        if self.below(2) == 0 { rule } else { until(rule, i64::try_from(self.below(5)).expect("small") - 2) }
    }

    fn rules(&mut self) -> Vec<Rule> {
        (0..self.below(12)).map(|_| self.rule()).collect()
    }
}

/// A new seed on every run; `ACCESS_SEED` repeats one.
#[expect(clippy::disallowed_methods, reason = "a run by hand is given what it works on")]
fn seed() -> u64 {
    let given = std::env::var("ACCESS_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| RandomState::new().hash_one("seed"))
}

#[test]
fn a_second_evaluator_agrees() {
    let seed = seed();
    let mut dice = Dice(seed);
    let mut cases = 0;
    let mut sources = [0_u32; 3];
    while cases < 100_000 {
        let rules = dice.rules();
        let table = AccessTable::new(rules.clone());
        for _ in 0..20 {
            let principal = dice.one_of(&["ada", "bob", "eve"]);
            let server = dice.one_of(&["files", "mail"]);
            let tool = dice.tool();
            let default = if dice.below(2) == 0 { OptIn } else { OptOut };
            let answer = table.decide(principal, server, tool, default, now());
            let expected = naive(&rules, principal, server, tool, default, now());
            let asked =
                format!("ACCESS_SEED={seed}, case {cases}: {principal} {server} {tool:?} {default} of {rules:#?}");
            assert_eq!((answer.allow, answer.source), expected, "{asked}");
            assert_named_rule_fits(&rules, answer, principal, server, tool, &asked);
            sources[answer.source as usize] += 1;
            cases += 1;
        }
    }
    assert!(sources.iter().all(|count| *count > 5_000), "ACCESS_SEED={seed}: a level was hardly asked: {sources:?}");
}

/// The rule that is named as the one that decided is about this question, in force, and says what was answered.
fn assert_named_rule_fits(
    rules: &[Rule],
    answer: Access,
    principal: &str,
    server: &str,
    tool: Option<&str>,
    asked: &str,
) {
    let Some(index) = answer.rule else {
        assert_eq!(answer.source, Source::DefaultPolicy, "{asked}");
        return;
    };
    let named = &rules[index];
    assert_eq!(
        (named.principal.as_str(), named.server.as_str(), named.allow),
        (principal, server, answer.allow),
        "{asked}"
    );
    assert!(named.expires_at.is_none_or(|end| now() < end), "{asked}");
    match answer.source {
        Source::ToolGrant => assert_eq!(named.tool.as_deref(), tool, "{asked}"),
        _ => assert_eq!(named.tool, None, "{asked}"),
    }
}

#[test]
fn without_rules_a_principal_has_the_default() {
    let seed = seed();
    let mut dice = Dice(seed);
    for _ in 0..2_000 {
        let (revoked, asked) = (dice.one_of(&["ada", "bob", "eve"]), dice.one_of(&["ada", "bob", "eve"]));
        let rules = dice.rules();
        let before = AccessTable::new(rules.clone());
        let after = AccessTable::new(rules.into_iter().filter(|rule| rule.principal != revoked).collect());
        let (server, tool) = (dice.one_of(&["files", "mail"]), dice.tool());
        for default in [OptIn, OptOut] {
            let answer = after.decide(asked, server, tool, default, now());
            if asked == revoked {
                let expected = Access { allow: default == OptOut, source: Source::DefaultPolicy, rule: None };
                assert_eq!(answer, expected, "ACCESS_SEED={seed}");
            } else {
                assert_eq!(
                    answer.allow,
                    before.decide(asked, server, tool, default, now()).allow,
                    "ACCESS_SEED={seed}"
                );
            }
        }
    }
}

#[test]
fn a_chain_is_the_intersection() {
    let seed = seed();
    let mut dice = Dice(seed);
    for _ in 0..5_000 {
        let table = AccessTable::new(dice.rules());
        let (server, tool) = (dice.one_of(&["files", "mail"]), dice.tool());
        let chain = ["ada", "bob", "eve"];
        let each = chain.iter().all(|principal| table.decide(principal, server, tool, OptOut, now()).allow);
        let together = table.decide_chain(&chain, server, tool, OptOut, now()).unwrap();
        assert_eq!(together.allow, each, "ACCESS_SEED={seed}");
    }
}
