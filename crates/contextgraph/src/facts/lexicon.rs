//! The words that facts are read by: negations, fillers, synonyms, opposites, and verbs with what they say.

use std::collections::HashMap;
use std::sync::OnceLock;

pub(super) use super::numerals::{base_of_past, compound_numeral, is_past, numeral, ordinal, participle};

/// What a verb says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// It is.
    Is,
    /// It has.
    Has,
    /// Somebody lives somewhere.
    Lives,
    /// Somebody works for somebody.
    Works,
    /// It costs, takes, weighs, needs.
    Measures,
    /// It starts, ends, opens, closes, leaves, arrives.
    Happens,
    /// It is led, owned, called by a name: of which there is one.
    Named,
    /// It uses or runs something.
    Uses,
    /// Somebody prefers or wants something.
    Prefers,
    /// It came to be something else.
    Changed,
    /// Somebody or something moved.
    Moved,
    /// Somebody joined somebody.
    Joined,
}

impl Verb {
    /// Whether a statement with this verb may replace one with another.
    pub(super) fn may_replace(self, older: Self) -> bool {
        self == older
            || match self {
                Self::Moved => matches!(older, Self::Lives | Self::Is | Self::Happens | Self::Changed),
                Self::Joined => matches!(older, Self::Works),
                Self::Changed => !matches!(older, Self::Uses | Self::Has),
                Self::Lives => matches!(older, Self::Moved),
                Self::Works => matches!(older, Self::Joined),
                Self::Is => matches!(older, Self::Happens | Self::Measures | Self::Changed | Self::Named),
                Self::Happens | Self::Measures => matches!(older, Self::Is | Self::Changed),
                _ => false,
            }
    }

    pub(super) const fn is_change(self) -> bool {
        matches!(self, Self::Changed | Self::Moved | Self::Joined)
    }

    pub(super) const fn is_copula(self) -> bool {
        matches!(self, Self::Is | Self::Changed)
    }

    /// Whether another number means that the old one does not hold any more.
    pub(super) const fn is_stative(self) -> bool {
        !matches!(self, Self::Joined)
    }

    /// Whether there is one name that it can be said with.
    pub(super) const fn has_one_name(self) -> bool {
        matches!(self, Self::Lives | Self::Works | Self::Named | Self::Moved | Self::Joined | Self::Happens)
    }
}

/// What a word says, if it is a verb of these.
pub(super) fn verb(lower: &str) -> Option<Verb> {
    Some(match lower {
        "is"
        | "are"
        | "was"
        | "were"
        | "be"
        | "ist"
        | "sind"
        | "war"
        | "est"
        | "sont"
        | "était"
        | "es"
        | "son"
        | "está"
        | "están"
        | "è"
        | "sono"
        | "находится"
        | "называется" => Verb::Is,
        "has" | "have" | "hat" | "haben" | "tiene" | "tienen" | "ha" | "имеет" => Verb::Has,
        "lives" | "live" | "resides" | "lived" | "wohnt" | "lebt" | "habite" | "vit" | "vive" | "abita" | "живет"
        | "живёт" | "проживает" => Verb::Lives,
        "works" | "work" | "worked" | "arbeitet" | "travaille" | "trabaja" | "lavora" | "работает" => {
            Verb::Works
        }
        "costs"
        | "cost"
        | "takes"
        | "weighs"
        | "measures"
        | "needs"
        | "holds"
        | "contains"
        | "lasts"
        | "earns"
        | "pays"
        | "kostet"
        | "dauert"
        | "wiegt"
        | "beträgt"
        | "coûte"
        | "dure"
        | "cuesta"
        | "dura"
        | "costa"
        | "стоит"
        | "длится"
        | "весит"
        | "составляет"
        | "равна"
        | "равен" => Verb::Measures,
        "starts"
        | "begins"
        | "ends"
        | "opens"
        | "closes"
        | "leaves"
        | "arrives"
        | "expires"
        | "meets"
        | "happens"
        | "beginnt"
        | "endet"
        | "öffnet"
        | "schließt"
        | "fährt"
        | "commence"
        | "finit"
        | "ouvre"
        | "ferme"
        | "part"
        | "empieza"
        | "termina"
        | "abre"
        | "cierra"
        | "sale"
        | "inizia"
        | "finisce"
        | "parte"
        | "начинается"
        | "начнется"
        | "заканчивается"
        | "открывается"
        | "закрывается"
        | "отправляется"
        | "состоится"
        | "проходит"
        | "бывает" => Verb::Happens,
        "heißt"
        | "s'appelle"
        | "зовут"
        | "возглавляет"
        | "руководит"
        | "leads"
        | "owns"
        | "manages"
        | "leitet"
        | "dirige" => Verb::Named,
        "uses" | "runs" | "use" | "run" | "requires" | "benutzt" | "läuft" | "utilise" | "usa" => Verb::Uses,
        "prefers"
        | "prefer"
        | "wants"
        | "likes"
        | "like"
        | "want"
        | "eats"
        | "drinks"
        | "enjoys"
        | "bevorzugt"
        | "mag"
        | "trinkt"
        | "préfère"
        | "prefiere"
        | "preferisce"
        | "предпочитает"
        | "любит"
        | "пьет"
        | "пьёт" => Verb::Prefers,
        "became" | "becomes" | "changed" | "switched" | "renamed" | "rescheduled" | "postponed" | "raised"
        | "lowered" | "increased" | "decreased" | "wurde" | "стал" | "стала" | "стало" => Verb::Changed,
        "moved"
        | "relocated"
        | "zog"
        | "déménagé"
        | "mudó"
        | "переехал"
        | "переехала"
        | "переехали"
        | "перенесли"
        | "перенесено"
        | "перенесена"
        | "перенесен" => Verb::Moved,
        "joined" => Verb::Joined,
        _ => return None,
    })
}

/// Things of which there is one value.
pub(super) fn has_one_value(lower: &str, key: &str) -> bool {
    const NOUNS: &[&str] = &[
        "address",
        "age",
        "balance",
        "birthday",
        "boss",
        "budget",
        "capital",
        "ceo",
        "city",
        "color",
        "colour",
        "date",
        "deadline",
        "default",
        "email",
        "employer",
        "favorite",
        "favourite",
        "headquarters",
        "height",
        "host",
        "hometown",
        "job",
        "language",
        "lead",
        "leader",
        "limit",
        "location",
        "manager",
        "name",
        "nickname",
        "number",
        "owner",
        "password",
        "phone",
        "pin",
        "port",
        "president",
        "price",
        "priority",
        "rent",
        "salary",
        "size",
        "status",
        "surname",
        "temperature",
        "timezone",
        "title",
        "version",
        "weight",
        "width",
    ];
    NOUNS.binary_search(&lower).is_ok() || NOUNS.binary_search(&key).is_ok()
}

pub(super) fn is_negation(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "jamais",
        "kein",
        "keine",
        "keinen",
        "never",
        "nicht",
        "nie",
        "no",
        "non",
        "none",
        "not",
        "nothing",
        "nunca",
        "ohne",
        "pas",
        "sans",
        "senza",
        "sin",
        "without",
        "nobody",
        "niemand",
        "без",
        "не",
        "нет",
        "никогда",
    ];
    WORDS.contains(&lower)
}

pub(super) fn is_filler(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "a",
        "actually",
        "also",
        "am",
        "an",
        "and",
        "any",
        "anymore",
        "basically",
        "currently",
        "das",
        "der",
        "die",
        "do",
        "does",
        "ein",
        "eine",
        "el",
        "is",
        "are",
        "it",
        "its",
        "just",
        "la",
        "le",
        "les",
        "longer",
        "los",
        "more",
        "note",
        "now",
        "of",
        "our",
        "please",
        "quite",
        "really",
        "remember",
        "still",
        "that",
        "the",
        "their",
        "there",
        "this",
        "too",
        "un",
        "una",
        "une",
        "very",
        "your",
        "per",
        "one",
        "totally",
        "definitely",
        "\u{1}been",
        "den",
        "dem",
        "des",
        "einen",
        "einem",
        "einer",
        "ist",
        "sind",
        "liegt",
        "steht",
        "est",
        "sont",
        "ne",
        "du",
        "es",
        "está",
        "las",
        "nada",
        "und",
        "et",
        "y",
        "и",
        "sehr",
        "wirklich",
        "très",
        "vraiment",
        "muy",
        "очень",
    ];
    WORDS.contains(&lower)
}

pub(super) fn is_preposition(lower: &str) -> bool {
    [
        "in",
        "to",
        "at",
        "on",
        "from",
        "for",
        "into",
        "nach",
        "auf",
        "à",
        "en",
        "a",
        "zu",
        "bei",
        "by",
        "в",
        "на",
        "из",
        "городе",
        "город",
    ]
    .contains(&lower)
}

pub(super) fn is_date(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "abril",
        "agosto",
        "août",
        "avril",
        "dezember",
        "dicembre",
        "diciembre",
        "dienstag",
        "dimanche",
        "domingo",
        "donnerstag",
        "décembre",
        "enero",
        "februar",
        "freitag",
        "février",
        "januar",
        "janvier",
        "jeudi",
        "jueves",
        "juillet",
        "juin",
        "juli",
        "julio",
        "junio",
        "lundi",
        "lunes",
        "mai",
        "mardi",
        "mars",
        "martes",
        "marzo",
        "mercredi",
        "midnight",
        "miércoles",
        "mittwoch",
        "montag",
        "märz",
        "noon",
        "noviembre",
        "octubre",
        "oktober",
        "sabato",
        "samedi",
        "samstag",
        "septiembre",
        "sonntag",
        "today",
        "tomorrow",
        "vendredi",
        "viernes",
        "yesterday",
        "понедельник",
        "вторник",
        "среда",
        "среду",
        "четверг",
        "пятница",
        "пятницу",
        "суббота",
        "субботу",
        "воскресенье",
    ];
    WORDS.contains(&lower)
}

/// Words that are taken for the same.
const GROUPS: &[&[&str]] = &[
    &["user", "i", "me", "my", "nutzer", "benutzer", "anwender"],
    &["to", "until", "till", "bis"],
    &["live", "reside", "dwell"],
    &["want", "wish", "desire"],
    &["named", "called"],
    &["wohnt", "lebt"],
    &["beginnt", "startet"],
    &["clé", "clef", "clés", "clefs"],
    &["préfère", "préférer"],
    &["habite", "vit", "réside"],
    &["beautiful", "pretty"],
    &["job", "occupation"],
    &["begins", "starts"],
    &["speak", "talk"],
    &["meal", "dish"],
    &["allergic", "allergy"],
    &["woman", "lady"],
    &["wife", "spouse"],
    &["often", "frequently"],
    &["usually", "normally", "generally"],
    &["seldom", "rarely"],
    &["choose", "select", "pick"],
    &["allow", "permit"],
    &["receive", "get"],
    &["reply", "answer", "respond"],
    &["folder", "directory"],
    &["laptop", "notebook"],
    &["autumn", "fall"],
    &["ill", "sick"],
    &["dad", "father"],
    &["в", "во"],
    &["с", "со"],
    &["trip", "journey"],
    &["present", "gift"],
    &["street", "road"],
    &["forbid", "prohibit"],
    &["hate", "detest"],
    &["delete", "erase"],
    &["documentation", "docs"],
    &["production", "prod"],
    &["development", "dev"],
    &["kubernetes", "k8s"],
    &["password", "passphrase"],
    &["begin", "start", "commence"],
    &["buy", "purchase"],
    &["big", "large", "huge"],
    &["car", "automobile"],
    &["doctor", "physician"],
    &["child", "kid", "children"],
    &["fast", "quick", "rapid"],
    &["fix", "repair", "mend"],
    &["help", "assist"],
    &["mother", "mum", "mom"],
    &["father", "dad"],
    &["film", "movie"],
    &["phone", "telephone"],
    &["photo", "picture", "image"],
    &["store", "shop"],
    &["small", "little"],
    &["sofa", "couch"],
    &["end", "finish"],
    &["need", "require"],
    &["show", "display"],
    &["error", "mistake"],
    &["bicycle", "bike"],
    &["every", "each", "all"],
    &["holiday", "vacation"],
    &["flat", "apartment"],
    &["lift", "elevator"],
    &["colour", "color"],
    &["grey", "gray"],
    &["licence", "license"],
    &["programme", "program"],
    &["favourite", "favorite"],
    &["locate", "situate"],
    &["db", "database"],
    &["config", "configuration"],
    &["repo", "repository"],
    &["app", "application"],
];

/// The stem that a group of synonyms is compared by.
pub(super) fn synonym(stem: &str) -> Option<&'static str> {
    static STEMS: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    let stems = STEMS.get_or_init(|| {
        let entries = GROUPS.iter().flat_map(|group| group.iter().map(move |word| (crate::text::stem(word), group[0])));
        entries.collect()
    });
    stems.get(stem).copied()
}

/// Stems that say the contrary of each other.
pub(super) const OPPOSITES: &[(&str, &str)] = &[
    ("on", "off"),
    ("enabl", "disabl"),
    ("open", "clos"),
    ("open", "shut"),
    ("before", "after"),
    ("buy", "sell"),
    ("begin", "stop"),
    ("begin", "end"),
    ("first", "last"),
    ("left", "right"),
    ("up", "down"),
    ("in", "out"),
    ("increas", "decreas"),
    ("like", "dislik"),
    ("lik", "dislik"),
    ("like", "hate"),
    ("lik", "hat"),
    ("love", "hate"),
    ("lov", "hat"),
    ("allow", "deni"),
    ("allow", "forbid"),
    ("true", "false"),
    ("hot", "cold"),
    ("warm", "cold"),
    ("mor", "less"),
    ("more", "less"),
    ("abov", "below"),
    ("morn", "even"),
    ("alway", "seldom"),
    ("accept", "reject"),
    ("import", "export"),
    ("input", "output"),
    ("read", "write"),
    ("add", "remov"),
    ("minimum", "maximum"),
    ("upper", "lower"),
    ("north", "south"),
    ("east", "west"),
    ("summer", "winter"),
    ("public", "privat"),
    ("internal", "external"),
    ("old", "new"),
    ("arriv", "leav"),
    ("push", "pull"),
    ("dark", "light"),
    ("black", "white"),
    ("with", "without"),
    ("over", "under"),
    ("on", "under"),
    ("married", "single"),
    ("marri", "singl"),
    ("activ", "inactiv"),
    ("vegetarian", "meat"),
    ("full", "empti"),
    ("onlin", "offlin"),
    ("big", "small"),
    ("day", "night"),
    ("high", "low"),
    ("green", "red"),
    ("success", "failur"),
    ("pass", "fail"),
    ("short", "long"),
    ("own", "rent"),
    ("top", "bottom"),
    ("hir", "fir"),
    ("includ", "exclud"),
    ("an", "aus"),
    ("mit", "ohne"),
    ("open", "clos"),
    ("ouvre", "ferme"),
    ("abre", "cierra"),
    ("con", "sin"),
    ("sous", "sur"),
    ("may", "must"),
    ("can", "must"),
    ("can", "could"),
    ("all", "some"),
    ("every", "some"),
    ("every", "no"),
    ("usual", "seldom"),
    ("always", "never"),
    ("and", "or"),
];
