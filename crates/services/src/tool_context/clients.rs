//! What is known of client programs: how many tools each bears, whether it looks for tools itself, and how long names may be.
//!
//! This is the only table of them that the kernel has; docs/names.md and docs/catalog.md show it, and tests compare.
//!
//! It decides by the name that a client gives itself (`clientInfo.name`): that is a hint and no proof, so it decides what
//! is listed and never what may be used. The operator's word comes before what is known here.

use std::collections::HashMap;

use switchboard_catalog::{Budget, Level, Shown};
use switchboard_wire::Raw;

/// The name by which our own commands come as clients.
pub const COMMAND_LINE: &str = "switchboard-cli";
/// Characters of a client's name that are read.
const MAX_NAME_CHARS: usize = 128;

/// What the operator says of a client program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientTools {
    /// How much is listed.
    pub shown: Option<Shown>,
    /// The tokens that tools may take altogether.
    pub max_tokens: Option<usize>,
    /// Tools that are listed at most where not all have to be.
    pub max_tools: Option<usize>,
    /// Characters of the name of a tool.
    pub max_name_length: Option<usize>,
}

/// A client program that is known.
struct Known {
    /// The word that operators use, as in `switchboard connect`.
    id: &'static str,
    /// How the name begins that it gives itself.
    names: &'static [&'static str],
    /// How much is best listed to it; as for everybody where that is not known.
    shown: Option<Shown>,
    /// Tools beyond which it drops some, refuses requests or looks for tools itself; with room for its own.
    max_tools: Option<usize>,
    /// The tokens that definitions may take, where its models bear more than is usual.
    max_tokens: Option<usize>,
    /// What it, or the model service behind it, takes of a name; where that is known.
    name: Option<NameLimit>,
}

/// What a client makes of names.
struct NameLimit {
    /// What it puts in front of the name of a tool of an entry called `switchboard`.
    prefix: &'static str,
    /// Characters of the whole that are taken.
    longest: usize,
}

impl NameLimit {
    /// What is left for the name of a tool.
    const fn left(&self) -> usize {
        self.longest - self.prefix.len()
    }
}

/// What the model services of OpenAI, and those that do as they do, take of a name.
const SERVICE_LIMIT: usize = 64;

const fn name(prefix: &'static str, longest: usize) -> Option<NameLimit> {
    Some(NameLimit { prefix, longest })
}

/// The clients that are known. docs/catalog.md and docs/names.md have the reasons; a test compares them.
#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { id: "claude-desktop", names: &["claude-ai"], shown: None, max_tools: Some(100), max_tokens: None, name: name("", SERVICE_LIMIT) },
    Known { id: "claude-code", names: &["claude-code"], shown: Some(Shown::At(Level::All)), max_tools: None, max_tokens: None, name: name("mcp__switchboard__", SERVICE_LIMIT) },
    Known { id: "cursor", names: &["cursor"], shown: None, max_tools: Some(40), max_tokens: None, name: name("switchboard:", 60) },
    Known { id: "vscode", names: &["visual-studio-code"], shown: None, max_tools: Some(90), max_tokens: None, name: name("mcp_switchboard_", SERVICE_LIMIT) },
    Known { id: "codex", names: &["codex"], shown: None, max_tools: Some(100), max_tokens: None, name: name("mcp__switchboard__", SERVICE_LIMIT) },
    Known { id: "gemini", names: &["gemini-cli"], shown: None, max_tools: Some(400), max_tokens: Some(100_000), name: name("mcp_switchboard_", 63) },
    Known { id: "windsurf", names: &["windsurf"], shown: None, max_tools: Some(90), max_tokens: None, name: None },
    Known { id: "zed", names: &["zed"], shown: None, max_tools: Some(100), max_tokens: None, name: name("switchboard_", SERVICE_LIMIT) },
    Known { id: "opencode", names: &["opencode"], shown: None, max_tools: Some(100), max_tokens: None, name: name("switchboard_", SERVICE_LIMIT) },
];

/// What the operator says of client programs, by their names.
#[derive(Debug, Clone, Default)]
pub struct Clients(HashMap<String, ClientTools>);

impl Clients {
    /// What is said of each, under the word that `switchboard connect` uses or the name that the client gives itself.
    pub fn new<'a>(said: impl IntoIterator<Item = (&'a str, ClientTools)>) -> Self {
        Self(said.into_iter().map(|(name, tools)| (plain(name), tools)).collect())
    }

    /// What holds for a client that gives this `clientInfo`, where `general` is said for everybody, and whether the operator said how
    /// long names are.
    pub(super) fn of(&self, info: Option<&Raw>, general: Option<Level>, is_name_length_said: bool) -> Bearing {
        let name = info.and_then(|info| info.member("name")?.as_text()).map(|name| plain(&name)).unwrap_or_default();
        self.named(&name, general, is_name_length_said)
    }

    /// The same for a client that is known, by the word that operators use.
    pub(super) fn of_known(&self, id: &str, general: Option<Level>, is_name_length_said: bool) -> Bearing {
        let known = KNOWN.iter().find(|known| known.id == id);
        let name = known.and_then(|known| known.names.first()).copied().unwrap_or_default();
        self.named(name, general, is_name_length_said)
    }

    /// The words that operators use for the clients that are known.
    pub(super) fn known() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|known| known.id)
    }

    fn named(&self, name: &str, general: Option<Level>, is_name_length_said: bool) -> Bearing {
        if name == COMMAND_LINE {
            let shown = Shown::At(Level::All);
            return Bearing {
                shown,
                max_tools: usize::MAX,
                max_tokens: None,
                max_name_length: None,
                is_command_line: true,
            };
        }
        let known = KNOWN.iter().find(|known| known.names.iter().any(|begin| begins(name, begin)));
        let own = self.0.iter().filter(|(said, _)| begins(name, said)).max_by_key(|(said, _)| said.len());
        let said = own.map(|(_, said)| said).or_else(|| self.0.get(known?.id)).copied().unwrap_or_default();
        let shown = said.shown.or_else(|| general.map(Shown::At)).or_else(|| known?.shown).unwrap_or(Shown::Auto);
        let max_tools = said.max_tools.or_else(|| known?.max_tools).unwrap_or(usize::MAX);
        let max_tokens = said.max_tokens.or_else(|| known?.max_tokens);
        let known_length = || Some(known.filter(|_| !is_name_length_said)?.name.as_ref()?.left());
        let max_name_length = said.max_name_length.or_else(known_length);
        Bearing { shown, max_tools, max_tokens, max_name_length, is_command_line: false }
    }

    /// The largest budget of any client.
    pub(crate) fn largest(&self, general: usize) -> usize {
        let known = KNOWN.iter().filter_map(|known| known.max_tokens);
        self.0.values().filter_map(|said| said.max_tokens).chain(known).fold(general, usize::max)
    }
}

/// What one client bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bearing {
    pub(crate) shown: Shown,
    pub(crate) max_tools: usize,
    pub(crate) max_tokens: Option<usize>,
    /// Characters of the name of a tool, where they are not those of everybody.
    pub(crate) max_name_length: Option<usize>,
    /// Whether it is one of our own commands: a person looks on, and no model.
    pub(crate) is_command_line: bool,
}

/// A number of tools, and what their definitions cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) tools: usize,
    pub(crate) tokens: usize,
}

/// What of the tools that a client may see stands in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) level: Level,
    pub(crate) built_in: BuiltIn,
}

/// What becomes of the kernel's own servers in a list that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    /// All their tools are listed.
    Whole,
    /// Only pinned and loaded ones while there is so much room, and the tools for finding the others.
    Within(Amount),
    /// Nothing of them, and nothing for finding: the user's own tools take all the room there is.
    Nothing,
}

impl Bearing {
    /// How much of some tools this client is listed, of which `own` are those of the user's own servers. A server that stands
    /// alone is shown whole, as it would be without a kernel in between, while the client takes so many tools. The user's own
    /// come first: where they have room and the kernel's own servers do not, these give way.
    pub(crate) fn choice(
        &self,
        general: Budget,
        all: Amount,
        own: Amount,
        finding_tools: usize,
        stands_alone: bool,
    ) -> Choice {
        let max_tokens = if stands_alone { usize::MAX } else { self.budget(general).max_tokens };
        // What goes over the number of tools that a client takes would be dropped there, and found by nobody.
        let fits = |amount: Amount| amount.tools <= self.max_tools && amount.tokens <= max_tokens;
        let whole = |built_in| Choice { level: Level::All, built_in };
        match self.shown {
            Shown::At(level) => Choice { level, built_in: BuiltIn::Whole },
            Shown::Auto if fits(all) => whole(BuiltIn::Whole),
            Shown::Auto if own.tools > 0 && fits(own) => {
                let left = (self.max_tools - own.tools).checked_sub(finding_tools);
                let left = left.map(|tools| Amount { tools, tokens: max_tokens - own.tokens });
                whole(left.map_or(BuiltIn::Nothing, BuiltIn::Within))
            }
            Shown::Auto => Choice { level: Level::Hybrid, built_in: BuiltIn::Whole },
        }
    }

    /// The budget for this client, where `general` is everybody's.
    pub(crate) fn budget(&self, general: Budget) -> Budget {
        let max_tokens = self.max_tokens.unwrap_or(general.max_tokens);
        Budget { max_tokens, discovery_reserve: general.discovery_reserve.min(max_tokens), ..general }
    }
}

/// A name in small letters, with `-` for everything that is no letter and no digit.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars().take(MAX_NAME_CHARS) {
        match letter.is_alphanumeric() {
            true => plain.extend(letter.to_lowercase()),
            false if !plain.is_empty() && !plain.ends_with('-') => plain.push('-'),
            false => {}
        }
    }
    plain.truncate(plain.trim_end_matches('-').len());
    plain
}

/// Whether a name is this one, or this one with more words behind it.
fn begins(name: &str, with: &str) -> bool {
    !with.is_empty() && name.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(clients: &Clients, name: &str, general: Option<Level>) -> Bearing {
        let info = serde_json::json!({"name": name, "version": "1"});
        clients.of(Some(&Raw::from_value(&info).unwrap()), general, false)
    }

    #[test]
    fn clients_are_known_by_the_names_that_they_give_themselves() {
        let none = Clients::default();
        for (name, max_tools) in [
            ("claude-ai", 100),
            ("claude-ai (via mcp-remote 0.1.37)", 100),
            ("cursor-vscode", 40),
            ("Visual Studio Code", 90),
            ("Visual Studio Code - Insiders", 90),
            ("codex-mcp-client", 100),
            ("gemini-cli-mcp-client-files", 400),
            ("windsurf-client", 90),
            ("Zed", 100),
            ("opencode", 100),
            ("zedless", usize::MAX),
            ("", usize::MAX),
        ] {
            let found = of(&none, name, None);
            assert_eq!((found.shown, found.max_tools), (Shown::Auto, max_tools), "{name}");
        }
        assert_eq!(of(&none, "claude-code", None).shown, Shown::At(Level::All));
        assert_eq!(none.of(None, None, false).shown, Shown::Auto);
        let own = of(&none, COMMAND_LINE, Some(Level::Discovery));
        assert!(own.is_command_line && own.shown == Shown::At(Level::All), "{own:?}");
    }

    #[test]
    fn the_operator_comes_before_what_is_known_and_one_client_before_all() {
        let all = Some(Shown::At(Level::All));
        let said = Clients::new([
            ("claude-code", ClientTools { shown: Some(Shown::Auto), ..ClientTools::default() }),
            ("vscode", ClientTools { max_tools: Some(128), max_tokens: Some(50_000), ..ClientTools::default() }),
            ("My Client", ClientTools { shown: all, ..ClientTools::default() }),
        ]);
        assert_eq!(of(&said, "claude-code", Some(Level::Hybrid)).shown, Shown::Auto);
        let code = of(&said, "Visual Studio Code", None);
        let budget = code.budget(Budget::default());
        assert_eq!((code.max_tools, budget.max_tokens), (128, 50_000));
        assert_eq!((said.largest(8_000), said.largest(200_000)), (100_000, 200_000), "of all known clients");
        assert_eq!(of(&said, "my client 2", None).shown, Shown::At(Level::All));
        assert_eq!(of(&Clients::default(), "claude-code", Some(Level::Hybrid)).shown, Shown::At(Level::Hybrid));
    }

    #[test]
    fn all_is_listed_while_it_fits_and_of_a_server_that_stands_alone() {
        let (budget, none) = (Budget::default(), Clients::default());
        let (cursor, code, other) =
            (of(&none, "cursor-vscode", None), of(&none, "claude-code", None), of(&none, "t", None));
        for (client, tools, tokens, alone, level) in [
            (other, 500, 25_000, false, Level::All),
            (other, 500, 25_001, false, Level::Hybrid),
            (other, 500, 90_000, true, Level::All),
            (cursor, 40, 9_000, false, Level::All),
            (cursor, 40, 90_000, true, Level::All),
            (cursor, 41, 9_000, true, Level::Hybrid),
            (cursor, 41, 9_000, false, Level::Hybrid),
            (code, 3_000, 500_000, false, Level::All),
        ] {
            let all = Amount { tools, tokens };
            let expected = Choice { level, built_in: BuiltIn::Whole };
            assert_eq!(client.choice(budget, all, all, 3, alone), expected, "{tools} tools of {tokens} tokens");
        }
    }

    #[test]
    fn the_kernels_own_servers_give_way_to_those_of_the_user() {
        let (budget, none) = (Budget::default(), Clients::default());
        let (cursor, other) = (of(&none, "cursor-vscode", None), of(&none, "t", None));
        let within = |tools, tokens| BuiltIn::Within(Amount { tools, tokens });
        let (whole, hybrid) = (|built_in| Some((Level::All, built_in)), None);
        for (client, own, alone, expected) in [
            (other, (2, 300), true, whole(BuiltIn::Whole)),
            (cursor, (2, 300), true, whole(within(35, usize::MAX - 300))),
            (cursor, (4, 600), false, whole(within(33, 24_400))),
            (other, (4, 600), false, whole(within(usize::MAX - 7, 24_400))),
            (other, (80, 25_000), false, whole(within(usize::MAX - 83, 0))),
            (other, (80, 25_001), false, hybrid),
            (cursor, (37, 600), false, whole(within(0, 24_400))),
            (cursor, (38, 600), false, whole(BuiltIn::Nothing)),
            (cursor, (40, 600), false, whole(BuiltIn::Nothing)),
            (cursor, (41, 600), false, hybrid),
            (cursor, (0, 0), false, hybrid),
        ] {
            let own = Amount { tools: own.0, tokens: own.1 };
            let all = Amount { tools: own.tools + 46, tokens: own.tokens + 25_000 };
            let found = client.choice(budget, all, own, 3, alone);
            let (level, built_in) = expected.unwrap_or((Level::Hybrid, BuiltIn::Whole));
            assert_eq!(found, Choice { level, built_in }, "{own:?}");
        }
    }

    #[test]
    fn names_leave_room_for_what_a_client_puts_in_front() {
        let none = Clients::default();
        for (name, expected) in [
            ("claude-ai", Some(64)),
            ("claude-code", Some(46)),
            ("cursor-vscode", Some(48)),
            ("Visual Studio Code", Some(48)),
            ("codex-mcp-client", Some(46)),
            ("gemini-cli-mcp-client", Some(47)),
            ("windsurf-client", None),
            ("Zed", Some(52)),
            ("opencode", Some(52)),
            ("somebody", None),
            (COMMAND_LINE, None),
        ] {
            assert_eq!(of(&none, name, None).max_name_length, expected, "{name}");
        }
        let info = Raw::from_value(&serde_json::json!({"name": "claude-ai"})).unwrap();
        assert_eq!(none.of(Some(&info), None, true).max_name_length, None, "the operator said how long names are");
        let said = ClientTools { max_name_length: Some(40), ..ClientTools::default() };
        let said = Clients::new([("claude-desktop", said)]);
        assert_eq!(said.of(Some(&info), None, true).max_name_length, Some(40), "of this client alone");
    }

    #[test]
    fn every_known_client_stands_in_the_documents() {
        let names = include_str!("../../../../docs/names.md");
        for known in KNOWN {
            let row = names.lines().find(|line| line.starts_with(&format!("| `{}` |", known.id))).unwrap_or_default();
            for begin in known.names {
                assert!(row.contains(&format!("`{begin}`")), "{}: {row}", known.id);
            }
            let limit = match &known.name {
                Some(limit) if limit.prefix.is_empty() => format!("| none | {} | {} |", limit.longest, limit.left()),
                Some(limit) => format!("| `{}` | {} | {} |", limit.prefix, limit.longest, limit.left()),
                None => "| not known | not known | 46 |".to_owned(),
            };
            let level = if known.shown.is_some() { "`all`" } else { "`auto`" };
            let tokens = known.max_tokens.map_or("25,000", |_| "100,000");
            assert!(row.ends_with(&format!("{limit} {level} | {tokens} |")), "{}: {row}", known.id);
        }
        let page = include_str!("../../../../docs/catalog.md");
        for known in KNOWN {
            let row = page.lines().find(|line| line.contains(&format!("| `{}` |", known.id))).unwrap_or_default();
            let level = if known.shown.is_some() { "`all`" } else { "`auto`" };
            assert!(row.contains(level), "{}: {row}", known.id);
            if let Some(most) = known.max_tools {
                assert!(row.contains(&format!("| {most} |")), "{}: {row}", known.id);
            }
        }
    }
}
