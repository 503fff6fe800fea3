//! Thresholds and their calibration.

use serde_json::{Map, Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, WHOLE, list, maybe, object, output};
use super::{Class, Spec, ToolCall};
use crate::embedders::space::SPACES;
use crate::error::Outcome;
use crate::mind::Doc;
use crate::thresholds::metrics::{Measures, measure};
use crate::thresholds::{Calibration, Domain, NAMED};

const DOMAINS: &[&str] = &["Code", "Medical", "Legal", "Creative", "Research", "General"];

pub(super) fn tools() -> Vec<Spec> {
    let domain = || {
        Param::text("domain", "How strict to be: Code, Medical, Legal, Creative, Research or General")
            .default("General")
    };
    let measures = || {
        object(&[("ece", NUMBER), ("mce", NUMBER), ("brier", NUMBER), ("sample_count", maybe(WHOLE)), ("status", TEXT)])
    };
    vec![
        Spec {
            name: "get_threshold_status",
            title: "Threshold status",
            description: "The thresholds of a domain as they are calibrated now, how well confidence fits the truth, and what is due. A gauge: it changes nothing.",
            category: "atc",
            class: Class::Read,
            idempotent: true,
            params: vec![
                Param::word("domain", "How strict to be", DOMAINS).default("General"),
                Param::whole("embedder_id", "A space to look at, 1 to 13", 1, 13),
            ],
            output: output(&[
                ("domain", TEXT),
                ("thresholds", ANY),
                ("calibration", measures()),
                ("drift_scores", ANY),
                ("should_recalibrate_level2", FLAG),
                ("should_explore_level3", FLAG),
                ("should_optimize_level4", FLAG),
                ("temperatures", ANY),
                ("bandit", ANY),
                ("embedder_detail", maybe(ANY)),
            ]),
            run: get_threshold_status,
        },
        Spec {
            name: "get_calibration_metrics",
            title: "Calibration metrics",
            description: "How far the confidence of results was right in a timeframe: ECE, MCE and Brier, with what to do. A gauge: it changes nothing.",
            category: "atc",
            class: Class::Read,
            idempotent: true,
            params: vec![Param::word("timeframe", "How far to look back", &["1h", "24h", "7d", "30d"]).default("24h")],
            output: output(&[
                ("timeframe", TEXT),
                ("metrics", ANY),
                ("status", TEXT),
                ("status_description", TEXT),
                ("should_recalibrate", FLAG),
                ("drift_scores", ANY),
                ("poorly_calibrated_embedders", list(ANY)),
                ("recommendations", ANY),
            ]),
            run: get_calibration_metrics,
        },
        Spec {
            name: "trigger_recalibration",
            title: "Recalibrate",
            description: "Calibrates at a level: 1 reports drift, 2 fits the `confidence` that results show and a temperature for each space, 3 explores and 4 \
                          searches for the thresholds by which results are called sure, likely or possible. Levels 2 to 4 need feedback \
                          (update_synergy_matrix).",
            category: "atc",
            class: Class::Write,
            idempotent: false,
            params: vec![Param::whole("level", "1 to 4", 1, 4).required(), domain()],
            output: output(&[
                ("success", FLAG),
                ("recalibration", ANY),
                ("metrics_before", measures()),
                ("metrics_after", measures()),
            ]),
            run: trigger_recalibration,
        },
    ]
}

/// The milliseconds of a timeframe.
pub(super) fn timeframe(word: &str) -> u64 {
    const HOUR: u64 = 3_600_000;
    match word {
        "1h" => HOUR,
        "7d" => 7 * 24 * HOUR,
        "30d" => 30 * 24 * HOUR,
        _ => 24 * HOUR,
    }
}

fn drift_scores(calibration: &Calibration) -> Map<String, Value> {
    calibration.drift.iter().map(|(name, drift)| (name.clone(), json!(drift.score()))).collect()
}

fn shown(measures: &Measures) -> Value {
    let mut shown = json!(measures);
    shown["status"] = measures.status().into();
    shown
}

fn get_threshold_status(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let domain = Domain::from_word(call.args.text("domain"));
    let calibration = &call.space.mind.calibration;
    let measures = measure(&calibration.samples(0));
    let of = |name: &str| calibration.value(name, domain);
    let main: Map<String, Value> = NAMED.iter().take(5).map(|row| (row.0.to_owned(), json!(of(row.0)))).collect();
    let all: Map<String, Value> = NAMED.iter().map(|row| (row.0.to_owned(), json!(of(row.0)))).collect();
    let temperature = |space: usize| {
        calibration.temperatures.get(&space).map_or(SPACES[space].temperature.0, |scaled| scaled.temperature)
    };
    let temperatures: Map<String, Value> =
        (0..SPACES.len()).map(|space| (SPACES[space].id.to_owned(), json!(temperature(space)))).collect();
    let bandit = calibration.bandits.get(&domain).map_or_else(
        || json!({"arms": [], "draws": 0}),
        |bandit| json!({"arms": bandit.arms, "draws": bandit.draws, "exploration_budget": bandit.budget()}),
    );
    let drifting = |above: f64| calibration.drift.values().any(|drift| drift.score() > above);
    let mut answer = json!({
        "domain": domain.name(),
        "strictness": domain.strictness(),
        "thresholds": {"domain_thresholds": main, "all": all},
        "calibration": shown(&measures),
        "drift_scores": drift_scores(calibration),
        "should_recalibrate_level2": calibration.due_level2(call.now) || drifting(2.0),
        "should_explore_level3": measures.is_poor() || drifting(3.0),
        "should_optimize_level4": calibration.due_level4(call.now),
        "temperatures": temperatures,
        "bandit": bandit,
    });
    if let Some(id) = call.args.maybe_number("embedder_id") {
        let space = id as usize - 1;
        let scaled = calibration.temperatures.get(&space);
        let samples = calibration.samples_of(space);
        answer["embedder_detail"] = json!({
            "embedder_id": id as usize,
            "embedder_name": SPACES[space].label,
            "temperature": temperature(space),
            "samples": samples.len(),
            "loss": scaled.map(|scaled| scaled.loss),
            "calibration": shown(&measure(&samples)),
            "is_poorly_calibrated": scaled.is_some_and(crate::thresholds::temperature::Scaled::is_poor),
            "needs_recalibration": scaled.is_none_or(crate::thresholds::temperature::Scaled::is_poor),
        });
    }
    Ok(answer)
}

fn get_calibration_metrics(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let word = call.args.text("timeframe");
    let calibration = &call.space.mind.calibration;
    let measures = measure(&calibration.samples(call.now.saturating_sub(timeframe(word))));
    let poor: Vec<Value> = calibration
        .poor_spaces()
        .into_iter()
        .map(|space| json!({"embedder_id": space + 1, "embedder_name": SPACES[space].label}))
        .collect();
    let description = match measures.status() {
        _ if measures.sample_count == 0 => {
            "no result was judged in this time: give feedback with update_synergy_matrix"
        }
        "Excellent" => "confidence fits the truth",
        "Good" => "confidence fits the truth well enough",
        "Acceptable" => "confidence is somewhat off",
        "Poor" => "confidence is off: recalibrate",
        _ => "confidence tells little: recalibrate",
    };
    Ok(json!({
        "timeframe": word,
        "metrics": {
            "ece": measures.ece, "ece_target": 0.05, "ece_acceptable": 0.10,
            "mce": measures.mce, "mce_target": 0.10, "mce_acceptable": 0.20,
            "brier": measures.brier, "brier_target": 0.10, "brier_acceptable": 0.15,
            "sample_count": measures.sample_count,
        },
        "status": measures.status(),
        "status_description": description,
        "should_recalibrate": measures.is_poor(),
        "drift_scores": drift_scores(calibration),
        "poorly_calibrated_embedders": poor,
        "recommendations": {
            "level2_recalibration_needed": calibration.due_level2(call.now),
            "level3_exploration_needed": measures.is_poor(),
            "level4_optimization_needed": calibration.due_level4(call.now),
        },
    }))
}

fn trigger_recalibration(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let level = call.args.whole("level");
    let domain = Domain::from_word(call.args.text("domain"));
    let now = call.now;
    let before = measure(&call.space.mind.calibration.samples(0));
    let names = ["Drift report", "Temperature scaling", "Threshold bandit", "Bayesian search"];
    let mut done = json!({"level": level, "level_name": names[level - 1], "domain": domain.name()});
    let mut say = |action: &str, description: String| {
        done["action"] = action.into();
        done["description"] = description.into();
    };
    let too_few = |needed: usize| {
        format!("{} judged results, {needed} are needed: give feedback with update_synergy_matrix", before.sample_count)
    };
    match level {
        1 => {
            let scores = drift_scores(&call.space.mind.calibration);
            say("reported", format!("drift of {} thresholds", scores.len()));
            done["drift_scores"] = Value::Object(scores);
        }
        2 => {
            let fitted = call.space.mind.calibration.calibrate_temperatures(now);
            if fitted.is_empty() {
                say("skipped", too_few(crate::thresholds::temperature::SAMPLES));
            } else {
                say("recalibrated", format!("{} spaces have a new temperature", fitted.len()));
            }
            done["temperature_losses"] = fitted
                .iter()
                .map(|(space, scaled)| {
                    (SPACES[*space].id.to_owned(), json!({"temperature": scaled.temperature, "loss": scaled.loss}))
                })
                .collect::<Map<_, _>>()
                .into();
        }
        3 => {
            let mut rng = call.space.rng().clone();
            let explored = call.space.mind.calibration.explore(domain, &mut rng);
            *call.space.rng() = rng;
            match explored {
                None => say("skipped", too_few(1)),
                Some((arms, chosen)) => {
                    say("triggered", format!("theta_opt of {} is {chosen}", domain.name()));
                    done["threshold_candidates"] = json!(arms);
                    done["selected_threshold"] = json!(chosen);
                }
            }
        }
        _ => {
            let due = call.space.mind.calibration.due_level4(now);
            match call.space.mind.calibration.optimize(domain, now) {
                None => say("skipped", too_few(10)),
                Some(found) => {
                    let word = if found.improved {
                        "better thresholds were found"
                    } else {
                        "the thresholds were the best already"
                    };
                    say("triggered", format!("{word} among {}", found.evaluated));
                    done["thresholds"] = json!({
                        "theta_opt": found.thresholds[0], "theta_acc": found.thresholds[1], "theta_warn": found.thresholds[2],
                    });
                    done["score_before"] = json!(found.score_before);
                    done["score_after"] = json!(found.score);
                }
            }
            done["should_optimize"] = json!(due);
        }
    }
    call.space.touch(Doc::Calibration);
    let calibration = &call.space.mind.calibration;
    let after = calibration.samples(0);
    Ok(json!({
        "success": done["action"] != "skipped",
        "recalibration": done,
        "metrics_before": shown(&before),
        "metrics_after": shown(&measure(&after)),
    }))
}
