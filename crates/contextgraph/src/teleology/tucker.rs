//! Tucker's decomposition by HOSVD: the tensor `t[i][j][k] = e_i[k] e_j[k]` of the thirteen vectors of a memory, taken apart into a
//! small core and one matrix for each mode.
//!
//! The matrix of a mode has the leading left singular vectors of the unfolded tensor, found as eigenvectors of its product with
//! itself by Jacobi rotations (modes of 13) and subspace iteration (the long mode, whose product is never built: the tensor has
//! rank 13 along it). The core is the tensor in those bases. Since they are orthonormal, what is lost is
//! `sqrt(|t|^2 - |core|^2)`; relative to `|t|` it is the reconstruction error. HOOI then repeats, each mode on the others' result, at
//! most a hundred times until the error moves by less than 1e-6.

use crate::embedders::space::COUNT;

/// Numbers that a vector is folded to, so that all have one length.
pub const LENGTH: usize = 128;
const ROUNDS: usize = 100;
const TOLERANCE: f64 = 1e-6;

/// What is left of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Tucker {
    /// The ranks that were used: what was asked for, at most the size of each mode.
    pub ranks: [usize; 3],
    /// The core, row by row.
    pub core: Vec<f64>,
    /// Rounds of HOOI.
    pub iterations: usize,
    /// What is lost, over what there was.
    pub reconstruction_error: f64,
    /// Numbers before over numbers after.
    pub compression_ratio: f64,
}

/// A tensor with three modes.
#[derive(Debug, Clone)]
struct Tensor {
    shape: [usize; 3],
    values: Vec<f64>,
}

impl Tensor {
    const fn at(&self, i: usize, j: usize, k: usize) -> usize {
        (i * self.shape[1] + j) * self.shape[2] + k
    }

    fn norm(&self) -> f64 {
        self.values.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Multiplies a mode by the transpose of a matrix given by its columns.
    fn times(&self, mode: usize, columns: &[Vec<f64>]) -> Self {
        let mut shape = self.shape;
        shape[mode] = columns.len();
        let mut out = Self { shape, values: vec![0.0; shape.iter().product()] };
        for i in 0..self.shape[0] {
            for j in 0..self.shape[1] {
                for k in 0..self.shape[2] {
                    let value = self.values[self.at(i, j, k)];
                    if value == 0.0 {
                        continue;
                    }
                    let index = [i, j, k];
                    for (r, column) in columns.iter().enumerate() {
                        let mut place = index;
                        place[mode] = r;
                        let at = out.at(place[0], place[1], place[2]);
                        out.values[at] += value * column[index[mode]];
                    }
                }
            }
        }
        out
    }

    /// The rows of the tensor unfolded along a mode.
    fn unfolded(&self, mode: usize) -> Vec<Vec<f64>> {
        let n = self.shape[mode];
        let mut rows = vec![Vec::with_capacity(self.values.len() / n.max(1)); n];
        for i in 0..self.shape[0] {
            for j in 0..self.shape[1] {
                for k in 0..self.shape[2] {
                    rows[[i, j, k][mode]].push(self.values[self.at(i, j, k)]);
                }
            }
        }
        rows
    }
}

/// The leading left singular vectors of rows.
fn leading(rows: &[Vec<f64>], rank: usize) -> Vec<Vec<f64>> {
    let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    if n <= m {
        let gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        return eigenvectors(gram).into_iter().take(rank).map(|pair| pair.1).collect();
    }
    // The long side: eigenvectors of the small product, carried over.
    let columns: Vec<Vec<f64>> = (0..m).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
    let gram: Vec<Vec<f64>> = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for (value, vector) in eigenvectors(gram).into_iter().take(rank) {
        if value <= 1e-18 {
            break;
        }
        let mut carried: Vec<f64> = (0..n).map(|row| dot(&rows[row], &vector)).collect();
        for other in &basis {
            let along = dot(&carried, other);
            carried.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let size = dot(&carried, &carried).sqrt();
        if size > 1e-12 {
            carried.iter_mut().for_each(|x| *x /= size);
            basis.push(carried);
        }
    }
    basis
}

/// Eigenvalues and eigenvectors of a symmetric matrix, the largest first (Jacobi).
fn eigenvectors(mut a: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off < 1e-22 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    row[p] = c * x - s * y;
                    row[q] = s * x + c * y;
                }
                let (low, high) = a.split_at_mut(q);
                for (x, y) in low[p].iter_mut().zip(high[0].iter_mut()) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
                for row in &mut v {
                    let (x, y) = (row[p], row[q]);
                    row[p] = c * x - s * y;
                    row[q] = s * x + c * y;
                }
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = (0..n).map(|at| (a[at][at], v.iter().map(|row| row[at]).collect())).collect();
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
    pairs
}

/// Takes the tensor of thirteen vectors apart. Each vector is folded to [`LENGTH`] numbers.
#[must_use]
pub fn decompose(vectors: &[Vec<f32>; COUNT], ranks: [usize; 3]) -> Tucker {
    let rows: Vec<Vec<f64>> = vectors
        .iter()
        .map(|vector| crate::embedders::folded(vector, LENGTH).into_iter().map(f64::from).collect())
        .collect();
    let shape = [COUNT, COUNT, LENGTH];
    let mut tensor = Tensor { shape, values: Vec::with_capacity(shape.iter().product()) };
    for a in &rows {
        for b in &rows {
            tensor.values.extend(a.iter().zip(b).map(|(x, y)| x * y));
        }
    }
    let ranks = [ranks[0].clamp(1, COUNT), ranks[1].clamp(1, COUNT), ranks[2].clamp(1, LENGTH)];
    let whole = tensor.norm();
    let mut bases: [Vec<Vec<f64>>; 3] = std::array::from_fn(|mode| leading(&tensor.unfolded(mode), ranks[mode]));
    let project = |bases: &[Vec<Vec<f64>>; 3]| tensor.times(0, &bases[0]).times(1, &bases[1]).times(2, &bases[2]);
    let error = |core: &Tensor| {
        if whole > 1e-12 { ((whole * whole - core.norm().powi(2)).max(0.0)).sqrt() / whole } else { 0.0 }
    };
    let mut core = project(&bases);
    let mut lost = error(&core);
    let mut iterations = 0;
    while iterations < ROUNDS && lost > TOLERANCE {
        iterations += 1;
        for mode in 0..3 {
            let mut others = tensor.clone();
            for other in (0..3).filter(|&other| other != mode) {
                others = others.times(other, &bases[other]);
            }
            bases[mode] = leading(&others.unfolded(mode), ranks[mode]);
        }
        core = project(&bases);
        let next = error(&core);
        let moved = (lost - next).abs();
        lost = next;
        if moved < TOLERANCE {
            break;
        }
    }
    let kept = core.values.len() + bases.iter().flatten().map(Vec::len).sum::<usize>();
    let compression_ratio = tensor.values.len() as f64 / kept.max(1) as f64;
    Tucker { ranks: core.shape, core: core.values, iterations, reconstruction_error: lost, compression_ratio }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn eigenvectors_of_a_known_matrix() {
        let pairs = eigenvectors(vec![vec![2.0, 1.0], vec![1.0, 2.0]]);
        assert!((pairs[0].0 - 3.0).abs() < 1e-9 && (pairs[1].0 - 1.0).abs() < 1e-9);
        assert!((pairs[0].1[0].abs() - 0.5f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn more_ranks_lose_less_and_all_lose_nothing() {
        let mut rng = Rng::new(6);
        let base: Vec<f32> = (0..LENGTH).map(|_| rng.normal() as f32).collect();
        let vectors: [Vec<f32>; COUNT] =
            std::array::from_fn(|_| base.iter().map(|x| x + 0.5 * rng.normal() as f32).collect());
        let small = decompose(&vectors, [2, 2, 8]);
        let larger = decompose(&vectors, [4, 4, 64]);
        let all = decompose(&vectors, [13, 13, 128]);
        assert!(small.reconstruction_error > larger.reconstruction_error);
        assert!(all.reconstruction_error < 1e-4, "{}", all.reconstruction_error);
        assert!(small.compression_ratio > larger.compression_ratio);
        assert!((0.0..=1.0).contains(&small.reconstruction_error));
        assert_eq!(small.core.len(), small.ranks.iter().product::<usize>());
        let equal: [Vec<f32>; COUNT] = std::array::from_fn(|_| base.clone());
        assert!(decompose(&equal, [1, 1, 1]).reconstruction_error < 1e-6, "one rank is enough for equal vectors");
        assert_eq!(decompose(&std::array::from_fn(|_| Vec::new()), [4, 4, 128]).reconstruction_error, 0.0);
    }
}
