//! Whatever readers do, what was accepted arrives once, in order, and the log stays within its bounds.

use futures_util::task::noop_waker;
use proptest::prelude::*;
use switchboard_wire::sse::Decoder;

use super::*;
use crate::server::http::memory::Memory;

const LIMITS: LogLimits = LogLimits { events: 6, bytes: 400 };
const CALL: Kind = Kind { resumable: true, lasts: false };

fn log(id: u64, kind: Kind, limits: LogLimits) -> Arc<EventLog> {
    EventLog::new(id, kind, limits, Memory::new(1 << 20).account(&"ann".into()), Weak::new())
}

#[derive(Debug, Clone)]
enum Step {
    Push(usize),
    Read,
    Leave,
    Close,
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0usize..120).prop_map(Step::Push),
        4 => Just(Step::Read),
        1 => Just(Step::Leave),
        1 => Just(Step::Close),
        1 => Just(Step::Forget),
    ]
}

/// A client that comes back whenever its stream ends.
struct Client {
    log: Arc<EventLog>,
    reader: Option<Reader>,
    last: u64,
    got: Vec<usize>,
}

impl Client {
    fn read(&mut self) {
        let reader = self.reader.get_or_insert_with(|| self.log.read(Some(self.last)));
        match reader.poll_event(&mut Context::from_waker(&noop_waker())) {
            Poll::Ready(Some(bytes)) => {
                let mut decoder = Decoder::new(10_000);
                decoder.push(&bytes);
                let event = decoder.next_event().unwrap().unwrap();
                self.last = event.id.unwrap().split_once('-').unwrap().1.parse().unwrap();
                let text = std::str::from_utf8(&event.data).unwrap();
                if text.contains("events_lost") {
                    return;
                }
                self.got.push(text.split_once(' ').unwrap().0.parse().unwrap());
            }
            Poll::Ready(None) => self.reader = None,
            Poll::Pending => {}
        }
    }
}

proptest! {
    #[test]
    fn nothing_accepted_is_lost_or_repeated(steps in proptest::collection::vec(step(), 0..200)) {
        let log = log(3, CALL, LIMITS);
        let mut client = Client { log: log.clone(), reader: None, last: 0, got: Vec::new() };
        let mut accepted = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Push(length) => {
                    if log.push(&format!("{number} {}", "x".repeat(length)).into()).is_ok() {
                        accepted.push(number);
                    }
                }
                Step::Read => client.read(),
                Step::Leave => client.reader = None,
                Step::Close => log.close_reader(),
                Step::Forget => log.forget_read(),
            }
            let state = log.state.lock();
            prop_assert!(state.events.len() <= LIMITS.events * BURST);
            prop_assert!(state.bytes <= LIMITS.bytes || state.events.len() == 1);
            prop_assert_eq!(state.bytes, state.events.iter().map(Bytes::len).sum::<usize>());
        }
        log.push_answer(&"999999 ".into());
        log.finish();
        // Each read gives an event or notices an end, after which the client comes back.
        for _ in 0..2 * accepted.len() + 10 {
            client.read();
        }
        accepted.push(999_999);
        prop_assert_eq!(client.got, accepted);
    }
}

#[test]
fn a_log_that_cannot_be_resumed_tells_when_its_reader_is_lost() {
    for lasts in [false, true] {
        let log = log(0, Kind { resumable: false, lasts }, LIMITS);
        let reader = log.read(None);
        assert!(!log.lost.is_cancelled());
        drop(reader);
        assert!(log.lost.is_cancelled());
    }
}

fn read_all(reader: &mut Reader) -> Vec<String> {
    let mut all = Vec::new();
    while let Poll::Ready(Some(bytes)) = reader.poll_event(&mut Context::from_waker(&noop_waker())) {
        all.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    all
}

#[test]
fn the_stream_of_a_call_gets_its_answer_whatever_came_before_it() {
    for resumable in [false, true] {
        let log = log(0, Kind { resumable, lasts: false }, LIMITS);
        let mut reader = log.read(None);
        let kept = (0..10_000).filter(|_| log.push(&"x".into()).is_ok()).count();
        // It had no chance to read anything yet.
        assert!(kept > LIMITS.events && kept < 100, "{kept}");
        assert!(!log.lost.is_cancelled());
        log.push_answer(&"the answer".into());
        log.finish();
        let all = read_all(&mut reader);
        assert_eq!(all.len(), kept + 1);
        assert!(all.last().unwrap().contains("the answer"));
    }
}

#[test]
fn the_reader_of_a_stream_that_lasts_learns_that_it_missed_something() {
    for resumable in [false, true] {
        let log = log(0, Kind { resumable, lasts: true }, LIMITS);
        let mut reader = log.read(None);
        for _ in 0..LIMITS.events * 2 {
            log.push(&"x".into()).unwrap();
        }
        assert_eq!(read_all(&mut reader).len(), LIMITS.events * 2, "it had no time to read, so it is not slow");
        while log.push(&"x".into()).is_ok() {}
        assert!(!log.is_attached());
        assert_eq!(log.lost.is_cancelled(), !resumable);
        let ended = reader.poll_event(&mut Context::from_waker(&noop_waker()));
        assert!(matches!(ended, Poll::Ready(None)));
    }
}

#[test]
fn a_reader_that_has_had_its_time_is_slow() {
    let log = log(0, Kind { resumable: false, lasts: true }, LIMITS);
    let _reader = log.read(None);
    while log.state.lock().events.len() < LIMITS.events {
        log.push(&"x".into()).unwrap();
    }
    log.push(&"x".into()).unwrap();
    log.state.lock().away = Instant::now().checked_sub(SLOW);
    assert!(log.push(&"x".into()).is_err() && log.lost.is_cancelled());
}

#[test]
fn all_logs_together_keep_within_one_bound() {
    let memory = Memory::new(100_000);
    let account = |name: &str| memory.account(&name.into());
    let mut logs = Vec::new();
    for number in 0..100 {
        let limits = LogLimits { events: 512, bytes: 1 << 20 };
        let log = EventLog::new(number, CALL, limits, account("ann"), Weak::new());
        while log.push(&Bytes::from(vec![b'x'; 500])).is_ok() {}
        logs.push(log);
    }
    assert!((40_000..=50_000).contains(&memory.used()), "{}", memory.used());
    // What was read makes room for what was not.
    read_all(&mut logs[0].read(None));
    assert!(logs[0].push(&"x".into()).is_ok());
    // Answers are kept all the same, and others are not kept from their share.
    logs[99].push_answer(&"the answer".into());
    let other = EventLog::new(0, CALL, LIMITS, account("bob"), Weak::new());
    other.push(&"x".into()).unwrap();
    drop((logs, other));
    assert_eq!(memory.used(), 0);
}

/// What a call said on its way is worth less than its answer, where there is no room for both.
#[test]
fn answers_take_the_room_of_what_came_before_them() {
    let memory = Memory::new(100_000);
    let limits = LogLimits { events: 512, bytes: 1 << 20 };
    let new = |number| EventLog::new(number, CALL, limits, memory.account(&"ann".into()), Weak::new());
    let logs: Vec<_> = (0..20).map(new).collect();
    let mut readers: Vec<_> = logs.iter().map(|log| log.read(None)).collect();
    for _ in 0..512 {
        for log in &logs {
            let _ = log.push(&Bytes::from(vec![b'x'; 500]));
        }
    }
    let before = memory.used();
    assert!(before > 40_000, "{before}");
    for log in &logs {
        log.push_answer(&Bytes::from(vec![b'a'; 1_500]));
        log.push_answer(&"the second of a batch".into());
        log.finish();
    }
    assert!(memory.used() <= 50_000, "{}", memory.used());
    for reader in &mut readers {
        let all = read_all(reader);
        let [.., first, second] = &all[..] else { panic!("{all:?}") };
        assert!(first.contains("aaaa") && second.contains("the second of a batch"), "{all:?}");
    }
}

#[test]
fn a_reader_who_reads_does_not_pay_for_those_who_do_not() {
    let memory = Memory::new(10_000);
    let lasting = Kind { resumable: false, lasts: true };
    let [stalled, read] =
        [1, 2].map(|number| EventLog::new(number, lasting, LIMITS, memory.account(&"ann".into()), Weak::new()));
    stalled.account.take_always(10_000);
    let mut reader = read.read(None);
    for _ in 0..3 {
        read.push(&"x".into()).unwrap();
        read_all(&mut reader);
    }
    read.push(&"x".into()).unwrap();
    assert!(read.push(&"x".into()).is_err(), "one waits, and there is room for no more");
}

#[test]
fn what_nobody_has_read_is_counted() {
    for resumable in [false, true] {
        let log = log(1, Kind { resumable, lasts: false }, LogLimits { events: 6, bytes: 4_000 });
        let mut reader = log.read(None);
        assert_eq!(log.unread_bytes(), 0);
        for _ in 0..3 {
            log.push(&Bytes::from_static(b"{}")).unwrap();
        }
        let all = log.unread_bytes();
        let waker = noop_waker();
        let read = reader.poll_event(&mut Context::from_waker(&waker));
        let Poll::Ready(Some(event)) = read else { panic!("an event") };
        assert_eq!(log.unread_bytes(), all - event.len());
    }
}

#[test]
fn a_reader_that_comes_back_too_late_is_told_what_it_missed() {
    let log = log(7, CALL, LIMITS);
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    let mut poll = |reader: &mut Reader| match reader.poll_event(&mut cx) {
        Poll::Ready(Some(bytes)) => {
            let mut decoder = Decoder::new(10_000);
            decoder.push(&bytes);
            let event = decoder.next_event().unwrap().unwrap();
            Some((event.id.unwrap(), String::from_utf8(event.data.to_vec()).unwrap()))
        }
        _ => None,
    };
    let mut first = log.read(None);
    for number in 1..=10 {
        log.push(&Bytes::from(number.to_string())).unwrap();
        assert_eq!(poll(&mut first), Some((format!("7-{number}"), number.to_string())));
    }
    log.push_answer(&Bytes::from_static(b"answer"));
    // Of what was sent, the client got two.
    let mut again = log.read(Some(2));
    let (id, told) = poll(&mut again).unwrap();
    assert!(told.contains(r#""kind":"events_lost","lost":3"#), "{told}");
    assert_eq!(id, "7-5", "from here it can come back again");
    let rest: Vec<String> = std::iter::from_fn(|| poll(&mut again)).map(|(_, text)| text).collect();
    assert_eq!(rest, ["6", "7", "8", "9", "10", "answer"]);
    let mut in_time = log.read(Some(5));
    assert_eq!(poll(&mut in_time), Some(("7-6".to_owned(), "6".to_owned())), "nothing is missing");
}

/// What there was no room for has no number: a reader that comes back learns of it all the same, once.
#[test]
fn a_reader_that_comes_back_is_told_of_what_there_was_no_room_for() {
    let log = log(7, CALL, LIMITS);
    let read = |reader: &mut Reader| match reader.poll_event(&mut Context::from_waker(&noop_waker())) {
        Poll::Ready(Some(bytes)) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    };
    log.push(&"0 first".into()).unwrap();
    let mut reader = log.read(None);
    assert!(read(&mut reader).contains("first"));
    drop(reader);
    let refused = (0..20).filter(|number| log.push(&format!("{number} x").into()).is_err()).count();
    assert!(refused > 0);
    assert_eq!(log.unread_bytes(), usize::MAX, "whoever keeps what it has to say sees that there is no room");
    let mut reader = log.read(Some(1));
    assert!(read(&mut reader).contains(&format!(r#""kind":"events_lost","lost":{refused}"#)));
    assert!(read(&mut reader).contains("0 x"), "then what was kept");
    let mut again = log.read(Some(1)).primed(Duration::from_secs(1));
    assert!(!read(&mut again).contains("events_lost"), "it was told");
    assert!(read(&mut again).contains("0 x"));
}
