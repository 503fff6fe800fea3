//! Finding by meaning what words alone do not find.

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

/// The share of questions whose memory is among the first three, by words alone: how many words are shared.
fn by_words() -> f64 {
    let stems = switchboard_contextgraph::text::stems;
    let found = ASKED.iter().filter(|(wanted, question)| {
        let asked = stems(question);
        let score = |text: &str| stems(text).iter().filter(|stem| asked.contains(stem)).count();
        let own = score(wanted);
        own > 0 && ASKED.iter().filter(|(other, _)| score(other) > own).count() < 3
    });
    found.count() as f64 / ASKED.len() as f64
}

#[test]
fn meaning_finds_what_words_do_not() {
    let memory = Memory::new();
    for (text, _) in ASKED {
        memory.store(text);
    }
    let (mut first, mut third) = (0, 0);
    for (wanted, question) in ASKED {
        let found = memory.search(question, 3);
        first += usize::from(found.first().is_some_and(|text| text == wanted));
        third += usize::from(found.iter().any(|text| text == wanted));
    }
    let share = |found: usize| found as f64 / ASKED.len() as f64;
    let words = by_words();
    assert!(words < 0.3, "the questions are too easy: {words}");
    assert!(
        share(third) >= 0.8 && share(first) >= 0.6,
        "first {first}, among three {third} of {}, words {words:.2}",
        ASKED.len()
    );
}
