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

/// Verbs that, with any noun, cannot be taken back.
const GRAVE: &str = "terminate destroy purge wipe erase expunge decommission nuke obliterate uninstall deprovision empty flush truncate";
/// Nouns behind these and behind `delete` that are a program's own: parts of a page, of a window, of a process.
const OWN_PARTS: &str = "app bar buffer buffers cache caches canvas chart chat child children chars columns comments component console \
     context cookies cookie dialog duplicates editor element elements entries event events field fields form frame graph grid \
     handler handlers headers input instance item items key keys layer layers line lines list listener listeners map marker markers \
     menu message messages modal node nodes none options output params pixels player plugin plugins pool popup properties props \
     process processes queue renderer row rows scene screen session shape shapes socket spaces state stdout stream subprocess \
     subscription table tabs text thread threads timer timers tooltip tree ui view views wait whitespace widget widgets window \
     windows worker workers writer";
/// Parts of a program that runs, which end when it says so.
const PROCESSES: &str = "cache caches child children player pool process processes screen session state stream subprocess thread threads \
     worker workers";
/// Nouns of what others use too, and of what only an account has.
const SHARED_NOUNS: &str = "account backup bucket channel cluster collection collections container customer database databases \
     dataset db deployment disk domain environment guild invoice keyspace member namespace network org organization policy \
     project queue registry release repo repository role schema schemas secret site snapshot space stack subnet \
     subscription table tables team tenant topic user vault vm volume vpc warehouse webhook workspace zone";
/// Verbs that stop or take away, where the noun is one of those.
const STOPS_SHARED: &str = "ban deactivate demote deregister detach disable drain evict grant kick kill promote reboot revoke rotate \
     scale shutdown stop suspend transfer";
/// Words behind `delete` that say that something was picked.
const PICKS: &str = "by one if where id old expired stale unused";
/// Words behind `drop` that are about a table of data in the program itself.
const FRAMES: &str = "axis column columns duplicates encoding features first in index indexes isel last level missing na nan nans \
     null nulls outliers out rows sel vars zone";
/// Nouns of which a project has functions of its own that delete one.
const OF_ACCOUNTS: &str = "account channel container customer invoice member project release role site space subscription table team topic user workspace";
/// Words that say that everybody is written to.
const EVERYBODY: &str = "all bulk customers everybody everyone mass subscribers users";
/// Names of one word of functions of the project that do what cannot be taken back.
const ALONE: &str =
    "decommission deploy destroy dropdatabase flushall flushdb nuke obliterate purge rollback teardown terminate wipe";
/// Names that programs give to clients of services, by the package that they stand for.
const NAMED_CLIENTS: &[(&str, &str)] = &[
    (
        "aws",
        "autoscaling cloudformation cloudfront cloudtrail dynamodb ec2 ecr ecs efs eks elbv2 iam kms lambda_client organizations rds \
         redshift route53 s3 s3_client secretsmanager secrets_manager ses sns sqs ssm ec2_client iam_client",
    ),
    ("cloudflare", "cloudflare"),
    ("discord", "guild guilds"),
    ("github", "gitea github gitlab octokit"),
    ("google", "bigquery firestore gcs pubsub"),
    ("kubernetes", "apps_v1 batch_v1 core_v1 k8s k8s_api kube kubernetes"),
    ("stripe", "braintree stripe"),
    ("twilio", "sendgrid twilio"),
];

fn among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether a method or a function of which nothing is known but its name does what cannot be taken back: to machines, accounts
/// and stores that others use too, or to many things at once. Names are judged as verb and noun.
pub(super) fn is_grave(name: &str) -> bool {
    let verb = verb(name);
    if !name.contains('_') {
        return matches!(name, "flushall" | "flushdb" | "dropdatabase" | "swapdb");
    }
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| *word == verb) else { return false };
    let behind = words.get(at + 1..).unwrap_or_default();
    let Some(last) = behind.last() else { return false };
    let picked = behind.first().is_some_and(|first| among(PICKS, first)) || behind.contains(&"by");
    let many = || {
        last.len() > 3 && last.ends_with('s') && !last.ends_with("ss") && !last.ends_with("us") && !last.ends_with("is")
            || matches!(*last, "all" | "everything" | "everyone" | "many")
    };
    let shared = || {
        behind.iter().any(|word| {
            among(SHARED_NOUNS, word) || word.strip_suffix('s').is_some_and(|word| among(SHARED_NOUNS, word))
        })
    };
    if matches!(verb, "terminate" | "decommission" | "deprovision" | "wipe") {
        return !among(PROCESSES, last);
    }
    if among(GRAVE, verb) {
        return !among(OWN_PARTS, last) || shared() && !among("queue subscription table", last);
    }
    match verb {
        "drop" => shared() && !behind.iter().any(|word| among(FRAMES, word)) || matches!(*last, "all" | "db" | "graph"),
        "delete" | "del" | "trash" | "remove" if !picked => {
            shared() && (verb != "remove" || many() && !among(OWN_PARTS, last))
                || many() && verb != "remove" && !among(OWN_PARTS, last)
        }
        "send" | "email" | "mail" | "sms" | "text" | "notify" | "refund" | "payout" | "pay" | "charge" | "withdraw" => {
            behind.iter().any(|word| among(EVERYBODY, word)) && name != "notify_all"
        }
        _ if among(STOPS_SHARED, verb) => {
            shared() || many() && matches!(*last, "instances" | "services" | "keys" | "funds" | "nodes" | "pods")
        }
        _ => {
            commands(name) && !name.starts_with("send_") && !name.starts_with("execute_") && !name.starts_with("exec_")
        }
    }
}

/// Whether a function of the project's own modules does so, where it is called by its bare name.
pub(super) fn is_grave_alone(name: &str) -> bool {
    // What is called with the key of one row, as the handlers of a project are.
    let one = verb(name) == "delete" && name.rsplit('_').next().is_some_and(|noun| among(OF_ACCOUNTS, noun));
    among(ALONE, name) || is_grave(name) && !one || plainly_empties(name) && name.contains('_')
}

/// Whether a method of one word, of an object of the project's own modules, does so.
pub(super) fn is_grave_word(name: &str) -> bool {
    matches!(name, "decommission" | "deprovision" | "nuke" | "obliterate" | "teardown_all" | "wipe")
}

/// Whether an object of which only the name is known is called like a client of a service, and is told to act.
pub(super) fn steers_named(object: &str, name: &str) -> bool {
    let Some((table, _)) = NAMED_CLIENTS.iter().find(|(_, names)| among(names, object)) else { return false };
    let uploads = *table == "aws" && (name.starts_with("upload") || name.starts_with("put_object"));
    !uploads
        && (steers(table, name) && name != "flush" && name != "clear" && name != "reset"
            || matches!(*table, "github" | "stripe" | "kubernetes" | "twilio" | "cloudflare") && acts(name)
            || tells_secret(name))
}

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

/// Whether a word is a verb of what only looks, makes a client or picks what is meant.
pub(super) fn is_reading(word: &str) -> bool {
    BY_READING.contains(word)
}

/// Whether a word is a verb of what destroys, stops, writes, sends, pays, starts or lets in.
pub(super) fn is_acting(word: &str) -> bool {
    [&BY_ACTING, &BY_DESTROYING, &BY_STOPPING, &BY_PLAIN_ACT].iter().any(|verbs| verbs.contains(word))
        || among(GRAVE, word)
        || among(STOPS_SHARED, word)
        || among(ALONE, word)
}

/// Whether a word names what others use too, by itself or as many.
pub(super) fn is_shared(word: &str) -> bool {
    among(SHARED_NOUNS, word) || word.strip_suffix('s').is_some_and(|word| among(SHARED_NOUNS, word))
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

    #[test]
    fn names_alone_tell_what_is_grave() {
        for name in [
            "terminate_instances",
            "delete_bucket",
            "drop_database",
            "delete_user",
            "delete_all",
            "wipe_disk",
            "purge_backups",
            "revoke_role",
            "stop_instances",
            "email_all_customers",
            "refund_all",
            "destroy_cluster",
            "delete_customers",
        ] {
            assert!(is_grave(name), "{name}");
        }
        for name in [
            "delete_one",
            "delete_by_id",
            "delete_item",
            "drop_duplicates",
            "drop_column",
            "drop_index",
            "destroy_window",
            "notify_all",
            "delete_keys",
            "terminate_process",
            "load",
            "get_users",
            "remove_children",
            "delete",
            "send_email",
            "clear_cache",
            "create_user",
        ] {
            assert!(!is_grave(name), "{name}");
        }
        assert!(is_grave_alone("wipe") && is_grave_alone("drop_all") && !is_grave_alone("load"));
        assert!(steers_named("ec2", "stop_instances") && steers_named("stripe", "create"));
        assert!(!steers_named("s3", "list_buckets") && !steers_named("users", "create"));
    }
}
