//! What the operator's commands share: the store with the operator's name on every decision, and times in words.

use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use switchboard_config::{ApprovalPolicy, Loaded, Server};
use switchboard_kernel::OperatorActions;
use switchboard_policy::redact;

use super::token::Life;
use crate::arguments::Common;
use crate::failure::Failure;
use crate::storage::{COMMAND_BUSY, open_store, open_store_patiently};
use crate::{memory, screen, setup};

/// The operator at the command line, with the configuration and the store.
pub(crate) struct OperatorSession {
    pub(crate) loaded: Loaded,
    pub(crate) office: OperatorActions,
}

impl OperatorSession {
    pub(crate) async fn open(common: &Common) -> Result<Self, Failure> {
        let loaded = setup::read(common)?;
        let store = open_store(&loaded).await?;
        Ok(Self { loaded, office: OperatorActions::of_operator(store, &operator()) })
    }

    /// The same for what takes something back: a store that is away for a moment, such as a database that is restarted, is
    /// waited for.
    pub(crate) async fn open_patiently(common: &Common) -> Result<Self, Failure> {
        let loaded = setup::read(common)?;
        let store = open_store_patiently(&loaded).await?;
        let office = OperatorActions::of_operator(store, &operator()).waiting(COMMAND_BUSY);
        Ok(Self { loaded, office })
    }

    /// Closes the store. What was acknowledged is durable already, so nothing can be lost here.
    pub(crate) async fn close(self) {
        let _ = self.office.store().close().await;
    }

    /// The id of a server that a person named, perhaps by its alias.
    pub(crate) fn id_of(&self, server: &str) -> String {
        setup::server_named(&self.loaded.config, server).map_or(server, Server::id).to_owned()
    }

    /// Tells a person who names a server that is not configured.
    pub(crate) fn warn_of_unknown(&self, server: &str) {
        let config = &self.loaded.config;
        if server == memory::ID || config.server(server).is_some() {
            return;
        }
        let known: Vec<&str> = config.servers.iter().map(Server::id).chain([memory::ID]).collect();
        let near = switchboard_config::nearest(server, &known);
        let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
        let shown = screen::plain_line(server);
        screen::note(format_args!(
            "warning: no server \"{shown}\" is configured; this will count once there is one of that name{near}"
        ));
    }

    /// The name that a server gives a tool, which a person may also write as clients see it. Of a server that has shown no
    /// tool yet, every name may be right.
    ///
    /// # Errors
    /// The server has shown no such tool.
    pub(crate) async fn tool(&self, server: &str, tool: &str) -> Result<String, Failure> {
        let pins = self.office.store().pins().list(Some(server)).await?;
        // What the operator gave another name.
        let own = setup::own_part(&self.loaded.config, server, tool).unwrap_or(tool);
        let entry = self.loaded.config.server(server).map(|server| &server.entry.tools);
        let renamed = entry.and_then(|tools| tools.iter().find(|(_, said)| said.name.as_deref() == Some(own)));
        if let Some((given, _)) = renamed {
            return Ok(given.clone());
        }
        let known: Vec<&str> = pins.iter().map(|pin| pin.tool.as_str()).collect();
        if known.is_empty() {
            return Ok(own.to_owned());
        }
        let is_meant = |known: &&&str| **known == tool || setup::is_exposed(&self.loaded.config, server, known, tool);
        if let Some(found) = known.iter().find(is_meant) {
            return Ok((*found).to_owned());
        }
        let hint = match switchboard_config::nearest(own, &known) {
            Some(near) => format!("did you mean {}?", cell(near)),
            None => format!("`switchboard pins list {}` shows those there are", cell(server)),
        };
        Err(Failure::usage(format!("server {} has shown no tool {}; {hint}", cell(server), cell(tool))))
    }

    /// Tells a person whose approval of a permission has no effect.
    pub(crate) fn warn_of_policy(&self) {
        let policy = self.loaded.config.settings.approval_policy;
        if matches!(policy, ApprovalPolicy::DenyAll | ApprovalPolicy::ConfigOnly) {
            screen::note(format_args!(
                "warning: approval_policy is {}: only permissions of the configuration count, so this one does not",
                policy.as_str()
            ));
        }
    }
}

/// Whose decisions these are: the user of the operating system, who cannot be chosen by a parameter.
pub(crate) fn operator() -> String {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(own) = std::fs::metadata("/proc/self") else {
        return std::env::var("USER").unwrap_or_else(|_| "operator".to_owned());
    };
    let uid = own.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {uid}"))
}

/// A time to the minute, in UTC.
pub(crate) fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..16).map_or_else(|| text.clone(), |minutes| format!("{}Z", minutes.replace('T', " ")))
}

/// Until when something counts, for people.
pub(crate) fn until(end: Option<Timestamp>) -> String {
    end.map_or_else(|| "never ends".to_owned(), |end| format!("until {}", minute(end)))
}

/// How long something has lasted.
pub(crate) fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Text of others for a terminal: what cannot be seen is written out, so that nothing is hidden from who decides.
pub(crate) fn visible(text: &str) -> String {
    redact::printable(text).replace('\t', "\\t")
}

/// The same on one line, for tables.
pub(crate) fn cell(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// A time on the command line: a span such as 30d, a moment, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    Span(Duration),
    At(Timestamp),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(life) = text.parse::<Life>() {
            return Ok(life.0.map_or(Self::Never, Self::Span));
        }
        let midnight = |date: &str| format!("{date}T00:00:00Z").parse::<Timestamp>().ok();
        text.parse().ok().or_else(|| midnight(text)).map(Self::At).ok_or_else(|| {
            format!("`{text}` is no time: write 30d, 12h, 45m, 2026-12-01, 2026-12-01T00:00:00Z or never")
        })
    }
}

impl When {
    /// The end of what begins now; `None` for what has no end.
    pub(crate) fn end(self, now: Timestamp) -> Result<Option<Timestamp>, Failure> {
        let end = match self {
            Self::Never => return Ok(None),
            Self::Span(span) => now.checked_add(span).map_err(Failure::usage)?,
            Self::At(at) => at,
        };
        if end <= now {
            return Err(Failure::usage(format!("{} is over already", minute(end))));
        }
        Ok(Some(end))
    }

    /// A moment in the past: a span is that long ago.
    pub(crate) fn past(self, now: Timestamp) -> Result<Timestamp, Failure> {
        match self {
            Self::Never => Err(Failure::usage("`never` is no moment; write 2h, 30d or 2026-12-01T00:00:00Z")),
            Self::Span(span) => now.checked_sub(span).map_err(Failure::usage),
            Self::At(at) => Ok(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        for (text, end, past) in [
            ("30d", Some(Some("2026-07-01T00:00:00Z")), Some("2026-05-02T00:00:00Z")),
            ("never", Some(None), None),
            ("2026-12-01", Some(Some("2026-12-01T00:00:00Z")), Some("2026-12-01T00:00:00Z")),
            ("2026-12-01T01:00:00+01:00", Some(Some("2026-12-01T00:00:00Z")), Some("2026-12-01T00:00:00Z")),
            ("2026-06-01T00:00:00Z", None, Some("2026-06-01T00:00:00Z")),
        ] {
            let when: When = text.parse().unwrap();
            let shown = |at: Timestamp| at.to_string();
            assert_eq!(when.end(now).ok().map(|end| end.map(shown)), end.map(|end| end.map(str::to_owned)), "{text}");
            assert_eq!(when.past(now).ok().map(shown), past.map(str::to_owned), "{text}");
        }
        for text in ["", "soon", "2026-13-01", "-1d", "2026"] {
            assert!(text.parse::<When>().is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_is_hidden_from_who_decides() {
        assert_eq!(cell("a\u{1b}[2Jb\n\u{202e}c\t"), "a\\u{1b}[2Jb\\n\\u{202e}c\\t");
        assert_eq!(age(Timestamp::from_second(0).unwrap(), Timestamp::from_second(7_200).unwrap()), "2 h");
    }
}
