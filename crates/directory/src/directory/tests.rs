//! What clients see of one and of several servers.

use switchboard_upstream::Listing;
use switchboard_wire::Limits;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).unwrap()
}

fn source(id: &str, tools: &[&str], resources: &[&str]) -> ListedServer {
    let tool =
        |name: &&str| raw(&format!(r#"{{"name":"{name}","security":{{"x":1.10}},"inputSchema":{{"type":"object"}}}}"#));
    let resource = |uri: &&str| raw(&format!(r#"{{"uri":"{uri}","name":"r","x":1}}"#));
    let lists = Lists {
        tools: Listing { items: tools.iter().map(tool).collect(), envelope: raw(r#"{"_meta":{"k":1}}"#) },
        resources: Listing { items: resources.iter().map(resource).collect(), ..Listing::default() },
        ..Lists::default()
    };
    ListedServer::new(id, Arc::new(lists))
}

const PLAIN: Dialect = Dialect { legacy: false, mgp: false };
const MGP: Dialect = Dialect { legacy: false, mgp: true };

fn tools(directory: &Directory, dialect: Dialect) -> String {
    directory.answer_for(ListKind::Tools, dialect, |_, _, _| true).as_str().to_owned()
}

#[test]
fn one_server_is_shown_as_it_is() {
    let directory = Directory::build(&[source("git", &["status"], &["file:///a"])]);
    let security = r#"{"x":1.10,"risk_level":"safe","effective_risk_level":"safe","risk_reason":"its name says that it only reads","permissions_required":[],"validator":"none","confirmation_required":false}"#;
    let tool = |own: &str| {
        format!(
            r#"{{"_meta":{{"k":1}},"tools":[{{"name":"status","security":{own},"inputSchema":{{"type":"object"}},"_meta":{{"dev.cloto/mgp":{{"security":{security}}}}}}}]}}"#
        )
    };
    // What the server wrote stays for whoever does not speak MGP; whoever does is told what holds.
    assert_eq!(tools(&directory, PLAIN), tool(r#"{"x":1.10}"#));
    assert_eq!(tools(&directory, MGP), tool(security));
    assert_eq!(&*directory.tool("status").unwrap().original, "status");
    assert_eq!(&*directory.tool("git__status").unwrap().original, "status");
    assert!(directory.tool("log").is_none());
    assert_eq!(directory.resource("anything://at/all").unwrap().server, 0);
}

#[test]
fn several_servers_are_shown_side_by_side() {
    let directory = Directory::build(&[source("a", &["t"], &["file:///1"]), source("b", &["t"], &["file:///2"])]);
    assert_eq!(directory.count(ListKind::Tools), 2);
    assert_eq!(directory.tool("b__t").unwrap().server, 1);
    assert!(directory.tool("t").is_none());
    assert!(tools(&directory, PLAIN).contains(r#""security":{"x":1.10}"#));
    assert_eq!(directory.resource("file:///2").unwrap().server, 1);
    assert_eq!(directory.resource("a+file:///9").unwrap().server, 0);
    assert!(directory.resource("file:///9").is_none());
}

#[test]
fn a_resource_that_two_servers_claim_is_told_apart() {
    let directory = Directory::build(&[source("a", &[], &["file:///x"]), source("b", &[], &["file:///x"])]);
    assert!(directory.resource("file:///x").is_none());
    let route = directory.resource("b+file:///x").unwrap();
    assert_eq!((route.server, &*route.original), (1, "file:///x"));
    assert_eq!(directory.exposed_uri(1, "file:///x"), "b+file:///x");
    assert_eq!(directory.count(ListKind::Resources), 2);
}

#[test]
fn a_server_cannot_pose_as_another() {
    for claims_first in [true, false] {
        let mut sources = vec![source("a", &[], &["b+file:///x", "file:///x"]), source("b", &[], &["file:///x"])];
        if !claims_first {
            sources.reverse();
        }
        let directory = Directory::build(&sources);
        let route = directory.resource("b+file:///x").unwrap();
        assert_eq!((&*sources[route.server].id, &*route.original), ("b", "file:///x"));
        let route = directory.resource("a+b+file:///x").unwrap();
        assert_eq!((&*sources[route.server].id, &*route.original), ("a", "b+file:///x"));
    }
}

#[test]
fn look_alikes_and_bad_names_are_hidden_with_a_reason() {
    let directory = Directory::build(&[source("a", &["read_file", "Read-File", "two words", "mgp.x"], &[])]);
    assert_eq!(directory.count(ListKind::Tools), 1);
    let why: Vec<_> = directory.hidden.iter().map(|hidden| hidden.name.as_str()).collect();
    assert_eq!(why, ["Read-File", "two words", "mgp.x"]);
}

#[test]
fn the_operator_says_how_code_is_judged() {
    use switchboard_validators::arguments::{NoWorld, check};
    use switchboard_validators::code::Level;
    let verdict = |level: Option<Level>| {
        let mut source = source("py", &["run_python"], &[]);
        let code_levels = level.into_iter().map(|level| ("run_python".to_owned(), level)).collect();
        source.policy = Arc::new(ServerPolicy { code_levels, ..ServerPolicy::default() });
        let policy = Directory::build(&[source]).tool("run_python").unwrap().policy.unwrap();
        check(&policy.checks, &raw(r#"{"code":"import random\nprint(random.random())"}"#), &NoWorld).is_ok()
    };
    assert!(verdict(None) && verdict(Some(Level::Unrestricted)));
    // At this level only what is listed may be imported.
    assert!(!verdict(Some(Level::Strict)));
}

/// A server whose library gives each tool the same hints.
fn alike(more: &[&str]) -> ListedServer {
    const HINTS: &str = r#""annotations":{"readOnlyHint":false,"destructiveHint":true}"#;
    let tool =
        |name: &str, hints: &str| raw(&format!(r#"{{"name":"{name}",{hints}"inputSchema":{{"type":"object"}}}}"#));
    let given = ["read_sheet", "list_sheets", "delete_sheet"].iter().map(|name| tool(name, &format!("{HINTS},")));
    let items = given.chain(more.iter().map(|name| tool(name, ""))).collect();
    let lists = Lists { tools: Listing { items, ..Listing::default() }, ..Lists::default() };
    ListedServer::new("excel", Arc::new(lists))
}

fn asks(directory: &Directory, name: &str) -> bool {
    directory.tool(name).unwrap().policy.unwrap().assessment.confirm.is_some()
}

#[test]
fn hints_of_every_tool_alike_ask_about_none_that_only_reads() {
    let directory = Directory::build(&[alike(&[])]);
    assert!(!asks(&directory, "read_sheet") && !asks(&directory, "list_sheets"));
    assert!(asks(&directory, "delete_sheet"), "its name says so");
    // What the server wrote stays in what clients are shown.
    assert!(tools(&directory, PLAIN).contains(r#""destructiveHint":true"#));
    // A tool that has no hint shows that its server tells them apart.
    let directory = Directory::build(&[alike(&["get_cell"])]);
    assert!(asks(&directory, "read_sheet") && asks(&directory, "delete_sheet"));
    assert!(!asks(&directory, "get_cell"));
}

#[test]
fn hints_count_while_something_of_their_server_is_held_back() {
    let held = |name: &str| {
        let quarantine = HashMap::from([(name.to_owned(), "it has changed".to_owned())]);
        ListedServer { quarantine: Arc::new(quarantine), ..alike(&[]) }
    };
    assert!(asks(&Directory::build(&[held("list_sheets")]), "read_sheet"));
    assert!(!asks(&Directory::build(&[held("no_such_tool")]), "read_sheet"));
}
