//! Ends the processes of a test that fails or is killed. Does nothing for a test that passes.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, then kills every process with the home in its environment and removes the
/// home.
///
/// The home comes by stdin: on the command line it would match the watchdog itself.
const SCRIPT: &str = r#"
read home
read end
for file in $(grep -ls "TABWIRE_HOME=$home" /proc/[0-9]*/environ); do
    process=${file#/proc/}
    kill -9 "${process%/environ}"
done
rm -rf "$home" || { sleep 1; rm -rf "$home"; }
"#;

/// A process that outlives the test briefly.
pub(crate) struct Watchdog(Child);

impl Watchdog {
    pub(crate) fn over(home: &Path) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT])
            .env_remove("TABWIRE_HOME")
            // Its own process group, so that killing the test's group does not kill it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let stdin = child.stdin.as_mut().expect("piped");
        writeln!(stdin, "{}", home.display()).expect("it reads");
        Self(child)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
