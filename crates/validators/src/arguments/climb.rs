//! How far the relative paths of one call can lead up together, however a server joins them.
//!
//! `{"root": "a", "directory": "..", "name": "../x"}` is harmless part by part. Which parts a server puts together, and in which
//! order, nobody can know; but no order leads further up than this says.

/// The steps up of some relative paths together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Climb {
    /// Steps that each path leaves behind for the next one.
    left: usize,
    /// Steps up that one path takes and walks down again: of these only the last path's count.
    once: usize,
    /// The most steps up of one path alone.
    pub(super) most: usize,
}

impl Climb {
    /// Takes one more path into account.
    pub(super) fn add(&mut self, path: &str) {
        let (mut up, mut down) = (0_usize, 0_usize);
        for step in path.trim().split(['/', '\\']) {
            match step.trim() {
                "" | "." => {}
                ".." if down == 0 => up += 1,
                ".." => down -= 1,
                _ => down += 1,
            }
        }
        self.left += up.saturating_sub(down);
        self.once = self.once.max(up.min(down));
        self.most = self.most.max(up);
    }

    /// The steps up of the worst order.
    pub(super) const fn worst(self) -> usize {
        self.left + self.once
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up_only_where_nothing_is_walked_down_again() {
        for (paths, worst, most) in [
            (&["a/b", "c"][..], 0, 0),
            (&["../a"], 1, 1),
            (&["../a", "../b", "../c"], 1, 1),
            (&["..", "..", "x"], 2, 1),
            (&["..", "../x"], 2, 1),
            (&["a b/../../..", "../x"], 3, 2),
            (&["a/../b"], 0, 0),
            (&["..\\..\\x"], 2, 2),
            (&["../../a", "../../a"], 3, 2),
        ] {
            let mut climb = Climb::default();
            paths.iter().for_each(|path| climb.add(path));
            assert_eq!((climb.worst(), climb.most), (worst, most), "{paths:?}");
        }
    }

    /// Whatever parts are joined in whatever order: no prefix of the result lies higher.
    #[test]
    fn no_order_leads_higher() {
        let parts = ["..", "../a", "../../b", "c", "a/../.."];
        let mut climb = Climb::default();
        parts.iter().for_each(|part| climb.add(part));
        let mut orders = vec![Vec::new()];
        for _ in 0..parts.len() {
            let longer: Vec<Vec<usize>> = orders
                .iter()
                .flat_map(|order: &Vec<usize>| {
                    let rest = (0..parts.len()).filter(|next| !order.contains(next));
                    rest.map(|next| order.iter().copied().chain([next]).collect()).collect::<Vec<_>>()
                })
                .collect();
            orders.extend(longer);
            orders.sort();
            orders.dedup();
        }
        for order in orders {
            let (mut depth, mut lowest) = (0_i64, 0_i64);
            for step in order.iter().flat_map(|at| parts[*at].split('/')) {
                depth += if step == ".." { -1 } else { 1 };
                lowest = lowest.min(depth);
            }
            assert!(-lowest <= i64::try_from(climb.worst()).unwrap(), "{order:?}");
        }
    }
}
