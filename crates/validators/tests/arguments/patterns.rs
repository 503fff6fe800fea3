//! Patterns under a limit that denies: what they may find counts, with a slash in them or without.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks_from};

fn limited() -> Checks {
    let scope =
        json!({"paths": ["/srv/ok/**", "/srv/ok"], "deny_paths": ["**/.env", "**/secret*", "/srv/ok/private/**"]});
    checks_from("/srv/ok", &[], &json!({}), &[scope])
}

const FINDING: [&str; 18] = [
    ".e*",
    ".[e]nv",
    ".[!a]nv",
    ".[a-f]nv",
    ".en?",
    ".{e,x}nv",
    ".{a..z}nv",
    "./.e*",
    "sub/.e*",
    "**/.e*",
    "secret*",
    "sec*",
    "s*",
    "p*",
    "p*/x",
    "@(.env|x)",
    ".@(env|x)",
    "{x,y,.e*}",
];

#[test]
fn a_pattern_that_may_find_what_is_denied_is_refused() {
    let hostile: Vec<Value> = FINDING
        .iter()
        .flat_map(|pattern| {
            [
                json!({"command": ["cat", pattern]}),
                json!({"command": "cat", "args": [pattern]}),
                json!({"command": "head", "args": ["-n", "1", pattern]}),
                json!({"glob": pattern}),
                json!({"pattern": pattern}),
                json!({"x": pattern}),
                json!({"path": pattern}),
                json!({"files": ["a.txt", pattern]}),
                json!({"deep": [{"x": pattern}]}),
            ]
        })
        .collect();
    assert_hostile(&limited(), &hostile);
    assert_hostile(
        &limited(),
        &[
            json!({"command": "cat .e*"}),
            json!({"command": "cat .[e]nv"}),
            json!({"command": "cat .en?"}),
            json!({"command": "cat .{e,x}nv"}),
            json!({"command": "grep -r x --include=.e*"}),
            json!({"command": "cat a.txt,.e*"}),
            json!({"command": "cat *"}),
            json!({"glob": "*"}),
            json!({"glob": "**/*"}),
            json!({"x": "*env"}),
            json!({"include": ["*.rs", ".e*"]}),
        ],
    );
}

#[test]
fn a_pattern_that_finds_nothing_denied_passes() {
    let scope = json!({"paths": ["/srv/ok/**", "/srv/ok"], "deny_paths": ["**/.env", "/srv/ok/private/**"]});
    let limited = checks_from("/srv/ok", &[], &json!({}), &[scope]);
    let patterns = ["*.rs", "*.{rs,toml}", "src*", "a?.txt", "[a-c]*", "Makefile*"];
    let honest: Vec<Value> = patterns
        .iter()
        .flat_map(|pattern| {
            [
                json!({"command": ["cat", pattern]}),
                json!({"command": format!("ls -la {pattern}")}),
                json!({"glob": pattern}),
                json!({"pattern": pattern}),
            ]
        })
        .collect();
    assert_honest(&limited, &honest);
    assert_honest(
        &limited,
        &[
            json!({"command": "cat src/*.rs"}),
            json!({"command": "ls src/*"}),
            json!({"x": "*"}),
            json!({"columns": ["*"]}),
            json!({"text": "what is .e*?"}),
            json!({"query": "which one?"}),
            json!({"title": "secret?"}),
            json!({"version": "^1.*"}),
            json!({"regex": "foo.*bar"}),
            json!({"regex": "^[a-z]+$"}),
            json!({"url": "https://a.example/?q=*"}),
            json!({"x": "env?"}),
            json!({"x": "[id]"}),
        ],
    );
}

/// What is put apart before any folder is looked at leads where it says.
#[test]
fn choices_of_a_pattern_are_paths() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "pattern": {"type": "string"}, "include": {"type": "array", "items": {"type": "string"}},
    }});
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&crate::common::raw(&schema)));
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"]});
    let limited = checks_from("/srv/ok", &[], &json!({}), &[scope]).with_schema(Some(schema));
    let leading_out = [
        "{..,x}/secret/key.txt",
        "{../secret,sub}/*",
        "{/etc/passwd,x}",
        "{/etc,x}/passwd",
        "{,/etc/passwd}",
        "@(..)/secret/key.txt",
        "@(/etc)/passwd",
        "+(.)/secret/x",
        "[.]./secret/x",
        ".[.]/secret/x",
        ".?/secret/x",
        "..*/secret/x",
        "{.,x}./secret/x",
        "..{,}/secret/*",
        "sub/{..,a}/{..,b}/secret/*",
        "{~,x}/.ssh/*",
        "{$HOME,x}/.ssh/*",
        "(..|x)/secret/x",
        "x,../secret/*",
        "x|../secret/*",
        "x ../secret/*",
        "../secret/*",
        "/etc/*",
        "/*",
        "/e*/passwd",
        "/**/passwd",
    ];
    let hostile: Vec<Value> = leading_out
        .iter()
        .flat_map(|pattern| {
            [
                json!({"path": "/srv/ok", "pattern": pattern}),
                json!({"path": "/srv/ok", "include": ["*.rs", pattern]}),
                json!({"pattern": pattern}),
            ]
        })
        .collect();
    assert_hostile(&limited, &hostile);
    let honest = [
        "**/*.md",
        "src/**/*.rs",
        "sub/*",
        "src/[a-z]*.py",
        "*.{ts,tsx}",
        "{src,tests}/**/*.rs",
        "!(node_modules)/**",
        "/srv/ok/**/*.rs",
        ".github/*",
        "foo|bar",
        "fn (new|of)\\(",
        ".*",
    ];
    let honest = honest.iter().flat_map(|pattern| {
        [json!({"path": "/srv/ok", "pattern": pattern}), json!({"path": "/srv/ok/sub", "include": [pattern]})]
    });
    assert_honest(&limited, &honest.collect::<Vec<_>>());
    let routes = ["/api/v1", "/users/:id", "/login?next=", "GET /api/v1", "POST|/api/users"];
    let routes = routes.iter().map(|route| json!({"path": "/srv/ok", "pattern": route}));
    assert_honest(&limited, &routes.collect::<Vec<_>>());
    let alone = ["**/*.md", "src/**/*.rs", "sub/*", "/srv/ok/**/*.rs"].map(|pattern| json!({"pattern": pattern}));
    assert_honest(&limited, &alone);
}

/// A name that is denied is denied to a search for it, and what is left out finds nothing.
#[test]
fn a_search_for_a_denied_name_is_refused_and_leaving_it_out_is_not() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "pattern": {"type": "string"}, "glob": {"type": "string"},
        "excludePatterns": {"type": "array", "items": {"type": "string"}},
    }});
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&crate::common::raw(&schema)));
    let limited = limited().with_schema(Some(schema));
    assert_hostile(
        &limited,
        &[
            json!({"path": "/srv/ok", "pattern": ".env"}),
            json!({"path": "/srv/ok/sub", "pattern": "KEY", "glob": ".env"}),
            json!({"path": "/srv/ok", "pattern": "secret.txt"}),
        ],
    );
    assert_honest(
        &limited,
        &[
            json!({"path": "/srv/ok", "pattern": "a.txt", "excludePatterns": ["**/.env", "**/d/**", "secret*"]}),
            json!({"path": "/srv/ok", "pattern": "secret", "glob": "a.rs"}),
        ],
    );
}

/// A pattern that some library reads a step up out of: by escapes, classes, ranges, groups.
#[test]
fn a_pattern_that_may_climb_is_refused_under_every_key() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "root": {"type": "string"}, "pattern": {"type": "string"}, "glob": {"type": "string"},
        "files": {}, "paths": {}, "excludePatterns": {"type": "array", "items": {"type": "string"}}, "query": {},
        "include": {"type": "array", "items": {"type": "string"}}, "content": {"type": "string"},
    }});
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&crate::common::raw(&schema)));
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"]});
    let limited = checks_from("/srv/ok", &[], &json!({}), &[scope]).with_schema(Some(schema));
    let climbing = [
        "\\.\\./*",
        "\\.\\./*.key",
        "\\../x",
        ".\\./x",
        "src/.\\./.\\./*",
        "[.]\\./x",
        "{-..0}./*",
        ".{-..0}/**",
        "{-..0}{-..0}/*",
        "{.,x}{-..0}/*",
        "{0..-}./*",
        "src/{..,x}/../*",
        "[.][.]/*.key",
        ".[!a]/x",
        "[!a][!a]/x",
        "[!a]*/x",
        "[[:punct:]][[:punct:]]/x",
        "@(.)@(.)/x",
        "+(.)/*",
        "*(.)/*",
        "{a,{b,..}}/x",
        "{.}{.}/x",
        // `**` may find no folder at all.
        "**/../*.key",
        "**/**/**/../../../etc/passwd",
        "src/**/../../x.key",
        "src/**/{..,x}/../../x",
        "{a,**}/../x",
        "{**,x}/../x",
        "a/**/b/../../../x",
        "*/**/../../x",
        "**/..",
    ];
    let many = format!("{}{{.,x}}{{.,y}}/{{.,z}}{{.,y}}/x", "{a,b}{c,d}".repeat(4));
    let climbing = climbing.iter().copied().chain([many.as_str()]);
    let hostile = climbing.flat_map(|pattern| {
        [
            json!({"path": "/srv/ok", "pattern": pattern}),
            json!({"path": "/srv/ok", "glob": pattern, "query": "x"}),
            json!({"path": "/srv/ok", "include": ["*.rs", pattern]}),
            json!({"files": [pattern]}),
            json!({"files": pattern, "root": "/srv/ok"}),
            json!({"paths": ["src/a.ts", pattern]}),
            json!({"file_paths": [pattern]}),
            json!({"path": pattern}),
            json!({"pattern": pattern}),
        ]
    });
    assert_hostile(&limited, &hostile.collect::<Vec<_>>());
    assert_hostile(
        &limited,
        &[
            json!({"path": "[.][.]"}),
            json!({"path": "/srv/ok/.[.]/.[.]/etc"}),
            json!({"path": "/srv/ok/[.][.]"}),
            json!({"x": "[.][.]/x"}),
            json!({"paths": ["/srv/ok/[.][.]/x"]}),
            json!({"path": "/srv/ok", "excludePatterns": ["\\.\\./x"], "pattern": "../*"}),
            json!({"globs": ["**/../x"]}),
            json!({"files": ["/etc/*"]}),
            json!({"files": ["~/*.key"]}),
            json!({"files": ["../*.ts"]}),
            json!({"files": ["src/**/*.ts", "{/etc,x}/passwd"]}),
            json!({"path": "src/*.ts"}),
            json!({"path": "/srv/ok/*"}),
        ],
    );
}

/// Globs where tools take a list of files, names with brackets, and expressions.
#[test]
fn patterns_and_names_that_go_down_pass() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "root": {"type": "string"}, "repo_path": {"type": "string"}, "pattern": {"type": "string"},
        "files": {}, "paths": {}, "include": {}, "exclude": {}, "glob": {"type": "string"}, "old_string": {"type": "string"},
    }});
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&crate::common::raw(&schema)));
    let scope = json!({"paths": ["/srv/ok", "/srv/ok/**"]});
    let limited = checks_from("/srv/ok", &[], &json!({}), &[scope]).with_schema(Some(schema));
    let globs = [
        "src/**/*.{ts,tsx}",
        "src/**/*.ts",
        "*.py",
        "**/*.md",
        "packages/*/src/**",
        "[a-z]*.json",
        "[!a]*.ts",
        "[!_]*.py",
        "img_{1..9}.png",
        "chapter-{a..c}.md",
        "./src/*.rs",
        "src/*.test.ts",
        ".github/**/*.yml",
        "!(node_modules)/**",
        "app/[id]/page.tsx",
        "app/[...slug].tsx",
        "app/[[...slug]]/page.tsx",
        "pages/[id].tsx",
        "/srv/ok/src/**/*.rs",
        "test/**/*.{spec,test}.{js,jsx,ts,tsx}",
    ];
    let honest = globs.iter().flat_map(|glob| {
        [
            json!({"files": [glob]}),
            json!({"files": glob}),
            json!({"files": ["a.txt", glob], "root": "/srv/ok"}),
            json!({"repo_path": "/srv/ok", "files": [glob, "*.toml"]}),
            json!({"paths": [glob]}),
            json!({"path": "/srv/ok", "pattern": glob}),
            json!({"path": "/srv/ok/src", "include": [glob], "exclude": ["node_modules/**"]}),
        ]
    });
    assert_honest(&limited, &honest.collect::<Vec<_>>());
    let expressions = [
        "fn (\\w+)",
        "(async )?function \\w+",
        "(var|let|const) \\w+ =",
        "(pub )?fn \\w+\\(",
        "^\\s*(export )?function \\w+\\(",
        "x \\d+",
        "TODO: \\w+ \\w+",
        "if \\(.*\\) \\{",
        "process\\.env",
    ];
    assert_honest(&limited, &expressions.map(|expression| json!({"path": "/srv/ok", "pattern": expression})));
    let names = [
        "app/[id]/page.tsx",
        "app/[...slug]/page.tsx",
        "app/[[...slug]]/page.tsx",
        "app/(group)/page.tsx",
        "app/@modal/(.)photo/[id]/page.tsx",
        "docs/notes (1).md",
        "src/[a-z].rs",
        "src/{id}/x.ts",
    ];
    let honest = names.iter().flat_map(|name| [json!({"path": name}), json!({"path": format!("/srv/ok/{name}")})]);
    assert_honest(&limited, &honest.collect::<Vec<_>>());
    let words = ["(foo|bar|baz)", "\\bword\\b", "[A-Z]\\w+Error", "https?://", "^import .* from", "TODO|FIXME"];
    let many = format!("({})", (0..90).map(|number| format!("word{number}")).collect::<Vec<_>>().join("|"));
    let words = words.iter().copied().chain([many.as_str()]);
    let honest = words.map(|word| json!({"path": "/srv/ok", "pattern": word}));
    assert_honest(&limited, &honest.collect::<Vec<_>>());
}

/// A step up that some reader finds behind another sign than a slash, or in escapes, is one.
#[test]
fn patterns_climb_in_every_spelling() {
    let schema = json!({"properties": {"path": {"type": "string"}, "pattern": {"type": "string"}}});
    let schema = std::sync::Arc::new(switchboard_policy::schema::Schema::read(&crate::common::raw(&schema)));
    let scope = json!({"paths": ["/srv/ok/**"]});
    let checks = checks_from("/srv/ok", &[], &json!({}), &[scope]).with_schema(Some(schema));
    let spelt = ["**/../x", "**\\..\\x", "**%2f..%2fx", "**/%2e%2e/x", "**%5c..%5cx", "a/**/..%2f../../x"];
    assert_hostile(&checks, &spelt.map(|pattern| json!({"path": "/srv/ok", "pattern": pattern})));
}

#[test]
fn a_backslash_in_a_pattern_for_files_does_not_make_it_an_expression() {
    // The server was started outside of the limit, so that a relative pattern without a folder leads outside.
    let scope = json!({"paths": ["/srv/ok/**", "/srv/ok"]});
    let outside = checks_from("/home/me", &[], &json!({}), &[scope]);
    let hostile: Vec<Value> = [r"private/\secret*", r"private/*\.txt", r"\w*/secret.txt", r"{private,x}/\s*"]
        .iter()
        .flat_map(|pattern| [json!({"pattern": pattern}), json!({"include": pattern}), json!({"glob": pattern})])
        .collect();
    assert_hostile(&outside, &hostile);
    let honest = [r"src/.*\.rs$", r"(\w+)\.(\w+)\(", r"fn \w+\(", r"\d+\.\d+"];
    let honest: Vec<Value> = honest.iter().map(|pattern| json!({"path": "/srv/ok", "pattern": pattern})).collect();
    assert_honest(&limited_to_ok(), &honest);
}

fn limited_to_ok() -> Checks {
    checks_from("/srv/ok", &[], &json!({}), &[json!({"paths": ["/srv/ok/**", "/srv/ok"]})])
}
