//! What a query reads of the database itself. Which tables and columns there are is harmless to know; settings, users,
//! mappings to other servers, credentials and logs are not, and databases have more such views than a list could name.
//! So the harmless ones stand in a table, and every other name in a schema of the system is asked about.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::known::words_of;
use super::lexer::Token;
use super::tables::Places;
use super::{fragment, secrets};

const CATALOGS: &str = include_str!("known/catalogs.txt");
const PRIVATE: &str = include_str!("known/private.txt");
const PEOPLE: &str = include_str!("known/people.txt");

/// Schemas of systems, and the group of the table that says what is harmless in them.
const SCHEMAS: &[(&str, &str)] = &[
    ("pg_catalog", "pg_catalog"),
    ("information_schema", "information_schema"),
    ("sys", "sys"),
    ("mysql", "mysql"),
    ("performance_schema", "performance_schema"),
    ("system", "system"),
    ("syscat", "syscat"),
    ("sysibm", "syscat"),
    ("account_usage", "account_usage"),
    ("organization_usage", "account_usage"),
    ("master", "sys"),
];
/// What names of systems begin with, the group, and whether the group has the names without it.
const PREFIXES: &[(&str, &str, bool)] = &[
    ("pg_", "pg_catalog", false),
    ("v$", "v$", true),
    ("gv$", "v$", true),
    ("v_$", "v$", true),
    ("x$", "v$", true),
    ("ku$_", "v$", true),
    ("dba_", "oracle", true),
    ("cdb_", "oracle", true),
    ("svv_", "redshift", false),
    ("svl_", "redshift", false),
    ("stl_", "redshift", false),
    ("stv_", "redshift", false),
    ("sqlite_", "named", false),
    ("duckdb_", "named", false),
    ("rdb$", "named", false),
    ("mon$", "named", false),
    ("sec$", "named", false),
];

/// The names of one group; those that end with a star stand for all that begin so.
#[derive(Debug, Default)]
struct Group {
    whole: HashSet<&'static str>,
    begun: Vec<&'static str>,
}

impl Group {
    fn of(table: &'static str, group: &str) -> Self {
        let words = words_of(table, Some(group));
        let begun = words.iter().filter_map(|word| word.strip_suffix('*')).collect();
        Self { whole: words, begun }
    }

    fn has(&self, name: &str) -> bool {
        self.whole.contains(name) || self.begun.iter().any(|start| name.starts_with(start))
    }
}

struct Tables {
    schemas: Vec<(&'static str, Group)>,
    prefixes: Vec<(&'static str, Group, bool)>,
    settings: HashSet<&'static str>,
    show: HashSet<&'static str>,
    people: HashSet<&'static str>,
    of_people: HashSet<&'static str>,
    private_schemas: HashSet<&'static str>,
    private_owned: HashSet<&'static str>,
    private_partly: HashSet<&'static str>,
    private_tables: HashSet<&'static str>,
    partly_tables: HashSet<&'static str>,
    private_columns: HashSet<&'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    schemas: SCHEMAS.iter().map(|(schema, group)| (*schema, Group::of(CATALOGS, group))).collect(),
    prefixes: PREFIXES.iter().map(|(prefix, group, cut)| (*prefix, Group::of(CATALOGS, group), *cut)).collect(),
    settings: words_of(CATALOGS, Some("settings")),
    show: CATALOGS.split_once("[show]\n").map(|(_, lines)| lines.lines().collect()).unwrap_or_default(),
    people: words_of(PEOPLE, Some("tables")),
    of_people: words_of(PEOPLE, Some("columns")),
    private_schemas: words_of(PRIVATE, Some("schemas")),
    private_owned: words_of(PRIVATE, Some("owned")),
    private_partly: words_of(PRIVATE, Some("partly")),
    private_tables: words_of(PRIVATE, Some("tables")),
    partly_tables: words_of(PRIVATE, Some("partly_tables")),
    private_columns: words_of(PRIVATE, Some("columns")),
});

/// What a person should look at, if anything.
pub(super) fn doubt(statement: &[Token], places: &Places) -> Option<String> {
    let aliases = aliases(statement);
    let mut listing = Listing::default();
    // What holds for the whole statement is found out once, however many tables it names.
    let (keys, renamed) = (OnceCell::new(), OnceCell::new());
    let mut people = 0;
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        let next = statement.get(at + 1);
        listing.follow(before, token, next);
        // Behind a value it is an operator: `vector @@ query`.
        let first = at.checked_sub(2).and_then(|first| statement.get(first));
        if token.is('@')
            && before.is_some_and(|before| before.is('@'))
            && !first.is_some_and(super::grammar::ends_value)
        {
            let named = variable(&statement[at + 1..]);
            if !named.is_some_and(is_setting) {
                return Some(format!("the setting `@@{}` is not known to be harmless", named.unwrap_or("..")));
            }
        }
        let dotted = before.is_some_and(|token| token.is('.'));
        let owns = next.is_some_and(|token| token.is('.'));
        let table = places.is_table(at);
        // A string is no name, unless it stands where one is wanted.
        let named = token.word().is_some() || table || dotted || owns || listing.listed;
        let Some(name) = fragment::name(token).filter(|_| named) else { continue };
        let called = next.is_some_and(|next| next.is('('));
        if called {
            if name == "current_setting" && !names_setting(&statement[at + 2..]) {
                return Some("a setting that is not known to be harmless is read".to_owned());
            }
            continue;
        }
        // `project.dataset.INFORMATION_SCHEMA.TABLES` in one pair of quotes.
        let mut parts = name.rsplit('.').map(str::to_owned);
        let last = parts.next().unwrap_or_default();
        let owner = parts.next().or_else(|| dotted.then(|| owner_of(statement, at)).flatten());
        let aliased = owner.as_deref().is_some_and(|owner| aliases.contains(owner));
        let part_of_table = table || at.checked_sub(2).is_some_and(|owner| dotted && places.is_table(owner));
        if let Some(owner) = owner.as_deref().filter(|_| part_of_table || !aliased)
            && let Some(why) = in_schema(owner, &last, statement)
        {
            return Some(why);
        }
        if last == "pg_settings" && !asks_for_settings(&statement[at + 1..])
            || is_private_table(&last, table || dotted)
            || (TABLES.partly_tables.contains(last.as_str()) || secrets::is_secret_table(&last))
                && part_of_table
                && *keys.get_or_init(|| shows_keys(statement) && !looks_up_plain(statement))
            || secrets::is_table_of_people(&last)
                && part_of_table
                && (shows_all_of(statement, at, &mut people) || *renamed.get_or_init(|| renames_all(statement)))
            || begins_like_system(&last, owns, last != "pg_settings")
        {
            return Some(format!("`{last}` is a part of the database that is not known to be harmless"));
        }
        if listing.depth == 0 && !part_of_table && is_shown(statement, at) && is_secret_column(&last) {
            return Some(format!("the column `{last}` may hold passwords or keys"));
        }
        if !part_of_table && is_guessed(statement, at) && is_secret_column(&last) {
            return Some(format!("what the column `{last}` holds can be found out by the answer"));
        }
    }
    if let Some(why) = of_people(statement, places) {
        return Some(why);
    }
    if asks_for_secret(statement) {
        return Some("a value is looked up by the name of a secret".to_owned());
    }
    shown(statement)
}

/// What is shown of a table of people who sign in, where it is the only one: columns made of words that are known. Who asks for all of it says so.
fn of_people(statement: &[Token], places: &Places) -> Option<String> {
    let named = |at: usize| places.is_table(at).then(|| statement.get(at).and_then(fragment::name)).flatten();
    let mut tables = (0..statement.len()).filter_map(named);
    let table = tables.next().filter(|_| tables.next().is_none())?;
    let last = table.rsplit('.').next().unwrap_or_default();
    // `app.users`: the schema stands in place of the table.
    let owned = statement
        .windows(3)
        .find(|three| three[1].is('.') && fragment::name(&three[0]).is_some_and(|name| name == table));
    let owned = owned.and_then(|three| fragment::name(&three[2]));
    let last = owned.as_deref().unwrap_or(last);
    if !TABLES.people.contains(last) {
        return None;
    }
    let why = || Some(format!("`{last}` has more in it than what is known to be harmless"));
    let verb = statement.first().and_then(Token::word);
    let from = statement.iter().position(|token| token.word() == Some("from"));
    let (Some("select"), Some(from)) = (verb, from) else { return None };
    let list = &statement[1..from];
    // What is left out is not shown.
    if list.iter().any(|token| matches!(token.word(), Some("except" | "exclude" | "replace"))) {
        return None;
    }
    let unknown = list.iter().enumerate().any(|(at, token)| {
        let next = list.get(at + 1);
        let before = at.checked_sub(1).and_then(|before| list.get(before));
        let called = next.is_some_and(|next| next.is('(') || next.is('.') || next.is('['));
        let aliased = before.is_some_and(|before| before.word() == Some("as") || before.is(')') || before.is(':'));
        let is_type = before.is_some_and(|before| matches!(before.word(), Some("interval" | "date" | "cast")));
        let Token::Word(word, _) = token else { return false };
        !called
            && !aliased
            && !is_type
            && !super::grammar::is_keyword(word)
            && !word.ends_with("_at")
            && !word.split('_').all(|part| {
                let bare = part.trim_end_matches(|c: char| c.is_ascii_digit());
                TABLES.of_people.contains(bare) || bare.is_empty()
            })
    });
    if unknown { why() } else { None }
}

/// Whether a value can be found out piece by piece: it is compared with a pattern or with less and more, rows are sorted or
/// counted by it, or a part of it is taken. Whether there is one, and whether it is a given one, tells nothing new.
fn is_guessed(statement: &[Token], at: usize) -> bool {
    const COMPARING: [&str; 10] =
        ["like", "ilike", "rlike", "regexp", "similar", "glob", "between", "collate", "match", "regexp_like"];
    const PARTS: [&str; 14] = [
        "substr",
        "substring",
        "left",
        "right",
        "mid",
        "ascii",
        "ord",
        "unicode",
        "hex",
        "position",
        "instr",
        "strpos",
        "charindex",
        "locate",
    ];
    let token = |at: usize| statement.get(at);
    let word = |at: usize| token(at).and_then(Token::word);
    let symbol = |at: usize, symbol: char| token(at).is_some_and(|token| token.is(symbol));
    let next = if word(at + 1) == Some("not") { at + 2 } else { at + 1 };
    let compared = word(next).is_some_and(|word| COMPARING.contains(&word))
        || symbol(next, '~')
        || symbol(next, '>')
        || symbol(next, '<') && !symbol(next + 1, '>');
    // `users.password` begins with its table.
    let first = if at > 1 && symbol(at - 1, '.') { at - 2 } else { at };
    let before = first.checked_sub(1);
    let sorted = before.and_then(word) == Some("by");
    let part = before.is_some_and(|before| symbol(before, '('))
        && first.checked_sub(2).and_then(word).is_some_and(|call| PARTS.contains(&call));
    compared || sorted || part
}

/// Whether a row is picked by the name of a secret, and its value shown: `select value from settings where name = 'api_key'`.
fn asks_for_secret(statement: &[Token]) -> bool {
    const NAMES: [&str; 13] = [
        "secret",
        "password",
        "passwd",
        "api_key",
        "apikey",
        "token",
        "private_key",
        "credential",
        "signing_key",
        "auth_key",
        "access_key",
        "_salt",
        "smtp_pass",
    ];
    let is_name = |text: &str| {
        let lower = text.to_lowercase();
        let plain = |c: char| c.is_alphanumeric() || "_-.%".contains(c);
        NAMES.iter().any(|name| lower.contains(name)) && lower.chars().all(plain)
    };
    let compares = |two: &[Token]| match two {
        [sign, text] => {
            let compared = sign.is('=') || matches!(sign.word(), Some("like" | "ilike" | "in"));
            compared && text.quoted().is_some_and(is_name)
        }
        _ => false,
    };
    // A table of names and values: whatever else is shown of the row is the value.
    let is_key = |token: &Token| {
        token.word().is_some_and(|word| {
            matches!(
                word,
                "k" | "key"
                    | "name"
                    | "setting"
                    | "param"
                    | "parameter"
                    | "variable"
                    | "option_name"
                    | "meta_key"
                    | "config_key"
                    | "setting_name"
                    | "setting_key"
            )
        })
    };
    let from = statement.iter().position(|token| token.word() == Some("from")).unwrap_or(statement.len());
    let is_value = |token: &Token| {
        token.is('*')
            || matches!(token.word(), Some("value" | "val" | "setting_value" | "config_value" | "data" | "content"))
    };
    let by_key = statement.windows(3).any(|three| is_key(&three[0]) && compares(&three[1..]));
    let shows = || {
        statement[..from]
            .iter()
            .skip(1)
            .filter_map(Token::word)
            .any(|word| !matches!(word, "count" | "as" | "distinct" | "n" | "id" | "name" | "key"))
    };
    // What others wrote or ran is searched for what was a secret.
    let searches = statement.windows(2).any(|two| {
        let compared = matches!(two[0].word(), Some("like" | "ilike" | "rlike" | "regexp" | "similar" | "match"))
            || two[0].is('~')
            || two[0].is('*');
        compared
            && two[1].quoted().is_some_and(|text| {
                let lower = text.to_lowercase();
                lower.contains("identified by") || lower.contains('%') && is_name(text)
            })
    });
    searches && shows()
        || by_key && shows()
        || statement.windows(2).any(compares) && statement[..from].iter().any(is_value)
}

/// Whether one row of names and values is picked by a name that is plainly none of a key: `where key = 'theme'`.
fn looks_up_plain(statement: &[Token]) -> bool {
    const PLAIN: [&str; 32] = [
        "color",
        "count",
        "country",
        "currency",
        "date",
        "default",
        "description",
        "enabled",
        "feature",
        "flag",
        "font",
        "format",
        "lang",
        "language",
        "layout",
        "limit",
        "locale",
        "logo",
        "maintenance",
        "mode",
        "name",
        "notifications",
        "page",
        "per",
        "region",
        "site",
        "size",
        "theme",
        "timezone",
        "title",
        "version",
        "zone",
    ];
    statement.windows(3).any(|three| {
        let is_key = three[0]
            .word()
            .is_some_and(|word| word == "key" || word == "name" || word.ends_with("_key") || word.ends_with("_name"));
        let names_plain =
            |text: &str| text.to_lowercase().split(['_', '-', '.', ' ']).all(|word| PLAIN.contains(&word));
        is_key && three[1].is('=') && three[2].quoted().is_some_and(names_plain)
    }) && !statement.iter().any(|token| token.word() == Some("or"))
}

/// Whether a query of a table with keys shows all of it, a whole row, or a column that is called like one for keys.
fn shows_keys(statement: &[Token]) -> bool {
    const KEYS: [&str; 27] = [
        "attributes",
        "body",
        "blob",
        "config",
        "conn",
        "content",
        "extra",
        "json",
        "link",
        "option_value",
        "raw",
        "sess",
        "setting",
        "url",
        "val",
        "key",
        "token",
        "secret",
        "code",
        "value",
        "hash",
        "passw",
        "credential",
        "data",
        "cookie",
        "payload",
        "session_id",
    ];
    let of_key = |(at, token): (usize, &Token)| {
        let word =
            token.word().filter(|word| !word.ends_with("_id") && !word.ends_with("_at") && !word.ends_with("_name"));
        // A column stands in the list; a table behind `from`.
        let before = at.checked_sub(1).and_then(|before| statement[before].word());
        let is_table = matches!(before, Some("from" | "join" | "into"));
        word.is_some_and(|word| {
            !is_table && !TABLES.partly_tables.contains(word) && KEYS.iter().any(|key| word.contains(key))
        }) && is_shown(statement, at)
    };
    let all = statement.windows(2).any(|two| !two[0].is('(') && two[1].is('*'));
    let whole = statement.first().and_then(Token::word) != Some("select");
    all || whole || shows_row(statement) || statement.iter().enumerate().any(of_key)
}

/// Whether a table stands in the list of columns by its name or alias: its whole row is shown.
fn shows_row(statement: &[Token]) -> bool {
    let named = statement.iter().enumerate().filter(|(_, token)| matches!(token.word(), Some("from" | "join")));
    let mut rows = named.flat_map(|(at, _)| {
        let mut end = at + 1;
        while statement.get(end + 1).is_some_and(|token| token.is('.')) {
            end += 2;
        }
        let alias = if statement.get(end + 1).and_then(Token::word) == Some("as") { end + 2 } else { end + 1 };
        let named = [statement.get(end), statement.get(alias)].into_iter().flatten().filter_map(Token::word);
        named.filter(|name| !super::grammar::is_keyword(name))
    });
    let from = statement.iter().position(|token| token.word() == Some("from")).unwrap_or_default();
    rows.any(|row| {
        (1..from).any(|at| {
            let owns = statement.get(at + 1).is_some_and(|token| token.is('.'));
            let owned = statement[at - 1].is('.');
            statement[at].word() == Some(row) && !owns && !owned
        })
    })
}

/// How many tables of people one statement names before nobody looks for each of them.
const MAX_PEOPLE: usize = 8;

/// Whether a table stands by its name or alias in a list of columns: its whole row is shown.
fn shows_all_of(statement: &[Token], table: usize, people: &mut usize) -> bool {
    *people += 1;
    if *people > MAX_PEOPLE {
        return true;
    }
    let alias = if statement.get(table + 1).and_then(Token::word) == Some("as") { table + 2 } else { table + 1 };
    let is_name = |word: &&str| !super::grammar::is_keyword(word);
    let names = [table, alias].map(|at| statement.get(at).and_then(Token::word).filter(is_name));
    let mut listing = Listing::default();
    statement.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        let next = statement.get(at + 1);
        listing.follow(before, token, next);
        let named = token.word().is_some_and(|word| names.contains(&Some(word)));
        let parted = next.is_some_and(|next| next.is('.'))
            || before.is_some_and(|before| before.is('.') || before.word() == Some("as"));
        listing.listed && named && !parted
    })
}

/// Whether all columns get other names, `(select * ..) as t(a, b)`, or are made one: `row(t.*)`.
fn renames_all(statement: &[Token]) -> bool {
    let all = statement.iter().any(|token| token.is('*'));
    all && statement.windows(3).any(|three| {
        let is_alias = |token: &Token| token.word().is_some_and(|word| !super::grammar::is_keyword(word));
        let renamed = (three[0].is(')') || matches!(three[0].word(), Some("as" | "with" | "recursive")))
            && is_alias(&three[1])
            && three[2].is('(');
        renamed || matches!(three[0].word(), Some("row" | "struct")) && three[1].is('(')
    })
}

/// What stands in front of a name and its dot: the schema, or the database where the schema is left out or is `dbo`.
fn owner_of(statement: &[Token], at: usize) -> Option<String> {
    let part = |back: usize| at.checked_sub(back).and_then(|at| statement.get(at));
    let name = |back: usize| part(back).and_then(fragment::name).map(std::borrow::Cow::into_owned);
    // `msdb..backupset`
    if part(2).is_some_and(|token| token.is('.')) {
        return name(3);
    }
    let schema = name(2);
    let dbo = schema.as_deref() == Some("dbo") && part(3).is_some_and(|token| token.is('.'));
    if dbo { name(4).or(schema) } else { schema }
}

/// Where a scan stands in the list of columns that are shown.
#[derive(Default)]
struct Listing {
    /// How deep it is in a list of columns that are left out: `* except (password)`.
    depth: usize,
    /// Whether columns are listed here, so that what is quoted may be one, and the same outside of each bracket.
    listed: bool,
    outside: Vec<bool>,
}

impl Listing {
    fn follow(&mut self, before: Option<&Token>, token: &Token, next: Option<&Token>) {
        let query =
            next.and_then(Token::word).is_some_and(|word| matches!(word, "select" | "with" | "values" | "from"));
        let opens = before.and_then(Token::word).is_some_and(|word| matches!(word, "except" | "exclude")) && !query;
        match token {
            Token::Symbol('(') => {
                self.depth += usize::from(self.depth > 0 || opens);
                self.outside.push(self.listed);
            }
            Token::Symbol(')') => {
                self.depth = self.depth.saturating_sub(1);
                self.listed = self.outside.pop().unwrap_or_default();
            }
            Token::Word(word, _) if word == "select" => self.listed = true,
            Token::Word(word, _) if matches!(word.as_str(), "from" | "where" | "order" | "group" | "limit") => {
                self.listed = false;
            }
            _ => {}
        }
    }
}

/// Names of systems that a statement uses for something else: `from systems sys`.
fn aliases(statement: &[Token]) -> HashSet<&str> {
    let pairs = statement.windows(2).enumerate().filter_map(|(at, two)| {
        let word = two[1].word().filter(|word| SCHEMAS.iter().any(|(schema, _)| schema == word))?;
        let behind = match &two[0] {
            Token::Word(before, _) => before == "as" || !super::grammar::is_keyword(before),
            Token::Quoted(_) | Token::Symbol(')') => true,
            _ => false,
        };
        let owns = statement.get(at + 2).is_some_and(|token| token.is('.'));
        (behind && !owns).then_some(word)
    });
    pairs.collect()
}

fn in_schema(owner: &str, name: &str, statement: &[Token]) -> Option<String> {
    let tables = &*TABLES;
    let full = format!("{owner}.{name}");
    let partly = tables.private_partly.contains(full.as_str()) && shows_secrets(statement);
    let private = tables.private_schemas.contains(owner) || tables.private_owned.contains(full.as_str()) || partly;
    let group = tables.schemas.iter().find(|(schema, _)| *schema == owner).map(|(_, group)| group);
    // A name with a prefix of its own is looked up by that; a schema stands in front of another.
    let own = PREFIXES.iter().any(|(prefix, ..)| name.starts_with(prefix));
    let schema = SCHEMAS.iter().any(|(schema, _)| *schema == name) || name == "dbo";
    let unknown = group.is_some_and(|group| !group.has(name)) && !own && !schema && name != "*";
    (private || unknown).then(|| format!("`{full}` is a part of the database that is not known to be harmless"))
}

/// Whether a query of a table with secret columns shows all of them, or one that is called so.
fn shows_secrets(statement: &[Token]) -> bool {
    const SECRET: [&str; 6] = ["passw", "auth_", "authentication", "secret", "token", "hash"];
    let all = statement.windows(2).any(|two| !two[0].is('(') && two[1].is('*'));
    let whole = statement.first().and_then(Token::word) != Some("select");
    all || whole
        || shows_row(statement)
        || statement.iter().filter_map(Token::word).any(|word| SECRET.iter().any(|part| word.contains(part)))
}

fn is_private_table(name: &str, placed: bool) -> bool {
    placed && TABLES.private_tables.contains(name)
}

/// Whether a name begins like those of a system, and is none that is known. As `owner` it is a schema or an alias.
fn begins_like_system(name: &str, owner: bool, asked: bool) -> bool {
    let found = TABLES.prefixes.iter().find(|(prefix, ..)| name.starts_with(prefix));
    asked
        && found.is_some_and(|(prefix, group, cut)| {
            let looked_up = if *cut { &name[prefix.len()..] } else { name };
            !(group.has(looked_up) || owner && name.starts_with("pg_temp"))
        })
}

/// Whether a column is a part of what is shown: one that is only compared, counted or tested is not.
fn is_shown(statement: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| statement.get(before));
    let next = statement.get(at + 1);
    let tested = next.is_some_and(|next| {
        matches!(next, Token::Symbol('=' | '<' | '>' | '!' | '.'))
            || next.word().is_some_and(|word| matches!(word, "is" | "in" | "like" | "not" | "isnull" | "notnull"))
    });
    let counted = before.is_some_and(|token| token.is('('))
        && at.checked_sub(2).and_then(|call| statement.get(call)).and_then(Token::word) == Some("count");
    !tested && !counted
}

/// Whether a column is called like one for passwords or keys.
fn is_secret_column(name: &str) -> bool {
    secrets::is_secret_column(name) || TABLES.private_columns.contains(name)
}

fn is_setting(name: &str) -> bool {
    TABLES.settings.contains(name)
}

/// The name of a variable behind `@@`: `version`, `global.sql_mode`.
fn variable(tokens: &[Token]) -> Option<&str> {
    let first = tokens.first().and_then(Token::word)?;
    let scoped = matches!(first, "global" | "session" | "local" | "persist");
    if scoped && tokens.get(1).is_some_and(|token| token.is('.')) {
        return tokens.get(2).and_then(Token::word);
    }
    Some(first)
}

/// Whether the first argument of a call is the name of a harmless setting.
fn names_setting(arguments: &[Token]) -> bool {
    let literal = arguments.first().and_then(Token::quoted).is_some_and(|name| is_setting(&name.to_lowercase()));
    literal && arguments.get(1).is_some_and(|token| token.is(')') || token.is(','))
}

/// Whether what follows `pg_settings` picks harmless settings by their names, and nothing else.
fn asks_for_settings(rest: &[Token]) -> bool {
    let mut rest = rest.iter();
    let mut next = || rest.next();
    if next().and_then(Token::word) != Some("where") || next().and_then(Token::word) != Some("name") {
        return false;
    }
    let named =
        |token: Option<&Token>| token.and_then(Token::quoted).is_some_and(|name| is_setting(&name.to_lowercase()));
    let all = match next() {
        Some(token) if token.is('=') => named(next()),
        Some(token) if token.word() == Some("in") && next().is_some_and(|token| token.is('(')) => loop {
            if !named(next()) {
                break false;
            }
            match next() {
                Some(token) if token.is(',') => {}
                Some(token) => break token.is(')'),
                None => break false,
            }
        },
        _ => false,
    };
    all && next().is_none_or(|token| matches!(token.word(), Some("order" | "limit")))
}

/// What `show` is asked for, if that is not known to be harmless.
fn shown(statement: &[Token]) -> Option<String> {
    if statement.first().and_then(Token::word) != Some("show") {
        return None;
    }
    let words: Vec<&str> = statement.iter().skip(1).map_while(Token::word).take(6).collect();
    let begins = |count: usize| words.len() >= count && TABLES.show.contains(words[..count].join(" ").as_str());
    if (1..=3).any(begins) {
        return None;
    }
    let setting = match words.as_slice() {
        [one] if statement.len() == 2 => is_setting(one),
        ["variables", "like"] | ["global" | "session", "variables", "like"] => {
            statement.last().and_then(Token::quoted).is_some_and(is_pattern_of_settings)
        }
        _ => false,
    };
    let told: String = words.join(" ").chars().take(64).collect();
    (!setting).then(|| format!("what `show {told}` tells is not known to be harmless"))
}

/// Whether only harmless settings are like this.
fn is_pattern_of_settings(pattern: &str) -> bool {
    let start = pattern.to_lowercase();
    let start = start.trim_end_matches('%');
    start.len() > 3
        && !start.contains('%')
        && (is_setting(start) || pattern.ends_with('%') && TABLES.settings.iter().any(|name| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read() {
        let tables = &*TABLES;
        assert!(tables.show.contains("tables") && tables.settings.contains("search_path"));
        for (schema, group) in &tables.schemas {
            assert!(group.whole.len() > 5, "{schema}");
        }
        for (prefix, group, _) in &tables.prefixes {
            assert!(group.whole.len() > 5, "{prefix}");
        }
        let private = tables.private_columns.len() + tables.private_tables.len() + tables.private_owned.len();
        assert!(private > 60 && !tables.private_schemas.is_empty() && !tables.private_partly.is_empty());
    }
}
