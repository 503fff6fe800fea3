//! What arguments carry, whatever they and their tool are called: commands, code, keystrokes, pieces of SQL.

use switchboard_policy::risk::{Assessment, Carried, Carries, OperatorWord, assess, assess_content};
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

/// A definition with arguments that are strings.
fn definition_of(description: &str, arguments: &[&str]) -> String {
    let properties: serde_json::Map<String, serde_json::Value> =
        arguments.iter().map(|&name| (name.to_owned(), serde_json::json!({"type": "string"}))).collect();
    serde_json::json!({"description": description, "inputSchema": {"type": "object", "properties": properties}})
        .to_string()
}

#[test]
fn a_name_that_reads_does_not_hide_a_command() {
    for (name, description, arguments) in [
        ("status", "Executes a command", &["command"][..]),
        ("show_host", "Executes a shell command on the host", &["command"]),
        ("get_ssh_output", "Executes a command over SSH and gets its output", &["host", "command"]),
        ("list_things", "Executes a command", &["cmd"]),
        ("view", "Views the output", &["command"]),
        ("tail_logs", "Tails logs", &["command"]),
        ("query_host", "Queries a host", &["command"]),
        ("show_command", "Runs a show command on a router", &["command"]),
        ("explain_command", "Runs a command and explains its output", &["command"]),
        ("search_logs", "Search the logs", &["shell_command"]),
        ("read_result", "Executes Python code and reads its result", &["code"]),
        ("type_text", "Types text into a terminal session", &["session", "text"]),
        ("remote", "Executes a shell command on the host", &["cmdString"]),
        ("status", "Executes the command on the host", &["remote_command"]),
        ("get_device_info", "Run show commands on device", &["show_command"]),
        ("get_result", "Runs Python code and gets the result", &["source"]),
        ("evaluate_expression", "Evaluate expression in the current debug context", &["sessionId", "expression"]),
        ("remote", "Executes a shell command on the host", &["input"]),
        ("kubectl", "Runs kubectl", &["args"]),
        ("gcloud", "Executes a gcloud command", &["args"]),
        ("kubectl_read", "Run a read-only kubectl command", &["kubectl_command"]),
        ("ansible_adhoc", "Runs an ad hoc module", &["module", "args"]),
        ("get_container_output", "Gets the output of a container", &["exec_command"]),
        ("windows", "Runs PowerShell", &["powershell"]),
        ("analyze_frame", "Analyzes a pandas dataframe with code", &["pandas_code"]),
        ("get_page_data", "Gets data of a page", &["script"]),
        ("jenkins_query", "Queries Jenkins", &["script"]),
        ("read_notebook", "Reads the result of a notebook cell", &["code"]),
        ("check_process_output", "Checks the output of a process", &["pid", "stdin"]),
        ("get_terminal_output", "Gets the output of a terminal", &["terminal_id", "input"]),
        ("schedule_task", "Schedules a task", &["task_command"]),
        ("view_file_ssh", "View file", &["remote_command"]),
        ("get_remote_output", "Get remote output", &["cmdline"]),
        ("get_windows_info", "Gets Windows information", &["ps_script"]),
        ("script_console", "Jenkins script console", &["groovy"]),
        ("calculate", "Calculates an expression with Python", &["expression"]),
        ("inspect_variable", "Inspects a variable in the debugger", &["expression"]),
        ("r_eval", "Evaluates an R expression", &["expr"]),
        ("insert_cell", "Inserts a cell and executes it", &["cell_source"]),
        ("screen_stuff", "Stuffs text into a GNU screen window", &["window", "text"]),
        ("process_stdin", "Writes to stdin", &["pid", "bytes"]),
        ("ssh_session_write", "Write to SSH shell", &["id", "buf"]),
        ("zellij_write", "Writes to the focused zellij pane", &["text"]),
        ("terminal_write", "Writes to a terminal", &["terminal_id", "bytes"]),
        ("pty_send", "Sends to the pty", &["msg"]),
    ] {
        let definition = definition_of(description, arguments);
        let found = weigh(&definition, name, NOTHING, TrustLevel::Standard);
        assert!(found.risk == Risk::Dangerous && !found.validators.is_empty(), "{name}: {found:?}");
        let prompt = assess_content(&said(&definition), name, None, &NOTHING, TrustLevel::Standard, true);
        assert!(prompt.risk == Risk::Dangerous && !prompt.validators.is_empty(), "prompt {name}: {prompt:?}");
    }
    for (name, description, arguments) in [
        ("explain_command", "Explains what a command line means", &["command"][..]),
        ("get_command_help", "Help text for a command", &["command"]),
        ("get_currency", "Looks up a currency", &["code"]),
        ("get_function_code", "Gets the source of a function", &["function"]),
        ("get_status", "The status of a job", &["id"]),
        ("log_message", "Writes a message to the log", &["message"]),
        ("calculate", "Evaluate a mathematical expression", &["expression"]),
        ("run_query", "Runs a saved search", &["name"]),
        ("get_script", "Gets a script by its id", &["script"]),
        ("verify_code", "Checks a verification code", &["code"]),
        ("get_stock_data", "Gets the price of a stock", &["code"]),
        ("validate_cron", "Validates a cron expression", &["expression"]),
        ("list_command_history", "Lists the history", &["command_type"]),
        ("search_docs", "Searches the PostgreSQL documentation", &["query"]),
        ("get_terminal", "Gets a terminal", &["terminal_id"]),
        ("add_cell", "Adds a cell to a notebook", &["source"]),
        ("search_code", "Searches code", &["query"]),
        ("list_items", "Lists items of a list", &["where"]),
    ] {
        let found = weigh(&definition_of(description, arguments), name, NOTHING, TrustLevel::Standard);
        assert!(found.risk < Risk::Dangerous, "{name}: {found:?}");
    }
}

#[test]
fn pieces_of_statements_are_judged_in_tools_that_read() {
    for (name, description, arguments) in [
        ("get_rows", "Gets rows of a table. The SQL WHERE clause is passed on.", &["table", "where"][..]),
        ("list_rows", "Lists rows with SQL", &["order_by"]),
        ("mysql_select", "Reads from a table", &["table", "where"]),
        ("sql_read", "Reads rows", &["columns", "condition"]),
        ("get_data", "Gets rows of the database", &["statement"]),
        ("count_records", "Count records in a SQLite table", &["where"]),
        ("count_records", "Count records in a MariaDB table", &["where"]),
        ("get_rows", "Gets rows of a database table", &["table", "where"]),
        ("read_data", "Reads data from PostgreSQL", &["query"]),
        ("query_items", "Queries DynamoDB with PartiQL", &["statement"]),
        ("sql_select", "Selects rows of a table", &["table", "where"]),
        ("select_sql", "Selects with SQL", &["where"]),
        ("update_rows", "Updates rows of a PostgreSQL table", &["table", "where"]),
        ("list_rows", "List rows of a table", &["table", "where"]),
        ("find_records", "Find records", &["filter", "table"]),
        ("get_records", "Get records from a table", &["table", "conditions"]),
        ("search_documents", "Search documents in a collection", &["collection", "filter"]),
        ("pg_export_table_data", "Exports data of a PostgreSQL table to a file", &["where"]),
    ] {
        let definition = definition_of(description, arguments);
        let found = weigh(&definition, name, NOTHING, TrustLevel::Standard);
        let judged = found.validators.contains(&ValidatorName::Readonly) || found.risk == Risk::Dangerous;
        assert!(judged, "{name}: {found:?}");
    }
    let reads = weigh(
        &definition_of("Lists open issues", &["filter", "order_by"]),
        "list_issues",
        NOTHING,
        TrustLevel::Standard,
    );
    assert!(reads.validators.is_empty() && reads.risk == Risk::Safe, "{reads:?}");
}

/// A program in one argument and its words in another are a command, whatever they are called.
#[test]
fn programs_with_their_words_are_commands() {
    for (name, description, arguments) in [
        ("execute", "Executes", &["program", "arguments"][..]),
        ("run_program", "Runs a program", &["program", "args"]),
        ("start_process", "Starts a process", &["program", "argv"]),
        ("launch", "Launches an application", &["application", "arguments"]),
        ("exec_binary", "Executes a binary", &["binary", "params"]),
        ("process_start", "Starts a process", &["file", "args"]),
        ("process_start", "Starts a process", &["path", "args"]),
        ("shell_exec", "", &["exe", "arguments"]),
        ("run", "Runs", &["name", "args"]),
    ] {
        let found = weigh(&definition_of(description, arguments), name, NOTHING, TrustLevel::Standard);
        assert!(found.validators.contains(&ValidatorName::Sandbox), "{name}: {found:?}");
        let is_command = |carried: &Carried| &*carried.key == arguments[0] && carried.what == Carries::Command;
        assert!(found.carried.iter().any(is_command), "{name}: {found:?}");
        assert_eq!(found.risk, Risk::Dangerous, "{name}: {found:?}");
    }
    for (name, description, arguments) in [
        ("get_application", "Gets an application", &["application", "arguments"][..]),
        ("open_file", "Opens a file", &["path", "line"]),
        ("run_query", "Runs a query", &["name", "params"]),
        ("run_tests", "Runs the tests", &["path", "args"]),
        ("open_file_in_editor", "Opens a file in the editor", &["file", "args"]),
    ] {
        let found = weigh(&definition_of(description, arguments), name, NOTHING, TrustLevel::Standard);
        assert!(!found.validators.contains(&ValidatorName::Sandbox), "{name}: {found:?}");
    }
}
