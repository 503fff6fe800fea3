//! Whether two versions of MGP can talk to each other.

/// The version of MGP that we announce.
pub const VERSION: &str = "0.3.0";

/// What two versions mean for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compatibility {
    /// They fit.
    Full,
    /// Both are drafts and their minor numbers differ: they are spoken, but the operator should know.
    OtherDraft,
    /// One of them cannot be read: it is spoken, but the operator should know.
    Unreadable,
    /// The major numbers differ: plain MCP remains.
    None,
}

impl Compatibility {
    /// Of two version texts. Before 1.0 every minor number is a draft of its own and is tolerated; from 1.0 on the
    /// major number must be the same.
    #[must_use]
    pub fn between(one: &str, other: &str) -> Self {
        match (numbers(one), numbers(other)) {
            (Some((major, _)), Some((other_major, _))) if major != other_major => Self::None,
            (Some((0, minor)), Some((0, other_minor))) if minor != other_minor => Self::OtherDraft,
            (Some(_), Some(_)) => Self::Full,
            _ => Self::Unreadable,
        }
    }

    /// What the operator should read, where there is something.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::OtherDraft => Some("the peer speaks another draft of MGP"),
            Self::Unreadable => Some("the peer's MGP version cannot be read"),
            Self::None => Some("the peer speaks an MGP of another major version"),
        }
    }
}

/// Major and minor number of a version such as `0.3.0`, `1.2` or `0.8.0-draft`.
pub(super) fn numbers(version: &str) -> Option<(u32, u32)> {
    let digits = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    let core = version.split(['-', '+']).next()?;
    let mut parts = core.split('.');
    let (major, minor) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let patch: Option<&str> = parts.next();
    (parts.next().is_none() && patch.is_none_or(|patch| digits(patch).is_some())).then_some((major, minor))
}
