//! Names of people, as they are given to teammates.
//!
//! `start the server` starts a program and `start carol` a teammate; only the name tells them apart.
//! Invariant: none of the names is a word of a request.

/// Names by which a teammate is known without the word `teammate`.
pub const PEOPLE: &[&str] = &[
    "alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "alex",
    "anna", "ben", "carla", "carlos", "charlie", "dan", "david", "emma", "eva", "eve", "felix",
    "hans", "jane", "john", "julia", "kate", "leo", "lisa", "lucy", "maria", "max", "mia", "nina",
    "noah", "olga", "oscar", "paul", "peggy", "peter", "sam", "sara", "sarah", "tim", "tom",
    "trent", "victor", "wendy", "zoe",
];
