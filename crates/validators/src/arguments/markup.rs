//! Addresses that markup, stylesheets and Markdown make whoever shows them fetch, where they name a host without a scheme
//! (`<img src=//x>`, `url(//x)`, `![](//x)`) or in a spelling of their own (`&#104;ttps://x`). Links that somebody may follow
//! are not fetched; addresses with a scheme count in every text.

/// More addresses of one text are not told apart: who has them all is looked at as a whole.
const MOST: usize = 4_096;
/// Attributes that are fetched in any element.
const FETCHED: [&str; 10] =
    ["src", "srcset", "imagesrcset", "poster", "background", "lowsrc", "dynsrc", "xlink:href", "manifest", "longdesc"];
/// Elements whose `href` and `data` are fetched.
const OF_HREF: [&str; 7] = ["link", "base", "image", "use", "feimage", "script", "pattern"];
const OF_DATA: [&str; 3] = ["object", "embed", "applet"];

/// Every address that is fetched and names a host without more, as browsers read it.
pub(super) fn addresses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.contains('<') {
        of_tags(text, &mut found);
    }
    of_styles(text, &mut found);
    if text.contains("![") {
        of_markdown(text, &mut found);
    }
    found.truncate(MOST);
    found
}

/// Takes what an attribute says, if it leads to a host.
fn take(value: &str, found: &mut Vec<String>) {
    let plain: String = value.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let address = plain.trim();
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let rootless = address.starts_with(is_slash) && address[1..].starts_with(is_slash);
    let schemed = || {
        ["http:", "https:", "ftp:", "ws:", "wss:"]
            .iter()
            .any(|scheme| address.get(..scheme.len()).is_some_and(|front| front.eq_ignore_ascii_case(scheme)))
    };
    if (rootless || schemed()) && found.len() < MOST {
        let host = address.trim_start_matches(is_slash);
        found.push(if rootless { format!("//{host}") } else { address.to_owned() });
    }
}

fn of_tags(text: &str, found: &mut Vec<String>) {
    for (at, _) in text.match_indices('<').take(MOST) {
        let inner = &text[at + 1..];
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let end = inner.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).unwrap_or(inner.len());
        let element = inner[..end].to_ascii_lowercase();
        let attributes = attributes(&inner[end..]);
        let refreshes =
            attributes.iter().any(|(name, value)| name == "http-equiv" && value.eq_ignore_ascii_case("refresh"));
        for (name, value) in &attributes {
            let name = name.as_str();
            let fetched = FETCHED.contains(&name)
                || name == "href" && OF_HREF.contains(&element.as_str())
                || matches!(name, "data" | "codebase" | "archive" | "code") && OF_DATA.contains(&element.as_str());
            let value = unescaped(value);
            if name.ends_with("srcset") {
                value.split(',').for_each(|one| take(one.split_whitespace().next().unwrap_or_default(), found));
            } else if fetched {
                take(&value, found);
            } else if name == "style" {
                of_styles(&value, found);
            } else if name == "content" && refreshes {
                let target = value.split_once('=').map_or("", |(_, target)| target);
                take(target.trim().trim_matches(['"', '\'']), found);
            }
        }
    }
}

/// The attributes of an element, from behind its name to its end.
fn attributes(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < 64 {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            break;
        }
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/')).unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { end };
        let name = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let Some(behind) = rest.strip_prefix('=').map(str::trim_start) else {
            found.push((name, String::new()));
            continue;
        };
        let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => behind[1..].split_once(quote).unwrap_or((&behind[1..], "")),
            None => behind.split_at(behind.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(behind.len())),
        };
        found.push((name, value.to_owned()));
        rest = after;
    }
    found
}

fn of_styles(text: &str, found: &mut Vec<String>) {
    if !text.contains('(') && !text.contains('@') {
        return;
    }
    let lower = text.to_ascii_lowercase();
    let read = |value: &str| unescaped_style(value.trim().trim_matches(['"', '\'']).trim());
    for (at, name) in lower.match_indices("url(").take(MOST) {
        let inner = &text[at + name.len()..];
        take(&read(inner.split(')').next().unwrap_or_default()), found);
    }
    for (at, name) in lower.match_indices("@import").take(MOST) {
        let rest = text[at + name.len()..].trim_start();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            take(&read(rest[1..].split(quote).next().unwrap_or_default()), found);
        }
    }
    for (at, name) in lower.match_indices("image-set(").take(MOST) {
        let inner = text[at + name.len()..].split(')').next().unwrap_or_default();
        inner.split(['"', '\'']).skip(1).step_by(2).for_each(|one| take(&read(one), found));
    }
}

/// Images of Markdown, in their place and by the name under which their address stands elsewhere.
fn of_markdown(text: &str, found: &mut Vec<String>) {
    let destination = |rest: &str| -> String {
        let rest = rest.trim_start();
        match rest.strip_prefix('<') {
            Some(inner) => inner.split('>').next().unwrap_or_default().to_owned(),
            None => rest.split(|c: char| c.is_whitespace() || c == ')').next().unwrap_or_default().to_owned(),
        }
    };
    let mut named = false;
    for (at, sign) in text.match_indices("![").take(MOST) {
        let inner = &text[at + sign.len()..];
        let mut ends = inner.match_indices(']').take(8);
        match ends.find(|(end, _)| inner[end + 1..].starts_with('(')) {
            Some((end, _)) => take(&unescaped(&destination(&inner[end + 2..])), found),
            None => named = true,
        }
    }
    if named {
        for line in text.lines() {
            if let Some((name, rest)) = line.trim_start().split_once("]:")
                && name.starts_with('[')
            {
                take(&unescaped(&destination(rest)), found);
            }
        }
    }
}

/// A value without the escapes of markup that an address may be hidden in.
fn unescaped(value: &str) -> String {
    if !value.contains('&') {
        return value.to_owned();
    }
    let mut plain = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = |text: &str, radix: u32| -> Option<(char, usize)> {
            let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len()).min(8);
            let letter = char::from_u32(u32::from_str_radix(&text[..end], radix).ok()?)?;
            Some((letter, end + usize::from(text[end..].starts_with(';'))))
        };
        let numbered = rest.strip_prefix("&#").and_then(|text| match text.strip_prefix(['x', 'X']) {
            Some(hex) => digits(hex, 16).map(|(letter, length)| (letter, length + 3)),
            None => digits(text, 10).map(|(letter, length)| (letter, length + 2)),
        });
        const NAMED: [(&str, char); 9] = [
            ("&sol;", '/'),
            ("&bsol;", '\\'),
            ("&colon;", ':'),
            ("&period;", '.'),
            ("&Tab;", '\t'),
            ("&NewLine;", '\n'),
            ("&amp;", '&'),
            ("&quot;", '"'),
            ("&lowbar;", '_'),
        ];
        let named =
            || NAMED.iter().find(|(name, _)| rest.starts_with(name)).map(|(name, letter)| (*letter, name.len()));
        let (letter, length) = numbered.or_else(named).unwrap_or(('&', 1));
        plain.push(letter);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

/// The same of the escapes of stylesheets: `\2f` is a slash.
fn unescaped_style(value: &str) -> String {
    if !value.contains('\\') || value.starts_with("\\\\") {
        return value.to_owned();
    }
    let mut plain = String::with_capacity(value.len());
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        let mut hex = String::new();
        while let Some(digit) = letters.next_if(|c| hex.len() < 6 && c.is_ascii_hexdigit()) {
            hex.push(digit);
        }
        if !hex.is_empty() {
            letters.next_if(|c| c.is_whitespace());
        }
        match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
            Some(read) => plain.push(read),
            None => plain.extend(letters.next()),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_is_found() {
        for (text, expected) in [
            ("<img src=//x.example>", &["//x.example"][..]),
            ("<IMG alt='a>b' SRC = '/\\x.example/a'>", &["//x.example/a"]),
            ("<img srcset='/a 1x, //x.example/b 2x'>", &["//x.example/b"]),
            ("<img src='&#47;&#x2f;x.example'>", &["//x.example"]),
            ("<link rel=stylesheet href=//x.example/a.css>", &["//x.example/a.css"]),
            ("<meta http-equiv=refresh content='0; url=//x.example'>", &["//x.example"]),
            ("<p style=\"background:url('//x.example/a')\">", &["//x.example/a"]),
            ("@import '//x.example';", &["//x.example"]),
            ("a{b:url(\\2f\\2f x.example)}", &["//x.example"]),
            ("![a](//x.example/b \"t\")", &["//x.example/b"]),
            ("![a][1]\n\n[1]: //x.example/b", &["//x.example/b"]),
            ("<a href=//x.example>read</a>", &[]),
            ("[read](//x.example)", &[]),
            ("<img src=/a.png>", &[]),
            ("if a < b // c", &[]),
            ("// url of the thing", &[]),
            ("![a](b.png)", &[]),
        ] {
            assert_eq!(addresses(text), expected, "{text}");
        }
    }
}
