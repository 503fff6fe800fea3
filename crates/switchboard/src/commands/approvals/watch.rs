//! The live view: what waits is shown as it comes, and a person is asked about each.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use jiff::Timestamp;
use switchboard_store::Reuse;

use super::{Answer, Item, decide, waiting};
use crate::Outcome;
use crate::arguments::Common;
use crate::commands::operator_session::{OperatorSession, When, cell};
use crate::commands::pins;
use crate::screen;

/// How often it is looked for more.
const WATCH_POLL_INTERVAL: Duration = Duration::from_millis(300);

/// What a person wants done with an item.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    Decide(Answer),
    Skip,
    Quit,
}

pub(super) async fn run(common: &Common, desk: &OperatorSession) -> Outcome {
    let ask = screen::can_ask() && !common.json;
    if ask {
        screen::note("waiting for calls, permissions and definitions to decide about; Ctrl-C ends this");
    }
    let mut seen: HashSet<String> = HashSet::new();
    loop {
        let items = waiting(desk).await?;
        // What does not wait any more is forgotten, so that this never grows.
        let there: HashSet<String> = items.iter().map(Item::id).collect();
        seen.retain(|id| there.contains(id));
        for item in items {
            if !seen.insert(item.id()) {
                continue;
            }
            if common.json {
                screen::json_line(&item.json());
                continue;
            }
            screen::out(item.text(Timestamp::now()));
            if let Item::Definition(pin) = &item {
                pins::print(pin);
            }
            if !ask {
                continue;
            }
            screen::forget_typed();
            // Nothing else runs here that could wait for this thread; a signal ends the process.
            match choice(&item, &mut io::stdin().lock(), &mut io::stderr().lock()) {
                Choice::Quit => return Ok(()),
                Choice::Skip => screen::note("skipped"),
                Choice::Decide(answer) => match decide(desk, &item, &answer).await {
                    Ok(said) => screen::note(format_args!("{}: {said}", cell(&item.short()))),
                    Err(failure) => screen::note(format_args!(
                        "{}: {}",
                        cell(&item.short()),
                        failure.message().unwrap_or("it failed")
                    )),
                },
            }
        }
        tokio::time::sleep(WATCH_POLL_INTERVAL).await;
    }
}

/// Asks until there is a clear answer. The end of the input is the end.
fn choice(item: &Item, input: &mut impl BufRead, output: &mut impl Write) -> Choice {
    let question = match item {
        Item::Call(call) if call.held.session.is_some() => {
            "[o]nce, for this [s]ession, [a]lways for these arguments, [d]eny, s[k]ip, [q]uit? "
        }
        Item::Call(_) => "[o]nce, [a]lways for these arguments, [d]eny, s[k]ip, [q]uit? ",
        Item::Permission(_) => "[y]es for 30 days, [a]lways, [d]eny, s[k]ip, [q]uit? ",
        Item::Definition(_) => "[y]es, accept it, s[k]ip, [q]uit? ",
    };
    loop {
        let Some(word) = line(question, input, output) else { return Choice::Quit };
        let yes = |reuse, lasting| Choice::Decide(Answer::Yes(reuse, lasting));
        match (item, word.to_ascii_lowercase().as_str()) {
            (_, "q" | "quit") => return Choice::Quit,
            (_, "k" | "skip") => return Choice::Skip,
            (Item::Call(_), "o" | "once" | "y" | "yes") => return yes(Reuse::Once, None),
            (Item::Call(call), "s" | "session") if call.held.session.is_some() => return yes(Reuse::Session, None),
            (Item::Call(_), "a" | "always") => return yes(Reuse::Always, None),
            (Item::Permission(_) | Item::Definition(_), "y" | "yes") => return yes(Reuse::Once, None),
            (Item::Permission(_), "a" | "always") => return yes(Reuse::Always, Some(When::Never)),
            (Item::Call(_) | Item::Permission(_), "d" | "deny" | "n" | "no") => {
                let Some(reason) = line("why? (may be empty) ", input, output) else { return Choice::Quit };
                return Choice::Decide(Answer::No((!reason.is_empty()).then_some(reason)));
            }
            (_, "") => {}
            _ => {
                let _ = writeln!(output, "that is none of them: answer with the letter in brackets, or with the word");
            }
        }
    }
}

fn line(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Option<String> {
    let _ = write!(output, "{question}");
    let _ = output.flush();
    let mut answer = String::new();
    match input.read_line(&mut answer) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(answer.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_store::{PermissionDecision, ServerPermission};

    use super::*;

    fn asked() -> ServerPermission {
        ServerPermission {
            server: "s".to_owned(),
            permission: "camera".to_owned(),
            decision: PermissionDecision::Deferred,
            granted_by: "switchboard".to_owned(),
            granted_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            justification: None,
            scopes: None,
        }
    }

    #[test]
    fn what_is_no_answer_is_told_and_asked_again() {
        let item = Item::Permission(asked());
        let mut said = Vec::new();
        assert_eq!(choice(&item, &mut "maybe\nk\n".as_bytes(), &mut said), Choice::Skip);
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("that is none of them") && said.matches("[y]es").count() == 2, "{said}");
    }

    #[test]
    fn only_a_clear_word_decides() {
        let item = Item::Permission(asked());
        let yes = |lasting| Choice::Decide(Answer::Yes(Reuse::Once, lasting));
        for (typed, expected) in [
            ("y\n", yes(None)),
            ("Yes\n", yes(None)),
            ("\n\nwhat\ny\n", yes(None)),
            ("a\n", Choice::Decide(Answer::Yes(Reuse::Always, Some(When::Never)))),
            ("d\nno cameras\n", Choice::Decide(Answer::No(Some("no cameras".to_owned())))),
            ("n\n\n", Choice::Decide(Answer::No(None))),
            ("o\nk\n", Choice::Skip),
            ("q\n", Choice::Quit),
            ("", Choice::Quit),
            ("d\n", Choice::Quit),
        ] {
            assert_eq!(choice(&item, &mut typed.as_bytes(), &mut Vec::new()), expected, "{typed:?}");
        }
    }
}
