//! What options, fields and texts say by their names, in every language: a protection that is left out, somebody who is let in,
//! an order that a service is given.

use super::verbs;

/// Options that protect while they are on.
const PROTECTS: &str = "check_hostname hostname_checking reject_unauthorized ssl_verify strict_ssl verify verify_aud verify_certs verify_exp \
     verify_host verify_iss verify_signature verify_ssl validate_certs autoescape strict_host_key_checking ssl_no_verify_off csrf csrf_enabled csrf_protection \
     http_only httponly verify_peer ssl_check_hostname";
/// Options that take a protection away where they are on.
const EXPOSES: &str = "insecure insecure_skip_verify skip_verify skip_tls_verify no_verify ssl_insecure tls_insecure tls_allow_invalid_certificates \
     tls_allow_invalid_hostnames ignore_certificate_errors ignore_https_errors disable_security no_auth anonymous allow_anonymous public_read \
     accept_invalid_certs verify_none dangerously_allow_browser dangerously_disable_default_path_check ignore_expiration ignore_not_before";
/// Options that do what would be refused without them.
const FORCES: &str = "force hard force_delete force_push force_update cascade purge wipe overwrite_all delete_all skip_final_snapshot \
     drop_first drop_existing drop_target working_tree no_backup delete_data ignore_protection bypass_governance_retention without_confirmation no_confirm \
     assume_yes auto_approve allow_destructive delete_orphans prune";
/// Fields that say what somebody may do.
const ROLES: &str = "role roles is_admin is_staff is_superuser is_owner admin superuser permission permissions access_level privilege privileges \
     user_role account_type acl scopes";
/// What somebody may do who may do everything.
const POWERS: &str = "admin administrator owner root superuser superadmin maintainer sysadmin all * public-read public-read-write full_control";

/// Words in names of options whose text names something that is loaded or run.
const CODE: &str = "plugin plugins hook hooks extension extensions loader serializer deserializer entrypoint executable command cmd shell script \
     interpreter callable module modules import imports preload resolver unpickler";

/// Whether the name of an option says that its text names something which is loaded or run.
pub(super) fn names_code(key: &str) -> bool {
    verbs::snake(key).to_ascii_lowercase().split('_').any(|word| among(CODE, word))
}

fn among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether an option protects while it is on.
pub(super) fn protects(key: &str) -> bool {
    among(PROTECTS, &verbs::snake(key).to_ascii_lowercase())
}

/// Whether an option takes a protection away where it is on.
pub(super) fn exposes(key: &str) -> bool {
    among(EXPOSES, &verbs::snake(key).to_ascii_lowercase())
}

/// Whether an option does what would be refused without it.
pub(super) fn forces(key: &str) -> bool {
    among(FORCES, &verbs::snake(key).to_ascii_lowercase())
}

/// Whether a field that is given a value lets somebody do everything.
pub(super) fn lets_in(key: &str, value: Option<&str>, on: bool) -> bool {
    let key = verbs::snake(key).to_ascii_lowercase();
    among(ROLES, &key)
        && (on && (key.starts_with("is_") || key.contains("admin") || key.contains("superuser"))
            || value.is_some_and(|value| among(POWERS, &value.to_ascii_lowercase())))
}

/// Whether a text is an option that forces a command.
pub(super) fn forced(text: &str) -> bool {
    matches!(
        text.trim(),
        "--force"
            | "-f"
            | "--hard"
            | "--force-with-lease"
            | "--mirror"
            | "--delete"
            | "--no-verify"
            | "--prune"
            | "--purge"
            | "--cascade"
            | "-D"
    )
}

/// Whether a text is an order to a service: a change of a graph, options that force a command, an address that names a deed,
/// definitions that grow when they are read.
pub(super) fn orders(text: &str) -> bool {
    if text.len() > 8_192 {
        return false;
    }
    let trimmed = text.trim_start();
    let changes_graph =
        trimmed.starts_with("mutation") && trimmed[8..].starts_with([' ', '{', '(', '\n']) && text.contains('{');
    let takes = ["document.cookie", "localStorage", "sendBeacon"];
    let in_page = text.contains("<script") && takes.iter().any(|take| text.contains(take));
    in_page || changes_graph || names_deed(trimmed) || text.contains("<!ENTITY")
}

/// Whether an address ends in a verb that says what is done there: `https://ci.example/job/x/doDelete`.
fn names_deed(text: &str) -> bool {
    const DEEDS: &str = "delete destroy purge wipe terminate remove drop truncate restart reboot shutdown stop kill revoke disable suspend \
         deploy rollback transfer withdraw refund payout merge approve promote demote ban flush reset uninstall execute exec";
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    // `?action=delete`
    let told = || {
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|pair| pair.split_once('=')).any(|(key, value)| {
            matches!(key, "action" | "cmd" | "command" | "do" | "method" | "op" | "operation" | "_method")
                && among(DEEDS, &verbs::snake(value).to_ascii_lowercase())
        })
    };
    if scheme.starts_with("http") && rest.len() <= 500 && told() {
        return true;
    }
    if !scheme.starts_with("http") || rest.len() > 500 || rest.contains([' ', '\n']) {
        return false;
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let Some((_, path)) = path.split_once('/') else { return false };
    let last = path
        .trim_end_matches('/')
        .rsplit('/')
        .find(|step| !step.chars().all(|c| c.is_ascii_digit()) && !step.is_empty());
    last.is_some_and(|step| {
        let is_file = step
            .rsplit_once('.')
            .is_some_and(|(_, end)| matches!(end, "css" | "html" | "js" | "json" | "xml" | "png" | "csv"));
        let snake = verbs::snake(step.trim_start_matches('_'));
        let stem =
            |word: &str| among(DEEDS, word) || matches!(word, "close" | "cancel" | "refunds" | "payouts" | "transfers");
        !is_file && snake.split(['_', '-', '.']).take(2).any(stem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_orders_are_told_by_their_names() {
        assert!(protects("rejectUnauthorized") && protects("verify") && !protects("stream"));
        assert!(exposes("tlsAllowInvalidCertificates") && forces("skip_final_snapshot") && !forces("encoding"));
        assert!(
            lets_in("role", Some("ADMIN"), false)
                && lets_in("isAdmin", None, true)
                && !lets_in("role", Some("button"), false)
        );
        for text in [
            "mutation { deleteRef(input: {}) { id } }",
            "https://jenkins.example.com/job/deploy-prod/doDelete",
            "https://api.example.com/orders/12/refund",
        ] {
            assert!(orders(text), "{text}");
        }
        for text in [
            "query { user { id } }",
            "mutation rate",
            "https://api.example.com/orders/12",
            "https://example.com/reset.css",
        ] {
            assert!(!orders(text), "{text}");
        }
        assert!(forced("--hard") && !forced("--verbose"));
    }
}
