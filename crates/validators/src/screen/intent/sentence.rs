//! Where sentences end.

/// The sentences of a text. A line that is wrapped goes on; an empty line ends a sentence.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    let mut characters = text.chars().peekable();
    let mut blank_line = false;
    while let Some(c) = characters.next() {
        let current = sentences.last_mut();
        let Some(current) = current else { break };
        match c {
            '\n' => {
                // A list goes on with a mark or a name, not with the rest of a sentence.
                if blank_line || begins_item(characters.clone()) {
                    sentences.push(String::new());
                } else {
                    current.push(' ');
                }
                blank_line = true;
            }
            // Dots that stand for something left out end no sentence.
            '.' | '!' | '?' | ';'
                if !current.ends_with('.')
                    && !current.ends_with("e.g")
                    && !current.ends_with("i.e")
                    && characters
                        .peek()
                        .is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '\'' | ')' | '<')) =>
            {
                current.push(c);
                sentences.push(String::new());
            }
            '。' | '！' | '？' | '；' | '।' => {
                current.push(c);
                sentences.push(String::new());
            }
            c if c.is_whitespace() => {
                if !current.ends_with(' ') {
                    current.push(' ');
                }
            }
            c => {
                blank_line = false;
                current.push(c);
            }
        }
    }
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}

/// Whether a line begins with the mark of a list, or with a word and a colon.
fn begins_item(rest: impl Iterator<Item = char>) -> bool {
    let mut line = rest.take_while(|c| *c != '\n').skip_while(|c| c.is_whitespace()).take(40).peekable();
    if line.peek().is_some_and(|c| matches!(c, '-' | '*' | '•' | '#' | '+') || c.is_ascii_digit()) {
        return true;
    }
    line.find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '\'' | '"'))) == Some(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end() {
        assert_eq!(split("a b.c d. e\nf! g\n\nh。i").len(), 5);
        assert_eq!(split("one, e.g. two").len(), 1);
        assert_eq!(split("args:\n - one\n - two\nname: three\nand more").len(), 4);
        assert_eq!(split("").len(), 0);
    }
}
