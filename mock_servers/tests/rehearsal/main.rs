//! scratch
mod stage;
use stage::*;
#[test]
fn explore() {
    let prompts = std::fs::read_to_string(std::env::var("PROMPTS").unwrap()).unwrap();
    for tools in [BASH, FILES] {
        println!("=================== {tools:?}");
        for prompt in prompts.lines().filter(|l| !l.is_empty()) {
            let mut stage = Stage::new(tools).with_git();
            println!("\n>> {prompt}");
            for p in prompt.split(" >> ") {
            let play = stage.ask(p);
            for (round, name, input) in &play.calls { println!("   {round} {name} {input}"); }
            println!("   = {}", play.answer.replace('\n', "\n     "));
            }
        }
    }
}
