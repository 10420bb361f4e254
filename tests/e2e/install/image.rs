//! The steps of the Dockerfile without a container engine: in a Debian root directory below a file system of its own, with
//! namespaces of their own, and then its command as its user.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tabwire_testkit::by_size;

use super::pack::{is_release, packages};
use crate::mcp::client::hello;
use crate::support::wait::eventually;
use crate::support::world::{Outcome, World, wait};

/// The instructions of the Dockerfile.
struct Instructions {
    lines: Vec<(String, String)>,
}

impl Instructions {
    fn read() -> Instructions {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/docker/Dockerfile");
        let text = std::fs::read_to_string(path).expect("the Dockerfile").replace("\\\n", " ");
        let lines =
            text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
        Instructions { lines: lines.map(|(name, rest)| (name.to_owned(), rest.trim().to_owned())).collect() }
    }

    /// What follows an instruction that occurs once.
    fn only(&self, name: &str) -> &str {
        let mut found = self.lines.iter().filter(|(known, _)| known == name).map(|(_, rest)| rest.as_str());
        let rest = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.next(), None, "{name} occurs once");
        rest
    }

    /// The words of an instruction in JSON.
    fn words(&self, name: &str) -> Vec<String> {
        serde_json::from_str(self.only(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Mounts a copy of the root directory, copies and runs as the Dockerfile says, then becomes its command. The first process
/// of its process namespace, as in a container.
const SCRIPT: &str = "set -e
base=$1 own=$2 package=$3 to=$4 run=$5 user=$6; shift 6
mount -t overlay overlay -o lowerdir=\"$base\",upperdir=\"$own/upper\",workdir=\"$own/work\" \"$own/root\"
cd \"$own/root\"
mount -t proc proc proc && mount --rbind /dev dev && ip link set lo up
touch .dockerenv
cp \"$package\" \".$to\"
chroot . /bin/sh -c \"$run\" >&2
exec chroot --userspec=\"$user\" . \"$@\"";

/// The running command of the image.
struct Container {
    process: Child,
    root: PathBuf,
    /// The first line of its output.
    url: String,
}

impl Container {
    fn start(world: &World, base: &Path) -> Container {
        let (file, own) = (Instructions::read(), world.home().join("image"));
        for name in ["upper", "work", "root"] {
            std::fs::create_dir_all(own.join(name)).expect("a directory");
        }
        assert_eq!(file.only("FROM"), "debian:13-slim", "the suite of `cargo xtask setup`");
        let (pattern, to) = file.only("COPY").split_once(' ').expect("what and where");
        let (start, end) = pattern.split_once('*').expect("one pattern");
        let package = super::pack::find(&packages(world.home(), "deb"), start, end);
        let (base, own_text) = (base.display().to_string(), own.display().to_string());
        let namespaces =
            ["--mount", "--net", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", SCRIPT, "sh"];
        let build = [base.as_str(), &own_text, &package, to, file.only("RUN"), file.only("USER")];
        let variables =
            format!("PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME={} {}", file.only("WORKDIR"), file.only("ENV"));
        let folder = format!("--chdir={}", file.only("WORKDIR"));
        let mut command: Vec<&str> = vec!["/usr/bin/env", "--ignore-environment", &folder];
        command.extend(variables.split(' '));
        let words = [file.words("ENTRYPOINT"), file.words("CMD")].concat();
        command.extend(words.iter().map(String::as_str));
        let started = Command::new("unshare")
            .args([&namespaces[..], &build, &command].concat())
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn();
        let mut process = started.expect("`unshare` starts");
        let mut url = String::new();
        let output = process.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut url).expect("a line");
        Container { process, root: own.join("root"), url: url.trim().to_owned() }
    }

    /// Runs a command in the container, as `docker exec` does.
    fn run(&self, world: &World, arguments: &[&str]) -> Outcome {
        let (id, root) = (self.process.id(), self.root.display().to_string());
        let processes = format!("--pid=/proc/{id}/ns/pid_for_children");
        let target = id.to_string();
        let enter =
            ["--target", &target, "--mount", "--net", &processes, "chroot", "--userspec=1000:1000", &root];
        let arguments = [&enter[..], arguments].concat();
        wait(world.command("nsenter", &arguments).spawn().expect("`nsenter` starts"), &arguments)
    }

    /// Sends a message to the MCP server; the head and the messages of the response.
    fn post(&self, world: &World, session: &str, message: &Value) -> String {
        let (message, session) = (message.to_string(), format!("Mcp-Session-Id: {session}"));
        let kinds =
            ["Content-Type: application/json", "Accept: application/json, text/event-stream", &session];
        let headers: Vec<&str> = kinds.iter().flat_map(|kind| ["--header", *kind]).collect();
        let request =
            ["curl", "--silent", "--show-error", "--include", "--max-time", "60", "--data", &message];
        self.run(world, &[&request[..], &headers, &[&self.url]].concat()).succeeded().stdout
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // The first process of the namespace, with which all others end. It survives `unshare`: a change of the user clears
        // the signal that it would get then.
        let id = self.process.id();
        let first = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        for first in first.split_whitespace() {
            let _ = Command::new("kill").args(["-KILL", first]).status();
        }
        if first.trim().is_empty() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

#[test]
fn the_image_of_the_dockerfile_serves_mcp_as_a_normal_user_in_full_runs() {
    if by_size(true, false) || !is_release() {
        eprintln!("the image contains a `dist` build: `cargo xtask test --full` makes it");
        return;
    }
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/image-base");
    let base = base.canonicalize().expect("the base of the image: run `cargo xtask setup --full` as root");
    let world = World::new();
    let container = Container::start(&world, &base);
    let secret =
        container.url.strip_prefix("http://127.0.0.1:9417/").expect("a URL with the port of the image");
    assert!(secret.len() > 32, "{}", container.url);
    let file = Instructions::read();
    let (_, health) = file.only("HEALTHCHECK").split_once("CMD ").expect("a command");
    let health = format!("TABWIRE_PORT=9417; {health}");
    eventually("the image is healthy", 20, || container.run(&world, &["/bin/sh", "-c", &health]).code == 0);
    let first = container.run(&world, &["/bin/sh", "-c", "cat /proc/1/comm; id -u; stat -c %u /proc/1"]);
    assert_eq!(first.succeeded().text(), "tini\n1000\n1000");

    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello("2025-11-25")});
    let greeted = container.post(&world, "", &greeting);
    let head = greeted.lines().filter_map(|line| line.split_once(": "));
    let mut session = head.filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
    let session = session.next().unwrap_or_else(|| panic!("no session: {greeted}")).1.trim().to_owned();
    container.post(&world, &session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let page = json!({"name": "navigate", "arguments": {"url": "http://127.0.0.1:9417/demo"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": page});
    // Its policy is `guarded`.
    let denied = container.post(&world, &session, &call);
    assert!(denied.contains("POLICY_DENIED"), "{denied}");
    let allow = "TABWIRE_HOME=/var/lib/tabwire TABWIRE_PORT=9417 tabwire allow http://127.0.0.1:9417";
    // Only a user at a terminal can.
    let at_terminal = format!("script --quiet --return --command '{allow}' /dev/null </dev/null");
    container.run(&world, &["/bin/sh", "-c", &at_terminal]).succeeded();
    let shown = container.post(&world, &session, &call);
    assert!(shown.contains("Tabwire demo"), "{shown}");
    let without_secret = container.run(
        &world,
        &[
            "curl",
            "--silent",
            "--output",
            "/dev/null",
            "--write-out",
            "%{http_code}",
            "http://127.0.0.1:9417/mcp",
        ],
    );
    assert_eq!(without_secret.text(), "401");
}
