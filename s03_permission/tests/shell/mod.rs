//! The judgement of shell commands and the user's rules, through their public functions.
//!
//! A table says what every kind of line gets; real bash says whether the table's author was right.
//! Invariant: no line here runs a program of the machine other than bash; the rest are stand-ins.

mod judgement;
mod policy;
mod real_bash;
mod rules;
mod text;
