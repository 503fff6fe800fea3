//! What becomes of questions that come once, twice, too often, and too late.

use super::*;

fn request(id: &str, kind: CallbackType) -> CallbackRequest {
    CallbackRequest::new(id, kind)
}

fn table() -> (Table, Arc<str>, Arc<str>, Instant) {
    (Table::new(Limits { of_server: 3, ..Limits::default() }), "s".into(), "ann".into(), Instant::now())
}

#[test]
fn a_question_that_comes_again_is_not_asked_again() {
    let (mut table, server, ann, now) = table();
    let ask = |table: &mut Table, server: &Arc<str>| {
        table.ask("ours", server, &ann, request("cb-1", CallbackType::Input), now)
    };
    assert_eq!(ask(&mut table, &server), Came::New("ours".into()));
    assert_eq!(ask(&mut table, &server), Came::Open);
    let other: Arc<str> = "t".into();
    assert_eq!(
        table.ask("other", &other, &ann, request("cb-1", CallbackType::Input), now),
        Came::New("other".into()),
        "another server's ids are its own"
    );
    let answer = Raw::string("blue");
    assert_eq!(table.answer("ours", Some("bob"), &answer).err(), Some(NoAnswer::Unknown), "not his");
    let open = table.answer("ours", Some("ann"), &answer).expect("hers");
    assert_eq!(open.request.callback_id, "cb-1");
    assert_eq!(ask(&mut table, &server), Came::Answered(answer.clone()));
    assert_eq!(table.answer("ours", Some("ann"), &answer).err(), Some(NoAnswer::Unknown), "the first answer stands");
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
        let (mut table, server, ann, now) = table();
        let mut asked = request("cb", kind);
        asked.options = options;
        let _ = table.ask("ours", &server, &ann, asked, now);
        assert_eq!(table.answer("ours", None, &answer).is_ok(), fits, "{kind} {:.40}", answer.as_str());
    }
}

#[test]
fn it_is_put_again_three_times_and_then_given_up() {
    let (mut table, server, ann, now) = table();
    let mut asked = request("cb", CallbackType::Input);
    asked.timeout_ms = Some(12_000);
    let _ = table.ask("ours", &server, &ann, asked, now);
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
fn nobody_asks_without_end() {
    let (mut table, server, ann, now) = table();
    let mut came = Vec::new();
    for number in 0..5 {
        let asked = request(&format!("cb-{number}"), CallbackType::Input);
        came.push(table.ask(&format!("ours-{number}"), &server, &ann, asked, now));
    }
    assert!(came[..3].iter().all(|came| matches!(came, Came::New(_))));
    assert_eq!(came[3..], [Came::TooMany, Came::TooMany]);
    let mut long = request("long", CallbackType::Input);
    long.timeout_ms = Some(u64::MAX);
    let other: Arc<str> = "t".into();
    let _ = table.ask("long", &other, &ann, long, now);
    assert_eq!(table.due("long", now + Duration::from_secs(600)), Some(Due::TimedOut), "not for ever");
}

#[test]
fn yes_and_no_in_the_server_s_own_words() {
    let mut asked = request("cb", CallbackType::Confirmation);
    assert_eq!((verdict(&asked, true), verdict(&asked, false)), ("confirm".to_owned(), "cancel".to_owned()));
    asked.options = Some(vec!["abort".to_owned(), "yes".to_owned()]);
    assert_eq!((verdict(&asked, true), verdict(&asked, false)), ("yes".to_owned(), "abort".to_owned()));
}
