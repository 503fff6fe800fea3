//! Calls that act though nothing about their tool says so: what a value is decides, whatever the tool and the key are called.
//!
//! A command, a program or a statement that writes is recognised by itself, outside of texts and searches; so is a path to
//! secrets or to what runs at every start, and a word that chooses something grave. What is found is asked about and never
//! refused, since a value alone does not tell what a server does with it. Most values are left after one look at their bytes.

mod command;
mod lead;
mod place;
mod statement;
mod table;

use switchboard_policy::key_role::{self, MAX_DEPTH, Role};
use switchboard_policy::risk::{self, Assessment, OperatorWord};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, TrustLevel};
use switchboard_wire::{Kind, Object, Raw};

use crate::Finding;
use crate::arguments::{Violation, patch, variables};
use crate::own_program::OwnProgram;
use crate::shell::Understood;
pub(crate) use command::is_word_of_texts;
use lead::{Part, Parts};
use place::Place;

/// The step of a question about a value that acts.
const STEP: &str = "acting";
/// Longer values are looked at up to here.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Strings, lists and objects of one call that are looked at; a call that has more is asked about.
const MAX_VALUES: usize = 16 * 1024;
/// Servers differ in which of two members of one name they read, so that neither can be looked at for all.
const TWICE: &str = "a member stands twice, and servers differ in which one they read";
/// Words of a list that may be a command.
const MAX_WORDS: usize = 64;

/// What is known of a tool whose calls are looked at, computed once per definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// It only reads: what it is given is mostly looked for.
    looks: bool,
    /// It stores or shows texts: what stands in one is nobody's command.
    stores: bool,
    /// Arguments that are judged already, or that may be nothing but what the schema lists.
    settled: Vec<Box<str>>,
    /// The one program whose words it takes.
    program: Option<OwnProgram>,
}

impl Outlook {
    /// Where calls of a tool are looked at: not where the operator has spoken of it, not of a server that is trusted, and not
    /// where a person is asked about every call anyway.
    #[must_use]
    pub fn of(
        declared: &ToolSecurity,
        name: &str,
        found: &Assessment,
        operator: &OperatorWord,
        trust: TrustLevel,
    ) -> Option<Self> {
        let is_asked = found.confirm.is_some() && found.easing.is_none();
        if *operator != OperatorWord::default() || trust >= TrustLevel::Core || is_asked {
            return None;
        }
        let carried = found.carried.iter().map(|carried| carried.key.clone());
        let closed = declared.arguments.iter().filter(|argument| argument.closed);
        let settled = carried.chain(closed.map(|argument| argument.name.as_str().into())).collect();
        let (looks, stores) = (found.risk == Risk::Safe, place::stores_texts(name, declared));
        Some(Self { looks, stores, settled, program: OwnProgram::of(declared) })
    }

    /// The same of a server of this name, which may say what the tool runs.
    #[must_use]
    pub fn of_server(mut self, declared: &ToolSecurity, server: &str) -> Self {
        self.program = self.program.or_else(|| OwnProgram::of_server(declared, server));
        self
    }

    /// What a person is asked about a call with these arguments. `texts` are arguments of which the operator says that they
    /// are texts.
    #[must_use]
    pub fn question(&self, texts: &[String], arguments: &Raw) -> Option<Violation> {
        let mut look =
            Look { outlook: self, left: MAX_VALUES, runs: false, parts: Parts::default(), writes: !self.looks };
        let found = match Object::open(arguments) {
            Ok(object) => {
                look.runs = look.leads_to_pipeline(&object);
                let own = look.of_own_program(&object);
                let mut members = object.iter().filter(|(key, _)| !texts.iter().any(|text| **text == **key));
                let found = members.find_map(|(key, member)| {
                    look.name(&key);
                    Some(look.at(&member, &key, 1)?.under(&key))
                });
                found.or(own).or_else(|| look.together())?
            }
            // What is no object has no members that a server could read.
            Err(_) if arguments.kind() != Kind::Object => return None,
            Err(_) => ActingValue::new(TWICE),
        };
        let message = match found.what == TWICE {
            true => found.what,
            false => format!("{}, and nothing says that the tool takes one", found.what),
        };
        let finding = Finding::new("acting-value", message).ask();
        Some(Violation { step: STEP, pointer: found.pointer, finding, rejection: None, host: None })
    }
}

/// What acts, on its way out.
struct ActingValue {
    what: String,
    pointer: String,
}

impl ActingValue {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), pointer: String::new() }
    }

    fn under(mut self, key: &str) -> Self {
        self.pointer.insert_str(0, &format!("/{}", key.replace('~', "~0").replace('/', "~1")));
        self
    }
}

struct Look<'a> {
    outlook: &'a Outlook,
    left: usize,
    /// What is written runs on other machines: each of its lines may be a command.
    runs: bool,
    /// The strings of the call that may be paths, or pieces of one.
    parts: Parts,
    /// The tool may write to what it is given, as far as is seen.
    writes: bool,
}

impl Look<'_> {
    fn at(&mut self, value: &Raw, key: &str, depth: usize) -> Option<ActingValue> {
        let kind = value.kind();
        if kind == Kind::Bool && value.as_str() == "true" && place::takes_away(key, self.outlook.looks) {
            return Some(ActingValue::new("it asks for something to be thrown away"));
        }
        if kind == Kind::Bool
            && value.as_str() == "true"
            && !self.outlook.looks
            && let Some(what) = place::reaches_others(key, None)
        {
            return Some(ActingValue::new(what));
        }
        if kind == Kind::String && value.as_str().len() > 2 && place::loads_code(key) {
            return Some(ActingValue::new(format!("`{key}` makes programs load code")));
        }
        if matches!(kind, Kind::Number | Kind::Bool | Kind::Null) {
            return None;
        }
        if place::is_environment(key)
            && let Some((name, _)) = variables(value).iter().find(|(name, _)| place::loads_code(name))
        {
            return Some(ActingValue::new(format!("`{name}` makes programs load code")));
        }
        if depth > MAX_DEPTH || self.left == 0 {
            return Some(ActingValue::new("more than is looked at"));
        }
        self.left -= 1;
        match kind {
            Kind::Object => {
                let Ok(object) = Object::open(value) else { return Some(ActingValue::new(TWICE)) };
                // `{"path": {"p": ..}}` is a path still.
                let said = |inner: &str| is_path(key) && key_role::of(inner) == Role::Other;
                let around = self.runs;
                self.runs |= self.leads_to_pipeline(&object);
                let found = object.iter().find_map(|(inner, member)| {
                    let meant = if said(&inner) { key } else { &*inner };
                    self.name(&inner);
                    Some(self.at(&member, meant, depth + 1)?.under(&inner))
                });
                self.runs = around;
                found
            }
            Kind::Array => self.list(value, key, depth),
            _ => self.text(value, key, depth),
        }
    }

    /// Whether a member of an object is the path of something that runs on other machines.
    fn leads_to_pipeline(&self, object: &Object) -> bool {
        let leads = |key: &str, member: &Raw| {
            member.kind() == Kind::String
                && place::may_name(key)
                && member.as_text().is_some_and(|text| lead::is_pipeline(&text))
        };
        !self.outlook.looks && object.iter().any(|(key, member)| leads(&key, &member))
    }

    /// The words for the one program that the tool is for: asked about where they act.
    fn of_own_program(&self, object: &Object) -> Option<ActingValue> {
        let own = self.outlook.program.as_ref()?;
        let is_open = object.iter().all(|(key, _)| !self.is_settled(&key) || place::of(&key) != Place::Command);
        let lines = if is_open { own.lines(object) } else { Vec::new() };
        own.check(&lines, &Understood::default()).err()?;
        let line = lines.iter().find(|line| own.is_meant(line)).or(lines.first())?;
        Some(ActingValue::new(format!("its words make the command `{}`", command::shown(&line.line))))
    }

    /// The place to which several strings of the call lead together: `{"folder": "/root", "name": ".bashrc"}`.
    fn together(&self) -> Option<ActingValue> {
        let place = if self.writes { self.parts.together() } else { None };
        place.or_else(|| self.parts.secrets()).map(ActingValue::new)
    }

    /// Takes a key that may be the name of a file: `{"files": {".bashrc": ..}}`.
    fn name(&mut self, key: &str) {
        if !self.outlook.looks && key.contains(['.', '/', '\\', '~']) {
            self.parts.add(Part::of(key), false, true);
        }
    }

    /// What lies where a string leads, if a person would want to know: secrets, and for a tool that may write what runs later.
    fn leads(&mut self, value: &Raw, key: &str) -> Option<ActingValue> {
        if value.as_str().len() > lead::MAX_TEXT || self.is_settled(key) || !place::may_name(key) {
            return None;
        }
        let (is_path, is_name) = (is_path(key), place::names_file(key));
        // What a tool that only looks is given to search for leads nowhere.
        if self.outlook.looks && !is_path && place::of(key) == Place::Text && !place::is_written(key) {
            return None;
        }
        if !is_path && !is_name && lead::is_no_piece(value.as_str().trim_matches('"')) {
            return None;
        }
        let text = value.as_text()?;
        let parts = Part::of(&text);
        let writes = !self.outlook.looks || !parts.is_empty() && place::is_written(key);
        self.writes |= writes;
        let place = if writes { lead::place(&parts, &text) } else { None };
        self.parts.add(parts, is_path, is_name);
        if self.parts.is_full() {
            return Some(ActingValue::new("it has more patterns than are looked at"));
        }
        if !(is_path || writes) {
            return place.map(ActingValue::new);
        }
        place.or_else(|| lead::secret(&text).filter(|_| text.contains('/'))).map(ActingValue::new)
    }

    /// What a patch writes to.
    fn patched(&mut self, value: &Raw, key: &str) -> Option<ActingValue> {
        let (raw, is_named) = (value.as_str(), patch::is_key(key));
        let may_be = || raw.contains("\\n") && (place::of(key) != Place::Text || patch::begins(raw));
        if self.outlook.looks || !is_named && !may_be() {
            return None;
        }
        let text = value.as_text()?;
        if is_named && patch::is_encoded(&text) {
            return Some(ActingValue::new("the mail with the patch is encoded"));
        }
        let patch = patch::read(&text, is_named)?;
        for name in &patch.names {
            let mut parts = Part::of(name);
            // Files of a home are kept as patches as well.
            parts.iter_mut().for_each(|part| part.rooted |= !name.contains('/'));
            if let Some(found) = lead::place(&parts, name) {
                return Some(ActingValue::new(found));
            }
            self.parts.add(parts, false, true);
        }
        patch.names.iter().any(|name| lead::is_pipeline(name)).then_some(())?;
        let added = text.lines().filter_map(|line| line.strip_prefix('+')).collect::<Vec<_>>().join("\n");
        command::in_pipeline(head(&added)).map(ActingValue::new)
    }

    fn list(&mut self, value: &Raw, key: &str, depth: usize) -> Option<ActingValue> {
        let elements = value.elements().unwrap_or_default();
        // Of a list of words the first is the program: one plain word.
        let is_word = |element: &Raw| element.kind() == Kind::String && may_be_program(element.as_str());
        if (2..=MAX_WORDS).contains(&elements.len()) && elements.first().is_some_and(is_word) && self.is_open(key) {
            let words: Option<Vec<String>> = elements.iter().map(Raw::as_text).collect();
            if let Some(what) = words.and_then(|words| command::of_words(&words)) {
                return Some(ActingValue::new(what));
            }
        }
        elements
            .iter()
            .enumerate()
            .find_map(|(at, element)| Some(self.at(element, key, depth + 1)?.under(&at.to_string())))
    }

    fn text(&mut self, value: &Raw, key: &str, depth: usize) -> Option<ActingValue> {
        let raw = value.as_str();
        let bytes = raw.as_bytes();
        // Servers that expect an object read one that stands in a string.
        if matches!(bytes.get(1), Some(b'{' | b'['))
            && let Some(inner) = key_role::in_string(value)
            && let Some(found) = self.at(&inner, key, depth + 1)
        {
            return Some(ActingValue { pointer: String::new(), ..found });
        }
        if bytes.len() > 8
            && let Some(found) = self.patched(value, key)
        {
            return Some(found);
        }
        if let Some(found) = self.leads(value, key) {
            return Some(found);
        }
        // One word is a name, a number, an address: it may lead to a file, or choose what is done.
        if !self.outlook.looks && bytes.contains(&b'@') && place::forwards(key) {
            return Some(ActingValue::new("it has copies of something sent to an address"));
        }
        if !bytes.iter().any(|byte| matches!(byte, b' ' | b'\\' | b'$' | b';' | b'|' | b'`' | b'(')) {
            let word = raw.trim_matches('"');
            let variable = word.split_once('=').filter(|(name, _)| place::loads_code(name) && self.is_open(key));
            if let Some((name, _)) = variable {
                return Some(ActingValue::new(format!("`{name}` makes programs load code")));
            }
            if bytes.contains(&b'/') || bytes.get(1) == Some(&b'.') {
                return None;
            }
            return self
                .chosen(word, key)
                .or_else(|| statement::of_word(word).filter(|_| self.is_open(key)))
                .map(ActingValue::new);
        }
        if self.runs && bytes.len() > 8 {
            let text = value.as_text()?;
            return command::in_pipeline(head(&text)).map(ActingValue::new);
        }
        if !self.is_open(key) {
            return None;
        }
        let text = value.as_text()?;
        let text = head(text.trim());
        let what = command::within(text, place::of(key) == Place::Name)
            .or_else(|| statement::within(text))
            .or_else(|| command::in_code(text));
        what.map(ActingValue::new)
    }

    /// Whether what stands under a key is looked at: no text, nothing that is judged already.
    fn is_open(&self, key: &str) -> bool {
        if self.is_settled(key) {
            return false;
        }
        match place::of(key) {
            Place::Text => false,
            Place::Other | Place::Name => !self.outlook.stores,
            Place::Command => true,
        }
    }

    /// Whether what stands under a key is judged already.
    fn is_settled(&self, key: &str) -> bool {
        self.outlook.settled.iter().any(|settled| **settled == *key)
    }

    /// A word that chooses something grave, in a tool that lists no words to choose from.
    fn chosen(&self, word: &str, key: &str) -> Option<String> {
        if word.len() <= 64
            && !self.outlook.looks
            && let Some(what) = place::reaches_others(key, Some(word))
        {
            return Some(what.to_owned());
        }
        let chooses = place::chooses(key) && !self.outlook.looks && word.len() <= 64;
        (chooses && !self.is_settled(key) && risk::is_grave_choice(word))
            .then(|| format!("`{word}` chooses something that takes away or acts for others"))
    }
}

/// Whether a string in JSON may be the name of a program.
fn may_be_program(raw: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    raw.len() > 3 && raw.len() < 64 && raw.trim_matches('"').bytes().all(plain)
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a key is for a path.
fn is_path(key: &str) -> bool {
    matches!(key_role::of(key), Role::Path)
}
