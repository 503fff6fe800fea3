//! Numerals as digits, participles, and verbs that tell of what is over.

/// A numeral as digits. `one` is more often no number.
pub(super) fn numeral(lower: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("two", "2"),
        ("three", "3"),
        ("four", "4"),
        ("five", "5"),
        ("six", "6"),
        ("seven", "7"),
        ("eight", "8"),
        ("nine", "9"),
        ("ten", "10"),
        ("eleven", "11"),
        ("twelve", "12"),
        ("thirteen", "13"),
        ("fourteen", "14"),
        ("fifteen", "15"),
        ("sixteen", "16"),
        ("seventeen", "17"),
        ("eighteen", "18"),
        ("nineteen", "19"),
        ("twenty", "20"),
        ("thirty", "30"),
        ("forty", "40"),
        ("fifty", "50"),
        ("sixty", "60"),
        ("seventy", "70"),
        ("eighty", "80"),
        ("ninety", "90"),
        ("hundred", "100"),
        ("thousand", "1000"),
        ("twice", "2"),
        ("zwei", "2"),
        ("drei", "3"),
        ("vier", "4"),
        ("fünf", "5"),
        ("sechs", "6"),
        ("sieben", "7"),
        ("acht", "8"),
        ("neun", "9"),
        ("zehn", "10"),
        ("deux", "2"),
        ("trois", "3"),
        ("quatre", "4"),
        ("cinq", "5"),
        ("dos", "2"),
        ("tres", "3"),
        ("cuatro", "4"),
        ("cinco", "5"),
        ("zero", "0"),
        ("once", "1"),
        ("dozen", "12"),
        ("elf", "11"),
        ("zwölf", "12"),
        ("zwanzig", "20"),
        ("dreißig", "30"),
        ("vierzig", "40"),
        ("fünfzig", "50"),
        ("sechzig", "60"),
        ("siebzig", "70"),
        ("achtzig", "80"),
        ("neunzig", "90"),
        ("hundert", "100"),
        ("tausend", "1000"),
        ("six", "6"),
        ("sept", "7"),
        ("huit", "8"),
        ("neuf", "9"),
        ("dix", "10"),
        ("onze", "11"),
        ("douze", "12"),
        ("quinze", "15"),
        ("vingt", "20"),
        ("trente", "30"),
        ("quarante", "40"),
        ("cinquante", "50"),
        ("soixante", "60"),
        ("cent", "100"),
        ("mille", "1000"),
        ("seis", "6"),
        ("siete", "7"),
        ("ocho", "8"),
        ("nueve", "9"),
        ("diez", "10"),
        ("doce", "12"),
        ("quince", "15"),
        ("veinte", "20"),
        ("treinta", "30"),
        ("cuarenta", "40"),
        ("cincuenta", "50"),
        ("cien", "100"),
        ("mil", "1000"),
        ("два", "2"),
        ("две", "2"),
        ("три", "3"),
        ("четыре", "4"),
        ("пять", "5"),
        ("шесть", "6"),
        ("семь", "7"),
        ("восемь", "8"),
        ("девять", "9"),
        ("десять", "10"),
        ("двадцать", "20"),
        ("тридцать", "30"),
        ("сорок", "40"),
        ("пятьдесят", "50"),
        ("сто", "100"),
        ("тысяча", "1000"),
    ];
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, digits)| *digits)
}

/// An ordinal as digits. `second` is more often none, but where it is one it is not the first.
pub(super) fn ordinal(lower: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("first", "1"),
        ("third", "3"),
        ("fourth", "4"),
        ("fifth", "5"),
        ("sixth", "6"),
        ("seventh", "7"),
        ("eighth", "8"),
        ("ninth", "9"),
        ("tenth", "10"),
        ("eleventh", "11"),
        ("twelfth", "12"),
        ("ersten", "1"),
        ("erste", "1"),
        ("zweiten", "2"),
        ("zweite", "2"),
        ("dritten", "3"),
        ("dritte", "3"),
        ("vierten", "4"),
        ("fünften", "5"),
        ("sechsten", "6"),
        ("siebten", "7"),
        ("achten", "8"),
        ("neunten", "9"),
        ("zehnten", "10"),
        ("premier", "1"),
        ("première", "1"),
        ("deuxième", "2"),
        ("troisième", "3"),
        ("primer", "1"),
        ("primero", "1"),
        ("primera", "1"),
        ("segundo", "2"),
        ("segunda", "2"),
        ("tercero", "3"),
        ("tercera", "3"),
    ];
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, digits)| *digits)
}

/// A numeral of several that is written as one word: `twenty-four`, `achthundert`, `vierundzwanzig`.
pub(super) fn compound_numeral(lower: &str) -> Option<String> {
    let digits = |word: &str| numeral(word).and_then(|digits| digits.parse::<u64>().ok());
    let one = |word: &str| match word {
        "one" | "ein" | "eins" | "un" => Some(1),
        word => digits(word),
    };
    if let Some((tens, ones)) = lower.split_once('-') {
        let (tens, ones) = (digits(tens)?, one(ones)?);
        return (tens >= 20 && tens % 10 == 0 && tens < 100 && ones < 10).then(|| (tens + ones).to_string());
    }
    for (word, many) in [("hundert", 100), ("tausend", 1_000)] {
        if let Some(few) = lower.strip_suffix(word).filter(|few| !few.is_empty()) {
            return one(few).map(|few| (few * many).to_string());
        }
    }
    let (ones, tens) = lower.split_once("und")?;
    let (ones, tens) = (one(ones)?, digits(tens)?);
    (tens >= 20 && tens % 10 == 0 && tens < 100 && ones < 10).then(|| (tens + ones).to_string())
}

/// The past of a participle that is not made with `-ed`.
pub(super) fn participle(lower: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("bought", "bought"),
        ("built", "built"),
        ("broken", "broke"),
        ("chosen", "chose"),
        ("done", "did"),
        ("drawn", "drew"),
        ("driven", "drove"),
        ("found", "found"),
        ("given", "gave"),
        ("held", "held"),
        ("kept", "kept"),
        ("led", "led"),
        ("made", "made"),
        ("paid", "paid"),
        ("run", "ran"),
        ("seen", "saw"),
        ("sent", "sent"),
        ("shown", "showed"),
        ("sold", "sold"),
        ("stolen", "stole"),
        ("taken", "took"),
        ("taught", "taught"),
        ("told", "told"),
        ("won", "won"),
        ("written", "wrote"),
    ];
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, past)| *past)
}

/// Whether a verb of another language tells of what is over, where its stem does not say so.
pub(super) fn is_past(lower: &str) -> bool {
    ["wohnte", "arbeitete", "lebte", "mochte", "hatte", "war", "жил", "жила", "работал", "работала"].contains(&lower)
}

/// The verb of a past that is not made with `-ed`.
pub(super) fn base_of_past(lower: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("ate", "eat"),
        ("became", "become"),
        ("began", "begin"),
        ("bought", "buy"),
        ("broke", "break"),
        ("brought", "bring"),
        ("built", "build"),
        ("came", "come"),
        ("chose", "choose"),
        ("drank", "drink"),
        ("drove", "drive"),
        ("flew", "fly"),
        ("forgot", "forget"),
        ("found", "find"),
        ("gave", "give"),
        ("grew", "grow"),
        ("kept", "keep"),
        ("knew", "know"),
        ("lost", "lose"),
        ("made", "make"),
        ("met", "meet"),
        ("paid", "pay"),
        ("ran", "run"),
        ("said", "say"),
        ("sang", "sing"),
        ("saw", "see"),
        ("sent", "send"),
        ("sold", "sell"),
        ("spoke", "speak"),
        ("stole", "steal"),
        ("swam", "swim"),
        ("taught", "teach"),
        ("thought", "think"),
        ("told", "tell"),
        ("took", "take"),
        ("went", "go"),
        ("won", "win"),
        ("wrote", "write"),
    ];
    WORDS.iter().find(|(past, _)| *past == lower).map(|(_, base)| *base)
}
