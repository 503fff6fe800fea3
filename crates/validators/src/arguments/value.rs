//! The values of documents in a text, and files in revisions: which of them are places.

use switchboard_policy::keys::{Key, Mark};
use switchboard_policy::path;
use switchboard_wire::{Kind, Object, Raw};

use super::document::{self, Pair};
use super::role::{self, Role};
use super::{World, body, glued, place, reach, uri};
use crate::Verdict;

/// What stands at the beginning of a line in documents whose paths are routes.
const ROUTED: [&str; 5] = ["apiVersion:", "openapi:", "swagger:", "\"openapi\"", "\"swagger\""];
/// What a resource of a cluster begins with.
const OF_CLUSTER: [&str; 2] = ["apiVersion", "kind"];
/// Kinds of resources that are for a client, and name files of its machine.
const OF_CLIENTS: [&str; 3] = ["Config", "Kustomization", "Component"];
/// What a step of a patch of JSON does, and what else it says.
const STEPS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];
const OF_STEP: [&str; 4] = ["op", "path", "from", "value"];
/// Words in keys above a path of the machine, also in such documents.
const OF_MACHINE: [&str; 4] = ["host", "local", "volume", "file"];
/// Words in keys for what is mounted into a container. `amount` and `combined` are other words.
const MOUNTED: [&str; 10] =
    ["volume", "volumes", "mount", "mounts", "bind", "binds", "bindmount", "bindmounts", "volumemount", "volumemounts"];
/// Words that are no names of files.
const SWITCHES: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "null", "none"];

/// Whether a document says of itself that its paths are routes: of Kubernetes, of OpenAPI, of the web.
pub(super) fn has_routes(text: &str) -> bool {
    let marked = text.trim_start();
    let is_page = marked.starts_with('<')
        && ["<html", "<a ", "<div", "<p>", "<body", "<img ", "<link ", "<head"].iter().any(|tag| marked.contains(tag));
    let is_routed = |line: &str| ROUTED.iter().any(|mark| line.trim_start_matches([' ', '{']).starts_with(mark));
    is_page || text.lines().any(is_routed) && !is_for_client(text)
}

/// Whether a document says that it is for a client: it names files of this machine, whatever their first folder is called. However
/// it is written: in quotes, with a tag, with a comment behind.
pub(super) fn is_for_client(text: &str) -> bool {
    let is_client = |value: &str| {
        let bare = value.split_whitespace().filter(|word| !word.starts_with(['!', '&']));
        let first = bare.map(|word| word.trim_matches(['"', '\''])).next().unwrap_or_default();
        OF_CLIENTS.contains(&first)
    };
    text.contains("kind")
        && document::read(text).is_ok_and(|pairs| {
            pairs.iter().any(|pair| pair.key.trim().eq_ignore_ascii_case("kind") && is_client(&pair.value))
        })
}

/// Whether a value under a key for places is one: what is empty or only a bracket is none, nor are words that switch and routes.
pub(super) fn is_place(pair: &Pair<'_>, role: Role, routes: bool, places: &[path::Scope]) -> bool {
    let value = pair.value.trim();
    let is_container = value.starts_with(['{', '[']) || matches!(value, "|" | ">" | "|-" | ">-" | "*" | "]" | "}");
    let is_switch = SWITCHES.iter().any(|word| value.eq_ignore_ascii_case(word));
    // A sentence under a key that names places in most tools.
    let is_sentence = role != Role::Path && value.contains(char::is_whitespace) && !place::begins_as_path(value);
    !(value.is_empty() || is_container || is_switch || is_sentence || routes && is_route(pair, places))
}

/// Whether an object is a resource of a cluster, as it says of itself. The configuration of a client, which names files of this
/// machine, is none.
pub(super) fn is_resource(object: &Object) -> bool {
    OF_CLUSTER.iter().all(|key| object.get(key).is_some()) && !is_config(object)
}

/// Whether an object says that it is for a client, and names files of this machine.
pub(super) fn is_config(object: &Object) -> bool {
    object.get("kind").and_then(|kind| kind.as_text()).is_some_and(|kind| OF_CLIENTS.contains(&kind.as_str()))
}

/// Whether what stands under a key goes to a cluster: a specification or a patch of a tool that is called so, and what says of itself
/// that it is a resource.
pub(super) fn is_for_cluster(key: &str, value: &Raw, is_called_so: bool) -> bool {
    let read = role::in_string(value);
    let value = read.as_ref().unwrap_or(value);
    let key = Key::of(key);
    let is_list = |value: &Raw| value.kind() == Kind::Array;
    let claims = |value: &Raw| Object::open(value).is_ok_and(|object| is_resource(&object));
    let all = |value: &Raw| value.elements().is_some_and(|elements| elements.iter().all(claims));
    match value.kind() {
        Kind::Object | Kind::Array if is_called_so && (key.has(Mark::Patch) || key.has(Mark::Spec)) => true,
        Kind::Object | Kind::Array => key.has(Mark::Resource) && (claims(value) || is_list(value) && all(value)),
        _ => false,
    }
}

/// Whether a document is one of resources: by its key, or as it says of itself. What is for a client is none, nor is one whose
/// values stand elsewhere in it, below other keys.
pub(super) fn is_manifest(text: &str, pairs: &[Pair<'_>], is_spec: bool) -> bool {
    let of_client = |pair: &Pair<'_>| pair.key == "kind" && OF_CLIENTS.contains(&&*pair.value);
    let says_so = || OF_CLUSTER.iter().all(|key| pairs.iter().any(|pair| pair.key == *key));
    let is_alias = |at: usize| {
        let (front, behind) = (&text[..at], &text[at + 1..]);
        let begins = front.ends_with(|c: char| c.is_whitespace() || "[{,:".contains(c));
        begins && behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    let has_alias = || text.match_indices('*').any(|(at, _)| is_alias(at));
    !pairs.is_empty() && (is_spec || says_so()) && !pairs.iter().any(of_client) && !has_alias()
}

/// Whether what stands under a key of a resource lies on the machine that runs its containers. `around` is what was said by the
/// keys above.
pub(super) fn is_of_node(around: bool, key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    match lower.as_str() {
        "mountpath" | "subpath" => false,
        "host" | "hosts" | "hostname" | "hostnames" => around,
        _ => around || OF_MACHINE.iter().any(|word| lower.contains(word)),
    }
}

/// Whether a value of a resource that is of no node may lie in a container only: it leads nowhere up and to nobody's home.
pub(super) fn is_of_container(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !(text.contains("..") || text.contains(['~', '\\', '%']) || lower.contains("$home") || lower.contains("file:"))
}

/// The steps of a patch of JSON (RFC 6902): of each where it leads in the document, and its value; nothing where a list is none.
pub(super) fn steps(elements: &[Raw]) -> Option<Vec<(Vec<String>, Option<Raw>)>> {
    let step = |element: &Raw| {
        let object = Object::open(element).ok()?;
        let text = |key: &str| object.get(key).and_then(|value| value.as_text());
        let pointers: Vec<String> = ["path", "from"].into_iter().filter_map(text).collect();
        let is_pointer = |pointer: &String| pointer.is_empty() || pointer.starts_with('/');
        let is_step = text("path").is_some()
            && text("op").is_some_and(|op| STEPS.contains(&op.as_str()))
            && object.iter().all(|(key, _)| OF_STEP.contains(&&*key));
        (is_step && pointers.iter().all(is_pointer)).then(|| (pointers, object.get("value")))
    };
    if elements.is_empty() { None } else { elements.iter().map(step).collect() }
}

/// An absolute path whose first name no system has as a folder, and the root itself.
fn is_route(pair: &Pair<'_>, places: &[path::Scope]) -> bool {
    let parent = pair.parent.to_ascii_lowercase();
    let own = pair.key.to_ascii_lowercase();
    // A place in the container.
    if own == "mountpath" && !pair.value.contains("..") {
        return true;
    }
    if OF_MACHINE.iter().any(|word| parent.contains(word) || own.contains(word)) || pair.value.contains("..") {
        return false;
    }
    is_unrooted(&pair.value, places)
}

/// Whether a text begins as an absolute path does, and its first name is no folder that systems have or the limits speak of.
fn is_unrooted(text: &str, places: &[path::Scope]) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return false };
    let first = rest.split('/').next().unwrap_or_default();
    !rest.starts_with(['/', '\\', '.']) && !body::roots(places).any(|root| root == first)
}

/// A document without the lines that are only the route of an interface: `/users/{id}:`.
pub(super) fn without_routes(text: &str, places: &[path::Scope]) -> String {
    let is_route = |line: &&str| line.trim().strip_suffix(':').is_some_and(|line| is_unrooted(line, places));
    text.lines().filter(|line| !is_route(line)).collect::<Vec<_>>().join("\n")
}

/// Whether a value under any other key lies inside, if it names a place by itself: as one word, behind which others may stand, or
/// in front of the place in a container where it is mounted.
pub(super) fn check(places: &[path::Scope], pair: &Pair<'_>, world: &dyn World) -> Verdict {
    let value = pair.value.trim();
    if value.is_empty() {
        return Ok(());
    }
    // What connects leads to another machine: `postgres://user@host/database`.
    let host = uri::scheme_of(value).and_then(|(scheme, rest)| Some((scheme, rest.strip_prefix("//")?)));
    if host.is_some_and(|(scheme, host)| reach::is_reaching(scheme) && host.starts_with(char::is_alphanumeric))
        && !uri::climbs(value)
        && !value.to_ascii_lowercase().contains("file:")
    {
        return Ok(());
    }
    let first = value.split_whitespace().next().unwrap_or_default();
    let mounted = value.split_once(':').map(|(front, _)| front).filter(|front| front.len() > 1);
    let begins = value.starts_with(['/', '~', '.', '$', '\\', '%']);
    if pair.key.eq_ignore_ascii_case("device") && begins && place::begins_as_path(value) {
        return place::inside(places, value, world);
    }
    let is_mount = is_mount_key(pair.key) || is_mount_key(pair.parent);
    if is_mount && mounted.filter(is_volume).is_some_and(|front| front != "file") {
        return Ok(());
    }
    if let Some(front) = mounted.filter(|front| begins && !front.contains(char::is_whitespace)) {
        let counts = is_mount || body::names_path(places, front);
        if counts && place::begins_as_path(front) {
            return place::inside(places, front, world);
        }
    }
    if body::names_path(places, value) {
        return place::inside(places, value, world);
    }
    if first.len() < value.len() && begins && body::names_path(places, first) {
        place::inside(places, first, world)?;
        return if body::is_there(places, value) { place::inside(places, value, world) } else { Ok(()) };
    }
    if glued::climbs_in_part(value) && !value.contains(char::is_whitespace) {
        return place::inside(places, value, world);
    }
    check_name(places, value, world)
}

/// Whether a word that may be the name of a file, and names no place by itself, is not denied: a key, or a cell of a table.
pub(super) fn check_name(places: &[path::Scope], word: &str, world: &dyn World) -> Verdict {
    let word = word.trim();
    let is_name = !word.contains(char::is_whitespace) && place::may_be_path(word) && !word.contains("://");
    if is_name { place::not_denied(places, word, world) } else { Ok(()) }
}

/// Whether a member of an object says where in a container something is mounted: `{"source": "/srv/x", "target": "/data"}`. What is
/// mounted stands beside it, and is judged.
pub(super) fn is_target(key: &str, object: &Object) -> bool {
    let is = |key: &str, words: &[&str]| words.iter().any(|word| key.eq_ignore_ascii_case(word));
    let has = |words: &[&str]| object.iter().any(|(key, _)| is(&key, words));
    let kept = || {
        let kind = object.iter().find(|(key, _)| is(key, &["type"])).and_then(|(_, kind)| kind.as_text());
        kind.is_some_and(|kind| matches!(&*kind.to_ascii_lowercase(), "volume" | "tmpfs"))
    };
    let targets =
        ["target", "destination", "dst", "dest", "containerpath", "container_path", "mountpath", "mount_path"];
    is(key, &targets) && (has(&["source", "src", "hostpath", "host_path"]) || kept())
}

/// Whether a key is for the folder in which a program in a container begins.
pub(super) fn is_working_folder(key: &str) -> bool {
    matches!(Key::of(key).whole(), "workdir" | "working_dir" | "working_directory" | "cwd")
}

/// Whether a key is for what is mounted into a container.
pub(super) fn is_mount_key(key: &str) -> bool {
    let key = Key::of(key);
    // `mount_point` is one place.
    role::of(key.last()) != Role::Path && key.last() != "point" && key.words().any(|word| MOUNTED.contains(&word))
}

/// Whether it is the name of a volume that a container engine keeps.
fn is_volume(front: &&str) -> bool {
    front.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The place on this machine, or the volume, in `/srv/x:/app:ro`; nothing where a text is no mount.
pub(super) fn mounted(text: &str) -> Option<&str> {
    let (front, behind) = text.trim().split_once(':')?;
    let named = is_volume(&front) && !front.eq_ignore_ascii_case("file") && front.len() > 1;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:,".contains(c);
    let inside =
        behind.starts_with('/') && !behind.starts_with("//") && !behind.contains("..") && behind.chars().all(is_plain);
    (inside && (named || place::begins_as_path(front))).then_some(front)
}

/// The revision and the file in `HEAD:x`, `:x`, `:0:x`; nothing where a text is none.
pub(super) fn in_revision(text: &str) -> Option<(&str, &str)> {
    let (revision, file) = text.split_once(':')?;
    if text.contains(char::is_whitespace) || file.is_empty() || file.starts_with(['/', '(', ':']) {
        return None;
    }
    if revision.is_empty() {
        let stage = file.split_once(':').filter(|(stage, _)| matches!(*stage, "0" | "1" | "2" | "3"));
        return Some((":", stage.map_or(file, |(_, file)| file)));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/@{}^~".contains(c);
    (!revision.starts_with('/') && revision.chars().all(plain)).then_some((revision, file))
}

/// Whether nothing else than a revision is called so.
pub(super) fn is_surely_revision(revision: &str) -> bool {
    let front = revision.split(['~', '^', '@', '{']).next().unwrap_or_default();
    let is_hash = front.len() >= 7 && front.len() <= 64 && front.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(front, "HEAD" | "FETCH_HEAD" | "ORIG_HEAD" | "MERGE_HEAD" | "main" | "master") || is_hash
}
