//! The places of `places.txt`: where what is written runs later, decides what does, or says who may come in.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use switchboard_policy::path::Glob;

/// The table as it is kept.
const TABLE: &str = include_str!("places.txt");
/// A name found by a pattern has at least one of so many letters from it: `.git*` finds `.git`, and means no `.gitconfig`.
const MIN_SHARE: usize = 2;

/// What a place is to those who write there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of a machine or a person: below a folder that is named from the root, a home or a step up.
    Machine,
    /// Of a project, wherever that lies.
    Project,
    /// A part of daily work, of which what is written is looked at.
    Pipeline,
}

/// One place.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    glob: Glob,
    /// Its names, as patterns.
    steps: Vec<Glob>,
    #[cfg(test)]
    example: &'static str,
}

impl Row {
    /// Whether a path leads there. `rooted` is whether it is named from the root, a home or a step up.
    pub(super) fn is_met(&self, names: &[String], rooted: bool) -> bool {
        (rooted || self.kind != Kind::Machine) && self.glob.matches(names)
    }

    /// Whether every name of it is among these.
    pub(super) fn is_covered(&self, names: &HashSet<&String>) -> bool {
        let has = |step: &Glob| names.iter().any(|name| step.matches(std::slice::from_ref(*name)));
        self.steps.iter().all(has)
    }
}

struct Table {
    rows: Vec<Row>,
    /// The rows by what a path holds that leads there.
    by_key: HashMap<&'static str, Vec<usize>>,
    /// Every name in them that is written out.
    names: HashSet<&'static str>,
    /// The front and the end of every other one.
    shapes: Vec<(&'static str, &'static str)>,
}

static PLACES: LazyLock<Table> = LazyLock::new(|| {
    let mut kind = Kind::Machine;
    let mut table = Table { rows: Vec::new(), by_key: HashMap::new(), names: HashSet::new(), shapes: Vec::new() };
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line {
            "[machine]" => kind = Kind::Machine,
            "[project]" => kind = Kind::Project,
            "[pipeline]" => kind = Kind::Pipeline,
            _ => table.add(kind, line),
        }
    }
    table
});

impl Table {
    fn add(&mut self, kind: Kind, line: &'static str) {
        let (pattern, _example) = line.split_once(" | ").unwrap_or((line, ""));
        let plain = || pattern.split('/').filter(|name| !name.contains('*'));
        let key = plain().find(|name| name.starts_with('.')).or_else(|| plain().next_back()).unwrap_or_default();
        // What ends like a folder may have nothing in front: `*.git`.
        self.names.extend(
            plain().chain(
                pattern
                    .split('/')
                    .filter_map(|name| name.strip_prefix('*'))
                    .filter(|name| !name.contains('*') && !name.is_empty()),
            ),
        );
        let shapes = pattern.split('/').filter(|name| *name != "**" && *name != "*");
        let shapes: Vec<_> =
            shapes.filter_map(|name| name.split_once('*')).filter(|one| !self.shapes.contains(one)).collect();
        self.shapes.extend(shapes);
        self.by_key.entry(key).or_default().push(self.rows.len());
        let (glob, steps) =
            (Glob::new(pattern), pattern.split('/').filter(|name| *name != "**").map(Glob::new).collect());
        self.rows.push(Row {
            kind,
            glob,
            steps,
            #[cfg(test)]
            example: _example,
        });
    }
}

/// The places to which a path may lead that holds these names.
pub(super) fn keyed<'a>(names: impl Iterator<Item = &'a String>) -> impl Iterator<Item = &'static Row> {
    let table = &*PLACES;
    names.filter_map(|name| table.by_key.get(name.as_str())).flatten().filter_map(|at| table.rows.get(*at))
}

/// The place to which one path leads.
pub(super) fn place_of(names: &[String], rooted: bool) -> Option<&'static Row> {
    keyed(names.iter()).find(|row| row.is_met(names, rooted))
}

/// Whether some place has this name in it.
pub(super) fn has_name(name: &str) -> bool {
    let is_shaped = |(front, end): &(&str, &str)| {
        name.len() >= front.len() + end.len() && name.starts_with(front) && name.ends_with(end)
    };
    PLACES.names.contains(name) || PLACES.shapes.iter().any(is_shaped)
}

/// The names of places that a pattern for one name finds.
pub(super) fn found_by(pattern: &str) -> Vec<&'static str> {
    let (glob, said) = (Glob::new(pattern), letters(pattern));
    let front = pattern.split(['*', '?']).next().unwrap_or_default();
    let finds = |name: &&&'static str| {
        name.starts_with(front) && said * MIN_SHARE >= letters(name) && glob.matches(&[(**name).to_owned()])
    };
    if said == 0 { Vec::new() } else { PLACES.names.iter().filter(finds).copied().collect() }
}

fn letters(name: &str) -> usize {
    name.bytes().filter(u8::is_ascii_alphanumeric).count()
}

#[cfg(test)]
mod tests {
    use super::super::lead::Part;
    use super::*;

    #[test]
    fn every_row_is_met_by_its_own_example() {
        for row in &PLACES.rows {
            let parts = Part::of(row.example);
            let met = parts.iter().any(|part| row.is_met(&part.names, part.rooted));
            assert!(met, "{row:?} {parts:?}");
            let found = parts.iter().find_map(|part| place_of(&part.names, part.rooted));
            assert!(found.is_some_and(|found| found.kind == row.kind), "{row:?}");
        }
        assert!(PLACES.rows.len() > 200, "{}", PLACES.rows.len());
        assert!(TABLE.lines().all(|line| line.is_empty() || line.starts_with(['#', '[']) || line.contains(" | ")));
    }

    #[test]
    fn files_of_projects_are_no_such_places() {
        let honest = "src/main.rs README.md CLAUDE.md AGENTS.md GEMINI.md .github/copilot-instructions.md .gitignore \
            .gitattributes .editorconfig .prettierrc .eslintrc.json eslint.config.js package.json package-lock.json \
            pnpm-lock.yaml tsconfig.json vite.config.ts next.config.mjs Cargo.toml Cargo.lock build.rs rust-toolchain.toml \
            pyproject.toml requirements.txt setup.cfg tox.ini noxfile.py conftest.py manage.py Makefile CMakeLists.txt \
            Dockerfile docker-compose.yml .dockerignore .vscode/extensions.json .vscode/cspell.json .idea/modules.xml \
            .idea/.gitignore docs/.git/config.md docs/bashrc.md docs/git/config.md src/crontab.py src/profile/index.ts \
            app/profile.tsx config/environment.ts config/config.yml etc/profile.md profile.d/README.md hooks/useAuth.ts \
            src/hooks/pre-commit.ts systemd/x.service.md roles/windows/tasks/main.yml roles/common/tasks/cron.yml \
            models/resnet.pth checkpoints/last.pth data/index refs/heads.txt lib/ssh/config.ts src/rc.local.ts \
            scripts/init.d.sh .github/ISSUE_TEMPLATE/bug.md .github/dependabot.yml .github/CODEOWNERS .storybook/main.ts \
            .changeset/config.json .well-known/security.txt app/[id]/page.tsx nvim/init.lua.md fish/README.md \
            code/user/schema.json assets/emacs.png vim/README.md test/fixtures/shells.json";
        let met: Vec<&str> = honest
            .split_whitespace()
            .flat_map(|path| [path.to_owned(), format!("/homes/ann/project/{path}"), format!("~/work/{path}")])
            .filter(|path| Part::of(path).iter().any(|part| place_of(&part.names, part.rooted).is_some()))
            .map(|path| honest.split_whitespace().find(|one| path.ends_with(one)).unwrap_or("?"))
            .collect();
        assert!(honest.split_whitespace().count() >= 60 && met.is_empty(), "{met:?}");
    }
}
