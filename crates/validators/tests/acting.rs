//! Values that act though nothing about their tool says so, and texts that only speak of acting.

use switchboard_policy::risk::{OperatorWord, assess};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, TrustLevel};
use switchboard_validators::acting::Outlook;
use switchboard_validators::arguments::Violation;
use switchboard_wire::{Limits, Raw};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).expect("valid JSON")
}

/// The definition that a line `@name keys :: description` stands for.
fn defined(line: &str) -> (String, ToolSecurity) {
    let (head, description) = line.trim_start_matches('@').split_once("::").expect("a description");
    let mut head = head.split_whitespace();
    let name = head.next().expect("a name").to_owned();
    let quoted = |text: &str| Raw::string(text).as_str().to_owned();
    let properties: Vec<String> = head.map(|key| format!("{}:{{}}", quoted(key))).collect();
    let definition = format!(
        "{{\"name\":{},\"description\":{},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{{}}}}}}}",
        quoted(&name),
        quoted(description.trim()),
        properties.join(",")
    );
    (name, ToolSecurity::of(&raw(&definition)))
}

fn outlook(line: &str, operator: OperatorWord, trust: TrustLevel) -> Option<Outlook> {
    let (name, declared) = defined(line);
    Outlook::of(&declared, &name, &assess(&declared, &name, &operator, trust, false), &operator, trust)
}

/// What is asked about each call of a table.
fn questions(table: &str) -> Vec<(String, Option<Violation>)> {
    let mut tool = None;
    let mut questions = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with('@') {
            tool = Some(line);
            continue;
        }
        let tool = tool.expect("a tool in front");
        let outlook = outlook(tool, OperatorWord::default(), TrustLevel::Standard);
        let question = outlook.and_then(|outlook| outlook.question(&[], &raw(line)));
        questions.push((format!("{tool} {line}"), question));
    }
    questions
}

#[test]
fn values_that_act_are_asked_about() {
    let questions = questions(include_str!("tables/acting-calls.txt"));
    // Of some of these tools every call is asked about.
    let is_asked = |line: &str| {
        let (tool, call) = line.split_at(line.find(" {").expect("a call"));
        let (name, declared) = defined(tool);
        let found = assess(&declared, &name, &OperatorWord::default(), TrustLevel::Standard, false);
        found.asks_about(&declared, &raw(call.trim()), |_, _| false).is_some()
    };
    let unasked: Vec<_> = questions.iter().filter(|(line, question)| question.is_none() && !is_asked(line)).collect();
    assert!(questions.len() >= 40 && unasked.is_empty(), "{unasked:#?}");
    assert!(questions.iter().filter(|(_, question)| question.is_some()).count() >= 30);
    assert!(questions.iter().flat_map(|(_, question)| question).all(|question| question.finding.asks()));
}

#[test]
fn texts_that_speak_of_acting_are_not() {
    let questions = questions(include_str!("tables/acting-honest.txt"));
    let asked: Vec<_> = questions.iter().filter(|(_, question)| question.is_some()).collect();
    assert!(questions.len() >= 80 && asked.is_empty(), "{asked:#?}");
}

#[test]
fn the_place_is_told() {
    let call = r#"{"schedule":"@daily","task":{"steps":[{"a/b":"rm -rf /srv"}]}}"#;
    let outlook = outlook("@create_job schedule task :: Create a job", OperatorWord::default(), TrustLevel::Standard);
    let question = outlook.and_then(|outlook| outlook.question(&[], &raw(call))).expect("a question");
    assert_eq!((question.step, question.pointer.as_str()), ("acting", "/task/steps/0/a~1b"));
}

#[test]
fn nobody_is_asked_where_the_operator_spoke_or_the_server_is_trusted() {
    let line = "@create_job schedule task :: Create a job";
    let call = raw(r#"{"task":"rm -rf /srv"}"#);
    let asked = |operator, trust| outlook(line, operator, trust).is_some_and(|one| one.question(&[], &call).is_some());
    let silent = OperatorWord { confirm: Some(false), ..OperatorWord::default() };
    let safe = OperatorWord { risk: Some(Risk::Safe), ..OperatorWord::default() };
    assert!(asked(OperatorWord::default(), TrustLevel::Standard));
    assert!(!asked(silent, TrustLevel::Standard));
    assert!(!asked(safe, TrustLevel::Standard));
    assert!(!asked(OperatorWord::default(), TrustLevel::Core));
    // What the operator calls a text is none.
    let outlook = outlook(line, OperatorWord::default(), TrustLevel::Standard).expect("looked at");
    assert!(outlook.question(&["task".to_owned()], &call).is_none());
}

#[test]
fn bad_input_is_answered_within_bounds() {
    let outlook =
        outlook("@save_thing thing :: Saves it", OperatorWord::default(), TrustLevel::Standard).expect("looked at");
    let deep = format!("{{\"thing\":{}\"x\"{}}}", "[".repeat(100), "]".repeat(100));
    assert!(Raw::parse(deep.clone(), &Limits::default()).is_err() || outlook.question(&[], &raw(&deep)).is_some());
    let many = format!("{{\"thing\":[{}\"x\"]}}", "\"x\",".repeat(20_000));
    assert!(outlook.question(&[], &raw(&many)).is_some());
    // Patterns with more choices than are put apart, in one string and in many.
    for thing in [
        "{a,b}".repeat(100) + "/x",
        "/srv/".to_owned() + &"+(".repeat(200) + &")".repeat(200) + "{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}",
    ] {
        let call = format!("{{\"thing\":{}}}", Raw::string(&thing).as_str());
        assert!(outlook.question(&[], &raw(&call)).is_some(), "{thing}");
    }
    let patterns = format!("{{\"thing\":[{}\"x\"]}}", "\"{a,b}{c,d}{e,f}/x\",".repeat(2_000));
    assert!(outlook.question(&[], &raw(&patterns)).is_some());
    let long = format!("{{\"thing\":{}}}", Raw::string(&"; a b ü ".repeat(200_000)).as_str());
    assert!(outlook.question(&[], &raw(&long)).is_none());
}

#[test]
fn a_member_that_stands_twice_is_asked_about() {
    let outlook =
        outlook("@save_thing thing :: Saves it", OperatorWord::default(), TrustLevel::Standard).expect("looked at");
    for call in
        [r#"{"thing":"a","thing":"rm -rf /srv"}"#, r#"{"thing":{"a":"x","a":"y"}}"#, r#"{"thing":"{\"a\":1,\"a\":2}"}"#]
    {
        assert!(outlook.question(&[], &raw(call)).is_some(), "{call}");
    }
    assert!(outlook.question(&[], &raw("[1]")).is_none() && outlook.question(&[], &raw("null")).is_none());
}
