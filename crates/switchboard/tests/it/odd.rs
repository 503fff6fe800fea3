//! Servers whose lists and results are odd, through the real binary: names in both forms, halves of characters, line breaks.

use serde_json::json;

use crate::support::{Home, server};

/// A server in a few lines of shell that lists these tools and answers each call with this result.
fn scripted(home: &Home, tools: &str, result: &str) -> String {
    home.write("server/tools.json", tools);
    home.write("server/result.json", result);
    let script = r#"while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
    *'"tools/list"'*) result=$(cat "$1/tools.json");;
    *'"tools/call"'*) result=$(cat "$1/result.json");;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"; continue;;
    *) continue;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;
    home.write("server/run.sh", script);
    let (run, folder) = (home.path("server/run.sh"), home.path("server"));
    format!("[[servers]]\nid = \"one\"\ncommand = \"/bin/sh\"\nargs = [{run:?}, {folder:?}]\n")
}

#[test]
fn a_tool_is_called_by_its_long_name_where_one_server_stands_alone() {
    let home = Home::new();
    home.configure(&server("only", &[]));
    assert_eq!(home.run(&["call", "echo", "text=x"]).ok(), "x\n");
    assert_eq!(home.run(&["call", "only__echo", "text=x"]).ok(), "x\n");
    assert!(home.run(&["call", "other__echo", "text=x"]).err(1).contains("did you mean echo?"));
    let mut peer = home.connect();
    assert_eq!(peer.call("only__echo", &json!({"text": "x"})), Ok("x".to_owned()));
}

#[test]
fn half_a_character_costs_neither_the_tools_nor_the_answer() {
    let home = Home::new();
    let tools = r#"{"tools":[{"name":"cut","description":"ends early \ud83d","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}"#;
    home.configure(&scripted(&home, tools, r#"{"content":[{"type":"text","text":"a\ud83d b"}]}"#));
    let mut peer = home.connect();
    assert_eq!(peer.tools(), ["cut", "other"]);
    assert_eq!(peer.call("cut", &json!({})), Ok("a\u{fffd} b".to_owned()));
    // A client may cut its texts as well.
    let line = r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"cut","arguments":{"x":"\ude00"}}}"#;
    peer.send_line(line);
    assert_eq!(peer.answer_to(77)["result"]["content"][0]["text"], "a\u{fffd} b");
}

#[test]
fn doctor_prints_names_of_servers_on_one_line_and_what_is_mended() {
    let home = Home::new();
    let tools = r##"{"tools":[{"name":"two\nok      server \"one\": all is well","inputSchema":{"type":"object"}},
        {"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}},
        {"name":"broken","inputSchema":{"type":"object"},"outputSchema":{"$ref":"#/$defs/none"}}]}"##
        .replace('\n', " ");
    home.configure(&scripted(&home, &tools, "{}"));
    let said = home.run(&["doctor"]).stdout;
    assert!(!said.contains("\nok      server \"one\": all is well"), "{said}");
    assert!(said.contains("`two ok server \"one\": all is well` is not shown to clients"), "{said}");
    assert!(said.contains("`list` is shown to legacy clients in another form: `outputSchema` is not that"), "{said}");
    assert!(said.contains("`broken` is shown with mended members, tell its author: `outputSchema` cannot"), "{said}");
}
