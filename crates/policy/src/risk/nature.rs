//! What a tool does: does it only look, does it change something, or is it grave enough that a person would want to know?
//!
//! Told by its name, by the first sentence of its description and by the words that its arguments may be. A name says it
//! with its first verb (`list_runs`), or with its last word where objects stand in front (`pods_delete`). Where name and
//! description differ, the graver one counts.

use switchboard_protocol::mgp::security::{Argument, ToolSecurity};

use super::fallback::words;
use super::sentence::{first_sentence, is_own_verb, of_description, paired_behind};
use super::verbs::{
    self, HARMLESS_TO_RUN, Kind, NO_MONEY, NOT_TO_PEOPLE, NOUNS, PAIRS, PAIRS_IN_NAMES, Set, TRIFLES, Verb, tables,
};
use super::{carried, choice, phrase, senses, weight};

/// Words of a sentence that are looked at.
pub(super) const MOST_WORDS: usize = 16;
/// Words that say that nothing is done that could not be undone.
const FINAL: &[&str] = &[
    "cannot be undone",
    "can't be undone",
    "can not be undone",
    "irreversibl",
    "irrevocabl",
    "permanently delet",
    "permanently remov",
    "permanently destroy",
    "permanently eras",
    "permanently wip",
    "permanently clos",
    "cannot be recovered",
    "can't be recovered",
    "cannot be restored",
    "unrecoverabl",
    "will be lost",
    "be permanently lost",
    "data loss",
    "loss of data",
    "destructive",
    "overwriting",
    "overwrites",
    "will overwrite",
    "overwrite existing",
    "overwrite an existing",
    "overwrite the existing",
    "replacing existing",
    "replaces existing",
    "replaces the existing",
    "discarding",
    "changes are lost",
    "work is lost",
    "data is lost",
    "are overwritten",
    "is overwritten",
    "to the live site",
    "to live site",
    "to production",
    "takes effect immediately",
    "goes live",
    "real money",
    "be charged",
    "exclusive lock",
    "downtime",
];
/// What stands in front of such words where they are taken back: `non-destructive`, `without data loss`.
const TAKEN_BACK: &[&str] =
    &["non", "not", "no", "never", "without", "isn't", "avoid", "avoids", "prevent", "prevents"];

tables! {
    /// Verbs that leave no doubt that they are verbs, so that what stands behind is what is looked at.
    pub(super) PLAINLY_LOOKING = "get describe show retrieve fetch read inspect view count lookup obtain calculate compute estimate measure";
    /// Open verbs that are nobody's object where a name begins with them: `set_values`, `reset_stats`.
    ACTS = "set reset clear empty stop pause resume suspend disable block unblock push pull drop drain flush trash restore migrate \
        install submit start launch trigger persist revert undo redo switch cancel close lock merge refresh reload sync type \
        press fill focus archive mark pin mute split join rebase upgrade downgrade rotate make store import open";
    /// Words that join two verbs.
    JOINING = "and or then und oder y o et ou e";
    /// Words in front of the verb of a sentence.
    pub(super) FILLING = "a an the this tool tools mcp use used uses using to for that which it can will you your lets let allows allow \
        enables enable helps help useful when be is are call function method endpoint command permanently safely quickly \
        efficiently programmatically directly simply automatically optionally asynchronously securely interactively easily \
        batch bulk mass multiple please note important new";
    /// What is told of something, and is none itself.
    TOLD = "story stories journey journeys flow flows persona personas guide manual diagram chart";
    /// What guards others: what is taken from it is no trifle.
    pub(super) GUARDS = "firewall firewalls policy policies acl security protection permission permissions rule rules role waf allowlist \
        whitelist blocklist";
    /// Words in front of an object.
    pub(super) DETERMINERS = "a an the this your all one any each every some specific given new existing multiple";
    /// Verbs that look at most things and settle these, or take them apart.
    RESOLVING = "resolve extract unzip";
    RESOLVED = "issue issues incident incidents alert alerts ticket tickets thread threads dispute disputes conflict conflicts archive \
        archives zip tarball";
    /// Words that a tool may be told to do, where they can be nothing but verbs.
    TOLD_TO_DELETE = "drop destroy wipe truncate dropping destroying wiping truncating discarding";
    TOLD_TO_OPEN = "unlock disarm";
    TOLD_TO_STOP = "drain suspend deactivate ban";
    /// What is a secret where a name ends with it; and halves of such.
    SECRETS = "secret secrets password passwords passwd passphrase passphrases credential credentials otp totp apikey";
    HALF_SECRETS = "api private access secret";
    /// Words behind which a name goes on with where or whose it is.
    BEHIND = "by from of for in at with to value values";
    /// Verbs that hand out what they look at.
    pub(super) HANDING_OUT = "get read retrieve fetch show view obtain reveal";
    /// Words of names for typing; what has keys and is no page; and signs of a page.
    KEYED = "type types keys keyboard keystroke keystrokes hotkey hotkeys sendkeys typewrite keypress key";
    KEYED_THINGS = "desktop computer machine keyboard device terminal window windows application applications nvim vim neovim emacs \
        editor focused screen mobile android ios phone emulator simulator os system active hid vnc rdp kvm tmux";
    PAGES = "browser browsers page pages webpage web website tab chrome chromium puppeteer playwright selenium dom selector uid \
        html form";
    /// What an argument may choose that presses keys.
    KEYS_CHOSEN = "type key keys hotkey press keypress keystroke typewrite write";
    /// Arguments that choose what a tool does.
    pub(super) CHOOSING = "action actions operation operations op subcommand mode verb method command";
    /// Arguments that say where a tool that reads writes what it read.
    WRITING_ARGUMENTS = "output_path output_file output_dir output_directory output_filename output_file_path outputpath \
        output_folder save_path save_to save_dir save_file save_as dest_path destination_path destination_file download_path \
        download_dir target_path target_file export_path overwrite local_path write_to";
    /// What is meant for people, whatever else is said.
    pub(super) LETTERS = "message messages email emails mail mails sms dm tweet broadcast invitation newsletter comment thread reply";
    /// Who has rights, and where.
    PEOPLE = "user users member members collaborator collaborators admin admins owner principal account";
    CIRCLES = "organization org team group project workspace repo repository server guild channel role account company";
    /// What an agent itself started: ending it harms nobody else.
    pub(super) OWN = "session sessions recording trace timer tunnel forward stream watch monitoring screencast capture profiling log \
        logging debug debugging listener";
}

/// What a definition tells of what the tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nature {
    /// What it does, where that is told.
    pub(super) kind: Option<Kind>,
    /// Where it is told.
    pub(super) told_by: Told,
    /// Whether the name has a word that is hardly ever a noun.
    pub(super) sure: bool,
    /// Whether the name says that it acts on a page in a browser.
    pub(super) on_page: bool,
}

/// Where it is told what a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Nowhere,
    Name,
    Description,
    /// The word that an argument chooses; its place among the arguments.
    Choice(usize),
    /// An argument that nobody gives to something harmless; its place among the arguments.
    Argument(usize),
}

impl Nature {
    /// Whether it only looks, where its server does not say so.
    pub(super) fn looks(self) -> bool {
        self.kind == Some(Kind::Look)
    }

    /// The same where what it runs is told by an argument.
    pub(super) fn without_running(self) -> Self {
        let runs = self.kind == Some(Kind::Run);
        Self { kind: if runs { Some(Kind::Manage) } else { self.kind }, ..self }
    }

    /// What a person is asked about.
    pub(super) fn grave(self) -> Option<Kind> {
        self.kind.filter(|kind| kind.is_grave())
    }
}

/// What a tool does, by all that its definition says.
pub(super) fn of(declared: &ToolSecurity, name: &str) -> Nature {
    let found = without_choice(declared, name);
    if found.grave().is_some() {
        return found;
    }
    let name_words = words(name);
    // What its arguments tell, no sentence takes back.
    let looks = found.looks() && found.told_by == Told::Name;
    let requested = choice::by_request(declared, &name_words);
    let pressed = || {
        let at = declared.arguments.iter().position(chooses_keys)?;
        presses_keys(declared, &name_words).then_some((Told::Choice(at), Kind::Press))
    };
    let chosen = requested
        .or_else(pressed)
        .or_else(|| choice::by_choice(declared, &name_words, looks))
        .or_else(|| choice::by_recipient(declared, &name_words, found))
        .or_else(|| {
            senses::assigns(declared, &name_words, senses::described(declared))
                .map(|at| (Told::Argument(at), Kind::Run))
        })
        .or_else(|| senses::scans(declared, &name_words).map(|at| (Told::Argument(at), Kind::Run)))
        .or_else(|| {
            // `git_checkout | Get the branch`: its `force` is that of a change.
            let named = of_name(&name_words).filter(|(kind, _)| *kind == Kind::Change && found.looks());
            let named = named.map_or(found, |(kind, _)| Nature { kind: Some(kind), ..found });
            if looks { None } else { weight::by_arguments(declared, named) }
        })
        .or_else(|| {
            let kind = (!found.looks()).then(|| weight::of_bare_verb(&name_words, senses::described(declared)))?;
            kind.map(|kind| (Told::Name, kind))
        });
    match chosen {
        Some((told_by, kind)) => Nature { kind: Some(kind), told_by, ..found },
        None => found,
    }
}

/// What it does if nobody chooses otherwise.
pub(super) fn without_choice(declared: &ToolSecurity, name: &str) -> Nature {
    let name_words = words(name);
    let by_name = of_name(&name_words).or_else(|| {
        let title = declared.subject.split('\n').nth(1).unwrap_or_default();
        of_name(&words(title)).filter(|(kind, sure)| kind.is_grave() && (*sure || !weight::is_weak(*kind)))
    });
    let described = senses::described(declared);
    // Beside the name of a database nothing is clicked on.
    let selects = || {
        let of_data = |words: &[String]| words.iter().any(|word| carried::DATABASES.contains(word.as_str()));
        name_words.iter().any(|word| word == "select") && (of_data(&name_words) || of_data(&words(described)))
    };
    let by_name =
        if matches!(by_name, Some((Kind::Touch, _))) && selects() { Some((Kind::Look, true)) } else { by_name };
    let by_description = of_description(described, &name_words);
    // `boost_status | Boost a status`: the name does not end with what is looked at.
    let own: Vec<String> = words(described).into_iter().take(2).collect();
    let acts = by_description.is_none() && is_own_verb(&own, &name_words);
    let by_name = by_name.filter(|(kind, sure)| !(acts && *kind == Kind::Look && !sure));
    let said_to_look = by_description.is_some_and(|verb| verb.kind == Kind::Look);
    // `app_store_privacy | Get privacy details`: a name that ends with what is looked at gives way to a sentence that begins with
    // looking. Any other that speaks of something grave does not: a server says of itself what it likes.
    let looks_first =
        said_to_look && senses::begins_with_looking(described) && phrase::ends_with_knowledge(&name_words);
    let by_name = by_name.filter(|(kind, sure)| !(looks_first && kind.is_grave() && !sure));
    // `set_subject | Returns whether it was done`: what is returned does not say what is done.
    let returns =
        said_to_look && senses::begins_with_returning(described) && name_words.iter().any(|word| is_act(word));
    let told = by_name.is_some_and(|(kind, _)| kind != Kind::Look);
    let by_description = by_description.filter(|_| !(returns && told));
    let (kind, told_by, sure) = match (by_name, by_description) {
        (None, None) => (None, Told::Nowhere, false),
        (None, Some(verb)) => (Some(verb.kind), Told::Description, false),
        (Some((kind, sure)), None) => (Some(kind), Told::Name, sure),
        (Some((kind, sure)), Some(verb)) => match (kind, verb.kind) {
            (kind, _) if kind.is_grave() => (Some(kind), Told::Name, sure),
            (_, said) if said.is_grave() && (verb.sure || kind == Kind::Manage) && said != Kind::Run => {
                (Some(said), Told::Description, sure)
            }
            (Kind::Manage, said) if said != Kind::Look => (Some(said), Told::Description, false),
            // A verb that may be a noun gives way to the sentence.
            (Kind::Look, said @ Kind::Change) if verb.sure || !sure && begins_with_set(described) => {
                (Some(said), Told::Description, sure)
            }
            (Kind::Look, _) if sure => (Some(kind), Told::Name, sure),
            // `set_volume | Get the volume`: a sentence takes nothing from a name that says what is done.
            (kind, Kind::Look) if kind != Kind::Look && leads_as_act(&name_words) => (Some(kind), Told::Name, sure),
            (_, said) if !sure && (verb.sure || said == Kind::Look) && said != Kind::Manage => {
                (Some(said), Told::Description, verb.sure && said != Kind::Look)
            }
            (kind, _) => (Some(kind), Told::Name, sure),
        },
    };
    // Documents and sheets have tabs as well.
    let browsed = || described.to_lowercase().contains("browser");
    let on_page = name_words.iter().any(|word| match word.as_str() {
        "browser" | "webpage" => true,
        "tab" | "tabs" => browsed(),
        _ => false,
    });
    let found = Nature { kind, told_by, sure, on_page };
    if found.grave().is_some() {
        return found;
    }
    if senses::uploads_in_public(&name_words, described) && !found.looks() {
        return Nature { kind: Some(Kind::Publish), told_by: Told::Description, ..found };
    }
    if matches!(kind, Some(Kind::Change | Kind::Manage)) && senses::only_computes(declared, &name_words) {
        return Nature { kind: Some(Kind::Look), ..found };
    }
    if !declared.arguments.iter().any(chooses_keys) && presses_keys(declared, &name_words) {
        return Nature { kind: Some(Kind::Press), told_by: Told::Description, ..found };
    }
    let trifling = name_words.iter().any(|word| TRIFLES.contains(word.as_str()));
    let only_looks = found.looks() && found.told_by == Told::Name;
    if !only_looks
        && let Some(kind) = added(described)
        && !(trifling && kind == Kind::Delete)
    {
        return Nature { kind: Some(kind), told_by: Told::Description, ..found };
    }
    if only_looks && let Some(kind) = phrase::does_besides(whole_sentence(described)) {
        let grave = kind.is_grave() && !(trifling && kind == Kind::Delete);
        let kind = if grave { kind } else { Kind::Change };
        return Nature { kind: Some(kind), told_by: Told::Description, ..found };
    }
    let lower = described.to_lowercase();
    let own = name_words.iter().any(|word| OWN.contains(word.as_str()));
    if !only_looks && !trifling && !own && FINAL.iter().any(|phrase| says_finally(&lower, phrase)) {
        return Nature { kind: Some(Kind::Delete), told_by: Told::Description, ..found };
    }
    found
}

/// The first sentence with all its parts.
fn whole_sentence(described: &str) -> &str {
    described.split(['\n', '。']).next().and_then(|line| line.split(". ").next()).unwrap_or_default()
}

/// The grave thing that the first sentence of a description adds to its first verb.
pub(super) fn added(described: &str) -> Option<Kind> {
    weight::joined(first_sentence(described), |words| paired_behind(words).or_else(|| told_to(words)))
}

/// Whether a word is one that does something to what stands behind it.
fn is_act(word: &str) -> bool {
    ACTS.contains(word)
}

/// `Set values of a release` is an order, whatever nouns the name has.
fn begins_with_set(described: &str) -> bool {
    described.split_whitespace().next().is_some_and(|first| matches!(first, "Set" | "Sets" | "set" | "sets"))
}

/// Whether a word that an argument holds chooses something grave.
pub(super) fn chooses_grave(word: &[String]) -> bool {
    told_to(word).is_some() || of_name(word).is_some_and(|(kind, sure)| sure && kind.is_grave() && kind != Kind::Run)
}

/// What words say that begin with one that can be nothing but a verb where something is told to be done.
pub(super) fn told_to(words: &[String]) -> Option<Kind> {
    let first = words.first()?.as_str();
    let bare = first.strip_suffix('s').unwrap_or(first);
    let told = |list: &Set| list.contains(first) || list.contains(bare);
    let lists = [(&TOLD_TO_DELETE, Kind::Delete), (&TOLD_TO_STOP, Kind::Stop), (&TOLD_TO_OPEN, Kind::Grant)];
    lists.into_iter().find(|(list, _)| told(list)).map(|(_, kind)| kind)
}

/// Whether it types or presses keys, and not on a page in a browser: what has the keyboard may be a terminal.
fn presses_keys(declared: &ToolSecurity, name: &[String]) -> bool {
    let mut parts = declared.subject.split('\n').skip(1);
    let (title, described) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let said: Vec<String> = words(title).into_iter().chain(words(described).into_iter().take(MOST_WORDS)).collect();
    let has = |words: &[String], list: &Set| words.iter().any(|word| list.contains(word.as_str()));
    let on_page = has(name, &PAGES)
        || has(&said, &PAGES)
        || declared.properties.iter().any(|key| has(&words(key), &PAGES) || key == "ref" || key == "element");
    let controls = |word: &str| name.iter().any(|own| own == word);
    let verbs = has(name, &KEYED)
        || controls("control") && controls("character")
        || controls("click") && (controls("screen") || controls("mouse") || controls("desktop"));
    // `computer`: the description alone tells.
    let told = || {
        has(name, &KEYED_THINGS)
            && said.iter().any(|word| matches!(word.as_str(), "keyboard" | "keystrokes" | "keypresses"))
    };
    let named = verbs && (has(name, &KEYED_THINGS) || has(&said, &KEYED_THINGS));
    // `list_keys` of a device, `type` of a window.
    let looks = of_name(name).is_some_and(|(kind, sure)| kind == Kind::Look && sure);
    !looks && !on_page && (named || told() && of_name(name).is_none_or(|(kind, _)| kind != Kind::Look))
}

/// Whether it is an argument that may choose to press keys.
fn chooses_keys(argument: &Argument) -> bool {
    let key = words(&argument.name);
    key.last().is_some_and(|last| CHOOSING.contains(last.as_str()))
        && argument.words.iter().any(|word| KEYS_CHOSEN.contains(word.as_str()))
}

/// Whether a text says these words of what the tool does, and does not take them back.
fn says_finally(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].trim_end_matches(|c: char| !c.is_alphanumeric());
        let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
        !TAKEN_BACK.contains(&word) && !text[at..].starts_with("data loss prevention")
    })
}

/// What one word says that an argument may be, as `delete` or `listAll`.
pub(super) fn of_word(words: &[String]) -> Option<Kind> {
    of_name(words).map(|(kind, _)| kind)
}

/// Whether an argument says that something is written, whatever the name of the tool.
pub(super) fn writes_by_argument(declared: &ToolSecurity) -> bool {
    declared.properties.iter().any(|name| WRITING_ARGUMENTS.contains(words(name).join("_").as_str()))
}

/// What a name says, and whether with a word that is hardly ever a noun.
pub(super) fn of_name(name: &[String]) -> Option<(Kind, bool)> {
    let name = &name[..name.len().min(MOST_WORDS)];
    if let Some(kind) = name.iter().find_map(|word| verbs::within(word)) {
        return Some((kind, true));
    }
    if let [only] = name
        && matches!(only.as_str(), "make" | "build")
    {
        return Some((Kind::Run, true));
    }
    let found = verbs_of(name);
    if let Some(kind) = weight::of_first(name) {
        return Some((kind, true));
    }
    let sure = found.iter().find(|(_, verb)| verb.sure).copied();
    if let Some(told) = senses::of_whole(name, sure.is_some()) {
        return Some(told);
    }
    // `cancel_scan`: what is begun or ended may be called like something that looks.
    let begun = found.first().copied().filter(|(at, first)| {
        *at == 0
            && first.kind != Kind::Look
            && sure.is_some_and(|(_, verb)| verb.kind == Kind::Look)
            && senses::begins_or_ends(name)
    });
    let sure = begun.or(sure);
    let Some((at, verb)) = sure.or_else(|| found.first().copied()) else {
        return grave(name, &found).map(|kind| (kind, false)).or_else(|| of_run_together(name));
    };
    // `resolve_library_id` looks, `resolve_issue` does not; nor does what is taken out of an archive stay there.
    let astray = RESOLVING.contains(name[at].as_str()) && name.iter().any(|word| RESOLVED.contains(word.as_str()));
    let verb = if astray { Verb { kind: Kind::Change, sure: true } } else { verb };
    // `make_api_request`, `call_api`: what is asked for is up to the arguments.
    let has = |wanted: &str| name.iter().any(|word| word == wanted);
    if has("api") && (has("request") || has("call")) && !found.iter().any(|(_, verb)| verb.sure) {
        return Some((Kind::Manage, true));
    }
    if verb.kind == Kind::Look {
        return Some(of_looking(name, &found, at, verb));
    }
    if name.last().is_some_and(|last| matches!(last.as_str(), "reader" | "viewer" | "finder" | "checker" | "validator"))
    {
        return Some((Kind::Look, true));
    }
    // `create_or_update` does the stronger of both.
    let joins = name.iter().any(|word| JOINING.contains(word.as_str()));
    let changes = joins && found.iter().any(|(_, other)| other.sure && other.kind == Kind::Change);
    let verb = if verb.kind == Kind::Add && changes { Verb { kind: Kind::Change, sure: true } } else { verb };
    if let Some(kind) = grave(name, &found).or_else(|| weight::of_objects(name, verb, at)) {
        return Some((kind, verb.sure));
    }
    if matches!(verb.kind, Kind::Add | Kind::Change | Kind::Manage) && senses::is_orchestrated(name) {
        return Some((Kind::Publish, true));
    }
    if changes && verb.kind == Kind::Change {
        return Some((Kind::Change, true));
    }
    // `message_info`, `order_history`: an open word in front of one that looks is the object, unless nobody has such a thing.
    let acts = at == 0 && ACTS.contains(name[0].as_str());
    let ends = |place: usize, last: Verb| place + 1 == name.len() && last.kind == Kind::Look;
    let last = found.last().filter(|(place, last)| !verb.sure && !acts && ends(*place, *last));
    match last {
        // Whoever runs the tests of a program runs the program.
        Some((place, _)) if verb.kind == Kind::Run && senses::is_test(&name[*place]) => Some((Kind::Change, false)),
        // `post_status` may be either.
        Some(_) if verb.kind.is_grave() && at == 0 => None,
        // `annotated_message` is a message.
        None if verb.kind.is_grave() && !verb.sure => None,
        Some(_) => Some((Kind::Look, false)),
        None => Some((softened(verb.kind), verb.sure)),
    }
}

/// A name that begins with a verb that looks. `list_delete` deletes a list; `search_and_replace` does both.
fn of_looking(name: &[String], found: &[(usize, Verb)], at: usize, verb: Verb) -> (Kind, bool) {
    let joined = found.iter().find(|(place, other)| {
        let behind = *place > at && other.kind != Kind::Look;
        behind && name.get(place.wrapping_sub(1)).is_some_and(|word| JOINING.contains(word.as_str()))
    });
    let last = found.last().filter(|(place, other)| {
        let ends = *place + 1 == name.len() && *place > at;
        ends && other.sure && other.kind != Kind::Look && !PLAINLY_LOOKING.contains(name[at].as_str())
    });
    match joined.or(last) {
        Some((_, other)) => (grave(name, found).unwrap_or_else(|| softened(other.kind)), true),
        None if hands_out_secrets(name, at) => (Kind::Reveal, true),
        None => (Kind::Look, verb.sure),
    }
}

/// Whether what is looked at is a secret itself: `read_secret`, `password_read`, `get_api_key_by_id`; not `list_secrets`, and not
/// what is only about one (`get_password_policy`).
pub(super) fn hands_out_secrets(name: &[String], at: usize) -> bool {
    if !HANDING_OUT.contains(name[at].as_str()) {
        return false;
    }
    let ends = at + 1 == name.len();
    let object = if ends { &name[..at] } else { &name[at + 1..] };
    let end = object.iter().position(|word| BEHIND.contains(word.as_str())).unwrap_or(object.len());
    let Some((last, front)) = object[..end].split_last() else { return false };
    let half = matches!(last.as_str(), "key" | "keys")
        && front.last().is_some_and(|word| HALF_SECRETS.contains(word.as_str()));
    half || SECRETS.contains(last.as_str())
}

/// The grave thing that a name speaks of, where it is not one that looks.
fn grave(name: &[String], found: &[(usize, Verb)]) -> Option<Kind> {
    let has = |list: &Set| name.iter().any(|word| list.contains(word.as_str()));
    // Where a sure verb leads, an open one beside it is an object: `create_trigger`.
    let lead = found.iter().find(|(_, verb)| verb.sure).or_else(|| found.first()).map(|(at, _)| *at);
    let acts = |at: usize| {
        let open = found.iter().any(|(place, verb)| *place == at && !verb.sure);
        !is_noun(name, at) && (!open || lead == Some(at) || !found.iter().any(|(_, verb)| verb.sure))
    };
    let paired = PAIRS.iter().chain(PAIRS_IN_NAMES.iter()).find(|(verbs, objects, _)| {
        let at = name.iter().enumerate().position(|(at, word)| verbs.contains(word.as_str()) && acts(at));
        // A user story is no user.
        let whole = |place: usize| !name.get(place + 1).is_some_and(|next| TOLD.contains(next.as_str()));
        let object = |(place, word): (usize, &String)| objects.contains(word.as_str()) && whole(place);
        at.is_some_and(|at| name.iter().enumerate().any(|(place, word)| place != at && object((place, word))))
    });
    let sure = found.iter().find(|(_, verb)| verb.sure && verb.kind.is_grave()).map(|(_, verb)| verb.kind);
    let first = found.first().filter(|(_, verb)| !verb.sure && verb.kind.is_grave() && verb.kind != Kind::Run);
    // An open word counts where nothing sure stands in the name.
    let first = first.filter(|(at, _)| name.len() == 1 || *at + 1 < name.len() && !phrase::is_attribute(name, *at));
    let open = first.map(|(_, verb)| verb.kind).filter(|_| !found.iter().any(|(_, verb)| verb.sure));
    let kind = sure.or_else(|| paired.map(|(_, _, kind)| *kind)).or(open)?;
    match kind {
        Kind::Delete if is_trifle(name) && !has(&GUARDS) => None,
        // `remove_project_from_task` takes two things apart, and both are still there; people lose their rights by it.
        Kind::Delete if name.iter().any(|word| word == "from") && name.iter().any(|word| word == "remove") => {
            (has(&PEOPLE) && has(&CIRCLES) || has(&GUARDS)).then_some(Kind::Grant)
        }
        Kind::Stop if has(&OWN) => None,
        Kind::Send | Kind::Publish if senses::is_draft(name) => None,
        Kind::Send
            if has(&NOT_TO_PEOPLE)
                && !has(&LETTERS)
                && paired.is_none()
                && !has_noun(name)
                && !senses::is_for_people(name) =>
        {
            None
        }
        Kind::Pay if has(&NO_MONEY) => None,
        // What it runs is told by its name or by its arguments.
        Kind::Run if paired.is_none() && (name.len() == 1 || has(&HARMLESS_TO_RUN)) => None,
        kind => Some(kind),
    }
}

/// Whether a name begins with an open verb that is nobody's object there.
pub(super) fn leads_as_act(name: &[String]) -> bool {
    name.first().is_some_and(|first| ACTS.contains(first.as_str()))
}

/// Whether two words of it are a noun, as in `reply_to_pull_request`.
fn has_noun(name: &[String]) -> bool {
    (0..name.len()).any(|at| is_noun(name, at))
}

/// Whether what it is about is made again in one step. A tag of a repository is what others build from.
pub(super) fn is_trifle(name: &[String]) -> bool {
    let is_release = name.iter().any(|word| word == "git") && name.iter().any(|word| word == "tag" || word == "tags");
    !is_release && name.iter().any(|word| TRIFLES.contains(word.as_str()))
}

/// What is left of a word for something grave that turned out not to be.
const fn softened(kind: Kind) -> Kind {
    match kind {
        Kind::Run => Kind::Manage,
        kind if kind.is_grave() => Kind::Change,
        kind => kind,
    }
}

/// `deletefile`: words that nobody parted. None that looks: `listen` and `ready` are other words.
fn of_run_together(name: &[String]) -> Option<(Kind, bool)> {
    const LONG: &[&str] = &[
        "delete",
        "remove",
        "destroy",
        "create",
        "update",
        "send",
        "write",
        "purge",
        "execute",
        "publish",
        "transfer",
        "terminate",
    ];
    let word =
        name.iter().find_map(|word| LONG.iter().find(|long| word.starts_with(**long) && word.len() > long.len()))?;
    let kind = verbs::of(word)?.kind;
    Some((if kind == Kind::Run { Kind::Manage } else { kind }, false))
}

fn verbs_of(words: &[String]) -> Vec<(usize, Verb)> {
    let known = words.iter().enumerate().filter_map(|(at, word)| Some((at, verbs::of(word)?)));
    known.filter(|(at, _)| !is_noun(words, *at)).collect()
}

/// Whether a word is half of a noun, as in `merge_request`.
fn is_noun(words: &[String], at: usize) -> bool {
    let pair = |first: usize, second: usize| match (words.get(first), words.get(second)) {
        (Some(first), Some(second)) => NOUNS.contains(&(first.as_str(), second.as_str())),
        _ => false,
    };
    pair(at, at + 1) || at > 0 && pair(at - 1, at)
}
