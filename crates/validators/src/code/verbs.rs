//! What methods of services and stores do, by their names: which destroy, stop or let in, and which empty a store. One table
//! for the languages; a name in camel case is read as the words that it is made of.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Verbs of what cannot be taken back.
const DESTROYS: &str =
    "delete del terminate destroy drop purge wipe erase expunge truncate decommission nuke obliterate trash";
/// Verbs of what stops, takes away or lets in.
const STOPS: &str = "stop shutdown kill reboot revoke disable deregister detach empty flush remove evict drain scale attach grant \
     prune dele ban kick archive suspend deactivate cancel abort reset restart force clear";
/// Words before the verb that say only how.
const HOW: &str = "begin batch bulk async try recursive";
/// Methods of stores that empty them, or steer the server.
const EMPTIES: &str = "flushall flushdb flush_all flush_db drop drop_all drop_tables drop_table drop_table_if_exists drop_database \
     drop_collection drop_db drop_index drop_indexes drop_schema drop_schema_if_exists drop_all_schemas drop_all_tables \
     drop_graph drop_column drop_view delete_all truncate truncate_table truncate_tables remove_all delete_collection \
     shutdown config_set slaveof replicaof module_load script_flush recreate drop_schemas function_flush swapdb \
     debug_segfault";
/// Of these, the names that other objects have too.
const SHARED: &str = "drop truncate shutdown recreate";
/// Methods that act for an account, by package.
const ACTS: &[(&str, &str)] = &[
    (
        "aws",
        "put_bucket_policy put_bucket_acl put_object_acl put_user_policy put_role_policy put_group_policy create_access_key \
         create_login_profile send_command start_session update_function_code run_instances modify_ \
         authorize_security_group get_secret_value batch_get_secret_value assume_role \
         put_public_access_block change_resource_record_sets add_permission update_assume_role_policy invoke",
    ),
    ("azure", "get_secret begin_deallocate begin_power_off begin_delete begin_stop run_command begin_run_command"),
    ("celery", "send_task broadcast"),
    (
        "github",
        "merge update_branch_protection create_or_update_file_contents create_or_update_ add_collaborator create_webhook \
         create_deploy_key transfer update_ref create_dispatch create_workflow_dispatch set_ lock",
    ),
    ("google", "access_secret_version set_iam_policy set_custom_user_claims make_public"),
    ("imaplib", "store expunge delete"),
    ("kubernetes", "patch_ replace_ create_namespaced_pod_eviction"),
    ("poplib", "dele"),
    ("serial", "serial_for_url"),
    ("stripe", "create modify update cancel pay capture confirm refund del"),
];

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

static BY_DESTROYING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(DESTROYS));
static BY_STOPPING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(STOPS));
static BY_EMPTYING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(EMPTIES));

/// A name in camel case as words in small letters: `deleteMany` is `delete_many`.
pub(super) fn snake(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 4);
    let mut small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && small {
            out.push('_');
        }
        small = !letter.is_ascii_uppercase() && letter != '_';
        out.push(letter.to_ascii_lowercase());
    }
    Cow::Owned(out)
}

/// The verb of a method.
fn verb(method: &str) -> &str {
    method
        .split('_')
        .find(|word| !word.is_empty() && !HOW.split_ascii_whitespace().any(|how| how == *word))
        .unwrap_or("")
}

/// Whether a method of a client destroys something.
pub(super) fn destroys(method: &str) -> bool {
    BY_DESTROYING.contains(verb(method))
}

/// Whether a method of a client destroys, stops or lets in.
pub(super) fn steers(package: &str, method: &str) -> bool {
    let acts = |(of, methods): &(&str, &str)| {
        *of == package
            && methods
                .split_ascii_whitespace()
                .any(|known| method == known || known.ends_with('_') && method.starts_with(known))
    };
    destroys(method) || BY_STOPPING.contains(verb(method)) || empties(method) || ACTS.iter().any(acts)
}

/// Whether a method of a store empties it or steers its server.
pub(super) fn empties(method: &str) -> bool {
    BY_EMPTYING.contains(method)
}

/// Whether a method empties a store by a name that nothing else has.
pub(super) fn plainly_empties(method: &str) -> bool {
    empties(method) && !SHARED.split_ascii_whitespace().any(|shared| shared == method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_case_is_read_as_words() {
        for (name, words) in [
            ("deleteMany", "delete_many"),
            ("flushall", "flushall"),
            ("DeleteDBInstance", "delete_dbinstance"),
            ("a_b", "a_b"),
        ] {
            assert_eq!(snake(name), words);
        }
    }

    #[test]
    fn methods_are_told_apart_by_their_verb() {
        assert!(
            destroys("delete_bucket") && destroys("begin_delete") && !destroys("deleted_items") && !destroys("list")
        );
        assert!(steers("aws", "modify_db_instance") && steers("x", "stop_instances") && !steers("x", "modify_a"));
        assert!(plainly_empties("drop_database") && !plainly_empties("drop") && empties("drop"));
    }
}
