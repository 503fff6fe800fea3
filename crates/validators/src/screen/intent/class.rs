//! The classes of words that a sentence is read for, and sets of them.

/// Declares the classes with the names under which the lexicon and the weights know them.
macro_rules! classes {
    ($($class:ident $name:literal,)*) => {
        /// What a word does in a sentence.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Class { $($class,)* }

        impl Class {
            pub(super) const ALL: &[Self] = &[$(Self::$class,)*];

            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$class => $name,)* }
            }
        }
    };
}

classes! {
    // Who and what is spoken of.
    User "user", Model "model", You "you", Own "self", Us "us", AnyTool "anytool", KindTool "kindtool",
    Secret "secret", SecretFile "secretfile", Context "context", Personal "personal", UserData "userdata",
    Rules "rules", Permission "perm", Log "log", Persist "persist", AgentFile "agentfile", Machine "machine",
    Money "money", Code "code", Command "cmd", Destination "dest", Slot "slot", Answer "answer", Link "link",
    Source "source",
    // What is done.
    Tell "tell", Show "show", Know "know", Hide "hide", Pretend "pretend", Silent "silent", Read "read", Put "put",
    Send "send", Copy "copy", Encode "encode", Run "run", Drop "drop", Outrank "outrank", Call "call", Obey "obey",
    Trust "trust", Ask "ask", Approve "approve", Skip "skip", Remove "remove", Change "change",
    Recommend "recommend", Remember "remember", Decode "decode",
    // How it is said.
    Negation "neg", Must "must", First "first", Every "every", All "all", When "when", Also "also", Urgent "urgent",
    Regardless "regardless", Mode "mode", Authority "authority", Role "role", Tag "tag", Threat "threat",
    Unless "unless", Benign "benign", Detect "detect",
    // Acts under a negation, and a negation that protects ("never .. without approval").
    NotTell "ntell", NotShow "nshow", NotKnow "nknow", NotAsk "nask", NotCall "ncall", NotPut "nput",
    NotPermission "nperm", Guard "guard", Refrain "refrain",
    // The user is asked or told, and the tool says what it does not do: both are signs of care.
    Consults "consults", Disclaims "disclaims",
    // Names: a property of this tool, one that it does not have, something that looks like another tool.
    Quoted "quoted", Foreign "foreign", Named "named",
    // The form of the sentence and where it stands.
    Describes "describes", Imperative "imperative", Opening "opening", Parameter "parameter", Elsewhere "elsewhere",
    // Whether the topics of the sentence are those of the tool.
    Domain "domain", Astray "astray",
}

/// How many classes there are.
pub(super) const COUNT: usize = Class::ALL.len();

/// A set of classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::screen) struct Classes(u128);

impl Classes {
    pub(super) const fn one(class: Class) -> Self {
        Self(1 << class as u8)
    }

    pub(super) const fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << class as u8)
    }

    pub(super) const fn without(self, class: Class) -> Self {
        Self(self.0 & !(1 << class as u8))
    }

    pub(super) const fn has(self, class: Class) -> bool {
        self.0 >> class as u8 & 1 == 1
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The classes in it, by number.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let next = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (next < u128::BITS).then_some(next as usize)
        })
    }
}

/// The set of these classes.
pub(super) const fn set(classes: &[Class]) -> Classes {
    let mut set = Classes(0);
    let mut at = 0;
    while at < classes.len() {
        set = set.with(classes[at]);
        at += 1;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        const { assert!(COUNT <= 128) };
        let set = Classes::one(Class::User).with(Class::Elsewhere);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Class::User as usize, Class::Elsewhere as usize]);
        assert!(set.has(Class::User) && !set.without(Class::User).has(Class::User));
        assert!(Classes::default().is_empty());
    }
}
