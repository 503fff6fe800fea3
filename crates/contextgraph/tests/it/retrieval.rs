//! Finding by meaning what words do not find, and by words what meaning does not.

use crate::set::by_keywords;
use crate::support::Memory;

/// Memories, and questions that share no telling word with the memory they ask for.
const ASKED: [(&str, &str); 14] = [
    (
        "The physician prescribed pills against high blood pressure",
        "which medicine did the doctor give for hypertension",
    ),
    ("Our car broke down on the motorway near the exit", "vehicle failure on the highway"),
    ("She bought a new laptop with a large screen", "purchase of a computer"),
    ("The children were playing in the garden all afternoon", "kids outside in the yard"),
    ("The company dismissed forty employees last week", "firm layoffs of staff"),
    ("The movie received an award for its soundtrack", "film prize for music"),
    ("He repaired the leaking tap in the kitchen", "fix dripping faucet"),
    ("The train to Berlin departs at noon", "railway leaves for Germany"),
    ("The chef roasted a chicken with potatoes", "cook prepared poultry dinner"),
    ("The judge sentenced the thief to prison", "court sent burglar to jail"),
    ("The attorney reviewed the contract before signing", "lawyer checked agreement"),
    ("Prices of petrol rose sharply in spring", "fuel got more expensive"),
    ("The infant slept through the whole flight", "baby was asleep on the plane"),
    ("They constructed a bridge over the river", "built a crossing across the water"),
];

/// Memories that differ by a word that has no meaning of its own: a number, a name, a part of code.
const EXACT: [(&str, &str); 12] = [
    ("Ticket QX-4471 is about the slow login page", "QX-4471"),
    ("Ticket QX-4472 is about the slow login page", "QX-4472"),
    ("Ticket QX-4473 is about the slow login page", "what was QX-4473"),
    ("The build fails in parse_config_v2 with a missing key", "parse_config_v2"),
    ("The build fails in parse_config_v3 with a missing key", "where is parse_config_v3 mentioned"),
    ("Mr. Wojciechowski asked for an offer", "Wojciechowski"),
    ("Ms. Szczepaniak asked for an offer", "Szczepaniak"),
    ("Mr. Brzezicki asked for an offer", "offer for Brzezicki"),
    ("The host db-eu-17 answers on port 15432", "15432"),
    ("The host db-eu-18 answers on port 15433", "port 15433"),
    ("Error E0499 came up again in the scheduler", "E0499"),
    ("Error E0502 came up again in the scheduler", "E0502"),
];

/// The share of questions whose memory is first, and among the first three.
fn shares(questions: &[(&str, &str)], mut search: impl FnMut(&str) -> Vec<String>) -> (f64, f64) {
    let (mut first, mut third) = (0, 0);
    for (wanted, question) in questions {
        let found = search(question);
        first += usize::from(found.first().is_some_and(|text| text == wanted));
        third += usize::from(found.iter().take(3).any(|text| text == wanted));
    }
    let of = |found: usize| found as f64 / questions.len() as f64;
    (of(first), of(third))
}

#[test]
fn meaning_finds_what_words_do_not_and_words_what_meaning_does_not() {
    let memory = Memory::new();
    let texts: Vec<&str> = ASKED.iter().chain(&EXACT).map(|(text, _)| *text).collect();
    for text in &texts {
        memory.store(text);
    }
    let keywords = |question: &str| by_keywords(&texts, question).iter().map(|&at| texts[at].to_owned()).collect();
    let ours = |question: &str| memory.search(question, 3);
    let plain = (shares(&ASKED, keywords), shares(&EXACT, keywords));
    let found = (shares(&ASKED, ours), shares(&EXACT, ours));
    println!("by keywords: asked otherwise (first, among three) {:?}, exact {:?}", plain.0, plain.1);
    println!("search_graph: asked otherwise {:?}, exact {:?}", found.0, found.1);
    assert!(plain.0.1 < 0.3, "the questions are too easy: {plain:?}");
    assert!(found.0.0 >= 0.6 && found.0.1 >= 0.8, "{found:?}");
    assert!(found.1.0 >= 0.9 && found.1.1 >= 0.99, "{found:?}");
}
