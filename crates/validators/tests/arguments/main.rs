//! What stands in the arguments of calls: which may pass, by validators and by the limits of grants.

mod around;
mod bodies;
mod common;
mod computed;
mod daily;
mod denied;
mod documents;
mod elsewhere;
mod glued;
mod hosts;
mod limits;
mod links;
mod machines;
mod marks;
mod patches;
mod patterns;
mod places;
mod programs;
mod queries;
mod shapes;
mod spellings;
mod typed;
mod validators;
mod words;
