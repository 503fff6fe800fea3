//! The bytes of packed vectors in the database: about 2 KB for a memory of one sentence.
//!
//! What can be derived from something else is not written. A row is cut into stretches of 64 steps; a stretch with few that are not zero is
//! written as places and steps, another in eight bits for each step (E1, which decides most) or in four (all others, by the greatest of the
//! stretch). Where the same meaning stands in a row again, as in E5 and E10 of plain texts, only its factor is written. E13 is written by
//! what it has beside E6, the mean of words where it is not theirs. Reading and writing again gives the same bytes.
//!
//! The first form, which earlier versions wrote, is read: eight bits for each step, all bits of E9, 7 to 10 KB.

use super::pack::{Packed, Row};
use crate::bytes::Bytes;
use crate::embedders::causal::Direction;
use crate::embedders::hdc::{Bits, Sketch};
use crate::embedders::semantic::TOKENS;
use crate::vector::Sparse;

/// The form that is written, and the one of earlier versions.
const FORM: u8 = 2;
const FIRST_FORM: u8 = 1;
/// Steps of a stretch.
const STRETCH: usize = 64;
/// Marks of a stretch: more entries than a sparse one has.
const DENSE: u8 = 254;
const COARSE: u8 = 255;
/// The largest step of four bits.
const NIBBLE: i32 = 7;
/// Steps of meaning at the beginning of E1, which others repeat.
const MEANING: usize = 256;
/// Parts of the factor by which meaning is repeated.
const FACTOR: f32 = 128.0;
/// How far a step may be from what is repeated.
const NEAR: i32 = 2;
/// How alike the mean of words is to what their steps give, at least, not to be written.
const SAME_MEAN: f32 = 0.98;
/// Parts of a number of E6 and E13.
const WEIGHT: f32 = 512.0;

/// Where the meaning of the whole text may stand again.
const IN_CAUSAL: &[usize] = &[0, 384];
const AT_START: &[usize] = &[0];

impl Packed {
    /// The bytes, for the database.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let tokens = &self.tokens[..self.tokens.len().min(TOKENS)];
        let mean_differs = Row::mean_of(tokens).cosine(&self.token_mean) < SAME_MEAN;
        let mut out = vec![FORM, self.direction.byte(), tokens.len() as u8, u8::from(mean_differs)];
        write_row(&mut out, &self.e1.steps, DENSE);
        let meaning = self.e1.steps.get(..MEANING).unwrap_or_default();
        for (row, places) in [(&self.e5, IN_CAUSAL), (&self.e7, AT_START), (&self.e10, AT_START), (&self.e11, &[])] {
            write_repeating(&mut out, &row.steps, meaning, places);
        }
        tokens.iter().for_each(|token| write_row(&mut out, &token.steps, COARSE));
        if mean_differs {
            write_row(&mut out, &self.token_mean.steps, COARSE);
        }
        out.extend(self.e9.to_bytes());
        write_entries(&mut out, self.e6.iter());
        let known = |index: u16| self.e6.indices.binary_search(&index).ok().map(|at| self.e6.values[at]);
        write_entries(&mut out, self.e13.iter().filter(|(index, value)| known(*index) != Some(*value)));
        out
    }

    /// From the bytes of the database; `None` if they are not what was written.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(Bytes(bytes));
        match reader.0.byte()? {
            FORM => reader.packed(),
            FIRST_FORM => reader.packed_first(),
            _ => None,
        }
    }
}

fn write_row(out: &mut Vec<u8>, steps: &[i8], dense: u8) {
    out.extend((steps.len() as u16).to_le_bytes());
    steps.chunks(STRETCH).for_each(|stretch| write_stretch(out, stretch, dense));
}

fn write_stretch(out: &mut Vec<u8>, steps: &[i8], dense: u8) {
    let entries = steps.iter().enumerate().filter(|(_, step)| **step != 0);
    let count = entries.clone().count();
    let room = if dense == DENSE { steps.len() } else { 1 + steps.len().div_ceil(2) };
    if 2 * count < room {
        out.push(count as u8);
        out.extend(entries.flat_map(|(place, step)| [place as u8, step.cast_unsigned()]));
    } else if dense == DENSE {
        out.push(DENSE);
        out.extend(steps.iter().map(|step| step.cast_unsigned()));
    } else {
        // Below the largest of four bits nothing is lost.
        let greatest = steps.iter().map(|step| i32::from(*step).abs()).max().unwrap_or(0).max(NIBBLE);
        out.extend([COARSE, greatest as u8]);
        let nibble = |step: i8| (rounded(i32::from(step) * NIBBLE, greatest) + 8) as u8;
        out.extend(steps.chunks(2).map(|pair| nibble(pair[0]) | nibble(pair.get(1).copied().unwrap_or(0)) << 4));
    }
}

/// The quotient, rounded, half away from zero. The divisor is above zero.
const fn rounded(value: i32, by: i32) -> i32 {
    (2 * value + by * value.signum()) / (2 * by)
}

/// A row in which the meaning of the text may stand again at some places: a mask of those, the factors, and the rest.
fn write_repeating(out: &mut Vec<u8>, steps: &[i8], meaning: &[i8], places: &[usize]) {
    let factors: Vec<Option<u16>> = places.iter().map(|at| factor(steps.get(*at..at + MEANING)?, meaning)).collect();
    let mask = factors.iter().enumerate().fold(0u8, |mask, (at, factor)| mask | u8::from(factor.is_some()) << at);
    out.push(mask);
    let mut rest = steps.to_vec();
    for (at, factor) in places.iter().zip(&factors) {
        if let Some(factor) = factor {
            out.extend(factor.to_le_bytes());
            rest[*at..at + MEANING].fill(0);
        }
    }
    write_row(out, &rest, COARSE);
}

/// By what meaning is multiplied to give these steps, if it gives them.
fn factor(steps: &[i8], meaning: &[i8]) -> Option<u16> {
    let (product, square) = (crate::vector::dot_i8(steps, meaning), crate::vector::dot_i8(meaning, meaning));
    if square == 0 || steps.len() != meaning.len() {
        return None;
    }
    let factor = (FACTOR * product as f32 / square as f32).round();
    if !(1.0..f32::from(u16::MAX)).contains(&factor) {
        return None;
    }
    let factor = factor as u16;
    let near = |(step, meant): (&i8, &i8)| (i32::from(*step) - i32::from(repeated(*meant, factor))).abs() <= NEAR;
    steps.iter().zip(meaning).all(near).then_some(factor)
}

fn repeated(step: i8, factor: u16) -> i8 {
    // Clamped to what fits.
    (f32::from(step) * f32::from(factor) / FACTOR).round().clamp(-127.0, 127.0) as i8
}

fn write_entries(out: &mut Vec<u8>, entries: impl Iterator<Item = (u16, f32)>) {
    let at = out.len();
    out.extend([0, 0]);
    let mut count = 0u16;
    for (index, value) in entries.take(usize::from(u16::MAX)) {
        out.extend(index.to_le_bytes());
        // An entry that is there stays there.
        let weight = (value * WEIGHT).round().clamp(1.0, f32::from(u16::MAX)) as u16;
        out.extend(weight.to_le_bytes());
        count += 1;
    }
    out[at..at + 2].copy_from_slice(&count.to_le_bytes());
}

struct Reader<'a>(Bytes<'a>);

impl Reader<'_> {
    fn packed(&mut self) -> Option<Packed> {
        let direction = Direction::from_byte(self.0.byte()?);
        let (count, mean_differs) = (self.0.byte()?, self.0.byte()? != 0);
        let e1 = self.row()?;
        let meaning = e1.get(..MEANING).unwrap_or_default();
        let e5 = self.repeating(meaning, IN_CAUSAL)?;
        let e7 = self.repeating(meaning, AT_START)?;
        let e10 = self.repeating(meaning, AT_START)?;
        let e11 = self.repeating(meaning, &[])?;
        let tokens = (0..count).map(|_| self.row().map(Row::of_steps)).collect::<Option<Vec<_>>>()?;
        let token_mean = if mean_differs { Row::of_steps(self.row()?) } else { Row::mean_of(&tokens) };
        let e9 = Sketch::from_bytes(self.0.take(Sketch::BYTES)?)?;
        let e6 = self.entries()?;
        let mut e13: Vec<(u16, f32)> = self.entries()?.iter().collect();
        let own: Vec<u16> = e13.iter().map(|entry| entry.0).collect();
        e13.extend(e6.iter().filter(|(index, _)| own.binary_search(index).is_err()));
        Some(Packed {
            e1: Row::of_steps(e1),
            e5,
            e7,
            e10,
            e11,
            tokens,
            token_mean,
            e6,
            e13: Sparse::from_entries(e13),
            e9,
            direction,
        })
    }

    fn row(&mut self) -> Option<Vec<i8>> {
        let length = usize::from(self.0.short()?);
        let mut steps = Vec::with_capacity(length);
        while steps.len() < length {
            let count = STRETCH.min(length - steps.len());
            self.stretch(count, &mut steps)?;
        }
        Some(steps)
    }

    fn stretch(&mut self, count: usize, steps: &mut Vec<i8>) -> Option<()> {
        let from = steps.len();
        match self.0.byte()? {
            DENSE => steps.extend(self.0.take(count)?.iter().map(|byte| byte.cast_signed())),
            COARSE => {
                let greatest = i32::from(self.0.byte()?);
                let step = |nibble: u8| rounded((i32::from(nibble) - 8) * greatest, NIBBLE).clamp(-127, 127) as i8;
                let pairs = self.0.take(count.div_ceil(2))?;
                steps.extend(pairs.iter().flat_map(|pair| [step(pair & 15), step(pair >> 4)]));
                steps.truncate(from + count);
            }
            entries => {
                steps.resize(from + count, 0);
                for entry in self.0.take(2 * usize::from(entries))?.chunks_exact(2) {
                    *steps.get_mut(from + usize::from(entry[0]))? = entry[1].cast_signed();
                }
            }
        }
        Some(())
    }

    fn repeating(&mut self, meaning: &[i8], places: &[usize]) -> Option<Row> {
        let mask = self.0.byte()?;
        let mut factors = Vec::new();
        for (_, at) in places.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1) {
            factors.push((*at, self.0.short()?));
        }
        let mut steps = self.row()?;
        for (at, factor) in factors {
            let part = steps.get_mut(at..at + MEANING).filter(|part| part.len() == meaning.len())?;
            part.iter_mut().zip(meaning).for_each(|(step, meant)| *step = repeated(*meant, factor));
        }
        Some(Row::of_steps(steps))
    }

    fn entries(&mut self) -> Option<Sparse> {
        let count = self.0.short()?;
        let mut sparse = Sparse::default();
        for _ in 0..count {
            sparse.indices.push(self.0.short()?);
            sparse.values.push(f32::from(self.0.short()?) / WEIGHT);
        }
        sparse.indices.is_sorted().then_some(sparse)
    }

    fn packed_first(&mut self) -> Option<Packed> {
        let direction = Direction::from_byte(self.0.byte()?);
        let count = self.0.byte()?;
        let mut rows = (0..6 + usize::from(count)).map(|_| self.row_first());
        let mut next = || rows.next().flatten();
        let (e1, e5, e7) = (next()?, next()?, next()?);
        let (e10, e11, token_mean) = (next()?, next()?, next()?);
        let tokens = rows.collect::<Option<Vec<_>>>()?;
        let e9 = Bits::from_bytes(self.0.take(Bits::BYTES)?)?.sketch();
        let (e6, e13) = (self.entries_first()?, self.entries_first()?);
        Some(Packed { e1, e5, e7, e10, e11, tokens, token_mean, e6, e13, e9, direction })
    }

    fn row_first(&mut self) -> Option<Row> {
        let length = self.0.short()?;
        let _scale = self.0.take(4)?;
        Some(Row::of_steps(self.0.take(usize::from(length))?.iter().map(|byte| byte.cast_signed()).collect()))
    }

    fn entries_first(&mut self) -> Option<Sparse> {
        let count = self.0.long()?;
        let mut sparse = Sparse::default();
        for _ in 0..count {
            sparse.indices.push(self.0.short()?);
            sparse.values.push(self.0.float()?);
        }
        Some(sparse)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::embedders::lexical::Unknown;
    use crate::embedders::{Embedders, Modality, StaticTable};
    use crate::fingerprint::Content;
    use crate::vector::QuantizedVector;
    use std::sync::Arc;

    const TEXTS: [&str; 6] = [
        "Anna moved to Berlin in March and works at the harbour",
        "The outage was caused by a full disk on db-prod-03, because logs were not rotated",
        "fn parse_config(path: &Path) -> Result<Config, Error> { read(path)?.parse() }",
        "Die Miete beträgt 950 Euro im Monat, seit der Vermieter gewechselt hat",
        "駅は家から六分です",
        "x",
    ];

    fn content(text: &str) -> Content {
        Embedders::new(Arc::new(StaticTable)).content(text, Modality::Text, &Unknown).unwrap()
    }

    /// As earlier versions wrote it.
    pub(crate) fn first_form(content: &Content) -> Vec<u8> {
        let mut out = vec![FIRST_FORM, content.direction.byte(), content.e12.len() as u8];
        let mean = crate::fingerprint::mean_token(&content.e12);
        let rows = [&content.e1, &content.e5, &content.e7, &content.e10, &content.e11, &mean];
        for values in rows.into_iter().chain(&content.e12) {
            let quantized = QuantizedVector::of(values);
            out.extend((values.len() as u16).to_le_bytes());
            out.extend(quantized.scale.to_le_bytes());
            out.extend(quantized.steps.iter().map(|step| step.cast_unsigned()));
        }
        let mut bits = vec![0u8; Bits::BYTES];
        for at in (0..10_000).filter(|at| content.e9.get(*at)) {
            bits[at / 8] |= 1 << (at % 8);
        }
        out.extend(bits);
        for sparse in [&content.e6, &content.e13] {
            out.extend((sparse.indices.len() as u32).to_le_bytes());
            for (index, value) in sparse.iter() {
                out.extend(index.to_le_bytes());
                out.extend(value.to_le_bytes());
            }
        }
        out
    }

    #[test]
    fn what_is_read_is_written_again_as_it_was() {
        for text in TEXTS {
            let packed = Packed::of(&content(text));
            let bytes = packed.to_bytes();
            let read = Packed::from_bytes(&bytes).unwrap();
            assert!(read == packed, "{text}");
            assert_eq!(read.to_bytes(), bytes, "{text}");
            for end in 0..bytes.len() {
                assert!(Packed::from_bytes(&bytes[..end]).is_none(), "{end} of {text}");
            }
        }
    }

    #[test]
    fn vectors_of_a_sentence_take_two_kilobytes() {
        for text in TEXTS {
            let (bytes, before) = (Packed::of(&content(text)).to_bytes().len(), first_form(&content(text)).len());
            println!("{bytes} for {before}: {text}");
            assert!(bytes <= 2_300 && bytes * 3 < before, "{bytes} for {before}: {text}");
        }
    }

    #[test]
    fn what_earlier_versions_kept_is_read_and_nearly_the_same() {
        let times = (10.0, 10.0, 10.0);
        let all: Vec<(Packed, Packed)> = TEXTS
            .iter()
            .map(|text| (Packed::of(&content(text)), Packed::from_bytes(&first_form(&content(text))).unwrap()))
            .collect();
        for (a, first_a) in &all {
            for (b, first_b) in &all {
                let now = a.likenesses(b, times, 0.5, false);
                let before = first_a.likenesses(first_b, times, 0.5, false);
                for (space, (now, before)) in now.iter().zip(before).enumerate() {
                    // E9 is a sketch, words of E12 have four bits.
                    let near = if [8, 11].contains(&space) { 0.1 } else { 0.03 };
                    assert!((now - before).abs() < near, "E{} {now} {before}", space + 1);
                }
            }
        }
        let first = Packed::from_bytes(&first_form(&content(TEXTS[0]))).unwrap();
        assert!(Packed::from_bytes(&first.to_bytes()).is_some());
    }
}
