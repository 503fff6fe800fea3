//! Laws of a server's life, over any sequence of events.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use switchboard_flow::lifecycle::{Action, After, Lifecycle, LifecycleEvent, State};
use switchboard_flow::restart::{RestartMode, RestartPolicy};

/// The transitions that there are, written out by hand a second time, from the drawing of MGP 11.2.
const ALLOWED: &[(State, &[State])] = &[
    (State::Registered, &[State::Connecting, State::Disconnected]),
    (State::Connecting, &[State::Connected, State::Error, State::Disconnected]),
    (State::Connected, &[State::Draining, State::Error, State::Disconnected]),
    (State::Draining, &[State::Restarting, State::Disconnected]),
    (State::Disconnected, &[State::Connecting]),
    (State::Error, &[State::Restarting, State::Connecting, State::Disconnected]),
    (State::Restarting, &[State::Connected, State::Error, State::Disconnected]),
];

fn event() -> impl Strategy<Value = LifecycleEvent> {
    let after = prop_oneof![Just(After::Stop), Just(After::Restart), Just(After::Sleep), Just(After::Policy)];
    prop_oneof![
        1 => Just(LifecycleEvent::Start),
        1 => Just(LifecycleEvent::Wanted),
        3 => Just(LifecycleEvent::Ready),
        2 => Just(LifecycleEvent::Failed),
        1 => Just(LifecycleEvent::Refused),
        2 => any::<bool>().prop_map(|clean| LifecycleEvent::Ended { clean }),
        2 => after.prop_map(LifecycleEvent::Drain),
        1 => Just(LifecycleEvent::Drained),
        1 => Just(LifecycleEvent::PauseOver),
        1 => Just(LifecycleEvent::Stop),
    ]
}

fn mode() -> impl Strategy<Value = RestartMode> {
    prop_oneof![Just(RestartMode::Never), Just(RestartMode::OnFailure), Just(RestartMode::Always)]
}

/// Whether an event is somebody's wish to have it up.
fn is_by_hand(event: LifecycleEvent) -> bool {
    matches!(event, LifecycleEvent::Start | LifecycleEvent::Drain(After::Restart))
}

proptest! {
    #[test]
    fn no_sequence_of_events_reaches_a_forbidden_transition(
        mode in mode(), asleep in any::<bool>(), events in vec((event(), 0_u64..60_000, any::<u64>()), 0..200),
    ) {
        let policy = RestartPolicy { mode, ..RestartPolicy::default() };
        let mut life = Lifecycle::new(policy);
        if asleep {
            life = life.asleep();
        }
        let mut now = Duration::ZERO;
        let mut before = life.state();
        for (event, passed, chance) in events {
            now += Duration::from_millis(passed);
            let stopped = life.is_stopped();
            let step = life.on(event, now, chance);
            for (from, to) in step.changes() {
                prop_assert_eq!(from, before);
                let allowed = ALLOWED.iter().find(|(state, _)| *state == from).unwrap().1;
                prop_assert!(allowed.contains(&to), "{:?} to {:?} by {:?}", from, to, event);
                prop_assert!(from.may_become(to));
                before = to;
            }
            prop_assert_eq!(before, life.state());
            // An operator's stop is final.
            if stopped && !is_by_hand(event) {
                prop_assert!(life.is_stopped(), "{:?} undid a stop", event);
                let starts = matches!(step.action, Action::Connect | Action::ConnectAfter(_));
                prop_assert!(!starts, "{:?} started what was stopped", event);
            }
            // What is said to be up is up, and what is asleep is down.
            prop_assert_eq!(life.up_since().is_some(), matches!(life.state(), State::Connected | State::Draining));
            prop_assert!(!life.is_asleep() || matches!(life.state(), State::Registered | State::Disconnected));
            if mode == RestartMode::Never {
                prop_assert!(!matches!(step.action, Action::ConnectAfter(pause) if !pause.is_zero()));
            }
        }
    }

    #[test]
    fn what_nobody_touches_is_started_at_most_as_often_as_the_policy_says(
        outcomes in vec((any::<bool>(), 0_u64..40_000), 1..200),
    ) {
        let policy = RestartPolicy { mode: RestartMode::Always, ..RestartPolicy::default() };
        let mut life = Lifecycle::new(policy.clone());
        let mut now = Duration::ZERO;
        let mut starts = Vec::new();
        life.on(LifecycleEvent::Start, now, 0);
        for (up, lived) in outcomes {
            if up {
                life.on(LifecycleEvent::Ready, now, 0);
                now += Duration::from_millis(lived);
            }
            let event = if up { LifecycleEvent::Ended { clean: false } } else { LifecycleEvent::Failed };
            match life.on(event, now, 0).action {
                Action::ConnectAfter(pause) => {
                    starts.push(now);
                    now += pause;
                    prop_assert_eq!(life.on(LifecycleEvent::PauseOver, now, 0).action, Action::Connect);
                }
                Action::GiveUp => break,
                other => prop_assert!(false, "{:?}", other),
            }
            let recent = starts.iter().filter(|at| now.saturating_sub(**at) < policy.window);
            prop_assert!(recent.count() <= 5);
        }
    }
}

#[test]
fn a_life_as_it_should_be() {
    let mut life = Lifecycle::new(RestartPolicy::default());
    let mut at = |event, seconds| {
        let step = life.on(event, Duration::from_secs(seconds), 250);
        (life.state(), step.action)
    };
    assert_eq!(at(LifecycleEvent::Start, 0), (State::Connecting, Action::Connect));
    assert_eq!(at(LifecycleEvent::Ready, 1), (State::Connected, Action::Nothing));
    let lost = at(LifecycleEvent::Ended { clean: false }, 2);
    assert_eq!(lost, (State::Restarting, Action::ConnectAfter(Duration::ZERO)), "it comes back at once");
    assert_eq!(at(LifecycleEvent::PauseOver, 2), (State::Restarting, Action::Connect));
    assert_eq!(at(LifecycleEvent::Ready, 3), (State::Connected, Action::Nothing));
    assert_eq!(at(LifecycleEvent::Ended { clean: true }, 4), (State::Disconnected, Action::Disconnect));
    assert_eq!(at(LifecycleEvent::Wanted, 5), (State::Connecting, Action::Connect), "a call wakes it");
    assert_eq!(at(LifecycleEvent::Ready, 5), (State::Connected, Action::Nothing));
    assert_eq!(at(LifecycleEvent::Drain(After::Stop), 6), (State::Draining, Action::Drain));
    assert_eq!(at(LifecycleEvent::Drained, 7), (State::Disconnected, Action::Disconnect));
    assert_eq!(at(LifecycleEvent::Wanted, 8), (State::Disconnected, Action::Nothing), "a stop is final");
    assert_eq!(at(LifecycleEvent::Start, 9), (State::Connecting, Action::Connect));
}

#[test]
fn policies_differ_in_what_they_do_after_an_end() {
    use RestartMode::{Always, Never, OnFailure};
    let lost = LifecycleEvent::Ended { clean: false };
    let left = LifecycleEvent::Ended { clean: true };
    for (mode, event, expected) in [
        (Never, lost, State::Error),
        (Never, left, State::Error),
        (OnFailure, lost, State::Restarting),
        (OnFailure, left, State::Disconnected),
        (Always, lost, State::Restarting),
        (Always, left, State::Restarting),
    ] {
        let mut life = Lifecycle::new(RestartPolicy { mode, ..RestartPolicy::default() });
        life.on(LifecycleEvent::Start, Duration::ZERO, 0);
        life.on(LifecycleEvent::Ready, Duration::ZERO, 0);
        life.on(event, Duration::from_secs(60), 0);
        assert_eq!(life.state(), expected, "{mode:?} {event:?}");
    }
    for (mode, expected) in
        [(Never, State::Disconnected), (OnFailure, State::Disconnected), (Always, State::Restarting)]
    {
        let mut life = Lifecycle::new(RestartPolicy { mode, ..RestartPolicy::default() });
        life.on(LifecycleEvent::Start, Duration::ZERO, 0);
        life.on(LifecycleEvent::Ready, Duration::ZERO, 0);
        life.on(LifecycleEvent::Drain(After::Policy), Duration::ZERO, 0);
        life.on(LifecycleEvent::Drained, Duration::ZERO, 0);
        assert_eq!(life.state(), expected, "{mode:?} after a graceful shutdown");
    }
}
