//! The screen of a terminal that an emulator plays.
//!
//! Invariant: what is compared is what a user would see, at a time that is set by hand.

use std::sync::Arc;

use tokio::time::advance;

use super::*;

/// A terminal of 20 columns.
#[derive(Clone)]
struct Emulator(Arc<Mutex<vt100::Parser>>);

impl Write for Emulator {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
        self.0.lock().unwrap().process(text.as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Emulator {
    fn shows(&self) -> String {
        let screen = self.0.lock().unwrap();
        let rows: Vec<String> = screen.screen().rows(0, 20).collect();
        rows.join("\n").trim_end().to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn silence_shows_a_sign_of_life_and_what_comes_next_takes_it_away() {
    let (rows, columns) = (10.try_into().unwrap(), 20.try_into().unwrap());
    let terminal = Emulator(Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0))));
    let style = Style {
        width: Some(20),
        colours: false,
        can_move: true,
    };
    let screen = Screen::new(style, terminal.clone());
    screen.wait_for_model();
    for (millis, shown) in [(400, ""), (100, "⠴ waiting for t… 0s"), (1_600, "⠙ waiting for t… 2s")]
    {
        advance(Duration::from_millis(millis)).await;
        screen.tick();
        assert_eq!(terminal.shows(), shown);
    }
    // Half a line, a line that is full, and one that the terminal wraps.
    for said in ["I will", " write the file", "s, all of them at once. ", "世界"] {
        screen.text(said);
        let before = terminal.shows();
        assert!(!before.contains("waiting"), "{before}");
        advance(Duration::from_millis(500)).await;
        screen.tick();
        let silent = terminal.shows();
        let below = silent.strip_prefix(&before).expect("the text stands");
        assert!(below.trim_start().contains(" waiting "), "{silent}");
    }
    screen.text("!\n");
    screen.call("1", "> make", Some("make"));
    screen.wait_for_tool();
    advance(Duration::from_millis(500)).await;
    screen.progress("1", "3 of 4");
    screen.tick();
    let text = "I will write the fil\nes, all of them at o\nnce. 世界!\n> make";
    assert_eq!(terminal.shows(), format!("{text}\n⠴ running make:… 0s"));
    screen.opened(true);
    screen.tick();
    assert_eq!(terminal.shows(), text, "the user is waited for");
    screen.opened(false);
    screen.result("1", "< make", "  done");
    screen.idle();
    assert_eq!(terminal.shows(), format!("{text}\n  done"));
}
