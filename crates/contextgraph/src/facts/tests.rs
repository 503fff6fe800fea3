//! Planted pairs: what says the same, what does not, what replaces another and what does not.

use super::*;

/// Texts that say the same, and texts that are alike and do not. The whole memory is tested with them too.
const DUPLICATES: &str = include_str!("../../tests/data/duplicates.txt");
const DISTINCT: &str = include_str!("../../tests/data/distinct.txt");

fn pairs(text: &'static str) -> Vec<(&'static str, &'static str)> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | ")).collect()
}

/// A newer text that replaces an older one: newer, older.
const REPLACED: &[(&str, &str, FactChange)] = &[
    ("Anna lives in Munich", "Anna lives in Berlin", FactChange::Name),
    ("The user moved to Munich; Berlin is no longer home", "The user lives in Berlin", FactChange::Name),
    ("The meeting is on Thursday", "The meeting is on Tuesday", FactChange::Date),
    ("The rent is 950 euros", "The rent is 900 euros", FactChange::Number),
    ("The user does not prefer dark mode", "The user prefers dark mode", FactChange::Negation),
    ("The user prefers light mode", "The user prefers dark mode", FactChange::Opposite),
    ("Anna no longer lives in Berlin", "Anna lives in Berlin", FactChange::Negation),
    ("The host db-prod-03 runs PostgreSQL 16", "The host db-prod-03 runs PostgreSQL 15", FactChange::Number),
    ("The team has 7 members", "The team has 5 members", FactChange::Number),
    ("Kate's phone number is 555-0102", "Kate's phone number is 555-0101", FactChange::Name),
    ("Tom works for Bosch", "Tom works for Siemens", FactChange::Name),
    ("Tom joined Bosch", "Tom works for Siemens", FactChange::Name),
    ("The manager of the project is Tom", "The manager of the project is Kate", FactChange::Name),
    ("The favourite colour of Lisa is green", "The favourite colour of Lisa is blue", FactChange::Value),
    ("The deadline is now 12 May", "The deadline is 5 May", FactChange::Number),
    ("The shop opens at ten", "The shop opens at nine", FactChange::Number),
    ("The door is closed", "The door is open", FactChange::Opposite),
    ("The status of the order is shipped", "The status of the order is pending", FactChange::Value),
    ("The standup moved to Friday", "The standup is on Monday", FactChange::Date),
    ("The capital of the branch is Bonn", "The capital of the branch is Berlin", FactChange::Name),
    ("Anna wohnt in Köln", "Anna wohnt in Bonn", FactChange::Name),
    ("Der Zug fährt um neun", "Der Zug fährt um acht", FactChange::Number),
    ("Die Miete beträgt 950 Euro", "Die Miete beträgt 900 Euro", FactChange::Number),
    ("Marie habite à Paris", "Marie habite à Lyon", FactChange::Name),
    ("El tren sale el martes", "El tren sale el lunes", FactChange::Date),
    ("The ticket costs 12 euros", "The ticket costs 10 euros", FactChange::Number),
    ("Ольга живёт в Туле", "Ольга живёт в Москве", FactChange::Name),
    ("Ольга переехала в Тулу", "Ольга живёт в Москве", FactChange::Name),
    ("Билет стоит 12 рублей", "Билет стоит 10 рублей", FactChange::Number),
    ("Встреча начинается во вторник", "Встреча начинается в понедельник", FactChange::Date),
    ("駅は家から六分です", "駅は家から五分です", FactChange::Number),
    ("田中さんは大阪に引っ越しました。", "田中さんは東京に住んでいます。", FactChange::Name),
    ("会議は木曜日に変更されました", "会議は月曜日です", FactChange::Date),
    ("太郎は魚が好きではありません", "太郎は魚が好きです", FactChange::Negation),
    ("王芳搬到上海", "王芳住在北京", FactChange::Name),
    ("团队会议改到了星期四", "团队会议在星期一", FactChange::Date),
    ("李强的电话是555", "李强的电话是444", FactChange::Number),
    ("李强的手机换成了三星", "李强的手机是苹果", FactChange::Name),
    ("张伟不喜欢喝茶", "张伟喜欢喝茶", FactChange::Negation),
    ("민지 씨는 부산으로 이사했습니다.", "민지 씨는 서울에 삽니다.", FactChange::Name),
    ("팀 회의는 목요일로 바뀌었습니다", "팀 회의는 월요일입니다", FactChange::Date),
    ("민수는 커피를 좋아하지 않습니다", "민수는 커피를 좋아합니다", FactChange::Negation),
];

/// Texts of which both can be true.
const BOTH_HOLD: &[(&str, &str)] = &[
    ("Anna likes oranges", "Anna likes apples"),
    ("Ben lives in Munich", "Anna lives in Berlin"),
    ("Invoice 1043 was paid", "Invoice 1042 was paid"),
    ("Room 13 is free", "Room 12 is free"),
    ("Anna is a mother", "Anna is a doctor"),
    ("We met Tom in Paris", "We met Tom in Rome"),
    ("Anna bought 5 books", "Anna bought 3 books"),
    ("The API uses Redis", "The API uses PostgreSQL"),
    ("Anna has 3 dogs", "Anna has 2 cats"),
    ("The server in Bonn is slow", "The server in Berlin is slow"),
    ("The backup of A is done", "The backup of B is done"),
    ("The user speaks German", "The user speaks English"),
    ("Anna lives in a flat", "Anna lives in Berlin"),
    ("Bread needs flour", "Bread needs water"),
    ("Tom visited Rome in 2020", "Tom visited Rome in 2018"),
    ("The meeting is in room Curie", "The meeting is on Tuesday"),
    ("The user is tired", "The user is hungry"),
    ("The phone number of Ben is 555-0102", "The phone number of Kate is 555-0101"),
    ("db-prod-04 runs PostgreSQL 16", "db-prod-03 runs PostgreSQL 15"),
    ("The user knows Rust", "The user knows Go"),
    ("Julia sent 3 mails", "Julia sent 4 mails"),
    ("The sister of Clara lives in Rome", "Clara lives in Paris"),
    ("Anna's sister lives in Rome", "Anna lives in Paris"),
    ("Clara is allergic to peanuts", "The phone number of Clara is 555-0172"),
    ("Clara is employed at Siemens", "Clara's favourite colour is turquoise"),
    ("El color favorito de Javier es el gris", "Javier es alérgico a los mejillones"),
    ("Ольга любит чай", "Ольга любит кофе"),
    ("Сестра Ольги живёт в Туле", "Ольга живёт в Москве"),
    ("田中さんの妹は大阪に住んでいます", "田中さんは東京に住んでいます"),
    ("田中さんは寿司が好きです", "田中さんは納豆が好きです"),
    ("王芳喜欢茶", "王芳喜欢咖啡"),
    ("王芳的妹妹住在上海", "王芳住在北京"),
    ("李强是医生", "李强是父亲"),
    ("민지 씨의 여동생은 부산에 삽니다", "민지 씨는 서울에 삽니다"),
    ("민수는 차를 좋아합니다", "민수는 커피를 좋아합니다"),
];

#[test]
fn what_says_the_same_is_told_from_what_does_not() {
    let duplicates = pairs(DUPLICATES);
    let missed: Vec<_> = duplicates.iter().filter(|(a, b)| !says_the_same(a, b) || !says_the_same(b, a)).collect();
    assert!(missed.len() * 20 <= duplicates.len(), "{} of {} missed: {missed:#?}", missed.len(), duplicates.len());
    for (a, b) in pairs(DISTINCT) {
        assert!(!says_the_same(a, b) && !says_the_same(b, a), "{a} / {b}");
    }
    for (newer, older, _) in REPLACED {
        assert!(!says_the_same(newer, older), "{newer} / {older}");
    }
    for (a, b) in BOTH_HOLD {
        assert!(!says_the_same(a, b), "{a} / {b}");
    }
}

#[test]
fn what_replaces_another_is_told_from_what_stands_beside_it() {
    let wrong: Vec<_> = REPLACED
        .iter()
        .filter(|(newer, older, change)| replaces(newer, older) != Some(*change))
        .map(|(newer, older, _)| (newer, older, replaces(newer, older)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), REPLACED.len());
    for (newer, older) in BOTH_HOLD {
        assert_eq!((replaces(newer, older), replaces(older, newer)), (None, None), "{newer} / {older}");
    }
    for (a, b) in pairs(DUPLICATES) {
        assert_eq!((replaces(a, b), replaces(b, a)), (None, None), "{a} / {b}");
    }
}

#[test]
fn long_and_odd_texts_are_bounded() {
    let long = "word ".repeat(100_000);
    assert!(!says_the_same(&long, "word word"));
    assert!(says_the_same(&long, long.trim()));
    assert_eq!(replaces(&long, &long), None);
    for odd in ["7 pm ", ":", "a, b and ", "twenty four ", "3 May ", "五", "x is by y by "] {
        assert!(!says_the_same(&odd.repeat(50_000), "a word"), "{odd}");
    }
    for odd in ["", " ", ".", "is", "...", "\u{0}", "is is is", "n't"] {
        assert_eq!(replaces(odd, odd), None);
        let _ = says_the_same(odd, "x");
    }
}
