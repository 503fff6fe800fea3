//! What is read and written again is the same, with members at every level that no view knows.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use switchboard_protocol::mcp::*;
use switchboard_wire::{Limits, Raw};

fn through<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, serde_json::Error> {
    let raw = Raw::parse(value.to_string(), &Limits::default()).expect("a value has JSON text");
    // The way of a message (from text), and the way of a part that was a value already.
    let from_text: T = raw.view()?;
    let from_value: T = serde_json::from_value(value.clone())?;
    assert_eq!(serde_json::to_value(&from_value)?, serde_json::to_value(&from_text)?);
    serde_json::from_slice(Raw::from_value(&from_text)?.as_bytes())
}

/// Adds a member to every object, but not to maps whose keys the peer chooses and whose values have a shape.
fn inject(value: &mut Value, key: &str) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| inject(element, "")),
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                inject(member, key);
            }
            if key != "inputRequests" {
                members.insert("x-unknown/1".to_owned(), json!({ "deep": [1, 2.5, null, "é"] }));
            }
        }
        _ => {}
    }
}

fn check<T: DeserializeOwned + Serialize>(name: &str, text: &str) {
    let mut value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error} in {text}"));
    for round in ["plain", "with unknown members"] {
        let back = through::<T>(&value).unwrap_or_else(|error| panic!("{name}, {round}: {error} in {value}"));
        assert_eq!(back, value, "{name}, {round}");
        inject(&mut value, "");
    }
}

macro_rules! examples {
    ($test:ident: $($view:ty => $text:expr;)*) => {
        #[test]
        fn $test() {
            $(check::<$view>(stringify!($view), $text);)*
        }
    };
}

examples! { lifecycle:
    InitializeParams => r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{},"resources":{},"prompts":{}},
        "clientInfo":{"name":"my-client","version":"1.0.0"}}"#;
    InitializeParams => r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},
        "sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},
        "tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}},
        "experimental":{"mcpl":{"version":"0.4"}},"extensions":{"dev.cloto/mgp":{"version":"0.3.0"}},"mgp":{"version":"0.3.0"}},
        "clientInfo":{"name":"c","title":"C","version":"1","description":"d","websiteUrl":"https://example.com",
        "icons":[{"src":"data:image/png;base64,AA==","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"}]},
        "_meta":{"progressToken":9007199254740993,"traceparent":"00-1-2-01"}}"#;
    InitializeResult => r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},
        "resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"completions":{},
        "tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"s","version":"1"},"instructions":"Be brief.",
        "_meta":{"a/b":1}}"#;
    DiscoverResult => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},
        "instructions":"x","resultType":"complete","ttlMs":60000,"cacheScope":"public",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
    RequestParams => r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{}},
        "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
        "io.modelcontextprotocol/logLevel":"warning","progressToken":"p-1"}}"#;
    ClientCapabilities => r#"{"extensions":["streaming","idempotency"],"experimental":{"mgp":{}}}"#;
    ServerCapabilities => r#"{"extensions":{"dev.cloto/mgp":{"extensions":["permissions"]}}}"#;
    EmptyResult => "{}";
}

examples! { tools:
    ListToolsResult => r#"{"tools":[{"name":"search_files","description":"Finds files","inputSchema":{"type":"object",
        "properties":{"pattern":{"type":"string"},"directory":{"type":"string","default":"."}},"required":["pattern"]}}]}"#;
    ListToolsResult => r#"{"resultType":"complete","tools":[],"nextCursor":"c2","ttlMs":0,"cacheScope":"private"}"#;
    Tool => r#"{"name":"t","title":"T","description":"d","inputSchema":{"$schema":"x","type":"object","additionalProperties":false},
        "outputSchema":{"type":"object","properties":{"n":{"type":"number"}}},
        "annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},
        "icons":[{"src":"https://example.com/i.png"}],"execution":{"taskSupport":"optional"},
        "_meta":{"dev.cloto/mgp":{"security":{"risk_level":"safe"}}},"security":{"risk_level":"dangerous"}}"#;
    CallToolParams => r#"{"name":"search_files","arguments":{"pattern":"*.py","directory":"/src"}}"#;
    CallToolParams => r#"{"name":"secure_operation"}"#;
    CallToolParams => r#"{"name":"t","arguments":{"n":1e3},"task":{"ttl":60000},"idempotency_key":"k","_mgp":{"stream":true}}"#;
    CallToolParams => r#"{"name":"t","arguments":{},"inputResponses":{"a":{"action":"accept","content":{"x":1}},"b":{"roots":[]}},
        "requestState":"opaque==","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    CallToolResult => r#"{"content":[{"type":"text","text":"Found 3 files:\n- main.py"}],"isError":false}"#;
    CallToolResult => r#"{"content":[],"structuredContent":{"a":[1,2]},"resultType":"complete","_meta":{"k":1}}"#;
    CallToolResult => r#"{"content":[],"structuredContent":null}"#;
    CallToolResult => r#"{"content":[],"structuredContent":[1,"two"],"isError":true,"error":{"code":"X"}}"#;
}

examples! { content:
    ContentBlock => r#"{"type":"text","text":"Some text content"}"#;
    ContentBlock => r#"{"text":"x","type":"text","annotations":{"audience":["user","assistant"],"priority":1,"lastModified":"2025-01-12T15:00:58Z"},"_meta":{"a":1}}"#;
    ContentBlock => r#"{"type":"image","data":"aGk=","mimeType":"image/png","annotations":{"priority":0.5}}"#;
    ContentBlock => r#"{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#;
    ContentBlock => r#"{"type":"resource","resource":{"uri":"file:///path/to/file.txt","text":"File contents...","mimeType":"text/plain"}}"#;
    ContentBlock => r#"{"type":"resource","resource":{"uri":"file:///a","blob":"aGk=","_meta":{}},"annotations":{}}"#;
    ContentBlock => r#"{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":12}"#;
    ContentBlock => r#"{"type":"tool_use","id":"u1","name":"t","input":{"a":1}}"#;
    ContentBlock => r#"{"type":"tool_result","toolUseId":"u1","content":[{"type":"text","text":"x"}],"structuredContent":{"n":1},"isError":false}"#;
    ContentBlock => r#"{"type":"hologram","points":[[1,2,3]]}"#;
}

examples! { resources_and_prompts:
    ListResourcesResult => r#"{"resources":[{"uri":"file:///config/app.json","name":"Application Config","description":"d","mimeType":"application/json",
        "size":0,"annotations":{"audience":["assistant"]},"icons":[]}],"nextCursor":""}"#;
    ListResourceTemplatesResult => r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files","title":"F","mimeType":"text/plain"}],
        "resultType":"complete","ttlMs":5,"cacheScope":"public"}"#;
    ReadResourceParams => r#"{"uri":"file:///config/app.json"}"#;
    ReadResourceParams => r#"{"uri":"u:x","inputResponses":{"k":{"action":"decline"}},"requestState":"s"}"#;
    ReadResourceResult => r#"{"contents":[{"uri":"file:///config/app.json","mimeType":"application/json","text":"{\"debug\": true}"}]}"#;
    ReadResourceResult => r#"{"contents":[{"uri":"a:b","blob":"AA=="}],"ttlMs":1,"cacheScope":"private","resultType":"complete"}"#;
    SubscribeParams => r#"{"uri":"file:///a"}"#;
    ResourceUpdatedParams => r#"{"uri":"file:///config/app.json","_meta":{"io.modelcontextprotocol/subscriptionId":7}}"#;
    ListPromptsResult => r#"{"prompts":[{"name":"code_review","description":"Review code","arguments":[
        {"name":"language","description":"Programming language","required":true},{"name":"code","title":"Code","required":false}]}]}"#;
    GetPromptParams => r#"{"name":"code_review","arguments":{"language":"python","code":"def hello():\n    print('Hello')"}}"#;
    GetPromptResult => r#"{"description":"Code review","messages":[{"role":"user","content":{"type":"text","text":"Please review"}},
        {"role":"assistant","content":{"type":"resource_link","uri":"a:b","name":"n"}}]}"#;
    CompleteParams => r#"{"ref":{"type":"ref/prompt","name":"code_review","title":"R"},"argument":{"name":"language","value":"py"}}"#;
    CompleteParams => r#"{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""},"context":{"arguments":{"owner":"me"}}}"#;
    CompleteParams => r#"{"ref":{"type":"ref/tool","name":"t"},"argument":{"name":"a","value":"b"}}"#;
    CompleteResult => r#"{"completion":{"values":["python","pytorch"],"total":10,"hasMore":true},"resultType":"complete"}"#;
}

examples! { from_server_to_client:
    LogMessage => r#"{"level":"error","logger":"database","data":{"error":"lost"}}"#;
    LogMessage => r#"{"level":"emergency","data":null}"#;
    SetLevelParams => r#"{"level":"info"}"#;
    ProgressParams => r#"{"progressToken":"abc","progress":50,"total":100,"message":"Half"}"#;
    ProgressParams => r#"{"progressToken":18446744073709551615,"progress":0.25}"#;
    CancelledParams => r#"{"requestId":"123","reason":"User asked"}"#;
    CancelledParams => r#"{"requestId":-7}"#;
    ListRootsResult => r#"{"roots":[{"uri":"file:///home/me","name":"Home","_meta":{"a":1}}]}"#;
    CreateMessageParams => r#"{"messages":[{"role":"user","content":{"type":"text","text":"Capital of France?"}}],
        "modelPreferences":{"hints":[{"name":"claude"}],"costPriority":0.3,"speedPriority":1,"intelligencePriority":0.8},
        "systemPrompt":"s","includeContext":"thisServer","temperature":0.7,"stopSequences":["\n"],"maxTokens":100,"metadata":{"k":1}}"#;
    CreateMessageParams => r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}],"maxTokens":1,
        "tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"},"task":{}}"#;
    CreateMessageResult => r#"{"role":"assistant","content":{"type":"text","text":"Paris."},"model":"m-1","stopReason":"endTurn"}"#;
    CreateMessageResult => r#"{"role":"assistant","content":[],"model":"m"}"#;
    ElicitParams => r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#;
    ElicitParams => r#"{"mode":"url","message":"Sign in","url":"https://example.com/x","elicitationId":"550e","task":{"ttl":1}}"#;
    ElicitResult => r#"{"action":"accept","content":{"name":"x","n":1,"many":["a"],"yes":true}}"#;
    ElicitResult => r#"{"action":"cancel"}"#;
    ElicitationCompleteParams => r#"{"elicitationId":"550e"}"#;
}

examples! { tasks_and_subscriptions:
    LegacyTask => r#"{"taskId":"t","status":"input_required","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":60000,"pollInterval":5000,"statusMessage":"x"}"#;
    LegacyTask => r#"{"taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":null}"#;
    CreateTaskResult => r#"{"task":{"taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":1},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#;
    ListTasksResult => r#"{"tasks":[],"nextCursor":"n"}"#;
    Task => r#"{"resultType":"task","taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttlMs":null,"pollIntervalMs":10}"#;
    Task => r#"{"taskId":"t","status":"completed","createdAt":"a","lastUpdatedAt":"b","ttlMs":1,"result":{"content":[]}}"#;
    Task => r#"{"taskId":"t","status":"failed","createdAt":"a","lastUpdatedAt":"b","ttlMs":1,"error":{"code":-32603,"message":"m"}}"#;
    Task => r#"{"taskId":"t","status":"input_required","createdAt":"a","lastUpdatedAt":"b","ttlMs":1,
        "inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}"#;
    UpdateTaskParams => r#"{"taskId":"t","inputResponses":{"q":{"action":"accept"}}}"#;
    TaskIdParams => r#"{"taskId":"t"}"#;
    InputRequiredResult => r#"{"resultType":"input_required","inputRequests":{
        "login":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com"}},
        "model":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}},"roots":{"method":"roots/list"}},"requestState":"eyJ"}"#;
    InputRequiredResult => r#"{"resultType":"input_required","requestState":"later"}"#;
    ListenParams => r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourcesListChanged":true,
        "resourceSubscriptions":["file:///a"],"taskIds":["t"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    SubscriptionsAcknowledgedParams => r#"{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}"#;
    ListenResult => r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#;
    PaginatedParams => r#"{"cursor":"c"}"#;
}

#[test]
fn raw_parts_keep_their_bytes() {
    let text = r#"{"name":"t","inputSchema":{ "type" : "object", "n": 1.10, "big": 9007199254740993 }}"#;
    let tool: Tool = Raw::parse(text, &Limits::default()).expect("valid").view().expect("a tool");
    let written = Raw::from_value(&tool).expect("a tool has JSON text");
    assert_eq!(written.as_str(), text);
}
