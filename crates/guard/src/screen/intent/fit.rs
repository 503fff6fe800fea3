//! Fits the weights to the corpus: logistic regression over sentences, the same numbers on every run.
//!
//! Of a hostile definition, the sentence that is weighed heaviest among those of the order has to be recognised; every
//! other sentence, and every sentence of a harmless definition, has to be let pass. `cargo xtask fit-screening` writes
//! the result; the test below checks that what is checked in is that result.

use serde_json::Value;

use super::weights::{FEATURES, Weights, features, kind, name, prior};
use super::{Names, disguise, sentences};
use crate::screen::tool::{property_names, texts};

const CORPUS: &str = include_str!("../../../tests/corpus/tools_fit.jsonl");
/// Steps of the descent.
const ROUNDS: usize = 800;
/// How strongly weights are drawn to zero: pairs of classes, of which there are many, most.
const DRAW_CLASS: f64 = 0.0005;
const DRAW_GROUP: f64 = 0.001;
const DRAW_PAIR: f64 = 0.001;
/// How much a missed order counts beside a false alarm.
const MISSED: f64 = 2.0;
/// A pair seen in fewer definitions than this says nothing.
const FEWEST: usize = 2;

/// The sentences of one definition: those that may be the order, and the others.
struct Case {
    /// Whether there is an order in it.
    hostile: bool,
    /// Whether the order is no text to be read, but hidden or encoded.
    disguised: bool,
    order: Vec<Vec<usize>>,
    other: Vec<Vec<usize>>,
}

fn cases() -> Vec<Case> {
    let lines = CORPUS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let read = |line: &Value| {
        let case = case(&line["input"], line["order"].as_str().unwrap_or_default());
        Case { disguised: line["expect"] == "block" && !case.hostile, ..case }
    };
    lines.map(|line| read(&line)).collect()
}

fn case(definition: &Value, order: &str) -> Case {
    let order: String = disguise::plain(order).split_whitespace().collect::<Vec<_>>().join(" ");
    let properties = property_names(definition);
    let part = |name: &str| definition[name].as_str().unwrap_or_default();
    let domain = super::domain(part("name"), &properties, part("description"));
    let names = Names { tool: part("name"), properties: &properties, domain };
    let mut case = Case { hostile: !order.is_empty(), disguised: false, order: Vec::new(), other: Vec::new() };
    for (text, place) in texts(definition) {
        for (sentence, classes) in sentences(&disguise::plain(&text), place, names) {
            let mut list = Vec::new();
            features(classes, |at| list.push(at));
            if !order.is_empty() && order.contains(sentence.trim()) {
                case.order.push(list);
            } else {
                case.other.push(list);
            }
        }
    }
    case
}

fn fit(cases: &[Case]) -> Weights {
    let mut seen = vec![0usize; FEATURES];
    for case in cases {
        let mut here: Vec<usize> = case.order.iter().chain(&case.other).flatten().copied().collect();
        here.sort_unstable();
        here.dedup();
        here.into_iter().for_each(|at| seen[at] += 1);
    }
    let priors: Vec<f64> = (0..FEATURES).map(|at| f64::from(prior(at))).collect();
    let mut weights = priors.clone();
    let mut bias = -1.5f64;
    // Past squares of each slope, so that rare features move as far as common ones.
    let mut squares = vec![1e-6f64; FEATURES];
    let mut bias_squares = 1e-6f64;
    let total: f64 = cases.iter().map(|case| 1.0 + case.other.len() as f64).sum();
    for _ in 0..ROUNDS {
        let mut slopes = vec![0.0f64; FEATURES];
        let mut bias_slope = 0.0;
        let odds = |list: &[usize]| bias + list.iter().map(|at| weights[*at]).sum::<f64>();
        let mut learn = |list: &[usize], wanted: f64, strength: f64| {
            let error = (1.0 / (1.0 + (-odds(list)).exp()) - wanted) * strength / total;
            bias_slope += error;
            list.iter().for_each(|at| slopes[*at] += error);
        };
        for case in cases {
            if let Some(witness) = case.order.iter().max_by(|a, b| odds(a).total_cmp(&odds(b))) {
                learn(witness, 1.0, MISSED);
            }
            case.other.iter().for_each(|list| learn(list, 0.0, 1.0));
        }
        for at in 0..weights.len() {
            if seen[at] < FEWEST {
                continue;
            }
            let draw = match kind(at) {
                (1, _) => DRAW_CLASS,
                (_, true) => DRAW_GROUP,
                _ => DRAW_PAIR,
            };
            let slope = slopes[at] + draw * (weights[at] - priors[at]);
            squares[at] += slope * slope;
            weights[at] -= 0.2 * slope / squares[at].sqrt();
        }
        bias_squares += bias_slope * bias_slope;
        bias -= 0.2 * bias_slope / bias_squares.sqrt();
    }
    Weights { bias: bias as f32, table: weights.iter().map(|weight| *weight as f32).collect() }
}

fn hundredths(weight: f32) -> i32 {
    (weight * 100.0).round() as i32
}

fn print(weights: &Weights) -> String {
    let mut lines = String::from("# Fitted by `cargo xtask fit-screening`. In hundredths of logarithmic odds.\n");
    lines.push_str(&format!("bias {}\n", hundredths(weights.bias)));
    for (at, weight) in weights.table.iter().enumerate().filter(|(_, weight)| hundredths(**weight).abs() >= 2) {
        lines.push_str(&format!("{} {}\n", name(at), hundredths(*weight)));
    }
    lines
}

#[test]
fn the_weights_are_those_of_the_corpus() {
    let fitted = fit(&cases());
    if std::env::var_os("SWITCHBOARD_FIT_SCREENING").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/screen/intent/weights.txt");
        std::fs::write(file, print(&fitted)).unwrap();
        return;
    }
    // The last digit may differ between mathematics libraries.
    let kept = Weights::get();
    let far = |a: f32, b: f32| (hundredths(a) - hundredths(b)).abs() > 2;
    assert!(!far(fitted.bias, kept.bias), "run `cargo xtask fit-screening`");
    for (at, (new, old)) in fitted.table.iter().zip(&kept.table).enumerate() {
        assert!(!far(*new, *old), "{}: run `cargo xtask fit-screening`", name(at));
    }
}

#[test]
fn cases_that_were_left_out_are_judged_well() {
    const PARTS: usize = 5;
    let (mut missed, mut orders, mut held, mut harmless) = (0, 0, 0, 0);
    for part in 0..PARTS {
        let (mut others, mut left_out) = (Vec::new(), Vec::new());
        for (at, case) in cases().into_iter().enumerate() {
            if at % PARTS == part { left_out.push(case) } else { others.push(case) }
        }
        let weights = fit(&others);
        let odds = |list: &Vec<usize>| weights.bias + list.iter().map(|at| weights.table[*at]).sum::<f32>();
        // What a disguise hides is no sentence that could be learned from.
        for case in left_out.into_iter().filter(|case| !case.disguised) {
            let most = case.order.iter().chain(&case.other).map(odds).fold(f32::MIN, f32::max);
            if !case.hostile {
                harmless += 1;
                held += usize::from(most >= super::HOLD);
            } else {
                orders += 1;
                missed += usize::from(most < super::HOLD);
            }
        }
    }
    let figures = format!("{missed} of {orders} orders missed, {held} of {harmless} harmless definitions held");
    assert!(missed * 100 <= orders * 15 && held * 100 <= harmless * 5, "{figures}");
}

#[test]
fn every_order_stands_in_its_definition() {
    for line in CORPUS.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let order = value["order"].as_str().unwrap_or_default();
        assert!(value["expect"] == "block" || order.is_empty(), "{line}");
        let found = texts(&value["input"]).iter().any(|(text, _)| text.contains(order));
        assert!(found, "{line}");
    }
}
