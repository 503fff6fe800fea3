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
    let is_root = |package: &str| package.split('/').next().is_some_and(|first| dial::SYSTEM.contains(&first));
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
