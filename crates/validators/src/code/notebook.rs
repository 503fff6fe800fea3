//! Cells of notebooks: Python with lines that are for IPython (`!ls`, `%cd x`) and cells that are something else as a whole
//! (`%%bash`, `%%writefile x`). Each is read as what it does: commands are commands, what IPython does to files, variables and
//! modules is written as the Python that does the same, and what nobody knows is told by its name.

use std::fmt::Write as _;

use super::{Language, python};

/// Lines of one cell that are read; one with more is not known.
const MOST_LINES: usize = 4_096;
/// Magics that show or set something of the session alone.
const STILL: &str = "matplotlib autoreload pwd who whos who_ls config precision pylab reset reset_selective xmode colors pprint psearch pinfo \
     pinfo2 pdoc pdef psource tb lsmagic magic quickref dhist dirs doctest_mode gui pdb debug unload_ext autocall automagic autosave \
     autoawait popd hist history page recall rerun config_inline_backend killbgscripts watermark nbagg less_memory aimport";
/// Magics that run the statement behind them.
const TIMED: &str = "time timeit prun memit mprun lprun capture snakeviz scalene pyinstrument heat debug";
/// Magics that are a program of the system under its name.
const COMMANDS: &str =
    "pip conda mamba micromamba uv ls ll lf lk ld lx cat mkdir rm cp mv rmdir more less man head tail touch git";
/// Extensions that come with IPython and only reload or measure.
const EXTENSIONS: [&str; 4] = ["autoreload", "storemagic", "memory_profiler", "line_profiler"];
/// Programs behind `%%script` that read a script of the shell.
const SHELLS: [&str; 6] = ["bash", "sh", "zsh", "dash", "ksh", "ash"];

/// What a cell is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The Python in it, and Python for what IPython does.
    pub(crate) python: String,
    /// Its commands and scripts for a shell.
    pub(crate) commands: Vec<String>,
    /// Programs in other processes, or in the page that shows the notebook.
    pub(crate) programs: Vec<(Language, String)>,
    /// Files and folders that IPython uses by their names.
    pub(crate) places: Vec<String>,
    /// What nobody here knows.
    pub(crate) unknown: Vec<String>,
}

/// A cell, where a text is one and not plain Python.
pub(crate) fn read(source: &str) -> Option<Cell> {
    let begins = |line: &str| {
        let line = line.trim_start();
        line.starts_with(['%', '!']) || assigned(line).is_some()
    };
    if !source.lines().any(begins) || source.len() > super::MAX_BYTES || python::is_program(source) {
        return None;
    }
    let mut cell = Cell::default();
    cell.read(source);
    Some(cell)
}

impl Cell {
    /// Its programs, that of Python first.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.python.as_str()).chain(self.programs.iter().map(|(_, text)| text.as_str()))
    }

    fn read(&mut self, source: &str) {
        let text = source.trim_start_matches(|c: char| c.is_whitespace());
        match text.strip_prefix("%%") {
            Some(rest) => {
                let (first, body) = rest.split_once('\n').unwrap_or((rest, ""));
                let (name, words) = first.trim().split_once(char::is_whitespace).unwrap_or((first.trim(), ""));
                self.whole(name, words.trim(), body);
            }
            None => self.lines(source),
        }
    }

    fn whole(&mut self, name: &str, words: &str, body: &str) {
        match name {
            "writefile" | "file" => {
                self.written(operand(words), body);
            }
            "bash" | "sh" | "zsh" | "system" | "sx" | "!" | "shell" => {
                if !words.is_empty() && !words.starts_with("--") {
                    self.commands.push(format!("{name} {words}"));
                }
                self.commands.push(body.to_owned());
            }
            "script" => {
                let program = words.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default();
                let base = program.rsplit('/').next().unwrap_or_default();
                if SHELLS.contains(&base) {
                    self.commands.push(body.to_owned());
                } else if base.starts_with("python") || base.starts_with("pypy") {
                    self.programs.push((Language::Python, body.to_owned()));
                } else if base == "node" || base == "nodejs" {
                    self.programs.push((Language::JavaScript, body.to_owned()));
                } else {
                    self.unknown.push(format!("%%script {base}"));
                }
            }
            "python" | "python2" | "python3" | "pypy" | "pypy3" => {
                self.programs.push((Language::Python, body.to_owned()))
            }
            "javascript" | "js" => self.programs.push((Language::JavaScript, body.to_owned())),
            "html" | "HTML" | "svg" | "SVG" | "latex" | "markdown" => {
                if body.to_ascii_lowercase().contains("<script") || body.contains("javascript:") {
                    self.unknown.push(format!("%%{name} with a script"));
                }
            }
            _ if listed(TIMED, name) => {
                if !words.is_empty() && name.starts_with("time") && !words.starts_with('-') {
                    self.lines(words);
                    self.python.push('\n');
                }
                self.read(body);
            }
            _ => self.unknown.push(format!("%%{name}")),
        }
    }

    fn lines(&mut self, source: &str) {
        if source.lines().count() > MOST_LINES {
            self.unknown.push("so many lines".to_owned());
            return;
        }
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let bare = line.trim_start();
            let indent = &line[..line.len() - bare.len()];
            let (front, magic) = match assigned(bare) {
                Some((front, magic)) => (front, Some(magic)),
                None => ("", Some(bare).filter(|bare| bare.starts_with(['%', '!']))),
            };
            let Some(magic) = magic else {
                let help = bare.strip_suffix('?').map(|name| name.trim_end_matches('?'));
                let is_help = help.is_some_and(|name| {
                    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '*' | '%'))
                });
                self.python.push_str(if is_help { "" } else { line });
                self.python.push('\n');
                continue;
            };
            // A backslash at its end goes on in the next line.
            let mut whole = magic.to_owned();
            while whole.ends_with('\\') {
                whole.pop();
                let Some(next) = lines.next() else { break };
                whole.push_str(next.trim());
            }
            self.python.push_str(indent);
            if !front.is_empty() {
                // What the system answers is known to nobody.
                let _ = write!(self.python, "{front}input(); ");
            }
            self.line(whole.trim());
            self.python.push('\n');
        }
    }

    /// One line for IPython; what it does in Python is written into the program.
    fn line(&mut self, magic: &str) {
        if let Some(command) = magic.strip_prefix('!') {
            self.python.push_str("pass");
            return self.command(command.trim_start_matches('!').trim());
        }
        let bare = magic.trim_start_matches('%').trim_start();
        let (name, words) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
        let words = words.trim();
        let done = match name {
            "sx" | "system" | "sc" => {
                self.command(words);
                "pass".to_owned()
            }
            "run" | "load" | "loadpy" | "macro" => {
                let file = self.place(operand(words));
                self.unknown.push(format!("%{name} {file}"));
                format!("open({})", quoted(file))
            }
            "cd" | "pushd" if words.is_empty() => "pass".to_owned(),
            "cd" | "pushd" => format!("import os; os.chdir({})", quoted(self.place(operand(words)))),
            "env" | "set_env" => match words.split_once(|c: char| c == '=' || c.is_whitespace()) {
                Some((key, value)) => {
                    format!("import os; os.environ[{}] = {}", quoted(key.trim()), quoted(value.trim()))
                }
                None if words.is_empty() => "import os; print(os.environ)".to_owned(),
                None => format!("import os; print(os.environ.get({}))", quoted(words)),
            },
            "load_ext" | "reload_ext" => {
                if EXTENSIONS.contains(&words) {
                    "pass".to_owned()
                } else {
                    self.unknown.push(format!("%{name} {words}"));
                    "pass".to_owned()
                }
            }
            "save" | "notebook" | "logstart" => format!("open({}, 'w')", quoted(self.place(operand(words)))),
            "history" | "hist" if words.contains("-f") => format!("open({}, 'w')", quoted(self.place(last(words)))),
            _ if listed(TIMED, name) => {
                let statement = without_options(words);
                if statement.is_empty() { "pass".to_owned() } else { statement.to_owned() }
            }
            _ if listed(COMMANDS, name) => {
                self.command(bare);
                "pass".to_owned()
            }
            _ if listed(STILL, name) => "pass".to_owned(),
            _ => {
                self.unknown.push(format!("%{name}"));
                "pass".to_owned()
            }
        };
        self.python.push_str(&done);
    }

    fn command(&mut self, line: &str) {
        // IPython puts values of the program in place of these.
        let filled = line.find('{').is_some_and(|at| line[at..].contains('}'));
        if filled {
            self.unknown.push(format!("what stands for the braces in `{}`", line.chars().take(64).collect::<String>()));
        }
        self.commands.push(line.to_owned());
    }

    fn written(&mut self, path: &str, body: &str) {
        self.place(path);
        let _ = writeln!(self.python, "open({}, 'w').write({})", quoted(path), quoted(body));
    }

    fn place<'w>(&mut self, path: &'w str) -> &'w str {
        self.places.push(path.to_owned());
        path
    }
}

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

/// The first word that is no option, without its quotes.
fn operand(words: &str) -> &str {
    let bare = words.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default();
    let begins = words.find(bare).unwrap_or_default();
    let whole = words.get(begins..).unwrap_or_default().trim();
    match whole.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => whole[1..].split(quote).next().unwrap_or_default(),
        None => bare,
    }
}

/// What stands behind options and their numbers.
fn without_options(words: &str) -> &str {
    let mut rest = words;
    while rest.starts_with('-') {
        let (_, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let behind = behind.trim_start();
        let number = behind.trim_start_matches(|c: char| c.is_ascii_digit());
        rest = if number.len() < behind.len() && number.starts_with(char::is_whitespace) {
            number.trim_start()
        } else {
            behind
        };
    }
    rest
}

fn last(words: &str) -> &str {
    words.split_whitespace().next_back().unwrap_or_default().trim_matches(['"', '\''])
}

/// A text as Python has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// `files = !ls`: the names that are given a value with their sign, and what is for IPython.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let (names, rest) = line.split_once('=')?;
    let magic = rest.trim_start();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ',' | ' ' | '.');
    let is_magic = magic.starts_with('!') && !magic.starts_with("!=") || magic.starts_with('%');
    (is_magic && !names.trim().is_empty() && names.chars().all(is_name)).then(|| (&line[..names.len() + 1], magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_python_is_no_cell() {
        for source in ["x = 10 % 3", "print('%d' % 3)", "a = '''\n!ls\n%cd x\n'''", "x = (10\n%3)", ""] {
            assert_eq!(read(source), None, "{source}");
        }
    }

    #[test]
    fn magics_are_what_they_do() {
        for (source, python, commands, unknown) in [
            ("!ls -l", "pass\n", &["ls -l"][..], &[][..]),
            ("x = !cat a\nprint(x)", "x =input(); pass\nprint(x)\n", &["cat a"], &[]),
            ("if x:\n    !rm a \\\n  b", "if x:\n    pass\n", &["rm a b"], &[]),
            ("%pip install x", "pass\n", &["pip install x"], &[]),
            ("%matplotlib inline\n1 + 1", "pass\n1 + 1\n", &[], &[]),
            ("%timeit -n 10 sum([1])", "sum([1])\n", &[], &[]),
            ("%run x.py", "open(\"x.py\")\n", &[], &["%run x.py"]),
            ("%load_ext evil", "pass\n", &[], &["%load_ext evil"]),
            ("%%bash\nls\npwd", "", &["ls\npwd"], &[]),
            ("%%time\n%cd /x\ny", "import os; os.chdir(\"/x\")\ny\n", &[], &[]),
            ("%%writefile a b\nx", "open(\"a\", 'w').write(\"x\")\n", &[], &[]),
            ("%%R\nx", "", &[], &["%%R"]),
        ] {
            let cell = read(source).expect("a cell");
            assert_eq!(cell.python, python, "{source}");
            assert_eq!(cell.commands, commands, "{source}");
            assert_eq!(cell.unknown, unknown, "{source}");
        }
    }
}
