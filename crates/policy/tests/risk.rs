//! How dangerous tools are, and what is asked of them.

use switchboard_policy::permission::name;
use switchboard_policy::risk::fallback::{RiskClass, classify};
use switchboard_policy::risk::{
    Assessment, ConfirmReason, Effect, OperatorWord, assess, assess_content, assess_template,
};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, TrustLevel, ValidatorName};
use switchboard_wire::{Limits, Raw};

const NOTHING: OperatorWord = OperatorWord { risk: None, validator: None, confirm: None };

fn said(definition: &str) -> ToolSecurity {
    ToolSecurity::of(&Raw::parse(definition.to_owned(), &Limits::default()).expect("valid JSON"))
}

fn weigh(definition: &str, name: &str, operator: OperatorWord, trust: TrustLevel) -> Assessment {
    assess(&said(definition), name, &operator, trust, true)
}

/// What a server says of its tools lowers no risk that they have.
#[test]
fn a_tool_is_not_talked_harmless() {
    let hinted = r#","annotations":{"readOnlyHint":true}"#;
    for (name, says, properties, hints) in [
        ("read_file2", "Reads a file, then deletes it", r#""path":{"type":"string"}"#, ""),
        ("preview_email", "Previews an email and sends it", r#""to":{"type":"string"}"#, ""),
        ("count_users", "Counts users; inactive users are deleted", "", hinted),
        ("list_backups", "List backups, removing old ones", "", ""),
        ("get_quote", "Gets a quote and books it", r#""flight":{"type":"string"}"#, hinted),
        ("get_item", "Get an item", r#""id":{},"and_then":{"enum":["keep","purge"]}"#, ""),
        ("sign", "Signs a transaction", r#""tx":{"type":"string"}"#, hinted),
        ("rpc", "RPC", r#""method":{"type":"string"}"#, hinted),
        ("eth_call", "", r#""method":{"type":"string"}"#, hinted),
    ] {
        let definition = format!(
            r#"{{"name":"{name}","description":"{says}","inputSchema":{{"type":"object","properties":{{{properties}}}}}{hints}}}"#
        );
        let found = weigh(&definition, name, NOTHING, TrustLevel::Standard);
        assert_eq!(found.confirm, Some(ConfirmReason::Dangerous), "{name}: {found:?}");
    }
}

#[test]
fn names_of_permissions() {
    for (word, canonical, alias, risk) in [
        ("shell.execute", "shell.execute", false, Risk::Dangerous),
        ("shell", "shell.execute", true, Risk::Dangerous),
        ("network", "network.outbound", true, Risk::Moderate),
        ("filesystem", "filesystem.read", true, Risk::Moderate),
        ("filesystem.write", "filesystem.write", false, Risk::Dangerous),
        ("notification", "notification", false, Risk::Safe),
        ("com.example.custom_permission", "com.example.custom_permission", false, Risk::Moderate),
    ] {
        let known = name::read(word).unwrap();
        assert_eq!((known.canonical.as_ref(), known.alias, name::risk(word)), (canonical, alias, risk), "{word}");
    }
    for word in [
        "",
        "root",
        "Shell.Execute",
        "shell.exec",
        "filesystem.write ",
        "filesystem.*",
        "*",
        "com..x",
        "a.b.c",
        "com.ex ample.x",
        "{\"x\":1}",
    ] {
        assert!(name::read(word).is_err(), "{word}");
        assert_eq!(name::risk(word), Risk::Dangerous, "{word}");
    }
}

#[test]
fn risk_is_the_maximum_of_what_everyone_says() {
    use Risk::{Dangerous, Moderate, Safe};
    use TrustLevel::{Core, Experimental, Standard, Untrusted};
    for (definition, trust, risk, overridden) in [
        (r#"{}"#, Core, Safe, false),
        (r#"{}"#, Standard, Moderate, false),
        (r#"{}"#, Experimental, Dangerous, false),
        (r#"{}"#, Untrusted, Dangerous, false),
        (r#"{"security":{"risk_level":"safe"}}"#, Core, Safe, false),
        (r#"{"security":{"risk_level":"safe"}}"#, Standard, Moderate, true),
        (r#"{"security":{"risk_level":"dangerous"}}"#, Core, Dangerous, false),
        (r#"{"security":{"risk_level":"safe","permissions_required":["shell.execute"]}}"#, Core, Dangerous, true),
        (r#"{"security":{"risk_level":"safe","permissions_required":["shell"]}}"#, Core, Dangerous, true),
        (r#"{"security":{"risk_level":"safe","permissions_required":["root"]}}"#, Core, Dangerous, true),
        (r#"{"security":{"permissions_required":["filesystem.read"]}}"#, Core, Moderate, false),
        (r#"{"security":{"permissions_required":["filesystem.write"]}}"#, Core, Dangerous, false),
        (r#"{"security":{"permissions_required":["memory.read"]}}"#, Core, Safe, false),
        (r#"{"security":{"risk_level":"safe","validator":"sandbox"}}"#, Core, Moderate, true),
        (r#"{"security":{"risk_level":"safe","validator":"none"}}"#, Core, Safe, false),
        (r#"{"risk_level":"reversible"}"#, Core, Moderate, false),
        (r#"{"risk_level":"destructive"}"#, Core, Dangerous, false),
        (r#"{"annotations":{"readOnlyHint":true}}"#, Standard, Moderate, false),
        (r#"{"annotations":{"destructiveHint":true}}"#, Core, Dangerous, false),
        (r#"{"annotations":{"destructiveHint":true}}"#, Standard, Dangerous, false),
    ] {
        let found = weigh(definition, "tool", NOTHING, trust);
        assert_eq!((found.risk, found.overridden), (risk, overridden), "{definition} {trust}");
    }
}

#[test]
fn a_trusted_server_is_believed_about_what_a_name_and_arguments_only_suggest() {
    let definition = r#"{"description":"Starts a dream: replays recent memories.","security":{"risk_level":"moderate"},
        "inputSchema":{"type":"object","properties":{"force":{"type":"boolean"}}}}"#;
    let risk = |name: &str, trust| weigh(definition, name, NOTHING, trust).risk;
    assert_eq!(risk("trigger_dream", TrustLevel::Core), Risk::Moderate);
    assert_eq!(risk("trigger_dream", TrustLevel::Standard), Risk::Dangerous, "of others it is only their word");
    let unsaid = r#"{"inputSchema":{"type":"object","properties":{"force":{"type":"boolean"}}}}"#;
    assert_eq!(weigh(unsaid, "delete_all_records", NOTHING, TrustLevel::Core).risk, Risk::Dangerous, "it names none");
    let shell = r#"{"security":{"risk_level":"safe","permissions_required":["shell.execute"]}}"#;
    assert_eq!(weigh(shell, "look", NOTHING, TrustLevel::Core).risk, Risk::Dangerous, "permissions count all the same");
}

#[test]
fn the_operator_has_the_last_word() {
    let shell =
        r#"{"security":{"risk_level":"dangerous","permissions_required":["shell.execute"],"validator":"sandbox"}}"#;
    let lowered = OperatorWord { risk: Some(Risk::Safe), ..NOTHING };
    let found = weigh(shell, "run_command", lowered, TrustLevel::Untrusted);
    assert_eq!((found.risk, found.overridden, found.confirm), (Risk::Safe, true, None));
    assert_eq!(found.validators, [ValidatorName::Sandbox], "a lower risk takes no check away");

    let unchecked = OperatorWord { validator: Some(ValidatorName::None), ..NOTHING };
    assert_eq!(weigh(shell, "run_command", unchecked, TrustLevel::Core).validators, []);
    let found = weigh("{}", "tool", unchecked, TrustLevel::Core);
    assert_eq!(found.risk, Risk::Dangerous, "no check and no word about the risk");

    let raised = OperatorWord { risk: Some(Risk::Dangerous), ..NOTHING };
    let found = weigh("{}", "tool", raised, TrustLevel::Core);
    assert_eq!((found.risk, found.confirm), (Risk::Dangerous, Some(ConfirmReason::Dangerous)));

    let other = OperatorWord { validator: Some(ValidatorName::Readonly), ..NOTHING };
    assert_eq!(weigh(shell, "run_command", other, TrustLevel::Core).validators, [ValidatorName::Readonly]);
}

#[test]
fn a_server_cannot_lower_its_checks() {
    for (definition, name, mgp, validators) in [
        (r#"{"security":{"validator":"none"}}"#, "execute_command", true, vec![ValidatorName::Sandbox]),
        (r#"{"security":{"validator":"none"}}"#, "execute_command", false, vec![ValidatorName::Sandbox]),
        (
            r#"{"security":{"validator":"none","permissions_required":["shell.execute"]}}"#,
            "x",
            true,
            vec![ValidatorName::Sandbox],
        ),
        (r#"{"security":{"permissions_required":["code_execution"]}}"#, "x", true, vec![ValidatorName::CodeSafety]),
        (
            r#"{"security":{"validator":"readonly"}}"#,
            "bash",
            true,
            vec![ValidatorName::Readonly, ValidatorName::Sandbox],
        ),
        (r#"{"security":{"validator":"readonly"}}"#, "fetch", true, vec![ValidatorName::Readonly]),
        (
            r#"{"security":{"validator":"readonly"}}"#,
            "fetch",
            false,
            vec![ValidatorName::Readonly, ValidatorName::NetworkRestricted],
        ),
        (r#"{}"#, "fetch", true, vec![ValidatorName::NetworkRestricted]),
        (r#"{}"#, "add", true, vec![]),
    ] {
        let found = assess(&said(definition), name, &NOTHING, TrustLevel::Core, mgp);
        assert_eq!(found.validators, validators, "{name} {definition}");
    }
}

#[test]
fn when_a_person_is_asked() {
    use ConfirmReason::{ConfirmationRequired, Cost, Dangerous, DestructiveHint, Operator, RequiresConfirmation};
    use TrustLevel::{Core, Untrusted};
    let word = |risk, confirm| OperatorWord { risk, confirm, ..NOTHING };
    for (definition, operator, trust, confirm) in [
        ("{}", NOTHING, Core, None),
        (r#"{"security":{"risk_level":"dangerous"}}"#, NOTHING, Core, Some(Dangerous)),
        (r#"{"security":{"confirmation_required":true}}"#, NOTHING, Core, Some(ConfirmationRequired)),
        (r#"{"requires_confirmation":true}"#, NOTHING, Core, Some(RequiresConfirmation)),
        (r#"{"_meta":{"requires_confirmation":true}}"#, word(Some(Risk::Safe), None), Core, Some(RequiresConfirmation)),
        (r#"{"cost":{"category":"requires_approval"}}"#, NOTHING, Core, Some(Cost)),
        (r#"{"annotations":{"destructiveHint":true}}"#, NOTHING, TrustLevel::Standard, Some(Dangerous)),
        (
            r#"{"annotations":{"destructiveHint":true}}"#,
            word(Some(Risk::Moderate), None),
            Untrusted,
            Some(DestructiveHint),
        ),
        ("{}", word(None, Some(true)), Core, Some(Operator)),
        (
            r#"{"security":{"risk_level":"dangerous","confirmation_required":true}}"#,
            word(None, Some(false)),
            Core,
            None,
        ),
    ] {
        assert_eq!(weigh(definition, "tool", operator, trust).confirm, confirm, "{definition} {operator:?} {trust}");
    }
}

#[test]
fn what_changes_something() {
    use Effect::{None, Said, Unsaid};
    use TrustLevel::{Standard, Untrusted};
    let safe = OperatorWord { risk: Some(Risk::Safe), ..NOTHING };
    for (definition, name, operator, trust, effect) in [
        ("{}", "tool", NOTHING, Standard, Unsaid),
        ("{}", "tool", NOTHING, Untrusted, Said),
        ("{}", "run_shell", NOTHING, Standard, Said),
        (r#"{"security":{"reversible":false}}"#, "tool", NOTHING, Standard, Said),
        (r#"{"annotations":{"readOnlyHint":false}}"#, "tool", NOTHING, Standard, Said),
        (r#"{"annotations":{"readOnlyHint":true}}"#, "tool", NOTHING, Standard, None),
        (r#"{"annotations":{"readOnlyHint":true}}"#, "tool", NOTHING, Untrusted, Said),
        (r#"{"annotations":{"readOnlyHint":true,"destructiveHint":true}}"#, "tool", NOTHING, Standard, Said),
        (
            r#"{"annotations":{"readOnlyHint":true},"security":{"side_effects":["database"]}}"#,
            "tool",
            NOTHING,
            Standard,
            Said,
        ),
        (r#"{"annotations":{"readOnlyHint":true},"security":{"side_effects":[]}}"#, "tool", NOTHING, Standard, None),
        (
            r#"{"annotations":{"readOnlyHint":true},"security":{"permissions_required":["filesystem.write"]}}"#,
            "tool",
            NOTHING,
            Standard,
            Said,
        ),
        (r#"{"annotations":{"readOnlyHint":true}}"#, "run_shell", NOTHING, Standard, Said),
        (r#"{"annotations":{"readOnlyHint":true}}"#, "fetch", NOTHING, Standard, None),
        (r#"{"security":{"risk_level":"safe"}}"#, "tool", NOTHING, Standard, None),
        (r#"{"security":{"risk_level":"safe"},"annotations":{"readOnlyHint":false}}"#, "tool", NOTHING, Standard, Said),
        (
            r#"{"security":{"risk_level":"moderate"},"annotations":{"readOnlyHint":true}}"#,
            "tool",
            NOTHING,
            Standard,
            Said,
        ),
        ("{}", "tool", safe, Untrusted, None),
        (r#"{"annotations":{"destructiveHint":true}}"#, "tool", safe, Standard, Said),
    ] {
        let found = weigh(definition, name, operator, trust);
        assert_eq!(found.effect, effect, "{name} {definition} {trust}");
    }
}

#[test]
fn reversible_and_scopes_are_passed_on() {
    let found = weigh(r#"{"risk_level":"reversible","required_scopes":["repo"]}"#, "tool", NOTHING, TrustLevel::Core);
    assert_eq!((found.reversible, found.scopes), (Some(true), vec!["repo".to_owned()]));
    let found = weigh(r#"{"annotations":{"destructiveHint":true}}"#, "tool", NOTHING, TrustLevel::Core);
    assert_eq!(found.reversible, Some(false));
    let found =
        weigh(r#"{"security":{"permissions_required":["shell","shell.execute"]}}"#, "bash", NOTHING, TrustLevel::Core);
    assert_eq!(found.permissions, ["shell.execute"], "each once, by its canonical name");
}

/// Tools of well-known servers, with their arguments. Most must not be taken for more than they are.
#[test]
fn well_known_tools() {
    // By their names alone.
    const SAFE: &[&str] = &[
        "read_file:path,head,tail",
        "read_text_file:path",
        "read_media_file:path",
        "read_multiple_files:paths",
        "list_directory:path",
        "list_directory_with_sizes:path,sortBy",
        "directory_tree:path,excludePatterns",
        "search_files:path,pattern",
        "get_file_info:path",
        "list_allowed_directories:",
        "read_graph:",
        "search_nodes:query",
        "echo:message",
        "get-sum:a,b",
        "get-env:",
        "getTinyImage:",
        "getResourceReference:resourceId",
        "structuredContent:location",
        "listRoots:",
        "git_status:repo_path",
        "git_diff_unstaged:repo_path",
        "git_diff:repo_path,target",
        "git_log:repo_path,max_count",
        "git_show:repo_path,revision",
        "get_current_time:timezone",
        "convert_time:source_timezone,time,target_timezone",
        "read_query:query",
        "list_tables:",
        "describe_table:table_name",
        "search_repositories:query",
        "get_file_contents:owner,repo,path",
        "list_commits:owner,repo",
        "search_code:q",
        "get_pull_request_status:owner,repo",
        "get_shell_history_count:",
        "list_commands:",
        "get_command_help:command",
        "count_bash_lines:path",
        "evaluate_expression:expression",
        "find_code:language",
        "check_process:pid",
        "list_tools:command,args",
        "read_process_output:pid",
        "executive_summary:text",
    ];
    const CALM: &[&str] = &[
        "write_file:path,content",
        "edit_file:path,edits,dryRun",
        "create_directory:path",
        "move_file:source,destination",
        "create_entities:entities",
        "create_relations:relations",
        "add_observations:observations",
        "open_nodes:names",
        "add:a,b",
        "longRunningOperation:duration,steps",
        "trigger-long-running-operation:duration,steps",
        "printEnv:",
        "sampleLLM:prompt,maxTokens",
        "trigger-sampling-request:prompt",
        "annotatedMessage:messageType",
        "startElicitation:color",
        "toggle-simulated-logging:",
        "git_commit:repo_path,message",
        "git_add:repo_path,files",
        "git_reset:repo_path",
        "git_checkout:repo_path,branch_name",
        "git_create_branch:repo_path,branch_name,base_branch",
        "git_init:repo_path",
        "write_query:query",
        "create_table:query",
        "append_insight:insight",
        "sequentialthinking:thought,nextThoughtNeeded,thoughtNumber",
        "create_or_update_file:owner,repo,path,content",
        "create_issue:owner,repo,title,body",
        "create_pull_request:owner,repo,title",
        "fork_repository:owner,repo",
        "create_repository:name",
        "puppeteer_screenshot:name,selector",
        "puppeteer_click:selector",
        "puppeteer_fill:selector,value",
        "puppeteer_select:selector,value",
        "puppeteer_hover:selector",
        "shellfish_catalogue:",
        "str_replace_based_edit_tool:command,path",
        "start_timer:seconds",
        "send_keys:selector,text",
        "type_text:element,text",
        "str_replace_editor:command,path",
        "script_title:text",
    ];
    const ASKED: &[&str] = &[
        "delete_entities:entityNames",
        "delete_observations:deletions",
        "delete_relations:relations",
        "push_files:owner,repo,branch,files",
        "merge_pull_request:owner,repo",
        "run_workflow:owner,repo,workflow_id",
        "kill_process:pid",
        "send_message:text,channel",
    ];
    let mut wrong = Vec::new();
    let lists = [(SAFE, Risk::Safe), (CALM, Risk::Moderate), (ASKED, Risk::Dangerous)];
    for (tool, risk) in lists.iter().flat_map(|(list, risk)| list.iter().map(move |tool| (tool, *risk))) {
        let (name, arguments) = tool.split_once(':').unwrap();
        let arguments: Vec<String> = arguments.split(',').map(str::to_owned).collect();
        assert_eq!(classify(name, &arguments), None, "{tool}");
        let found = assess(
            &ToolSecurity { properties: arguments, ..ToolSecurity::default() },
            name,
            &NOTHING,
            TrustLevel::Standard,
            false,
        );
        let confirm = (risk == Risk::Dangerous).then_some(ConfirmReason::Dangerous);
        if (found.risk, found.confirm, found.validators) != (risk, confirm, vec![]) {
            wrong.push(format!("{tool} is {}: {}", found.risk.as_str(), found.reason));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (tool, class) in [
        ("execute_command:command", RiskClass::Shell),
        ("run_shell:script", RiskClass::Shell),
        ("bash:command", RiskClass::Shell),
        ("shell:", RiskClass::Shell),
        ("terminal:", RiskClass::Shell),
        ("exec:args", RiskClass::Shell),
        ("exec_argv:argv", RiskClass::Shell),
        ("run_command:cmd", RiskClass::Shell),
        ("runCommand:", RiskClass::Shell),
        ("run-shell-command:", RiskClass::Shell),
        ("terminal.execute:", RiskClass::Shell),
        ("start_process:command,timeout_ms", RiskClass::Shell),
        ("write_to_terminal:command", RiskClass::Shell),
        ("bash_tool:", RiskClass::Shell),
        ("do_it:commandLine", RiskClass::Shell),
        ("RunInTerminal:", RiskClass::Shell),
        ("ExecuteCmd:", RiskClass::Shell),
        ("run:command", RiskClass::Shell),
        ("exec_in_container:command", RiskClass::Shell),
        ("call_aws:cli_command", RiskClass::Shell),
        ("kubectl:command,args", RiskClass::Shell),
        ("helper:cmd,arguments", RiskClass::Shell),
        ("interact_with_process:pid,input,timeout_ms", RiskClass::Shell),
        ("send_keys:pane,keys", RiskClass::Shell),
        ("tmux_send_keys:target,keys", RiskClass::Shell),
        ("sendInput:process_id,text", RiskClass::Shell),
        ("write_to_terminal:text", RiskClass::Shell),
        ("helper:python_code", RiskClass::Code),
        ("run_python:code", RiskClass::Code),
        ("eval:expression", RiskClass::Code),
        ("execute_code:code,language", RiskClass::Code),
        ("create_mcp_server:name,code", RiskClass::Code),
        ("run_js:", RiskClass::Code),
        ("python_repl:input", RiskClass::Code),
        ("puppeteer_evaluate:script", RiskClass::Code),
        ("browser_evaluate:function", RiskClass::Code),
        ("run_script:path", RiskClass::Code),
        ("sandbox:code,language", RiskClass::Code),
        ("executeCode:", RiskClass::Code),
        ("code_interpreter:input", RiskClass::Code),
        ("fetch:url,max_length", RiskClass::Network),
        ("http_request:method", RiskClass::Network),
        ("HTTPRequest:", RiskClass::Network),
        ("puppeteer_navigate:url", RiskClass::Network),
        ("browse:", RiskClass::Network),
        ("download_file:from", RiskClass::Network),
        ("webSearch:url", RiskClass::Network),
        ("open:targetUrl", RiskClass::Network),
    ] {
        let (name, arguments) = tool.split_once(':').unwrap();
        let arguments: Vec<String> = arguments.split(',').map(str::to_owned).collect();
        assert_eq!(classify(name, &arguments), Some(class), "{tool}");
        let found = assess(
            &ToolSecurity { properties: arguments, ..ToolSecurity::default() },
            name,
            &NOTHING,
            TrustLevel::Standard,
            false,
        );
        assert_eq!(found.risk == Risk::Dangerous, class != RiskClass::Network, "{tool}: {}", found.reason);
        assert_eq!(found.validators, vec![class.validator()], "{tool}");
        assert_eq!(found.permissions, [class.permission()], "{tool}");
    }
}

#[test]
fn definitions_without_end_are_read_within_bounds() {
    let long = "run_".repeat(50_000);
    let properties: Vec<String> =
        (0..3_000).map(|at| format!("\"k{at}\":{{\"description\":\"{}\"}}", "command to run ".repeat(40))).collect();
    let deep = format!("{}{}", "{\"items\":".repeat(100), "}".repeat(100)).replace(":}", ":{}}");
    let definition = format!(
        "{{\"name\":\"{long}\",\"description\":\"{}\",\"inputSchema\":{{\"properties\":{{{},\"deep\":{deep}}}}}}}",
        "Deletes. ".repeat(12_000),
        properties.join(",")
    );
    let found = assess(&said(&definition), &long, &NOTHING, TrustLevel::Standard, false);
    assert_eq!(found.risk, Risk::Dangerous, "{}", found.reason);
}

/// Prompts and templates are weighed by their names and by what they are given, as tools are.
#[test]
fn prompts_and_templates_are_weighed_as_tools_are() {
    let declared = |argument: &str| ToolSecurity { properties: vec![argument.to_owned()], ..ToolSecurity::default() };
    let operator = OperatorWord::default();
    let asks = |name: &str, argument: &str| {
        let prompt = assess_content(&declared(argument), name, None, &operator, TrustLevel::Standard, false).confirm;
        let template = assess_template(&declared(argument), name, None, TrustLevel::Standard, false).confirm;
        (prompt.is_some(), template.is_some())
    };
    for (name, argument) in [
        ("delete_item", "id"),
        ("send_payment", "amount"),
        ("send_email", "to"),
        ("execute_sql", "sql"),
        ("shutdown_server", "name"),
        ("kill_process", "pid"),
        ("run_command", "command"),
    ] {
        assert_eq!(asks(name, argument), (true, true), "{name}");
    }
    for (name, argument) in [
        ("code_review", "code_style"),
        ("summarize", "text"),
        ("explain", "topic"),
        ("greeting", "name"),
        ("translate", "language"),
        ("commit_message", "changes"),
        ("issue", "id"),
        ("user_profile", "user_id"),
        ("page", "title"),
        ("release_notes", "version"),
        ("order", "id"),
        ("email", "message_id"),
        ("rollback_plan", "service"),
        ("deploy_checklist", "service"),
    ] {
        assert_eq!(asks(name, argument), (false, false), "{name}");
    }
    // A sentence counts for more than a name that may be a noun.
    let described = |name: &str, text: &str| {
        let said = ToolSecurity { subject: format!("{name}\n\n{text}"), ..declared("x") };
        assess_content(&said, name, None, &operator, TrustLevel::Standard, false).confirm.is_some()
    };
    for (name, text) in [
        ("deploy", "Deploys the service to production"),
        ("wipe", "Deletes all data of the account"),
        ("transfer", "Transfers money to an account"),
        ("delete_list", "Deletes a list"),
        ("send_report", "Sends the report to a person"),
        ("helper", "Deletes all files of the user"),
        ("run_workflow", "Runs a workflow"),
        ("apply_plan", "Applies a terraform plan"),
        ("purge", ""),
        ("destroy_example", ""),
        ("release", "Releases the package to the registry"),
        ("email", "Email a message to a customer"),
        ("order", "Orders a pizza"),
        ("delete_object", "Delete object from a bucket"),
        ("delete_item", "Delete details of a customer"),
        ("transfer_money", "Transfer from one account to another"),
        ("charge_card", "Charge by card"),
        ("email_details", "Email details to the customer"),
        ("newsletter", "Write a newsletter and send it to subscribers"),
    ] {
        assert!(described(name, text), "{name}");
    }
    for (name, text) in [
        ("blog_post", "Drafts a post for the blog"),
        ("deleted_items", "Lists deleted items"),
        ("order_items", "Shows the items of an order"),
        ("message", "An email"),
        ("trades", "Trades of a symbol"),
        ("email", "Email by ID"),
        ("order", "Order details"),
        ("order", "An order by its number"),
        ("messages", "Messages of a channel"),
        ("release", "Release of a repository"),
        ("share", "Share price"),
        ("transfer", "Transfer by hash"),
        ("release_notes", "Write release notes for a version"),
        ("post_mortem", "Write a post mortem"),
        ("incident", "Write a post mortem of an incident"),
    ] {
        assert!(!described(name, text), "{name}");
    }
}
#[test]
fn a_hint_that_nothing_is_changed_yields_to_a_deed_in_name_and_description() {
    let risk = |name: &str, says: &str| {
        let definition = format!(
            r#"{{"name":"{name}","description":"{says}","inputSchema":{{"properties":{{"id":{{}}}}}},"annotations":{{"readOnlyHint":true}}}}"#
        );
        weigh(&definition, name, OperatorWord::default(), TrustLevel::Standard).risk
    };
    for (name, says) in [
        ("set_brightness", "Sets the brightness"),
        ("set_value", ""),
        ("commit", "Records changes"),
        ("archive_card", "Archives a card"),
        ("close_ticket", "Close a ticket"),
        ("refresh_cache", "Refreshes the cache"),
        ("gather_people", "Looks for people that are alike and merges them"),
    ] {
        assert_eq!(risk(name, says), Risk::Moderate, "{name}");
    }
    for (name, says) in [
        ("order_book", "Order book of a symbol"),
        ("open_orders", "Lists orders that are open"),
        ("closing_prices", "Prices of a stock"),
        ("set_theory_help", "Explains set theory"),
        ("cell_values", "Values of cells"),
    ] {
        assert_eq!(risk(name, says), Risk::Safe, "{name}");
    }
    // What is lost is told by the whole sentence.
    assert_eq!(risk("checkout_file", "Checks out a file, and local changes are lost"), Risk::Dangerous);
    assert_eq!(risk("checkout", "Check out the shopping cart"), Risk::Dangerous);
}

/// A name that is one verb in doubt says too little to let it pass.
#[test]
fn a_bare_verb_in_doubt_is_asked_about() {
    let weigh = |name: &str, description: &str| {
        let definition = format!(
            "{{\"name\":\"{name}\",\"description\":\"{description}\",\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\"x\":{{\"type\":\"string\"}}}}}}}}"
        );
        weigh(&definition, name, NOTHING, TrustLevel::Standard).risk
    };
    for (name, description) in [
        ("push", "Pushes"),
        ("cancel", "Cancels"),
        ("void", "Voids"),
        ("restore", "Restores"),
        ("submit", "Submits"),
        ("stop", "Stops"),
        ("reset", "Resets it"),
        ("revert", "Reverts"),
        ("install", "Installs"),
        ("merge", "Merges two"),
        ("drain", "Drains"),
        ("retry", "Retries"),
        ("pause", ""),
        ("import", "Imports"),
        ("clear", "Clears everything"),
    ] {
        assert_eq!(weigh(name, description), Risk::Dangerous, "{name}");
    }
    for (name, description) in [
        ("stop", "Stops the recording"),
        ("pause", "Pauses playback"),
        ("reset", "Resets the timer"),
        ("clear", "Clears the selection"),
        ("restore", "Restores the tab"),
        ("cancel", "Cancels the reminder"),
        ("undo", "Undo the last edit"),
        ("import", "Imports slides"),
        ("submit", "Submits a draft"),
        ("push", "Pushes a note onto the list of notes"),
        ("schedule", "Shows the schedule of trains"),
        ("add", "Adds two numbers"),
        ("echo", "Echoes"),
        ("open", "Opens a tab"),
        ("search", "Searches"),
    ] {
        assert_ne!(weigh(name, description), Risk::Dangerous, "{name}: {description}");
    }
}
