//! Which language a text is in, as far as words need it: what says nothing, how a word is inflected, what negates.
//!
//! Scripts decide first, then words that say nothing, then letters that only some languages have. A text that tells
//! nothing of this (a name, an identifier, a few nouns) has no language; its words are then looked up in every form.

use std::collections::HashMap;
use std::sync::OnceLock;

use rust_stemmers::{Algorithm, Stemmer};

/// A language whose words are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the words say it")]
pub enum TextLanguage {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Russian,
    /// Han, Kana, Hangul or Thai: cut into pairs of characters, which have no inflection.
    Spaceless,
}

/// Languages with stems of their own, in the order they are tried.
const STEMMED: [TextLanguage; 8] = [
    TextLanguage::German,
    TextLanguage::French,
    TextLanguage::Spanish,
    TextLanguage::Italian,
    TextLanguage::Portuguese,
    TextLanguage::Dutch,
    TextLanguage::Swedish,
    TextLanguage::Russian,
];

const GERMAN: &str = "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dem den denn der des die diese diesem diesen dieser dieses dir doch du durch ein eine einem einen einer eines er es euch für gegen hab habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jetzt kann man mein meine meinem meinen meiner mich mir mit nach nicht noch nun nur ob oder ohne sehr seine seinem seinen seiner sich sie sind so über um und uns unser unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden wie wieder wir wird wo wohin womit worden wurde wurden zu zum zur zwischen";
const FRENCH: &str = "ai au aux avec avez avons c ce ces cet cette chez ci combien comme comment d dans de depuis des donc dont du elle elles en entre es est et être eu eux fait faire font il ils j je l la laquelle le lequel les leur leurs lui m ma mais me mes moi mon ne nos notre nous on ont ou où par parce pas peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton très tu un une va vers vos votre vous y à été était";
const SPANISH: &str = "a al algo ante antes como cuando cuál cuáles cuánto cómo de del desde donde dónde adónde durante e el ella ellas ellos en entre era es esa ese eso esta estaba estas este esto estos está están fue fueron ha han hasta hay la las le les lo los más me mi mis muy no nos o os para pero por porque que quién qué se ser si sin sobre son su sus sí también te tiene tu tus un una unas uno unos y ya yo";
const ITALIAN: &str = "ad agli ai al alla alle anche che chi ci come con cosa da dal dalla dei del della delle di dove e ed era fra gli ha hanno ho i il in io la le lei lo loro lui ma mi mia mio nei nel nella o per perché più quale quando quanto quella quello questa questo qui se si sia sono sta su sua sul sulla suo tra tu un una uno è";
const PORTUGUESE: &str = "ao aos as até com como da das de dela dele depois do dos e ela elas ele eles em entre era essa esse esta este eu foi foram há isso isto já lhe mais mas me meu minha muito na nas no nos nós o onde os ou para pela pelo por porque qual quando que quem se sem ser seu sua são também te tem um uma você à às é";
const DUTCH: &str = "aan al als bij dan dat de deze die dit door een en er haar had heb hebben heeft het hij hoe hun ik in is je kan maar me met mij mijn na naar nog nu of om onder ons ook op over te tot uit van voor waar wanneer wat we welke werd wie wij worden wordt ze zich zij zijn zo zou";
const SWEDISH: &str = "alla att av blev de dem den denna det detta dig din du där då efter ej eller en er ett från för ha hade han har hennes hon hur här i jag kan man med men mig min mitt ni nu när och om oss på sig sin som till under upp ut vad var vara vem vi vid vilken vilket är över";
const RUSSIAN: &str = "а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее её если есть еще ещё же за и из или им их к как какая какие какой какое каком какому каким ко когда кого кому которая которое которой которые который которых кто куда ли мне мой моя мы на над нам нас о об он она они оно от по под при про с сам свой себе со так такой там тебе тем то того тоже только том тот ту ты у уже чего чем что чтобы эта эти это этого этой этом этот я";

/// Words that negate, in all languages but those of [`NEGATED`].
const NEGATIONS: &[&str] = &[
    "ainda-não",
    "aucun",
    "aucune",
    "cannot",
    "geen",
    "inte",
    "jamais",
    "kein",
    "keine",
    "keinem",
    "keinen",
    "keiner",
    "keines",
    "mai",
    "nada",
    "never",
    "nicht",
    "nie",
    "niemals",
    "niente",
    "nobody",
    "none",
    "nor",
    "not",
    "nothing",
    "nunca",
    "não",
    "pas",
    "sans",
    "sin",
    "unable",
    "without",
    "не",
    "ни",
    "нет",
    "никогда",
    "ohne",
    "non",
    "niet",
    "nooit",
    "aldrig",
    "ingen",
];
/// What negates inside of texts without spaces.
const NEGATED: &[&str] = &["ない", "ません", "なかっ", "不", "没", "沒", "無", "无", "않", "없", "못", "아니", "ไม่"];

/// What a word tells that says nothing in one language alone; a letter of its own tells half of it.
const SHARED: u32 = 2 * 2 * 3 * 5 * 7;

impl TextLanguage {
    /// The words that say nothing.
    const fn stop_words(self) -> &'static str {
        match self {
            Self::German => GERMAN,
            Self::French => FRENCH,
            Self::Spanish => SPANISH,
            Self::Italian => ITALIAN,
            Self::Portuguese => PORTUGUESE,
            Self::Dutch => DUTCH,
            Self::Swedish => SWEDISH,
            Self::Russian => RUSSIAN,
            Self::English | Self::Spaceless => "",
        }
    }

    /// Letters that speak for a language among those of Latin letters.
    const fn letters(self) -> &'static str {
        match self {
            Self::German => "äöüß",
            Self::French => "çèéêëîïôœùûàâ",
            Self::Spanish => "ñ¿¡áíóúé",
            Self::Italian => "ìòàèù",
            Self::Portuguese => "ãõçáâêóíú",
            Self::Swedish => "åäö",
            _ => "",
        }
    }

    const fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::German => Some(Algorithm::German),
            Self::French => Some(Algorithm::French),
            Self::Spanish => Some(Algorithm::Spanish),
            Self::Italian => Some(Algorithm::Italian),
            Self::Portuguese => Some(Algorithm::Portuguese),
            Self::Dutch => Some(Algorithm::Dutch),
            Self::Swedish => Some(Algorithm::Swedish),
            Self::Russian => Some(Algorithm::Russian),
            Self::English | Self::Spaceless => None,
        }
    }

    /// The language of a text; `None` where nothing tells.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let (mut letters, mut cyrillic, mut spaceless) = (0usize, 0usize, 0usize);
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            letters += 1;
            cyrillic += usize::from(('\u{400}'..='\u{52f}').contains(&c));
            spaceless += usize::from(super::segment::is_spaceless(c));
        }
        // A sign of these says more than a letter.
        if spaceless * 3 > letters {
            return Some(Self::Spaceless);
        }
        if cyrillic * 2 > letters {
            return Some(Self::Russian);
        }
        let lower = text.to_lowercase();
        let words: Vec<&str> = letters_of(&lower).take(400).collect();
        // A word that says nothing in several languages tells less of each of them.
        let of_one = |word: &str| SHARED / (stops().get(word).map_or(0, |languages| languages.count_ones())).max(1);
        let said =
            |language: Self| words.iter().filter(|word| language.is_stop(word)).map(|word| of_one(word)).sum::<u32>();
        let english = said(Self::English);
        let mut best = (english, (english > 0).then_some(Self::English));
        for language in STEMMED {
            let spelt = lower.chars().filter(|c| language.letters().contains(*c)).take(4).count() as u32;
            let score = said(language) + spelt * SHARED / 2;
            let score = if language == Self::French { score.saturating_sub(unlike_french(text)) } else { score };
            if score > best.0 {
                best = (score, Some(language));
            }
        }
        best.1
    }

    /// Whether a word in lower case says nothing in this language.
    #[must_use]
    pub fn is_stop(self, word: &str) -> bool {
        stops().get(word).is_some_and(|languages| languages & (1 << self as u16) != 0)
    }

    /// The stem of a word in lower case.
    #[must_use]
    pub fn stem(self, word: &str) -> String {
        match self.algorithm() {
            Some(algorithm) if word.chars().all(char::is_alphabetic) => folded(&Stemmer::create(algorithm).stem(word)),
            _ => super::stem(word),
        }
    }

    /// Whether the table of meanings knows it.
    #[must_use]
    pub const fn is_known_by_meaning(self) -> bool {
        matches!(self, Self::English)
    }
}

/// The runs of letters of a text in lower case, without what English draws together with a word: `Clara's`, `don't`.
fn letters_of(lower: &str) -> impl Iterator<Item = &str> {
    let apart = |c: char| !c.is_alphabetic() && c != '\'' && c != '\u{2019}';
    lower.split(apart).flat_map(|run| {
        let run = run.trim_matches(['\'', '\u{2019}']);
        let (first, rest) = run.split_once(['\'', '\u{2019}']).unwrap_or((run, ""));
        let drawn = ["s", "t", "d", "m", "re", "ll", "ve"].contains(&rest);
        [first, if drawn { "" } else { rest }].into_iter().filter(|word| !word.is_empty())
    })
}

/// What speaks against French and for its neighbours: words that are no names and end in a vowel that its words do not end in.
fn unlike_french(text: &str) -> u32 {
    let ends = |word: &&str| {
        word.ends_with(['a', 'o']) && word.chars().count() > 3 && word.chars().next().is_some_and(char::is_lowercase)
    };
    text.split(|c: char| !c.is_alphabetic()).filter(ends).take(4).count() as u32 * SHARED / 7
}

/// The languages in which a word says nothing, as bits.
fn stops() -> &'static HashMap<&'static str, u16> {
    static STOPS: OnceLock<HashMap<&'static str, u16>> = OnceLock::new();
    STOPS.get_or_init(|| {
        let mut stops: HashMap<&'static str, u16> = HashMap::new();
        for word in super::STOP {
            *stops.entry(word).or_default() |= 1 << TextLanguage::English as u16;
        }
        for language in STEMMED {
            for word in language.stop_words().split(' ') {
                *stops.entry(word).or_default() |= 1 << language as u16;
            }
        }
        stops
    })
}

/// The stems that a word may have in any of the languages, the English one first.
#[must_use]
pub fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![super::stem(word)];
    if word.chars().count() > 3 && word.chars().all(char::is_alphabetic) {
        for language in STEMMED {
            let form = language.stem(word);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Without the marks over and under Latin letters, which are often left out.
#[must_use]
pub fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' => out.push('a'),
            'ç' | 'ć' | 'č' => out.push('c'),
            'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' => out.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ī' => out.push('i'),
            'ñ' | 'ń' => out.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' => out.push('o'),
            'ù' | 'ú' | 'û' | 'ü' | 'ū' => out.push('u'),
            'ß' => out.push_str("ss"),
            'œ' => out.push_str("oe"),
            'æ' => out.push_str("ae"),
            'ё' => out.push('е'),
            other => out.push(other),
        }
    }
    out
}

/// Whether a text denies something, in any of the languages.
#[must_use]
pub fn negates(text: &str) -> bool {
    let lower = text.to_lowercase();
    let word = |word: &str| NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t");
    lower.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '’').any(word)
        || NEGATED.iter().any(|sign| lower.contains(sign))
        || (lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| word == "no")
            && matches!(TextLanguage::of(text), Some(TextLanguage::English | TextLanguage::Spanish)))
        || lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == "안")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_script_words_and_letters() {
        for (text, expected) in [
            ("The disk of the server is full", Some(TextLanguage::English)),
            ("Der Mietvertrag läuft bis Ende März", Some(TextLanguage::German)),
            ("Die Schlüssel liegen im Schuppen", Some(TextLanguage::German)),
            ("La clé de secours est chez la voisine", Some(TextLanguage::French)),
            ("¿Dónde están las llaves de repuesto?", Some(TextLanguage::Spanish)),
            ("Где лежат запасные ключи", Some(TextLanguage::Russian)),
            ("合鍵は植木鉢の下にあります", Some(TextLanguage::Spaceless)),
            ("备用钥匙在花盆下面", Some(TextLanguage::Spaceless)),
            ("열쇠는 화분 밑에 있습니다", Some(TextLanguage::Spaceless)),
            ("Il cane della signora è nel giardino", Some(TextLanguage::Italian)),
            ("De sleutel ligt onder het bloempot van de buren", Some(TextLanguage::Dutch)),
            ("Javier no viene a la boda", Some(TextLanguage::Spanish)),
            ("Clara's favourite colour is grey", Some(TextLanguage::English)),
            ("Noor prefiere viajar en barco", Some(TextLanguage::Spanish)),
            ("Camille a déménagé à Lyon", Some(TextLanguage::French)),
            ("There is no lamp in the attic", Some(TextLanguage::English)),
            ("QX-4471", None),
        ] {
            assert_eq!(TextLanguage::of(text), expected, "{text}");
        }
    }

    #[test]
    fn inflections_of_a_word_have_one_stem() {
        for (language, one, other) in [
            (TextLanguage::German, "miete", "mieten"),
            (TextLanguage::German, "allergisch", "allergische"),
            (TextLanguage::French, "travaille", "travailler"),
            (TextLanguage::Spanish, "llave", "llaves"),
            (TextLanguage::Russian, "ключ", "ключи"),
            (TextLanguage::Italian, "gatto", "gatti"),
            (TextLanguage::Dutch, "sleutel", "sleutels"),
            (TextLanguage::Swedish, "flickor", "flickorna"),
            (TextLanguage::Portuguese, "chave", "chaves"),
        ] {
            assert_eq!(language.stem(one), language.stem(other), "{one} {other}");
        }
        assert!(forms("mieten").contains(&TextLanguage::German.stem("miete")));
        assert_eq!(folded("crème brûlée straße"), "creme brulee strasse");
    }

    #[test]
    fn negations_are_seen_in_every_language() {
        for text in [
            "Victor does not like olives",
            "I can't swim",
            "Jonas mag Oliven nicht",
            "Mathieu n'aime pas les olives",
            "A Javier no le gustan las aceitunas",
            "Борис не любит оливки",
            "納豆が好きではありません",
            "李强不喜欢橄榄",
            "좋아하지 않습니다",
            "돼지고기를 안 먹는 사람",
            "The cellar has no window",
        ] {
            assert!(negates(text), "{text}");
        }
        for text in [
            "Victor likes olives",
            "Hannah mag Oliven",
            "안경은 서랍 안에 있습니다",
            "田中さんは納豆が好きです",
            "王芳喜欢橄榄",
        ] {
            assert!(!negates(text), "{text}");
        }
    }
}
