//! Clusters: k-means over likenesses. `k = max(2, ceil(sqrt(n / 2)))`, at most `n` over the least size of a cluster. The first centre is
//! the first item, each further one the item least like all centres so far. Items move to the centre they are most like, centres
//! are made anew, at most a hundred times or until nothing moves.

/// A cluster of items, by their index.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster<C> {
    /// Its centre.
    pub centre: C,
    /// Its items.
    pub members: Vec<usize>,
    /// The mean likeness of its items to the centre.
    pub coherence: f64,
}

/// How many clusters to look for.
#[must_use]
pub fn count(items: usize, least: usize) -> usize {
    let wanted = ((items as f64 / 2.0).sqrt().ceil() as usize).max(2);
    wanted.min(items / least.max(1)).max(1)
}

const ROUNDS: usize = 100;

/// Clusters items. `like` compares an item with a centre, `centre` makes one of items; `stop` is asked in each round.
pub fn cluster<T, C>(
    items: &[T],
    k: usize,
    like: impl Fn(&T, &C) -> f64,
    centre: impl Fn(&[&T]) -> Option<C>,
    stop: &dyn Fn() -> bool,
) -> Vec<Cluster<C>> {
    let Some(first) = items.first().and_then(|item| centre(&[item])) else { return Vec::new() };
    let mut centres = vec![first];
    // The likeness of each item to the centre it is most like so far.
    let mut best: Vec<f64> = items.iter().map(|item| like(item, &centres[0])).collect();
    while centres.len() < k {
        let farthest = (0..items.len()).fold(0, |far, at| if best[at] < best[far] { at } else { far });
        let Some(next) = centre(&[&items[farthest]]) else { break };
        for (place, item) in best.iter_mut().zip(items) {
            *place = place.max(like(item, &next));
        }
        centres.push(next);
    }
    let assign = |centres: &[C]| -> Vec<usize> {
        items
            .iter()
            .map(|item| {
                let scores: Vec<f64> = centres.iter().map(|centre| like(item, centre)).collect();
                (0..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best })
            })
            .collect()
    };
    let mut owners = assign(&centres);
    for _ in 0..ROUNDS {
        if stop() {
            break;
        }
        for (at, place) in centres.iter_mut().enumerate() {
            let members: Vec<&T> =
                items.iter().zip(&owners).filter(|(_, owner)| **owner == at).map(|(item, _)| item).collect();
            if let Some(next) = centre(&members) {
                *place = next;
            }
        }
        let next = assign(&centres);
        if next == owners {
            break;
        }
        owners = next;
    }
    centres
        .into_iter()
        .enumerate()
        .map(|(at, centre)| {
            let members: Vec<usize> = (0..items.len()).filter(|&item| owners[item] == at).collect();
            let all: Vec<f64> = members.iter().map(|&item| like(&items[item], &centre)).collect();
            Cluster { centre, members, coherence: crate::vector::mean(&all) }
        })
        .filter(|cluster| !cluster.members.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_together_is_found_together() {
        let items = [0.0f64, 0.1, 0.2, 5.0, 5.1, 9.9, 10.0];
        let found = cluster(
            &items,
            3,
            |item, centre: &f64| 1.0 / (1.0 + (item - centre).abs()),
            |members| (!members.is_empty()).then(|| members.iter().copied().sum::<f64>() / members.len() as f64),
            &|| false,
        );
        let mut groups: Vec<Vec<usize>> = found.iter().map(|cluster| cluster.members.clone()).collect();
        groups.sort();
        assert_eq!(groups, [vec![0, 1, 2], vec![3, 4], vec![5, 6]]);
        assert!(found.iter().all(|cluster| cluster.coherence > 0.9));
        let none: [f64; 0] = [];
        assert!(cluster(&none, 2, |_, _: &f64| 0.0, |_| None, &|| false).is_empty());
        assert_eq!((count(3, 1), count(200, 5), count(8, 5), count(2, 5)), (2, 10, 1, 1));
    }
}
