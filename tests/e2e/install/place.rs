//! Who installs and where: the user of the tests, or a normal user on a machine that reaches no other host.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::pack::packages;
use crate::mcp::client::McpClient;
use crate::support::wait::eventually;
use crate::support::world::{Outcome, World, wait};

/// Directories of programs, without those of Rust.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The user and group of a normal user.
const NORMAL: u32 = 1000;

/// Hides the browsers of this machine from a command, which gets a view of the file system of its own.
const WITHOUT_BROWSERS: &str = "for browser in /usr/bin/*chrom* /usr/bin/*brave* /usr/bin/*edge* \
                                  /usr/bin/*firefox*; do [ ! -x \"$browser\" ] || mount --bind /dev/null \"$browser\"; done; exec \"$@\"";

/// A world whose commands find no Rust and no package registry.
pub(super) struct Place {
    // Before the world: it ends first.
    network: Option<Child>,
    pub(super) world: World,
}

impl Place {
    /// Commands of the user of the tests.
    pub(super) fn new() -> Place {
        let world = World::new()
            .with("PATH", SEARCH_PATH)
            .with("npm_config_offline", "true")
            .with("npm_config_update_notifier", "false")
            .with("PIP_NO_INDEX", "1");
        Place { network: None, world }
    }

    /// Commands of a normal user in a network that has a loopback device alone. Only root can make it.
    pub(super) fn of_normal_user() -> Place {
        let mut place = Place::new();
        let script = "ip link set lo up && exec cat";
        let mut command = place.world.command("unshare", &["--net", "sh", "-c", script]);
        // `cat` ends when the test closes its input.
        place.network = Some(command.stdin(Stdio::piped()).spawn().expect("`unshare` starts"));
        place.give_to(NORMAL);
        eventually("the network has its device", 20, || {
            place.run("ip", &["-brief", "address"]).stdout.contains("127.0.0.1")
        });
        place
    }

    pub(super) fn home(&self) -> &Path {
        self.world.home()
    }

    /// A directory with packages of the given kinds, which the user of this place can read.
    pub(super) fn packages(&self, kinds: &str) -> PathBuf {
        let made = packages(self.home(), kinds);
        if self.network.is_none() {
            return made;
        }
        let own = self.home().join("downloads");
        let copied = Command::new("cp").arg("-r").arg(made).arg(&own).status();
        assert!(copied.expect("`cp` starts").success());
        self.give_to(NORMAL);
        own
    }

    pub(super) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        self.command_behind(&[], program, arguments)
    }

    /// A command of this place's user, started by the words of `before` as the user of the tests.
    fn command_behind(&self, before: &[&str], program: &str, arguments: &[&str]) -> Command {
        let Some(network) = &self.network else { return self.world.command(program, arguments) };
        let (net, user) = (format!("--net=/proc/{}/ns/net", network.id()), NORMAL.to_string());
        let change = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", program];
        self.world.command("nsenter", &[&[net.as_str()], before, &change, arguments].concat())
    }

    /// A Python interpreter that the user of this place can run. The one of the tests need not be on the search path.
    pub(super) fn python(&self) -> String {
        if self.network.is_some() {
            return "/usr/bin/python3".to_owned();
        }
        let arguments = ["-c", "import sys; print(sys.executable)"];
        let shown = wait(World::new().command("python3", &arguments).spawn().expect("python3"), &arguments);
        shown.succeeded().text().to_owned()
    }

    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Outcome {
        wait(self.command(program, arguments).spawn().expect("the program starts"), arguments)
    }

    /// What a new user does first, and what a user without a browser reads.
    pub(super) fn check_program(&self, program: &str) {
        let version = self.run(program, &["--version"]).succeeded();
        assert_eq!(version.text(), format!("tabwire {}", env!("CARGO_PKG_VERSION")));
        let findings = self.run(program, &["--json", "doctor"]);
        assert!(findings.json()["findings"].is_array(), "{findings:?}");
        let explained = self.run(program, &["docs", "REF_EXPIRED"]).succeeded();
        assert!(explained.stdout.starts_with("REF_EXPIRED: "), "{explained:?}");
        let demo = self.run(program, &["demo", "--yes"]).succeeded();
        assert!(demo.stdout.contains("It works") && demo.stderr.contains("its recording: "), "{demo:?}");
        let greeting = self.run(program, &["eval", "document.querySelector('#greeting').textContent"]);
        assert_eq!(greeting.succeeded().text(), "Hello, Ada!");
        self.check_mcp(program, self.command(program, &["mcp", "--policy", "open"]));
        self.run(program, &["daemon", "stop"]).succeeded();
        self.check_without_browser(program);
    }

    /// Uses the demo page through a server of the guard `open`, which a command starts.
    pub(super) fn check_mcp(&self, program: &str, server: Command) {
        let mut client = McpClient::start_by(server);
        let status = self.run(program, &["--json", "daemon", "status"]).succeeded().json();
        let demo = format!("http://127.0.0.1:{}/demo", status["port"]);
        let page = client.text("navigate", json!({"url": demo}));
        assert!(page.contains("Tabwire demo"), "{page}");
        assert!(client.text("snapshot", json!({})).contains("Your name"));
    }

    /// A normal user's machine has no browser. Elsewhere one is asked for that is not there.
    fn check_without_browser(&self, program: &str) {
        let hides = ["unshare", "--mount", "sh", "-c", WITHOUT_BROWSERS, "sh"];
        let (before, actions): (&[&str], &[&[&str]]) = if self.network.is_some() {
            (&hides, &[&["open", "about:blank"], &["demo"]])
        } else {
            (&[], &[&["open", "about:blank", "--browser", "brave"]])
        };
        for action in actions {
            let arguments = [&["--session", "other", "--json"], *action].concat();
            let started = self.command_behind(before, program, &arguments).spawn();
            let missing = wait(started.expect("the program starts"), &arguments);
            assert_eq!(missing.failure(), ("NO_BACKEND".to_owned(), 1), "{missing:?}");
            let hint = missing.json()["error"]["hint"].as_str().unwrap_or_default().to_owned();
            assert!(hint.contains("Install Chrome, Chromium, Edge"), "{missing:?}");
        }
        self.run(program, &["daemon", "stop"]);
    }

    /// Gives the home and everything in it to a user.
    fn give_to(&self, user: u32) {
        let owner = format!("{user}:{user}");
        let given = Command::new("chown").args(["-R", "-h", &owner]).arg(self.home()).status();
        assert!(given.expect("`chown` starts").success());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(mut network) = self.network.take() else { return };
        drop(network.stdin.take());
        let _ = network.wait();
        // The world stops its daemon as the user of the tests.
        self.give_to(0);
    }
}

/// Whether a normal user's machine can be made here; says why not.
#[expect(clippy::print_stderr, reason = "says why nothing was run")]
pub(super) fn has_normal_user() -> bool {
    let is_possible = Command::new("unshare")
        .args(["--net", "ip", "link", "set", "lo", "up"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_possible {
        eprintln!("a network of its own needs root, and `ip` of iproute2");
    }
    is_possible
}
