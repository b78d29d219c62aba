//! Which tools a chapter's agents are offered, as its `tests/pool.txt` says.
//!
//! One list serves the class test, which holds it against what the model was sent, and whoever prints a chapter's tools.
//! Invariant: an agent that the file does not name has no tools in it.

/// The tools that the text of a `pool.txt` names for this agent, from its line `lead: bash, read_file`.
///
/// # Panics
/// When it has no line for this agent.
#[track_caller]
pub fn pool(agent: &str, text: &str) -> Vec<String> {
    let tools = text
        .lines()
        .find_map(|line| line.strip_prefix(agent)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("pool.txt has no line for {agent}\n{text}"));
    tools.split(", ").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: &str = "lead: bash, glob\nteammate: bash\n";

    #[test]
    fn an_agent_has_the_tools_of_its_line() {
        assert_eq!(pool("lead", POOL), ["bash", "glob"]);
        assert_eq!(pool("teammate", POOL), ["bash"]);
    }

    #[test]
    #[should_panic(expected = "no line for mate")]
    fn an_agent_without_a_line_is_a_mistake_of_the_test() {
        pool("mate", POOL);
    }
}
