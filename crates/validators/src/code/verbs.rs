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

/// Verbs of what only looks, makes a client or picks what is meant.
const READS: &str = "get list describe find query search count head read fetch select scan lookup retrieve view show exists exist is \
     has check status stat info iter iterate paginate page next peek watch wait poll load parse validate verify estimate \
     compute calculate format to from as with connect close quit disconnect login logout authenticate auth init initialize \
     configure config use build on once off where order limit filter download receive consume subscribe unsubscribe analyze \
     detect classify recognize predict generate embed translate convert encode decode compare match test explain preview \
     diff simulate resolve ping health loop can should need raw each map sort group not or and eq neq gt gte lt lte in \
     contains text maybe single range for by key hash sign random transcribe synthesize \
     summarize moderate rerank tokenize say stream transform collect print dump serialize deserialize construct wrap";
/// Nouns that stand before the verb.
const NOUNS: &str = "queue exchange basic channel chat conversations users files reactions pins team user home mentions username tls \
     will message topic stream default public api base client current full total max min first last server database \
     collection bucket blob object table row page document index item product customer session account bot app auth \
     request response data web v1 v2 rest http repos issues pulls orgs git actions search";
/// Verbs of what writes, sends, pays, starts, installs or lets in.
const ACTS_BY: &str = "put post patch write update create add insert upsert replace modify edit rename move copy upload send publish \
     emit broadcast notify email mail sms tweet retweet reply comment like unlike follow unfollow upvote downvote call dial \
     pay charge capture refund transfer withdraw deposit payout mint burn swap approve submit grant revoke authorize invite \
     assign unassign associate disassociate enable activate start run launch deploy provision resize restore rollback \
     downgrade upgrade migrate install uninstall eval invoke trigger dispatch schedule enqueue lock unlock mute block \
     unblock merge unpublish release promote import register unregister rotate expire push produce change set \
     impersonate assume accept reject execute exec command rpc control sync \
     increment decrement allocate apply reassign share unshare tag untag redeem purchase buy \
     sell cordon taint sudo mkdir rmdir rm mv chmod chown seed propose vote confirm";
/// Names of that kind that only go on with what the program itself does.
const OWN_WORK: &str = "start_consuming start_polling run_polling start_chat run_forever start_span start_as_current_span \
     execute create_client create_session create_connection create_pool create_engine create_channel \
     create_transport create_paginator create_consumer create_service create_credentials add_handler add_listener \
     add_event_handler add_routes set_level set_token set_timeout set_defaults sync_api";
/// What programs make for themselves.
const MAKES: &str = "client session connection pool engine channel transport consumer producer provider instance context app socket stream \
     transporter reader writer query paginator";
/// Acting words that are telling wherever they stand in a name.
const ANYWHERE: &str = "delete purge post publish upload invite kick archive remove drop truncate send wipe destroy terminate transfer \
     pay payout refund grant revoke ban set add create update rename";
/// Verbs that act for somebody, whatever the package.
const PLAINLY: &str = "delete purge wipe destroy erase uninstall downgrade deploy terminate kill reboot shutdown grant revoke ban tweet \
     transfer pay payout withdraw refund mint burn expunge obliterate decommission";
/// Names that hand a command of their own language to a service, or act for somebody by more than a verb.
const COMMANDS: &str = "execute_command run_command cmd_query cmd_query_iter send_transaction send_raw_transaction exec_command eval_sha evalsha \
     eval_ro fcall script_load function_load module_load run_shell sign_transaction write_contract deploy_contract \
     send_calls send_user_operation transfer_create batch_delete bulk_delete send_and_wait send_mail send_email send_sms send_message \
     create_tweet delete_user empty_bucket drop_all";
/// Verbs by which something secret is asked for, and words that name it.
const ASKS_FOR: &str = "get list read retrieve access describe fetch batch find generate issue";
const SECRETS: &str = "secret secrets password passwords credential credentials token apikey ";

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

static BY_DESTROYING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(DESTROYS));
static BY_STOPPING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(STOPS));
static BY_READING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(READS));
static BY_NOUN: LazyLock<HashSet<&str>> = LazyLock::new(|| set(NOUNS));
static BY_ACTING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ACTS_BY));
static BY_OWN_WORK: LazyLock<HashSet<&str>> = LazyLock::new(|| set(OWN_WORK));
static BY_WORD: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ANYWHERE));
static BY_PLAIN_ACT: LazyLock<HashSet<&str>> = LazyLock::new(|| set(PLAINLY));
static BY_COMMAND: LazyLock<HashSet<&str>> = LazyLock::new(|| set(COMMANDS));
static BY_ASKING: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ASKS_FOR));
static BY_SECRET: LazyLock<HashSet<&str>> = LazyLock::new(|| set(SECRETS));
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

/// Whether a method of a client for machines, accounts or messages does more than look. What it is called is read as verb and
/// noun: a name of several words that begins with no verb of looking acts, a single word that is no verb picks something.
pub(super) fn acts(method: &str) -> bool {
    if BY_OWN_WORK.contains(method) || method.starts_with("__") {
        return false;
    }
    let first = verb(method);
    // What makes a client for the program itself.
    let made = method.rsplit('_').next().unwrap_or_default();
    let is_maker = matches!(first, "create" | "make" | "new" | "start" | "open");
    if is_maker && MAKES.split_ascii_whitespace().any(|known| known == made) {
        return false;
    }
    if BY_ACTING.contains(first) || BY_DESTROYING.contains(first) {
        return true;
    }
    if BY_READING.contains(first) || !method.trim_matches('_').contains('_') {
        return false;
    }
    !BY_NOUN.contains(first) || method.split('_').any(|word| BY_WORD.contains(word))
}

/// Whether a method acts for somebody by a name that means the same in every package.
pub(super) fn plainly_acts(method: &str) -> bool {
    BY_PLAIN_ACT.contains(verb(method)) || commands(method)
}

/// Whether a method hands a command of its own language to a service.
pub(super) fn commands(method: &str) -> bool {
    BY_COMMAND.contains(method) || method.starts_with("cmd_")
}

/// Whether a method starts a program, by a name that says so.
pub(super) fn starts_program(method: &str) -> bool {
    let has = |words: &[&str]| method.split('_').any(|word| words.contains(&word));
    has(&["subprocess"])
        || has(&["run", "exec", "execute", "launch", "spawn"]) && has(&["command", "shell", "cmd", "process"])
}

/// Whether a method ends what it is told to, or puts it away.
pub(super) fn puts_away(method: &str) -> bool {
    matches!(verb(method), "cancel" | "archive" | "suspend" | "deactivate" | "disable")
}

/// Whether a method of a client gives something secret.
pub(super) fn tells_secret(method: &str) -> bool {
    let verb = method.split('_').find(|word| !word.is_empty()).unwrap_or("");
    BY_ASKING.contains(verb) && method.split('_').any(|word| BY_SECRET.contains(word))
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
        for name in
            ["delete_user", "queue_purge", "put_object", "send", "create_tweet", "chat_post_message", "frobnicate_all"]
        {
            assert!(acts(name), "{name}");
        }
        for name in
            ["list_objects_v2", "get_paginator", "bucket", "queue_declare", "conversations_list", "execute", "files"]
        {
            assert!(!acts(name), "{name}");
        }
        assert!(tells_secret("get_secret_value") && tells_secret("list_secret_for_all_namespaces"));
        assert!(!tells_secret("get_bucket_acl") && plainly_acts("delete_study") && !plainly_acts("drop"));
        assert!(plainly_empties("drop_database") && !plainly_empties("drop") && empties("drop"));
    }
}
