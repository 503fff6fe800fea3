//! Asking a server for its lists, page by page, within bounds.

use std::collections::HashSet;
use std::time::Duration;

use switchboard_peer::{Call, CallError, Caller, Remote};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Edit, Raw, code};

use crate::lists::{ListKind, Listing, Lists};

/// More pages than this are not asked for: a server that always gives another cursor would never end.
const MOST_PAGES: usize = 200;

/// How to ask.
pub(crate) struct Asking<'a> {
    pub(crate) remote: &'a dyn Remote,
    pub(crate) revision: Revision,
    pub(crate) capabilities: &'a Raw,
    pub(crate) caller: &'a Caller,
    pub(crate) timeout: Duration,
    pub(crate) most_items: usize,
}

impl Asking<'_> {
    /// All lists that the server says it has. A list that fails stays as it was before, and why is told: it must not
    /// take the others with it.
    pub(crate) async fn all(&self, before: &Lists) -> (Lists, Vec<String>) {
        let (tools, prompts, resources, templates) = tokio::join!(
            self.in_time(ListKind::Tools),
            self.in_time(ListKind::Prompts),
            self.in_time(ListKind::Resources),
            self.in_time(ListKind::Templates)
        );
        let mut problems = Vec::new();
        let mut keep = |kind: ListKind, listed: Result<Listed, String>, before: &Listing| {
            let (listing, problem) = match listed {
                Ok(Listed { listing, problem }) => (listing, problem),
                Err(problem) => (before.clone(), Some(problem)),
            };
            problems.extend(problem.map(|problem| format!("{}: {problem}", kind.method())));
            listing
        };
        let lists = Lists {
            tools: keep(ListKind::Tools, tools, &before.tools),
            prompts: keep(ListKind::Prompts, prompts, &before.prompts),
            resources: keep(ListKind::Resources, resources, &before.resources),
            templates: keep(ListKind::Templates, templates, &before.templates),
        };
        (lists, problems)
    }

    /// All pages together may take as long as one.
    async fn in_time(&self, kind: ListKind) -> Result<Listed, String> {
        let one = tokio::time::timeout(self.timeout, self.one(kind)).await;
        one.unwrap_or_else(|_| Err(format!("no end of it within {:?}", self.timeout)))
    }

    async fn one(&self, kind: ListKind) -> Result<Listed, String> {
        let capability = match kind {
            ListKind::Tools => "tools",
            ListKind::Prompts => "prompts",
            ListKind::Resources | ListKind::Templates => "resources",
        };
        if self.capabilities.member(capability).is_none() {
            return Ok(Listed::default());
        }
        let mut listing = Listing::default();
        let mut cursor: Option<Raw> = None;
        let mut followed = HashSet::new();
        for page in 0..MOST_PAGES {
            let result = match self.page(kind, cursor.take()).await {
                Ok(result) => result,
                // Many servers have resources but do not know the method for templates.
                Err(Failure { unknown_method: true, .. }) if kind == ListKind::Templates && page == 0 => {
                    return Ok(Listed::default());
                }
                Err(failure) => return Err(failure.why),
            };
            let edit = Edit::of(&result).map_err(|refusal| refusal.to_string())?;
            let items = edit.object().get(kind.key()).and_then(|raw| raw.elements());
            let mut items = items.ok_or_else(|| format!("the answer has no `{}`", kind.key()))?;
            // An empty cursor is what some write where there is no next page.
            let next = edit.object().get("nextCursor");
            cursor = next.filter(|raw| raw.as_text().is_some_and(|text| !text.is_empty()));
            let repeated = cursor.as_ref().is_some_and(|cursor| !followed.insert(cursor.clone()));
            if repeated {
                // What a server that does not look at cursors gives again is the same page.
                items.retain(|item| !listing.items.contains(item));
            }
            listing.items.extend(items);
            if page == 0 {
                listing.envelope = edit.remove(kind.key()).remove("nextCursor").finish().detach();
            }
            if repeated {
                let problem = "the server names the same next page again; the list ends there".to_owned();
                return Ok(Listed { listing, problem: Some(problem) });
            }
            if listing.items.len() > self.most_items {
                listing.items.truncate(self.most_items);
                break;
            }
            if cursor.is_none() {
                break;
            }
        }
        Ok(Listed { listing, problem: None })
    }

    async fn page(&self, kind: ListKind, cursor: Option<Raw>) -> Result<Raw, Failure> {
        let params = cursor.map(|cursor| Edit::empty().set("cursor", cursor).finish());
        let params = match self.revision.era() {
            Era::Legacy => params,
            Era::Modern => Some(
                self.caller
                    .modern_params(params.as_ref(), None)
                    .map_err(|refusal| Failure::other(refusal.to_string()))?,
            ),
        };
        let reply = self.remote.request(Call::new(kind.method(), params).within(self.timeout)).await;
        let reply = reply.map_err(|error: CallError| Failure::other(error.to_string()))?;
        reply
            .outcome
            .map_err(|error| Failure { unknown_method: error.code == code::METHOD_NOT_FOUND, why: error.to_string() })
    }
}

/// A list, and what is wrong with it all the same.
#[derive(Default)]
struct Listed {
    listing: Listing,
    problem: Option<String>,
}

/// Why a page could not be had.
struct Failure {
    /// The server does not know the method at all.
    unknown_method: bool,
    why: String,
}

impl Failure {
    const fn other(why: String) -> Self {
        Self { unknown_method: false, why }
    }
}
