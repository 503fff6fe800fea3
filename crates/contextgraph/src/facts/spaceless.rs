//! What replaces what in Chinese, Japanese and Korean: a sentence is cut at listed signs into what it is about, what it says and of which kind
//! that is. As elsewhere, only what can have one value is replaced: another number or day, another place to live or work, another name or
//! value of something of which there is one, the contrary of the same.

use super::FactChange;
use super::lexicon::Verb;

/// Characters of a sentence that is cut.
const MAX_CHARS: usize = 120;

/// A Chinese sentence is cut at the first of these.
const CHINESE: &[(&str, Verb)] = &[
    ("已经搬家到了", Verb::Moved),
    ("已经搬家到", Verb::Moved),
    ("搬家到了", Verb::Moved),
    ("搬家到", Verb::Moved),
    ("已经搬到", Verb::Moved),
    ("搬到了", Verb::Moved),
    ("搬到", Verb::Moved),
    ("搬去了", Verb::Moved),
    ("搬去", Verb::Moved),
    ("现在住在", Verb::Lives),
    ("居住在", Verb::Lives),
    ("住在", Verb::Lives),
    ("就职于", Verb::Works),
    ("任职于", Verb::Works),
    ("跳槽到了", Verb::Joined),
    ("跳槽到", Verb::Joined),
    ("加入了", Verb::Joined),
    ("推迟到了", Verb::Changed),
    ("推迟到", Verb::Changed),
    ("改到了", Verb::Changed),
    ("改到", Verb::Changed),
    ("改为", Verb::Changed),
    ("改成了", Verb::Changed),
    ("改成", Verb::Changed),
    ("换成了", Verb::Changed),
    ("换成", Verb::Changed),
    ("变成了", Verb::Changed),
    ("涨到了", Verb::Changed),
    ("涨到", Verb::Changed),
    ("降到了", Verb::Changed),
    ("降到", Verb::Changed),
    ("名叫", Verb::Named),
    ("现在是", Verb::Is),
    ("是", Verb::Is),
    ("为", Verb::Is),
    ("在", Verb::Is),
];
/// A Japanese or Korean sentence ends with one of these.
const ENDS: &[(&str, Verb)] = &[
    ("に住んでいます", Verb::Lives),
    ("に住んでいる", Verb::Lives),
    ("に住む", Verb::Lives),
    ("に引っ越しました", Verb::Moved),
    ("に引っ越した", Verb::Moved),
    ("へ引っ越しました", Verb::Moved),
    ("へ引っ越した", Verb::Moved),
    ("で働いています", Verb::Works),
    ("で働いている", Verb::Works),
    ("に勤めています", Verb::Works),
    ("に勤めている", Verb::Works),
    ("に転職しました", Verb::Joined),
    ("に転職した", Verb::Joined),
    ("に変更されました", Verb::Changed),
    ("に変更された", Verb::Changed),
    ("に変更になりました", Verb::Changed),
    ("に変わりました", Verb::Changed),
    ("に変わった", Verb::Changed),
    ("に延期されました", Verb::Changed),
    ("に延期された", Verb::Changed),
    ("になりました", Verb::Changed),
    ("になった", Verb::Changed),
    ("に始まります", Verb::Happens),
    ("に始まる", Verb::Happens),
    ("から始まります", Verb::Happens),
    ("から始まる", Verb::Happens),
    ("に終わります", Verb::Happens),
    ("に終わる", Verb::Happens),
    ("にあります", Verb::Is),
    ("にある", Verb::Is),
    ("といいます", Verb::Named),
    ("という", Verb::Named),
    ("です", Verb::Is),
    ("である", Verb::Is),
    ("だ", Verb::Is),
    ("에 살고 있습니다", Verb::Lives),
    ("에 살고 있다", Verb::Lives),
    ("에 삽니다", Verb::Lives),
    ("에 살아요", Verb::Lives),
    ("에 산다", Verb::Lives),
    ("으로 이사했습니다", Verb::Moved),
    ("로 이사했습니다", Verb::Moved),
    ("으로 이사했다", Verb::Moved),
    ("로 이사했다", Verb::Moved),
    ("로 이사했어요", Verb::Moved),
    ("에서 일하고 있습니다", Verb::Works),
    ("에서 일하고 있다", Verb::Works),
    ("에서 일합니다", Verb::Works),
    ("에서 일한다", Verb::Works),
    ("에 다닙니다", Verb::Works),
    ("에 다닌다", Verb::Works),
    ("로 이직했습니다", Verb::Joined),
    ("로 이직했다", Verb::Joined),
    ("으로 바뀌었습니다", Verb::Changed),
    ("로 바뀌었습니다", Verb::Changed),
    ("으로 바뀌었다", Verb::Changed),
    ("로 바뀌었다", Verb::Changed),
    ("으로 변경되었습니다", Verb::Changed),
    ("로 변경되었습니다", Verb::Changed),
    ("로 변경되었다", Verb::Changed),
    ("로 변경됐다", Verb::Changed),
    ("로 연기되었습니다", Verb::Changed),
    ("에 시작합니다", Verb::Happens),
    ("에 시작한다", Verb::Happens),
    ("에 시작됩니다", Verb::Happens),
    ("에 시작된다", Verb::Happens),
    ("에 있습니다", Verb::Is),
    ("에 있다", Verb::Is),
    ("입니다", Verb::Is),
    ("이에요", Verb::Is),
    ("예요", Verb::Is),
    ("이다", Verb::Is),
];
/// Behind what a sentence is about.
const TOPICS: &[&str] = &["は", "는", "은"];
/// Things of which there is one value.
const ONE_OF: &[&str] = &[
    "名字",
    "名前",
    "이름",
    "电话",
    "電話",
    "전화",
    "地址",
    "住所",
    "주소",
    "价格",
    "値段",
    "価格",
    "가격",
    "生日",
    "誕生日",
    "생일",
    "密码",
    "パスワード",
    "비밀번호",
    "上司",
    "상사",
    "经理",
    "老板",
    "部長",
    "最喜欢",
    "一番好き",
    "好きな色",
    "颜色",
    "가장 좋아하는",
    "좋아하는 색",
    "房租",
    "家賃",
    "월세",
    "版本",
    "バージョン",
    "버전",
    "预算",
    "予算",
    "예산",
    "负责人",
    "担当",
    "담당자",
    "工资",
    "給料",
    "월급",
    "首都",
];
/// What denies, and what the sentence is without it.
const DENIALS: &[(&str, &str)] = &[
    ("ではありません", "です"),
    ("じゃありません", "です"),
    ("ではない", "です"),
    ("ません", "ます"),
    ("하지 않습니다", "합니다"),
    ("하지 않는다", "한다"),
    ("지 않습니다", "습니다"),
    ("지 않는다", "는다"),
    ("이 아닙니다", "입니다"),
    ("가 아닙니다", "입니다"),
    ("不再", ""),
    ("不", ""),
    ("没有", "有"),
];

struct Saying<'a> {
    subject: &'a str,
    verb: Verb,
    value: &'a str,
}

/// Whether, and by what, a newer text replaces an older one.
pub(super) fn replaces(newer: &str, older: &str) -> Option<FactChange> {
    let (newer, older) = (bare(newer)?, bare(older)?);
    let denied = |text: &str| {
        DENIALS.iter().find(|(sign, _)| text.contains(sign)).map(|(sign, plain)| text.replacen(sign, plain, 1))
    };
    match (denied(newer), denied(older)) {
        (Some(plain), None) if plain == older => return Some(FactChange::Negation),
        (None, Some(plain)) if plain == newer => return Some(FactChange::Negation),
        (None, None) => {}
        _ => return None,
    }
    let (new, old) = (cut(newer)?, cut(older)?);
    if new.subject != old.subject || !new.verb.may_replace(old.verb) || new.value == old.value {
        return None;
    }
    let count = |text: &str| text.chars().filter(|c| is_numeral(*c)).count();
    let day = |text: &str| ["星期", "周", "曜", "요일", "月", "월"].iter().any(|sign| text.contains(sign));
    let frame = |text: &str| text.chars().filter(|c| !is_numeral(*c)).collect::<String>();
    if day(new.value) && day(old.value) {
        return Some(FactChange::Date);
    }
    if count(new.value) > 0 && count(old.value) > 0 {
        let moved = new.verb.is_change() || old.verb.is_change();
        return (moved || frame(new.value) == frame(old.value)).then_some(FactChange::Number);
    }
    let one_of = ONE_OF.iter().any(|sign| new.subject.contains(sign));
    let named = new.verb.has_one_name() || new.verb.is_change();
    (named || one_of).then_some(FactChange::Name)
}

/// The sentence without its end mark, if it is one of these languages, and one.
fn bare(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches(['。', '.', '!', '！']);
    let asian = |c: char| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    let fits = text.chars().count() <= MAX_CHARS && text.chars().any(asian);
    (fits && !text.contains(['。', '!', '！', '?', '？', '\n'])).then_some(text)
}

fn cut(text: &str) -> Option<Saying<'_>> {
    if let Some((end, verb)) = ENDS.iter().find(|(end, _)| text.ends_with(end)) {
        let rest = &text[..text.len() - end.len()];
        let (at, topic) = TOPICS.iter().filter_map(|topic| Some((rest.find(topic)?, *topic))).min()?;
        let value = rest[at + topic.len()..].trim().trim_start_matches("今").trim_start_matches("지금").trim();
        let subject = rest[..at].trim();
        return (!subject.is_empty() && !value.is_empty()).then_some(Saying { subject, verb: *verb, value });
    }
    // Chinese: the sign stands between.
    let is_han = |c: char| matches!(c, '\u{4e00}'..='\u{9fff}');
    if !text.chars().any(is_han) || text.chars().any(|c| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}'))
    {
        return None;
    }
    let (at, sign, verb) = CHINESE.iter().find_map(|(sign, verb)| Some((text.find(sign)?, *sign, *verb)))?;
    let subject = text[..at].trim_end_matches("现在").trim_end_matches("已经").trim();
    let mut value = text[at + sign.len()..].trim();
    let mut verb = verb;
    for working in ["工作", "上班"] {
        if let Some(place) = value.strip_suffix(working).filter(|_| sign == "在") {
            (value, verb) = (place, Verb::Works);
        }
    }
    (!subject.is_empty() && !value.is_empty()).then_some(Saying { subject, verb, value })
}

fn is_numeral(c: char) -> bool {
    c.is_ascii_digit() || "一二三四五六七八九十百千万两零日月点時时分".contains(c) && !"日月点時时分".contains(c)
}
