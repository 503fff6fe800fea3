//! Which strings a server could open as a path, and whether they lie inside of what a grant allows.
//!
//! Nobody can know which of its arguments a server opens. So a string counts as a path unless something shows that it
//! is none: its schema, its key together with its form, or its form alone. The rule for each kind of key is in
//! [`Field`]; what counts as the form of a path is [`Form`].

mod form;
pub(super) mod operand;
pub(super) mod template;

use switchboard_policy::keys::{Key, Mark};
use switchboard_policy::path;
use switchboard_policy::permission::Scope;
use switchboard_policy::schema::Evidence;

use super::World;
use super::role::Role;
use super::uri::{self, scheme_of};
use super::{body, glued, pattern};
use crate::{Finding, Verdict, percent};
use form::{
    Form, form, is_file, is_image, is_label_of_build, is_markup, is_number_date_or_address, is_uri, tested_file, tidy,
};
pub(super) use form::{begins_as_path, has_ending, is_separated, may_be_path};

/// Everything, for a grant that only denies.
const ANYWHERE: [&str; 1] = ["/**"];
/// Longer orders to a chat are none.
const MAX_ORDER: usize = 32;
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
        let key = Key::of(key);
        let last = key.said_last();
        let by_key = match role {
            _ if key.said().has(Mark::Pair) => Self::Pair,
            Role::Path => Self::Place,
            _ if last.has(Mark::Place) => Self::Place,
            _ if last.has(Mark::PerhapsPlace) || key.said().has(Mark::PerhapsPlace) => Self::Perhaps,
            _ if key.has(Mark::Excludes) => Self::Excluded,
            _ if last.has(Mark::Contents) => Self::Contents,
            _ if last.has(Mark::Pattern) => Self::Below,
            _ if last.has(Mark::Expression) => Self::Expression,
            Role::Reference => Self::Reference,
            _ if last.has(Mark::Label) => Self::Label,
            Role::Url | Role::Host => Self::Remote,
            Role::Command | Role::Commands => Self::Command,
            Role::Prose | Role::Content | Role::Code | Role::Script | Role::Sql | Role::Query => Self::Body,
            _ if last.has(Mark::Body) => Self::Body,
            Role::CommandWords | Role::Method | Role::Link | Role::Other => Self::Unknown,
        };
        if evidence.has_format(&PATH_FORMATS)
            || matches!(by_key, Self::Unknown | Self::Perhaps | Self::Label) && evidence.speaks_of_place()
            || by_key == Self::Reference && last.has(Mark::LinkEnd) && evidence.speaks_of_place()
        {
            return Self::Place;
        }
        by_key
    }
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
    if !matches!(field, Field::Place | Field::Perhaps | Field::Excluded) {
        // `/^foo$/i` is the expression between its slashes.
        if let Some(inner) = form::literal(&tidy)
            .filter(|inner| matches!(field, Field::Below | Field::Contents) || inner.starts_with('^'))
        {
            return check(places, Field::Contents, &Evidence::none(), true, inner, world);
        }
        if !evidence.has_format(&PATH_FORMATS)
            && form::is_encoded(&tidy, |name| body::roots(places).any(|root| root == name))
        {
            return Ok(());
        }
    }
    let is_word = || form::is_network(&tidy) || form::is_slashed_word(&tidy);
    let may_be_word = !matches!(field, Field::Place | Field::Perhaps | Field::Below | Field::Excluded);
    if tidy.contains('/') && (may_be_word && is_word() || field != Field::Place && form::is_day(&tidy)) {
        return not_denied(places, &tidy, world);
    }
    // `git@host:a/b.git` leads to another machine, `a.py::test_x` to a file, and neither to a drive.
    if field != Field::Place && uri::is_git_address(&tidy) {
        return Ok(());
    }
    if let Some(file) = tested_file(&tidy) {
        return inside(places, file, world);
    }
    if matches!(field, Field::Unknown | Field::Label) {
        let is_tag = |name: &str| !body::roots(places).any(|root| root == name);
        if form::closing_tag(text).is_some_and(is_tag) {
            return Ok(());
        }
        if let Some(judged) = of_other_kind(places, &tidy, world) {
            return judged;
        }
    }
    let form = form(&tidy);
    if evidence.lists(text) && form < Form::Path
        || evidence.has_format(&FORMATS) && form < Form::Relative
        || field == Field::Command
    {
        return Ok(());
    }
    if matches!(field, Field::Below | Field::Contents | Field::Excluded | Field::Body) && pattern::is_expression(&tidy)
    {
        // Where files are found by patterns, a backslash says no more than that a sign stands for itself.
        let is_pattern = matches!(field, Field::Below | Field::Excluded) && tidy.contains('/') && !tidy.contains("://");
        let bare = if is_pattern { tidy.replace('\\', "") } else { String::new() };
        if is_pattern && !bare.starts_with('/') {
            check(places, field, evidence, anchored, &bare, world)?;
        }
        if field == Field::Below || !anchored && field != Field::Excluded {
            pattern::check_escaped(places, &tidy, world)?;
        }
        return pattern::check_choices(places, anchored, &tidy, world);
    }
    if field == Field::Below {
        return pattern::check(places, anchored, &tidy, world);
    }
    let place = matches!(field, Field::Place | Field::Perhaps);
    if matches!(field, Field::Unknown | Field::Label | Field::Remote) {
        // From a folder inside, `-f/etc/x` is a name that lies inside; to who reads options it is none.
        check_options(places, &tidy, world)?;
        if glued::has_absolute_value(places, &tidy) {
            return Ok(());
        }
        // `-f.env` and `a=.env`: what is denied stays so behind a sign.
        let glued = tidy.strip_prefix('-').and_then(|letters| letters.get(1..));
        let glued = glued.filter(|_| !tidy.contains(char::is_whitespace)).into_iter();
        let pairs = super::pairs::of(&tidy).into_iter().map(|(_, value)| value);
        let mut values = glued.chain(pairs).filter(|value| !value.trim().is_empty());
        values.try_for_each(|value| not_denied(places, value, world))?;
    }
    if tidy.contains(ends_line) && !place {
        // No path has several lines, but a list of paths has.
        let words = tidy.split(ends_line).map(str::trim).filter(|line| !line.contains(char::is_whitespace));
        // `a:` is a key.
        let is_key = |line: &str| line.len() == 2 && line.ends_with(':');
        let mut paths = words.filter(|line| !is_body && self::form(line) >= Form::Hidden && !is_key(line));
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
        Field::Perhaps | Field::Reference if is_image(&tidy) || is_label(places, &tidy) => false,
        // `custom-columns=NAME:.metadata.name` is no name of a file.
        Field::Perhaps if tidy.contains('=') && !tidy.contains(['/', '\\', '~', '$']) => false,
        Field::Perhaps => tidy.contains(['/', '\\', '~', '$']) || tidy.split_whitespace().any(is_file),
        Field::Label => form >= Form::Relative,
        // `\bword\b` is an expression.
        Field::Excluded if anchored && tidy.starts_with('\\') => body::names_path(places, &tidy),
        Field::Contents if anchored => body::names_path(places, &tidy),
        Field::Expression if reads_document(&tidy) => {
            let mut quoted = tidy.split(['\'', '"']).skip(1).step_by(2);
            return quoted.try_for_each(|file| inside(places, file, world));
        }
        Field::Expression => body::names_path(places, &tidy),
        Field::Below | Field::Excluded | Field::Contents => form == Form::Path || form >= Form::Relative && !anchored,
        // No branch ends as files do.
        Field::Reference => form >= Form::Hidden || form >= Form::Relative && (!anchored || has_ending(&tidy)),
        Field::Body if is_body => body::names_path(places, &tidy),
        Field::Body => form >= Form::Relative && (!body::is_route(&tidy) || body::names_path(places, &tidy)),
        // Its values were judged each by itself.
        Field::Unknown if is_markup(text) => false,
        Field::Unknown => is_file(&tidy),
        Field::Command => false,
    };
    // A name of several words is a path where its key says so, or where it begins as one.
    let counts = counts && (!sentence || place || form == Form::Path);
    if !counts {
        if matches!(field, Field::Unknown | Field::Label) {
            not_called_as_denied(places, &tidy)?;
        }
        // What stands behind options was judged; the values of pairs are words of their own.
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
    if place && let Some(bare) = without_marks(&tidy) {
        inside(places, bare, world)?;
    }
    // Places are judged as they were sent: what is read out of them is for the reader of paths.
    inside(places, if place { text } else { &tidy }, world)
}

/// What a word with a colon is that names no file: a resource of a cloud, an image, two branches. `None` for every other.
fn of_other_kind(places: &[path::Scope], word: &str, world: &dyn World) -> Option<Verdict> {
    if form::is_resource_name(word) {
        let (_, resource) = word.rsplit_once(':')?;
        return Some(not_denied(places, resource, world));
    }
    if let Some(image) = form::image_of_registry(word) {
        return Some(not_denied(places, image, world));
    }
    let (front, behind) = form::parted_names(word)?;
    Some(inside(places, front, world).and_then(|()| inside(places, behind, world)))
}

/// Whether a word is the label of a build, of which no limit speaks.
fn is_label(places: &[path::Scope], word: &str) -> bool {
    let first = |text: &str| text.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
    let of_limit = |place: &path::Scope| {
        let globs = place.allow.iter().chain(&place.deny).map(|glob| first(&glob.to_string()));
        globs.chain([first(&place.base)]).any(|name| !name.is_empty() && name == first(word))
    };
    is_label_of_build(word) && !places.iter().any(of_limit)
}

/// Whether a text is an order to a chat, `/gif cat`: one word behind a slash that no folder at the root is called, and words.
pub(super) fn is_order(places: &[path::Scope], text: &str) -> bool {
    let Some(rest) = text.trim().strip_prefix('/') else { return false };
    let (order, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    order.starts_with(|c: char| c.is_ascii_lowercase())
        && order.len() <= MAX_ORDER
        && order.chars().all(is_word)
        && !words.contains(['/', '\\', '~', '$'])
        && !words.contains("..")
        && !body::roots(places).any(|root| root.eq_ignore_ascii_case(order))
}

/// Whether an expression for documents opens one itself.
fn reads_document(text: &str) -> bool {
    ["document(", "doc(", "unparsed-text(", "collection("].iter().any(|call| text.contains(call))
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

/// The same of a name that may be a pattern to a shell.
pub(super) fn finds_nothing_denied(places: &[path::Scope], word: &str) -> Verdict {
    check_pattern(places, word, true)
}

/// Whether no place denies what a text names. Where it lies is not asked.
pub(super) fn not_denied(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let mut denying = places.iter().filter(|place| !place.deny.is_empty());
    denying.try_for_each(|place| match inside(std::slice::from_ref(place), text, world) {
        Err(finding) if finding.rule == "path-denied" => Err(finding),
        _ => Ok(()),
    })
}

/// Whether a word is not the very name of a file that is denied, where no sentence has such a word: `id_rsa`, and not `secrets`.
fn not_called_as_denied(places: &[path::Scope], word: &str) -> Verdict {
    if word.chars().all(char::is_alphabetic) || word.contains(char::is_whitespace) {
        return Ok(());
    }
    for glob in places.iter().flat_map(|place| &place.deny) {
        let glob = glob.to_string();
        let name = glob.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if name.eq_ignore_ascii_case(word) && !glued::is_pattern(name) {
            return Err(Finding::new(
                "path-denied",
                format!("`{word}` is the name of a file that is denied by `{glob}`"),
            ));
        }
    }
    Ok(())
}

/// Whether the values of options in a text lie inside, as a reader finds them that splits at blanks and takes quotes away.
fn check_options(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    if !text.contains('-') {
        return Ok(());
    }
    let bare = text.replace("$'", "").replace(['\'', '"'], "");
    // A list of points begins with a dash of its own.
    let options = bare.trim_start().strip_prefix('-').is_some_and(|rest| !rest.starts_with(char::is_whitespace));
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

/// Whether a schema says of a string that it is a path.
pub(super) fn is_of_format(evidence: &Evidence<'_>) -> bool {
    evidence.has_format(&PATH_FORMATS)
}

/// Whether a text has several lines.
pub(super) fn is_lines(text: &str) -> bool {
    let tidy = tidy(text);
    // A single line with its end is one of code, where it has signs of code and begins as no path does.
    let is_code = |line: &str| line.contains(|c: char| c.is_whitespace() || "()=;{}\"'".contains(c));
    tidy.contains(ends_line) || text.ends_with(ends_line) && is_code(&tidy) && !begins_as_path(&tidy)
}

/// Whether a file that a query names lies inside. A mere name counts only against what is denied.
pub(super) fn check_file_of_query(places: &[path::Scope], file: &str, world: &dyn World) -> Verdict {
    if glued::is_pattern(file) {
        finds_nothing_denied(places, file)?;
        return pattern::check(places, false, file, world);
    }
    match form(&tidy(file)) {
        Form::Plain => Ok(()),
        Form::Name => not_denied(places, file, world),
        Form::Relative | Form::Hidden | Form::Path => inside(places, file, world),
    }
}

/// Whether some reader ends a line here.
pub(super) const fn ends_line(c: char) -> bool {
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

/// The same of a word behind the program: an option may have its value behind `=`, and one glued to its letter.
pub(super) fn check_argument(places: &[path::Scope], word: &str, world: &dyn World) -> Verdict {
    let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with('-')) else {
        return check_word(places, word, world);
    };
    if glued::has_glued_value(places, option) {
        check_word(places, option, world)?;
    }
    check_word(places, value, world)
}

/// Whether a word of a command, or any part of it, could be a path.
pub(super) fn check_word(places: &[path::Scope], word: &str, world: &dyn World) -> Verdict {
    let tidy = tidy(word);
    if let Some(file) = tested_file(&tidy) {
        return check_word(places, file, world);
    }
    let value = tidy.split_once('=').map_or(&*tidy, |(_, value)| value);
    if let Some(judged) = of_other_kind(places, value, world) {
        return judged;
    }
    if glued::has_glued_value(places, &tidy) {
        return glued::values_of_option(places, &tidy).try_for_each(|value| inside(places, value, world));
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

/// Whether what a program names lies inside. The first line may name its interpreter.
pub(super) fn check_code(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    if is_line_of_code(text) {
        check_quoted(places, text, world)?;
    } else if !text.trim_end().contains(ends_line) {
        return check_word(places, text, world);
    }
    if text.contains(['\'', '"']) && lists_root(text) {
        return inside(places, "/", world);
    }
    let (program, words) = text.lines().next().and_then(interpreter).unwrap_or_default();
    let of_system = crate::shell::is_of_system(program);
    if of_system {
        words.split_whitespace().try_for_each(|word| check_word(places, word, world))?;
    }
    let is_comment = |piece: &str| piece.trim_matches(['/', '*']).is_empty();
    let lines = text.split(ends_line).map(str::trim).skip(usize::from(of_system)).filter(|line| !line.is_empty());
    lines.into_iter().try_for_each(|line| {
        let whole = form(line) == Form::Path && !line.contains(char::is_whitespace);
        let marked = without_marks(line).and_then(|path| path.split_whitespace().next());
        // `'/'.join(xs)`
        let marked = marked.filter(|path| !["/'", "/\""].iter().any(|sign| path.starts_with(sign)));
        let pieces = glued::parts(line).chain(whole.then_some(line)).chain(marked);
        let mut pieces = pieces.filter(|piece| !is_comment(piece) && !form::is_expression_of_letters(piece));
        pieces.try_for_each(|piece| one(places, piece, world))?;
        check_routes(places, line, world)
    })
}

/// Whether a text is one line of a program, by signs that no path needs.
pub(super) fn is_line_of_code(text: &str) -> bool {
    let text = text.trim();
    let has_signs = text.contains('(') && text.contains(')') || text.contains(" = ");
    has_signs && !text.contains(ends_line) && !begins_as_path(text) && !text.starts_with('-')
}

/// Whether a program looks into the root itself, which is one sign in quotes: `os.listdir('/')`.
fn lists_root(text: &str) -> bool {
    const OPENING: [&str; 13] = [
        "listdir",
        "scandir",
        "walk",
        "chdir",
        "readdir",
        "readdirSync",
        "rmtree",
        "Path",
        "glob",
        "rglob",
        "opendir",
        "disk_usage",
        "iglob",
    ];
    let quoted = text.match_indices("'/'").chain(text.match_indices("\"/\""));
    quoted.filter_map(|(at, _)| text[..at].trim_end().strip_suffix('(')).any(|front| {
        let name = front.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        OPENING.contains(&name)
    })
}

/// The program that a script names in its first line, and the words behind it, of which the program of `env` is one.
fn interpreter(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("#!")?.trim_start();
    Some(line.split_once(char::is_whitespace).unwrap_or((line, "")))
}

/// Whether what stands in quotes and brackets in a text, or behind another sign, lies inside where it names a place by itself.
/// What a sentence only speaks of stands between blanks.
pub(super) fn check_quoted(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let pieces = text.split(|c: char| "()[]{}<>\"'`=,;|".contains(c)).flat_map(|piece| piece.split("::"));
    let mut pieces = pieces.filter(|piece| piece.len() < text.len() && !piece.contains(char::is_whitespace));
    pieces.try_for_each(|piece| {
        if body::names_path(places, piece) {
            return inside(places, piece, world);
        }
        if may_be_path(piece) { not_denied(places, piece, world) } else { Ok(()) }
    })
}

/// Whether a text is a program rather than the name of a file that holds one.
pub(super) fn is_program(field: Field, text: &str) -> bool {
    let is_likely = field == Field::Body || text.contains(['(', '=', ';']);
    matches!(field, Field::Body | Field::Expression | Field::Unknown) && is_likely && form(&tidy(text)) != Form::Path
}

/// Whether what a program in a page names lies inside. Paths that no system has are routes there.
pub(super) fn check_routes(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    let plain = text.replace("\\/", "/");
    let pieces = plain.split(ends_piece).filter(|piece| body::names_path(places, piece));
    pieces.map(str::to_owned).try_for_each(|piece| inside(places, &piece, world))
}

/// Whether a piece of a program or an expression ends here.
fn ends_piece(c: char) -> bool {
    c.is_whitespace() || "()[]{}|,;=\"'`<>?*+^&!".contains(c)
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
