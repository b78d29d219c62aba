//! What requests do, on a stage in memory.

mod stage;

use stage::Stage;

/// For looking: `REQUESTS=file cargo test -p rehearsal --test requests look -- --nocapture`.
#[test]
fn look() {
    let Ok(path) = std::env::var("REQUESTS") else { return };
    for line in std::fs::read_to_string(path).unwrap().lines().filter(|line| !line.is_empty()) {
        let mut stage = Stage::new();
        let mut told = String::new();
        for part in line.split(" // ") {
            told = stage.asks(part);
        }
        println!("== {line}");
        for (name, input) in &stage.calls {
            println!("   {name} {input}");
        }
        println!("   → {}", told.replace('\n', "\n     "));
    }
}
