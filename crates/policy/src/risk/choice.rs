//! What arguments tell of what a tool does: the request it is to send, the people it writes to, the word that chooses.

use switchboard_protocol::mgp::security::{Argument, ToolSecurity};

use super::fallback::words;
use super::nature::{self, CHOOSING, Nature, Told};
use super::senses;
use super::verbs::{self, Kind, Set, tables};

/// Words of a text that may be a list of what can be chosen.
const MOST_LISTED: usize = 8;

tables! {
    /// Arguments that say what a request holds.
    BODIES = "body data payload json request_body content form headers";
    /// Arguments that name who is written to; those that may; those beside which they do not; and what is written.
    RECIPIENTS = "recipient recipients to_email to_number phone phone_number receiver jid chat_id cc bcc email_to whatsapp_number";
    ADDRESSED = "to";
    PLACES = "from source src";
    WRITTEN = "text message body subject html content";
    /// Names of what is written and not sent.
    UNSENT = "draft drafts template templates translate translation convert";
    /// Last words of names of tools that tell about something.
    TOLD_ABOUT = "doc docs documentation help schema schemas spec specification reference manual guide example examples";
    /// Words of arguments that say what is done afterwards.
    BESIDES = "then after afterwards on finally post cleanup finish done";
    /// Arguments that say where a request goes.
    TARGETS = "url uri path endpoint route resource target_url request_url api_path href";
}

/// Whether it sends whatever request it is told to: with a method that an argument names, or that its own name does.
pub(super) fn by_request(declared: &ToolSecurity, name: &[String]) -> Option<(Told, Kind)> {
    let arguments = &declared.arguments;
    // Members within an argument have names of their own.
    let key = |argument: &Argument| {
        let outermost = declared.properties.contains(&argument.name);
        if outermost { words(&argument.name).join("_") } else { String::new() }
    };
    // `send_http1_request`: the whole request is one text.
    let has = |wanted: &str| name.iter().any(|word| word == wanted);
    let speaks = name.iter().any(|word| word.starts_with("http") || word == "raw");
    let whole =
        arguments.iter().any(|argument| matches!(key(argument).as_str(), "content" | "request" | "raw_request"));
    let looks = name.first().is_some_and(|first| verbs::of(first).is_some_and(|verb| verb.kind == Kind::Look));
    if speaks && (has("request") || has("requests")) && !looks && whole {
        return Some((Told::Name, Kind::Request));
    }
    if !arguments.iter().any(|argument| TARGETS.contains(key(argument).as_str())) {
        return None;
    }
    let changes = |word: &String| ["post", "put", "patch", "delete"].contains(&word.to_lowercase().as_str());
    let chosen = arguments.iter().position(|argument| {
        let is_method = matches!(key(argument).as_str(), "method" | "http_method" | "request_method" | "verb");
        let open = argument.words.is_empty() && !argument.closed;
        is_method && (open || argument.words.iter().any(changes))
    });
    let addressed = arguments.iter().any(|argument| matches!(key(argument).as_str(), "url" | "endpoint" | "uri"));
    let filled = arguments.iter().any(|argument| BODIES.contains(key(argument).as_str()));
    let named = (addressed || filled) && name.last().is_some_and(changes);
    // `get_endpoint` with a path and a method tells about one, where nothing goes anywhere.
    let described = senses::described(declared);
    let told_about = looks && !addressed && !filled && senses::begins_with_looking(described);
    // `Make an HTTP PUT request`.
    let said: Vec<String> = described.split_whitespace().take(MOST_LISTED).flat_map(words).collect();
    let spoken = || addressed && said.windows(2).any(|two| two[0].starts_with("http") && changes(&two[1]));
    let told = chosen.map(Told::Choice).filter(|_| !told_about);
    let told = told.or_else(|| named.then_some(Told::Name)).or_else(|| spoken().then_some(Told::Description))?;
    Some((told, Kind::Request))
}

/// Whether it has somebody to write to and something to write, and no verb that says that nothing is sent.
pub(super) fn by_recipient(declared: &ToolSecurity, name: &[String], found: Nature) -> Option<(Told, Kind)> {
    let has = |list: &Set| declared.properties.iter().any(|key| list.contains(words(key).join("_").as_str()));
    let unsent = name.iter().any(|word| UNSENT.contains(word.as_str()));
    let open = !(found.looks() || unsent || found.sure && found.told_by == Told::Name);
    let writes = has(&RECIPIENTS) || has(&ADDRESSED) && !has(&PLACES);
    (open && writes && has(&WRITTEN)).then_some((Told::Description, Kind::Send))
}

/// The gravest of the words that an argument may choose what is done with.
pub(super) fn by_choice(declared: &ToolSecurity, name: &[String], looks: bool) -> Option<(Told, Kind)> {
    let described = declared.subject.split('\n').nth(2).unwrap_or_default();
    // Of what is only told about, an argument chooses no deed: `get_endpoint_docs`.
    if looks && name.last().is_some_and(|last| TOLD_ABOUT.contains(last.as_str())) {
        return None;
    }
    declared.arguments.iter().enumerate().find_map(|(at, argument)| {
        let key = words(&argument.name);
        let chooses = key.last().is_some_and(|last| CHOOSING.contains(last.as_str()));
        // `and_then`, `after`, `on_success`: what is done besides.
        let besides = !argument.words.is_empty() && key.iter().any(|word| BESIDES.contains(word.as_str()));
        if !chooses && !besides {
            return None;
        }
        let listed = if argument.words.is_empty() && !argument.closed && !looks {
            // Where nothing is said of it, the description of the tool may list what it does.
            if argument.says.is_empty() { bracketed(described) } else { quoted(&argument.says) }
        } else {
            argument.words.clone()
        };
        // `git reset --hard` throws work away, and so does `drop` whatever stands behind it.
        let lost = |word: &String| {
            let hard = word.eq_ignore_ascii_case("hard").then_some(Kind::Delete);
            hard.or_else(|| nature::told_to(&words(word)).filter(|kind| *kind != Kind::Grant)).map(|kind| (kind, true))
        };
        let kinds = listed
            .iter()
            .filter_map(|word| lost(word).or_else(|| nature::of_name(&words(word)).filter(|(_, sure)| *sure)));
        let trifling = nature::is_trifle(name);
        let grave = kinds
            .map(|(kind, _)| kind)
            .find(|kind| kind.is_grave() && !matches!(kind, Kind::Run | Kind::Bulk | Kind::Overwrite));
        grave.filter(|kind| !(trifling && *kind == Kind::Delete)).map(|kind| (Told::Choice(at), kind))
    })
}

/// The words of a text that stand in brackets.
fn bracketed(text: &str) -> Vec<String> {
    text.split('(').skip(1).filter_map(|part| part.split_once(')')).flat_map(|(list, _)| words(list)).collect()
}

/// The words of a text that stand in quotes of any kind, or in a list behind a colon.
fn quoted(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for quote in ['\'', '"', '`'] {
        found.extend(text.split(quote).skip(1).step_by(2).flat_map(words));
    }
    // A short text is the list itself: `vacuum, reindex or drop`.
    if text.split_whitespace().count() <= MOST_LISTED {
        found.extend(words(text));
    } else if let Some((_, list)) = text.split_once([':', '(']) {
        found.extend(words(list));
    }
    found
}
