//! Words that mean something only together: a verb with its particle, a second verb behind `and`, a noun that looks like a
//! verb, and a sentence that names a thing and no deed.

use super::fallback::words;
use super::nature::{self, DETERMINERS, FILLING};
use super::verbs::{self, Kind, Verb, tables};

/// Verbs with a particle right behind them that do something else than the verb alone.
const PHRASAL: &[(&str, &str, Kind)] = &[
    ("check", "out in into", Kind::Change),
    ("look", "after", Kind::Manage),
    ("roll", "back", Kind::Stop),
    ("shut take tear spin bring wind", "down offline", Kind::Stop),
    ("throw blow give", "away out", Kind::Delete),
    ("clear clean", "out", Kind::Delete),
    ("write", "off", Kind::Pay),
    ("sign", "off", Kind::Grant),
    ("hand", "over out", Kind::Grant),
    ("kick fire", "off", Kind::Run),
    ("roll push", "out", Kind::Publish),
];

tables! {
    /// What is bought where it is checked out.
    BOUGHT = "cart basket trolley order purchase checkout shop shopping";
    /// Verbs behind `and` after which something is changed.
    CHANGING_TOO = "merge update edit modify replace rename move write rewrite assign close archive mark set apply overwrite fix \
        patch save store commit sync";
    /// What such a verb is done to.
    OBJECTS = "them it the all those these each every any their its a an";
    /// Nouns for deeds: a sentence that begins with one names no thing.
    DEEDS = "removal deletion creation execution termination cancellation approval disposal withdrawal payment deployment activation \
        deactivation suspension publication installation transmission migration restoration revocation modification replacement \
        assignment booking purchase transfer reset restart shutdown dispose rid care advantage payout refund rotation enrolment \
        enrollment submission dispatch escalation promotion renewal resolution clearance destruction";
    /// What things are called that are only looked at, as heads of a name.
    THINGS = "table quality phase rate statement sheet state level index schedule calendar time date size count number availability \
        usage position capacity depth speed phases rates times dates sizes levels states tables";
    /// Words behind which the thing is told that a noun is of.
    OF = "of between";
    BESIDE = "for in on at from per by and or with that which";
    /// What may stand in front of the verb of a part.
    BETWEEN = "then also optionally automatically immediately permanently afterwards finally silently subsequently and it will can";
    /// Verbs that cost something, whatever they are done to.
    RESERVING = "book reserve rent hire";
    /// Words behind which something is told of what is looked at.
    RELATIVE = "that which who whose whether when if where how what was were been before after to not never without";
    /// What stands in front of an object besides articles.
    QUALIFIED = "old older other others inactive unused stale expired every duplicate duplicates him her user users everything ones both 1";
    /// Nouns behind a verb that make it one as well: `release_date`, `trade_id`.
    ATTRIBUTES = "date dates note notes version versions id ids name names number numbers rate rates code codes type types \
        calendar time times book books";
    /// What is known of something: a name that ends so is the name of a thing.
    KNOWLEDGE = "quote quotes privacy alerts info information details status state history stats statistics number numbers size price \
        prices rate rates balance balances summary metadata schema count counts metrics usage results schedule schedules comments \
        notes version versions id ids name names type types date dates time times code codes book books list lists search data \
        thread threads attachments folders sessions events transactions transfers fees pools height";
    /// The same behind words that are verbs elsewhere: `stop_times`, `block_info`.
    KNOWN_SURELY = "info information details status state stats statistics times rates fees conflicts departures arrivals height";
    /// What nothing can be known of: it is made or unmade.
    MAKING = "set reset clear update put push make close cancel";
    /// In front of what is looked at.
    CHOSEN_ONES = "latest recent current newest";
}

/// Parts of a sentence that are looked at, and words of one.
const MOST_PARTS: usize = 6;
const MOST_DEED_WORDS: usize = 8;

/// What a verb with its particle says at the beginning of these words.
pub(super) fn phrasal(words: &[String]) -> Option<Verb> {
    let (verb, particle) = (words.first()?.as_str(), words.get(1)?.as_str());
    let is = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let bare = verb.strip_suffix("es").filter(|bare| is("push", bare)).or_else(|| verb.strip_suffix('s'));
    let is_verb = |list: &str| is(list, verb) || bare.is_some_and(|bare| is(list, bare));
    let (.., kind) = PHRASAL.iter().find(|(verbs, particles, _)| is_verb(verbs) && is(particles, particle))?;
    // To check in on something is to look.
    if *kind == Kind::Change && words.get(2).is_some_and(|next| matches!(next.as_str(), "on" | "with")) {
        return None;
    }
    let bought = particle == "out" && *kind == Kind::Change;
    let bought = bought && words.iter().skip(2).take(4).any(|word| BOUGHT.contains(word.as_str()));
    Some(Verb { kind: if bought { Kind::Pay } else { *kind }, sure: true })
}

/// The change that a sentence adds to looking: `Looks for duplicates and merges them`.
pub(super) fn changes_too(sentence: &str) -> Option<Verb> {
    let parts = sentence.split(" and ").flat_map(|part| part.split(" then ")).skip(1).take(4);
    let changes = |part: &str| {
        let words: Vec<String> = words(part).into_iter().take(2).collect();
        let [verb, object] = words.as_slice() else { return false };
        let bare =
            verb.strip_suffix("es").filter(|bare| CHANGING_TOO.contains(bare)).or_else(|| verb.strip_suffix('s'));
        let is_verb = CHANGING_TOO.contains(verb.as_str()) || bare.is_some_and(|bare| CHANGING_TOO.contains(bare));
        is_verb && OBJECTS.contains(object.as_str())
    };
    parts.into_iter().any(changes).then_some(Verb { kind: Kind::Change, sure: true })
}

/// What a sentence about something that looks says that is done besides: `Reads a file, then deletes it`, `Lists backups,
/// removing old ones`, `Counts users; inactive ones are deleted`, `Gets or sets a value`. What only belongs to what is looked
/// at is no deed: `Lists files that were deleted`.
pub(super) fn does_besides(sentence: &str) -> Option<Kind> {
    let lower = sentence.to_lowercase();
    let parts =
        lower.split([',', ';', '(', ')']).flat_map(|part| part.split(" and ")).flat_map(|part| part.split(" or "));
    let mut parts = parts.flat_map(|part| part.split(" then ")).flat_map(|part| part.split(" by "));
    let first = parts.next()?;
    parts.take(MOST_PARTS).find_map(deed).or_else(|| got(first))
}

/// What the part of a sentence does to what the sentence is about.
fn deed(part: &str) -> Option<Kind> {
    let mut words = words(part);
    words.truncate(MOST_DEED_WORDS);
    let start = words.iter().position(|word| !BETWEEN.contains(word.as_str()))?;
    let words = &words[start..];
    let (first, object) = (words.first()?, words.get(1));
    if words.iter().any(|word| RELATIVE.contains(word.as_str())) {
        return None;
    }
    // `books it`, `charging a dollar`: no noun stands there.
    let pronoun = object.is_some_and(|next| matches!(next.as_str(), "it" | "them" | "him" | "her"));
    let clear = pronoun || first.ends_with("ing");
    // `sets a value`; `orders the results` buys nothing.
    let told = first.ends_with('s') && object.is_some_and(|next| DETERMINERS.contains(next.as_str()));
    let acts = |verb: &Verb| {
        let grave = verb.kind.is_grave() && verb.kind != Kind::Run;
        (verb.sure || clear) && grave || (verb.sure || clear || told) && verb.kind == Kind::Change
    };
    // `deletes it`, `send the result`, `removing old ones`: a verb with what it is done to.
    let is_object = object.is_some_and(|next| {
        OBJECTS.contains(next.as_str()) || DETERMINERS.contains(next.as_str()) || QUALIFIED.contains(next.as_str())
    });
    let bare = first.strip_suffix('s').unwrap_or(first);
    if pronoun && RESERVING.contains(bare) {
        return Some(Kind::Pay);
    }
    if is_object && let Some(verb) = verbs::of_sentence(first).filter(acts) {
        return Some(verb.kind);
    }
    // `inactive ones are deleted`, `it is sent`.
    words.windows(2).find_map(|two| {
        let is = matches!(two[0].as_str(), "are" | "is" | "gets" | "get" | "be");
        is.then(|| participle(&two[1]))
            .flatten()
            .filter(|verb| acts(verb) && verb.kind.is_grave())
            .map(|verb| verb.kind)
    })
}

/// `Gets the user removed`.
fn got(part: &str) -> Option<Kind> {
    let words = words(part);
    let (first, last) = (words.first()?, words.last()?);
    let gets = matches!(first.as_str(), "get" | "gets") && words.len() > 2 && words.len() <= MOST_DEED_WORDS;
    let found = gets.then(|| participle(last)).flatten()?;
    (found.sure && found.kind.is_grave() && !words.iter().any(|word| RELATIVE.contains(word.as_str())))
        .then_some(found.kind)
}

/// The verb of a participle: `deleted`, `sent`, `paid`.
fn participle(word: &str) -> Option<Verb> {
    let irregular = match word {
        "sent" => Some("send"),
        "paid" => Some("pay"),
        "sold" => Some("sell"),
        "bought" => Some("buy"),
        "overwritten" => Some("overwrite"),
        _ => None,
    };
    let regular = || {
        let stem = word.strip_suffix("ed")?;
        let once = stem.strip_suffix(|c: char| stem[..stem.len() - c.len_utf8()].ends_with(c));
        [Some(stem.to_owned()), Some(format!("{stem}e")), once.map(str::to_owned)]
            .into_iter()
            .flatten()
            .find_map(|base| verbs::of(&base))
    };
    irregular.and_then(verbs::of).or_else(regular)
}

/// Whether an open verb in a name is half of a noun: `release_date`.
pub(super) fn is_attribute(name: &[String], at: usize) -> bool {
    at + 2 == name.len() && name.last().is_some_and(|last| ATTRIBUTES.contains(last.as_str()))
}

/// Whether a name ends with what is known of something, and begins with nothing that is done to it: `swap_quote`, not
/// `reset_status`.
pub(super) fn ends_with_knowledge(name: &[String]) -> bool {
    let [first, .., last] = name else { return false };
    let is = |word: &str, list: &verbs::Set| list.contains(word);
    let is_thing = is(last, &KNOWLEDGE) && !nature::leads_as_act(name);
    is_thing || is(last, &KNOWN_SURELY) && !is(first, &MAKING) || is(first, &CHOSEN_ONES)
}

/// The same at the beginning of a sentence: `Order book of a symbol`.
pub(super) fn is_compound(words: &[String]) -> bool {
    let at = |at: usize, list: &verbs::Set| words.get(at).is_some_and(|word| list.contains(word.as_str()));
    at(1, &ATTRIBUTES) && at(2, &OF)
}

/// Whether a sentence names a thing, and no deed: `State of a vehicle`, `Size, times and mode of a file`, `Income statement of a
/// company`. Of a deed the object would have an article, or be many.
pub(super) fn names_thing(sentence: &str) -> bool {
    let said: Vec<String> = sentence.split_whitespace().take(8).flat_map(words).collect();
    let start = said.iter().position(|word| !matches!(word.as_str(), "a" | "an" | "the")).unwrap_or_default();
    let said = &said[start..];
    let Some(end) =
        said.iter().position(|word| OF.contains(word.as_str()) || matches!(word.as_str(), "for" | "in" | "on"))
    else {
        return false;
    };
    let (front, of) = (&said[..end], OF.contains(said[end].as_str()));
    let Some((head, before)) = front.split_last() else { return false };
    let acts = |word: &String| {
        DEEDS.contains(word.as_str())
            || DETERMINERS.contains(word.as_str())
            || word.ends_with("ing")
            || verbs::of_sentence(word).is_some_and(|verb| verb.kind != Kind::Look && (verb.sure || word == &front[0]))
    };
    if front.iter().any(acts) {
        return false;
    }
    let is_thing = THINGS.contains(head.as_str());
    let many = head.ends_with('s') && !head.ends_with("ss") && !head.ends_with("us") && !head.ends_with("is");
    let joined = before.iter().any(|word| word == "and") || sentence.contains(", ");
    // One word in front of `of` is no verb: that would have an object.
    is_thing || of && (before.is_empty() || !many || joined)
}

/// Whether name and description of a tool say that something is done, so that a hint that nothing is does not count.
pub(super) fn is_deed(name: &[String], described: &str) -> bool {
    let said: Vec<String> = described.split_whitespace().take(12).flat_map(words).collect();
    let start = said.iter().position(|word| !FILLING.contains(word.as_str())).unwrap_or(said.len());
    let said = &said[start..];
    let leads = name.len() > 1 && nature::leads_as_act(name);
    let Some(first) = said.first() else { return leads };
    let verb = verbs::of_sentence(first);
    if verb.is_some_and(|verb| verb.kind == Kind::Look) || names_thing(described) {
        return changes_too(described.split(". ").next().unwrap_or_default()).is_some();
    }
    let own = name.iter().any(|word| same(word, first));
    let object = said.get(1).map(String::as_str);
    let has_object = object.is_some_and(|next| !OF.contains(next) && !BESIDE.contains(next));
    let told = first.ends_with('s') || object.is_some_and(|next| DETERMINERS.contains(next)) || own;
    leads || verb.is_some() && has_object && told
}

/// Whether a word of a sentence is the verb of a name: the same, or its third person, however its last letter is doubled (`enroll`,
/// `enrols`). A name in the plural is a thing.
pub(super) fn same(own: &str, said: &str) -> bool {
    let single = |word: &'_ str| word.strip_suffix("ll").map_or_else(|| word.to_owned(), |stem| format!("{stem}l"));
    let bare = said.strip_suffix("es").filter(|bare| *bare == own).or_else(|| said.strip_suffix('s')).unwrap_or(said);
    own == said || single(own) == single(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_name_things() {
        for thing in [
            "State of a vehicle",
            "Size, times and mode of a file",
            "Income statement of a company",
            "Number of keys",
            "Free and busy times of people",
            "The certificate of a host",
            "Tide table for a port",
            "Exchange rate between two currencies",
        ] {
            assert!(names_thing(thing), "{thing}");
        }
        for deed in [
            "Void the invoices of a customer",
            "Void invoices of a customer",
            "Removal of a user",
            "Dispose of a volume",
            "Enrol a student in a course",
            "Booking of a room",
            "Escalate",
        ] {
            assert!(!names_thing(deed), "{deed}");
        }
    }

    #[test]
    fn what_is_done_besides_looking() {
        for (says, kind) in [
            ("Reads a file, then deletes it", Kind::Delete),
            ("Previews an email and sends it", Kind::Send),
            ("Counts users; inactive users are deleted", Kind::Delete),
            ("List backups, removing old ones", Kind::Delete),
            ("Validates a card by charging 1 dollar", Kind::Pay),
            ("Gets a quote and books it", Kind::Pay),
            ("Gets the user removed", Kind::Delete),
            ("Gets or sets a configuration value", Kind::Change),
        ] {
            assert_eq!(does_besides(says), Some(kind), "{says}");
        }
        for says in [
            "Lists files that were deleted",
            "Get messages and their attachments",
            "Lists messages, with those that are archived and deleted",
            "Get the status of a build, deployment or release",
            "Search for orders, shipments and returns",
            "List users and when they are removed",
            "Get a user by name or email",
            "Reads the file and returns its lines",
            "Shows which branches would be deleted",
            "Check if a file can be deleted and why",
        ] {
            assert_eq!(does_besides(says), None, "{says}");
        }
    }

    #[test]
    fn verbs_with_particles() {
        let kind = |text: &str| phrasal(&words(text)).map(|verb| verb.kind);
        assert_eq!(kind("Checks out a branch"), Some(Kind::Change));
        assert_eq!(kind("Check out the shopping basket"), Some(Kind::Pay));
        assert_eq!(kind("Check in on a build"), None);
        assert_eq!(kind("Check a branch"), None);
        assert_eq!(kind("Tears down the stack"), Some(Kind::Stop));
        assert!(changes_too("Looks for duplicates and merges them").is_some());
        assert!(changes_too("Searches and filters the list").is_none());
    }

    #[test]
    fn a_deed_contradicts_a_hint() {
        let deed = |name: &str, says: &str| is_deed(&words(name), says);
        assert!(deed("set_volume", "Sets the volume") && deed("commit", "Records changes") && deed("close_issue", ""));
        assert!(
            deed("git_reset_hard", "Resets hard to a commit")
                && deed("sync_folders", "Makes a folder equal to another")
        );
        assert!(!deed("open_orders", "Lists the orders that are open") && !deed("order_book", "Book of orders"));
        assert!(!deed("closing_prices", "Prices of a stock"));
    }
}
