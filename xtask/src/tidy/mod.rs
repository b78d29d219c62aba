//! tidy
use crate::workspace::Workspace;
pub fn findings(_ws: &Workspace) -> Vec<String> {
    vec![]
}
