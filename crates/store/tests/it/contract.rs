//! What every engine must do. One list of cases, run on each.

mod approvals;
mod audit;
mod credentials;
mod grants;
mod operations;
mod pins;
mod tokens;

use std::pin::Pin;

use crate::sample::{Fixture, at};

pub(crate) type Case = for<'a> fn(&'a mut Fixture) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

macro_rules! cases {
    ($($($part:ident)::+),+ $(,)?) => {
        &[$((stringify!($($part)::+), |fixture| Box::pin($($part)::+(fixture)))),+]
    };
}

pub(crate) const CASES: &[(&str, Case)] = cases![
    operations::begin_and_end,
    operations::the_first_answer_stands,
    audit::numbers_and_links_what_is_appended,
    audit::finds_by_every_filter,
    audit::pages_tails_and_exports,
    audit::counts_by_group,
    audit::many_callers_share_one_chain,
    audit::heads_are_signed_by_count_and_by_time,
    audit::old_records_can_be_removed_and_the_rest_verifies,
    audit::appends_of_any_length_are_one_chain,
    audit::odd_text_is_kept_and_found,
    audit::what_is_offered_again_is_added_once,
    audit::a_refused_group_leaves_nothing_and_an_unknown_one_is_recognised,
    audit::a_chain_that_fell_back_takes_nothing,
    audit::an_emptied_log_takes_nothing_until_it_is_accepted,
    audit::a_copy_from_before_a_retention_can_be_accepted,
    grants::are_put_listed_and_revoked,
    grants::allow_and_deny_stand_side_by_side,
    grants::a_revoke_takes_what_it_names,
    grants::permissions_of_servers_keep_their_scopes,
    pins::first_use_then_change_then_acceptance,
    pins::what_a_human_saw_is_what_is_accepted,
    pins::several_definitions_are_accepted_side_by_side,
    pins::a_refused_definition_waits_no_longer,
    pins::definitions_of_one_tool_are_bounded,
    pins::accepted_definitions_of_earlier_builds_stay,
    approvals::one_use_passes_once,
    approvals::what_stands_is_listed_until_it_ends_or_is_taken_back,
    approvals::bound_to_the_call,
    approvals::shown_again,
    approvals::expiry_is_to_the_instant,
    approvals::standing_ones_serve_their_session_or_all,
    approvals::are_decided_together_and_only_once,
    tokens::live_and_die,
    tokens::names_are_unique_among_the_living,
    credentials::are_kept_per_server_and_principal,
    clock_never_goes_back,
    survives_closing,
];

async fn clock_never_goes_back(fixture: &mut Fixture) {
    assert_eq!(fixture.store.latest_time(at(100)).await.unwrap(), at(100));
    assert_eq!(fixture.store.latest_time(at(40)).await.unwrap(), at(100));
    fixture.reopen().await;
    assert_eq!(fixture.store.latest_time(at(41)).await.unwrap(), at(100));
    assert_eq!(fixture.store.latest_time(at(101)).await.unwrap(), at(101));
}

async fn survives_closing(fixture: &mut Fixture) {
    let appended = fixture.store.audit().append(&crate::sample::events(0..10)).await.unwrap();
    fixture.reopen().await;
    assert_eq!(fixture.store.audit().end().await.unwrap(), appended[9]);
    let more = fixture.store.audit().append(&crate::sample::events(10..11)).await.unwrap();
    assert_eq!(more[0].seq, 11);
    assert!(fixture.store.audit().verify(&[]).await.unwrap().is_whole());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_the_contract() {
    for (name, case) in CASES {
        println!("{name}");
        let mut fixture = Fixture::sqlite(switchboard_store::Options::default()).await;
        case(&mut fixture).await;
        fixture.store.close().await.unwrap();
    }
}
