//! REM: exploring. Memories are points of the Poincaré ball (64 dimensions, curvature -1); a walk from one of them looks for
//! places that are far from all.
//!
//! `p + v = ((1 + 2 p.v + |v|^2) p + (1 - |p|^2) v) / (1 + 2 p.v + |p|^2 |v|^2)` (Möbius), and the distance is
//! `arcosh(1 + 2 |p - q|^2 / ((1 - |p|^2)(1 - |q|^2)))`. A walk takes 50 steps of 0.1, each drawn from eight directions by how
//! far they lead from what is known, at temperature 2. A place at least 0.7 from all is a blind spot, with confidence
//! `min(d / 1.4, 1)`, and 0.2 more near the middle.

use crate::Rng;
use crate::error::{Code, Outcome, Problem};

/// Dimensions of the ball.
pub const DIMENSIONS: usize = 64;
/// Walks of one dream.
pub const QUERIES: usize = 100;
const STEPS: usize = 50;
const STEP: f64 = 0.1;
const DIRECTIONS: usize = 8;
const TEMPERATURE: f64 = 2.0;
const MAX_PHASE: f64 = 0.99999;
/// How far from all a blind spot is.
pub const BLIND: f64 = 0.7;
/// The weight and confidence of an edge that a walk finds.
pub const DISCOVERED: (f32, f32) = (0.3, 0.5);

/// A point of the ball.
pub type Point = [f64; DIMENSIONS];

fn dot(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Puts a point back into the ball.
///
/// # Errors
/// It is no point at all.
pub fn held(mut p: Point) -> Outcome<Point> {
    let norm = dot(&p, &p).sqrt();
    if !norm.is_finite() {
        return Err(Problem::new(Code::Dream, "NOT_FINITE", "a walk left the space of numbers"));
    }
    if norm >= MAX_PHASE {
        p.iter_mut().for_each(|x| *x *= MAX_PHASE * 0.999_999 / norm);
    }
    if dot(&p, &p) >= 1.0 {
        return Err(Problem::new(Code::Dream, "OUTSIDE_BALL", "a point could not be put back into the ball"));
    }
    Ok(p)
}

/// Möbius addition.
///
/// # Errors
/// The sum is no point of the ball.
pub fn add(p: &Point, v: &Point) -> Outcome<Point> {
    let (pv, pp, vv) = (dot(p, v), dot(p, p), dot(v, v));
    let below = 1.0 + 2.0 * pv + pp * vv;
    held(std::array::from_fn(|at| ((1.0 + 2.0 * pv + vv) * p[at] + (1.0 - pp) * v[at]) / below))
}

/// The distance of two points.
#[must_use]
pub fn distance(p: &Point, q: &Point) -> f64 {
    let apart: f64 = p.iter().zip(q).map(|(x, y)| (x - y).powi(2)).sum();
    let below = ((1.0 - dot(p, p)) * (1.0 - dot(q, q))).max(1e-12);
    (1.0 + 2.0 * apart / below).max(1.0).acosh()
}

/// The point of a memory: its meaning as direction; what stands at the edge of the graph is farther out.
#[must_use]
pub fn point(meaning: &[i8], degree: usize) -> Point {
    let values: Vec<f32> = meaning.iter().map(|&step| f32::from(step)).collect();
    let folded = crate::embedders::folded(&values, DIMENSIONS);
    let radius = 0.3 + 0.6 / (1.0 + degree as f64 / 4.0);
    std::array::from_fn(|at| f64::from(folded.get(at).copied().unwrap_or_default()) * radius)
}

/// How far a point usually is from the nearest other: the middle of all.
#[must_use]
pub fn usual_distance(points: &[Point]) -> f64 {
    let mut nearest: Vec<f64> = points
        .iter()
        .enumerate()
        .map(|(at, point)| {
            let others = points.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, other)| distance(point, other)).fold(f64::INFINITY, f64::min)
        })
        .filter(|far| far.is_finite())
        .collect();
    nearest.sort_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).copied().unwrap_or(0.0)
}

/// What a walk found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where it ended.
    pub place: Point,
    /// The distance to what is nearest.
    pub distance: f64,
    /// Whether it is a blind spot.
    pub blind: bool,
    /// How sure.
    pub confidence: f64,
    /// The known points by distance from where it ended, nearest first.
    pub nearest: Vec<usize>,
}

/// Walks from a point among known ones. `stop` is asked at each step.
///
/// # Errors
/// The walk left the ball.
pub fn walk(start: &Point, known: &[Point], rng: &mut Rng, stop: &dyn Fn() -> bool) -> Outcome<Option<Found>> {
    let mut place = *start;
    let least = |p: &Point| known.iter().map(|other| distance(p, other)).fold(f64::INFINITY, f64::min);
    for _ in 0..STEPS {
        if stop() {
            return Ok(None);
        }
        let mut options = Vec::with_capacity(DIRECTIONS);
        for _ in 0..DIRECTIONS {
            let mut direction: Point = std::array::from_fn(|_| rng.normal());
            let length = dot(&direction, &direction).sqrt().max(1e-12);
            direction.iter_mut().for_each(|x| *x *= STEP / length);
            let next = add(&place, &direction)?;
            options.push((next, least(&next)));
        }
        let best = options.iter().map(|(_, far)| *far).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = options
            .iter()
            .map(|(_, far)| if best.is_finite() { ((far - best) / TEMPERATURE).exp() } else { 1.0 })
            .collect();
        let mut draw = rng.unit() * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            draw -= weight;
            draw <= 0.0
        });
        place = options[chosen.unwrap_or(0)].0;
    }
    let mut nearest: Vec<(f64, usize)> =
        known.iter().enumerate().map(|(at, other)| (distance(&place, other), at)).collect();
    nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
    let far = nearest.first().map_or(f64::INFINITY, |near| near.0);
    let middle = if dot(&place, &place).sqrt() < 0.5 { 0.2 } else { 0.0 };
    let confidence = ((far / 1.4).min(1.0) + middle).min(1.0);
    let nearest = nearest.into_iter().map(|(_, at)| at).collect();
    Ok(Some(Found { place, distance: far, blind: far >= BLIND, confidence, nearest }))
}

#[cfg(test)]
mod tests {
    use super::{BLIND, DIMENSIONS, Point, Rng, add, distance, dot, held, walk};
    use crate::Code;
    use proptest::prelude::{prop_assert, proptest};

    fn random(rng: &mut Rng, radius: f64) -> Point {
        let mut p: Point = std::array::from_fn(|_| rng.normal());
        let length = dot(&p, &p).sqrt();
        p.iter_mut().for_each(|x| *x *= radius / length);
        p
    }

    proptest! {
        #[test]
        fn the_ball_is_never_left(seed in 0..500u64, r in 0.0..0.999f64, s in 0.0..0.999f64) {
            let mut rng = Rng::new(seed);
            let (p, v) = (random(&mut rng, r), random(&mut rng, s));
            let sum = add(&p, &v).unwrap();
            prop_assert!(dot(&sum, &sum) < 1.0);
            prop_assert!((distance(&p, &v) - distance(&v, &p)).abs() < 1e-6);
            prop_assert!(distance(&p, &p) < 1e-6);
            // Adding zero changes nothing, and moving both by the same keeps their distance.
            prop_assert!(distance(&add(&p, &[0.0; DIMENSIONS]).unwrap(), &p) < 1e-5);
        }
    }

    #[test]
    fn walks_find_places_that_are_far_and_can_be_stopped() {
        let mut rng = Rng::new(9);
        let known: Vec<Point> = (0..20).map(|_| random(&mut rng, 0.4)).collect();
        let found = walk(&known[0], &known, &mut rng, &|| false).unwrap().unwrap();
        assert!(found.blind == (found.distance >= BLIND) && (0.0..=1.0).contains(&found.confidence));
        assert_eq!(found.nearest.len(), 20);
        assert_eq!(walk(&known[0], &known, &mut rng, &|| true).unwrap(), None);
        let again = walk(&known[0], &known, &mut Rng::new(1), &|| false).unwrap();
        assert_eq!(again, walk(&known[0], &known, &mut Rng::new(1), &|| false).unwrap(), "one seed, one walk");
        assert_eq!(held([f64::NAN; DIMENSIONS]).unwrap_err().code, Code::Dream);
    }
}
