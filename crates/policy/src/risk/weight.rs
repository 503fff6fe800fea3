//! What makes a change grave that its verb alone does not: what is changed, how much of it at once, what the description adds
//! behind its first verb, and arguments that nobody gives to something harmless. What is left without any word for what it does
//! is not known to be harmless, and is asked about.

use std::sync::LazyLock;

use switchboard_protocol::mgp::security::{Argument, ToolSecurity};

use super::fallback::words;
use super::nature::{self, DETERMINERS, FILLING, Nature, OWN, Told};
use super::verbs::{self, Kind, Set, Verb, set, tables};
use super::{phrase, senses, sentence};

/// Which verbs an object makes grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Those that change.
    Change,
    /// Those that change and those that add.
    Any,
}

/// Objects that a change of is no trifle, and what the change is.
const WEIGHTY: &[(&str, By, Kind)] = &[
    // What runs for others.
    (
        "instance instances vm vms cluster clusters nodepool droplet droplets deployment deployments statefulset replicaset pod \
         pods container containers loadbalancer vpc subnet subnets route53 dns zone zones nameserver nameservers domain domains \
         dyno dynos gateway pool route routes upstream service services volume volumes tenant capacity kernel firmware bios registry production prod hypervisor rollout replicas autoscaling",
        By::Change,
        Kind::Stop,
    ),
    ("resource resources manifest manifests infrastructure", By::Change, Kind::Publish),
    // Who may do what, and who gets to see it.
    (
        "policy policies protection permission permissions role roles privacy visibility acl iam secret secrets credential \
         credentials password passwords mfa factor factors 2fa sso saml vpn forwarding firewall encryption collaborator \
         collaborators ingress egress whitelist allowlist otp public blocklist denylist port ports nat ssl claims collaboration",
        By::Any,
        Kind::Grant,
    ),
    (
        "user users member members admin admins participant participants certificate certificates",
        By::Change,
        Kind::Grant,
    ),
    // What is paid, and what it costs.
    ("payment payments", By::Any, Kind::Pay),
    (
        "price prices pricing budget budgets bid bids invoice invoices payment payments payout payouts order orders subscription \
         subscriptions refund billing payroll salary sip coupon coupons discount discounts dispute disputes beneficiary payee loss limit limits",
        By::Change,
        Kind::Pay,
    ),
    // What decides what happens later.
    (
        "workflow workflows automation automations webhook webhooks hook hooks cron cronjob trigger triggers flag flags alert alerts \
         monitor monitors settings option options env environment plugin plugins rule rules pipeline pipelines killswitch retention",
        By::Change,
        Kind::Govern,
    ),
    // What moves, heats or locks something in the world.
    (
        "device devices thermostat climate temperature heater oven boiler lock locks door doors garage alarm vehicle car valve pump \
         motor relay coil coils plc drone robot arm gripper joint servo spindle gpio actuator hvac sprinkler flash eeprom setpoint setpoints",
        By::Change,
        Kind::Stop,
    ),
];

static OBJECTS: LazyLock<Vec<(Set, By, Kind)>> =
    LazyLock::new(|| WEIGHTY.iter().map(|(objects, by, kind)| (set(objects), *by, *kind)).collect());

/// Verbs that are grave where a name begins with them, and say nothing as nouns elsewhere (`create_trigger`).
const LEADING: &[(&str, Kind)] = &[
    ("initiate dispatch retry rerun fire relaunch provision", Kind::Run),
    ("respond escalate notify", Kind::Send),
    ("void yank", Kind::Delete),
    ("deallocate unmount", Kind::Stop),
    ("unlock approve", Kind::Grant),
    ("deprecate rollout", Kind::Publish),
    ("recreate", Kind::Overwrite),
    ("alter", Kind::Govern),
];

/// Verbs that may take something away or set something going: harmless only beside what is known to be.
const DOUBTFUL: &[(&str, Kind)] = &[
    (
        "stop reset restore revert undo cancel clear empty pause suspend disable drain flush scale migrate upgrade downgrade patch lock \
         block drop",
        Kind::Stop,
    ),
    ("start launch install activate", Kind::Run),
    ("submit push merge post schedule", Kind::Publish),
    ("put replace import", Kind::Overwrite),
];

/// Words of a description in which what a verb is done to is looked for.
const MOST_SAID: usize = 12;

/// Endings of words that are hardly ever anything but verbs.
const VERB_ENDINGS: [&str; 8] = ["ate", "ify", "ize", "ise", "ates", "ifies", "izes", "ises"];

tables! {
    /// What such verbs do no harm to: what an agent works with itself, parts of a document, what is made again in one step.
    MILD = "browser page pages tab tabs timer time tracking recording playback session sessions journey game battle typing tunnel stream \
        watch cell cells pdf pdfs slide slides sheet sheets layout layouts row rows column columns text texts style styles format \
        formatting filter filters cache caches view views layer layers attribute attributes words synonyms pagination faceting \
        codegen draft drafts label labels tag tags comment comments note notes reminder reminders bookmark bookmarks selection \
        placeholder placeholders clipboard background search simulation screen screenshot reaction reactions image images \
        document documents doc docs chart charts code codebase editor debug debugger trace profiling playlist track music dev \
        oauth login auth verification simulator emulator app prediction rendering zoom theme mode field line lines block blocks \
        paragraph prompt prompts template templates avatar review survey_draft analysis research thought crawl scrape url urls \
        str edit editor scan scans query queries crawl elicitation sampling dialog telemetry screencast workbook worksheet viewer state project notification";
    /// Verbs for letting in or shutting out, which are nouns where nobody stands behind them.
    LISTING = "whitelist whitelists blacklist blacklists allowlist allowlists denylist denylists blocklist blocklists";
    /// What may stand between an article and its noun.
    QUALIFYING = "empty clear open closed complete";
    /// Words of names for doing it to many at once.
    BULK = "bulk batch mass many multiple all everything everywhere";
    /// What may be written over, and verbs that do.
    WRITTEN_OVER = "collection collections table tables bucket disk partition object objects branch";
    WRITING_OVER = "write overwrite replace move rename mv put";
    /// Verbs that take what was there away by themselves.
    OVERWRITING = "overwrite upsert force rebase amend";
    /// Verbs that may be nouns and are none in front of many things.
    OF_MANY = "transition archive close cancel patch set assign trash pause resume suspend disable block lock restore revert rotate \
        migrate submit";
    /// Words that stand in front of names as those of a server, and are no object of a verb in the middle.
    IN_FRONT = "project app state code image";
    /// Browsers that a program drives, into which files go that leave the machine.
    DRIVEN = "browser playwright puppeteer chrome chromium selenium webdriver cdp";
    /// Of many things at once these are work with a sheet or a page.
    OF_SHEETS = "cell cells sheet sheets spreadsheet slide slides text style styles format formatting shape shapes node nodes row rows \
        column columns frame layer layers";
    /// Arguments that nobody gives to something harmless.
    HARMING = "auto_approve autoapprove confirm confirmed confirmation cascade auto_apply are_you_sure i_understand \
        confirm_delete confirm_send skip_confirmation require_confirmation user_confirmed";
    /// The same of something that changes what is there; what is fetched or made anew has them too.
    CHANGING = "force overwrite dry_run dryrun";
    /// Arguments that say how much is spent.
    BUDGETS = "daily_budget lifetime_budget bid_amount bid_strategy max_bid spend_cap spend_limit spending_limit";
    /// Arguments that say when something is done that others say: nobody is there when it is.
    SCHEDULED = "schedule cron cron_expression cron_schedule crontab schedule_expression";
    TOLD_LATER = "prompt command script instruction instructions code api_url webhook_url";
    /// Arguments that say which of many are changed, and how.
    CHOSEN = "filter filters where condition conditions criteria";
    CHANGES = "update updates set values changes data fields";
    /// Arguments that give rights.
    GRANTING = "permission permissions acl privileges redirect_uris callbacks callback_urls share_with ssh_keys sshkeys \
        authorized_keys ssh_public_keys ssh_authorized_keys";
    /// Arguments that hold what a name leads to, and those beside which they do.
    RECORDED = "value content target data rdata";
    RECORDS = "record records rrset recordset";
    TYPED = "type record_type";
    /// What a repository is set back to.
    RESET_TO = "mode hard commit target ref revision commit_hash to";
    /// Arguments that are worth money, and those that say whose or which.
    AMOUNTS = "amount amount_usd amount_in_cents qty quantity lamports wei notional";
    COUNTERPARTS = "to recipient recipients payee beneficiary iban account account_id account_number destination to_address \
        destination_address wallet card card_number currency side symbol token";
    /// Where people read what is written there.
    CHANNELS = "channel channel_id chat_id chat room_id room thread_ts guild_id conversation_id subreddit";
    POSTED = "text message content payload body html markdown";
    /// Arguments that choose what is done, beside those that everybody calls so.
    CHOOSING_TOO = "action operation op subcommand verb method command function service endpoint tool_name tool_slug operation_name \
        action_name api_name operation_id function_name method_name tool_id";
    /// Those of them that are nothing else, whatever a sentence says of the tool.
    SURELY_CHOOSING = "action operation op subcommand verb command operation_name action_name";
}

/// What a name says by what is changed, where its first verb only changes or adds.
pub(super) fn of_objects(name: &[String], verb: Verb, at: usize) -> Option<Kind> {
    let has = |list: &Set| name.iter().enumerate().any(|(place, word)| place != at && list.contains(word.as_str()));
    let mild = || {
        let fronted = |place: usize, word: &str| place == 0 && at + 1 < name.len() && IN_FRONT.contains(word);
        let is_mild =
            |(place, word): (usize, &String)| place != at && MILD.contains(word.as_str()) && !fronted(place, word);
        name.iter().enumerate().any(is_mild)
    };
    let changes = matches!(verb.kind, Kind::Change | Kind::Manage);
    let leads = |list: &Set| name.get(at).is_some_and(|word| list.contains(word.as_str()));
    let doubtful = |word: &str| DOUBTFUL.iter().find(|(list, _)| list.split(' ').any(|known| known == word));
    // `upload_and_post` does both.
    let joined = name
        .iter()
        .zip(name.iter().skip(1))
        .find_map(|(joins, word)| matches!(joins.as_str(), "and" | "then").then(|| doubtful(word)).flatten());
    // What the index of a repository is set back to is what was there; the rest of it is told by the arguments.
    let unstages = matches!(name, [git, reset] if git == "git" && reset == "reset");
    let led = name.get(at).filter(|_| name.len() > 1 && !unstages).and_then(|word| doubtful(word));
    // What an agent started itself it may end.
    let own = |kind: Kind| kind == Kind::Stop && has(&OWN);
    if led.is_some_and(|(_, kind)| own(*kind)) {
        return None;
    }
    if let Some((_, kind)) = led.or(joined).filter(|(_, kind)| !mild() && !own(*kind)) {
        return Some(*kind);
    }
    let is = |at: usize, wanted: &[&str]| name.get(at).is_some_and(|word| wanted.contains(&word.as_str()));
    if is(at, &["upload"]) && is(at + 1, &["file", "files"]) && has(&DRIVEN) {
        return Some(Kind::Export);
    }
    if is(at, &["set", "enable", "update", "turn"]) && name.windows(3).any(|three| three == ["out", "of", "office"]) {
        return Some(Kind::Send);
    }
    // Who is let in without being anybody.
    let served = |two: &[String]| {
        two[0] == "service" && matches!(two[1].as_str(), "account" | "accounts" | "principal" | "principals")
    };
    if (changes || verb.kind == Kind::Add) && name.windows(2).any(served) {
        return Some(Kind::Grant);
    }
    if leads(&WRITING_OVER) && has(&WRITTEN_OVER)
        || name.len() > 1 && name.iter().any(|word| OVERWRITING.contains(word.as_str()))
    {
        return Some(Kind::Overwrite);
    }
    if (verb.sure || leads(&OF_MANY)) && changes && has(&BULK) && !has(&OF_SHEETS) {
        return Some(Kind::Bulk);
    }
    let weighs =
        |(objects, by, _): &&(Set, By, Kind)| (changes || *by == By::Any && verb.kind == Kind::Add) && has(objects);
    let kind = OBJECTS.iter().find(weighs).map(|(_, _, kind)| *kind)?;
    // The settings of a sheet govern nothing.
    (kind != Kind::Govern || !has(&MILD)).then_some(kind)
}

/// Whether a kind is told by what may be beside the point: in titles and in choices it counts only where the verb is sure.
pub(super) const fn is_weak(kind: Kind) -> bool {
    matches!(kind, Kind::Run | Kind::Stop | Kind::Publish | Kind::Overwrite | Kind::Bulk | Kind::Unknown)
}

/// What a name says that begins with a verb of which nobody makes a noun in first place.
pub(super) fn of_first(name: &[String]) -> Option<Kind> {
    let first = name.first().filter(|_| name.len() > 1)?;
    LEADING.iter().find(|(list, _)| list.split(' ').any(|word| word == first)).map(|(_, kind)| *kind)
}

/// What a name says that is one verb in doubt and nothing else, where the description names nothing harmless that it is done to.
pub(super) fn of_bare_verb(name: &[String], described: &str) -> Option<Kind> {
    let [only] = name else { return None };
    let lists = DOUBTFUL.iter().chain(LEADING);
    let (_, kind) = lists.into_iter().find(|(list, _)| list.split(' ').any(|word| word == only))?;
    let is_harmless = |word: &String| MILD.contains(word.as_str()) || OWN.contains(word.as_str());
    (!words(described).iter().take(MOST_SAID).any(is_harmless)).then_some(*kind)
}

/// The grave thing that a sentence adds behind its first verb: `Mark as spam and suspend the user`, `Create, alter, drop`.
pub(super) fn joined(sentence: &str, grave: impl Fn(&[String]) -> Option<Kind>) -> Option<Kind> {
    let parts = sentence
        .split([',', '/', ';', '(', ')'])
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" or "));
    let mut listed = false;
    parts.flat_map(|part| part.split(" then ")).filter(|part| !part.trim().is_empty()).take(9).enumerate().find_map(
        |(at, part)| {
            let words: Vec<String> = words(part).into_iter().take(6).collect();
            let first = words.first()?;
            // `Create, update, delete records`: one of a list of verbs.
            let in_list = std::mem::replace(&mut listed, verbs::of_sentence(first).is_some());
            let last = words.last().and_then(|word| verbs::of_sentence(word)).is_some_and(|verb| verb.sure);
            listed |= last;
            // `Whitelist or blacklist a customer`.
            if LISTING.contains(first.as_str()) && words.get(1).is_some_and(|next| DETERMINERS.contains(next.as_str()))
            {
                return Some(Kind::Grant);
            }
            // `Create a new, empty file`.
            if QUALIFYING.contains(first.as_str())
                && !words.get(1).is_some_and(|next| DETERMINERS.contains(next.as_str()))
            {
                return None;
            }
            // What is taken out of a list is still there, and so is what is dragged and dropped.
            let apart = first.starts_with("remov") && words.iter().any(|word| word == "from")
                || first == "drop" && sentence.contains("rag");
            if apart {
                return None;
            }
            if let Some(kind) = of_first(&words) {
                return Some(kind);
            }
            // `Triggers the response`: what it sets going, nobody says.
            let sets_going = first.strip_suffix('s').unwrap_or(first) == "trigger";
            if sets_going && words.len() > 1 {
                return Some(Kind::Run);
            }
            if at == 0 {
                return None;
            }
            let verb =
                verbs::of_sentence(first).filter(|verb| verb.sure && verb.kind.is_grave() && verb.kind != Kind::Run);
            let deletes = verb.is_some_and(|verb| verb.kind == Kind::Delete) && in_list;
            verb.map(|verb| verb.kind).filter(|_| words.len() > 1 || deletes).or_else(|| grave(&words))
        },
    )
}

/// What arguments tell that nobody gives to something harmless.
pub(super) fn by_arguments(declared: &ToolSecurity, found: Nature) -> Option<(Told, Kind)> {
    let keys: Vec<String> = declared.properties.iter().map(|key| words(key).join("_")).collect();
    let at = |list: &Set| keys.iter().position(|key| list.contains(key.as_str()));
    let place = |at: usize| declared.arguments.iter().position(|argument| argument.name == declared.properties[at]);
    let name = words(declared.subject.lines().next().unwrap_or_default());
    let mild = name.iter().any(|word| word == "download" || MILD.contains(word.as_str()));
    let harming = at(&HARMING).or_else(|| at(&CHANGING).filter(|_| found.kind == Some(Kind::Change) && !mild));
    if let Some(at) = harming.and_then(place) {
        return Some((Told::Argument(at), Kind::Overwrite));
    }
    if let Some(at) = at(&GRANTING).and_then(place) {
        return Some((Told::Argument(at), Kind::Grant));
    }
    if let Some(at) = at(&BUDGETS).and_then(place) {
        return Some((Told::Argument(at), Kind::Pay));
    }
    if let (Some(at), Some(_)) = (at(&SCHEDULED).and_then(place), at(&TOLD_LATER)) {
        return Some((Told::Argument(at), Kind::Run));
    }
    let many = || at(&CHOSEN).filter(|_| found.kind == Some(Kind::Change) && !mild);
    if let (Some(at), Some(_)) = (many().and_then(place), at(&CHANGES)) {
        return Some((Told::Argument(at), Kind::Bulk));
    }
    // `git reset` with a commit or a mode throws work away.
    let resets = matches!(name.as_slice(), [git, reset] if git == "git" && reset == "reset");
    if let (true, Some(at)) = (resets, at(&RESET_TO).and_then(place)) {
        return Some((Told::Argument(at), Kind::Overwrite));
    }
    // A record with a type and a value is one of the names that a domain has.
    let named = name.iter().any(|word| RECORDS.contains(word.as_str()));
    if let (true, Some(typed), Some(_)) = (named, at(&TYPED).and_then(place), at(&RECORDED)) {
        return Some((Told::Argument(typed), Kind::Publish));
    }
    let open = !(found.sure && found.told_by == Told::Name);
    if let (Some(amount), Some(_), true) = (at(&AMOUNTS).and_then(place), at(&COUNTERPARTS), open) {
        return Some((Told::Argument(amount), Kind::Pay));
    }
    match (at(&CHANNELS).and_then(place), at(&POSTED), open) {
        (Some(channel), Some(_), true) => Some((Told::Argument(channel), Kind::Send)),
        _ => None,
    }
}

/// What a tool does of which nothing says what it is: whatever an argument tells it to, or something that nobody has a word for.
/// A thing (`weather`, `order book`) is no deed: where name and description begin with the same unknown word and an object follows,
/// something is done to it.
pub(super) fn unknown(declared: &ToolSecurity, name: &[String], found: Nature) -> Option<(Told, Kind)> {
    let said = declared.hints.read_only == Some(true) || declared.hints.destructive == Some(false);
    // Where only a sentence says that it looks, what an argument tells it to do counts all the same.
    let is_told = matches!(found.kind, None | Some(Kind::Manage));
    let is_only_described = found.looks() && found.told_by == Told::Description && !said;
    if !(is_told || is_only_described) || found.on_page {
        return None;
    }
    let choosing = if is_told { &CHOOSING_TOO } else { &SURELY_CHOOSING };
    let chooses = |argument: &Argument| choosing.contains(words(&argument.name).join("_").as_str());
    let is_known = |word: &String| nature::of_word(&words(word)).is_some_and(|kind| !kind.is_grave());
    let listed = |argument: &&Argument| chooses(argument) && !argument.words.is_empty();
    if declared.arguments.iter().find(listed).is_some_and(|argument| argument.words.iter().all(is_known)) {
        return None;
    }
    // Whatever its server says of it: what is done is told by each call.
    if let Some(open) = declared.arguments.iter().position(|argument| chooses(argument) && !argument.closed) {
        return Some((Told::Choice(open), Kind::Unknown));
    }
    if said || is_only_described {
        return None;
    }
    let said = senses::described(declared);
    let described = words(said);
    let start = described.iter().position(|word| !FILLING.contains(word.as_str())).unwrap_or_default();
    let described = &described[start..];
    // `escalate_incident | Escalate incident 4`: the word of the name, or one in the form of a verb.
    let is_verb = |word: &str| VERB_ENDINGS.iter().any(|end| word.ends_with(end));
    let same = |word: &str| name.first().is_some_and(|own| phrase::same(own, word));
    let first = described.first().filter(|first| verbs::of_sentence(first).is_none());
    let is_deed = name.len() > 1
        && first.is_some_and(|first| is_verb(first) || same(first))
        && !senses::begins_with_acronym(said);
    let mild = name.iter().any(|word| MILD.contains(word.as_str()));
    let manages = found.kind == Some(Kind::Manage) && !described.is_empty() && !mild;
    (is_deed || manages || sentence::begins_with_verb(described)).then_some((Told::Nowhere, Kind::Unknown))
}
