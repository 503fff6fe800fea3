//! Which strings a server could open as a path, and whether they lie inside of what a grant allows.
//!
//! Nobody can know which of its arguments a server opens. So a string counts as a path unless something shows that it
//! is none: its schema, its key together with its form, or its form alone. The rule for each kind of key is in
//! [`Field`]; what counts as the form of a path is [`Form`].

use std::borrow::Cow;

use switchboard_policy::path;
use switchboard_policy::permission::Scope;
use switchboard_policy::schema::Evidence;

use super::World;
use super::role::Role;
use super::uri::{self, scheme_of};
use super::{body, glued, pattern};
use crate::{Finding, Verdict, percent};

/// Everything, for a grant that only denies.
const ANYWHERE: [&str; 1] = ["/**"];
/// Formats of strings that are no paths, as long as the string has none of the characters of one.
const FORMATS: [&str; 13] = [
    "date",
    "date-time",
    "time",
    "duration",
    "email",
    "idn-email",
    "uuid",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "regex",
    "color",
];
/// The same for paths.
const PATH_FORMATS: [&str; 5] = ["path", "file-path", "directory-path", "file", "uri-file"];
/// Keys that say what a string with one slash is.
const NAMED_PAIRS: [&str; 9] =
    ["mime_type", "mimetype", "content_type", "media_type", "accept", "timezone", "time_zone", "tz", "user_timezone"];
/// Keys whose strings are places in most tools.
const LIKELY_PLACES: [&str; 17] = [
    "src",
    "source",
    "sources",
    "dst",
    "dest",
    "destination",
    "destinations",
    "infile",
    "outfile",
    "attachment",
    "attachments",
    "document",
    "documents",
    "archive",
    "workspace",
    "folders",
    "roots",
];
/// Keys whose strings are places in some tools, and in others cities, currencies, formats and people.
const PERHAPS_PLACES: [&str; 13] = [
    "from",
    "to",
    "input",
    "inputs",
    "output",
    "outputs",
    "location",
    "locations",
    "image",
    "images",
    "video",
    "audio",
    "media",
];
/// Keys whose strings are names of something else than a file, also where they have a dot.
const LABELS: [&str; 22] = [
    "tags",
    "label",
    "labels",
    "lang",
    "language",
    "languages",
    "package",
    "packages",
    "dependency",
    "dependencies",
    "library",
    "framework",
    "module",
    "format",
    "currency",
    "category",
    "categories",
    "keyword",
    "keywords",
    "email",
    "emails",
    "version",
];
/// Keys of references that are also keys for the end of a link or a copy.
const LINK_ENDS: [&str; 2] = ["target", "remote"];
/// Endings of files: with one, what looks like an address of mail may be a file.
const ENDINGS: [&str; 24] = [
    "txt", "md", "json", "csv", "pdf", "png", "jpg", "jpeg", "gif", "svg", "key", "pem", "db", "sql", "xml", "yaml",
    "yml", "toml", "log", "zip", "doc", "docx", "xlsx", "html",
];
/// Keys whose strings are patterns for names.
const PATTERNS: [&str; 8] = ["pattern", "patterns", "glob", "globs", "include", "includes", "filter", "filters"];
/// Keys whose strings are expressions for what stands in files.
const CONTENTS: [&str; 2] = ["regex", "regexp"];
/// Words in keys of patterns for what is not to be found.
const EXCLUDING: [&str; 5] = ["exclude", "excludes", "excluded", "ignore", "ignored"];
/// Keys whose strings are the text that a tool works on, besides those of prose.
const BODIES: [&str; 8] = ["data", "string", "str", "payload", "markdown", "html", "json", "yaml"];

/// Keys whose strings say where something stands in a document.
const EXPRESSIONS: [&str; 5] = ["xpath", "xpaths", "selector", "selectors", "locator"];

/// What the key of a string says of it, as far as paths go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// A place: every string counts as a path.
    Place,
    /// A place or something else: every string counts as a path that is not plain words.
    Perhaps,
    /// A name of something that is no file.
    Label,
    /// A URL or a host.
    Remote,
    /// A pattern: goes down from a place that stands elsewhere.
    Below,
    /// The same for what is left out.
    Excluded,
    /// An expression for what stands in files.
    Contents,
    /// Says where something stands in a document, often as a path does.
    Expression,
    /// A branch or the like, which is no file with a dot in front.
    Reference,
    /// The text that a tool works on, prose, code, a question.
    Body,
    /// A type of content or a time zone.
    Pair,
    /// A command, which is taken apart into words.
    Command,
    /// Nothing is known.
    Unknown,
}

impl Field {
    /// The field of a key.
    pub(super) fn of(key: &str, role: Role, evidence: &Evidence<'_>) -> Self {
        let whole = switchboard_policy::risk::fallback::words(key).join("_");
        let last = whole.rsplit('_').next().unwrap_or_default();
        let by_key = match role {
            _ if NAMED_PAIRS.contains(&whole.as_str()) => Self::Pair,
            Role::Path => Self::Place,
            _ if LIKELY_PLACES.contains(&last) => Self::Place,
            _ if PERHAPS_PLACES.contains(&last) => Self::Perhaps,
            _ if whole.split('_').any(|word| EXCLUDING.contains(&word)) => Self::Excluded,
            _ if CONTENTS.contains(&last) => Self::Contents,
            _ if PATTERNS.contains(&last) => Self::Below,
            _ if EXPRESSIONS.contains(&last) => Self::Expression,
            Role::Reference => Self::Reference,
            _ if LABELS.contains(&last) => Self::Label,
            Role::Url | Role::Host => Self::Remote,
            Role::Command | Role::Commands => Self::Command,
            Role::Prose | Role::Content | Role::Code | Role::Script | Role::Sql | Role::Query => Self::Body,
            _ if BODIES.contains(&last) => Self::Body,
            Role::CommandWords | Role::Method | Role::Link | Role::Other => Self::Unknown,
        };
        if evidence.has_format(&PATH_FORMATS)
            || matches!(by_key, Self::Unknown | Self::Perhaps | Self::Label) && evidence.speaks_of_place()
            || by_key == Self::Reference && LINK_ENDS.contains(&last) && evidence.speaks_of_place()
        {
            return Self::Place;
        }
        by_key
    }
}

/// The form of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// A word, a number, a sentence.
    Plain,
    /// One word with an ending, as names of files have.
    Name,
    /// One word with a separator in it.
    Relative,
    /// A name with a dot in front, as files have that are not shown.
    Hidden,
    /// It begins as only paths do, climbs, or is a URL that may name a file.
    Path,
}

/// The paths that a grant allows, if it speaks of any.
pub(super) fn compile(scope: &Scope, base: &str) -> Option<path::Scope> {
    if scope.paths.is_none() && scope.deny_paths.is_empty() {
        return None;
    }
    let allow: Vec<&str> =
        scope.paths.as_ref().map_or_else(|| ANYWHERE.to_vec(), |paths| paths.iter().map(String::as_str).collect());
    let deny: Vec<&str> = scope.deny_paths.iter().map(String::as_str).collect();
    Some(path::Scope::new(&allow, &deny, base))
}

/// Whether a string lies inside of all places, or is shown to be no path. `anchored` is whether the schema names
/// another argument as the path, and the call has it.
pub(super) fn check(
    places: &[path::Scope],
    field: Field,
    evidence: &Evidence<'_>,
    anchored: bool,
    text: &str,
    world: &dyn World,
) -> Verdict {
    let is_body = field == Field::Body && evidence.is_declared() && anchored;
    if field != Field::Command
        && let Some(url) = uri::squeezed(text)
        && is_uri(&url)
        && (!is_body || scheme_of(&url).is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("file")))
    {
        inside(places, &url, world)?;
    }
    let tidy = tidy(text);
    if let Some(address) = address_of_file(field, &tidy) {
        inside(places, &address, world)?;
    }
    if !evidence.lists(text) {
        if field == Field::Below && anchored && !glued::is_pattern(&tidy) && pattern::may_name_file(&tidy) {
            // A search finds a name that is written out, too.
            check_pattern(places, &tidy, true)?;
        }
        // Signs of a pattern may be marks that others leave out.
        let mut readings = [text.trim(), &*tidy].into_iter().filter(|word| is_searched_for(field, word));
        readings.try_for_each(|word| check_pattern(places, word, true))?;
    }
    let form = form(&tidy);
    if evidence.lists(text) && form < Form::Path
        || evidence.has_format(&FORMATS) && form < Form::Relative
        || field == Field::Command
    {
        return Ok(());
    }
    if field == Field::Below {
        return pattern::check(places, anchored, &tidy, world);
    }
    let place = matches!(field, Field::Place | Field::Perhaps);
    if matches!(field, Field::Unknown | Field::Label | Field::Remote) {
        // From a folder inside, `-f/etc/x` is a name that lies inside; to who reads options it is none.
        check_options(places, &tidy, world)?;
        if let Some(value) = glued::absolute_value(places, &tidy) {
            return inside(places, value, world);
        }
    }
    if tidy.contains(ends_line) && !place {
        // No path has several lines, but a list of paths has.
        let words = tidy.split(ends_line).map(str::trim).filter(|line| !line.contains(char::is_whitespace));
        let mut paths = words.filter(|line| !is_body && self::form(line) >= Form::Hidden);
        return paths.try_for_each(|line| inside(places, line, world));
    }
    if field == Field::Unknown
        && let Some(bare) = without_marks(&tidy)
    {
        inside(places, bare, world)?;
    }
    let sentence = tidy.contains(char::is_whitespace);
    let counts = match field {
        Field::Place => form >= Form::Name || !is_number_date_or_address(&tidy),
        Field::Pair => form >= Form::Hidden,
        Field::Remote => form >= Form::Relative,
        Field::Perhaps if is_image(&tidy) => false,
        Field::Perhaps => tidy.contains(['/', '\\', '~', '$']) || tidy.split_whitespace().any(is_file),
        Field::Label => form >= Form::Relative,
        // `\bword\b` is an expression.
        Field::Excluded if anchored && tidy.starts_with('\\') => body::names_path(places, &tidy),
        Field::Contents if anchored => body::names_path(places, &tidy),
        Field::Expression => body::names_path(places, &tidy),
        Field::Below | Field::Excluded | Field::Contents => form == Form::Path || form >= Form::Relative && !anchored,
        // No branch ends as files do.
        Field::Reference => form >= Form::Hidden || form >= Form::Relative && (!anchored || has_ending(&tidy)),
        Field::Body if is_body => body::names_path(places, &tidy),
        Field::Body => form >= Form::Relative,
        Field::Unknown => is_file(&tidy),
        Field::Command => false,
    };
    // A name of several words is a path where its key says so, or where it begins as one.
    let counts = counts && (!sentence || place || form == Form::Path);
    if !counts {
        // What stands behind options, and the values of pairs, are words of their own.
        let options = if matches!(field, Field::Unknown | Field::Label | Field::Remote) {
            glued::values_of_options(&tidy)
        } else {
            Vec::new()
        };
        let mut paths = options.into_iter().filter(|value| self::form(value) == Form::Path);
        paths.try_for_each(|value| inside(places, value, world))?;
        if is_body || field == Field::Pair {
            return Ok(());
        }
        return super::pairs::of(&tidy).into_iter().try_for_each(|(_, value)| {
            if self::form(value) == Form::Path {
                return inside(places, value, world);
            }
            glued::parts(value).try_for_each(|part| one(places, part, world))
        });
    }
    if field == Field::Unknown
        && let Some(value) = tidy.strip_prefix('-').and_then(glued::step_behind)
    {
        inside(places, value, world)?;
    }
    if place && let Some(bare) = without_marks(&tidy) {
        inside(places, bare, world)?;
    }
    // Places are judged as they were sent: what is read out of them is for the reader of paths.
    inside(places, if place { text } else { &tidy }, world)
}

/// Whether a word is a pattern under a key that a server may take one from. What stands for everything (`*`) says so only under
/// keys for places and patterns.
fn is_searched_for(field: Field, word: &str) -> bool {
    let searches = match field {
        Field::Place | Field::Perhaps | Field::Below | Field::Contents => true,
        Field::Unknown | Field::Label | Field::Remote => word.contains(char::is_alphanumeric),
        _ => false,
    };
    let leads_elsewhere = || scheme_of(word).is_some_and(|(scheme, rest)| uri::leads_elsewhere(scheme, rest));
    searches && glued::is_pattern(word) && !leads_elsewhere()
}

/// Whether a pattern finds nothing that is denied.
fn check_pattern(places: &[path::Scope], word: &str, finds_hidden: bool) -> Verdict {
    let pieces = || word.split(['=', ',', ';', ':']).filter(|piece| piece.len() < word.len());
    places.iter().try_for_each(|place| {
        path::check_pattern(place, word, finds_hidden)?;
        // A comma inside of braces parts no list.
        let mut pieces = pieces().filter(|piece| !word.contains('{') && glued::is_pattern(piece));
        pieces.try_for_each(|piece| path::check_pattern(place, piece, finds_hidden))
    })
}

/// Whether the values of options in a text lie inside, as a reader finds them that splits at blanks and takes quotes away.
fn check_options(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    if !text.contains('-') {
        return Ok(());
    }
    let bare = text.replace("$'", "").replace(['\'', '"'], "");
    let options = bare.trim_start().starts_with('-');
    bare.split_whitespace().try_for_each(|word| {
        glued::values_of_option(places, word).try_for_each(|value| inside(places, value, world))?;
        // Between options, every word that begins as a path does is one.
        let stands = options && !word.starts_with('-') && form(word) == Form::Path;
        let marked = without_marks(word).filter(|_| options);
        stands.then_some(word).into_iter().chain(marked).try_for_each(|path| inside(places, path, world))
    })
}

/// An address under a key for addresses whose path may be a file, also where blanks stand behind the scheme. Under other keys
/// that is a sentence, unless one word that begins as a path is all that follows.
fn address_of_file(field: Field, text: &str) -> Option<String> {
    // `C:\x` is a place, and has no blank there.
    let has_scheme = |(scheme, rest): &(&str, &str)| scheme.len() > 1 || rest.starts_with(char::is_whitespace);
    let (scheme, rest) = scheme_of(text).filter(has_scheme)?;
    let path = rest.trim();
    let begins = path.starts_with(['/', '\\', '~', '$']) || path.to_ascii_lowercase().starts_with("file:");
    let is_word = rest.starts_with(char::is_whitespace) && begins && !path.contains(char::is_whitespace);
    let counts = field == Field::Remote || is_word && matches!(field, Field::Unknown | Field::Label);
    let is_host = path.starts_with("//");
    (counts && !path.is_empty() && !is_host && !uri::leads_elsewhere(scheme, rest)).then(|| format!("{scheme}:{path}"))
}

/// Whether some reader ends a line here.
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The path behind marks that some readers leave out (`+/etc/x`, `[/etc/x]`), if one stands there. Names may begin with
/// marks as well (`[id]/page.tsx`): then nothing behind them begins as a path does.
fn without_marks(text: &str) -> Option<&str> {
    let is_mark = |c: char| c.is_whitespace() || "@#+[{(<>!^&|=,;:%\"'`".contains(c);
    let bare = text.trim_start_matches(is_mark);
    let bare = bare.trim_end_matches(|c: char| c.is_whitespace() || "]})>,;\"'`".contains(c));
    let begins = bare.starts_with(['/', '~']) || scheme_of(bare).is_some_and(|(_, rest)| rest.starts_with('/'));
    (begins && bare.len() < text.len()).then_some(bare)
}

/// Whether the path of a URL that leads to another machine lies inside, for a server that may take nothing else of it.
pub(super) fn check_path_of_url(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let tidy = tidy(text);
    let Some((scheme, rest)) = scheme_of(&tidy).filter(|(scheme, rest)| uri::leads_elsewhere(scheme, rest)) else {
        return Ok(());
    };
    if uri::leads_nowhere(scheme) {
        return Ok(());
    }
    let rest = rest.trim_start_matches(['/', '\\']);
    let plain = rest.split(['?', '#']).next().unwrap_or_default();
    one(places, plain.find(['/', '\\']).map_or("/", |at| &plain[at..]), world)?;
    let values = few_values(rest)?;
    values.iter().filter(|value| form(value) == Form::Path).try_for_each(|value| one(places, value, world))
}

/// What stands in the query of an address. More than are looked at are refused.
fn few_values(rest: &str) -> Result<Vec<String>, Finding> {
    uri::values(rest).ok_or_else(|| {
        let most = uri::MAX_VALUES;
        Finding::new("path-outside", format!("an address has more than {most} values, and not all can be looked at"))
    })
}

/// Whether a word of a command, or any part of it, could be a path.
pub(super) fn check_word(places: &[path::Scope], word: &str, world: &dyn World) -> Verdict {
    let tidy = tidy(word);
    if let Some(value) = glued::value_of_option(places, &tidy) {
        glued::values_of_option(places, &tidy).try_for_each(|value| inside(places, value, world))?;
        return inside(places, value, world);
    }
    if tidy.starts_with('-') && tidy.contains(char::is_whitespace) {
        // Several options in one word, for a server that puts words together into a line.
        check_options(places, &tidy, world)?;
    }
    if let Some(value) = glued::step_behind(&tidy).filter(|value| value.len() > 2) {
        inside(places, value, world)?;
    }
    let mut readings = [word.trim(), &*tidy].into_iter().filter(|word| glued::is_pattern(word));
    readings.try_for_each(|word| check_pattern(places, word, false))?;
    if let Some(paths) = glued::filled_in(&tidy) {
        return paths.iter().try_for_each(|path| check_plain_word(places, path, world));
    }
    check_plain_word(places, &tidy, world)
}

/// The same of a word without signs of a pattern.
fn check_plain_word(places: &[path::Scope], word: &str, world: &dyn World) -> Verdict {
    let form = form(word);
    let sentence = word.contains(char::is_whitespace);
    // `HEAD~3..HEAD` is a range of commits.
    let is_range = word.contains("..") && word.find(['~', '^']).is_some_and(|at| at > 0);
    if is_range && !word.contains(['/', '\\']) {
        return Ok(());
    }
    if let Some(bare) = without_marks(word) {
        inside(places, bare, world)?;
    }
    if form == Form::Path || form >= Form::Name && !sentence && !word.starts_with('-') {
        return inside(places, word, world);
    }
    glued::parts(word).try_for_each(|part| one(places, part, world))
}

/// The same of the program of a command: by its bare name, or in a folder of the system, it is no place.
pub(super) fn check_program(places: &[path::Scope], word: &str, world: &dyn World) -> Verdict {
    let tidy = tidy(word);
    if tidy.starts_with('-') {
        // An option, where a list holds the words without their program.
        return check_word(places, word, world);
    }
    let of_system = crate::shell::is_of_system(&tidy);
    if let Some(bare) = without_marks(&tidy) {
        // To a tool that has a program of its own it is a word of it.
        inside(places, bare, world)?;
    }
    if form(&tidy) < Form::Relative || of_system { Ok(()) } else { inside(places, &tidy, world) }
}

/// Whether a URL under a key for paths lies inside as what it is to a server that reads no URLs: the name of a file in
/// the folder where it was started.
pub(super) fn check_url_as_name(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let tidy = tidy(text);
    match scheme_of(&tidy) {
        Some((scheme, rest)) if uri::leads_elsewhere(scheme, rest) => {
            // As a URL it may hold what no name has.
            let name = format!("{scheme}/{}", rest.split(['?', '#']).next().unwrap_or_default().replace(':', "_"));
            one(places, &name, world)
        }
        _ => Ok(()),
    }
}

/// Whether every path in a string that counts as one lies inside.
pub(super) fn inside(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let tidy = tidy(text);
    let scheme = scheme_of(&tidy).filter(|(scheme, _)| scheme.len() > 1 && !scheme.eq_ignore_ascii_case("file"));
    if scheme.is_some() && uri::climbs(&tidy) {
        // To who tidies paths a scheme and a host are folders like others, which the steps up leave again.
        one(places, &tidy, world)?;
    }
    if uri::is_bytes(&tidy) {
        return Ok(());
    }
    match scheme_of(&tidy) {
        Some((scheme, rest)) if uri::leads_elsewhere(scheme, rest) => {
            // A URL inside of a URL is what a proxy would open, in its query with its escapes read.
            percent::stages(&tidy).iter().try_for_each(|read| {
                let lower = read.to_ascii_lowercase();
                lower.match_indices("file:").try_for_each(|(at, _)| one(places, &read[at..], world))
            })
        }
        Some((scheme, rest)) if scheme.len() > 1 && !scheme.eq_ignore_ascii_case("file") => {
            in_uri(rest).into_iter().try_for_each(|path| {
                // Quotes around a name are none of it to many readers.
                let bare = self::tidy(&path);
                if bare.len() < path.len() && !bare.is_empty() {
                    one(places, &bare, world)?;
                }
                one(places, &path, world)
            })?;
            let values = few_values(rest)?;
            let bare = values.iter().filter_map(|value| without_marks(value)).map(str::to_owned).collect::<Vec<_>>();
            let mut paths = values.iter().filter(|value| may_be_path(value)).chain(&bare);
            paths.try_for_each(|value| one(places, value, world))
        }
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => {
            one(places, text, world)?;
            // Readers of URLs leave out what stands behind `#`; readers of paths do not.
            let front = tidy.split('#').next().unwrap_or_default();
            if front.len() < tidy.len() { one(places, front, world) } else { Ok(()) }
        }
        // `a:b.txt` is a name with a colon; a drive is followed by a separator.
        Some((_, name)) if !name.is_empty() && !name.contains(['/', '\\', ':', '%']) && !name.starts_with('.') => {
            one(places, name, world)
        }
        _ => {
            one(places, text, world)?;
            // Quotes and marks around it are part of a name to some, and none to others.
            if tidy.len() < text.trim().len() && !tidy.is_empty() { one(places, &tidy, world) } else { Ok(()) }
        }
    }?;
    // The query of a URL is for the machine that it leads to.
    let is_url = scheme_of(&tidy).is_some_and(|(scheme, rest)| uri::leads_elsewhere(scheme, rest));
    let shown = if is_url { tidy.split('?').next().unwrap_or_default() } else { &tidy };
    // What a part is, is told once the escapes are read.
    let stages = if shown.contains('%') { percent::stages(shown) } else { Vec::new() };
    let mut read = stages.iter().map(AsRef::as_ref).filter(|read| *read != shown).flat_map(glued::parts);
    read.try_for_each(|part| one(places, part, world))?;
    glued::parts(shown).try_for_each(|part| one(places, part, world))
}

/// Whether a text, taken alone, has the form of a path or of a file's name.
pub(super) fn may_be_path(text: &str) -> bool {
    form(text) >= Form::Name
}

/// Whether a text begins as only paths do, climbs, or is a URL that may name a file.
pub(super) fn begins_as_path(text: &str) -> bool {
    form(text) == Form::Path
}

/// Whether a text, taken alone, has the form of a path with a separator.
pub(super) fn is_separated(text: &str) -> bool {
    form(text) >= Form::Relative
}

fn one(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let links = |path: &str| world.link(path);
    places.iter().try_for_each(|place| path::check(place, text, &links)).map_err(|finding| {
        if finding.suggestion.is_some() {
            return finding;
        }
        finding.suggest(
            "the grant is limited to some paths; name a place inside of them by its full path, or ask the operator for \
             a wider grant (`switchboard grant --path`)",
        )
    })
}

/// What a URI of a scheme that nobody here knows could make its server open.
fn in_uri(rest: &str) -> Vec<String> {
    let plain = rest.split(['?', '#']).next().unwrap_or_default();
    match plain.strip_prefix("//") {
        Some(after) => {
            let path = after.find('/').map_or("", |at| &after[at..]);
            let whole = format!("/{}", after.trim_start_matches('/'));
            let relative = (!after.starts_with('/')).then(|| after.to_owned());
            [Some(path.to_owned()).filter(|path| path.len() > 1), Some(whole), relative].into_iter().flatten().collect()
        }
        None => vec![plain.to_owned()],
    }
}

/// The string as a careless server reads it: other slashes are slashes, what cannot be seen is not there, and what stands
/// behind a zero byte is cut off.
fn tidy(text: &str) -> Cow<'_, str> {
    let cut = text.split('\0').next().unwrap_or_default();
    let framed = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '@');
    if cut.is_ascii() {
        return Cow::Borrowed(cut.trim_matches(framed));
    }
    Cow::Owned(path::fold_look_alikes(cut).trim_matches(framed).to_owned())
}

fn form(text: &str) -> Form {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && {
        bytes.len() == 2 || matches!(bytes[2], b'\\' | b'/')
    };
    // A line of a program that begins with a comment.
    let comment = ["// ", "/* ", "/** ", "//\t"].iter().any(|mark| text.starts_with(mark))
        || text.starts_with("/*") && text.contains("*/")
        || text == "//";
    let variable = text.strip_prefix('$').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{' | '('))
            && (rest.contains(['/', '\\']) || rest.chars().all(|c| c.is_ascii_uppercase() || "_{}()".contains(c)))
    });
    let windows = text.strip_prefix('%').and_then(|rest| rest.split_once('%'));
    let windows = windows.is_some_and(|(name, _)| {
        name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'(' | b')'))
    });
    let climbs = text == ".."
        || ["./", "../", ".\\", "..\\"].iter().any(|start| text.starts_with(start))
        || ["/../", "\\..\\", "/..\\", "\\../"].iter().any(|step| text.contains(step))
        || text.ends_with("/..")
        || text.ends_with("\\..")
        || !text.contains(char::is_whitespace) && glued::climbs_in_part(text);
    let lower = || text.to_ascii_lowercase();
    let escaped = text.contains('%')
        && !text.contains(char::is_whitespace)
        && ["%2e%2e", "%2f", "%5c", "..%", "%252", "%u2215", "%uff0f", "%c0%af"]
            .iter()
            .any(|escape| lower().contains(escape));
    let hidden = text.strip_prefix('.').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/\\".contains(&byte))
    });
    // `~5 minutes`: nobody is called like a number.
    let about = text
        .strip_prefix('~')
        .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(['/', '\\']));
    let begins = text.starts_with(['/', '\\', '~']) && !comment && !about;
    if begins || drive || variable || windows || climbs || escaped || is_uri(text) {
        return Form::Path;
    }
    if hidden {
        return Form::Hidden;
    }
    if text.contains(char::is_whitespace) || !text.bytes().any(|byte| matches!(byte, b'/' | b'\\' | b'.')) {
        return Form::Plain;
    }
    if text.contains(['/', '\\']) {
        // No system has names of that length: it is data.
        let opens = text.len() <= path::MAX_PATH_BYTES && text.split(['/', '\\']).all(|name| name.len() <= 255);
        return if opens && !is_date(text) { Form::Relative } else { Form::Plain };
    }
    let ending = text.rsplit('.').next().unwrap_or_default();
    let is_ending = (1..=8).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_ending { Form::Name } else { Form::Plain }
}

/// A URI that a server may take for a file: `file:` in any spelling, and other schemes with a path behind.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = scheme_of(text) else { return false };
    scheme.eq_ignore_ascii_case("file")
        // Behind `note: ` stands a sentence. Blanks further on are part of an address to who reads it leniently.
        || !rest.starts_with(char::is_whitespace)
            && (!uri::leads_elsewhere(scheme, rest) && rest.starts_with(['/', '\\'])
                || uri::climbs(text)
                || percent::stages(text).iter().any(|read| read.to_ascii_lowercase().contains("file:")))
}

/// Whether a word is the reference of an image in a registry, with its tag or digest: `ghcr.io/org/x:1`. No file is called so,
/// and none lies in a folder that is called like the host of a registry.
fn is_image(word: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && part.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && !part.contains("..")
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte))
    };
    let Some((host, rest)) = word.split_once('/') else { return false };
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_domain = |ending: &str| ending.len() > 1 && ending.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_host =
        plain(name) && (name == "localhost" || name.rsplit_once('.').is_some_and(|(_, last)| is_domain(last)));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let (front, digest) = rest.split_once('@').map_or((rest, None), |(front, digest)| (front, Some(digest)));
    let (path, tag) = front.rsplit_once(':').map_or((front, None), |(path, tag)| (path, Some(tag)));
    let is_tag = |tag: &str| {
        (1..=128).contains(&tag.len())
            && !tag.starts_with(['.', '-'])
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let is_digest = |digest: &str| {
        let hex = digest.strip_prefix("sha256:").unwrap_or_default();
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    is_host
        && is_port
        && path.split('/').all(plain)
        && (tag.is_some() || digest.is_some())
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
        && !has_ending(word)
}

/// Whether a word may be the name of a file, and is no address of mail.
fn is_file(word: &str) -> bool {
    form(word) >= Form::Name && !is_mail(word)
}

/// Whether a name ends as files do.
pub(super) fn has_ending(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    ENDINGS.iter().any(|file| ending.eq_ignore_ascii_case(file))
}

fn is_mail(word: &str) -> bool {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte));
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !name.starts_with('.') && host.contains('.') && plain(name) && plain(host)
    }) && !has_ending(word)
}

fn is_number_date_or_address(text: &str) -> bool {
    let number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.:TZ".contains(&byte));
    let address = text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !text.contains(['/', '\\', ':']) && !host.contains('@')
    });
    number && text.bytes().any(|byte| byte.is_ascii_digit()) || address
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('/');
    // Fractions and scores as well: `1/2`, `7.5/10`.
    let digits = |part: &str| {
        (1..=4).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && part.starts_with(|c: char| c.is_ascii_digit())
            && part.ends_with(|c: char| c.is_ascii_digit())
    };
    parts.clone().count() <= 3 && parts.all(digits)
}
