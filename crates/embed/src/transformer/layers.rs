//! The parts of a transformer: norms, products, attention.
//!
//! It decides how numbers become numbers. Rows follow each other in one slice; a row belongs to a piece of the text.

use super::TransformerError;
use super::weights::Tensors;

/// The largest value after scaling: eleven bits with the sign. 1,536 products of two such values stay below 2^31.
const MAX_SCALED: f32 = 1023.0;

/// Rows of weights that are used together: 16 of 384 places take twelve kilobytes.
const BLOCK: usize = 16;

/// Keeps a variance of zero from dividing by zero; from the models' own settings.
const EPSILON: f32 = 1e-12;

/// Scale and shift after a row was given mean zero and deviation one.
#[derive(Debug)]
pub(super) struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    pub(super) fn read(tensors: &Tensors<'_>, name: &str, width: usize) -> Result<Self, TransformerError> {
        Ok(Self {
            weight: tensors.values(&format!("{name}.weight"), 1, width)?,
            bias: tensors.values(&format!("{name}.bias"), 1, width)?,
        })
    }
}

/// Gives each row mean zero and deviation one, then scale and shift.
pub(super) fn normed(rows: &mut [f32], norm: &Norm) {
    let width = norm.weight.len();
    for row in rows.chunks_exact_mut(width) {
        let mean = row.iter().sum::<f32>() / width as f32;
        let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / width as f32;
        let scale = 1.0 / (variance + EPSILON).sqrt();
        for ((value, weight), bias) in row.iter_mut().zip(&norm.weight).zip(&norm.bias) {
            *value = (*value - mean) * scale * weight + bias;
        }
    }
}

/// A table of weights, rounded row by row.
#[derive(Debug)]
struct Linear {
    columns: usize,
    weights: Vec<i16>,
    scales: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    fn read(tensors: &Tensors<'_>, name: &str, rows: usize, columns: usize) -> Result<Self, TransformerError> {
        let values = tensors.values(&format!("{name}.weight"), rows, columns)?;
        let bias = tensors.values(&format!("{name}.bias"), 1, rows)?;
        let (weights, scales) = rounded(&values, columns);
        Ok(Self { columns, weights, scales, bias })
    }

    /// For each row of values, the product with each row of weights, plus the bias.
    fn apply(&self, values: &[f32]) -> Vec<f32> {
        let (values, value_scales) = rounded(values, self.columns);
        let outputs = self.bias.len();
        let mut result = vec![0.0; value_scales.len() * outputs];
        // A few rows of weights stay in the nearest memory while all rows of values pass.
        for (block, weights) in self.weights.chunks(self.columns * BLOCK).enumerate() {
            for (row, (values, scale)) in values.chunks_exact(self.columns).zip(&value_scales).enumerate() {
                let first = row * outputs + block * BLOCK;
                for (at, weights) in weights.chunks_exact(self.columns).enumerate() {
                    let output = block * BLOCK + at;
                    let sum = product(weights, values) as f32;
                    result[first + at] = sum * self.scales[output] * scale + self.bias[output];
                }
            }
        }
        result
    }
}

/// Rounds each row to integers with one scale.
fn rounded(values: &[f32], columns: usize) -> (Vec<i16>, Vec<f32>) {
    let mut whole = Vec::with_capacity(values.len());
    let mut scales = Vec::with_capacity(values.len() / columns.max(1));
    for row in values.chunks_exact(columns) {
        let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        // Also for values that are no numbers: they become zero.
        let scale = if largest.is_finite() && largest > 0.0 { largest / MAX_SCALED } else { 1.0 };
        let inverse = 1.0 / scale;
        whole.extend(row.iter().map(|value| (value * inverse).round_ties_even() as i16));
        scales.push(scale);
    }
    (whole, scales)
}

/// The sum of the products, in a form that becomes vector instructions.
fn product(one: &[i16], other: &[i16]) -> i32 {
    one.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// One layer.
#[derive(Debug)]
pub(super) struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    mixed: Linear,
    after_attention: Norm,
    inner: Linear,
    outer: Linear,
    after_all: Norm,
}

impl Layer {
    pub(super) fn read(tensors: &Tensors<'_>, number: usize, width: usize) -> Result<Self, TransformerError> {
        let at = |name: &str| format!("encoder.layer.{number}.{name}");
        let square = |name: &str| Linear::read(tensors, &at(name), width, width);
        let (wide, _) = tensors.shape(&at("intermediate.dense.weight"))?;
        Ok(Self {
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            mixed: square("attention.output.dense")?,
            after_attention: Norm::read(tensors, &at("attention.output.LayerNorm"), width)?,
            inner: Linear::read(tensors, &at("intermediate.dense"), wide, width)?,
            outer: Linear::read(tensors, &at("output.dense"), width, wide)?,
            after_all: Norm::read(tensors, &at("output.LayerNorm"), width)?,
        })
    }

    pub(super) fn apply(&self, values: &mut [f32], width: usize, heads: usize) {
        let (query, key, value) = (self.query.apply(values), self.key.apply(values), self.value.apply(values));
        let mixed = self.mixed.apply(&attended(&query, &key, &value, width, heads));
        add(values, &mixed);
        normed(values, &self.after_attention);
        let mut inner = self.inner.apply(values);
        inner.iter_mut().for_each(|value| *value = gelu(*value));
        add(values, &self.outer.apply(&inner));
        normed(values, &self.after_all);
    }
}

fn add(values: &mut [f32], more: &[f32]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
}

/// For each piece and each head, the mean of the values of all pieces, weighted by how well their keys fit its query.
fn attended(query: &[f32], key: &[f32], value: &[f32], width: usize, heads: usize) -> Vec<f32> {
    let size = width / heads;
    let scale = 1.0 / (size as f32).sqrt();
    let mut result = vec![0.0; query.len()];
    let mut weights = vec![0.0_f32; query.len() / width];
    for head in 0..heads {
        let part = head * size..(head + 1) * size;
        for (row, query) in query.chunks_exact(width).enumerate() {
            let query = &query[part.clone()];
            let mut largest = f32::NEG_INFINITY;
            for (weight, key) in weights.iter_mut().zip(key.chunks_exact(width)) {
                *weight = query.iter().zip(&key[part.clone()]).map(|(a, b)| a * b).sum::<f32>() * scale;
                largest = largest.max(*weight);
            }
            let mut total = 0.0;
            for weight in &mut weights {
                *weight = (*weight - largest).exp();
                total += *weight;
            }
            let target = &mut result[row * width + part.start..row * width + part.end];
            for (weight, value) in weights.iter().zip(value.chunks_exact(width)) {
                let share = weight / total;
                target.iter_mut().zip(&value[part.clone()]).for_each(|(target, value)| *target += share * value);
            }
        }
    }
    result
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function by the rational approximation 7.1.26 of Abramowitz and Stegun, within 1.5e-7.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    (1.0 - series * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_that_of_the_error_function() {
        for (x, expected) in
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (-1.0, -0.842_700_8), (3.0, 0.999_977_9)]
        {
            assert!((erf(x) - expected).abs() < 1e-5, "{x}");
        }
        assert!((gelu(1.0) - 0.841_344_7).abs() < 1e-5);
    }

    #[test]
    fn rounded_products_are_near_the_exact_ones() {
        let columns = 1536;
        let one: Vec<f32> = (0..columns).map(|at| ((at * 37 % 101) as f32 - 50.0) / 7.0).collect();
        let other: Vec<f32> = (0..columns).map(|at| ((at * 53 % 89) as f32 - 40.0) / 3.0).collect();
        let exact: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
        let ((a, scale), (b, other_scale)) = (rounded(&one, columns), rounded(&other, columns));
        let near = product(&a, &b) as f32 * scale[0] * other_scale[0];
        assert!((near - exact).abs() < 1e-2 * exact.abs().max(100.0), "{near} {exact}");
        // The largest possible sum does not overflow.
        let full = vec![MAX_SCALED as i16; columns];
        assert_eq!(i64::from(product(&full, &full)), 1023 * 1023 * 1536);
    }

    #[test]
    fn attention_to_equal_keys_is_the_mean() {
        let (query, key) = ([1.0, 0.0, 0.0, 1.0], [0.5; 4]);
        let mixed = attended(&query, &key, &[1.0, 2.0, 3.0, 4.0], 2, 1);
        assert!(mixed.iter().zip([2.0, 3.0, 2.0, 3.0]).all(|(one, other)| (one - other).abs() < 1e-6), "{mixed:?}");
    }
}
