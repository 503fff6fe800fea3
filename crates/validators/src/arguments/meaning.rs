//! What a key means for one tool: what its definition says of it, else what the key says itself.

use switchboard_policy::risk::{Carried, Carries};

use super::Checks;
use super::role::{self, Role};

impl Checks {
    /// The same with the arguments that carry commands, code or statements, whatever they are called.
    #[must_use]
    pub fn with_carried(mut self, carried: &[Carried]) -> Self {
        self.carried = carried.iter().map(|one| (one.key.clone(), role_of(one))).collect();
        let typed = carried.iter().filter(|one| one.what == Carries::Input);
        self.typed = typed.map(|one| one.key.clone()).collect();
        self
    }

    /// Whether the definition says of a key that what stands under it runs, or is code.
    #[must_use]
    pub fn carries(&self, key: &str) -> bool {
        self.carried.iter().any(|(carried, _)| **carried == *key)
    }

    /// Whether what stands under a key is typed into something that runs, as the definition says.
    pub(super) fn is_typed(&self, key: &str) -> bool {
        self.typed.iter().any(|typed| **typed == *key)
    }

    /// What a string under this key is.
    pub(super) fn role(&self, around: Role, key: &str) -> Role {
        match self.carried.iter().find(|(carried, _)| **carried == *key) {
            Some((_, role)) => *role,
            None => role::within(around, key),
        }
    }
}

fn role_of(carried: &Carried) -> Role {
    match (carried.what, role::of(&carried.key)) {
        (Carries::Command, known @ (Role::Command | Role::Commands | Role::CommandWords | Role::Script)) => known,
        (Carries::Command, _) => Role::Command,
        (Carries::Code, known @ (Role::Code | Role::Script)) => known,
        (Carries::Code, _) => Role::Code,
        (Carries::Statement, _) => Role::Sql,
        (Carries::Query, _) => Role::Query,
        // What is typed may be in any language. As text of no known kind it is searched for commands that do harm, also
        // where its key is called `text`.
        (Carries::Input, known @ (Role::Command | Role::Commands)) => known,
        (Carries::Input, _) => Role::Other,
    }
}
