//! What a string looks like, taken alone: a path, the name of a file, or neither.

use std::borrow::Cow;

use switchboard_policy::path;

use super::super::{dial, glued, uri};
use crate::percent;
use uri::scheme_of;

/// Endings of files: with one, what looks like an address of mail may be a file.
const ENDINGS: [&str; 24] = [
    "txt", "md", "json", "csv", "pdf", "png", "jpg", "jpeg", "gif", "svg", "key", "pem", "db", "sql", "xml", "yaml",
    "yml", "toml", "log", "zip", "doc", "docx", "xlsx", "html",
];

/// Words with a slash that are no names of files, units among them.
const SLASHED: [&str; 38] = [
    "and/or",
    "either/or",
    "n/a",
    "yes/no",
    "on/off",
    "in/out",
    "i/o",
    "r/w",
    "read/write",
    "w/o",
    "c/o",
    "he/him",
    "she/her",
    "they/them",
    "s/he",
    "he/she",
    "his/her",
    "tcp/ip",
    "24/7",
    "km/h",
    "mi/h",
    "m/s",
    "ft/s",
    "m/s2",
    "m/s^2",
    "kg/m3",
    "g/cm3",
    "mg/dl",
    "mg/l",
    "g/l",
    "mmol/l",
    "w/m2",
    "l/min",
    "b/s",
    "kb/s",
    "mb/s",
    "gb/s",
    "req/s",
];
/// The first halves of types of content, and second ones that are no names of files.
const CONTENT_TYPES: [&str; 10] =
    ["text", "image", "audio", "video", "application", "font", "model", "multipart", "message", "*"];
const CONTENT_SUBTYPES: [&str; 36] = [
    "*",
    "plain",
    "html",
    "css",
    "csv",
    "xml",
    "markdown",
    "javascript",
    "json",
    "pdf",
    "zip",
    "gzip",
    "png",
    "jpeg",
    "gif",
    "webp",
    "avif",
    "svg+xml",
    "bmp",
    "tiff",
    "mpeg",
    "mp4",
    "ogg",
    "wav",
    "webm",
    "flac",
    "aac",
    "quicktime",
    "octet-stream",
    "x-www-form-urlencoded",
    "form-data",
    "mixed",
    "ld+json",
    "x-ndjson",
    "event-stream",
    "rfc822",
];

/// Folders at the root that no package of a build is called after.
const OF_SYSTEMS: [&str; 14] = [
    "usr",
    "home",
    "tmp",
    "opt",
    "srv",
    "mnt",
    "media",
    "snap",
    "nix",
    "Users",
    "Library",
    "Volumes",
    "Applications",
    "private",
];

/// The form of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
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

/// Whether a text, taken alone, has the form of a path or of a file's name.
pub(in crate::arguments) fn may_be_path(text: &str) -> bool {
    form(text) >= Form::Name
}

/// Whether a text begins as only paths do, climbs, or is a URL that may name a file.
pub(in crate::arguments) fn begins_as_path(text: &str) -> bool {
    form(text) == Form::Path
}

/// Whether a text, taken alone, has the form of a path with a separator.
pub(in crate::arguments) fn is_separated(text: &str) -> bool {
    form(text) >= Form::Relative
}

/// The string as a careless server reads it: other slashes are slashes, what cannot be seen is not there, and what stands
/// behind a zero byte is cut off.
pub(super) fn tidy(text: &str) -> Cow<'_, str> {
    let cut = text.split('\0').next().unwrap_or_default();
    let framed = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '@');
    if cut.is_ascii() {
        return Cow::Borrowed(cut.trim_matches(framed));
    }
    Cow::Owned(path::fold_look_alikes(cut).trim_matches(framed).to_owned())
}

pub(super) fn form(text: &str) -> Form {
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
    // `~~old~~`: nor like a sign.
    let struck = text.starts_with("~~");
    let begins = text.starts_with(['/', '\\', '~']) && !comment && !about && !struck;
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
pub(super) fn is_uri(text: &str) -> bool {
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
pub(super) fn is_image(word: &str) -> bool {
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
    let is_here = !is_host && port.is_none() && plain(host);
    // Without the host of a registry: `org/app:1.0`.
    (is_host || is_here)
        && is_port
        && path.split('/').all(plain)
        && (tag.is_some() || digest.is_some())
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
        && !has_ending(word)
}

/// The image in the registry of some host, without its tag and digest. Without the host it may be a name with a colon.
pub(super) fn image_of_registry(word: &str) -> Option<&str> {
    let (host, _) = word.split_once('/')?;
    let is_registry = host.contains(['.', ':']) || host == "localhost";
    let end = word.rfind('/').and_then(|at| word[at..].find([':', '@']).map(|end| at + end)).unwrap_or(word.len());
    (is_registry && is_image(word)).then(|| &word[..end])
}

/// Whether a word is the name of a resource of a cloud: `arn:aws:iam::123456789012:role/app`.
pub(super) fn is_resource_name(word: &str) -> bool {
    let Some(rest) = word.strip_prefix("arn:") else { return false };
    let parts: Vec<&str> = rest.splitn(5, ':').collect();
    let plain =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:+=@*".contains(c);
    let [partition, service, region, account, resource] = parts.as_slice() else { return false };
    partition.starts_with("aws")
        && !service.is_empty()
        && [partition, service, region, account].iter().all(|part| plain(part))
        && resource.starts_with(|c: char| c.is_ascii_alphanumeric())
        && resource.chars().all(is_plain)
        && !resource.contains("..")
}

/// The names on both sides of a colon, `feature/x:main`, where neither begins or climbs as a path does.
pub(super) fn parted_names(word: &str) -> Option<(&str, &str)> {
    let (front, behind) = word.strip_prefix('+').unwrap_or(word).split_once(':')?;
    let plain = |step: &str| {
        step.starts_with(|c: char| c.is_ascii_alphanumeric())
            && step.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            && !step.contains("..")
    };
    let is_name = |name: &str| name.split('/').all(plain);
    // `C:x` is a place, and a scheme stands in front of what else a server may open.
    (front.contains('/') && is_name(front) && is_name(behind)).then_some((front, behind))
}

/// The name in a tag that ends an element of markup: `</div>`.
pub(super) fn closing_tag(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix("</")?.strip_suffix('>')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(plain)).then_some(name)
}

/// Whether a word is an expression for letters, and no place: `\d+/\d+`, `\s+`.
pub(super) fn is_expression_of_letters(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('\\')
        && letters.next().is_some_and(|c| "dwsDWSbB".contains(c))
        && letters.next().is_none_or(|c| "+*?{[/)|\\.$".contains(c))
        && !word.contains("..")
}

/// Whether a word is the label of a target of a build: `//pkg/sub:all`. No name at a root has a colon.
pub(super) fn is_label_of_build(word: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            && part != ".."
    };
    let label = word.strip_prefix("//").and_then(|label| label.rsplit_once(':'));
    // `//etc/passwd:12` is a line of a file.
    let is_target = |target: &str| plain(target) && !target.bytes().all(|byte| byte.is_ascii_digit());
    let is_folder = |first: &str| dial::SYSTEM.contains(&first) || OF_SYSTEMS.contains(&first);
    let is_root = |package: &str| {
        package.split('/').any(|name| name.starts_with('.')) || package.split('/').next().is_some_and(is_folder)
    };
    label.is_some_and(|(package, target)| package.split('/').all(plain) && is_target(target) && !is_root(package))
}

/// Whether a text is one of XML or the like: it begins with a tag and ends with one.
pub(super) fn is_markup(text: &str) -> bool {
    let text = text.trim();
    let opens = text
        .strip_prefix('<')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '?' | '!')));
    opens && text.ends_with('>') && (text.contains("</") || text.ends_with("/>"))
}

/// The file in the name of a test: `tests/a.py::test_x`.
pub(super) fn tested_file(word: &str) -> Option<&str> {
    let (file, test) = word.split_once("::")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
    let (test, parameters) = test.split_once('[').unwrap_or((test, ""));
    let is_file = file.contains(['/', '.']) && !file.contains(':') && !file.contains(char::is_whitespace);
    let is_plain = !test.contains("..") && test.chars().all(plain) && !parameters.contains("..");
    (is_file && is_plain && !parameters.starts_with(['/', '~'])).then_some(file)
}

/// Whether a word may be the name of a file, and is no address of mail.
pub(super) fn is_file(word: &str) -> bool {
    form(word) >= Form::Name && !is_mail(word)
}

/// Whether a name ends as files do.
pub(in crate::arguments) fn has_ending(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    ENDINGS.iter().any(|file| ending.eq_ignore_ascii_case(file))
}

fn is_mail(word: &str) -> bool {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte));
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !name.starts_with('.') && host.contains('.') && plain(name) && plain(host)
    }) && !has_ending(word)
}

pub(super) fn is_number_date_or_address(text: &str) -> bool {
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

/// The expression in `/^foo$/i`. One without an anchor may be a folder, and so may one with a slash in it.
pub(super) fn literal(text: &str) -> Option<&str> {
    let (inner, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let is_flag = |c: char| "dgimsuvxy".contains(c);
    let anchored = inner.starts_with('^') || inner.ends_with('$') && inner.contains(['^', '\\', '[', '(']);
    let is_plain = !inner.replace("\\/", "").contains('/') && !inner.contains("..");
    (anchored && is_plain && flags.len() <= 6 && flags.chars().all(is_flag)).then_some(inner)
}

/// Whether a text is one of the words that have a slash in them and name no file: a unit, a type of content, `and/or`.
pub(super) fn is_slashed_word(text: &str) -> bool {
    let plain = || text.to_lowercase().replace('²', "2").replace('³', "3");
    let is_short = text.len() <= 48 && text.bytes().filter(|byte| *byte == b'/').count() == 1;
    let is_type = || {
        let kind =
            text.split_once('/').map(|(kind, rest)| (kind, rest.split(';').next().unwrap_or_default().trim_end()));
        kind.is_some_and(|(kind, sub)| CONTENT_TYPES.contains(&kind) && CONTENT_SUBTYPES.contains(&sub))
    };
    is_short && (SLASHED.contains(&&*plain()) || is_type())
}

/// Whether a text is a day: `2026/11/19`.
pub(super) fn is_day(text: &str) -> bool {
    let parts: Vec<Option<u16>> = text.split('/').map(|part| part.parse().ok().filter(|_| part.len() <= 4)).collect();
    let is_day = |day: u16| (1..=31).contains(&day);
    match parts.as_slice() {
        [Some(year @ 1000..=2999), Some(month), Some(day)] | [Some(day), Some(month), Some(year @ 1000..=2999)] => {
            *year > 0 && is_day(*month) && is_day(*day)
        }
        _ => false,
    }
}

/// Whether a text is data in base64, as images and cursors are, and no path: it begins as a picture or an object of JSON does, or is
/// filled up at its end, and no folder at the root is called like its first name.
pub(super) fn is_encoded(text: &str, is_root: impl Fn(&str) -> bool) -> bool {
    let bare = text.trim_end_matches('=');
    let is_filled = (1..=2).contains(&(text.len() - bare.len())) && text.len().is_multiple_of(4);
    let is_picture = text.starts_with("/9j/") && text.len() >= 32 || text.starts_with("eyJ");
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let has = |is: fn(&u8) -> bool| bare.bytes().any(|byte| is(&byte));
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let mut names = bare.split('/').filter(|name| !name.is_empty());
    (is_filled || is_picture)
        && text.len() >= 12
        && bare.bytes().all(is_letter)
        && is_mixed
        && !names.next().is_some_and(is_root)
}

/// Whether a text is a network: `10.0.0.0/8`, `2001:db8::/32`.
pub(super) fn is_network(text: &str) -> bool {
    let parsed = text.split_once('/').map(|(address, bits)| (address.parse::<std::net::IpAddr>(), bits.parse::<u8>()));
    matches!(parsed, Some((Ok(_), Ok(bits))) if bits <= 128)
}
