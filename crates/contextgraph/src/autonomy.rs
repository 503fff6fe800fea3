//! What the memory does about itself: finds [goals] in its [clusters], sees its [drift] and corrects it, finds what can be
//! [pruned](pruning) and what can be [merged](consolidation).
//!
//! These are the rules alone; who holds the graph applies them.

pub mod clusters;
pub mod consolidation;
pub mod drift;
pub mod goals;
pub mod pruning;
