//! What the first sentence of a description says that a tool does.

use super::fallback::words;
use super::nature::{DETERMINERS, FILLING, GUARDS, HANDING_OUT, MOST_WORDS, OWN, PLAINLY_LOOKING, hands_out_secrets};
use super::verbs::{self, Kind, NOT_TO_PEOPLE, PAIRS, Set, TRIFLES, Verb, tables};
use super::{phrase, senses};

tables! {
    /// Verbs that say that something is done, and leave to what follows what it is.
    HELPING = "execute executes run runs perform performs make makes do does conduct conducts issue issues invoke invokes submit \
        submits start starts";
    /// What a word of SQL stands in front of.
    OF_STATEMENTS = "query queries statement statements sql";
}

/// What the first sentence of a description says.
pub(super) fn of_description(text: &str, name: &[String]) -> Option<Verb> {
    let sentence = first_sentence(text);
    if let Some(kind) = verbs::within(sentence) {
        return Some(Verb { kind, sure: true });
    }
    let words: Vec<String> = words(sentence).into_iter().take(MOST_WORDS).collect();
    let start = words.iter().position(|word| !FILLING.contains(word.as_str()))?;
    // `Execute SELECT queries`: a word of SQL clicks on nothing.
    let sql = sentence.split(|c: char| !c.is_alphanumeric()).any(|word| word == "SELECT");
    let known = |at: usize| {
        let word = words.get(at)?;
        let asks = || words.get(at + 1).is_some_and(|next| OF_STATEMENTS.contains(next.as_str()));
        let selects = word == "select" && (sql || asks());
        if selects { Some(Verb { kind: Kind::Look, sure: true }) } else { verbs::of_sentence(word) }
    };
    let first = known(start);
    // `Checks out a file` checks nothing.
    if let Some(verb) = phrase::phrasal(&words[start..]) {
        return Some(verb);
    }
    let (at, verb) = match first {
        // `get_item | Get the password of an item`
        Some(_) if hands_out_secrets(&words, start) && name.iter().any(|word| HANDING_OUT.contains(word.as_str())) => {
            return Some(Verb { kind: Kind::Reveal, sure: true });
        }
        Some(verb) if !verb.sure && phrase::is_compound(&words[start..]) => {
            return Some(Verb { kind: Kind::Look, sure: false });
        }
        Some(verb) => (start, verb),
        // `reserve_listing`: the verb of the name is one that nobody knows, and what stands behind it is its object.
        None if is_own_verb(&words[start..], name) => {
            return paired_behind(&words[start..]).map(|kind| Verb { kind, sure: true });
        }
        None if phrase::names_thing(sentence) => return Some(Verb { kind: Kind::Look, sure: false }),
        None => (start..words.len()).find_map(|at| Some((at, known(at).filter(|verb| verb.sure)?)))?,
    };
    if HELPING.contains(words[at].as_str()) {
        if let Some(kind) = paired_behind(&words[at..]).filter(|kind| *kind == Kind::Stop && at == start) {
            return Some(Verb { kind, sure: true });
        }
        // `Runs the tests`: what they do, nobody knows.
        if words[at + 1..].iter().take(7).any(|word| senses::is_test(word)) {
            return Some(Verb { kind: Kind::Change, sure: false });
        }
        // `Runs a list of operations`: a list is none that lists.
        let is_list =
            |at: usize| matches!(words[at].as_str(), "list" | "lists") && matches!(words[at - 1].as_str(), "a" | "the");
        // `Make a request to a service`: which one, the arguments tell.
        let is_call = |at: usize| matches!(words[at].as_str(), "request" | "requests" | "call" | "calls");
        let behind = (at + 1..words.len().min(at + 7)).filter(|at| !is_list(*at) && !is_call(*at)).find_map(known);
        return behind.or(Some(Verb { kind: Kind::Manage, sure: false }));
    }
    if !verb.kind.is_grave() {
        let looks = verb.kind == Kind::Look;
        let verb = if looks { phrase::changes_too(sentence).unwrap_or(verb) } else { verb };
        let paired = paired_behind(&words[at..]).map(|kind| Verb { kind, sure: true });
        // Further into the sentence it may be anything, where the name tells plainly.
        let plain = name.first().is_some_and(|first| PLAINLY_LOOKING.contains(first.as_str()));
        let verb = if at == start || !plain { verb } else { Verb { sure: false, ..verb } };
        return Some(paired.filter(|_| at == start).unwrap_or(verb));
    }
    // `Remove tracks from a playlist`: both are still there.
    let apart = |word: &str| name.iter().any(|own| own == word);
    if verb.kind == Kind::Delete && apart("remove") && apart("from") {
        return Some(Verb { kind: Kind::Change, sure: true });
    }
    // A grave word in a sentence is softened by the same objects as in a name.
    let objects: Vec<String> = words[at..].iter().take(8).chain(name).cloned().collect();
    let trifling = objects.iter().any(|word| match verb.kind {
        Kind::Delete => TRIFLES.contains(word.as_str()) && !objects.iter().any(|word| GUARDS.contains(word.as_str())),
        Kind::Send => NOT_TO_PEOPLE.contains(word.as_str()),
        Kind::Stop => OWN.contains(word.as_str()),
        _ => false,
    });
    let trifling = trifling && !(verb.kind == Kind::Send && senses::is_for_people(&objects));
    let trifling = trifling || matches!(verb.kind, Kind::Send | Kind::Publish) && senses::is_draft(&objects);
    // Further into the sentence, only a verb in first place is one.
    let leads = at == start;
    match trifling || !leads && !verb.sure {
        true => Some(Verb { kind: Kind::Change, sure: false }),
        false => Some(verb),
    }
}

/// Whether a sentence begins with a verb that nobody knows: a word without a meaning here, in front of an object.
pub(super) fn begins_with_verb(words: &[String]) -> bool {
    let (Some(first), Some(next)) = (words.first(), words.get(1)) else { return false };
    !FILLING.contains(first.as_str()) && verbs::of_sentence(first).is_none() && DETERMINERS.contains(next.as_str())
}

/// Whether a sentence begins with the first word of the name, and uses it as a verb: `Reserve a listing`, not `Weather lookup`.
pub(super) fn is_own_verb(words: &[String], name: &[String]) -> bool {
    let (Some(first), Some(own)) = (words.first(), name.first()) else { return false };
    let is_object = words.get(1).is_some_and(|next| DETERMINERS.contains(next.as_str()));
    is_object && (first == own || first.strip_suffix('s') == Some(own))
}

/// What a verb at the beginning of these words does together with an object right behind it.
pub(super) fn paired_behind(words: &[String]) -> Option<Kind> {
    let verb = words.first()?;
    let bare = verb.strip_suffix("es").filter(|bare| verbs::of(bare).is_some()).or_else(|| verb.strip_suffix('s'));
    let is_verb = |list: &Set| list.contains(verb.as_str()) || bare.is_some_and(|bare| list.contains(bare));
    let behind =
        || words.iter().skip(1).take(4).take_while(|word| !matches!(word.as_str(), "for" | "from" | "with" | "in"));
    if behind().any(|word| TRIFLES.contains(word.as_str())) {
        return None;
    }
    let pair =
        PAIRS.iter().find(|(verbs, objects, _)| is_verb(verbs) && behind().any(|word| objects.contains(word.as_str())));
    pair.map(|(_, _, kind)| *kind)
}

pub(super) fn first_sentence(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end =
        [". ", "。", " - ", "; ", ": ", " — ", "! "].iter().filter_map(|end| text.find(end)).filter(|at| *at > 8).min();
    end.map_or(text, |end| &text[..end])
}
