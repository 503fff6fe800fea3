//! Words that mean one thing in one tool and another in the next: what a description says first, what is only computed, who
//! it is that something is sent to, what a name speaks of beside its verb.

use switchboard_protocol::mgp::security::ToolSecurity;

use super::fallback::words;
use super::nature::LETTERS;
use super::verbs::{self, Kind, NOT_TO_PEOPLE, Set, tables};

tables! {
    /// Words at the beginning of a description that say that the tool looks. What it returns says nothing of what it does.
    LOOKING_FIRST = "get gets list lists fetch fetches retrieve retrieves show shows describe describes search searches find finds \
        read reads lookup looks display displays view views";
    RETURNING = "return returns";
    /// Verbs that make one text of another, where a text is all that they are given.
    COMPUTED = "encrypt decrypt format filter sort split join combine fix correct refine improve optimize optimise solve enhance \
        align";
    /// Arguments that are such a text, and parts of names of those that are a place where it is kept.
    TEXTS = "text texts content input string message code json expression data value values plaintext ciphertext encrypted encrypted_text \
        encrypted_data markdown html xml numbers words sentence sentences paragraph list items query";
    PLACES = "path paths file files filename dir directory folder id ids uid uuid guid url uri document doc sheet range index indices \
        collection table cell slide node selector page branch repo repository project database connection bucket workspace target \
        dest destination output save overwrite host hostname object shape layer account record";
    /// Where people read what is sent.
    MESSENGERS = "slack telegram whatsapp discord lark feishu dingtalk ding wework wecom teams signal line messenger imessage sms viber \
        mattermost zulip webex twitter mastodon bluesky webhook pager pagerduty";
    /// What something sent may be, and nobody to whom it is.
    FORMS = "text notification notifications toast data feedback event events key keys";
    /// Where a message only looks as if somebody read it.
    NOBODY = "console log logs llm llms model models ai agent assistant session chatbot bot prompt queue topic broker";
    DRAFTS = "draft drafts";
    SENDING = "send sends publish publishes submit post";
    /// Tests of a program: whoever runs them runs the program.
    TESTS = "test tests suite suites spec specs";
    /// What looks at other people's machines for a way in, or takes one.
    ATTACKING = "nmap masscan zmap sqlmap hydra nikto gobuster dirbuster ffuf wfuzz metasploit msfconsole msfvenom hashcat nuclei wpscan \
        mimikatz bloodhound aircrack exploit exploits bruteforce pentest";
    SCANNING = "scan scanner scans fuzz attack probe";
    /// Where everybody sees what is uploaded.
    PUBLIC = "youtube tiktok instagram facebook linkedin vimeo reddit ipfs npm pypi crates testflight";
    /// What is asked of an agent that acts by itself.
    ASSIGNED = "task tasks goal objective instruction instructions";
    ACTING_ALONE = "agent autonomous autonomously automation";
    /// Arguments that say whom.
    SCANNED = "target targets target_url target_host target_ip hosts cidr ip_range target_range";
    OF_FILES = "path file files directory folder image repository repo code package project container";
    /// What runs others' programs, whose parts are changed for all of them.
    ORCHESTRATED = "k8s kubernetes kubectl openshift";
    OWN_VIEW = "context contexts current connect disconnect reconnect login logout ping";
    /// Verbs in front of what looks: it is ended, or begun (`cancel_scan`, `start_search`).
    BEGINNING = "cancel stop pause resume suspend disable start launch submit trigger reset clear";
    BEGUN_LIST = "list lookup get history status";
    MANAGING = "manager management";
}

fn has(words: &[String], list: &Set) -> bool {
    words.iter().any(|word| list.contains(word.as_str()))
}

/// The most bytes of a label in front of a description.
const LONGEST_LABEL: usize = 60;
const LONGEST_ACRONYM: usize = 4;

/// What a definition says of its tool, without the labels in front of it (`[Requires Login] Get ..`, `RPC: Toggle ..`).
pub(super) fn described(declared: &ToolSecurity) -> &str {
    let mut text = declared.subject.split('\n').nth(2).unwrap_or_default().trim_start();
    while let Some((label, rest)) = text.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        if label.len() > LONGEST_LABEL || rest.trim().is_empty() {
            break;
        }
        text = rest.trim_start();
    }
    let labelled = text.split_once(": ").filter(|(label, rest)| {
        let one = (2..=LONGEST_ACRONYM).contains(&label.len()) && label.chars().all(char::is_uppercase);
        one && *label != "NOTE" && !rest.trim().is_empty()
    });
    labelled.map_or(text, |(_, rest)| rest.trim_start())
}

/// Whether a description begins with a word for looking, and whether with one for what is returned.
pub(super) fn begins_with_looking(described: &str) -> bool {
    words(described.split_whitespace().next().unwrap_or_default())
        .first()
        .is_some_and(|first| LOOKING_FIRST.contains(first.as_str()))
}

pub(super) fn begins_with_returning(described: &str) -> bool {
    words(described.split_whitespace().next().unwrap_or_default())
        .first()
        .is_some_and(|first| RETURNING.contains(first.as_str()))
}

/// Whether a description begins with a name in capitals, which is nothing that is done: `NASA Image Library`.
pub(super) fn begins_with_acronym(described: &str) -> bool {
    let first = described.split_whitespace().next().unwrap_or_default();
    let letters = || first.chars().filter(|c| c.is_alphabetic());
    letters().count() >= 2 && letters().all(char::is_uppercase)
}

/// Whether all that happens is that one text is made of another: `aes_decrypt` of a text, not of a file.
pub(super) fn only_computes(declared: &ToolSecurity, name: &[String]) -> bool {
    let keys: Vec<Vec<String>> = declared.properties.iter().map(|key| words(key)).collect();
    let given = keys.iter().any(|key| TEXTS.contains(key.join("_").as_str()));
    let verbs = || name.iter().filter_map(|word| verbs::of(word).map(|verb| (word, verb)));
    let computes = verbs().any(|(word, _)| COMPUTED.contains(word.as_str()))
        && verbs().all(|(word, verb)| {
            COMPUTED.contains(word.as_str()) || verb.kind == Kind::Look || !verb.sure && verb.kind == Kind::Add
        });
    computes && given && !has(name, &PLACES) && !keys.iter().any(|key| has(key, &PLACES))
}

/// Whether these words say of something sent that people get it, whatever it is called.
pub(super) fn is_for_people(words: &[String]) -> bool {
    let elsewhere = |word: &String| {
        NOBODY.contains(word.as_str()) || NOT_TO_PEOPLE.contains(word.as_str()) && !FORMS.contains(word.as_str())
    };
    (has(words, &LETTERS) || has(words, &MESSENGERS)) && !words.iter().any(elsewhere)
}

/// Whether what is written stays with its writer: `create_draft_tweet`.
pub(super) fn is_draft(words: &[String]) -> bool {
    has(words, &DRAFTS) && !has(words, &SENDING)
}

/// Whether words are about the tests of a program.
pub(super) fn is_test(word: &str) -> bool {
    TESTS.contains(word)
}

/// What a name says before its verbs are looked at: a filter, a tool of attackers, one that manages.
pub(super) fn of_whole(name: &[String], sure: bool) -> Option<(Kind, bool)> {
    let first = name.first()?.as_str();
    let looks = verbs::of(first).is_some_and(|verb| verb.kind == Kind::Look && verb.sure);
    if has(name, &ATTACKING) && (!looks || first == "scan") {
        return Some((Kind::Run, true));
    }
    if sure {
        return None;
    }
    if first == "filter" {
        return Some((Kind::Look, false));
    }
    name.last().filter(|last| name.len() > 1 && MANAGING.contains(last.as_str())).map(|_| (Kind::Manage, false))
}

/// Whether a name begins with a word that starts or ends what looks behind it.
pub(super) fn begins_or_ends(name: &[String]) -> bool {
    let first = name.first().is_some_and(|first| BEGINNING.contains(first.as_str()));
    first && !name.last().is_some_and(|last| BEGUN_LIST.contains(last.as_str()))
}

/// Whether what a name changes runs for others.
pub(super) fn is_orchestrated(name: &[String]) -> bool {
    has(name, &ORCHESTRATED) && !has(name, &OWN_VIEW)
}

/// The argument that says which machine is looked at for a way in.
pub(super) fn scans(declared: &ToolSecurity, name: &[String]) -> Option<usize> {
    if !has(name, &SCANNING) {
        return None;
    }
    declared.arguments.iter().position(|argument| {
        SCANNED.contains(words(&argument.name).join("_").as_str()) && !has(&words(&argument.says), &OF_FILES)
    })
}

/// Whether something is uploaded to where everybody sees it.
pub(super) fn uploads_in_public(name: &[String], described: &str) -> bool {
    let said: Vec<String> = described.split_whitespace().take(12).flat_map(words).collect();
    name.iter().any(|word| word == "upload") && (has(name, &PUBLIC) || has(&said, &PUBLIC))
}

/// The argument that gives a piece of work to an agent that does it with whatever it has.
pub(super) fn assigns(declared: &ToolSecurity, name: &[String], described: &str) -> Option<usize> {
    let said: Vec<String> = described.split_whitespace().take(16).flat_map(words).collect();
    let acts = name.last().is_some_and(|last| last == "agent") && has(&said, &ACTING_ALONE);
    let at = declared.arguments.iter().position(|argument| ASSIGNED.contains(words(&argument.name).join("_").as_str()));
    at.filter(|_| acts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, description: &str, properties: &[&str]) -> ToolSecurity {
        let properties = properties.iter().map(|one| (*one).to_owned()).collect();
        ToolSecurity { subject: format!("{name}\n\n{description}"), properties, ..ToolSecurity::default() }
    }

    #[test]
    fn labels_are_no_words_of_a_description() {
        for (text, bare) in [
            ("[Requires Login] Get it", "Get it"),
            ("[A] [B] Set it", "Set it"),
            ("RPC: Toggle it", "Toggle it"),
            ("[only this]", "[only this]"),
            ("Get: it", "Get: it"),
            ("NOTE: Get it", "NOTE: Get it"),
            ("IMPORTANT: Get it", "IMPORTANT: Get it"),
        ] {
            assert_eq!(described(&said("x", text, &[])), bare);
        }
    }

    #[test]
    fn a_text_is_computed_where_nothing_else_is_given() {
        let computes = |name: &str, keys: &[&str]| only_computes(&said(name, "", keys), &words(name));
        assert!(computes("aes_decrypt", &["content", "key"]) && computes("fix_spelling", &["text"]));
        assert!(!computes("decrypt_file", &["content"]) && !computes("format", &["text", "path"]));
        assert!(!computes("format", &[]) && !computes("delete_and_format", &["text"]));
    }

    #[test]
    fn who_gets_what_is_sent() {
        let people = |text: &str| is_for_people(&words(text));
        assert!(people("send_text_message") && people("send_slack_notification"));
        assert!(!people("send_text") && !people("send_message_to_the_console") && !people("send_prompt_message"));
        assert!(is_draft(&words("create_draft_tweet")) && !is_draft(&words("send_draft")));
    }

    #[test]
    fn what_is_begun_may_be_called_like_something_that_looks() {
        assert!(begins_or_ends(&words("cancel_scan")) && !begins_or_ends(&words("launch_list")));
        assert!(begins_with_acronym("NASA Image Library") && !begins_with_acronym("Escalate it"));
        assert_eq!(of_whole(&words("nmap_scan"), true), Some((Kind::Run, true)));
        assert_eq!(of_whole(&words("get_nmap_results"), true), None);
    }
}
