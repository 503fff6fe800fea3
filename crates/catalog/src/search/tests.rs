//! Searches over a small house of tools, and laws that hold for any.

use proptest::prelude::*;

use super::Strategy as By;
use super::{Catalog, EXACT_SCAN, Reason, Search, SearchResult};
use crate::tool::Tool;

fn tool(id: &str, description: &str, schema: &str) -> Tool {
    let (server, name) = id.split_once('.').unwrap_or(("server", id));
    Tool {
        id: id.to_owned(),
        server: server.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        schema: schema.to_owned(),
        ..Tool::default()
    }
}

fn house() -> Catalog {
    let mut catalog = Catalog::default();
    catalog.extend(vec![
        tool("fs.read_file", "Read the complete contents of a file from the file system", "path Where the file is"),
        tool("fs.write_file", "Create a new file or overwrite an existing one", "path content What to write"),
        tool("time.convert_time", "Convert a time between time zones", "source timezone target timezone time"),
        tool("time.get_current_time", "Get the current time in a specific time zone", "timezone"),
        tool("github.create_pull_request", "Create a pull request in a repository", "owner repo title head base"),
        tool("weather.get_forecast", "Weather forecast for a location", "latitude longitude"),
        tool("mail.send", "Send an e-mail to somebody", "recipient subject body"),
    ]);
    catalog
}

fn ids(found: &SearchResult) -> Vec<&str> {
    found.hits.iter().map(|hit| &*hit.id).collect()
}

#[test]
fn a_tool_that_is_alone_fits_as_well_as_it_does() {
    let mut catalog = Catalog::default();
    catalog.extend(vec![tool("time.convert_time", "Convert a time from one time zone to another", "")]);
    let relevance = |query: &str| catalog.search(&Search::new(query), |_| true).hits[0].relevance;
    assert!(relevance("convert a time from one time zone to another") > 0.6);
    assert!(relevance("bake a cake") < 0.35);
}

#[test]
fn requests_find_their_tools() {
    let catalog = house();
    for (query, expected) in [
        ("convert a time to another zone", "time.convert_time"),
        ("show me what is in this document on disk", "fs.read_file"),
        ("will it rain tomorrow", "weather.get_forecast"),
        ("open a PR on GitHub", "github.create_pull_request"),
        ("message somebody in their inbox", "mail.send"),
        ("read_file", "fs.read_file"),
        ("wether forcast", "weather.get_forecast"),
    ] {
        let found = catalog.search(&Search::new(query), |_| true);
        assert_eq!(&*found.hits[0].id, expected, "{query}: {:?}", ids(&found));
    }
}

#[test]
fn each_strategy_finds_by_its_own_means() {
    let catalog = house();
    let by = |strategy, query: &str| catalog.search(&Search::new(query).by(strategy), |_| true);
    assert_eq!(&*by(By::Keyword, "time zones").hits[0].id, "time.convert_time");
    assert_eq!(&*by(By::Semantic, "climate and temperature").hits[0].id, "weather.get_forecast");
    let found = catalog.search(&Search::new("").by(By::Category).within(vec!["Time".into()]), |_| true);
    assert_eq!(found.hits.len(), 2);
    assert!(found.hits.iter().all(|hit| &*hit.server == "time"));
}

#[test]
fn reasons_name_words_fields_and_meaning() {
    let found = house().search(&Search::new("convert time"), |_| true);
    let hit = &found.hits[0];
    assert!(hit.reasons.contains(&Reason::Name), "{:?}", hit.reasons);
    let found = house().search(&Search::new("converting a clock time"), |_| true);
    let shown: Vec<String> = found.hits[0].reasons.iter().map(ToString::to_string).collect();
    assert!(shown.iter().any(|reason| reason == "\"converting\" in name, description"), "{shown:?}");
    assert!(shown.iter().any(|reason| reason.starts_with("meaning 0.")), "{shown:?}");
}

#[test]
fn steps_of_a_request_bring_their_own_tools() {
    let query = "Get the weather forecast for Rome tomorrow, then send an e-mail to Ann about it";
    let found = house().search(&Search::new(query).top(2), |_| true);
    let mut found = ids(&found);
    found.sort_unstable();
    assert_eq!(found, ["mail.send", "weather.get_forecast"]);
}

#[test]
fn a_better_judge_of_meaning_orders_anew() {
    let mut found = house().search(&Search::new("time").top(7), |_| true);
    let relevance: Vec<f32> = found.hits.iter().take(3).map(|hit| hit.relevance).collect();
    // This one thinks that only mail has to do with it.
    found.rescore(3, |hit| if &*hit.id == "mail.send" { 0.9 } else { 0.1 });
    assert_eq!((found.hits.len(), &*found.hits[0].id), (3, "mail.send"));
    assert_eq!(found.hits[0].reasons.last(), Some(&Reason::Meaning(0.9)));
    assert_eq!(found.hits.iter().map(|hit| hit.relevance).collect::<Vec<_>>(), relevance);
    let mut named = house().search(&Search::new("read_file").top(7), |_| true);
    named.rescore(1, |hit| if &*hit.id == "fs.read_file" { -1.0 } else { 1.0 });
    assert_eq!(&*named.hits[0].id, "fs.read_file");
}

#[test]
fn what_may_not_be_seen_is_not_there() {
    let catalog = house();
    let found = catalog.search(&Search::new("convert a time to another zone").top(10), |id| !id.starts_with("time."));
    assert!(found.hits.iter().all(|hit| &*hit.server != "time"));
    assert_eq!(found.hits.len(), 5);
    assert!(catalog.search(&Search::new("anything"), |_| false).hits.is_empty());
}

#[test]
fn an_empty_index_and_an_empty_query_answer() {
    assert!(Catalog::default().search(&Search::new("read a file"), |_| true).hits.is_empty());
    assert_eq!(house().search(&Search::new("").top(3), |_| true).hits.len(), 3);
    assert!(house().search(&Search::new("read").top(0), |_| true).hits.is_empty());
}

#[test]
fn changes_of_a_list_are_taken_over() {
    let mut catalog = house();
    catalog.replace_server("time", vec![tool("time.sundial", "Tell the hour by the shadow of the sun", "")]);
    assert_eq!(catalog.len(), 6);
    let found = catalog.search(&Search::new("convert a time to another zone").top(10), |_| true);
    assert!(!ids(&found).contains(&"time.convert_time"));
    assert_eq!(&*catalog.search(&Search::new("shadow of the sun"), |_| true).hits[0].id, "time.sundial");
    catalog.extend(vec![tool("time.sundial", "Play a song", "")]);
    assert_eq!(&*catalog.search(&Search::new("play music songs"), |_| true).hits[0].id, "time.sundial");
    catalog.remove("time.sundial");
    assert_eq!((catalog.len(), catalog.contains("time.sundial")), (5, false));
}

#[test]
fn categories_are_counted() {
    let mut catalog = house();
    let count = |catalog: &Catalog, name: &str| {
        catalog
            .categories(|id| id != "mail.send")
            .into_iter()
            .find(|(category, _)| category == name)
            .map(|(_, count)| count)
    };
    assert_eq!((count(&catalog, "fs"), count(&catalog, "get"), count(&catalog, "none")), (Some(2), Some(2), None));
    assert_eq!(count(&catalog, "mail"), None, "what may not be seen has no category");
    catalog.remove("fs.read_file");
    assert_eq!(count(&catalog, "fs"), Some(1));
}

/// The path for very many tools finds what the exact one finds.
#[test]
fn among_very_many_the_right_one_is_found() {
    let mut catalog = house();
    let verbs = ["Adjust", "Bend", "Carve", "Drill", "Etch", "Fold", "Glue"];
    let things = ["lamp", "chair", "table", "shelf", "frame", "bench", "door", "stool", "box"];
    let noise = (0..EXACT_SCAN + 500).map(|number| {
        let (verb, thing) = (verbs[number % verbs.len()], things[number / verbs.len() % things.len()]);
        tool(&format!("shop{}.make_{number}", number % 97), &format!("{verb} a {thing} of kind {number}"), "")
    });
    catalog.extend(noise.collect());
    for (query, expected) in [
        ("convert a time to another zone", "time.convert_time"),
        ("will it rain tomorrow", "weather.get_forecast"),
        ("create_pull_request", "github.create_pull_request"),
    ] {
        let found = catalog.search(&Search::new(query), |_| true);
        assert_eq!(&*found.hits[0].id, expected, "{query}: {:?}", ids(&found));
    }
    // Only three may be seen, and none of them is near: they are found all the same.
    let few = |id: &str| ["mail.send", "fs.read_file", "fs.write_file"].contains(&id);
    assert_eq!(catalog.search(&Search::new("bend a lamp"), few).hits.len(), 3);
}

fn word() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("read"), Just("file"), Just("time"), Just("zone"), Just("mail"), Just("send"), Just("cloud")]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn relevance_falls_and_stays_in_bounds(words in proptest::collection::vec(word(), 0..6)) {
        let found = house().search(&Search::new(words.join(" ")).top(7), |_| true);
        let relevance: Vec<f32> = found.hits.iter().map(|hit| hit.relevance).collect();
        prop_assert!(relevance.iter().all(|value| (0.0..=1.0).contains(value)), "{:?}", relevance);
        prop_assert!(relevance.windows(2).all(|pair| pair[0] >= pair[1]), "{:?}", relevance);
    }

    /// However the tools came and went, a compacted index answers as a fresh one does.
    #[test]
    fn changes_leave_no_trace(changes in proptest::collection::vec((0_usize..12, proptest::option::of(word())), 0..30)) {
        let make = |number: usize, word: &str| tool(&format!("s.t{number}"), &format!("{word} the thing {number}"), "");
        let mut changed = house();
        let mut kept = std::collections::BTreeMap::new();
        for (number, change) in &changes {
            match change {
                Some(word) => {
                    changed.extend(vec![make(*number, word)]);
                    kept.insert(*number, *word);
                }
                None => {
                    changed.remove(&format!("s.t{number}"));
                    kept.remove(number);
                }
            }
        }
        changed.compact();
        let mut fresh = house();
        fresh.extend(kept.iter().map(|(number, word)| make(*number, word)).collect());
        prop_assert_eq!(changed.len(), fresh.len());
        let best = |catalog: &Catalog| {
            let found = catalog.search(&Search::new("send a cloud file").top(30), |_| true);
            let mut list: Vec<(String, i64)> =
                found.hits.iter().map(|hit| (hit.id.to_string(), (hit.score * 100.0).round() as i64)).collect();
            list.sort_unstable();
            list
        };
        prop_assert_eq!(best(&changed), best(&fresh));
    }
}

fn described(server: &str, name: &str, description: &str) -> Tool {
    Tool {
        id: format!("{server}__{name}"),
        server: server.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        ..Tool::default()
    }
}

/// Tools of real servers that were missed: described in four words, named like what changes the same, or in other words.
#[test]
fn servers_count_questions_find_what_reads_and_people_use_other_words() {
    let mut catalog = Catalog::default();
    let filler = ["lamp", "chair", "shelf", "bench", "frame", "stool"];
    let noise = filler.iter().flat_map(|thing| {
        ["bend", "glue", "carve"]
            .map(|verb| described("shop", &format!("{verb}_{thing}"), &format!("{verb} the {thing}")))
    });
    let mut tools: Vec<Tool> = noise.collect();
    tools.extend([
        described("postgres", "query", "Run a read-only SQL query"),
        described("backup", "dump_database", "Dump a database to a file"),
        described("tracker", "remove_issues", "Issues of a project"),
        described("tracker", "list_issues", "Issues of a project"),
        described("cloud", "start_machine", "Start a cloud machine with some text"),
        described("voices", "text_to_speech", "Convert text to speech"),
    ]);
    tools.push(Tool { server_title: "Acme Billing".to_owned(), ..described("ab1", "query", "Answers") });
    catalog.extend(tools);
    for (query, expected) in [
        ("how many orders are in postgres", "postgres__query"),
        ("which tickets does the project have", "tracker__list_issues"),
        ("cancel the tickets of the project", "tracker__remove_issues"),
        ("read this text aloud", "voices__text_to_speech"),
        ("find an invoice in acme billing", "ab1__query"),
    ] {
        let found = catalog.search(&Search::new(query), |_| true);
        assert_eq!(&*found.hits[0].id, expected, "{query}: {:?}", found.hits);
    }
}
