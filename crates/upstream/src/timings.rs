//! How long the tools of one server take: counters for those that were called, kept over changes of the lists.
//!
//! Counts only. A tool that nobody called costs nothing, and so does a call of one that is known already.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_flow::latency::Durations;
use switchboard_protocol::proposals::manifest::LatencyClass;

/// Tools of one server that are counted.
const MAX_TOOLS: usize = 10_000;

/// The counters of one server's tools, by the server's own names.
#[derive(Debug, Default)]
pub struct Timings(Mutex<HashMap<String, Arc<Durations>>>);

impl Timings {
    /// The counter of a tool, made at first use. Beyond the bound it is one that nobody else sees.
    pub fn of(&self, tool: &str) -> Arc<Durations> {
        let mut tools = self.0.lock();
        if let Some(known) = tools.get(tool) {
            return known.clone();
        }
        let fresh = Arc::<Durations>::default();
        if tools.len() < MAX_TOOLS {
            tools.insert(tool.to_owned(), fresh.clone());
        }
        fresh
    }

    /// The counter of a tool that was called.
    pub fn known(&self, tool: &str) -> Option<Arc<Durations>> {
        self.0.lock().get(tool).cloned()
    }

    /// The classes that were measured, by the names of the tools.
    pub fn classes(&self) -> Vec<(String, LatencyClass)> {
        let tools = self.0.lock();
        let class = |(name, durations): (&String, &Arc<Durations>)| Some((name.clone(), durations.class(None)?.class));
        let mut classes: Vec<_> = tools.iter().filter_map(class).collect();
        classes.sort_unstable();
        classes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn counters_stay_with_their_tools_and_are_bounded() {
        let timings = Timings::default();
        (0..5).for_each(|_| timings.of("slow").note(Duration::from_secs(2)));
        assert_eq!(timings.classes(), [("slow".to_owned(), LatencyClass::Seconds)]);
        assert!(timings.known("other").is_none());
        (0..MAX_TOOLS + 5).for_each(|number| drop(timings.of(&number.to_string())));
        assert_eq!(timings.0.lock().len(), MAX_TOOLS);
    }
}
