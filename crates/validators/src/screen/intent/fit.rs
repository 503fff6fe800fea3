//! Fits the weights to the corpus: logistic regression over sentences, the same numbers on every run.
//!
//! Of a hostile definition, the sentence that is weighed heaviest among those of the order has to be recognised; every
//! other sentence, and every sentence of a harmless definition, has to be let pass. `cargo xtask fit-screening` writes
//! the result; the test below checks that what is checked in is that result.

use serde_json::Value;

use super::class::{Class, Classes};
use super::weights::{FEATURES, Weights, features, kind, name, prior};
use super::{disguise, sentences};
use crate::screen::tool::{property_names, texts};

const CORPUS: &str = include_str!("../../../tests/corpus/tools_fit.jsonl");
/// What the sentences of public tools are made of: how often a set of classes was met, and the classes. Their texts
/// belong to others and are not kept.
const PUBLIC: &str = include_str!("../../../tests/corpus/tools_public.txt");
/// Steps of the descent.
const ROUNDS: usize = 800;
/// How strongly weights are drawn to zero: pairs of classes, of which there are many, most.
const DRAW_CLASS: f64 = 0.0002;
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
    /// How often the like was met in public tools; `None` for a definition of the corpus.
    public: Option<f64>,
}

fn cases() -> Vec<Case> {
    let lines = CORPUS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let read = |line: &Value| {
        let case = case(&line["input"], line["order"].as_str().unwrap_or_default());
        Case { disguised: line["expect"] == "block" && !case.hostile, ..case }
    };
    lines.map(|line| read(&line)).chain(PUBLIC.lines().filter(|line| !line.starts_with('#')).map(public)).collect()
}

/// A sentence of public tools.
fn public(line: &str) -> Case {
    let mut words = line.split(' ');
    let times = words.next().unwrap().parse().unwrap();
    let class = |name: &str| *Class::ALL.iter().find(|class| class.name() == name).unwrap();
    let mut list = Vec::new();
    features(words.fold(Classes::default(), |classes, name| classes.with(class(name))), |at| list.push(at));
    Case { hostile: false, disguised: false, order: Vec::new(), other: vec![list], public: Some(times) }
}

/// The sentences of a definition that could be orders, with what they are made of.
fn definition_sentences(definition: &Value) -> Vec<(String, Classes)> {
    let properties = property_names(definition);
    let part = |name: &str| definition[name].as_str().unwrap_or_default();
    let names = super::names(part("name"), &properties, part("description"));
    let texts = texts(definition);
    texts.iter().flat_map(|(text, place)| sentences(&disguise::plain(text), *place, names)).collect()
}

fn case(definition: &Value, order: &str) -> Case {
    let order: String = disguise::plain(order).split_whitespace().collect::<Vec<_>>().join(" ");
    let hostile = !order.is_empty();
    let mut case = Case { hostile, disguised: false, order: Vec::new(), other: Vec::new(), public: None };
    for (sentence, classes) in definition_sentences(definition) {
        let mut list = Vec::new();
        features(classes, |at| list.push(at));
        if hostile && order.contains(sentence.trim()) {
            case.order.push(list);
        } else {
            case.other.push(list);
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
    let total: f64 = cases.iter().map(|case| 1.0 + case.other.len() as f64 * case.public.unwrap_or(1.0)).sum();
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
            case.other.iter().for_each(|list| learn(list, 0.0, case.public.unwrap_or(1.0)));
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
#[expect(clippy::disallowed_methods, reason = "a run by hand is given what it works on")]
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
    let (mut missed, mut orders, mut marked, mut harmless) = (0, 0, 0, 0);
    for part in 0..PARTS {
        let (mut others, mut left_out) = (Vec::new(), Vec::new());
        for (at, case) in cases().into_iter().enumerate() {
            if at % PARTS == part { left_out.push(case) } else { others.push(case) }
        }
        let weights = fit(&others);
        let odds = |list: &Vec<usize>| weights.bias + list.iter().map(|at| weights.table[*at]).sum::<f32>();
        // What a disguise hides is no sentence that could be learned from; what is public is no definition.
        for case in left_out.into_iter().filter(|case| !case.disguised && case.public.is_none()) {
            let most = case.order.iter().chain(&case.other).map(odds).fold(f32::MIN, f32::max);
            if !case.hostile {
                harmless += 1;
                marked += usize::from(most >= super::MARK);
            } else {
                orders += 1;
                missed += usize::from(most < super::MARK);
            }
        }
    }
    let figures = format!("{missed} of {orders} orders missed, {marked} of {harmless} harmless definitions marked");
    assert!(missed * 1000 <= orders * 205 && marked * 1000 <= harmless * 86, "{figures}");
}

/// Writes down what the sentences of public tools are made of. The variable names a folder of answers to `tools/list`,
/// as `cargo xtask wild` keeps them.
#[test]
#[expect(clippy::disallowed_methods, reason = "a run by hand is given what it works on")]
fn public_definitions_are_counted() {
    let Some(folder) = std::env::var_os("SWITCHBOARD_PUBLIC_DEFINITIONS") else { return };
    let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
        let answer: Value = serde_json::from_str(&text).unwrap();
        for tool in answer["tools"].as_array().into_iter().flatten() {
            for (_, classes) in definition_sentences(tool) {
                let names: Vec<&str> = classes.iter().map(|at| Class::ALL[at].name()).collect();
                *counts.entry(names.join(" ")).or_default() += 1;
            }
        }
    }
    let mut lines = String::from("# Sets of classes in sentences of public tools, and how often each was met.\n");
    counts.iter().for_each(|(names, count)| lines.push_str(&format!("{count} {names}\n")));
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/tools_public.txt"), lines).unwrap();
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
