//! Time of judging one command, one program and one statement, of the sizes that agents send.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use switchboard_validators::code::{self, Language, Level};
use switchboard_validators::{arguments, shell};

/// Commands of some 200 characters, each of another kind.
const COMMANDS: [(&str, &str); 5] = [
    (
        "git",
        "git log --oneline --decorate --graph --since='2 weeks ago' --until=yesterday --author='Ann Example' --no-merges \
         --stat --max-count=50 -- src/kernel/call.rs src/kernel/gate.rs docs/security.md README.md",
    ),
    (
        "grep",
        "grep -rn --include='*.rs' --exclude-dir=target -E 'fn (check|judge)_[a-z]+\\(' crates/validators/src crates/kernel/src \
         crates/switchboard/src crates/catalog/src crates/contextgraph/src crates/sdk/src docs",
    ),
    (
        "cargo",
        "cargo test --workspace --all-targets --locked --no-fail-fast --release --jobs 2 -p switchboard-validators -p \
         switchboard-kernel -p switchboard-catalog a_name_that_is_long_enough_to_be_one",
    ),
    (
        "find",
        "find crates docs examples -type f -name '*.md' -not -path '*/target/*' -newer Cargo.toml -size +4k -mtime -30 \
         -maxdepth 6 -print0 -o -name 'README.txt' -type f -not -path './node_modules/*'",
    ),
    (
        "quoted",
        "git commit -m 'Judge what is sent; say why it is refused (issue 12) && keep the words of the question: no `rm -rf` \
         in a message is a command, $HOME neither, nor > a redirection' src/lib.rs docs/security.md",
    ),
];

const PYTHON: &str = "
class Report:
    \"\"\"What changed since a day.\"\"\"

    def __init__(self, rows: list[dict[str, float]], since: datetime.date) -> None:
        self.rows = [row for row in rows if row['day'] >= since.toordinal()]
        self.names = sorted({key for row in self.rows for key in row if key != 'day'})

    def mean(self, name: str) -> float:
        values = [row.get(name, 0.0) for row in self.rows]
        return statistics.fmean(values) if values else math.nan

    def table(self) -> str:
        head = ' | '.join(f'{name:>12}' for name in self.names)
        body = '\\n'.join(' | '.join(f'{row.get(name, 0.0):12.3f}' for name in self.names) for row in self.rows)
        return f'{head}\\n{body}'
";

const JAVASCRIPT: &str = "
class Report {
  constructor(rows, since) {
    this.rows = rows.filter((row) => row.day >= since.getTime());
    this.names = [...new Set(this.rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'day').sort();
  }
  mean(name) {
    const values = this.rows.map((row) => row[name] ?? 0);
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN;
  }
  table() {
    const line = (cells) => cells.map((cell) => String(cell).padStart(12)).join(' | ');
    return [line(this.names), ...this.rows.map((row) => line(this.names.map((name) => (row[name] ?? 0).toFixed(3))))].join('\\n');
  }
}
";

const STATEMENT: &str = "WITH recent AS (SELECT o.id, o.customer_id, o.total, o.created_at FROM orders o WHERE o.created_at >= \
    date_trunc('month', now()) - interval '3 months') SELECT c.name, count(*) AS orders, sum(r.total) AS revenue FROM recent r \
    JOIN customers c ON c.id = r.customer_id GROUP BY c.name HAVING sum(r.total) > 100 ORDER BY revenue DESC LIMIT 20";

/// A program of 10 KB in which no two classes have the same name.
fn program(head: &str, class: &str) -> String {
    let mut text = head.to_owned();
    for number in 0.. {
        let next = class.replace("Report", &format!("Report{number}"));
        if text.len() + next.len() > 10_000 {
            break;
        }
        text.push_str(&next);
    }
    text
}

fn judging(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("judge");
    for (name, command) in COMMANDS {
        assert!((180..240).contains(&command.len()), "{name}: {}", command.len());
        assert!(shell::check(command).is_ok(), "{name}: {:?}", shell::check(command));
        group.bench_function(format!("command, {name}"), |bencher| bencher.iter(|| shell::check(black_box(command))));
    }
    let python = program("import datetime\nimport math\nimport statistics\n", PYTHON);
    let javascript = program("", JAVASCRIPT);
    for (name, language, source) in
        [("Python", Language::Python, &python), ("JavaScript", Language::JavaScript, &javascript)]
    {
        let check = |source: &str| code::check(language, Level::Standard, source);
        assert!(check(source).is_ok(), "{name}: {:?}", check(source));
        group.bench_function(format!("{name}, 10 KB"), |bencher| bencher.iter(|| check(black_box(source))));
    }
    assert!(arguments::check_statement(STATEMENT, true).is_ok());
    group.bench_function("statement", |bencher| {
        bencher.iter(|| arguments::check_statement(black_box(STATEMENT), true));
    });
    group.finish();
}

criterion_group!(benches, judging);
criterion_main!(benches);
