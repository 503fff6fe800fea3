//! Works out what operators and methods make of constants: the part of Python with which names are assembled.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use ruff_python_ast::Operator;

use super::value::{MAX_CONSTANT_LENGTH, Source, Val};

/// `left op right`.
pub(super) fn operator(left: &Val, op: Operator, right: &Val) -> Val {
    if left.each().len() * right.each().len() > 64 {
        return Val::Opaque;
    }
    Val::any(left.each().iter().flat_map(|l| right.each().iter().map(move |r| one_operator(l, op, r))))
}

fn one_operator(left: &Val, op: Operator, right: &Val) -> Val {
    use Val::{Bytes, Int, Opaque, Partial, Plain, Seq, Text, Unknown};
    match (left, op, right) {
        (Text(a), Operator::Add, Text(b)) => Val::text(format!("{a}{b}")),
        (Bytes(a), Operator::Add, Bytes(b)) => Val::bytes([&**a, &**b].concat()),
        (Seq(a), Operator::Add, Seq(b)) => Val::seq(a.iter().chain(b.iter()).cloned().collect()),
        (Text(a), Operator::Add, Partial(start, end)) => Partial(format!("{a}{start}").into(), end.clone()),
        (Partial(start, end), Operator::Add, Text(b)) => Partial(start.clone(), format!("{end}{b}").into()),
        (Partial(start, _), Operator::Add, Partial(_, end)) => Partial(start.clone(), end.clone()),
        (Val::File(a), Operator::Div, b) => Val::File(path_join(a, b).into()),
        (a, Operator::Div, Val::File(b)) => Val::File(path_join(a, b).into()),
        (Opaque, _, _) | (_, _, Opaque) => Opaque,
        (Text(a), Operator::Add, Val::Listed(folder)) => {
            if same_folder(a, folder) {
                Val::Listed(folder.clone())
            } else {
                Partial(a.clone(), "".into())
            }
        }
        (Val::Listed(folder), Operator::Add, Val::Listed(_)) => Val::Listed(folder.clone()),
        (Val::Listed(_), Operator::Add, Text(b)) if !b.is_empty() && &**b != "/" => Partial("".into(), b.clone()),
        (Val::Listed(folder), Operator::Add, Text(_)) => Val::Listed(folder.clone()),
        (Text(a), Operator::Add, Val::Private(_)) => Partial(a.clone(), "".into()).or(right.clone()),
        (Partial(a, _), Operator::Add, Val::Private(_)) => Partial(a.clone(), "".into()).or(right.clone()),
        (Val::Private(_), _, _) => left.clone(),
        (_, _, Val::Private(_)) => right.clone(),
        (Text(a), Operator::Add, Unknown) => Partial(a.clone(), "".into()),
        (Unknown | Val::Path(_), Operator::Add, Text(b)) => Partial("".into(), b.clone()),
        (Text(a), Operator::Mult, Int(n)) | (Int(n), Operator::Mult, Text(a)) => {
            let n = usize::try_from(*n).unwrap_or(0);
            if a.len().saturating_mul(n) > MAX_CONSTANT_LENGTH { Opaque } else { Val::text(a.repeat(n)) }
        }
        (Seq(a), Operator::Mult, Int(n)) | (Int(n), Operator::Mult, Seq(a)) => {
            let n = usize::try_from(*n).unwrap_or(0);
            if a.len().saturating_mul(n) > MAX_CONSTANT_LENGTH {
                Val::Many(Val::any(a.iter().cloned()).into())
            } else {
                Val::seq(a.iter().cloned().cycle().take(a.len() * n).collect())
            }
        }
        (Text(pattern), Operator::Mod, value) => percent(pattern, value),
        (Bytes(pattern), Operator::Mod, value) => {
            match std::str::from_utf8(pattern).map(|pattern| percent(pattern, value)) {
                Ok(Text(text)) => Val::bytes(text.as_bytes()),
                _ => Opaque,
            }
        }
        (Int(a), op, Int(b)) => integer(*a, op, *b).map_or(Plain, Int),
        (Plain | Int(_), _, Plain | Int(_)) => Plain,
        (Val::Dict(a), Operator::BitOr, Val::Dict(b)) => Val::Dict(a.iter().chain(b.iter()).cloned().collect()),
        _ => Unknown,
    }
}

/// Whether a text is the folder itself, as it stands in front of what was found there.
fn same_folder(text: &str, folder: &str) -> bool {
    let tidy = |path: &str| path.trim_end_matches('/').trim_start_matches("./").to_owned();
    tidy(text) == tidy(folder) || tidy(text).is_empty()
}

/// A path below another, as `os.path.join` and `/` put them together.
pub(super) fn path_join(left: &Val, right: &Val) -> Val {
    let left = path_text(left);
    let right = path_text(right);
    if left.each().len() * right.each().len() > 64 {
        return Val::Opaque;
    }
    Val::any(left.each().iter().flat_map(|l| right.each().iter().map(move |r| one_join(l, r))))
}

fn one_join(left: &Val, right: &Val) -> Val {
    match (left, right) {
        (_, Val::Text(b)) if b.starts_with('/') => right.clone(),
        (_, Val::Partial(b, _)) if b.starts_with('/') => right.clone(),
        (Val::Text(a), _) if a.is_empty() => right.clone(),
        (Val::Text(a), Val::Listed(folder)) => {
            if same_folder(a, folder) {
                right.clone()
            } else {
                Val::Partial(format!("{a}/").into(), "".into())
            }
        }
        (Val::Listed(_), Val::Listed(_)) => left.clone(),
        (Val::Text(a), _) => one_operator(&Val::text(format!("{}/", a.trim_end_matches('/'))), Operator::Add, right),
        (Val::Unknown | Val::Listed(_), Val::Text(b)) => Val::Partial("".into(), format!("/{b}").into()),
        (Val::Unknown, Val::Listed(_)) => right.clone(),
        (Val::Partial(..), _) => {
            one_operator(&one_operator(left, Operator::Add, &Val::text("/")), Operator::Add, right)
        }
        _ => one_operator(left, Operator::Add, right),
    }
}

/// The text of a path, whatever stands for it.
pub(super) fn path_text(value: &Val) -> Val {
    value.map(|value| match value {
        Val::File(inner) => (**inner).clone(),
        Val::Path(path) if path.starts_with("tempfile.") => Val::text("/tmp/made"),
        Val::Path(path) if path.starts_with("os.path.sep") || &**path == "os.sep" => Val::text("/"),
        Val::Bytes(bytes) => std::str::from_utf8(bytes).map_or(Val::Opaque, Val::text),
        Val::Text(_) | Val::Partial(..) | Val::Listed(_) | Val::Opaque | Val::Private(_) => value.clone(),
        _ => Val::Unknown,
    })
}

/// The folder that a path lies in.
pub(super) fn parent(path: &Val) -> Val {
    path.map(|path| match path {
        Val::Text(text) => {
            let text = text.trim_end_matches('/');
            match text.rsplit_once('/') {
                Some(("", _)) => Val::text("/"),
                Some((folder, _)) => Val::text(folder),
                None if matches!(text, "" | "." | "..") || text.ends_with("..") => {
                    Val::text(format!("{text}/..").trim_start_matches('/'))
                }
                None if text.starts_with('~') => Val::text("/home"),
                None => Val::text("."),
            }
        }
        Val::Partial(start, _) => Val::Partial(start.clone(), "".into()),
        other => other.clone(),
    })
}

fn integer(a: i64, op: Operator, b: i64) -> Option<i64> {
    match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mult => a.checked_mul(b),
        Operator::FloorDiv => a.checked_div_euclid(b),
        Operator::Mod => a.checked_rem_euclid(b),
        Operator::BitXor => Some(a ^ b),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::LShift => u32::try_from(b).ok().filter(|b| *b < 62).and_then(|b| a.checked_mul(1 << b)),
        Operator::RShift => u32::try_from(b).ok().map(|b| a.checked_shr(b).unwrap_or(0)),
        Operator::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        _ => None,
    }
}

/// The old way to fill in values: `'%s' % x`.
fn percent(pattern: &str, value: &Val) -> Val {
    let values = match value {
        Val::Seq(values) => values.to_vec(),
        one => vec![one.clone()],
    };
    let mut values = values.into_iter();
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let kind = rest.by_ref().find(|c| c.is_ascii_alphabetic() || matches!(c, '%' | '('));
        match kind {
            Some('%') => text.push('%'),
            // By key: the keys are data of their own.
            Some('(') | None => return Val::Opaque,
            Some(kind) => {
                pieces.push(Val::text(&text));
                text.clear();
                let value = values.next().unwrap_or(Val::Unknown);
                pieces.push(match (kind, &value) {
                    ('c', Val::Int(code)) => character(*code),
                    ('x', Val::Int(number)) => Val::text(format!("{number:x}")),
                    _ => string(&value),
                });
            }
        }
    }
    pieces.push(Val::text(&text));
    concat(&pieces)
}

/// Texts one after the other.
pub(super) fn concat(pieces: &[Val]) -> Val {
    pieces.iter().fold(Val::text(""), |left, right| operator(&left, Operator::Add, right))
}

/// `str(value)`.
pub(super) fn string(value: &Val) -> Val {
    value.map(|value| match value {
        Val::Text(_) | Val::Partial(..) | Val::Opaque | Val::Listed(_) | Val::Private(_) => value.clone(),
        Val::File(inner) => (**inner).clone(),
        Val::Path(path) if path.starts_with("tempfile.") => Val::text("/tmp/made"),
        Val::Int(number) => Val::text(number.to_string()),
        _ => Val::Unknown,
    })
}

/// `chr(code)`.
pub(super) fn character(code: i64) -> Val {
    u32::try_from(code).ok().and_then(char::from_u32).map_or(Val::Plain, |c| Val::text(c.encode_utf8(&mut [0; 4])))
}

/// `value[index]`.
pub(super) fn index(value: &Val, index: &Val) -> Val {
    match (value, index) {
        (Val::Dict(items), key) => {
            let found = items.iter().rev().find(|(k, _)| k == key && !matches!(k, Val::Unknown | Val::Opaque));
            found.map_or_else(|| Val::any(items.iter().map(|(_, v)| v.clone())), |(_, v)| v.clone())
        }
        (Val::Many(element), _) => (**element).clone(),
        (Val::Opaque, _) => Val::Opaque,
        (Val::Private(Source::File), Val::Text(_)) => Val::Private(Source::Part),
        (Val::Private(_) | Val::Listed(_), _) => value.clone(),
        (Val::Seq(_) | Val::Text(_) | Val::Bytes(_), Val::Int(at)) => {
            let Some(elements) = value.elements() else { return Val::Unknown };
            let at = if *at < 0 { at + i64::try_from(elements.len()).unwrap_or(0) } else { *at };
            usize::try_from(at).ok().and_then(|at| elements.get(at).cloned()).unwrap_or(Val::Plain)
        }
        (Val::Seq(_) | Val::Text(_) | Val::Bytes(_), _) => match value.element() {
            // One letter of a text, which one is not known.
            Val::Any(_) if !matches!(value, Val::Seq(_)) => Val::Opaque,
            element => element,
        },
        _ => Val::Unknown,
    }
}

/// `value[lower:upper:step]`; a bound that is there but not known is `Err`.
pub(super) fn slice(value: &Val, bounds: [Option<Option<i64>>; 3]) -> Val {
    let [lower, upper, step] = bounds;
    let (Some(lower), Some(upper), Some(step)) = (lower, upper, step) else {
        return match value {
            Val::Text(_) | Val::Bytes(_) => Val::Opaque,
            Val::Seq(_) => Val::Many(value.element().into()),
            other => other.clone(),
        };
    };
    let Some(elements) = value.elements() else {
        return match value {
            Val::Many(_) | Val::Opaque | Val::Private(_) => value.clone(),
            // A text read backwards that could not be followed.
            _ if step.is_some_and(|step| step < 0) => Val::Opaque,
            _ => Val::Unknown,
        };
    };
    let picked = pick(elements.len(), lower, upper, step.unwrap_or(1)).into_iter().map(|at| elements[at].clone());
    match value {
        Val::Text(_) => Val::text(picked.filter_map(|v| v.as_str().map(str::to_owned)).collect::<String>()),
        Val::Bytes(_) => {
            Val::bytes(picked.filter_map(|v| v.as_int().and_then(|b| u8::try_from(b).ok())).collect::<Vec<u8>>())
        }
        _ => Val::seq(picked.collect()),
    }
}

fn pick(length: usize, lower: Option<i64>, upper: Option<i64>, step: i64) -> Vec<usize> {
    let length = i64::try_from(length).unwrap_or(0);
    if step == 0 {
        return Vec::new();
    }
    let place = |bound: i64| if bound < 0 { bound.saturating_add(length) } else { bound };
    let (mut at, end) = if step > 0 {
        (lower.map_or(0, |b| place(b).clamp(0, length)), upper.map_or(length, |b| place(b).clamp(0, length)))
    } else {
        (
            lower.map_or(length - 1, |b| place(b).clamp(-1, length - 1)),
            upper.map_or(-1, |b| place(b).clamp(-1, length - 1)),
        )
    };
    let mut picked = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        picked.extend(usize::try_from(at));
        at = at.saturating_add(step);
    }
    picked
}

/// A method of a constant.
pub(super) fn method(value: &Val, name: &str, arguments: &[Val], keywords: &[(String, Val)]) -> Val {
    match value {
        Val::Text(text) => text_method(text, name, arguments, keywords),
        Val::Bytes(bytes) => bytes_method(bytes, name, arguments),
        Val::Partial(start, end) => match name {
            "lower" => Val::Partial(start.to_lowercase().into(), end.to_lowercase().into()),
            "upper" => Val::Partial(start.to_uppercase().into(), end.to_uppercase().into()),
            "strip" | "encode" | "decode" => value.clone(),
            _ => Val::Unknown,
        },
        Val::Opaque => Val::Opaque,
        Val::Int(number) => match name {
            "to_bytes" => to_bytes(*number, arguments, keywords),
            _ => Val::Plain,
        },
        Val::Seq(values) => match name {
            "pop" | "__getitem__" => index(value, arguments.first().unwrap_or(&Val::Int(-1))),
            "copy" => value.clone(),
            "count" | "index" => Val::Unknown,
            _ => Val::any(values.iter().cloned().chain([Val::Unknown])),
        },
        Val::Dict(items) => match name {
            "get" | "pop" | "setdefault" | "__getitem__" => {
                let found = index(value, arguments.first().unwrap_or(&Val::Unknown));
                match arguments.get(1) {
                    Some(default) => found.or(default.clone()),
                    None => found,
                }
            }
            "values" => Val::seq(items.iter().map(|(_, v)| v.clone()).collect()),
            "keys" => Val::seq(items.iter().map(|(k, _)| k.clone()).collect()),
            "items" => Val::seq(items.iter().map(|(k, v)| Val::seq(vec![k.clone(), v.clone()])).collect()),
            "copy" => value.clone(),
            _ => Val::Unknown,
        },
        Val::Many(element) => match name {
            "pop" | "__getitem__" => (**element).clone(),
            _ => Val::Unknown,
        },
        _ => Val::Unknown,
    }
}

fn to_bytes(number: i64, arguments: &[Val], keywords: &[(String, Val)]) -> Val {
    let keyword = |name: &str| keywords.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let length = arguments.first().or_else(|| keyword("length")).and_then(Val::as_int).unwrap_or(1);
    let order = arguments.get(1).or_else(|| keyword("byteorder")).and_then(Val::as_str).unwrap_or("big");
    let Ok(length @ 0..=8) = usize::try_from(length) else { return Val::Opaque };
    let mut bytes = number.to_be_bytes()[8 - length..].to_vec();
    if order == "little" {
        bytes.reverse();
    }
    Val::bytes(bytes)
}

fn text_method(text: &str, name: &str, arguments: &[Val], keywords: &[(String, Val)]) -> Val {
    let argument = |at: usize| arguments.get(at).and_then(Val::as_str);
    match name {
        "lower" | "casefold" => Val::text(text.to_lowercase()),
        "upper" => Val::text(text.to_uppercase()),
        "swapcase" => Val::text(
            text.chars()
                .flat_map(|c| {
                    if c.is_uppercase() { c.to_lowercase().collect::<Vec<_>>() } else { c.to_uppercase().collect() }
                })
                .collect::<String>(),
        ),
        "capitalize" => {
            let mut chars = text.chars();
            Val::text(chars.next().map_or(String::new(), |c| {
                c.to_uppercase().chain(chars.flat_map(char::to_lowercase)).collect::<String>()
            }))
        }
        "strip" | "lstrip" | "rstrip" => {
            let set: Option<Vec<char>> = argument(0).map(|set| set.chars().collect());
            let inside = |c: char| set.as_ref().map_or_else(|| c.is_whitespace(), |set| set.contains(&c));
            Val::text(match name {
                "strip" => text.trim_matches(inside),
                "lstrip" => text.trim_start_matches(inside),
                _ => text.trim_end_matches(inside),
            })
        }
        "removeprefix" => Val::text(argument(0).and_then(|p| text.strip_prefix(p)).unwrap_or(text)),
        "removesuffix" => Val::text(argument(0).and_then(|p| text.strip_suffix(p)).unwrap_or(text)),
        "replace" => match (argument(0), argument(1)) {
            (Some(from), Some(to)) if text.len().saturating_mul(to.len() + 1) <= MAX_CONSTANT_LENGTH * 8 => {
                Val::text(text.replace(from, to))
            }
            _ => Val::Opaque,
        },
        "split" | "rsplit" if arguments.len() <= 1 => match argument(0) {
            Some("") => Val::Plain,
            Some(by) => Val::seq(text.split(by).map(Val::text).collect()),
            None => Val::seq(text.split_whitespace().map(Val::text).collect()),
        },
        "splitlines" => Val::seq(text.lines().map(Val::text).collect()),
        "join" => join(text, arguments.first().unwrap_or(&Val::Unknown)),
        "encode" => Val::bytes(text.as_bytes()),
        "format" => format(text, arguments, keywords),
        "translate" => translate(text, arguments.first()),
        "zfill" => arguments.first().and_then(Val::as_int).map_or(Val::Opaque, |width| {
            let width = usize::try_from(width).unwrap_or(0).min(MAX_CONSTANT_LENGTH);
            Val::text(format!("{text:0>width$}"))
        }),
        "center" | "ljust" | "rjust" | "expandtabs" => Val::Opaque,
        "isdigit" | "isalpha" | "isalnum" | "startswith" | "endswith" | "find" | "index" | "count" | "islower"
        | "isupper" => Val::Unknown,
        "__add__" => arguments.first().map_or(Val::Unknown, |b| operator(&Val::text(text), Operator::Add, b)),
        "__getitem__" => arguments.first().map_or(Val::Unknown, |at| index(&Val::text(text), at)),
        _ => Val::Unknown,
    }
}

fn join(by: &str, parts: &Val) -> Val {
    parts.map(|parts| {
        if let Some(elements) = parts.elements() {
            let mut pieces = Vec::with_capacity(elements.len() * 2);
            for (at, element) in elements.into_iter().enumerate() {
                if at > 0 && !by.is_empty() {
                    pieces.push(Val::text(by));
                }
                pieces.push(string(&element));
            }
            return concat(&pieces);
        }
        if parts.is_opaque() || matches!(parts, Val::Many(element) if matches!(**element, Val::Any(_) | Val::Text(_))) {
            Val::Opaque
        } else {
            Val::Unknown
        }
    })
}

fn translate(text: &str, table: Option<&Val>) -> Val {
    let Some(Val::Dict(items)) = table else { return Val::Opaque };
    let mut out = String::new();
    for c in text.chars() {
        let key = i64::from(u32::from(c));
        match items.iter().find(|(k, _)| k.as_int() == Some(key)).map(|(_, v)| v) {
            Some(Val::Text(to)) => out.push_str(to),
            Some(Val::Int(code)) => out.extend(u32::try_from(*code).ok().and_then(char::from_u32)),
            Some(Val::Plain) => {}
            Some(_) => return Val::Opaque,
            None => out.push(c),
        }
    }
    Val::text(out)
}

/// `str.maketrans(from, to)`.
pub(super) fn maketrans(arguments: &[Val]) -> Val {
    match arguments {
        [Val::Text(from), Val::Text(to)] if from.chars().count() == to.chars().count() => Val::Dict(
            from.chars()
                .zip(to.chars())
                .map(|(a, b)| (Val::Int(i64::from(u32::from(a))), Val::Int(i64::from(u32::from(b)))))
                .collect(),
        ),
        [Val::Dict(items)] => Val::Dict(
            items
                .iter()
                .map(|(k, v)| {
                    let key = match k {
                        Val::Text(text) => {
                            text.chars().next().map_or(Val::Unknown, |c| Val::Int(i64::from(u32::from(c))))
                        }
                        other => other.clone(),
                    };
                    (key, v.clone())
                })
                .collect(),
        ),
        _ => Val::Opaque,
    }
}

/// `text.format(..)`; only plain fields are worked out.
fn format(text: &str, arguments: &[Val], keywords: &[(String, Val)]) -> Val {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut next = 0;
    while let Some(at) = rest.find(['{', '}']) {
        pieces.push(Val::text(&rest[..at]));
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            pieces.push(Val::text(brace));
            rest = after;
            continue;
        }
        let Some(end) = rest.find('}') else { return Val::Opaque };
        let field = rest[..end].split([':', '!']).next().unwrap_or_default();
        rest = &rest[end + 1..];
        let value = if field.is_empty() {
            next += 1;
            arguments.get(next - 1).cloned()
        } else if let Ok(at) = field.parse::<usize>() {
            arguments.get(at).cloned()
        } else {
            keywords.iter().find(|(key, _)| key == field).map(|(_, value)| value.clone())
        };
        pieces.push(value.map_or(Val::Unknown, |value| string(&value)));
    }
    pieces.push(Val::text(rest));
    concat(&pieces)
}

fn bytes_method(bytes: &[u8], name: &str, arguments: &[Val]) -> Val {
    match name {
        "decode" => match arguments.first().and_then(Val::as_str).map(str::to_ascii_lowercase).as_deref() {
            None | Some("utf-8" | "utf8" | "ascii" | "us-ascii") => {
                std::str::from_utf8(bytes).map_or(Val::Opaque, Val::text)
            }
            Some("latin-1" | "latin1" | "iso-8859-1" | "cp1252") => {
                Val::text(bytes.iter().copied().map(char::from).collect::<String>())
            }
            Some(codec) => decode(bytes, codec),
        },
        "hex" => Val::text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        "join" => match arguments.first().and_then(Val::elements) {
            Some(parts) => {
                let parts: Option<Vec<Vec<u8>>> = parts
                    .iter()
                    .map(|part| if let Val::Bytes(part) = part { Some(part.to_vec()) } else { None })
                    .collect();
                parts.map_or(Val::Opaque, |parts| Val::bytes(parts.join(bytes)))
            }
            None => Val::Opaque,
        },
        "lower" => Val::bytes(bytes.to_ascii_lowercase()),
        "upper" => Val::bytes(bytes.to_ascii_uppercase()),
        "replace" | "translate" | "strip" | "split" => Val::Opaque,
        _ => Val::Unknown,
    }
}

/// What a codec makes of constant bytes.
pub(super) fn decode(bytes: &[u8], codec: &str) -> Val {
    match codec.to_ascii_lowercase().replace(['_', '-'], "").as_str() {
        "rot13" => Val::text(String::from_utf8_lossy(bytes).chars().map(rot13).collect::<String>()),
        "hex" | "hexcodec" => unhex(bytes),
        "base64" | "base64codec" => unbase64(bytes),
        "utf8" | "ascii" => std::str::from_utf8(bytes).map_or(Val::Opaque, Val::text),
        "latin1" | "iso88591" => Val::text(bytes.iter().copied().map(char::from).collect::<String>()),
        _ => Val::Opaque,
    }
}

const fn rot13(c: char) -> char {
    match c {
        'a'..='z' => ((c as u8 - b'a' + 13) % 26 + b'a') as char,
        'A'..='Z' => ((c as u8 - b'A' + 13) % 26 + b'A') as char,
        other => other,
    }
}

/// Hexadecimal digits as bytes.
pub(super) fn unhex(text: &[u8]) -> Val {
    let digits: Vec<u8> = text
        .iter()
        .filter(|b| !b.is_ascii_whitespace())
        .filter_map(|b| char::from(*b).to_digit(16))
        .filter_map(|d| u8::try_from(d).ok())
        .collect();
    Val::bytes(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect::<Vec<u8>>())
}

/// Base 64 as bytes.
pub(super) fn unbase64(text: &[u8]) -> Val {
    let text: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    STANDARD.decode(&text).or_else(|_| URL_SAFE.decode(&text)).map_or(Val::Opaque, Val::bytes)
}
