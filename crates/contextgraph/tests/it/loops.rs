//! What is computed has effect: feedback, calibration, modulators, steering and drift change what later calls answer.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::questions::told;
use crate::set::{self, Score};
use crate::support::{Memory, TOPICS};

fn ids(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|hit| hit["fingerprintId"].as_str().unwrap().to_owned()).collect()
}

fn tester() -> switchboard_contextgraph::server::MemoryCaller {
    switchboard_contextgraph::server::MemoryCaller { principal: "tester".to_owned(), ..Default::default() }
}

fn search(memory: &Memory, query: &str, most: usize) -> Value {
    memory.call("search_graph", json!({"query": query, "topK": most}))
}

fn judge(memory: &Memory, answer: &Value, result: &str, right: bool) -> Value {
    let word = if right { "relevant" } else { "not_relevant" };
    memory.call(
        "update_synergy_matrix",
        json!({"query_vector_id": answer["queryId"], "result_vector_id": result, "feedback": word}),
    )
}

/// Lets modulators return to their base.
fn rest(memory: &Memory) {
    memory.pass(600_000);
}

fn score(memory: &Memory, places: &HashMap<String, usize>, asked: &[&set::Asked]) -> Score {
    let mut score = Score::default();
    for one in asked {
        rest(memory);
        let found: Vec<usize> = ids(&search(memory, &one.question, 5)).iter().map(|id| places[id]).collect();
        score.add(&found, one.answer);
    }
    score
}

#[test]
fn feedback_changes_the_order_for_the_judged_query_and_near_ones_and_harms_no_other() {
    let english = &set::all()[0];
    let (memory, places) = told(english);
    let others: Vec<&set::Asked> = english.asked.iter().filter(|one| one.kind != "preference").collect();
    let before = score(&memory, &places, &others);
    let query = "What does Clara have for breakfast to drink?";
    let near = "what does Clara drink for breakfast?";
    rest(&memory);
    let first = search(&memory, query, 5);
    let of = |answer: &Value, id: &str| {
        let hits = answer["results"].as_array().unwrap();
        hits.iter().find(|hit| hit["fingerprintId"] == id).map_or(0.0, |hit| hit["similarity"].as_f64().unwrap())
    };
    let found = ids(&first);
    let (wrong, right) = (&found[0], &found[2]);
    let mut undo = Vec::new();
    for _ in 0..3 {
        let answer = search(&memory, query, 5);
        undo.push(judge(&memory, &answer, wrong, false)["undo"].clone());
        undo.push(judge(&memory, &answer, right, true)["undo"].clone());
    }
    rest(&memory);
    for asked in [query, near] {
        let after = search(&memory, asked, 5);
        assert_eq!(&ids(&after)[0], right, "what was called right is first for {asked:?}");
        assert!(of(&after, wrong) < of(&first, wrong) - 0.05, "and what was called wrong has fallen");
    }
    let after = score(&memory, &places, &others);
    assert!(after.first >= before.first && after.five >= before.five, "others are unharmed: {before:?} {after:?}");
    // It outlives a restart, and can be taken back.
    let again = memory.again();
    assert_eq!(&ids(&search(&again, query, 5))[0], right);
    for record in undo.iter().rev().take(2) {
        let record = record.as_str().unwrap().parse().unwrap();
        again.server.with_space(&tester(), |space, now| space.undo(record, now)).unwrap();
    }
    rest(&again);
    assert_eq!(&ids(&search(&again, query, 5))[0], wrong, "without the judgements it is as it was");
}

/// The expected error of confidence over ten bins.
fn ece(samples: &[(f64, f64)]) -> f64 {
    switchboard_contextgraph::thresholds::metrics::measure(samples).ece
}

#[test]
fn calibration_is_applied_to_what_is_shown_and_holds_for_new_judgements() {
    let english = &set::all()[0];
    let (memory, places) = told(english);
    let judge_all = |held_out: bool| -> Vec<(f64, f64, f64)> {
        let mut samples = Vec::new();
        for asked in english.asked.iter().filter(|one| one.held_out == held_out) {
            let answer = search(&memory, &asked.question, 3);
            for hit in answer["results"].as_array().unwrap() {
                let id = hit["fingerprintId"].as_str().unwrap();
                let right = places[id] == asked.answer;
                judge(&memory, &answer, id, right);
                let number = |key: &str| hit[key].as_f64().unwrap();
                samples.push((number("similarity"), number("confidence"), f64::from(u8::from(right))));
            }
        }
        samples
    };
    let first = judge_all(false);
    assert!(first.iter().all(|one| one.0 == one.1), "before calibration confidence is likeness");
    let before = memory.call("get_calibration_metrics", json!({}))["metrics"]["ece"].as_f64().unwrap();
    let done = memory.call("trigger_recalibration", json!({"level": 2}));
    let said = done["metrics_after"]["ece"].as_f64().unwrap();
    let measured = memory.call("get_calibration_metrics", json!({}))["metrics"]["ece"].as_f64().unwrap();
    assert!((said - measured).abs() < 1e-9, "what is said is what holds: {said} {measured}");
    assert!(said < before - 0.02, "{before} {said}");
    let new = judge_all(true);
    let plain: Vec<(f64, f64)> = new.iter().map(|one| (one.0, one.2)).collect();
    let calibrated: Vec<(f64, f64)> = new.iter().map(|one| (one.1, one.2)).collect();
    println!("ECE of new judgements: {:.3} plain, {:.3} calibrated", ece(&plain), ece(&calibrated));
    assert!(ece(&calibrated) < ece(&plain), "{} {}", ece(&calibrated), ece(&plain));
}

#[test]
fn calibrated_thresholds_are_those_that_results_are_named_by() {
    let english = &set::all()[0];
    let (memory, places) = told(english);
    for asked in &english.asked {
        let answer = search(&memory, &asked.question, 3);
        for id in ids(&answer) {
            judge(&memory, &answer, &id, places[&id] == asked.answer);
        }
    }
    for level in [2, 3, 4] {
        memory.call("trigger_recalibration", json!({"level": level}));
    }
    let status = memory.call("get_threshold_status", json!({}));
    let theta = |name: &str| status["thresholds"]["all"][name].as_f64().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for asked in &english.asked {
        for hit in search(&memory, &asked.question, 10)["results"].as_array().unwrap() {
            let confidence = hit["confidence"].as_f64().unwrap();
            let expected = match confidence {
                c if c >= theta("theta_opt") => "sure",
                c if c >= theta("theta_acc") => "likely",
                c if c >= theta("theta_warn") => "possible",
                _ => "doubtful",
            };
            assert_eq!(hit["standing"], expected, "{confidence}");
            seen.insert(expected);
        }
    }
    assert!(seen.contains("doubtful") && seen.len() > 1, "{seen:?}");
}

fn filled() -> Memory {
    let memory = Memory::new();
    TOPICS.iter().for_each(|text| {
        memory.store(text);
    });
    memory
}

const ASKED: [&str; 6] = [
    "what about the match and the pie",
    "a full disk",
    "the team trains and bakes",
    "butter and goalkeepers",
    "backup of the season",
    "water for the server",
];

/// The order of all results for all questions, with a modulator moved as far as it goes.
fn orders(memory: &Memory, modulator: &str, delta: f64) -> Vec<Vec<String>> {
    let mut orders = Vec::new();
    for query in ASKED {
        rest(memory);
        if delta != 0.0 {
            memory.call("adjust_neuromodulator", json!({"modulator": modulator, "delta": delta}));
        }
        orders.push(ids(&search(memory, query, 6)));
    }
    orders
}

#[test]
fn modulators_change_the_order_of_results_and_let_go_of_it() {
    let memory = filled();
    for modulator in ["dopamine", "serotonin", "noradrenaline"] {
        let base = orders(&memory, modulator, 0.0);
        let (high, low) = (orders(&memory, modulator, 9.0), orders(&memory, modulator, -9.0));
        assert_ne!(high, low, "{modulator} is seen in the order");
        assert_eq!(orders(&memory, modulator, 0.0), base, "{modulator} has decayed");
        for (one, other) in base.iter().zip(&high) {
            let kept = one.iter().filter(|id| other.contains(id)).count();
            assert!(kept >= 2, "{modulator} is bounded: {kept} of six are the same");
        }
    }
}

#[test]
fn noradrenaline_is_breadth_and_serotonin_is_balance() {
    let memory = Memory::new();
    let topic: HashMap<String, usize> =
        TOPICS.iter().enumerate().map(|(at, text)| (memory.store(text), at / 6)).collect();
    let topics = |delta: f64| -> usize {
        let distinct =
            |found: Vec<String>| found.iter().map(|id| topic[id]).collect::<std::collections::BTreeSet<_>>().len();
        orders(&memory, "noradrenaline", delta).into_iter().map(distinct).sum()
    };
    let (narrow, wide) = (topics(-9.0), topics(9.0));
    assert!(wide > narrow, "{wide} topics in wide answers, {narrow} in narrow ones");
    let memory = Memory::new();
    let words = memory.store("Doctor Who is a series on channel four");
    let meaning = memory.store("The physician gave her pills against the pain");
    let lead = |delta: f64| {
        rest(&memory);
        memory.call("adjust_neuromodulator", json!({"modulator": "serotonin", "delta": delta}));
        let answer = search(&memory, "medicine from the doctor", 2);
        let of = |id: &str| {
            let hits = answer["results"].as_array().unwrap();
            hits.iter().find(|hit| hit["fingerprintId"] == id).unwrap()["similarity"].as_f64().unwrap()
        };
        of(&meaning) - of(&words)
    };
    assert!(lead(1.0) > lead(-1.0) + 0.01, "meaning counts more with serotonin: {} {}", lead(1.0), lead(-1.0));
}

#[test]
fn steering_moves_once_and_not_each_time_it_is_looked_at() {
    let memory = filled();
    rest(&memory);
    let dopamine = |memory: &Memory| {
        memory.call("get_steering_feedback", json!({}))["neuromodulation"]["da_new"].as_f64().unwrap()
    };
    let levels: Vec<f64> = (0..30).map(|_| dopamine(&memory)).collect();
    let reward = memory.call("get_steering_feedback", json!({}))["reward"]["value"].as_f64().unwrap();
    let last = levels[29];
    assert!((last - 3.0).abs() <= reward.abs() + 0.05, "{reward} {levels:?}");
    assert!((last - levels[20]).abs() < 0.05, "{levels:?}");
}

#[test]
fn drift_is_measured_from_the_star_and_corrected_in_memories_not_in_the_yardstick() {
    let memory = Memory::new();
    for text in &TOPICS[..6] {
        memory.inject(text);
    }
    let empty = Memory::new().call("get_alignment_drift", json!({}));
    assert_eq!(
        (&empty["overall_drift"]["level"], &empty["overall_drift"]["drift_score"]),
        (&json!("None"), &json!(0.0))
    );
    memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.1}));
    let drift = |memory: &Memory| memory.call("get_alignment_drift", json!({}))["overall_drift"].clone();
    let at_first = drift(&memory);
    assert_eq!(at_first["level"], "None", "nothing has drifted yet: {at_first}");
    for text in &TOPICS[6..] {
        memory.inject(text);
    }
    let away = drift(&memory);
    let score = |drift: &Value| drift["drift_score"].as_f64().unwrap();
    assert!(score(&away) > score(&at_first) + 0.02, "{at_first} {away}");
    let weights = |memory: &Memory| {
        rest(memory);
        memory.call("get_autonomous_status", json!({"include_metrics": true}))["metrics"]["space_weights"].clone()
    };
    let yardstick = weights(&memory);
    let done = memory.call("trigger_drift_correction", json!({"force": true}));
    let result = &done["correction_result"];
    let number = |key: &str| result[key].as_f64().unwrap();
    assert!(number("alignment_after") > number("alignment_before"), "{result}");
    assert_eq!(result["memories_moved"], 18);
    assert_eq!(weights(&memory), yardstick, "what is measured with is the same");
    let record = done["undo"].as_str().unwrap().parse().unwrap();
    memory.server.with_space(&tester(), |space, now| space.undo(record, now)).unwrap();
    let back = drift(&memory)["similarity"].as_f64().unwrap();
    assert!((back - number("alignment_before")).abs() < 1e-3, "{back} {result}");
}

#[test]
fn what_stands_out_in_a_result_is_named_and_is_not_time() {
    let memory = filled();
    let mut named = std::collections::BTreeSet::new();
    for query in ASKED {
        for hit in search(&memory, query, 10)["results"].as_array().unwrap() {
            let label = hit["dominantEmbedder"].as_str().unwrap().to_owned();
            assert!(!label.contains("temporal"), "{label}");
            named.insert(label);
        }
    }
    assert!(named.len() > 1, "{named:?}");
}

#[test]
fn a_forced_broadcast_is_there_at_the_next_call() {
    let memory = Memory::new();
    let id = memory.store("The fire alarm rings");
    memory.call("adjust_coupling", json!({"new_K": 0.0}));
    memory.pass(30_000);
    let sent = memory.call("trigger_workspace_broadcast", json!({"memory_id": id, "force": true}));
    assert_eq!(sent["was_selected"], true, "{sent}");
    memory.pass(1_000);
    assert_eq!(memory.call("get_workspace_status", json!({}))["active_memory"], json!(id));
}

#[test]
fn forward_finds_what_abduction_finds_and_tells_it_in_words() {
    let memory = Memory::new();
    let chain = [
        "A broken cooling fan leads to an overheated processor",
        "An overheated processor causes sudden restarts of the server",
        "Sudden restarts of the server lead to lost orders",
        "Lost orders cause angry customers",
    ];
    let ids: Vec<String> = chain.iter().map(|text| memory.store(text)).collect();
    for text in TOPICS {
        memory.store(text);
    }
    for (at, effect) in ids.iter().enumerate().skip(1) {
        let causes = memory.call("omni_infer", json!({"source": effect, "direction": "abduction"}));
        for cause in causes["results"].as_array().unwrap() {
            let begin = cause["source"].as_str().unwrap();
            let ends = [begin, cause["target"].as_str().unwrap()];
            let begin = ends.iter().find(|end| **end != effect).unwrap();
            let forward = memory.call("omni_infer", json!({"source": begin, "target": effect}));
            assert_eq!(forward["result_count"], 1, "{at}: {begin} {forward}");
        }
    }
    let whole = memory.call("omni_infer", json!({"source": ids[0], "target": ids[3]}));
    let explanation = whole["results"][0]["explanation"].as_str().unwrap();
    assert!(explanation.contains("cooling fan") && explanation.contains("angry customers"), "{explanation}");
}
