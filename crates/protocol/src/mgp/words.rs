//! The closed lists of words that MGP uses.

use std::fmt;

/// Declares an enum with the words that stand for its values; later ones compare greater.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident = $text:literal $(| $alias:literal)*),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$word_doc])* $word),+ }

        impl $name {
            /// All words that are written.
            pub const WORDS: &'static [&'static str] = &[$($text),+];

            /// The word on the wire and in files.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text),+ }
            }

            /// The value of a word, also of one that only other versions use.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($text $(| $alias)* => Some(Self::$word),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How much harm a tool can do (MGP 4.4).
    Risk {
        /// It only reads.
        Safe = "safe",
        /// Limited effects, mostly writes of data.
        Moderate = "moderate",
        /// Effects on the system, or ones that cannot be undone.
        Dangerous = "dangerous",
    }
}

words! {
    /// How far a server is trusted (MGP 2.3), in the finer steps of later versions. Least first.
    TrustLevel {
        /// Not at all: all checks, and isolation without anything.
        Untrusted = "sandboxed" | "untrusted",
        /// Barely: something new or generated.
        Experimental = "experimental",
        /// The usual checks.
        Standard = "standard",
        /// As the kernel itself.
        Core = "trusted" | "core",
    }
}

impl TrustLevel {
    /// What a server's own claim means: a word that nobody knows claims nothing.
    #[must_use]
    pub fn claimed(word: &str) -> Self {
        Self::from_word(word).unwrap_or(Self::Untrusted)
    }
}

words! {
    /// When a server that ended is started again (MGP 11.5).
    RestartMode {
        /// Not by itself.
        Never = "never",
        /// After an error. One that ends in good order is started at the next call.
        OnFailure = "on_failure" | "on-failure",
        /// After any end, also one that was asked for, unless the operator asked for it.
        Always = "always",
    }
}

words! {
    /// A check that the kernel makes of arguments before a call (MGP 4.5).
    ValidatorName {
        /// Nothing is checked: only where the operator says so.
        None = "none",
        /// Nothing that writes passes.
        Readonly = "readonly",
        /// Nothing that reaches into private networks passes.
        NetworkRestricted = "network_restricted",
        /// Code is read and judged (MGP 7).
        CodeSafety = "code_safety",
        /// Shell commands are parsed and judged.
        Sandbox = "sandbox",
    }
}

words! {
    /// What happens to the permissions that a server asks for (MGP 3.3).
    ApprovalPolicy {
        /// A person is asked.
        Interactive = "interactive",
        /// Everything is approved but a short list of exceptions.
        AutoApprove = "auto_approve" | "auto-approve",
        /// Everything that is not configured is denied.
        DenyAll = "deny_all" | "deny-all",
        /// Only what is configured is approved.
        ConfigOnly = "config_only" | "config-only",
    }
}

words! {
    /// What a principal without a grant may do (MGP 5.5).
    DefaultPolicy {
        /// Nothing until granted.
        OptIn = "opt-in",
        /// Everything until denied.
        OptOut = "opt-out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_vocabularies_of_trust_are_read() {
        for (word, trust) in [
            ("trusted", TrustLevel::Core),
            ("core", TrustLevel::Core),
            ("standard", TrustLevel::Standard),
            ("experimental", TrustLevel::Experimental),
            ("sandboxed", TrustLevel::Untrusted),
            ("untrusted", TrustLevel::Untrusted),
            ("root", TrustLevel::Untrusted),
        ] {
            assert_eq!(TrustLevel::claimed(word), trust, "{word}");
        }
        assert!(TrustLevel::Core > TrustLevel::Standard && TrustLevel::Standard > TrustLevel::Untrusted);
    }
}
