//! What the memory does about itself: what its tools take and give.

mod drift;
mod goals;
mod tidying;

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, WHOLE, list, maybe, object, or_null, output};
use super::{Class, Spec};
use crate::autonomy::consolidation::ConsolidationStrategy;
use drift::{get_alignment_drift, trigger_drift_correction};
use goals::{auto_bootstrap_north_star, discover_sub_goals, get_autonomous_status};
pub(crate) use tidying::comparing;
use tidying::{get_pruning_candidates, trigger_consolidation};

pub(super) fn tools() -> Vec<Spec> {
    let spec = |name, title, description, class, params, output, run| Spec {
        name,
        title,
        description,
        category: "autonomous",
        class,
        idempotent: matches!(class, Class::Read),
        params,
        output,
        run,
    };
    vec![
        spec(
            "auto_bootstrap_north_star",
            "Find the north star",
            "Finds the theme that most memories are about and makes it the north star by which all are measured. Needs at least three memories.",
            Class::Write,
            vec![
                Param::number("confidence_threshold", "How firm the theme must be", 0.0, 1.0).default(0.7),
                Param::whole("max_candidates", "How many themes to look at", 1, 100).default(10),
                Param::flag("replace", "Whether to look again if there is a north star").default(false),
            ],
            output(&[
                ("bootstrap_result", ANY),
                ("discovery_metadata", ANY),
                ("initialized_services", list(TEXT)),
                ("recommendations", list(TEXT)),
                ("status", TEXT),
                ("note", TEXT),
                ("undo", maybe(TEXT)),
            ]),
            auto_bootstrap_north_star,
        ),
        spec(
            "get_alignment_drift",
            "Alignment drift",
            "How far memories have moved from the north star since it was set, in each space, and where that goes. Without a north star, from their own middle. Each look is \
             remembered for the trend.",
            Class::Read,
            vec![
                Param::word("timeframe", "How far back the history goes", &["1h", "24h", "7d", "30d"]).default("24h"),
                Param::flag("include_history", "Whether to show earlier looks").default(false),
                Param::ids("memory_ids", "Only these memories"),
                Param::text("strategy", "Accepted for older programs"),
                Param::id("goal_id", "The goal to measure by; the north star if not given"),
            ],
            output(&[
                ("overall_drift", ANY),
                (
                    "per_embedder_drift",
                    list(object(&[
                        ("embedder", TEXT),
                        ("embedder_index", WHOLE),
                        ("similarity", NUMBER),
                        ("drift_score", NUMBER),
                        ("drift_level", TEXT),
                    ])),
                ),
                ("most_drifted_embedders", list(TEXT)),
                ("recommendations", list(ANY)),
                ("trend", ANY),
                ("analyzed_count", WHOLE),
                ("timestamp", WHOLE),
                ("timeframe", TEXT),
                ("reference_type", TEXT),
                ("reference_id", or_null(TEXT)),
                ("history", maybe(list(ANY))),
            ]),
            get_alignment_drift,
        ),
        spec(
            "trigger_drift_correction",
            "Correct drift",
            "Corrects drift by what fits its severity and trend: memories near the goal gain importance, others lose some (search, dreams and pruning \
             go by it), the threshold of what is likely may rise. Measured again with the same measure; can be undone.",
            Class::Write,
            vec![
                Param::flag("force", "Whether to correct even without drift").default(false),
                Param::number("target_alignment", "Stop when alignment is this high already", 0.0, 1.0),
            ],
            output(&[
                ("correction_result", maybe(ANY)),
                ("before_state", ANY),
                ("after_state", maybe(ANY)),
                ("forced", FLAG),
                ("skipped", maybe(FLAG)),
                ("reason", maybe(TEXT)),
                ("undo", maybe(TEXT)),
            ]),
            trigger_drift_correction,
        ),
        spec(
            "get_pruning_candidates",
            "Pruning candidates",
            "Old memories that could go, with the reason: the same as another, not aligned, or stored as less important, never found, and without \
             connection, idle or of low quality. Age alone is no reason. \
             Nothing is removed.",
            Class::Read,
            vec![
                Param::whole("limit", "How many", 1, 1000).default(20),
                Param::number("min_staleness_days", "How old they must be", 0.0, 36500.0).default(30),
                Param::number("min_alignment", "Aligned less counts as low", 0.0, 1.0).default(0.4),
            ],
            output(&[
                (
                    "candidates",
                    list(object(&[
                        ("memory_id", TEXT),
                        ("age_days", NUMBER),
                        ("alignment", NUMBER),
                        ("connections", WHOLE),
                        ("reason", TEXT),
                        ("byte_size", WHOLE),
                        ("priority_score", NUMBER),
                    ])),
                ),
                ("summary", ANY),
                ("limit_applied", WHOLE),
            ]),
            get_pruning_candidates,
        ),
        spec(
            "trigger_consolidation",
            "Consolidate memories",
            "Merges memories that say the same: one keeps all texts, the others are taken out and can be brought back with `undo`.\n\n\
             Alias: consolidate_memories (PRD compatibility)",
            Class::Destructive,
            vec![
                Param::whole("max_memories", "How many of the newest to look at", 1, 10_000).default(100),
                Param::word("strategy", "Which to merge", &ConsolidationStrategy::WORDS).default("similarity"),
                Param::number(
                    "min_similarity",
                    "How alike they must be. Other words for the same may be less alike, except at 1",
                    0.0,
                    1.0,
                )
                .default(0.85),
                Param::flag("dry_run", "Whether only to show what would be merged").default(false),
                Param::id("undo", "Takes back an earlier consolidation, by the id that it gave"),
            ],
            output(&[
                ("consolidation_result", ANY),
                ("statistics", maybe(ANY)),
                ("candidates_sample", maybe(list(ANY))),
                ("undo", maybe(TEXT)),
            ]),
            trigger_consolidation,
        ),
        spec(
            "discover_sub_goals",
            "Discover sub-goals",
            "Finds themes in the memories that could be goals, with their level and the goal they serve, and keeps them.\n\n\
             Alias: discover_goals (PRD compatibility)",
            Class::Write,
            vec![
                Param::number("min_confidence", "How sure a goal must be", 0.0, 1.0).default(0.6),
                Param::whole("max_goals", "How many", 1, 20).default(5),
                Param::id("parent_goal_id", "The goal that they serve"),
                Param::ids("memory_ids", "Only these memories"),
            ],
            output(&[
                (
                    "discovered_goals",
                    list(object(&[
                        ("goal_id", TEXT),
                        ("description", TEXT),
                        ("level", TEXT),
                        ("confidence", NUMBER),
                        ("member_count", WHOLE),
                        ("coherence_score", NUMBER),
                        ("dominant_embedders", list(TEXT)),
                    ])),
                ),
                (
                    "hierarchy_relationships",
                    list(object(&[("parent_id", TEXT), ("child_id", TEXT), ("similarity", NUMBER)])),
                ),
                ("cluster_analysis", ANY),
                ("discovery_metadata", ANY),
                ("parent_goal_id", or_null(TEXT)),
                ("discovery_mode", TEXT),
                ("discovery_count", WHOLE),
            ]),
            discover_sub_goals,
        ),
        spec(
            "get_autonomous_status",
            "Autonomous status",
            "The north star, what each service did last, the health of the whole, and what to do next. A gauge: it changes nothing.",
            Class::Read,
            vec![
                Param::flag("include_metrics", "Whether to show numbers").default(false),
                Param::flag("include_history", "Whether to show what was done").default(false),
                Param::whole("history_count", "How much of it", 1, 100).default(10),
            ],
            output(&[
                ("north_star", ANY),
                ("services", ANY),
                (
                    "overall_health",
                    object(&[
                        ("score", NUMBER),
                        ("status", TEXT),
                        ("north_star_configured", FLAG),
                        ("drift_severity", TEXT),
                    ]),
                ),
                ("recommendations", list(ANY)),
                ("metrics", maybe(ANY)),
                ("history", maybe(list(ANY))),
            ]),
            get_autonomous_status,
        ),
    ]
}
