//! Tables for what happens to pieces, and laws that hold whatever comes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use switchboard_wire::Raw;

use super::*;

fn ledger(bounds: StreamBounds) -> Arc<Ledger> {
    Arc::new(Ledger::new(bounds))
}

fn stream() -> Stream {
    Stream::new(ledger(StreamBounds::default()))
}

fn text(words: &str) -> Raw {
    Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(words)).finish()
}

fn piece(index: u64) -> Piece {
    Piece::new(index, text(&format!("<{index}>")))
}

fn sent(stream: &mut Stream, now: Instant) -> Vec<u64> {
    std::iter::from_fn(|| stream.next_due(now)).map(|piece| piece.index).collect()
}

#[test]
fn pieces_pass_as_they_come_and_missing_ones_are_asked_for_once() {
    let new = |missing: &[u64]| TakenPiece::New { missing: missing.to_vec() };
    let cases: &[(&[u64], &[TakenPiece])] = &[
        (&[0, 1, 2], &[new(&[]), new(&[]), new(&[])]),
        (&[0, 0, 1], &[new(&[]), TakenPiece::Again, new(&[])]),
        (&[0, 3, 4, 1, 2], &[new(&[]), new(&[1, 2]), new(&[]), new(&[]), new(&[])]),
        (&[2, 5, 2], &[new(&[0, 1]), new(&[3, 4]), TakenPiece::Again]),
        (&[0, 1_000_000], &[new(&[]), TakenPiece::TooFar]),
    ];
    for (indices, expected) in cases {
        let mut stream = stream();
        let taken: Vec<TakenPiece> = indices.iter().map(|index| stream.take(piece(*index))).collect();
        assert_eq!(&taken, expected, "{indices:?}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn what_could_not_be_sent_comes_next() {
    let (mut stream, now) = (stream(), Instant::now());
    (0..3).for_each(|index| drop(stream.take(piece(index))));
    let first = stream.next_due(now).expect("a piece");
    stream.put_back(first.index);
    assert!(stream.is_behind());
    assert_eq!((sent(&mut stream, now), stream.sent()), (vec![0, 1, 2], 3));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn a_pace_holds_back_and_zero_halts() {
    let (mut stream, now) = (stream(), Instant::now());
    stream.set_pace(10.0, now);
    (0..5).for_each(|index| drop(stream.take(piece(index))));
    assert_eq!(sent(&mut stream, now), [0]);
    assert_eq!(stream.wait(now), Some(Duration::from_millis(100)));
    let later = now + Duration::from_millis(100);
    assert_eq!(sent(&mut stream, later), [1]);
    stream.set_pace(0.0, later);
    assert_eq!((sent(&mut stream, later + Duration::from_secs(9)), stream.wait(later)), (vec![], None));
    stream.set_pace(f64::INFINITY, later);
    assert_eq!(sent(&mut stream, later), [2, 3, 4]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn what_was_let_go_is_said_to_be_lost() {
    let small = StreamBounds { bytes: 1 << 20, pieces: 2, total: 1 << 20 };
    let mut stream = Stream::new(ledger(small));
    (0..4).for_each(|index| drop(stream.take(piece(index))));
    assert_eq!(stream.dropped(), 2);
    let found = stream.find(&[0, 3, 9]);
    assert_eq!(found, [MissedPiece::Lost(0), MissedPiece::Piece(piece(3))], "what has not come is not lost");
    assert_eq!(stream.read_from(1), [1], "2 and 3 are here");
    assert_eq!(sent(&mut stream, Instant::now()), [2, 3]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn a_reader_that_comes_back_gets_what_it_lacks() {
    let (mut stream, now) = (stream(), Instant::now());
    (0..4).for_each(|index| drop(stream.take(piece(index))));
    assert_eq!(sent(&mut stream, now), [0, 1, 2, 3]);
    assert_eq!(stream.read_from(2), Vec::<u64>::new());
    let _ = stream.take(piece(4));
    assert_eq!(sent(&mut stream, now), [2, 3, 4]);
    let mut resumed = Stream::resumed(ledger(StreamBounds::default()), 2, 0);
    (0..4).for_each(|index| drop(resumed.take(piece(index))));
    assert_eq!(sent(&mut resumed, now), [2, 3]);
    // A server that goes on by itself begins where its own checkpoint was.
    let mut resumed = Stream::resumed(ledger(StreamBounds::default()), 3, 2);
    assert_eq!(resumed.take(piece(2)), TakenPiece::New { missing: vec![] });
    assert_eq!(resumed.take(piece(3)), TakenPiece::New { missing: vec![] });
    assert_eq!((sent(&mut resumed, now), resumed.came(), resumed.whole()), (vec![3], 2, 4));
}

#[test]
fn what_came_so_far_is_one_text_where_it_is_text() {
    let mut stream = stream();
    let image = Raw::from_value(&serde_json::json!({"type": "image", "data": ""})).expect("JSON");
    for (index, content) in [text("a "), text("b"), image.clone(), text("c")].into_iter().enumerate() {
        let _ = stream.take(Piece::new(index as u64, content));
    }
    assert_eq!(stream.partial(), (vec![text("a b"), image, text("c")], false));
    let _ = stream.take(piece(6));
    assert!(stream.partial().1, "something is missing");
}

#[test]
fn progress_goes_forward_only() {
    let mut stream = stream();
    for (said, told) in
        [(0.2, Some(0.2)), (0.2, None), (0.1, None), (f64::NAN, None), (0.9, Some(0.9)), (7.0, Some(1.0)), (8.0, None)]
    {
        assert_eq!(stream.advance(said), told, "{said}");
    }
}

#[test]
fn tokens_open_with_their_key_only() {
    let plain = Checkpoint { operation: "op-1".to_owned(), next: 7, inner: None };
    let inner = Checkpoint { inner: Some((6, "their.token".to_owned())), ..plain.clone() };
    for checkpoint in [plain, inner] {
        let token = checkpoint.sign(b"key");
        assert_eq!(Checkpoint::open(&token, b"key"), Ok(checkpoint.clone()));
        assert_eq!(Checkpoint::claimed(&token), Ok(checkpoint));
        assert_eq!(Checkpoint::open(&token, b"other"), Err(CheckpointError::Forged));
        let (said, seal) = token.split_once('.').expect("two parts");
        let other = Checkpoint { operation: "op-1".to_owned(), next: 0, inner: None }.sign(b"elsewhere");
        let mixed = format!("{}.{seal}", other.split_once('.').expect("two parts").0);
        assert_eq!(Checkpoint::open(&mixed, b"key"), Err(CheckpointError::Forged));
        for bad in ["", ".", said, "a.b", &"x".repeat(LONGEST_TOKEN + 1)] {
            assert_eq!(Checkpoint::open(bad, b"key"), Err(CheckpointError::Malformed), "{bad:.40}");
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn a_full_house_still_lets_pieces_pass() {
    let tight = ledger(StreamBounds { bytes: 1 << 10, pieces: 8, total: 300 });
    let mut streams: Vec<Stream> = (0..50).map(|_| Stream::new(tight.clone())).collect();
    let now = Instant::now();
    for round in 0..20 {
        for stream in &mut streams {
            let _ = stream.take(piece(round));
            assert_eq!(sent(stream, now), [round]);
            stream.settle();
        }
        assert!(tight.kept() <= 300, "{}", tight.kept());
    }
    drop(streams);
    assert_eq!(tight.kept(), 0);
}

proptest! {
    /// Whatever comes: bounds hold, no piece is sent twice, each that came is sent unless it was let go, and the books
    /// are even at the end.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn laws(indices in proptest::collection::vec(0u64..60, 0..200), take_every in 1usize..5, pieces in 1usize..20) {
        let bounds = StreamBounds { bytes: 4 << 10, pieces, total: 6 << 10 };
        let ledger = ledger(bounds);
        let now = Instant::now();
        {
            let mut stream = Stream::new(ledger.clone());
            let mut seen = Vec::new();
            let mut came = BTreeSet::new();
            for (step, index) in indices.iter().enumerate() {
                match stream.take(piece(*index)) {
                    TakenPiece::New { missing } => {
                        prop_assert!(came.insert(*index));
                        prop_assert!(missing.iter().all(|number| number < index && !came.contains(number)));
                    }
                    TakenPiece::Again => prop_assert!(came.contains(index)),
                    TakenPiece::TooFar => prop_assert!(false),
                }
                if step % take_every == 0 {
                    seen.extend(sent(&mut stream, now));
                }
                prop_assert!(stream.bytes() <= bounds.bytes);
                prop_assert_eq!(ledger.kept(), stream.bytes());
                prop_assert!((0..stream.whole()).all(|number| came.contains(&number)));
                prop_assert!(!came.contains(&stream.whole()));
            }
            seen.extend(sent(&mut stream, now));
            let once: BTreeSet<u64> = seen.iter().copied().collect();
            prop_assert_eq!(once.len(), seen.len());
            prop_assert!(once.is_subset(&came));
            prop_assert_eq!(once.len() as u64 + stream.dropped(), came.len() as u64);
        }
        prop_assert_eq!(ledger.kept(), 0);
    }
}

proptest! {
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn a_reader_that_goes_on_where_it_stopped_misses_nothing(
        order in Just((0..24u64).collect::<Vec<_>>()).prop_shuffle(),
        come in 1..24usize,
        read in 0..24usize,
    ) {
        let (mut stream, now) = (stream(), Instant::now());
        for index in &order[..come] {
            let mut piece = piece(*index);
            piece.checkpoint = (index % 3 == 0).then(|| format!("after-{index}"));
            stream.take(piece);
        }
        let mut got: BTreeSet<u64> = (0..read).map_while(|_| stream.next_due(now)).map(|piece| piece.index).collect();
        let next = stream.unsent();
        prop_assert!((0..next).all(|index| got.contains(&index)), "{next} is behind what was not sent: {got:?}");
        if let Some((after, token)) = stream.checkpoint(next) {
            prop_assert!(after <= next, "{token} is behind {next}");
        }
        stream.read_from(next);
        for index in &order[come..] {
            stream.take(piece(*index));
        }
        got.extend(sent(&mut stream, now));
        prop_assert_eq!(got, (0..24).collect::<BTreeSet<u64>>());
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
fn what_was_let_go_before_it_was_sent_is_not_passed_over() {
    let bounds = StreamBounds { pieces: 2, ..StreamBounds::default() };
    let (mut stream, now) = (Stream::new(ledger(bounds)), Instant::now());
    stream.take(piece(0));
    assert_eq!(sent(&mut stream, now), [0]);
    for index in 1..6 {
        stream.take(piece(index));
    }
    assert_eq!((sent(&mut stream, now), stream.dropped()), (vec![4, 5], 3));
    assert_eq!(stream.unsent(), 1, "a checkpoint does not point behind what the reader never got");
    assert_eq!(stream.read_from(1), [1, 2, 3], "and who goes on from there is told");
    assert_eq!((sent(&mut stream, now), stream.unsent()), (vec![4, 5], 6));
}
