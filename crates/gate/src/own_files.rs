//! Files of Switchboard itself in the arguments of a call: it is asked about, whatever its tool may do.

use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::client::Target;
use switchboard_policy::Finding;
use switchboard_policy::permission::Scope;
use switchboard_protocol::mgp::Risk;
use switchboard_validators::arguments::{self, OwnFiles, Violation};

use super::Attempt;
use switchboard_upstream::Server;

/// How long following the links of one call may take.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(5);
/// Folders of a command line at which relative paths may begin.
const MAX_BASES: usize = 16;

/// What a person has to agree to, where a call names a file of Switchboard itself.
pub(super) async fn touched(own: &Arc<OwnFiles>, attempt: &Attempt<'_>, scopes: &[Scope]) -> Option<Violation> {
    let follow = match paths_of(own, attempt, scopes) {
        Ok(follow) if follow.is_empty() => return None,
        Ok(follow) => follow,
        Err(finding) => return Some(asked(finding)),
    };
    // Links are read from disks that may be slow.
    let own = own.clone();
    let looking = tokio::task::spawn_blocking(move || own.leading_inside(&follow, &link));
    match tokio::time::timeout(FOLLOW_TIMEOUT, looking).await {
        Ok(Ok(found)) => found.map(|path| asked(OwnFiles::question(&path))),
        _ => Some(asked(OwnFiles::question_unread())),
    }
}

/// The paths of a call whose links have to be followed, or what a person is asked without that.
fn paths_of(own: &OwnFiles, attempt: &Attempt<'_>, scopes: &[Scope]) -> Result<Vec<String>, Finding> {
    let mut follow = Vec::new();
    let sent = [Some(attempt.arguments()), attempt.within.cloned(), attempt.unknown_beside()];
    let mut concerned = Vec::new();
    for sent in sent.iter().flatten() {
        let glance = own.glance(sent);
        if let Some(host) = &glance.metadata {
            arguments::check_metadata(host, scopes)?;
        }
        if glance.concerns_own && !own.is_empty() {
            concerned.push(sent);
        }
    }
    if concerned.is_empty() {
        return Ok(follow);
    }
    let bases = bases(attempt.server);
    let only_reads = attempt.policy.assessment.risk == Risk::Safe;
    for sent in concerned {
        let found = own.suspects(sent, &bases, only_reads);
        if let Some(path) = &found.touched {
            return Err(OwnFiles::question(path));
        }
        if found.too_many {
            return Err(OwnFiles::question_unread());
        }
        follow.extend(found.follow);
    }
    Ok(follow)
}

fn link(path: &str) -> Option<String> {
    std::fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned())
}

/// Where relative paths of a server may begin: where it was started, and the folders on its command line.
fn bases(server: &Server) -> Vec<String> {
    let Target::Command(command) = &server.spec.target else { return Vec::new() };
    let here = std::env::current_dir().unwrap_or_default();
    let cwd = command.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
    let named = command.args.iter().map(|arg| arg.split_once('=').map_or(arg.as_str(), |(_, value)| value));
    let folders = named.filter(|value| value.starts_with('/')).take(MAX_BASES).map(str::to_owned);
    [cwd.to_string_lossy().into_owned()].into_iter().chain(folders).collect()
}

fn asked(finding: Finding) -> Violation {
    let step = if finding.asks() { "own_files" } else { "network_restricted" };
    Violation { step, pointer: String::new(), finding, rejection: None, host: None }
}
