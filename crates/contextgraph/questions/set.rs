//! The questions: read from the files beside this one, and what a plain keyword search finds. Shared by tests and the bench.

use std::collections::HashMap;

/// One frame of a file: what is told, what is asked, and what is filled in (`{n}`, `{a}`, `{b}`, `{c}`).
type Frame = (Vec<String>, String, Vec<Vec<String>>);

/// A frame of the second file, which says its kind.
type KindFrame = (String, Vec<String>, String, Vec<Vec<String>>);

/// The kinds of questions, by the place of a frame in its file, which is the same in all languages.
pub(crate) const KINDS: [&str; 24] = [
    "fact",
    "fact",
    "fact",
    "fact",
    "fact",
    "fact",
    "fact",
    "fact",
    "preference",
    "preference",
    "preference",
    "preference",
    "change",
    "change",
    "change",
    "change",
    "two hops",
    "two hops",
    "two hops",
    "two hops",
    "time",
    "time",
    "negation",
    "negation",
];

const FILES: [(&str, &str); 8] = [
    ("English", include_str!("en.json")),
    ("German", include_str!("de.json")),
    ("French", include_str!("fr.json")),
    ("Spanish", include_str!("es.json")),
    ("Russian", include_str!("ru.json")),
    ("Japanese", include_str!("ja.json")),
    ("Chinese", include_str!("zh.json")),
    ("Korean", include_str!("ko.json")),
];

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) kind: &'static str,
    /// Whether it was kept out of all tuning: every second frame is.
    pub(crate) held_out: bool,
    pub(crate) question: String,
    /// The place of the memory that answers it.
    pub(crate) answer: usize,
}

/// The memories of one language in the order they are told, and the questions.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    pub(crate) language: &'static str,
    pub(crate) memories: Vec<String>,
    pub(crate) asked: Vec<Asked>,
}

/// All languages.
pub(crate) fn all() -> Vec<Set> {
    FILES.iter().map(|(language, file)| read(language, file)).collect()
}

/// Further questions, asked of the same memories and those that the questions tell, of the kinds that were found worst.
pub(crate) fn more() -> Vec<Set> {
    let files: HashMap<String, Vec<KindFrame>> =
        serde_json::from_str(include_str!("more.json")).expect("frames by language");
    all()
        .into_iter()
        .map(|mut set| {
            set.asked.clear();
            for (at, (kind, told, asked, fills)) in files.get(set.language).into_iter().flatten().enumerate() {
                let kind = KINDS.iter().copied().find(|known| *known == kind.as_str()).expect("a kind");
                for (round, fills) in fills.iter().enumerate() {
                    set.add(kind, (at, round), (told.as_slice(), asked.as_str()), fills);
                }
            }
            set
        })
        .collect()
}

fn read(language: &'static str, file: &str) -> Set {
    let frames: Vec<Frame> = serde_json::from_str(file).expect("a list of frames");
    assert_eq!(frames.len(), KINDS.len(), "{language}");
    let mut set = Set { language, memories: Vec::new(), asked: Vec::new() };
    for round in 0..3 {
        for (at, (told, asked, fills)) in frames.iter().enumerate() {
            set.add(KINDS[at], (at, round), (told.as_slice(), asked.as_str()), &fills[round]);
        }
    }
    set
}

impl Set {
    /// Tells what a frame tells, filled in, and asks what it asks.
    fn add(&mut self, kind: &'static str, place: (usize, usize), frame: (&[String], &str), fills: &[String]) {
        let (told, asked) = frame;
        let fill = |text: &str| {
            let names = ["{n}", "{a}", "{b}", "{c}"];
            names.iter().zip(fills).fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let mut told: Vec<String> = told.iter().map(|text| fill(text)).collect();
        let right = told.last().cloned().unwrap_or_default();
        // Only a fact that changed has an order of its own.
        if kind != "change" && (place.0 + place.1) % 2 == 1 {
            told.reverse();
        }
        let answer = self.memories.len() + told.iter().position(|text| *text == right).unwrap_or(0);
        self.memories.extend(told);
        self.asked.push(Asked { kind, held_out: place.0 % 2 == 1, question: fill(asked), answer });
    }
}

/// A plain keyword search, well made: BM25 with its usual numbers over the same words, stems and stop words that the memory
/// uses. The places of texts, best first; what shares no word is not found.
pub(crate) fn by_keywords(texts: &[&str], question: &str) -> Vec<usize> {
    const K: f64 = 1.2;
    const B: f64 = 0.75;
    let stems = switchboard_contextgraph::text::stems;
    let documents: Vec<Vec<String>> = texts.iter().map(|text| stems(text)).collect();
    let mean = documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len() as f64;
    let mut holding: HashMap<&str, f64> = HashMap::new();
    for document in &documents {
        let mut own: Vec<&str> = document.iter().map(String::as_str).collect();
        own.sort_unstable();
        own.dedup();
        for stem in own {
            *holding.entry(stem).or_default() += 1.0;
        }
    }
    let score = |document: &[String]| -> f64 {
        let of = |stem: &String| {
            let times = document.iter().filter(|other| *other == stem).count() as f64;
            let held = holding.get(stem.as_str()).copied().unwrap_or(0.0);
            let idf = (1.0 + (documents.len() as f64 - held + 0.5) / (held + 0.5)).ln();
            idf * times * (K + 1.0) / (times + K * (1.0 - B + B * document.len() as f64 / mean))
        };
        stems(question).iter().map(of).sum()
    };
    let mut found: Vec<(f64, usize)> =
        documents.iter().enumerate().map(|(place, document)| (score(document), place)).collect();
    found.retain(|(score, _)| *score > 0.0);
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().map(|(_, place)| place).collect()
}

/// How many were asked, had their answer first, among five.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) asked: usize,
    pub(crate) first: usize,
    pub(crate) five: usize,
}

impl Score {
    pub(crate) fn add(&mut self, found: &[usize], answer: usize) {
        self.asked += 1;
        self.first += usize::from(found.first() == Some(&answer));
        self.five += usize::from(found.iter().take(5).any(|place| *place == answer));
    }
}
