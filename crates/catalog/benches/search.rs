//! How long a search takes among 3,000, 100,000 and 1,000,000 tools, how long these take to be indexed, and how much memory
//! a tool takes.
//!
//! The tools are made up from words, with Zipf's frequencies and lengths like those of real ones. Set
//! `SWITCHBOARD_BENCH_MOST` to leave larger catalogs out.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use switchboard_catalog::{Catalog, Search, Tool};
use switchboard_embed::Table;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Small numbers often, large ones seldom, as words of a language are.
    fn rank(&mut self, most: usize) -> usize {
        let share = (self.next() % 1_000_000) as f64 / 1_000_000.0;
        (((most as f64).powf(share)) - 1.0) as usize
    }
}

/// Words of the vocabulary, the common ones first.
fn words() -> Vec<&'static str> {
    let vocabulary = Table::shared().tokenizer().vocabulary();
    let pieces = (0..vocabulary.len() as u32).map(|id| vocabulary.piece(id));
    pieces.filter(|piece| piece.len() > 3 && piece.bytes().all(|letter| letter.is_ascii_lowercase())).collect()
}

fn text(words: &[&str], numbers: &mut Numbers, length: usize) -> String {
    (0..length).map(|_| words[numbers.rank(words.len())]).collect::<Vec<_>>().join(" ")
}

fn tools(count: usize) -> Vec<Tool> {
    let words = words();
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    let made = (0..count).map(|number| Tool {
        id: format!("server{}.tool{number}", number / 10),
        server: format!("server{}", number / 10),
        name: text(&words, &mut numbers, 3).replace(' ', "_"),
        description: text(&words, &mut numbers, 18),
        schema: text(&words, &mut numbers, 25),
        ..Tool::default()
    });
    made.collect()
}

/// Memory of this process, in bytes; nothing where the system does not say.
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
}

/// Prints what a tool takes in the index. They come in small parts, so that what is freed again does not count.
fn memory(criterion: &mut Criterion) {
    const PART: usize = 1_000;
    const COUNT: usize = 100_000;
    let _ = criterion;
    let all = tools(COUNT);
    // The first search loads what all searches share.
    let mut catalog = Catalog::default();
    catalog.extend(all[..PART].to_vec());
    black_box(catalog.search(&Search::new("warm"), |_| true));
    let before = resident();
    for part in all[PART..].chunks(PART) {
        catalog.extend(part.to_vec());
    }
    if let (Some(before), Some(after)) = (before, resident()) {
        #[expect(clippy::print_stderr, reason = "a figure that is not a time")]
        {
            eprintln!("{} bytes for each tool in the index", after.saturating_sub(before) / (COUNT - PART) as u64);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a run by hand is given what it works on")]
fn catalogs(criterion: &mut Criterion) {
    let most = std::env::var("SWITCHBOARD_BENCH_MOST").ok().and_then(|most| most.parse().ok()).unwrap_or(1_000_000);
    let words = words();
    let mut numbers = Numbers(77);
    let queries: Vec<String> = (0..32).map(|_| text(&words, &mut numbers, 7)).collect();
    for count in [3_000, 100_000, 1_000_000].into_iter().filter(|count| *count <= most) {
        let tools = tools(count);
        let mut catalog = Catalog::default();
        let started = Instant::now();
        catalog.extend(tools);
        #[expect(clippy::print_stderr, reason = "measured once: too long for many rounds")]
        {
            eprintln!("{count} tools indexed in {:.2} s", started.elapsed().as_secs_f64());
        }
        let mut at = 0;
        let mut group = criterion.benchmark_group("search");
        group.sample_size(20);
        group.bench_function(format!("{count} tools"), |bencher| {
            bencher.iter(|| {
                at = (at + 1) % queries.len();
                black_box(catalog.search(&Search::new(queries[at].as_str()), |_| true))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, memory, catalogs);
criterion_main!(benches);
