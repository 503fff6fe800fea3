//! What becomes of questions that come once, twice, too often, and too late.

use super::*;

fn request(id: &str, kind: CallbackType) -> CallbackRequest {
    CallbackRequest::new(id, kind)
}

#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn table() -> (CallbackTable, CallbackOrigin, Instant) {
    (
        CallbackTable::new(CallbackLimits { of_server: 3, ..CallbackLimits::default() }),
        origin("s", "ann", 1),
        Instant::now(),
    )
}

fn origin(server: &str, principal: &str, scope: u64) -> CallbackOrigin {
    // A connection of its own for each.
    CallbackOrigin { server: server.into(), principal: principal.into(), scope, connection: scope }
}

fn new(id: &str) -> Came {
    Came::New { id: id.into(), replaces: None }
}

fn saying(id: &str, message: &str) -> CallbackRequest {
    CallbackRequest::new(id, CallbackType::Confirmation).message(message)
}

#[test]
fn a_question_that_comes_again_is_not_asked_again() {
    let (mut table, ours, now) = table();
    let ask = |table: &mut CallbackTable| {
        let mut again = request("cb-1", CallbackType::Input);
        again.timeout_ms = Some(1);
        table.ask("ours", ours.clone(), again, now)
    };
    assert_eq!(table.ask("ours", ours.clone(), request("cb-1", CallbackType::Input), now), new("ours"));
    assert_eq!(ask(&mut table), Came::Open);
    let answer = Raw::string("blue");
    assert_eq!(table.answer("ours", Some("bob"), &answer).err(), Some(NoAnswer::Unknown), "not his");
    let open = table.answer("ours", Some("ann"), &answer).expect("hers");
    assert_eq!(open.request.callback_id, "cb-1");
    assert_eq!(ask(&mut table), Came::Answered(answer.clone()));
    assert_eq!(table.answer("ours", Some("ann"), &answer).err(), Some(NoAnswer::Unknown), "the first answer stands");
}

#[test]
fn an_answer_is_for_one_call_of_one_principal_at_one_server() {
    for (other, why) in [
        (origin("t", "ann", 1), "another server's ids are its own"),
        (origin("s", "bob", 1), "another principal"),
        (origin("s", "ann", 2), "another call"),
    ] {
        for answered in [false, true] {
            let (mut table, ours, now) = table();
            let _ = table.ask("ours", ours, saying("cb-1", "Delete one file?"), now);
            if answered {
                table.answer("ours", Some("ann"), &Raw::string("confirm")).expect("hers");
            }
            let came = table.ask("other", other.clone(), saying("cb-1", "Delete one file?"), now);
            assert_eq!(came, new("other"), "{why}");
        }
    }
}

#[test]
fn another_question_under_the_same_id_is_a_new_one() {
    let (mut table, ours, now) = table();
    let _ = table.ask("first", ours.clone(), saying("cb-1", "Delete one file?"), now);
    let came = table.ask("second", ours.clone(), saying("cb-1", "Delete everything?"), now);
    assert_eq!(came, Came::New { id: "second".into(), replaces: Some("first".into()) });
    let yes = Raw::string("confirm");
    assert_eq!(table.answer("first", Some("ann"), &yes).err(), Some(NoAnswer::Unknown), "its place is taken");
    table.answer("second", Some("ann"), &yes).expect("open");
    assert_eq!(table.ask("third", ours.clone(), saying("cb-1", "Delete one file?"), now), new("third"));
    table.answer("third", Some("ann"), &Raw::string("cancel")).expect("open");
    assert_eq!(table.ask("fourth", ours, saying("cb-1", "Delete everything?"), now), new("fourth"));
}

#[test]
fn questions_and_answers_end_with_their_call() {
    let (mut table, ours, now) = table();
    let other = origin("s", "ann", 2);
    let _ = table.ask("done", ours.clone(), saying("cb-1", "One?"), now);
    table.answer("done", None, &Raw::string("confirm")).expect("open");
    let _ = table.ask("open", ours.clone(), saying("cb-2", "Two?"), now);
    let _ = table.ask("stays", other, saying("cb-2", "Two?"), now);
    assert_eq!(table.end(1), [Arc::from("open")]);
    assert!(table.has("stays") && !table.has("open"));
    assert_eq!(table.answer("open", Some("ann"), &Raw::string("confirm")).err(), Some(NoAnswer::Unknown));
    assert_eq!(table.ask("again", ours, saying("cb-1", "One?"), now), new("again"));
}

#[test]
fn answers_must_fit() {
    let options = || vec!["confirm".to_owned(), "cancel".to_owned()];
    let object = Raw::empty_object();
    for (kind, options, answer, fits) in [
        (CallbackType::Confirmation, Some(options()), Raw::string("confirm"), true),
        (CallbackType::Confirmation, Some(options()), Raw::string("maybe"), false),
        (CallbackType::Confirmation, None, Raw::string("yes"), true),
        (CallbackType::Selection, Some(options()), Raw::string("cancel"), true),
        (CallbackType::Selection, Some(options()), object.clone(), false),
        (CallbackType::Input, None, Raw::string("anything"), true),
        (CallbackType::Input, None, Raw::string(&"x".repeat(70 << 10)), false),
        (CallbackType::LlmCompletion, None, object, true),
        (CallbackType::LlmCompletion, None, Raw::string("text"), false),
    ] {
        let (mut table, ours, now) = table();
        let mut asked = request("cb", kind);
        asked.options = options;
        let _ = table.ask("ours", ours, asked, now);
        assert_eq!(table.answer("ours", None, &answer).is_ok(), fits, "{kind} {:.40}", answer.as_str());
    }
}

#[test]
fn it_is_put_again_three_times_and_then_given_up() {
    let (mut table, ours, now) = table();
    let mut asked = request("cb", CallbackType::Input);
    asked.timeout_ms = Some(12_000);
    let _ = table.ask("ours", ours, asked, now);
    let at = |seconds: u64| now + Duration::from_secs(seconds);
    assert_eq!(table.due("ours", now), Some(Due::Wait(at(5))));
    assert_eq!(table.due("ours", at(5)), Some(Due::Again(2)));
    assert_eq!(table.due("ours", at(5)), Some(Due::Wait(at(10))));
    assert_eq!(table.due("ours", at(10)), Some(Due::Again(3)));
    assert_eq!(table.due("ours", at(10)), Some(Due::Wait(at(12))));
    assert_eq!(table.due("ours", at(12)), Some(Due::TimedOut));
    assert!(table.close("ours", &Raw::string("cancel")).is_some());
    assert_eq!(table.due("ours", at(12)), None);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn the_questions_of_one_principal_shut_off_nobody_elses() {
    let limits = CallbackLimits { open: 16, of_server: 8, of_principal: 4, ..CallbackLimits::default() };
    let (mut table, now) = (CallbackTable::new(limits), Instant::now());
    let mut ask = |number: u64, server: &str, principal: &str| {
        let asked = request("cb", CallbackType::Input);
        table.ask(&format!("ours-{number}"), origin(server, principal, number), asked, now)
    };
    // A server whose calls of one principal never end, and others beside it.
    let came: Vec<Came> = (0..64).map(|number| ask(number, if number % 2 == 0 { "s" } else { "t" }, "eve")).collect();
    assert_eq!(came.iter().filter(|came| matches!(came, Came::New { .. })).count(), 4);
    assert_eq!(came[4], Came::TooMany { bound: CallbackBound::Principal, is_first: true });
    for (number, server, principal) in [(100, "s", "ann"), (101, "t", "bob"), (102, "s", "")] {
        assert_eq!(ask(number, server, principal), new(&format!("ours-{number}")), "{principal} at {server}");
    }
    // What is about no call is a matter of each server's own.
    let came: Vec<Came> = (200..208).map(|number| ask(number, "s", "")).collect();
    assert!(matches!(came[7], Came::TooMany { .. }));
    assert_eq!(ask(300, "t", ""), new("ours-300"));
}

#[test]
fn nobody_asks_without_end() {
    let (mut table, ours, now) = table();
    let mut came = Vec::new();
    for number in 0..5 {
        let asked = request(&format!("cb-{number}"), CallbackType::Input);
        came.push(table.ask(&format!("ours-{number}"), ours.clone(), asked, now));
    }
    assert!(came[..3].iter().all(|came| matches!(came, Came::New { .. })));
    let too_many = |is_first| Came::TooMany { bound: CallbackBound::Server, is_first };
    assert_eq!(came[3..], [too_many(true), too_many(false)]);
    let mut long = request("long", CallbackType::Input);
    long.timeout_ms = Some(u64::MAX);
    let _ = table.ask("long", origin("t", "ann", 1), long, now);
    assert_eq!(table.due("long", now + Duration::from_secs(600)), Some(Due::TimedOut), "not for ever");
}

#[test]
fn yes_and_no_in_the_server_s_own_words() {
    let mut asked = request("cb", CallbackType::Confirmation);
    assert_eq!((verdict(&asked, true), verdict(&asked, false)), ("confirm".to_owned(), "cancel".to_owned()));
    asked.options = Some(vec!["abort".to_owned(), "yes".to_owned()]);
    assert_eq!((verdict(&asked, true), verdict(&asked, false)), ("yes".to_owned(), "abort".to_owned()));
}

/// The server knows an answer by the id alone, so that a yes to one question might be taken for a yes to the other.
#[test]
fn two_calls_that_ask_under_one_id_on_one_connection_both_end() {
    let on_one = |server: &str, principal: &str, scope: u64| CallbackOrigin {
        connection: 7,
        ..origin(server, principal, scope)
    };
    for (other, collides) in [
        (on_one("s", "bob", 2), true),
        (on_one("s", "ann", 2), true),
        (on_one("t", "ann", 2), false),
        (origin("s", "bob", 2), false),
    ] {
        let (mut table, _, now) = table();
        let ours = on_one("s", "ann", 1);
        let yes = Raw::string("confirm");
        assert_eq!(table.ask("first", ours.clone(), saying("cb-1", "Read a page?"), now), new("first"));
        let came = table.ask("second", other.clone(), saying("cb-1", "Drop everything?"), now);
        if !collides {
            assert_eq!(came, new("second"));
            continue;
        }
        let Came::Ambiguous { ended } = came else { panic!("{came:?}") };
        assert_eq!(ended.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["first"]);
        assert!(!table.has("second"));
        assert_eq!(table.answer("first", Some("ann"), &yes).err(), Some(NoAnswer::Unknown), "it is over");
        // The answer to one stands in the way until the server has it.
        assert_eq!(table.ask("third", ours.clone(), saying("cb-1", "Read a page?"), now), new("third"));
        table.answer("third", Some("ann"), &yes).expect("open");
        let came = table.ask("fourth", other.clone(), saying("cb-1", "Drop everything?"), now);
        assert_eq!(came, Came::Ambiguous { ended: Vec::new() });
        // The same call may go on asking.
        assert_eq!(table.ask("again", ours.clone(), saying("cb-1", "And the next?"), now), new("again"));
        table.answer("again", Some("ann"), &yes).expect("open");
        table.delivered(&ours, "cb-1");
        table.delivered(&ours, "cb-1");
        assert_eq!(table.ask("fifth", other, saying("cb-1", "Drop everything?"), now), new("fifth"));
    }
}
