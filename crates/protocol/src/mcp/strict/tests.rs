//! Every shape that an SDK refuses, and what becomes of it; and that what they accept is not touched.

use serde_json::{Value, json};
use switchboard_wire::{Limits, Raw};

use super::{Item, Misshapen, addressed, item, question, result};
use crate::mcp::method;
use crate::{Era, Revision};

fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).expect("valid JSON")
}

fn value(raw: &Raw) -> Value {
    raw.view().expect("valid JSON")
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A row: what is listed, and what it becomes in both eras; `None` where it cannot be listed.
#[track_caller]
fn assert_items(kind: Item, rows: &[(Value, Option<Value>)]) {
    for (given, expected) in rows {
        for era in ERAS {
            let fit = item(kind, &raw(given), era);
            let found = fit.as_ref().ok().map(|fit| value(&fit.raw));
            assert_eq!(found, *expected, "{era:?} {given}\n{fit:?}");
        }
    }
}

/// The same where the eras differ: legacy first.
#[track_caller]
fn assert_by_era(kind: Item, rows: &[(Value, Option<Value>, Option<Value>)]) {
    for (given, legacy, modern) in rows {
        for (era, expected) in ERAS.into_iter().zip([legacy, modern]) {
            let found = item(kind, &raw(given), era).ok().map(|fit| value(&fit.raw));
            assert_eq!(found, *expected, "{era:?} {given}");
        }
    }
}

/// A tool with this member beside those that it must have.
fn tool(key: &str, member: Value) -> Value {
    let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    tool[key] = member;
    tool
}

fn plain_tool() -> Value {
    json!({"name": "t", "inputSchema": {"type": "object"}})
}

#[test]
fn what_every_client_accepts_keeps_its_bytes() {
    let rows = [
        (Item::Tool, r#"{ "name":"t" , "inputSchema":{"type":"object"},"x":null,"security":{"a":[1, 2]}}"#),
        (
            Item::Tool,
            r#"{"inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":["string","null"]}},"required":[]},
            "outputSchema":{"type":"object","properties":{"a":{}}},"name":"t","title":"T","description":"é","annotations":{"title":"x","readOnlyHint":true,"other":5},
            "execution":{"taskSupport":"optional"},"icons":[{"src":"data:,","mimeType":"image/png","sizes":["any"],"theme":"dark","x":1}],"_meta":{"a":null}}"#,
        ),
        (
            Item::Prompt,
            r#"{"name":"p","arguments":[{"name":"a","required":true,"title":"A","description":"d","x":1}],"_meta":{}}"#,
        ),
        (
            Item::Resource,
            r#"{"uri":"memo:x","name":"","size":5,"annotations":{"audience":["user"],"priority":1,"lastModified":"2025-01-12T15:00:58Z"},"mimeType":"a/b"}"#,
        ),
        (Item::Template, r#"{"uriTemplate":"memo:{x}","name":"n","annotations":{}}"#),
    ];
    for (kind, text) in rows {
        let given = Raw::parse(text, &Limits::default()).expect("valid JSON");
        for era in ERAS {
            let fit = item(kind, &given, era).expect("accepted");
            assert_eq!(fit.raw.as_str(), text);
            assert!(fit.mended.is_empty(), "{:?}", fit.mended);
        }
    }
}

#[test]
fn schemas_of_arguments() {
    let with = |schema: Value| json!({"name": "t", "inputSchema": schema});
    let is = |schema: Value| Some(json!({"name": "t", "inputSchema": schema}));
    assert_items(
        Item::Tool,
        &[
            // As `mcp-obsidian` and `server-gitlab` write them.
            (
                with(json!({"$schema": "http://json-schema.org/draft-07/schema#"})),
                is(json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})),
            ),
            (json!({"name": "t"}), is(json!({"type": "object"}))),
            (with(json!(null)), is(json!({"type": "object"}))),
            (with(json!(true)), is(json!({"type": "object"}))),
            (with(json!({})), is(json!({"type": "object"}))),
            (with(json!({"type": ["object", "null"]})), is(json!({"type": "object"}))),
            (with(json!({"type": null})), is(json!({"type": "object"}))),
            (
                with(json!({"anyOf": [{"type": "object"}]})),
                is(json!({"anyOf": [{"type": "object"}], "type": "object"})),
            ),
            (with(json!({"type": "object", "properties": null})), is(json!({"type": "object"}))),
            (with(json!({"type": "object", "properties": []})), is(json!({"type": "object", "properties": {}}))),
            (with(json!({"type": "object", "required": null})), is(json!({"type": "object"}))),
            (with(json!({"type": "object", "required": false})), is(json!({"type": "object"}))),
            (with(json!({"type": "object", "required": {}})), is(json!({"type": "object"}))),
            (with(json!({"type": "object", "$schema": null})), is(json!({"type": "object"}))),
            (with(json!("string")), None),
            (with(json!([])), None),
            (with(json!(false)), None),
            (with(json!({"type": "string"})), None),
            (with(json!({"type": "array", "items": {}})), None),
            (with(json!({"type": ["string"]})), None),
            (with(json!({"type": 5})), None),
            (with(json!({"type": "object", "properties": "x"})), None),
            (with(json!({"type": "object", "properties": [1]})), None),
            (with(json!({"type": "object", "required": "a"})), None),
            (with(json!({"type": "object", "required": [1]})), None),
        ],
    );
    let property = |schema: Value| with(json!({"type": "object", "properties": {"a": schema}}));
    assert_by_era(
        Item::Tool,
        &[
            (property(json!(true)), Some(property(json!({}))), Some(property(json!(true)))),
            (property(json!(false)), Some(property(json!({"not": {}}))), Some(property(json!(false)))),
            (property(json!(null)), Some(property(json!({}))), Some(property(json!(null)))),
            (property(json!("string")), None, Some(property(json!("string")))),
            (property(json!([])), None, Some(property(json!([])))),
        ],
    );
}

#[test]
fn schemas_of_results() {
    let with = |schema: Value| tool("outputSchema", schema);
    assert_items(
        Item::Tool,
        &[
            (with(json!(null)), Some(plain_tool())),
            (with(json!("x")), Some(plain_tool())),
            (with(json!([])), Some(plain_tool())),
        ],
    );
    let same = |schema: Value| (with(schema.clone()), Some(with(schema.clone())), Some(with(schema)));
    let modern_only = |schema: Value| (with(schema.clone()), Some(plain_tool()), Some(with(schema)));
    assert_by_era(
        Item::Tool,
        &[
            same(json!({"type": "object"})),
            modern_only(json!({"type": "array", "items": {"type": "integer"}})),
            modern_only(json!({"type": "string"})),
            modern_only(json!({})),
            modern_only(json!({"anyOf": [{"type": "object"}, {"type": "array"}]})),
            modern_only(json!({"type": ["object", "null"]})),
            modern_only(json!({"type": "object", "properties": {"a": "x"}})),
            modern_only(json!({"type": "object", "required": [1]})),
            (
                with(json!({"properties": {"a": {}}})),
                Some(with(json!({"properties": {"a": {}}, "type": "object"}))),
                Some(with(json!({"properties": {"a": {}}}))),
            ),
            (with(json!({"$schema": 5, "type": "array"})), Some(plain_tool()), Some(with(json!({"type": "array"})))),
        ],
    );
}

#[test]
fn members_of_tools() {
    let is = |key: &str, member: Value| Some(tool(key, member));
    assert_items(
        Item::Tool,
        &[
            (tool("title", json!(null)), Some(plain_tool())),
            (tool("title", json!(5)), Some(plain_tool())),
            (tool("description", json!(null)), Some(plain_tool())),
            (tool("description", json!(5)), None),
            (tool("description", json!(["a"])), None),
            (tool("name", json!(5)), None),
            (tool("name", json!(null)), None),
            (tool("annotations", json!(null)), Some(plain_tool())),
            (tool("annotations", json!("x")), Some(plain_tool())),
            (tool("annotations", json!([])), Some(plain_tool())),
            (tool("annotations", json!({"readOnlyHint": "yes"})), is("annotations", json!({}))),
            (
                tool("annotations", json!({"destructiveHint": 1, "title": "x", "openWorldHint": null})),
                is("annotations", json!({"title": "x"})),
            ),
            (tool("execution", json!(null)), Some(plain_tool())),
            (tool("execution", json!("required")), Some(plain_tool())),
            (tool("execution", json!({"taskSupport": "maybe"})), is("execution", json!({}))),
            (tool("icons", json!(null)), Some(plain_tool())),
            (tool("icons", json!("x.png")), Some(plain_tool())),
            (tool("icons", json!({"src": "x"})), Some(plain_tool())),
            (tool("icons", json!([{"url": "x"}, {"src": "y"}])), is("icons", json!([{"src": "y"}]))),
            (
                tool("icons", json!([{"src": "x", "sizes": "48x48", "theme": "blue", "mimeType": 1}])),
                is("icons", json!([{"src": "x"}])),
            ),
            (tool("_meta", json!(null)), Some(plain_tool())),
            (tool("_meta", json!([])), Some(plain_tool())),
            (json!([]), None),
            (json!("t"), None),
            (json!({"inputSchema": {"type": "object"}}), None),
        ],
    );
}

#[test]
fn prompts() {
    let with = |arguments: Value| json!({"name": "p", "arguments": arguments});
    assert_items(
        Item::Prompt,
        &[
            (json!({"name": "p", "description": null, "title": null}), Some(json!({"name": "p"}))),
            (json!({"name": "p", "description": 5}), None),
            (with(json!(null)), Some(json!({"name": "p"}))),
            (with(json!({})), Some(with(json!([])))),
            (with(json!({"a": {}})), None),
            (with(json!(["a"])), None),
            (with(json!([{"description": "d"}])), None),
            (
                with(json!([{"name": "a", "description": null, "required": "true", "title": 4}])),
                Some(with(json!([{"name": "a"}]))),
            ),
        ],
    );
}

#[test]
fn resources_and_templates() {
    assert_items(
        Item::Resource,
        &[
            (json!({"name": "n"}), None),
            (json!({"uri": 5, "name": "n"}), None),
            (json!({"uri": "a:b"}), Some(json!({"uri": "a:b", "name": "a:b"}))),
            (json!({"uri": "a:b", "name": null, "title": "T"}), Some(json!({"uri": "a:b", "name": "T", "title": "T"}))),
            (
                json!({"uri": "a:b", "name": "n", "mimeType": null, "size": "5", "annotations": {"priority": 5, "audience": ["all"], "lastModified": "today"}}),
                Some(json!({"uri": "a:b", "name": "n", "annotations": {}})),
            ),
            (json!({"uri": "a:b", "name": "n", "size": 1.5}), Some(json!({"uri": "a:b", "name": "n"}))),
        ],
    );
    // Python's SDK 1 takes nothing but a URL.
    for uri in ["notes/today.md", "/etc/hosts", "", "http://", "x://a:b/"] {
        let given = json!({"uri": uri, "name": "n"});
        assert_by_era(Item::Resource, &[(given.clone(), None, Some(given))]);
    }
    assert_items(
        Item::Template,
        &[
            (json!({"name": "n"}), None),
            (json!({"uriTemplate": "a:{b}"}), Some(json!({"uriTemplate": "a:{b}", "name": "a:{b}"}))),
            (
                json!({"uriTemplate": "a:{b}", "name": "n", "description": null, "icons": 5}),
                Some(json!({"uriTemplate": "a:{b}", "name": "n"})),
            ),
        ],
    );
}

#[test]
fn times_as_zod_reads_them() {
    let at = |time: &str| json!({"uri": "a:b", "name": "n", "annotations": {"lastModified": time}});
    let none = json!({"uri": "a:b", "name": "n", "annotations": {}});
    let good = ["2025-01-12T15:00:58Z", "2024-02-29T00:00:00.123+05:30", "2000-02-29T23:59:59-23:59"];
    let bad = [
        "2025-01-12",
        "2025-01-12T15:00:58",
        "2025-01-12 15:00:58Z",
        "2025-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2025-01-12T15:00Z",
        "2025-01-12T15:00:58+0530",
        "2025-01-12T24:00:00Z",
        "2025-13-01T00:00:00Z",
        "2025-01-12T15:00:58.Z",
        "2025-01-12T15:00:58z",
        "2025-01-12T15:00:58+é:00",
        "",
    ];
    for time in good {
        assert_items(Item::Resource, &[(at(time), Some(at(time)))]);
    }
    for time in bad {
        assert_items(Item::Resource, &[(at(time), Some(none.clone()))]);
    }
}

#[track_caller]
fn assert_result(asked: &str, given: &Value, revision: Revision, expected: &Value) {
    let given = raw(given);
    let found = result(asked, &given, revision).unwrap().unwrap_or_else(|| given.clone());
    assert_eq!(value(&found), *expected, "{asked} {revision:?} {}", given.as_str());
    // What was mended once is fit.
    assert_eq!(result(asked, &found, revision), Ok(None), "{}", found.as_str());
}

/// A row: the block, and what it becomes; the newest legacy revision stands for all.
#[test]
fn blocks_of_content() {
    let text = |said: &str| json!({"type": "text", "text": said});
    let rows: Vec<(Value, Value)> = vec![
        (json!("hello"), text("hello")),
        (json!(5), text("5")),
        (json!({"type": "text"}), text("")),
        (json!({"type": "text", "text": null}), text("")),
        (json!({"type": "text", "text": 5}), text("5")),
        (json!({"type": "text", "text": {"a": 1}}), text(r#"{"a":1}"#)),
        (json!({"type": "text", "text": "x", "annotations": null, "_meta": []}), text("x")),
        (
            json!({"type": "text", "text": "x", "annotations": {"priority": 7}}),
            json!({"type": "text", "text": "x", "annotations": {}}),
        ),
        (json!({"text": "x"}), text("x")),
        (json!({"type": "json", "json": {"a": 1}}), text(r#"{"type":"json","json":{"a":1}}"#)),
        (json!({"type": "image", "mimeType": "image/png"}), text("[image that cannot be shown: it has no data]")),
        (
            json!({"type": "image", "data": "%%", "mimeType": "image/png"}),
            text("[image that cannot be shown: its data is not base64]"),
        ),
        (
            json!({"type": "image", "data": "data:image/png;base64,AAAA"}),
            json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
        ),
        (
            json!({"type": "image", "data": "iVBORw0KGgoA"}),
            json!({"type": "image", "data": "iVBORw0KGgoA", "mimeType": "image/png"}),
        ),
        (json!({"type": "audio", "data": "AAAA"}), text("[audio that cannot be shown: it does not say what it is]")),
        (json!({"type": "resource", "resource": {"text": "x"}}), text("x")),
        (json!({"type": "resource", "resource": null}), text(r#"{"type":"resource","resource":null}"#)),
        (
            json!({"type": "resource", "resource": {"uri": "a:b", "text": "x", "mimeType": null}}),
            json!({"type": "resource", "resource": {"uri": "a:b", "text": "x"}}),
        ),
        (json!({"type": "resource_link", "uri": "a:b"}), json!({"type": "resource_link", "uri": "a:b", "name": "a:b"})),
        (json!({"type": "resource_link", "name": "x"}), text(r#"{"type":"resource_link","name":"x"}"#)),
    ];
    for (given, expected) in rows {
        let (given, expected) = (json!({"content": [given]}), json!({"content": [expected]}));
        assert_result(method::TOOLS_CALL, &given, Revision::V2025_11_25, &expected);
        let message = |content: &Value| json!({"messages": [{"role": "user", "content": content["content"][0]}]});
        assert_result(method::PROMPTS_GET, &message(&given), Revision::V2025_11_25, &message(&expected));
    }
}

#[test]
fn good_blocks_keep_their_bytes_where_the_revision_knows_them() {
    let rows = [
        (r#"{"type":"text","text":"\u00e9 \" x","x":1}"#, Revision::V2024_11_05),
        (r#"{"type":"text","text":"","annotations":{"audience":["user"]},"_meta":{"a":1}}"#, Revision::V2024_11_05),
        (r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#, Revision::V2024_11_05),
        (r#"{"type":"image","data":"AA\nAA","mimeType":"image/png"}"#, Revision::V2024_11_05),
        (r#"{"type":"resource","resource":{"uri":"a:b","blob":"AA"}}"#, Revision::V2024_11_05),
        (r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#, Revision::V2025_03_26),
        (r#"{"type":"resource_link","uri":"a:b","name":"n","size":5}"#, Revision::V2025_06_18),
    ];
    for (block, since) in rows {
        for revision in Revision::ALL {
            let kind = if revision.era() == Era::Modern { r#","resultType":"complete""# } else { "" };
            let text = format!(r#"{{"content":[{block}],"isError":false,"x":[1 , 2]{kind}}}"#);
            let given = Raw::parse(text, &Limits::default()).expect("valid JSON");
            let changed = result(method::TOOLS_CALL, &given, revision);
            assert_eq!(changed.unwrap().is_some(), revision < since, "{revision:?} {block}");
        }
    }
}

#[test]
fn kinds_of_content_that_a_revision_does_not_know() {
    let audio = json!({"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav", "_meta": {"a": 1}}]});
    let embedded = json!({"type": "resource", "_meta": {"a": 1},
        "resource": {"uri": "attachment:audio", "mimeType": "audio/wav", "blob": "AAAA"}});
    assert_result(method::TOOLS_CALL, &audio, Revision::V2024_11_05, &json!({"content": [embedded]}));
    let link =
        json!({"content": [{"type": "resource_link", "uri": "a:b", "name": "n", "title": "T", "description": "d"}]});
    let said = json!({"content": [{"type": "text", "text": "T: a:b\nd"}]});
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        assert_result(method::TOOLS_CALL, &link, revision, &said);
    }
}

/// All pairs of revisions: what a server of the one answers, as a client of the other has it.
#[test]
fn results_between_all_revisions() {
    for server in Revision::ALL {
        for client in Revision::ALL {
            let modern = server.era() == Era::Modern;
            let structured = if modern { json!([1, 2]) } else { json!({"a": 1}) };
            let mut given = json!({"content": [], "structuredContent": structured});
            if modern {
                given["resultType"] = json!("complete");
                given["_meta"] = json!({"io.modelcontextprotocol/serverInfo": {"name": "s"}, "k": 1});
            }
            let mut expected = given.clone();
            if client.era() == Era::Legacy && modern {
                expected = json!({"content": [{"type": "text", "text": "[1,2]"}], "_meta": {"k": 1}});
            }
            if client.era() == Era::Modern {
                expected["resultType"] = json!("complete");
            }
            assert_result(method::TOOLS_CALL, &given, client, &expected);
        }
    }
}

#[test]
fn other_results() {
    let legacy = Revision::V2025_06_18;
    let rows = [
        (method::TOOLS_CALL, json!({}), json!({"content": []})),
        (method::TOOLS_CALL, json!({"content": null, "isError": null}), json!({"content": []})),
        (method::TOOLS_CALL, json!({"content": "x"}), json!({"content": [{"type": "text", "text": "x"}]})),
        (method::TOOLS_CALL, json!({"content": [], "isError": "true"}), json!({"content": [], "isError": true})),
        (method::TOOLS_CALL, json!({"content": [], "isError": "yes"}), json!({"content": [], "isError": true})),
        (method::TOOLS_CALL, json!({"content": [], "isError": 1}), json!({"content": [], "isError": true})),
        (method::TOOLS_CALL, json!({"content": [], "isError": "timeout"}), json!({"content": [], "isError": true})),
        (method::TOOLS_CALL, json!({"content": [], "isError": ""}), json!({"content": [], "isError": true})),
        (method::TOOLS_CALL, json!({"content": [], "isError": {"code": 5}}), json!({"content": [], "isError": true})),
        (method::TOOLS_CALL, json!({"content": [], "isError": "False"}), json!({"content": []})),
        (method::TOOLS_CALL, json!({"content": [], "isError": 0}), json!({"content": []})),
        (method::TOOLS_CALL, json!({"content": [], "structuredContent": null}), json!({"content": []})),
        (method::TOOLS_CALL, json!({"content": [], "_meta": null}), json!({"content": []})),
        (
            method::TOOLS_CALL,
            json!({"content": [{"type": "text", "text": "two"}], "structuredContent": "two"}),
            json!({"content": [{"type": "text", "text": "two"}]}),
        ),
        (
            method::TOOLS_CALL,
            json!({"content": [], "_meta": {"io.modelcontextprotocol/serverInfo": {}}}),
            json!({"content": []}),
        ),
        (method::TOOLS_CALL, json!({"task": {"taskId": "x"}}), json!({"task": {"taskId": "x"}})),
        (method::TASKS_RESULT, json!({"action": "accept"}), json!({"action": "accept"})),
        (
            method::RESOURCES_READ,
            json!({"contents": [{"uri": "a:b", "text": "x", "mimeType": null}], "ttlMs": 5, "cacheScope": "public", "resultType": "complete"}),
            json!({"contents": [{"uri": "a:b", "text": "x"}]}),
        ),
        (
            method::PROMPTS_GET,
            json!({"description": null, "messages": [{"role": "system", "content": "x"}]}),
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]}),
        ),
        (
            method::PROMPTS_GET,
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}),
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "a"}},
                {"role": "user", "content": {"type": "text", "text": "b"}}]}),
        ),
        (
            method::PROMPTS_GET,
            json!({"messages": "x"}),
            json!({"messages": [{"content": {"type": "text", "text": "x"}, "role": "user"}]}),
        ),
        (
            method::PROMPTS_GET,
            json!({"messages": {"role": "assistant", "content": null}}),
            json!({"messages": [{"role": "assistant", "content": {"type": "text", "text": ""}}]}),
        ),
        (
            method::RESOURCES_READ,
            json!({"contents": {"uri": "a:b", "text": {"x": 1}}}),
            json!({"contents": [{"uri": "a:b", "text": "{\"x\":1}"}]}),
        ),
        (
            method::COMPLETE,
            json!({"completion": {"values": ["a", 5], "total": null, "hasMore": "no"}}),
            json!({"completion": {"values": ["a"]}}),
        ),
    ];
    for (asked, given, expected) in rows {
        assert_result(asked, &given, legacy, &expected);
    }
    let question = json!({"resultType": "input_required", "inputRequests": {}});
    assert_result(method::TOOLS_CALL, &question, Revision::LATEST, &question);
    assert_result(
        method::TOOLS_CALL,
        &json!({"content": [], "structuredContent": [1], "resultType": "complete"}),
        Revision::LATEST,
        &json!({"content": [], "structuredContent": [1], "resultType": "complete"}),
    );
}

#[test]
fn results_that_nobody_can_read() {
    let rows = [
        (method::TOOLS_CALL, json!(null), "the result is null instead of an object"),
        (method::TOOLS_CALL, json!("done"), "the result is a text instead of an object"),
        (method::TOOLS_CALL, json!([1]), "the result is a list instead of an object"),
        (method::PROMPTS_GET, json!({}), "`messages` is missing"),
        (method::PROMPTS_GET, json!({"messages": null}), "`messages` is missing"),
        (method::PROMPTS_GET, json!({"messages": [7]}), "one of its `messages` is no object, or has a key twice"),
        (method::RESOURCES_READ, json!({}), "`contents` is missing"),
        (
            method::RESOURCES_READ,
            json!({"contents": [{"uri": "a:b"}]}),
            "one of its `contents` has neither `text` nor `blob`",
        ),
        (
            method::RESOURCES_READ,
            json!({"contents": [{"uri": "a:b", "blob": "?"}]}),
            "one of its `contents` has a `blob` that is not base64",
        ),
        (
            method::RESOURCES_READ,
            json!({"contents": [{"text": "x"}]}),
            "one of its `contents` cannot be read: `uri` is missing",
        ),
        (method::COMPLETE, json!({}), "`completion` is missing"),
    ];
    for (asked, given, expected) in rows {
        for revision in [Revision::V2025_06_18, Revision::LATEST] {
            let found = result(asked, &raw(&given), revision);
            assert_eq!(found, Err(Misshapen(expected.to_owned())), "{asked} {given}");
        }
    }
}

#[test]
fn contents_without_an_address_have_the_one_that_was_asked_for() {
    for (given, expected) in [
        (json!([{"text": "x"}]), Some(json!([{"text": "x", "uri": "a:b"}]))),
        (json!([{"uri": null, "blob": "AAAA"}]), Some(json!([{"uri": "a:b", "blob": "AAAA"}]))),
        (json!({"text": "x"}), Some(json!([{"text": "x", "uri": "a:b"}]))),
        (json!("x"), Some(json!([{"text": "x", "uri": "a:b"}]))),
        (json!([{"uri": "c:d", "text": "x"}]), None),
        (json!([7]), None),
    ] {
        let found = addressed(&raw(&json!({"contents": given})), "a:b");
        assert_eq!(found.map(|found| value(&found)["contents"].clone()), expected, "{given}");
    }
}

#[test]
fn questions_for_clients_of_older_revisions() {
    let text = |said: &str| json!({"type": "text", "text": said});
    let messages = |messages: Value| json!({"messages": messages, "maxTokens": 5});
    let audio = json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"});
    let choice =
        |schema: Value| json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"a": schema}}});
    let rows = [
        (
            method::CREATE_MESSAGE,
            messages(json!([{"role": "user", "content": [text("a"), text("b")]}])),
            Revision::V2025_06_18,
            Some(messages(json!([{"role": "user", "content": text("a")}, {"role": "user", "content": text("b")}]))),
        ),
        (
            method::CREATE_MESSAGE,
            messages(json!([{"role": "user", "content": {"type": "tool_use", "id": "x"}}])),
            Revision::V2025_06_18,
            Some(messages(json!([{"role": "user", "content": text(r#"{"type":"tool_use","id":"x"}"#)}]))),
        ),
        (method::CREATE_MESSAGE, messages(json!([{"role": "user", "content": audio}])), Revision::V2025_03_26, None),
        (
            method::CREATE_MESSAGE,
            messages(json!([{"role": "user", "content": audio}])),
            Revision::V2024_11_05,
            Some(messages(json!([{"role": "user", "content": text(&audio.to_string())}]))),
        ),
        (
            method::CREATE_MESSAGE,
            messages(json!([{"role": "user", "content": [text("a")]}])),
            Revision::V2025_11_25,
            None,
        ),
        (
            method::CREATE_MESSAGE,
            messages(json!([{"role": "user", "content": text("a")}])),
            Revision::V2024_11_05,
            None,
        ),
        (
            method::ELICIT,
            choice(json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b"}]})),
            Revision::V2025_06_18,
            Some(choice(json!({"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "b"]}))),
        ),
        (method::ELICIT, choice(json!({"type": "string", "enum": ["r"]})), Revision::V2025_06_18, None),
        (method::ELICIT, choice(json!({"oneOf": [{"const": "r"}]})), Revision::V2026_07_28, None),
        (method::ROOTS_LIST, json!({}), Revision::V2024_11_05, None),
    ];
    for (asked, given, revision, expected) in rows {
        let found = question(asked, &raw(&given), revision).map(|raw| value(&raw));
        assert_eq!(found, expected, "{asked} {revision:?} {given}");
    }
}
