//! How dangerous tools are, and what is asked of them.

use switchboard_guard::permission::name;
use switchboard_guard::risk::fallback::{Class, classify};
use switchboard_guard::risk::{Assessment, ConfirmReason, Effect, OperatorWord, assess};
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
        (r#"{"annotations":{"destructiveHint":true}}"#, Core, Moderate, false),
    ] {
        let found = weigh(definition, "tool", NOTHING, trust);
        assert_eq!((found.risk, found.overridden), (risk, overridden), "{definition} {trust}");
    }
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
        (r#"{"annotations":{"destructiveHint":true}}"#, NOTHING, TrustLevel::Standard, None),
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
    const CALM: &[&str] = &[
        // filesystem
        "read_file:path,head,tail",
        "read_text_file:path",
        "read_media_file:path",
        "read_multiple_files:paths",
        "write_file:path,content",
        "edit_file:path,edits,dryRun",
        "create_directory:path",
        "list_directory:path",
        "list_directory_with_sizes:path,sortBy",
        "directory_tree:path,excludePatterns",
        "move_file:source,destination",
        "search_files:path,pattern",
        "get_file_info:path",
        "list_allowed_directories:",
        // memory
        "create_entities:entities",
        "create_relations:relations",
        "add_observations:observations",
        "delete_entities:entityNames",
        "delete_observations:deletions",
        "delete_relations:relations",
        "read_graph:",
        "search_nodes:query",
        "open_nodes:names",
        // everything
        "echo:message",
        "add:a,b",
        "get-sum:a,b",
        "longRunningOperation:duration,steps",
        "trigger-long-running-operation:duration,steps",
        "printEnv:",
        "get-env:",
        "sampleLLM:prompt,maxTokens",
        "trigger-sampling-request:prompt",
        "getTinyImage:",
        "annotatedMessage:messageType",
        "startElicitation:color",
        "getResourceReference:resourceId",
        "structuredContent:location",
        "toggle-simulated-logging:",
        "listRoots:",
        // git
        "git_status:repo_path",
        "git_diff_unstaged:repo_path",
        "git_diff:repo_path,target",
        "git_commit:repo_path,message",
        "git_add:repo_path,files",
        "git_reset:repo_path",
        "git_log:repo_path,max_count",
        "git_checkout:repo_path,branch_name",
        "git_create_branch:repo_path,branch_name,base_branch",
        "git_show:repo_path,revision",
        "git_init:repo_path",
        // time, sqlite, sequential thinking
        "get_current_time:timezone",
        "convert_time:source_timezone,time,target_timezone",
        "read_query:query",
        "write_query:query",
        "create_table:query",
        "list_tables:",
        "describe_table:table_name",
        "append_insight:insight",
        "sequentialthinking:thought,nextThoughtNeeded,thoughtNumber",
        // github
        "create_or_update_file:owner,repo,path,content",
        "search_repositories:query",
        "get_file_contents:owner,repo,path",
        "push_files:owner,repo,branch,files",
        "create_issue:owner,repo,title,body",
        "create_pull_request:owner,repo,title",
        "fork_repository:owner,repo",
        "list_commits:owner,repo",
        "search_code:q",
        "merge_pull_request:owner,repo",
        "get_pull_request_status:owner,repo",
        "run_workflow:owner,repo,workflow_id",
        "create_repository:name",
        // puppeteer
        "puppeteer_screenshot:name,selector",
        "puppeteer_click:selector",
        "puppeteer_fill:selector,value",
        "puppeteer_select:selector,value",
        "puppeteer_hover:selector",
        // words that mislead
        "get_shell_history_count:",
        "list_commands:",
        "shellfish_catalogue:",
        "get_command_help:command",
        "str_replace_based_edit_tool:command,path",
        "count_bash_lines:path",
        "evaluate_expression:expression",
        "find_code:language",
        "start_timer:seconds",
        "check_process:pid",
        "send_keys:selector,text",
        "type_text:element,text",
        "str_replace_editor:command,path",
        "list_tools:command,args",
        "kill_process:pid",
        "read_process_output:pid",
        "send_message:text,channel",
        "executive_summary:text",
        "script_title:text",
    ];
    for tool in CALM {
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
        assert_eq!((found.risk, found.confirm, found.validators), (Risk::Moderate, None, vec![]), "{tool}");
    }
    for (tool, class) in [
        ("execute_command:command", Class::Shell),
        ("run_shell:script", Class::Shell),
        ("bash:command", Class::Shell),
        ("shell:", Class::Shell),
        ("terminal:", Class::Shell),
        ("exec:args", Class::Shell),
        ("run_command:cmd", Class::Shell),
        ("runCommand:", Class::Shell),
        ("run-shell-command:", Class::Shell),
        ("terminal.execute:", Class::Shell),
        ("start_process:command,timeout_ms", Class::Shell),
        ("write_to_terminal:command", Class::Shell),
        ("bash_tool:", Class::Shell),
        ("do_it:commandLine", Class::Shell),
        ("RunInTerminal:", Class::Shell),
        ("ExecuteCmd:", Class::Shell),
        ("run:command", Class::Shell),
        ("exec_in_container:command", Class::Shell),
        ("call_aws:cli_command", Class::Shell),
        ("kubectl:command,args", Class::Shell),
        ("helper:cmd,arguments", Class::Shell),
        ("interact_with_process:pid,input,timeout_ms", Class::Shell),
        ("send_keys:pane,keys", Class::Shell),
        ("tmux_send_keys:target,keys", Class::Shell),
        ("sendInput:process_id,text", Class::Shell),
        ("write_to_terminal:text", Class::Shell),
        ("helper:python_code", Class::Code),
        ("run_python:code", Class::Code),
        ("eval:expression", Class::Code),
        ("execute_code:code,language", Class::Code),
        ("create_mcp_server:name,code", Class::Code),
        ("run_js:", Class::Code),
        ("python_repl:input", Class::Code),
        ("puppeteer_evaluate:script", Class::Code),
        ("browser_evaluate:function", Class::Code),
        ("run_script:path", Class::Code),
        ("sandbox:code,language", Class::Code),
        ("executeCode:", Class::Code),
        ("code_interpreter:input", Class::Code),
        ("fetch:url,max_length", Class::Network),
        ("http_request:method", Class::Network),
        ("HTTPRequest:", Class::Network),
        ("puppeteer_navigate:url", Class::Network),
        ("browse:", Class::Network),
        ("download_file:from", Class::Network),
        ("webSearch:url", Class::Network),
        ("open:targetUrl", Class::Network),
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
        let risk = if class == Class::Network { Risk::Moderate } else { Risk::Dangerous };
        assert_eq!((found.risk, found.validators), (risk, vec![class.validator()]), "{tool}");
        assert_eq!(found.permissions, [class.permission()], "{tool}");
    }
}
