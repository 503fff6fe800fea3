//! Patches under limits of paths: what they name must lie inside, whatever reader applies them; what they change is text.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_policy::schema::Schema;
use switchboard_validators::arguments::{Checks, World, check as check_in};

use crate::common::{assert_honest, assert_hostile, check, checks_from, raw};

const OK: &str = "/srv/ok";

fn limited() -> Checks {
    checks_from(OK, &[], &json!({}), &[json!({"paths": ["/srv/ok", "/srv/ok/**"]})])
}

fn denied() -> Checks {
    let scope =
        json!({"paths": ["/srv/ok", "/srv/ok/**"], "deny_paths": ["**/.env", "**/secret*", "/srv/ok/private/**"]});
    checks_from(OK, &[], &json!({}), &[scope])
}

/// The checks of a tool with strings under these keys.
fn of_tool(base: &str, name: &str, about: &str, keys: &[&str]) -> Checks {
    let properties: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "properties": properties});
    let tool = json!({"name": name, "description": about, "inputSchema": schema});
    let checks = checks_from(base, &[], &tool, &[json!({"paths": ["/srv/ok", "/srv/ok/**"]})]);
    checks.with_schema(Some(Arc::new(Schema::read(&raw(&schema)))))
}

fn unified(name: &str) -> String {
    format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n")
}

fn block(name: &str) -> String {
    format!("{name}\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
}

/// Under each key that a patch may stand under.
fn under_all(patches: &[String]) -> Vec<Value> {
    let keys = ["patch", "diff", "input", "changes", "edits", "text"];
    patches.iter().flat_map(|patch| keys.iter().map(move |key| json!({*key: patch}))).collect()
}

#[test]
fn names_in_every_kind_of_header_must_lie_inside() {
    let headers = [
        unified("/etc/passwd"),
        unified("../x"),
        unified("a/../../x"),
        unified("\"/etc/passwd\""),
        unified("\"a/\\056\\056/\\056\\056/x\""),
        unified("/etc/my file"),
        unified("a//etc/passwd"),
        unified("/etc/passwd\t2020-01-01 00:00:00"),
        unified("~/x"),
        unified("C:\\x"),
        unified("\u{2025}/x"),
        unified("/etc/passwd").replace('\n', "\r\n"),
        unified("/etc/passwd").replace('\n', "\r"),
        "---\t/etc/passwd\n+++\t/etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "---\u{a0}/etc/passwd\n+++\u{a0}/etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "\u{feff}--- /etc/passwd\n\u{feff}+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "  --- /etc/passwd\n  +++ /etc/passwd\n  @@ -1 +1 @@\n  -a\n  +b\n".to_owned(),
        "> --- /etc/passwd\n> +++ /etc/passwd\n> @@ -1 +1 @@\n> -a\n> +b\n".to_owned(),
        "diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to ../../x\n".to_owned(),
        "diff --git a/x b/x\nrename from /etc/passwd\nrename to x\n".to_owned(),
        "diff --git a/x b/../../x\nnew file mode 100644\n".to_owned(),
        "*** Begin Patch\n*** Update File: /etc/passwd\n@@\n-a\n+b\n*** End Patch".to_owned(),
        "*** Begin Patch\n*** Add File: a.txt\n+a\n*** Move to: ../x\n*** End Patch".to_owned(),
        "*** Begin Patch\n***Update File: /etc/passwd\n@@\n-a\n+b\n*** End Patch".to_owned(),
        "*** Begin Patch\n*** Delete: /etc/passwd\n*** End Patch".to_owned(),
        "*** Begin Patch\n*** Create: /etc/cron.d/x\n+a\n*** End Patch".to_owned(),
        format!("Here is the change:\n\n{}", unified("/etc/passwd")),
        format!("{}{}", unified("a/x"), unified("/etc/passwd")),
        format!("{}\u{1c}--- /etc/passwd\u{1c}+++ /etc/passwd\u{1c}@@ -1 +1 @@\u{1c}-a\u{1c}+b", unified("a/x")),
        format!("```diff\n{}```\n", unified("/etc/passwd")),
        // A count that hides a header, and one that hides it from who does not count.
        "--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n-a\n+b\n--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n"
            .to_owned(),
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- /etc/passwd\n+++ /etc/passwd\n@@ -3 +3 @@\n-a\n+b\n".to_owned(),
        "--- a/x\n+++ b/x\n@@ ... @@\n-a\n+b\n--- /etc/passwd\n+++ /etc/passwd\n-a\n+b\n".to_owned(),
        "--- a/x\n+++ b/x\n@@ -0,0 +0,0 @@\n--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
    ];
    assert_hostile(&limited(), &under_all(&headers));
    let named = [
        "diff -r 0123 -r 4567 /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "diff -r 0123 -r 4567 /etc/my file\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "diff -ru a/x /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "=== /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "=== modified file '/etc/passwd'\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "==== //depot/x#1 - /etc/passwd ====\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "Property changes on: /etc/passwd\n___\nAdded: svn:special\n## -0,0 +1 ##\n+*\n".to_owned(),
        "Index:\t/etc/passwd\n===\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "Index:/etc/passwd\n===\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "*** /etc/passwd\tMon\n--- /etc/passwd\tMon\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n".to_owned(),
        "Binary files /etc/passwd and b/x differ\n".to_owned(),
        "diff --git a/x b/x\ncopy from /etc/passwd\ncopy to x\n".to_owned(),
        "rename to /etc/passwd\n".to_owned(),
        "+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        format!("{}--- /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", unified("a/x")),
        "--- a/x\n\n+++ /etc/pass\u{2028}wd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "*** Begin Patch\n*** Update File: a.txt\u{1c}*** Update File: /etc/passwd\n@@\n-a\n+b\n*** End Patch".to_owned(),
        "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmXX\n\n--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n"
            .to_owned(),
        "XX--- /etc/passwd\nXX+++ /etc/passwd\nXX@@ -1 +1 @@\n".to_owned(),
    ];
    let under: Vec<Value> =
        named.iter().flat_map(|patch| [json!({"patch": patch}), json!({"cwd": OK, "diff": patch})]).collect();
    assert_hostile(&limited(), &under);
}

#[test]
fn names_around_blocks_must_lie_inside() {
    let names = [
        "/etc/passwd",
        "### /etc/passwd",
        "## ../x.txt",
        "**/etc/passwd**",
        "**`/etc/passwd`**",
        "`/etc/passwd`",
        "/etc/passwd:",
        "File: ../x.ts",
        "Path: /etc/my file",
        "/etc/my file",
        "../my file.txt",
        "../x y",
        "[/etc/passwd]",
        "The file is /etc/passwd",
    ];
    let blocks: Vec<String> = names.iter().map(|name| block(name)).collect();
    let others = [
        format!("{}{}", block("src/x.ts"), block("/etc/my other")),
        format!("{}{}", block("/etc/my file"), block("../my other")),
        "<<<<<<< SEARCH /etc/passwd\na\n=======\nb\n>>>>>>> REPLACE\n".to_owned(),
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE /etc/passwd\n".to_owned(),
        "```/etc/passwd\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n".to_owned(),
        "/etc/passwd\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n".to_owned(),
        format!("<<<<<<< SEARCH\n{}", unified("/etc/passwd")),
        "<<<<< SEARCH /etc/passwd\na\n=====\nb\n>>>>> REPLACE\n".to_owned(),
    ];
    let mut cases = under_all(&blocks);
    cases.extend(
        others.iter().flat_map(|text| [json!({"patch": text}), json!({"path": "/srv/ok/a.txt", "diff": text})]),
    );
    cases.extend([
        json!({"blocks": block("### ../x")}),
        json!({"edits": [{"search_replace": block("### /etc/passwd")}]}),
        json!({"hunks": [block("/etc/passwd:")]}),
    ]);
    assert_hostile(&limited(), &cases);
    assert_hostile(
        &denied(),
        &[
            json!({"patch": block("### .env")}),
            json!({"blocks": block("### .env")}),
            json!({"cwd": OK, "patch": "<<<<<<< SEARCH .env\na\n=======\nb\n>>>>>>> REPLACE\n"}),
            json!({"patch": "---\t.env\n+++\t.env\n@@ -1 +1 @@\n-a\n+b\n"}),
            json!({"patch": unified("a/.env")}),
            json!({"patch": unified("c/d/.env")}),
            json!({"patch": unified("a/private/x")}),
            json!({"patch": unified("a/b/secret.txt")}),
            json!({"patch": unified("a/.env:x")}),
            json!({"patch": unified("a/.e*")}),
        ],
    );
}

/// More names than are looked at are refused, and so is a name that comes late.
#[test]
fn a_name_is_found_wherever_it_stands() {
    let many = |count: usize| (0..count).fold(String::new(), |text, at| text + &unified(&format!("d{at}/f{at}")));
    let action =
        |count: usize| (0..count).fold(String::new(), |text, at| text + &format!("*** Add File: n{at}.txt\n+x\n"));
    assert_hostile(
        &limited(),
        &[
            json!({"patch": many(2_200) + &unified("/etc/passwd")}),
            json!({"patch": many(20_000)}),
            json!({"patch": format!("*** Begin Patch\n{}*** Add File: /etc/cron.d/x\n+y\n*** End Patch", action(4_100))}),
            json!({"changes": format!("*** Begin Patch\n{}*** End Patch", action(20_000))}),
            json!({"patch": unified(&"a/".repeat(100))}),
        ],
    );
    assert_honest(&limited(), &[json!({"patch": many(3_000)}), json!({"changes": many(3_000)})]);
}

struct Linked;

impl World for Linked {
    fn link(&self, path: &str) -> Option<String> {
        (path == "/srv/ok/link").then(|| "/etc".to_owned())
    }

    fn addresses(&self, _: &str) -> Option<Vec<std::net::IpAddr>> {
        None
    }
}

#[test]
fn links_are_followed_behind_any_number_of_folders() {
    for name in ["link/passwd", "a/link/passwd", "a/b/link/passwd", "a/b/c/link/passwd"] {
        let call = json!({"cwd": OK, "patch": unified(name)});
        assert!(check_in(&limited(), &raw(&call), &Linked).is_err(), "{name}");
    }
    for target in ["/etc", "../../x", "~/x", "a/../../../x"] {
        let patch = format!(
            "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..1111111\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
        );
        assert_hostile(&limited(), &[json!({"cwd": OK, "patch": patch}), json!({"text": patch})]);
    }
    assert_hostile(
        &limited(),
        &[
            json!({"patch": "diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-x\n+/etc\n"}),
            json!({"patch": "diff --git a/l b/l\nnew file mode 120000\nindex 0..1\nGIT binary patch\nliteral 4\nLcmXX\n\n"}),
        ],
    );
    assert_honest(
        &limited(),
        &[
            json!({"patch": "diff --git a/d/l b/d/l\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/d/l\n@@ -0,0 +1 @@\n+../README.md\n\\ No newline at end of file\n"}),
            json!({"patch": "diff --git a/l b/l\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+docs/README.md\n\\ No newline at end of file\n"}),
        ],
    );
}

/// A refusal says which line it is about.
#[test]
fn a_line_that_is_nothing_is_named() {
    let text = format!("{}\n/etc/passwd and more\n", unified("a/x"));
    let refused = check(&limited(), &json!({"patch": text})).expect_err("a path between the hunks");
    assert!(refused.finding.message.contains("line 7 of the patch belongs to no hunk"), "{:?}", refused.finding);
    let open = check(&limited(), &json!({"patch": "a.txt\n<<<<<<< SEARCH\na\n"})).expect_err("no end");
    assert!(open.finding.message.contains("line 2"), "{:?}", open.finding);
}

const MAIL: &str = "From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\nFrom: Ann <ann@example.com>\n\
    Date: Tue, 1 Jan 2026 00:00:00 +0000\nSubject: [PATCH 1/2] Read /etc/hosts and ~/.config\n\nUses ../x as well, and writes to\n\
    /etc/hosts when asked.\n---\n a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n\
    diff --git a/a.txt b/a.txt\nindex 1234567..89abcde 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n-- \n2.43.0\n\n";

/// Patches of real life.
fn honest() -> Vec<String> {
    let of = |hunk: &str| format!("--- a/src/x\n+++ b/src/x\n{hunk}");
    vec![
        MAIL.to_owned(),
        format!("{MAIL}{MAIL}"),
        MAIL.replace('\n', "\r\n"),
        unified("a/src/main.rs"),
        unified("a/app/[id]/page.tsx"),
        unified("a/app/(group)/page.tsx"),
        unified("a/app/[...slug]/page.tsx"),
        unified("a/routes/blog.$slug.tsx"),
        unified("a/very long name with blanks.txt"),
        unified("a/a:b.txt"),
        unified("a/~x.txt"),
        unified("a/x*.txt"),
        unified("a/50%.txt"),
        unified("a/x;y,z.txt"),
        unified("a/{{name}}/x.txt"),
        unified("a/x.txt (revision 12)"),
        unified("x.txt\tFri Jan  2 03:04:05 2026 +0100"),
        unified("old/x.txt 2024-01-01 10:00:00.000000000 +0100"),
        unified("\"a/\\303\\244.txt\""),
        unified("/srv/ok/src/x.txt"),
        "diff --git \"a/\\303\\244.txt\" \"b/\\303\\244.txt\"\nindex 1..2 100644\n--- \"a/\\303\\244.txt\"\n+++ \"b/\\303\\244.txt\"\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "diff --git a/bin/x b/bin/x\nold mode 100644\nnew mode 100755\n".to_owned(),
        "diff --git a/x.md b/docs/y.md\nsimilarity index 95%\nrename from x.md\nrename to docs/y.md\nindex 1..2 100644\n--- a/x.md\n+++ b/docs/y.md\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "diff --git a/x.png b/x.png\nindex 1234567..89abcde 100644\nGIT binary patch\nliteral 10\nRcmZQzU|?imU}0oxU|?WU0001s0ssI2\n\nliteral 0\nHcmV?d00001\n\n".to_owned(),
        "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n".to_owned(),
        "diff --git a/my file.txt b/my file.txt\n--- a/my file.txt\t\n+++ b/my file.txt\t\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "diff --git a/old.txt b/old.txt\ndeleted file mode 100644\nindex 1..0\n--- a/old.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-/etc/a\n-../b\n".to_owned(),
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+/usr/bin/env\n+~/.ssh/config\n".to_owned(),
        "Index: src/a.c\n===================================================================\n--- src/a.c\t(revision 1)\n+++ src/a.c\t(working copy)\n@@ -1 +1 @@\n-#include </usr/include/x.h>\n+#include </usr/include/y.h>\n".to_owned(),
        "*** src/a.c\tMon\n--- src/a.c\tTue\n***************\n*** 1,2 ****\n! /etc/x\n  y\n--- 1,2 ----\n! /etc/y\n  y\n".to_owned(),
        "diff -ru old/a.c new/a.c\n--- old/a.c\t2024-01-01\n+++ new/a.c\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\nOnly in new: b.c\n".to_owned(),
        "# HG changeset patch\n# User Ann <ann@example.com>\n# Date 1700000000 0\n# Parent  0123456789ab\nFix /etc/x handling\n\ndiff -r 0123456789ab -r 456789abcdef src/a.c\n--- a/src/a.c\tMon\n+++ b/src/a.c\tTue\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        "diff --cc src/x\nindex 1,2..3\n--- a/src/x\n+++ b/src/x\n@@@ -1,2 -1,2 +1,3 @@@\n  /etc/a\n- /etc/b\n -/etc/c\n++/etc/d\n++../e\n".to_owned(),
        of("@@ -1,2 +1,3 @@\n FROM debian\n-COPY x /etc/x\n+COPY ../y /usr/local/y\n+RUN ls /root\n"),
        of("@@ -1,2 +1,1 @@\n--- /etc/old comment\n-SELECT 1;\n+SELECT 2;\n"),
        of("@@ -1 +1 @@\n--- /etc/passwd is read here\n+++ /usr/x\n"),
        of("@@ -1 +1 @@\n--- count;\n+++ count;\n"),
        of("@@ -1,3 +1,3 @@\n-x\n+++ /usr/y;"),
        of("@@ -1,2 +1,5 @@\n From ann\n+Index: /etc/x\n+rename to /etc/y\n+*** Update File: /etc/z\n --\n"),
        of("@@ -1,2 +1,2 @@\n *** Update File: /etc/z\n-x\n+y\n"),
        of("@@ -1,2 +1,2 @@\n rename to /etc/z\n-x\n+y\n"),
        of("@@ -1,2 +1,3 @@\n ---- /etc/a\n-+++ /etc/b\n++++ /etc/c\n+--- /etc/d\n"),
        of("@@ -1,4 +1,4 @@ see /etc/hosts\n---\n-title: a\n+---\n+title: b\n ---\n *** \n"),
        of("@@ -1,5 +1,1 @@\n-/etc/ours\n-<<<<<<< HEAD\n-=======\n->>>>>>> theirs\n-x\n+x\n"),
        of("@@ -1,3 +1,3 @@\n /etc/ctx\n <<<<<<< HEAD\n-a\n+b\n"),
        of("@@ -1,3 +1,3 @@\n <ul>\n-/old\n+/new\n /ctx\n"),
        of("@@ -1,2 +1,2 @@\n-a\n+b\n\n"),
        of("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
        of("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9,2 @@ fn /etc\n /x\n+/y\n"),
        of("@@ -1,2 +1,2 @@\n-/a\u{c}\n+/b\u{c}\n \u{c}\n"),
        "diff --git a/.gitignore b/.gitignore\nindex 0..1 100644\n--- a/.gitignore\n+++ b/.gitignore\n@@ -1 +1,4 @@\n node_modules\n+/dist\n+/etc/\n+../x\n".to_owned(),
        "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n-    open('/etc/passwd')\n+    open('/etc/shadow')\n /etc/ctx\n*** Add File: docs/b.md\n+# /root\n+*** bold ***\n+--- x\n*** Delete File: old.txt\n*** End Patch".to_owned(),
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b/a.txt\n@@\n-../x\n+../y\n*** End of File\n*** End Patch\n".to_owned(),
        "*** Begin Patch\n*** Add File: run.sh\n+#!/bin/sh\n+cat ../x\n+cd /etc\n*** End Patch".to_owned(),
        block("src/a.ts"),
        block("### src/a.ts"),
        block("**src/a.ts**"),
        block("File: src/a.ts"),
        format!("{}{}", block("src/a.ts"), block("src/b.ts")),
        "src/a.ts\n<<<<<<< SEARCH\n/api/v1\n/etc/x\n=======\n/api/v2\n../x\n>>>>>>> REPLACE\n".to_owned(),
        "src/a.ts\n```ts\n<<<<<<< SEARCH\nconst a = '/etc';\n=======\nconst a = '/usr';\n>>>>>>> REPLACE\n```\n".to_owned(),
        format!("Here is the change:\n\n```diff\n{}```\n\nIt works.\n", unified("a/x.rs")),
    ]
}

#[test]
fn patches_of_files_inside_pass_under_every_key() {
    let patches = honest();
    assert!(patches.len() >= 55, "{}", patches.len());
    assert_honest(&limited(), &patches.iter().map(|patch| json!({"patch": patch})).collect::<Vec<_>>());
    let anchored = of_tool(OK, "apply_patch", "Apply a unified diff in a working directory", &["cwd", "patch"]);
    assert_honest(&anchored, &patches.iter().map(|patch| json!({"cwd": OK, "patch": patch})).collect::<Vec<_>>());
    for key in ["input", "changes"] {
        let sure = patches.iter().filter(|patch| !patch.starts_with("Here is") && !patch.starts_with("From "));
        assert_honest(&limited(), &sure.map(|patch| json!({key: patch})).collect::<Vec<_>>());
    }
}

#[test]
fn patches_without_names_pass_beside_a_path() {
    let checks = of_tool(OK, "apply_diff", "Apply a diff to a file", &["path", "diff"]);
    let diffs = [
        "<<<<<<< SEARCH\n/etc/old\n=======\n/etc/new\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n:start_line:1\n-------\n../old\n=======\n../new\n>>>>>>> REPLACE",
        "@@ -1 +1 @@\n-/etc/old\n+/etc/new\n",
        "1c1\n< /etc/old\n---\n> /etc/new\n",
        "2,3d1\n< ../a\n< ../b\n5a4\n> /etc/c\n",
        "- /etc/old\n+ /etc/new\n",
        "-/etc/old\n+/etc/new\n",
        "```diff\n-/old/route\n+/new/route\n```",
        "@@ ... @@\n-old line\n+/usr/bin/python\n",
        "@@\n /etc/ctx\n-a\n+b\n",
    ];
    assert_honest(&checks, &diffs.map(|diff| json!({"path": "/srv/ok/a.txt", "diff": diff})));
    assert_honest(&limited(), &diffs.map(|diff| json!({"path": "/srv/ok/a.txt", "diff": diff})));
    assert_hostile(&checks, &diffs.map(|diff| json!({"path": "/etc/a.txt", "diff": diff})));
    // What is no patch is a word like others.
    let words = ["/etc/passwd", "../x", "-f /etc/passwd", "--output=/etc/x", "-f/etc/x\n-x", "+/etc/x"];
    assert_hostile(&limited(), &words.map(|word| json!({"diff": word})));
    assert_hostile(
        &limited(),
        &[json!({"diff_args": "-f /etc/passwd"}), json!({"patch": "path: /etc/passwd\n@@ -1 +1 @@\n-a\n+b"})],
    );
    assert_hostile(&limited(), &[json!({"script": "--- a\n+++ a\n@@ -1,9 +1,9 @@\n x\n /etc/cron.d/x\n"})]);
}

/// Nothing is applied of what people read.
#[test]
fn patches_in_texts_for_people_are_text() {
    let elsewhere = "/opt/server";
    let mixed = format!("This helps:\n\n```diff\n{}```\n", unified("a/src/x.rs"));
    let issue = of_tool(elsewhere, "create_issue", "Create an issue in a repository", &["title", "body"]);
    let nginx = mixed.replace("a/src/x.rs", "/etc/nginx/nginx.conf");
    assert_honest(&issue, &[json!({"title": "x", "body": mixed}), json!({"title": "x", "body": nginx})]);
    let mail = of_tool(elsewhere, "send_email", "Send an email", &["to", "subject", "body"]);
    assert_honest(&mail, &[json!({"to": "a@b.example", "subject": "[PATCH] x", "body": unified("a/lib/x.c")})]);
    let edit = of_tool(OK, "edit_text", "Apply edit text in search replace format", &["text"]);
    assert_hostile(&edit, &[json!({"text": unified("/etc/passwd")}), json!({"text": block("### ../x.txt")})]);
    let write = of_tool(OK, "write_file", "Create a new file", &["path", "content"]);
    assert_honest(&write, &[json!({"path": "/srv/ok/x.patch", "content": unified("/etc/passwd")})]);
}

/// A patch under a key for places is no place that others lie below.
#[test]
fn a_patch_is_no_anchor_of_its_own() {
    let input = "*** Begin Patch\n*** Update File: x.txt\n@@\n-a\n+b\n*** End Patch";
    let about = "Apply the input to the workspace. Uses the *** Begin Patch format.";
    let elsewhere = of_tool("/opt/server", "patch_input", about, &["input"]);
    assert_hostile(&elsewhere, &[json!({"input": input}), json!({"input": unified("a/x")})]);
    assert_honest(&elsewhere, &[json!({"input": input.replace("x.txt", "/srv/ok/x.txt")})]);
    assert_honest(&of_tool(OK, "patch_input", about, &["input"]), &[json!({"input": input})]);
}

/// A text of several lines is no path, but lines of it may be.
#[test]
fn cells_and_other_texts_under_keys_for_places_pass() {
    let cells = [
        "print(1)\nprint(2)",
        "import os\nx = 1 / 2",
        "# Title\n\nText",
        "x = open('data.csv')\nx.read()",
        "%matplotlib inline\nimport matplotlib.pyplot as plt\n\nplt.plot([1, 2])\n",
        "for i in range(3):\n    print(i / 2)  # half",
        "SELECT 1\nFROM t",
        "df = pd.read_csv(\"a.csv\")\ndf[\"x/y\"]\n",
    ];
    let one_line = ["print(1)\n", "x = 1\n", "df = pd.read_csv('data/x.csv')\n"];
    assert_honest(&limited(), &one_line.map(|cell| json!({"source": cell})));
    let notebook = of_tool(OK, "notebook_edit", "Edit a cell", &["notebook_path", "new_source"]);
    assert_honest(&notebook, &cells.map(|cell| json!({"notebook_path": "/srv/ok/a.ipynb", "new_source": cell})));
    for key in ["source", "cell_source", "input"] {
        assert_honest(&limited(), &cells.map(|cell| json!({key: cell})));
    }
    assert_hostile(
        &limited(),
        &[
            json!({"source": "/etc/passwd\n/etc/shadow"}),
            json!({"source": "a.txt\n/etc/shadow"}),
            json!({"source": ".\n./x"}),
            json!({"source": "/etc/passwd\n"}),
            json!({"source": "../a b = 1\n"}),
            json!({"input": "..\n/x"}),
            json!({"path": "a\nb"}),
        ],
    );
}

/// A name of a file inside, of no device, and without what old servers read as an escape.
fn inside() -> impl Strategy<Value = String> {
    let is_device = |name: &str| name.split('/').any(|step| matches!(step, "con" | "prn" | "aux" | "nul"));
    let is_escape = |name: &str| ["..2e", "..2f", "..5c"].iter().any(|escape| name.contains(escape));
    "[a-z]{1,6}(/[a-z0-9_.-]{0,3}[a-z]{1,5}){0,3}"
        .prop_filter("a device or an escape", move |name| !is_device(name) && !is_escape(name))
}

/// Text of a file: anything, also what looks like a header.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,20}",
        Just("/etc/passwd".to_owned()),
        Just("../x".to_owned()),
        Just("-- /etc/x".to_owned()),
        Just("*** Update File: /etc/x".to_owned()),
        Just("rename to /etc/x".to_owned()),
        Just("diff --git a/../x b/../x".to_owned()),
        Just("@@ -1 +1 @@".to_owned()),
        Just("<<<<<<< SEARCH /etc/x".to_owned()),
    ]
}

/// A hunk with its counts: lines that are kept, removed and added.
fn hunk() -> impl Strategy<Value = String> {
    (prop::collection::vec((0..3_usize, line()), 0..8), 1..99_usize).prop_map(|(lines, start)| {
        let count = |skipped: usize| lines.iter().filter(|(kind, _)| *kind != skipped).count() + 1;
        let mut text = format!("@@ -{start},{} +{start},{} @@\n", count(2), count(1));
        for (kind, line) in &lines {
            text += &format!("{}{line}\n", [' ', '-', '+'][*kind]);
        }
        // A kept line at the end: else the next hunk follows on a pair that may be a header.
        text + " end\n"
    })
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Git,
    Plain,
    Svn,
    Rename,
    Action,
}

fn file(kind: Kind, name: &str, hunks: &[String]) -> String {
    let hunks = hunks.concat();
    match kind {
        Kind::Git => format!("diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{hunks}"),
        Kind::Plain => format!("--- {name}\t2020-01-01\n+++ {name}\t2020-01-01\n{hunks}"),
        Kind::Svn => format!("Index: {name}\n=======\n--- {name}\t(revision 1)\n+++ {name}\t(working copy)\n{hunks}"),
        Kind::Rename => format!("diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to {name}\n"),
        Kind::Action => format!("*** Begin Patch\n*** Update File: {name}\n@@\n-a\n+b\n*** End Patch\n"),
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Git, Kind::Plain, Kind::Svn, Kind::Rename, Kind::Action])
}

proptest! {
    #[test]
    fn well_formed_patches_of_files_inside_pass_and_with_one_outside_do_not(
        files in prop::collection::vec((kind(), inside(), prop::collection::vec(hunk(), 1..3)), 1..5),
        outside in prop::sample::select(vec!["/etc/passwd", "../x", "a/../../../x", "/etc/my file", "~/.bashrc", "/srv/okay/x"]),
        outside_kind in kind(),
        at in 0..5_usize,
        is_crlf in any::<bool>(),
    ) {
        let ended = |text: String| if is_crlf { text.replace('\n', "\r\n") } else { text };
        let mut texts: Vec<String> = files.iter().map(|(kind, name, hunks)| file(*kind, name, hunks)).collect();
        let patch = ended(texts.concat());
        for key in ["patch", "changes"] {
            let outcome = check(&limited(), &json!({key: patch}));
            prop_assert!(outcome.is_ok(), "{:?}\n{}", outcome.err().map(|why| why.finding), patch);
        }
        let hunks = ["@@ -1 +1 @@\n-a\n+b\n".to_owned()];
        let other = match outside_kind {
            // Behind `a/` an absolute name is none.
            Kind::Git if outside.starts_with(['/', '~']) => Kind::Plain,
            other => other,
        };
        texts.insert(at.min(texts.len()), file(other, outside, &hunks));
        let patch = ended(texts.concat());
        for key in ["patch", "changes", "input", "text"] {
            prop_assert!(check(&limited(), &json!({key: patch})).is_err(), "{}", patch);
        }
    }
}

/// Git decodes a mail before it looks for a patch.
#[test]
fn an_encoded_mail_shows_no_names() {
    for kind in ["base64", "Quoted-Printable"] {
        let mail = format!("From: a@b.example\nSubject: [PATCH] x\nContent-Transfer-Encoding: {kind}\n\nZGlmZg==\n");
        assert_hostile(&limited(), &[json!({"patch": mail}), json!({"patch": mail.replace("Content-T", "content-t")})]);
    }
    let plain = "From: a@b.example\nSubject: [PATCH] x\nContent-Transfer-Encoding: 8bit\n\n---\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+Content-Transfer-Encoding: base64\n";
    assert_honest(&limited(), &[json!({"patch": plain})]);
}

/// What a tool that applies patches is given is read as git reads it, under any key.
#[test]
fn no_encoding_hides_a_mail_from_who_applies_it() {
    let head = "From a Mon Sep 17 00:00:00 2001\nSubject: x\nMIME-Version: 1.0\n";
    for header in [
        "Content-Transfer-Encoding: base64",
        "Content-Transfer-Encoding: quoted-printable",
        "content-transfer-encoding:\n base64",
        "Content-Transfer-Encoding: x-uuencode",
        "Content-Transfer-Encoding: BASE64; x=y",
    ] {
        let mail = format!("{head}{header}\n\nLS0tIGEvLi4vLi4veAorKysgYi8uLi8uLi94Cg==\n");
        for key in ["mail", "raw", "patch", "mbox", "content", "input"] {
            let checks = of_tool("/srv/ok", "git_am", "Applies a mail", &["path", key]);
            assert_hostile(&checks, &[json!({"path": "/srv/ok", key: mail})]);
        }
    }
    let plain = format!("{head}Content-Transfer-Encoding: 8bit\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
    assert_honest(&of_tool("/srv/ok", "git_am", "Applies a mail", &["mail"]), &[json!({"mail": plain})]);
    let mail = format!("{head}Content-Transfer-Encoding: base64\n\nSGVsbG8=\n");
    let reads = of_tool("/srv/ok", "parse_email", "Reads a mail", &["path", "raw"]);
    assert_honest(&reads, &[json!({"path": "/srv/ok/a.eml", "raw": mail})]);
}
