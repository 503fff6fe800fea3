//! What stands in the arguments of calls: which may pass, by validators and by the limits of grants.

mod around;
mod bodies;
mod cells;
mod common;
mod computed;
mod denied;
mod documents;
mod elsewhere;
mod fetched;
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
mod reaching;
mod shapes;
mod spellings;
mod typed;
mod validators;
mod words;
