//! The examples of MGP 12, and the messages of later versions.

use switchboard_wire::Limits;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

/// What is written again is what was read, byte for byte where the text is in its shortest form.
fn same<T: serde::Serialize + for<'de> serde::Deserialize<'de> + PartialEq + std::fmt::Debug>(text: &str, value: &T) {
    assert_eq!(raw(text).view::<T>().expect("the view"), *value);
    assert_eq!(Raw::from_value(value).expect("JSON").as_str(), text);
}

#[test]
fn the_pieces_of_the_specification() {
    same(
        r#"{"request_id":20,"index":0,"content":{"type":"text","text":"Quantum computing is"},"done":false}"#,
        &StreamChunk::new(raw("20"), 0u64).content(raw(r#"{"type":"text","text":"Quantum computing is"}"#)).done(false),
    );
    same(
        r#"{"request_id":20,"index":1,"content":{"type":"text","text":" a paradigm that uses"},"done":false}"#,
        &StreamChunk::new(raw("20"), 1u64)
            .content(raw(r#"{"type":"text","text":" a paradigm that uses"}"#))
            .done(false),
    );
}

#[test]
fn the_completion_of_the_specification() {
    same(
        r#"{"streamed":true,"chunks_sent":15,"duration_ms":3200}"#,
        &Streamed::new(true).chunks_sent(15u64).duration_ms(3200u64),
    );
}

#[test]
fn the_progress_of_the_specification() {
    same(
        r#"{"request_id":21,"progress":0.65,"message":"Processing batch 13/20","estimated_remaining_ms":4500}"#,
        &StreamProgress::new(raw("21"), 0.65).message("Processing batch 13/20").estimated_remaining_ms(4500u64),
    );
}

#[test]
fn the_cancellation_of_the_specification() {
    same(
        r#"{"request_id":20,"reason":"user_cancelled"}"#,
        &StreamCancelParams::new().request_id(raw("20")).reason("user_cancelled"),
    );
    let partial = r#"{"content":[{"type":"text","text":"Quantum computing is a paradigm that uses..."}]}"#;
    same(
        &format!(r#"{{"cancelled":true,"partial_result":{partial}}}"#),
        &StreamCancelResult::new(true).partial_result(raw(partial)),
    );
}

#[test]
fn pace_and_gaps_of_later_versions() {
    same(r#"{"request_id":"a","missing_indices":[3,5]}"#, &StreamGap::new(raw(r#""a""#), vec![3, 5]));
    same(
        r#"{"max_chunks_per_second":2.5,"request_id":7,"reason":"rendering"}"#,
        &StreamPace::new(2.5).request_id(raw("7")).reason("rendering"),
    );
    same(r#"{"request_id":7,"index":3,"gap_unrecoverable":true}"#, &{
        StreamChunk::new(raw("7"), 3u64).gap_unrecoverable(true)
    });
}

#[test]
fn the_text_of_a_block() {
    for (block, text) in [
        (r#"{"type":"text","text":"a\nb"}"#, Some("a\nb")),
        (r#"{"type":"image","text":"a"}"#, None),
        (r#"{"type":"text"}"#, None),
        (r#""text""#, None),
    ] {
        assert_eq!(text_of(&raw(block)).as_deref(), text, "{block}");
    }
}

/// What a server says in `_mgp` itself stays, its own time as well.
#[test]
fn a_result_says_what_came_before_it() {
    let took = Duration::from_millis(3200);
    for (result, told) in [
        (r#"{"content":[]}"#, r#"{"content":[],"_mgp":{"streamed":true,"chunks_sent":15,"duration_ms":3200}}"#),
        (
            r#"{"_mgp":{"own":1.10,"duration_ms":7}}"#,
            r#"{"_mgp":{"own":1.10,"duration_ms":7,"streamed":true,"chunks_sent":15}}"#,
        ),
        ("[1]", "[1]"),
    ] {
        assert_eq!(with_pieces(raw(result), 15, took).as_str(), told);
    }
}
