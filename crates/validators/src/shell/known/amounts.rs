//! Numbers that ask a machine for more than it has: threads, sizes, counts, seconds, pixels, and what never ends. A person is asked.

use super::kept::output;
use super::tasks::parts_of;
use crate::shell::lexer::Word;

/// More at once than a machine does.
const MAX_THREADS: u64 = 256;
/// More often, or more pieces, than somebody waits for.
const MAX_COUNT: u64 = 1_000_000;
/// More words than somebody means by a range.
const MAX_WORDS: u64 = 1_000;
/// More than a disk has to spare.
const MAX_BYTES: u64 = 64 << 30;
/// A day.
const MAX_SECONDS: u64 = 86_400;
/// More than a picture has.
const MAX_PIXELS: u64 = 400_000_000;
/// More addresses than somebody looks at.
const MAX_ADDRESSES: u64 = 1_000;
/// Longer numbers are taken apart into their factors for years.
const MAX_FACTOR_DIGITS: usize = 38;

/// The longest side of a picture, and the finest resolution.
const MAX_SIDE: u64 = 30_000;
const MAX_RESOLUTION: u64 = 2_400;
/// The widest number that is printed.
const MAX_WIDTH: u64 = 10_000;
/// Programs that draw a picture of the size that they are told.
const DRAWING: &[&str] = &[
    "inkscape",
    "rsvg-convert",
    "resvg",
    "pdftoppm",
    "pdftocairo",
    "pdfimages",
    "mutool",
    "dot",
    "mmdc",
    "openscad",
    "convert",
    "magick",
    "lilypond",
    "chafa",
];

/// Programs with `-t` for how much is done at once.
const THREADED: &[&str] = &["bwa", "minimap2", "bowtie2", "hisat2", "samtools", "blastn", "blastp", "blastx"];

/// Files that never end.
const ENDLESS: &[&str] = &["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];
/// Words in the names of options that say how much is done at once.
const AT_ONCE: &[&str] = &[
    "jobs",
    "job",
    "threads",
    "thread",
    "workers",
    "worker",
    "parallel",
    "parallelism",
    "procs",
    "processes",
    "concurrency",
    "connections",
    "numprocesses",
    "maxworkers",
    "multi",
    "cpus",
    "forks",
    "clients",
];
/// Words in the names of options that say how often.
const HOW_OFTEN: &[&str] = &[
    "count",
    "counts",
    "iterations",
    "iteration",
    "repeat",
    "repeats",
    "runs",
    "loops",
    "loop",
    "times",
    "rows",
    "records",
    "samples",
    "number",
    "retry",
    "retries",
    "tries",
    "epochs",
    "steps",
    "max",
    "pages",
    "size",
    "length",
    "bytes",
    "requests",
    "total",
    "each",
];
/// Words in the names of options that say how long.
const HOW_LONG: &[&str] = &["duration", "seconds", "time", "benchtime", "fuzztime", "runtime", "period"];

/// Whether a command asks for more than a machine has.
pub(super) fn exceeds(name: &str, words: &[Word]) -> bool {
    let texts = || words.iter().map(|word| word.text.as_str());
    let operands = || texts().filter(|text| !text.starts_with('-'));
    let own = match name {
        "seq" | "jot" | "gseq" => {
            operands().any(|text| number(text) > MAX_COUNT) || texts().any(|text| text == "inf" || text == "infinity")
        }
        "sleep" | "usleep" => operands().any(|text| text.starts_with("inf") || seconds(text) > MAX_SECONDS),
        "factor" => operands().any(|text| text.len() > MAX_FACTOR_DIGITS),
        "yes" => true,
        "printf" => texts().any(|text| {
            text.split('%').skip(1).any(|format| {
                number(format.trim_start_matches(['-', '0', '+', ' ', '#', '.'])) > MAX_WIDTH || format.starts_with('*')
            })
        }),
        // Programs in a language of their own, without an end.
        "awk" | "gawk" | "mawk" | "nawk" => {
            let bare = |text: &str| text.replace(char::is_whitespace, "");
            texts().any(|text| {
                ["while(1)", "for(;;)", "while(1==1)", "while(!0)", "while(\"", "for(;1;)"]
                    .iter()
                    .any(|loops| bare(text).contains(loops))
                    || (bare(text).contains("for(") || bare(text).contains("while("))
                        && !bare(text).contains("in")
                        && text
                            .split(|c: char| !(c.is_ascii_digit() || matches!(c, 'e' | '.')))
                            .any(|part| number(part) > 100_000)
            })
        }
        "jq" | "gojq" | "jaq" => texts().any(loops_in_jq),
        "sed" | "gsed" => loops_in_sed(&texts().filter(|text| !text.starts_with('-')).collect::<Vec<_>>().join(";")),
        "watch" | "gwatch" | "viddy" => {
            let often = |text: &str| text.starts_with("0.0") || matches!(text, "0" | "0.") || text.starts_with(".0");
            words.windows(2).any(|two| matches!(two[0].text.as_str(), "-n" | "--interval") && often(&two[1].text))
                || texts()
                    .any(|text| text.strip_prefix("--interval=").or_else(|| text.strip_prefix("-n")).is_some_and(often))
        }
        // It goes on until somebody says how often.
        "shuf" => {
            texts().any(|text| text == "--repeat" || is_letter(text, 'r'))
                && !texts()
                    .any(|text| text.starts_with("-n") || text.starts_with("--head-count") || text.starts_with("-rn"))
                || operands().any(|text| text.split_once('-').is_some_and(|(_, to)| number(to) > MAX_COUNT))
        }
        "ffmpeg" => {
            let makes = texts().any(|text| text == "lavfi")
                || words.windows(2).any(|two| endless_input(&two[0].text, &two[1].text));
            let ends = texts().any(|text| {
                matches!(text, "-t" | "-to" | "-shortest" | "-frames" | "-vframes" | "-fs")
                    || text.starts_with("-frames:")
                    || text.contains("duration=")
                    || text.contains(":d=")
            });
            makes && !ends
        }
        "openssl" => {
            operands().any(|text| number(text) > MAX_COUNT)
                || words.windows(2).any(|two| {
                    matches!(two[0].text.as_str(), "-multi" | "-seconds") && number(&two[1].text) > MAX_THREADS
                })
        }
        "gdalwarp" | "gdal_translate" | "gdal_rasterize" | "gdal_grid" => words.windows(3).any(|three| {
            matches!(three[0].text.as_str(), "-ts" | "-outsize")
                && number(&three[1].text).max(number(&three[2].text)) > MAX_SIDE
        }),
        "openscad" => texts()
            .filter_map(|text| text.strip_prefix("--imgsize="))
            .any(|size| size.split(',').any(|side| number(side) > MAX_SIDE)),
        "sox" | "play" => operands().any(|text| number(text) > MAX_SECONDS * 10),
        "ping" | "ping6" => {
            texts().any(|text| is_letter(text, 'f') && !text.starts_with("--"))
                || words.windows(2).any(|two| two[0].text == "-i" && two[1].text.starts_with('0'))
        }
        _ => false,
    };
    // `f{1..1000000}` are so many words.
    let spans = |word: &Word| {
        !word.quoted
            && word.text.split('{').skip(1).filter_map(|part| part.split_once('}')).any(|(range, _)| {
                range.split_once("..").is_some_and(|(from, to)| {
                    let to = to.split("..").next().unwrap_or_default();
                    number(to.trim_start_matches('-')).max(number(from.trim_start_matches('-'))) > MAX_WORDS
                })
            })
    };
    own || words.iter().any(spans)
        || reads_endlessly(name, words)
        || texts().any(|text| is_huge_picture(name, text) || spans_addresses(name, text))
        || options_exceed(name, words)
}

/// A file that never ends, where nothing says how much of it is read.
fn reads_endlessly(name: &str, words: &[Word]) -> bool {
    let named = |text: &str| {
        let value = text.split_once('=').map_or(text, |(_, value)| value);
        ENDLESS.contains(&value)
    };
    if !words.iter().any(|word| named(&word.text))
        || matches!(name, "ls" | "stat" | "file" | "test" | "[" | "echo" | "readlink" | "realpath")
    {
        return false;
    }
    let bounds = |text: &str| match name {
        "head" => text.starts_with("-c") || text.starts_with("--bytes"),
        "od" => text.starts_with("-N") || text.starts_with("--read-bytes"),
        "xxd" | "hexdump" => text.starts_with("-l") || text.starts_with("-n") || text.starts_with("-len"),
        "dd" => text.starts_with("count="),
        _ => false,
    };
    !words.iter().any(|word| bounds(&word.text))
}

/// Whether the option of one word has a number for a value that is far out of what it is for.
fn options_exceed(name: &str, words: &[Word]) -> bool {
    // What is compared, filtered or looked for has numbers of any size.
    let is_text = matches!(
        name,
        "echo"
            | "printf"
            | "test"
            | "["
            | "[["
            | "expr"
            | "date"
            | "grep"
            | "rg"
            | "awk"
            | "jq"
            | "gh"
            | "git"
            | "aws"
            | "gcloud"
            | "az"
            | "kubectl"
    );
    if is_text {
        return false;
    }
    words.iter().enumerate().any(|(at, word)| {
        let text = word.text.as_str();
        if !text.starts_with('-') || text.len() < 2 {
            return false;
        }
        let (option, glued) = text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        let next = words
            .get(at + 1)
            .map(|next| next.text.as_str())
            .filter(|next| next.starts_with(|c: char| c.is_ascii_digit()));
        let bare = option.trim_start_matches('-');
        // `-j8`, `-P0`, `-T9999`, `-S900G`.
        let letter = bare.chars().next().unwrap_or_default();
        let attached = bare
            .get(letter.len_utf8()..)
            .filter(|rest| !option.starts_with("--") && rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_letter = !option.starts_with("--") && (bare.chars().count() == 1 || attached.is_some());
        let Some(value) = glued.or(attached).or(next) else { return false };
        let amount = number(value.rsplit(':').next().unwrap_or_default());
        if is_letter {
            let at_once = matches!(letter, 'j' | 'P' | 'T' | '@')
                || letter == 't' && THREADED.contains(&name)
                || letter == 'n' && matches!(name, "pytest" | "py.test");
            let unbounded = letter == 'P' && name == "xargs" && amount == 0;
            let is_size = value.ends_with(|c: char| c.is_ascii_alphabetic()) && bytes(value) > MAX_BYTES;
            let often = matches!(letter, 'n' | 'c' | 'r') && amount > MAX_COUNT
                || matches!(letter, 'b' | 'l' | 's' | 't') && amount > MAX_COUNT * 100;
            let is_drawn = DRAWING.contains(&name)
                && (matches!(letter, 'w' | 'h') && amount > MAX_SIDE
                    || matches!(letter, 'r' | 'z' | 'd') && amount > MAX_RESOLUTION);
            let often = often || is_drawn;
            return at_once && amount > MAX_THREADS && !matches!(letter, 'P' | 'T' if amount > 1_024 && is_port(name))
                || unbounded
                || is_size
                || often;
        }
        let parts = parts_of(bare);
        let is_side = DRAWING.contains(&name)
            && matches!(bare, "width" | "height" | "export-width" | "export-height")
            && amount > MAX_SIDE
            || DRAWING.contains(&name)
                && matches!(bare, "dpi" | "zoom" | "resolution" | "scale" | "export-dpi")
                && amount > MAX_RESOLUTION;
        if is_side {
            return true;
        }
        let says = |list: &[&str]| parts.iter().any(|part| list.contains(&part.as_str()));
        // `--max-time`, `--timeout`: how long it is waited for at most.
        let waits = parts.iter().any(|part| matches!(part.as_str(), "timeout" | "wait" | "connect"));
        says(AT_ONCE) && amount > MAX_THREADS
            || says(HOW_OFTEN) && !value.contains(|c: char| c.is_ascii_alphabetic()) && amount > MAX_COUNT
            || says(HOW_LONG) && !waits && seconds(value) > MAX_SECONDS
            || value.ends_with(|c: char| c.is_ascii_alphabetic()) && bytes(value) > MAX_BYTES
    }) || matches!(name, "qemu-img" | "fallocate" | "truncate" | "mkfile" | "dd" | "head" | "losetup" | "split")
        && words.iter().any(|word| {
            let value = word.text.rsplit('=').next().unwrap_or_default();
            bytes(value.trim_start_matches(|c: char| c == '-' || c == '+' || c.is_ascii_alphabetic())) > MAX_BYTES
        })
}

/// Whether a filter counts very far, or goes on without an end.
fn loops_in_jq(text: &str) -> bool {
    let bare = text.replace(char::is_whitespace, "");
    let large = bare
        .split(|c: char| !(c.is_ascii_digit() || matches!(c, 'e' | 'E')))
        .any(|part| part.starts_with(|c: char| c.is_ascii_digit()) && number(part) > MAX_COUNT);
    let counts =
        large && ["range(", "limit(", "*", "[range", "until(", "while("].iter().any(|word| bare.contains(word));
    let endless = ["repeat(", "while(true", "until(false", "range(infinite", "recurse(.)", "limit(infinite"]
        .iter()
        .any(|word| bare.contains(word));
    let calls_itself = bare.split("def").skip(1).any(|part| {
        part.split_once(':').is_some_and(|(name, body)| {
            let body = body.split(';').next().unwrap_or_default();
            !name.is_empty() && body.trim_start_matches('(').starts_with(name)
        })
    });
    counts || endless || calls_itself
}

/// Whether a script goes back to a label that stands just before: `:a;ba`.
fn loops_in_sed(text: &str) -> bool {
    let commands: Vec<&str> = text.split([';', '\n', '{', '}']).map(str::trim).collect();
    let labels = || commands.iter().filter_map(|command| command.strip_prefix(':')).map(str::trim);
    let jumps = |command: &&str| {
        let bare = command.trim_start_matches(['$', '!']);
        ['b', 't', 'T'].iter().any(|jump| {
            bare.strip_prefix(*jump)
                .is_some_and(|label| label.trim().is_empty() || labels().any(|known| known == label.trim()))
        })
    };
    // Each time round another line is taken in, or something is taken out.
    let ends = commands.iter().any(|command| matches!(*command, "N" | "$!N" | "n" | "D" | "P"));
    labels().next().is_some() && commands.iter().any(jumps) && !ends
}

/// Programs that have a port behind such a letter.
fn is_port(name: &str) -> bool {
    ["mysql", "mariadb", "psql", "pg_", "redis", "mongo", "ssh", "scp", "sftp"]
        .iter()
        .any(|front| name.starts_with(front))
}

/// An input that `ffmpeg` reads again and again.
fn endless_input(option: &str, value: &str) -> bool {
    matches!((option, value), ("-loop", "1") | ("-stream_loop", "-1"))
}

/// `100000x100000`, to a program for pictures.
fn is_huge_picture(name: &str, text: &str) -> bool {
    let pictures = matches!(
        name,
        "convert" | "magick" | "mogrify" | "montage" | "gm" | "ffmpeg" | "vips" | "rsvg-convert" | "inkscape"
    );
    pictures
        && text.split(|c: char| !(c.is_ascii_digit() || c == 'x')).any(|size| {
            size.split_once('x').is_some_and(|(wide, high)| {
                number(wide).saturating_mul(number(high).max(1)) > MAX_PIXELS
                    || number(wide).max(number(high)) > 100_000
            })
        })
}

/// `https://example.com/[1-1000000]` are so many addresses.
fn spans_addresses(name: &str, text: &str) -> bool {
    name == "curl"
        && text.split('[').skip(1).filter_map(|part| part.split(']').next()?.split_once('-')).any(|(from, to)| {
            number(to.split(':').next().unwrap_or_default()).saturating_sub(number(from)) > MAX_ADDRESSES
        })
}

fn is_letter(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// The number at the beginning of a text, as large as can be where there are too many digits.
fn number(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let plain = text[..digits].parse::<u64>().unwrap_or(if digits > 0 { u64::MAX } else { 0 });
    // `1e12`
    let power = text[digits..].strip_prefix(['e', 'E']).and_then(|power| power.parse::<u32>().ok());
    power.map_or(plain, |power| plain.saturating_mul(10_u64.saturating_pow(power.min(20))))
}

/// A size with its unit.
fn bytes(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit = match text[digits..].chars().next().map(|unit| unit.to_ascii_uppercase()) {
        Some('T') => 1 << 40,
        Some('P' | 'E' | 'Z' | 'Y') => 1 << 50,
        Some('G') => 1 << 30,
        Some('M') => 1 << 20,
        Some('K') => 1 << 10,
        _ => 1,
    };
    number(&text[..digits]).saturating_mul(unit)
}

/// A time with its unit, in seconds.
fn seconds(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit = match &text[digits..] {
        "d" => 86_400,
        "h" => 3_600,
        "m" | "min" => 60,
        // Thousandths, and how often: `10x`.
        "ms" | "us" | "ns" | "x" => return 0,
        _ => 1,
    };
    number(&text[..digits]).saturating_mul(unit)
}

/// Whether more is written than a machine has room for.
pub(super) fn fills(name: &str, words: &[Word]) -> bool {
    let is_huge = |text: &str| {
        let text = text
            .rsplit('=')
            .next()
            .unwrap_or_default()
            .trim_start_matches(|c: char| c == '-' || c.is_ascii_alphabetic());
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text[..digits].parse::<u64>().unwrap_or(if digits > 0 { u64::MAX } else { 0 });
        let unit = match text[digits..].chars().next().map(|unit| unit.to_ascii_uppercase()) {
            Some('T' | 'P' | 'E' | 'Z' | 'Y') => u64::MAX,
            Some('G') => 1 << 30,
            Some('M') => 1 << 20,
            Some('K') => 1 << 10,
            _ => 1,
        };
        digits > 0 && number.saturating_mul(unit) >= 100 << 30
    };
    let number = |text: &str| text.parse::<u64>().unwrap_or_default();
    match name {
        "fallocate" | "truncate" | "mkfile" => words.iter().any(|word| is_huge(&word.text)),
        // As many files as there are bytes.
        "split" => output(words, &["-b", "--bytes", "-C", "--line-bytes"])
            .is_some_and(|size| size.bytes().all(|byte| byte.is_ascii_digit()) && number(size) < 512),
        "ffmpeg" | "openssl" => {
            words.iter().any(|word| number(&word.text) >= 1_000 && name == "openssl" || number(&word.text) >= 500_000)
                && words.iter().any(|word| matches!(word.text.as_str(), "-t" | "-multi" | "-seconds"))
        }
        _ => false,
    }
}
