//! What a tool's definition says about its dangers, in any of the vocabularies that servers use.
//!
//! MGP 4 writes a `security` object, MCP writes `annotations`, and the proposals for confirmation, costs and scopes
//! write flags beside them. SDKs that drop unknown members move all of this under `_meta`. This view reads every
//! place and keeps the strictest word where two differ. What cannot be read counts as the worst it could mean. All of
//! it is the server's own claim: what follows from it is decided elsewhere.

mod argument;

use switchboard_wire::{Edit, Kind, Object, Raw};

use super::{Risk, ValidatorName};

pub use argument::Argument;

/// The places under `_meta` where a server may put what it cannot put at the top.
const META_HOMES: [&str; 2] = ["mgp", "dev.cloto/mgp"];

/// What a server says about one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSecurity {
    /// The strictest `risk_level`, in MGP's words: `reversible` is moderate and `destructive` is dangerous.
    pub risk: Option<Risk>,
    /// The permissions it needs, as written.
    pub permissions: Vec<String>,
    /// What it changes, as written. `None` where nothing is said; empty where it is said that nothing is changed.
    pub side_effects: Option<Vec<String>>,
    /// The checks that the server asks for.
    pub validators: Vec<ValidatorName>,
    /// Whether its effects can be undone.
    pub reversible: Option<bool>,
    /// MGP's wish for a confirmation.
    pub confirmation_required: bool,
    /// The proposals' demand for a confirmation.
    pub requires_confirmation: bool,
    /// What to ask the person; may hold the names of arguments in braces.
    pub confirmation_message: Option<String>,
    /// Whether its costs have to be approved.
    pub cost_requires_approval: bool,
    /// The scopes that a caller must hold.
    pub required_scopes: Vec<String>,
    /// MCP's hints.
    pub hints: Hints,
    /// How code in the arguments is to be judged (MGP 7.3).
    pub code_safety: Option<CodeSafety>,
    /// What the tool is about, in its own words: name, title and the beginning of its description, a line each.
    pub subject: String,
    /// The names of the arguments, as far as the schema lists them.
    pub properties: Vec<String>,
    /// What the schema says of them, and of the members within them.
    pub arguments: Vec<Argument>,
    /// Whether something about security was written that cannot be read.
    pub unreadable: bool,
    /// The server's `security` object.
    pub written: Option<Raw>,
}

/// The most characters of a description that tell what a tool is about.
const MAX_SUBJECT_CHARS: usize = 300;

fn subject(tool: &Object) -> String {
    let texts = ["name", "title", "description"].map(|key| tool.text(key).unwrap_or_default());
    let line = |text: &String| -> String {
        text.chars().take(MAX_SUBJECT_CHARS).map(|c| if c == '\n' { ' ' } else { c }).collect()
    };
    texts.iter().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// MCP's hints about a tool, only where they are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy.
    pub destructive: Option<bool>,
    /// A second equal call changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches outside.
    pub open_world: Option<bool>,
}

/// How code in the arguments is to be judged (MGP 7.3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeSafety {
    /// The name of the level.
    pub level: Option<String>,
    /// The language.
    pub language: Option<String>,
    /// The most bytes of code.
    pub max_code_size_bytes: Option<u64>,
    /// What may not be imported.
    pub blocked_imports: Vec<String>,
    /// Text that may not occur.
    pub blocked_patterns: Vec<String>,
    /// What alone may be imported at the strict levels.
    pub allowed_imports: Option<Vec<String>>,
}

impl ToolSecurity {
    /// Reads a tool's definition.
    #[must_use]
    pub fn of(tool: &Raw) -> Self {
        let mut said = Self::default();
        let Ok(tool) = Object::open(tool) else {
            said.distrust();
            return said;
        };
        said.read_flags(&tool);
        said.read_security(&tool);
        if let Some(annotations) = present(&tool, "annotations") {
            said.read_hints(&annotations);
        }
        if let Some(meta) = present(&tool, "_meta") {
            said.read_meta(&meta);
        }
        said.subject = subject(&tool);
        let schema = ["inputSchema", "input_schema"].iter().find_map(|key| tool.get(key));
        said.arguments = schema.as_ref().map(Argument::of_schema).unwrap_or_default();
        Argument::described(&mut said.arguments, &tool.text("description").unwrap_or_default());
        said.properties = schema
            .and_then(|schema| schema.member("properties"))
            .and_then(|properties| Object::open(&properties).ok())
            .map(|properties| properties.iter().map(|(name, _)| name.into_owned()).collect())
            .unwrap_or_default();
        said
    }

    fn read_meta(&mut self, meta: &Raw) {
        let Ok(meta) = Object::open(meta) else {
            self.distrust();
            return;
        };
        self.read_flags(&meta);
        self.read_security(&meta);
        for home in META_HOMES.iter().filter_map(|home| present(&meta, home)) {
            if let Ok(home) = Object::open(&home) {
                self.read_flags(&home);
                self.read_security(&home);
            }
        }
    }

    /// MGP's object.
    fn read_security(&mut self, home: &Object) {
        let Some(written) = present(home, "security") else { return };
        let Ok(security) = Object::open(&written) else {
            self.distrust();
            return;
        };
        self.read_flags(&security);
        self.permissions.extend(names(&security, "permissions_required"));
        if let Some(effects) = present(&security, "side_effects") {
            let said = self.side_effects.get_or_insert_default();
            // A server may say the same in two homes.
            for effect in names_of(&effects) {
                if !said.contains(&effect) {
                    said.push(effect);
                }
            }
        }
        for word in names(&security, "validator") {
            match ValidatorName::from_word(&word) {
                Some(validator) => self.validators.push(validator),
                // A check that the server counts on and that nobody here can make.
                None => self.distrust(),
            }
        }
        match present(&security, "reversible").map(|value| truth(&value)) {
            Some(Some(true)) => self.reversible = self.reversible.or(Some(true)),
            Some(_) => self.reversible = Some(false),
            None => {}
        }
        self.confirmation_required |= asked_for(&security, "confirmation_required");
        if let Some(rules) = present(&security, "code_safety") {
            self.code_safety = Some(CodeSafety::of(&rules));
        }
        self.written.get_or_insert_with(|| written.detach());
    }

    /// What the proposals put beside a tool's name, and others into any of the objects.
    fn read_flags(&mut self, home: &Object) {
        if let Some(word) = present(home, "risk_level") {
            self.read_risk(word.as_text().as_deref());
        }
        self.requires_confirmation |= asked_for(home, "requires_confirmation");
        if self.confirmation_message.is_none() {
            self.confirmation_message = home.text("confirmation_message");
        }
        let category = home.get("cost").and_then(|cost| cost.member("category")).and_then(|word| word.as_text());
        self.cost_requires_approval |= category.as_deref() == Some("requires_approval");
        self.required_scopes.extend(names(home, "required_scopes"));
    }

    fn read_risk(&mut self, word: Option<&str>) {
        let risk = match word {
            Some("reversible") => {
                self.reversible = self.reversible.or(Some(true));
                Risk::Moderate
            }
            Some("destructive") => {
                self.reversible = Some(false);
                Risk::Dangerous
            }
            word => word.and_then(Risk::from_word).unwrap_or(Risk::Dangerous),
        };
        self.risk = self.risk.max(Some(risk));
    }

    fn read_hints(&mut self, annotations: &Raw) {
        let hint = |key: &str| annotations.member(key).and_then(|value| truth(&value));
        self.hints = Hints {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        };
    }

    fn distrust(&mut self) {
        self.unreadable = true;
        self.risk = Some(Risk::Dangerous);
    }
}

impl CodeSafety {
    fn of(rules: &Raw) -> Self {
        // What cannot be read names no level, and a missing level is never read as `unrestricted`.
        let Ok(rules) = Object::open(rules) else { return Self::default() };
        Self {
            level: rules.text("level"),
            language: rules.text("language"),
            max_code_size_bytes: rules.get("max_code_size_bytes").and_then(|size| size.view().ok()),
            blocked_imports: names(&rules, "blocked_imports"),
            blocked_patterns: names(&rules, "blocked_patterns"),
            allowed_imports: present(&rules, "allowed_imports").map(|imports| names_of(&imports)),
        }
    }
}

/// What holds for a tool after all is weighed.
#[derive(Debug, Clone, Copy)]
pub struct Effective<'a> {
    /// Its risk.
    pub risk: Risk,
    /// The permissions without which it is not called.
    pub permissions: &'a [String],
    /// The checks that are made.
    pub validators: &'a [ValidatorName],
    /// Whether its effects can be undone.
    pub reversible: Option<bool>,
    /// Whether a person is asked.
    pub confirmation_required: bool,
    /// Why this risk holds. Nothing is written where it is empty.
    pub reason: &'a str,
}

/// The `security` object of MGP 4.2 for a list: what holds, in place of what the server wrote. Members of the
/// server's object that MGP does not know stay as they are.
#[must_use]
pub fn security_object(declared: &ToolSecurity, effective: &Effective<'_>) -> Raw {
    let written = declared.written.as_ref().and_then(|written| Edit::of(written).ok());
    let risk = Raw::string(effective.risk.as_str());
    let texts = |words: &[String]| Raw::array(&words.iter().map(|word| Raw::string(word)).collect::<Vec<_>>());
    // MGP has room for one word; the strictest is the one to show.
    let validator = effective.validators.iter().max().copied().unwrap_or(ValidatorName::None);
    let all: Vec<Raw> = effective.validators.iter().map(|validator| Raw::string(validator.as_str())).collect();
    let edit = written.unwrap_or_else(Edit::empty);
    let edit = if all.len() > 1 { edit.set("validators", Raw::array(&all)) } else { edit.remove("validators") };
    let edit = edit.set("risk_level", risk.clone()).set("effective_risk_level", risk);
    // A reason is the kernel's own.
    let edit = match effective.reason {
        "" => edit.remove("risk_reason"),
        reason => edit.set("risk_reason", Raw::string(reason)),
    };
    edit.set("permissions_required", texts(effective.permissions))
        .set_optional("side_effects", declared.side_effects.as_deref().map(texts))
        .set("validator", Raw::string(validator.as_str()))
        .set_optional("reversible", effective.reversible.map(boolean))
        .set("confirmation_required", boolean(effective.confirmation_required))
        .finish()
}

fn boolean(value: bool) -> Raw {
    // Writing a boolean cannot fail.
    Raw::from_value(&value).unwrap_or_else(|_| Raw::empty_object())
}

/// The value under `key`; `null` is as good as nothing.
fn present(object: &Object, key: &str) -> Option<Raw> {
    object.get(key).filter(|value| value.kind() != Kind::Null)
}

/// A boolean, where it is one.
fn truth(value: &Raw) -> Option<bool> {
    match value.as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether a confirmation is asked for. Everything but a clear no is a yes.
fn asked_for(object: &Object, key: &str) -> bool {
    present(object, key).is_some_and(|value| truth(&value) != Some(false))
}

fn names(object: &Object, key: &str) -> Vec<String> {
    present(object, key).map(|value| names_of(&value)).unwrap_or_default()
}

/// The words of a list, or of one word alone. What is no word is kept as its JSON text: a permission or scope of that
/// name is one that nobody has.
fn names_of(value: &Raw) -> Vec<String> {
    let items = value.elements().unwrap_or_else(|| vec![value.clone()]);
    items.iter().map(|item| item.as_text().unwrap_or_else(|| item.as_str().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    fn of(text: &str) -> ToolSecurity {
        ToolSecurity::of(&raw(text))
    }

    #[test]
    fn the_example_of_the_specification() {
        let said = of(
            r#"{"name":"execute_command","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}},
            "security":{"risk_level":"dangerous","permissions_required":["shell.execute"],"side_effects":["filesystem","process"],
            "validator":"sandbox","reversible":false,"confirmation_required":true}}"#,
        );
        assert_eq!(said.risk, Some(Risk::Dangerous));
        assert_eq!(said.permissions, ["shell.execute"]);
        assert_eq!(said.side_effects, Some(vec!["filesystem".to_owned(), "process".to_owned()]));
        assert_eq!(said.validators, [ValidatorName::Sandbox]);
        assert_eq!(said.reversible, Some(false));
        assert!(said.confirmation_required && !said.requires_confirmation && !said.unreadable);
        assert_eq!(said.properties, ["command"]);
    }

    #[test]
    fn effects_that_stand_in_two_homes_are_said_once() {
        let said = of(r#"{"security":{"side_effects":["memory"]},"_meta":{"mgp/security":{"side_effects":["memory"]},
            "security":{"side_effects":["memory"]},"mgp":{"security":{"side_effects":["memory"]}}}}"#);
        assert_eq!(said.side_effects, Some(vec!["memory".to_owned()]));
        let twice = of(r#"{"security":{"side_effects":["memory","process","memory"]}}"#);
        assert_eq!(twice.side_effects, Some(vec!["memory".to_owned(), "process".to_owned()]));
    }

    #[test]
    fn every_home_is_read() {
        for text in [
            r#"{"security":{"risk_level":"moderate"}}"#,
            r#"{"_meta":{"security":{"risk_level":"moderate"}}}"#,
            r#"{"_meta":{"mgp":{"security":{"risk_level":"moderate"}}}}"#,
            r#"{"_meta":{"dev.cloto/mgp":{"security":{"risk_level":"moderate"}}}}"#,
            r#"{"risk_level":"reversible"}"#,
            r#"{"_meta":{"risk_level":"reversible"}}"#,
        ] {
            assert_eq!(of(text).risk, Some(Risk::Moderate), "{text}");
        }
        let both = of(
            r#"{"security":{"risk_level":"safe","validator":"none"},"_meta":{"security":{"risk_level":"dangerous","validator":"readonly"}}}"#,
        );
        assert_eq!(both.risk, Some(Risk::Dangerous), "the strictest of two counts");
        assert_eq!(both.validators, [ValidatorName::None, ValidatorName::Readonly]);
    }

    #[test]
    fn the_proposals_and_hints_are_read() {
        let said =
            of(r#"{"requires_confirmation":true,"confirmation_message":"Really {what}?","risk_level":"destructive",
            "cost":{"category":"requires_approval"},"required_scopes":["repo","read:org"],
            "annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":"yes"}}"#);
        assert!(said.requires_confirmation && said.cost_requires_approval);
        assert_eq!(said.confirmation_message.as_deref(), Some("Really {what}?"));
        assert_eq!((said.risk, said.reversible), (Some(Risk::Dangerous), Some(false)));
        assert_eq!(said.required_scopes, ["repo", "read:org"]);
        let hints = Hints { read_only: Some(false), destructive: Some(true), idempotent: None, open_world: None };
        assert_eq!(said.hints, hints, "only what is written, and only booleans");
    }

    #[test]
    fn code_safety_is_read() {
        let said = of(r#"{"security":{"code_safety":{"level":"strict","language":"python","max_code_size_bytes":500,
            "blocked_imports":["socket"],"blocked_patterns":["eval("],"allowed_imports":["json"]}}}"#);
        let rules = said.code_safety.unwrap();
        assert_eq!((rules.level.as_deref(), rules.language.as_deref()), (Some("strict"), Some("python")));
        assert_eq!((rules.max_code_size_bytes, rules.allowed_imports), (Some(500), Some(vec!["json".to_owned()])));
        assert_eq!(
            (rules.blocked_imports, rules.blocked_patterns),
            (vec!["socket".to_owned()], vec!["eval(".to_owned()])
        );
    }

    #[test]
    fn what_cannot_be_read_is_the_worst() {
        for text in [
            r#"{"security":"safe"}"#,
            r#"{"security":[]}"#,
            r#"{"security":{"risk_level":"safe","risk_level":"safe"}}"#,
            r#"{"security":{"risk_level":"harmless"}}"#,
            r#"{"security":{"risk_level":0}}"#,
            r#"{"security":{"risk_level":"safe","validator":"regex"}}"#,
            r#"{"risk_level":"low"}"#,
            r#"{"_meta":[]}"#,
            "[]",
        ] {
            assert_eq!(of(text).risk, Some(Risk::Dangerous), "{text}");
        }
        let said = of(
            r#"{"security":{"confirmation_required":"no","reversible":"yes","permissions_required":[{"x":1}]},"requires_confirmation":0,"required_scopes":"repo"}"#,
        );
        assert!(said.confirmation_required && said.requires_confirmation);
        assert_eq!(said.reversible, Some(false));
        assert_eq!(said.permissions, [r#"{"x":1}"#], "a permission that nobody can have");
        assert_eq!(said.required_scopes, ["repo"]);
        let nothing =
            r#"{"security":null,"annotations":null,"_meta":null,"risk_level":null,"requires_confirmation":null}"#;
        assert_eq!(of(nothing), ToolSecurity::default());
        assert_eq!(of("{}"), ToolSecurity::default());
    }

    #[test]
    fn the_object_for_lists_keeps_unknown_members() {
        let said =
            of(r#"{"security":{"risk_level":"safe","x-note":1.10,"validator":"none","side_effects":["network"]}}"#);
        let effective = Effective {
            risk: Risk::Dangerous,
            permissions: &["shell.execute".to_owned()],
            validators: &[ValidatorName::NetworkRestricted, ValidatorName::Sandbox],
            reversible: Some(false),
            confirmation_required: true,
            reason: "its argument `command` carries a command",
        };
        assert_eq!(
            security_object(&said, &effective).as_str(),
            concat!(
                r#"{"risk_level":"dangerous","x-note":1.10,"validator":"sandbox","side_effects":["network"],"#,
                r#""validators":["network_restricted","sandbox"],"effective_risk_level":"dangerous","#,
                r#""risk_reason":"its argument `command` carries a command","permissions_required":["shell.execute"],"reversible":false,"confirmation_required":true}"#
            )
        );
        let calm = Effective {
            risk: Risk::Safe,
            permissions: &[],
            validators: &[],
            reversible: None,
            confirmation_required: false,
            reason: "",
        };
        assert_eq!(
            security_object(&ToolSecurity::default(), &calm).as_str(),
            r#"{"risk_level":"safe","effective_risk_level":"safe","permissions_required":[],"validator":"none","confirmation_required":false}"#
        );
    }
}
