//! What is known about the value of an expression without running it.

use std::rc::Rc;

/// Constants longer than this are not followed.
pub(super) const MAX_CONSTANT_LENGTH: usize = 4_096;
/// The most values that one name is remembered to have.
const MAX_VALUES: usize = 12;

/// A value, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Val {
    /// Nothing is known.
    Unknown,
    /// Made by decoding or assembling something that could not be followed.
    Opaque,
    /// `None`, `True`, a number with a fraction: known to be harmless data.
    Plain,
    /// A text.
    Text(Rc<str>),
    /// A text of which only beginning and end are known.
    Partial(Rc<str>, Rc<str>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// An integer.
    Int(i64),
    /// A list, a tuple or a set.
    Seq(Rc<[Self]>),
    /// Any number of values like this one.
    Many(Rc<Self>),
    /// A dictionary.
    Dict(Rc<[(Self, Self)]>),
    /// What Python knows under a qualified name; ends in `()` for the result of a call.
    Path(Rc<str>),
    /// The dictionary behind a module, or `globals()`.
    Names(Rc<str>),
    /// A function of the program, by where it stands.
    Func(u32),
    /// A class of the program, by where it stands.
    Class(u32),
    /// An object of a class of the program.
    Object(u32),
    /// An object that stands for a path, with its text.
    File(Rc<Self>),
    /// What was found in a folder, with the text of the folder, or nothing where that is not known.
    Listed(Rc<str>),
    /// What was read out of a file or a variable, or made of it.
    Private(Source),
    /// One of these.
    Any(Rc<[Self]>),
}

/// Where something private comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A file.
    File,
    /// One value out of a file, or what a person typed.
    Part,
    /// A variable of the environment.
    Variable(Rc<str>),
    /// What was made of one, or answered to it.
    Derived(Rc<str>),
    /// All of them.
    Environment,
}

impl Val {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        if text.len() > MAX_CONSTANT_LENGTH { Self::Opaque } else { Self::Text(text.into()) }
    }

    pub(super) fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        if bytes.len() > MAX_CONSTANT_LENGTH { Self::Opaque } else { Self::Bytes(bytes.into()) }
    }

    pub(super) fn path(path: impl AsRef<str>) -> Self {
        let path = path.as_ref();
        if path.len() > 200 { Self::Unknown } else { Self::Path(path.into()) }
    }

    pub(super) fn seq(values: Vec<Self>) -> Self {
        if values.len() > MAX_CONSTANT_LENGTH { Self::Opaque } else { Self::Seq(values.into()) }
    }

    /// The values this may be, one by one.
    pub(super) fn each(&self) -> &[Self] {
        match self {
            Self::Any(values) => values,
            one => std::slice::from_ref(one),
        }
    }

    /// This value or that one.
    pub(super) fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let mut values: Vec<Self> = self.each().to_vec();
        let more = match other {
            Self::Any(more) => more.to_vec(),
            one => vec![one],
        };
        for value in more {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.len() > MAX_VALUES {
            // Forget constants, never what leads somewhere.
            values.retain(|value| !matches!(value, Self::Text(_) | Self::Bytes(_) | Self::Int(_) | Self::Plain));
            values.truncate(MAX_VALUES * 4);
            if !values.contains(&Self::Opaque) {
                values.push(Self::Opaque);
            }
        }
        Self::Any(values.into())
    }

    /// One of many, or nothing known where there are none.
    pub(super) fn any(values: impl IntoIterator<Item = Self>) -> Self {
        values.into_iter().reduce(Self::or).unwrap_or(Self::Unknown)
    }

    /// Applies `f` to each value this may be.
    pub(super) fn map(&self, f: impl FnMut(&Self) -> Self) -> Self {
        Self::any(self.each().iter().map(f))
    }

    /// The elements, where they are all known.
    pub(super) fn elements(&self) -> Option<Vec<Self>> {
        Some(match self {
            Self::Seq(values) => values.to_vec(),
            Self::Text(text) => text.chars().map(|c| Self::text(c.encode_utf8(&mut [0; 4]))).collect(),
            Self::Bytes(bytes) => bytes.iter().map(|byte| Self::Int(i64::from(*byte))).collect(),
            Self::Dict(items) => items.iter().map(|(key, _)| key.clone()).collect(),
            _ => return None,
        })
    }

    /// What a loop over this sees.
    pub(super) fn element(&self) -> Self {
        self.map(|value| match value {
            Self::Many(element) => (**element).clone(),
            Self::Opaque | Self::Private(_) => value.clone(),
            // The second of `mkstemp()` is the file.
            Self::Path(path) if path.starts_with("tempfile.") => value.clone(),
            Self::Path(path) if path.starts_with("builtins.open()") || path.contains(".connect()") && reads(path) => {
                Self::Private(Source::File)
            }
            known => known.elements().map_or(Self::Unknown, Self::any),
        })
    }

    /// Whether this is a value written down in the program, whose class is one of Python's own.
    pub(super) const fn is_literal(&self) -> bool {
        matches!(
            self,
            Self::Plain
                | Self::Text(_)
                | Self::Partial(..)
                | Self::Bytes(_)
                | Self::Int(_)
                | Self::Seq(_)
                | Self::Dict(_)
                | Self::Many(_)
        )
    }

    /// Whether a text that was assembled or decoded may be in it.
    pub(super) fn is_opaque(&self) -> bool {
        self.each().iter().any(|value| match value {
            Self::Opaque => true,
            Self::Many(element) => element.is_opaque(),
            _ => false,
        })
    }

    /// What is private in it.
    pub(super) fn private(&self) -> Vec<&Source> {
        let mut found = Vec::new();
        self.collect_private(&mut found, 0);
        found
    }

    fn collect_private<'v>(&'v self, found: &mut Vec<&'v Source>, depth: usize) {
        if depth > 4 || found.len() > MAX_VALUES {
            return;
        }
        match self {
            Self::Private(source) if !found.contains(&source) => found.push(source),
            Self::Path(path) if reads(path) && !found.contains(&&Source::File) => found.push(&Source::File),
            Self::Path(path) if matches!(&**path, "os.environ" | "os.environb" | "streamlit.secrets") => {
                found.push(&Source::Environment)
            }
            Self::Many(inner) | Self::File(inner) => inner.collect_private(found, depth + 1),
            Self::Any(values) | Self::Seq(values) => {
                values.iter().for_each(|value| value.collect_private(found, depth + 1));
            }
            Self::Dict(items) => items.iter().for_each(|(_, value)| value.collect_private(found, depth + 1)),
            _ => {}
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn as_path(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Whether the text could be `name`.
    pub(super) fn may_be(&self, name: &str) -> bool {
        match self {
            Self::Text(text) => &**text == name,
            Self::Partial(start, end) => {
                name.len() >= start.len() + end.len() && name.starts_with(&**start) && name.ends_with(&**end)
            }
            Self::Plain | Self::Int(_) | Self::Bytes(_) | Self::Seq(_) | Self::Dict(_) => false,
            Self::Any(values) => values.iter().any(|value| value.may_be(name)),
            _ => true,
        }
    }
}

/// Whether a path is a file that was opened or read, or what a method of it answers.
fn reads(path: &str) -> bool {
    /// Functions of packages that read documents, pictures and tables.
    const DOCUMENTS: [&str; 15] = [
        "PIL.Image.open()",
        "cv2.imread()",
        "docx.Document()",
        "dotenv.dotenv_values()",
        "fitz.open()",
        "geopandas.read_",
        "openpyxl.load_workbook()",
        "pandas.read_",
        "pdfplumber.open()",
        "polars.read_",
        "polars.scan_",
        "pyarrow.parquet.read_",
        "pymupdf.open()",
        "pypdf.PdfReader()",
        "xlrd.open_workbook()",
    ];
    /// Clients of databases, whose cursors hold rows.
    const ROWS: [&str; 6] = [
        "sqlite3.connect()",
        "psycopg.connect()",
        "psycopg2.connect()",
        "pymysql.connect()",
        "MySQLdb.connect()",
        "duckdb.connect()",
    ];
    if ROWS.iter().any(|client| path.starts_with(client)) && (path.contains(".fetch") || path.ends_with(".execute()")) {
        return true;
    }
    if DOCUMENTS.iter().any(|file| path.starts_with(file)) && path.contains('(') {
        return true;
    }
    ["builtins.open()", "io.open()", "codecs.open()", "gzip.open()", "bz2.open()", "lzma.open()", "aiofiles.open()"]
        .iter()
        .any(|file| path.starts_with(file))
}
