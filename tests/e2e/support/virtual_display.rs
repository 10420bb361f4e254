//! A virtual X display, for browsers with a window.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running Xvfb; drop ends it.
pub(crate) struct VirtualDisplay {
    child: Child,
    /// The value of `DISPLAY`.
    pub(crate) name: String,
}

impl VirtualDisplay {
    pub(crate) fn start() -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("Xvfb: {error}; run `cargo xtask setup`"));
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let number = lines.next().expect("Xvfb prints its number").expect("text");
        // Reads the rest of the output, so that Xvfb never blocks on a full pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { child, name: format!(":{}", number.trim()) }
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
