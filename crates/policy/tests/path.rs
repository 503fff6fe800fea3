//! Paths that leave a scope, and paths that do not.

use switchboard_policy::path::{self, Glob, Scope};

fn scope() -> Scope {
    Scope::new(&["/proj/**", "/scratch/**"], &["**/.env", "**/private/**", "**/*.key"], "/proj")
}

fn no_links(_: &str) -> Option<String> {
    None
}

#[track_caller]
fn refused(paths: &[&str]) {
    let passed: Vec<_> = paths.iter().filter(|path| path::check(&scope(), path, &no_links).is_ok()).collect();
    assert!(passed.is_empty(), "passed: {passed:#?}");
}

#[track_caller]
fn accepted(paths: &[&str]) {
    let failed: Vec<_> = paths
        .iter()
        .filter_map(|path| path::check(&scope(), path, &no_links).err().map(|finding| (path, finding.message)))
        .collect();
    assert!(failed.is_empty(), "refused: {failed:#?}");
}

#[test]
fn inside_and_outside() {
    accepted(&[
        "/proj/a.txt",
        "/proj",
        "/proj/",
        "/scratch/x",
        "a.txt",
        "./a.txt",
        "src/lib.rs",
        ".",
        "/proj/a/../b",
        "/proj/./a",
        "/proj//a",
        "a/b/../../c",
        "/proj/a b.txt",
        " a.txt",
        "/proj/..hidden",
        "/proj/...",
        "/proj/a..b",
        "/proj/.gitignore",
        "/proj/x/.../y",
        "../proj/a",
        "../scratch/a",
        "/../proj/a",
        "/proj/[id].tsx",
        "/proj/{id}.ts",
        "/proj/$userId.tsx",
        "/proj/a$b",
        "/proj/100%.txt",
        "/proj/50%25.txt",
        "/proj/a%20b",
        "/proj/a+b",
        "/proj/a&b",
        "/proj/a=b",
        "/proj/a;b",
        "/proj/a,b",
        "/proj/a'b",
        "/proj/a#b",
        "/proj/a@b",
        "/proj/a!b",
        "/proj/(a)",
        "/proj/~x",
        "/proj/a~",
        "/proj/a^b",
        "/proj/tilde~1/x",
        "/proj/12:30:00.log",
        "/proj/日本語.txt",
        "/proj/naïve.md",
        "/proj/Ünïcödé/ß",
        "/proj/a\u{301}.txt",
        "/proj/👍.txt",
        "/proj/👨\u{200d}👩.txt",
        "/proj/ノート.md",
        "/proj/console.log",
        "/proj/auxiliary.c",
        "/proj/null.txt",
        "/proj/component1/com.rs",
        "/proj/privates/x",
        "/proj/private.txt",
        "/proj/.env.example",
        "/proj/.envrc",
        "/proj/env",
        "/proj/x.env",
        "/proj/key",
        "/proj/a.keys",
        "file:///proj/a.txt",
        "file:/proj/a.txt",
        "file://localhost/proj/a",
        "/proj/a%2Fb",
        "%2Fproj%2Fa",
        "/proj/etc/passwd",
        "/proj/C/x",
        "/proj/-rf",
        "/proj/a\\b",
        "src\\lib.rs",
        "/proj/…",
        "/proj/notes….txt",
        "/proj/½.txt",
    ]);
    refused(&[
        "/",
        "/etc/passwd",
        "/projed/x",
        "/proj.txt",
        "/pro",
        "/scratchy",
        "/PROJ/x",
        "..",
        "../x",
        "../../etc/passwd",
        "/proj/..",
        "/proj/../etc",
        "/proj/a/../../etc",
        "a/../../etc",
        "./../x",
        "/proj/./../x",
        "/proj//../x",
        "/scratch/../proj/../etc",
        "",
        " ",
        "\t",
        "/proc/self/environ",
        "/proj/../projed/x",
        "/../etc/passwd",
        "//etc/passwd",
        "/home/me/x",
        "/proj/../..",
        "/dev/null",
    ]);
}

#[test]
fn denied_names_win() {
    refused(&[
        "/proj/.env",
        ".env",
        "/proj/a/.env",
        "/scratch/.env",
        "/proj/.env/",
        "/proj/./.env",
        "/proj/x/../.env",
        "/proj//.env",
        "/proj/private",
        "/proj/private/x",
        "/proj/a/private/b/c",
        "private/x",
        "/proj/x.key",
        "/proj/a/b.key",
        "/proj/.ENV",
        "/proj/Private/x",
        "/proj/.env.",
        "/proj/.env ",
        "/proj/private./x",
        "/proj/%2eenv",
        "/proj/%2Eenv",
        "/proj/.e%6ev",
        "/proj/%252eenv",
        "/proj/p%72ivate/x",
        "/proj/．env",
        "/proj/․env",
        "/proj/.ｅｎｖ",
        "/proj/.e\u{200b}nv",
        "/proj\\private\\x",
        "/proj/private\\x",
        "/proj／private／x",
        "/proj/private∕x",
        "/proj/.env;x",
        "/proj/x.ｋey",
        "/proj/x.key::$DATA",
    ]);
}

#[test]
fn encodings() {
    refused(&[
        "%2e%2e/x",
        "%2e%2e%2fx",
        "..%2fx",
        "..%2Fx",
        "%2E%2E/x",
        ".%2e/x",
        "%2e./x",
        "/proj/%2e%2e/x",
        "/proj/..%2fx",
        "%252e%252e%252fx",
        "%25252e%25252e%25252fx",
        "%2525252e%2525252e/x",
        "..%5cx",
        "..%255cx",
        "%2fetc%2fpasswd",
        "%252fetc%252fpasswd",
        "/proj/%2e%2e%2f%2e%2e%2fetc",
        "%c0%ae%c0%ae/x",
        "..%c0%afx",
        "..%c1%9cx",
        "%e0%80%ae%e0%80%ae/x",
        "..%f0%80%80%afx",
        "/proj/%ff",
        "/proj/%80",
        "/proj/a%c3",
        "/proj/a%00",
        "/proj/a%00.txt",
        "/proj/%0a",
        "/proj/%0d%0a",
        "/proj/%7f",
        "/proj/a%2500",
        "%u002e%u002e/x",
        "..%u2215x",
        "..%u2216x",
        "..%uff0fx",
        "..%uF025x",
        "%%32%65%%32%65/x",
        "..%%35%63x",
        "file:///proj/%2e%2e/x",
        "file:///etc/passwd",
        "file://host/proj/a",
        "file:////proj/a",
        "file:proj/a",
        "FILE:///etc/passwd",
        "%66ile:///etc/passwd",
        "..0x2fx",
        "0x2e0x2e0x2fx",
        "..2fx",
        "..%bg%qfx",
        "..%;x",
    ]);
    accepted(&[
        "/proj/%41",
        "/proj/%zz",
        "/proj/%",
        "/proj/a%2Eb",
        "/proj/%E4%BD%A0",
        "/proj/a%2520b",
        "a%2fb",
        "/proj/%25",
        "/proj/100%25",
    ]);
}

#[test]
fn separators_and_look_alikes() {
    refused(&[
        "..\\x",
        "..\\..\\x",
        "/proj\\..\\x",
        "a\\..\\..\\x",
        "\\etc\\passwd",
        "/proj/..\\x",
        "..∕x",
        "..⁄x",
        "..／x",
        "..⧸x",
        "..＼x",
        "..∖x",
        "．．/x",
        "‥/x",
        "․․/x",
        "。。/x",
        "﹒﹒/x",
        ".\u{200b}./x",
        ".\u{200d}./x",
        "..\u{200b}/x",
        "/proj/．．/．．/etc",
        "/proj/‥/x",
        "／etc／passwd",
        "..;/x",
        "..;a=b/x",
        "/proj/..;/x",
        ".. /x",
        "....//....//x",
        "....\\\\x",
        "..././..././x",
        ".../.../x",
        "..\\/x",
        "../\\x",
        ".\\./x",
        "\\..\\x",
    ]);
}

#[test]
fn control_characters_and_marks() {
    refused(&[
        "/proj/a\0",
        "/proj/a\0b",
        "\0",
        "/proj/a\n",
        "/proj/\n/a",
        "/proj/a\r",
        "/proj/a\tb",
        "/proj/\x1b[0m",
        "/proj/a\u{7f}",
        "/proj/a\u{85}",
        "/proj/a\u{2028}b",
        "/proj/\u{202e}txt.exe",
        "/proj/a\u{2066}b",
        "/proj/\u{fffd}",
    ]);
    assert!(path::check_bytes(&scope(), b"/proj/\xff", &no_links).is_err());
    assert!(path::check_bytes(&scope(), b"/proj/\xc0\xae\xc0\xae/x", &no_links).is_err());
    assert!(path::check_bytes(&scope(), "/proj/é".as_bytes(), &no_links).is_ok());
}

#[test]
fn expansions_patterns_and_devices() {
    refused(&[
        "~",
        "~/x",
        "~root",
        "~root/x",
        "~/../x",
        "$HOME",
        "$HOME/x",
        "/proj/$HOME/x",
        "${HOME}/x",
        "/proj/${x}",
        "$(pwd)/x",
        "/proj/$(id)",
        "`pwd`",
        "/proj/`id`",
        "%HOME%/x",
        "%USERPROFILE%\\x",
        "/proj/%TEMP%/x",
        "/proj/*",
        "/proj/**",
        "/proj/*.txt",
        "/proj/[.][.]/x",
        "/proj/.[.]/.[.]/etc",
        "[.][.]/x",
        ".[!a]/x",
        "/proj/a/@(..)/../x",
        "/proj/+(.)/x",
        "+(.)/../x",
        "/proj/?.txt",
        "/proj/{a,b}",
        "/proj/{1..3}",
        "{a,../x}",
        "http://example.com/x",
        "https://example.com",
        "php://filter",
        "zip://x",
        "smb://h/s",
        "ftp://h/x",
        "C:\\x",
        "C:/x",
        "c:x",
        "\\\\host\\share",
        "//host/share",
        "\\\\?\\C:\\x",
        "\\\\.\\pipe\\x",
        "/proj/x.txt:stream",
        "/proj/x::$DATA",
        "/proj/con",
        "/proj/NUL",
        "/proj/nul.txt",
        "/proj/COM1",
        "/proj/lpt9.log",
        "/proj/aux.c",
        "/proj/PRIVAT~1/x",
        "/proj/ENV~1",
        "$env:TEMP/x",
    ]);
}

#[test]
fn lengths_and_depths_are_bounded() {
    refused(&[&("/proj/".to_owned() + &"a".repeat(5000)), &("/proj/".to_owned() + &"a".repeat(256))]);
    refused(&[&("/proj/".to_owned() + &"../".repeat(1300)), &"%25".repeat(1300), &"../".repeat(1000)]);
    accepted(&[&("/proj/".to_owned() + &"a/".repeat(1000)), &("/proj/".to_owned() + &"a".repeat(255))]);
}

#[test]
fn links_are_followed() {
    let check = |path: &str, links: &[(&str, &str)]| {
        let find = |link: &str| links.iter().find(|(from, _)| *from == link).map(|(_, to)| (*to).to_owned());
        path::check(&scope(), path, &find)
    };
    assert!(check("/proj/l/x", &[("/proj/l", "/etc")]).is_err());
    assert!(check("/proj/l", &[("/proj/l", "/etc/passwd")]).is_err());
    assert!(check("/proj/l", &[("/proj/l", "../etc/passwd")]).is_err());
    assert!(check("/proj/l", &[("/proj/l", "/proj/.env")]).is_err());
    assert!(check("/proj/l", &[("/proj/l", "private/x")]).is_err());
    assert!(check("/proj/.env", &[("/proj/.env", "/proj/ok")]).is_err());
    assert!(check("l/x", &[("/proj/l", "/etc")]).is_err());
    assert!(check("/proj/a/b", &[("/proj/a", "c"), ("/proj/c", "/etc")]).is_err());
    assert!(check("/proj/x", &[("/proj", "/etc")]).is_err());
    assert!(check("/proj/a", &[("/proj/a", "b"), ("/proj/b", "a")]).is_err());
    assert!(check("/proj/a", &[("/proj/a", "/proj/a")]).is_err());
    assert!(check("/proj/l/../x", &[("/proj/l", "/etc/deep")]).is_err());
    assert!(check("/proj/d/l/../../x", &[("/proj/d/l", "/proj")]).is_err());
    assert!(check("/proj/%6c/x", &[("/proj/l", "/etc")]).is_err());
    assert!(check("/proj/l/x", &[("/proj/l", "/scratch")]).is_ok());
    assert!(check("/proj/l", &[("/proj/l", "./a/b")]).is_ok());
    assert!(check("/proj/l/../x", &[("/proj/l", "/scratch/a")]).is_ok());
    assert!(check("/data/w/x", &[("/data/w", "/proj")]).is_ok());
    assert!(check("/proj/a", &[("/proj/a", "b"), ("/proj/b", "c")]).is_ok());
    // Forty links pass, more do not.
    let chain = |length: usize| {
        let find = move |link: &str| {
            let number: usize = link.strip_prefix("/proj/n")?.parse().ok()?;
            (number < length).then(|| format!("n{}", number + 1))
        };
        path::check(&scope(), "/proj/n0", &find)
    };
    assert!(chain(40).is_ok());
    assert!(chain(41).is_err());
    // A link into itself that grows must end.
    let growing = |link: &str| link.ends_with("/g").then(|| "x/g/g".to_owned());
    assert!(path::check(&scope(), "/proj/g", &growing).is_err());
}

#[test]
fn globs() {
    let names = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    for (pattern, path, expected) in [
        ("/a/**", "/a", true),
        ("/a/**", "/a/b/c", true),
        ("/a/**", "/ab", false),
        ("/a/*", "/a", false),
        ("/a/*", "/a/b", true),
        ("/a/*", "/a/b/c", false),
        ("/a/**/b", "/a/b", true),
        ("/a/**/b", "/a/x/y/b", true),
        ("/a/**/b", "/a/x/y/c", false),
        ("**/.env", "/.env", true),
        ("**/.env", "/a/b/.env", true),
        ("**/.env", "/a/.env/b", false),
        ("**/s/**", "/s", true),
        ("**/s/**", "/a/s/b", true),
        ("**/s/**", "/a/ss/b", false),
        ("/a/*.rs", "/a/x.rs", true),
        ("/a/*.rs", "/a/.rs", true),
        ("/a/x?z", "/a/xyz", true),
        ("/a/x?z", "/a/xz", false),
        ("*.key", "/a/b/x.key", true),
        ("*.key", "/a/x.key/b", false),
        ("**", "/", true),
        ("**", "/a/b", true),
        ("/", "/", true),
        ("/", "/a", false),
        ("/a/*b*c", "/a/xbyc", true),
        ("/a/*b*c", "/a/xbycd", false),
        ("/**/**/a", "/x/a", true),
    ] {
        assert_eq!(Glob::new(pattern).matches(&names(path)), expected, "{pattern} on {path}");
    }
    assert_eq!(Glob::new("/a/**/b").to_string(), "/a/**/b");
}

proptest::proptest! {
    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,200}") {
        let _ = path::check(&scope(), &text, &no_links);
        let nested = format!("/proj/{text}");
        let _ = path::check(&scope(), &nested, &no_links);
    }

    #[test]
    fn any_links_get_an_answer(text in "[a-c./]{0,30}", target in "[a-c./]{0,12}") {
        let _ = path::check(&scope(), &text, &|link: &str| link.ends_with('a').then(|| target.clone()));
    }

    #[test]
    fn what_passes_stays_inside(text in "[a-c./%25e\\\\~]{1,40}") {
        if path::check(&scope(), &text, &no_links).is_ok() {
            let mut depth = 0_i32;
            if !text.starts_with('/') {
                depth = 1;
            }
            for name in text.split('/') {
                depth += match name { "" | "." => 0, ".." => -1, _ => 1 };
                proptest::prop_assert!(depth >= 0 || text.starts_with('/'), "{text}");
            }
        }
    }

    #[test]
    fn a_star_pattern_agrees_with_a_naive_one(pattern in "[ab*?]{0,8}", name in "[ab]{1,8}") {
        fn naive(pattern: &[u8], name: &[u8]) -> bool {
            match (pattern.split_first(), name.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), _) if naive(rest, name) => true,
                (Some((b'*', _)), Some((_, tail))) => naive(pattern, tail),
                (Some((b'?', rest)), Some((_, tail))) => naive(rest, tail),
                (Some((p, rest)), Some((n, tail))) => p == n && naive(rest, tail),
                _ => false,
            }
        }
        proptest::prop_assume!(!pattern.is_empty() && pattern != "**");
        let glob = Glob::new(&format!("/{pattern}"));
        proptest::prop_assert_eq!(glob.matches(std::slice::from_ref(&name)), naive(pattern.as_bytes(), name.as_bytes()));
    }
}
