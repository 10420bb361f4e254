//! `doctor` finds problems, changes nothing without `--fix`, and repairs what is safe.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::faults::leftover::{dead_process, dead_socket, plant_descriptor, private};
use crate::support::process::{is_running, kill, signal};
use crate::support::world::World;

const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// The findings of `doctor`, and its exit code.
struct Diagnosis {
    code: i32,
    findings: Vec<Value>,
}

impl Diagnosis {
    fn of(world: &World, flags: &[&str]) -> Self {
        Self::read(&world.run(&[&["--json", "doctor"], flags].concat()))
    }

    fn read(outcome: &crate::support::world::Outcome) -> Self {
        let findings = outcome.json()["findings"].as_array().expect("findings").clone();
        for finding in &findings {
            let is_reported = finding["sentence"].as_str().is_some_and(|sentence| sentence.ends_with('.'));
            assert!(is_reported, "{finding}");
            let is_ill = finding["verdict"] != "ok" && finding["fixed"] == false;
            assert!(
                !is_ill || finding["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()),
                "{finding}"
            );
        }
        let wrong = findings.iter().any(|found| found["verdict"] == "wrong" && found["fixed"] == false);
        assert_eq!(outcome.code, i32::from(wrong), "{outcome:?}");
        Self { code: outcome.code, findings }
    }

    /// The findings of one check as `VERDICT`, or `fixed VERDICT`.
    fn all(&self, code: &str) -> Vec<String> {
        let of_code = self.findings.iter().filter(|finding| finding["code"] == code);
        of_code
            .map(|finding| {
                let fixed = if finding["fixed"] == true { "fixed " } else { "" };
                format!("{fixed}{}", finding["verdict"].as_str().expect("a word"))
            })
            .collect()
    }

    /// The only finding of a check.
    fn one(&self, code: &str) -> String {
        let all = self.all(code);
        assert_eq!(all.len(), 1, "{code} in {:#?}", self.findings);
        all[0].clone()
    }

    /// The sentences of a check, with remedies.
    fn words(&self, code: &str) -> String {
        let of_code = self.findings.iter().filter(|finding| finding["code"] == code);
        of_code.map(|finding| format!("{} {}\n", finding["sentence"], finding["remedy"])).collect()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().expect("there").permissions().mode() & 0o777
}

#[test]
fn a_healthy_home_has_no_findings_and_a_launch_test_leaves_nothing() {
    let world = World::new();
    let outcome = world.run(&["doctor"]).succeeded();
    assert!(outcome.stdout.contains("Chromium"), "{outcome:?}");
    assert!(world.find_status().is_none(), "`doctor` starts no daemon");
    assert_eq!(world.files("."), ["tmp", "user"], "`doctor` creates no directories");
    world.open(&["about:blank"]);
    let seen = Diagnosis::of(&world, &["--fix", "--launch"]);
    for code in [
        "browser",
        "configuration",
        "runtime-directory",
        "state-directory",
        "socket-path",
        "clock",
        "daemon",
        "version",
        "port",
        "browsers",
        "sessions",
        "audit-log",
        "launch",
    ] {
        assert_eq!(seen.one(code), "ok", "{}", seen.words(code));
    }
    assert!(seen.words("launch").contains(" ms"), "{}", seen.words("launch"));
    assert!(seen.findings.iter().all(|finding| finding["fixed"] == false));
    let listed = world.run(&["session", "list", "--all"]).succeeded();
    assert!(listed.stdout.contains("default") && !listed.stdout.contains("doctor-"), "{listed:?}");
    assert_eq!(world.eval("1"), "1", "`--fix` does not affect running browsers");
}

#[test]
fn agents_for_chats_are_listed_and_never_wrong() {
    let world = World::new();
    let programs = world.home().join("programs");
    fs::create_dir(&programs).expect("a directory");
    let world = world.with("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    let findings = Diagnosis::of(&world, &[]);
    assert_eq!(findings.one("agents"), "ok");
    assert!(
        findings.words("agents").contains("No agent for chats is installed."),
        "{}",
        findings.words("agents")
    );
    for name in ["codex", "gemini"] {
        fs::write(programs.join(name), "").expect("written");
        set_mode(&programs.join(name), 0o755);
    }
    let words = Diagnosis::of(&world, &[]).words("agents");
    assert!(words.contains("Codex is installed") && words.contains("adapter for chats is not"), "{words}");
    assert!(words.contains("Gemini CLI can chat"), "{words}");
}

#[test]
fn b12_extension_install_makes_a_directory_that_doctor_accepts() {
    let world = World::new();
    let profile = format!("{}/profile/", world.home().display());
    // The usual mask of a user: new directories are readable for others.
    let install = format!("umask 022; exec '{TABWIRE}' extension install --browser '{profile}' --wait 0s");
    world.run_program("sh", &["-c", &install]).succeeded();
    let directory = world.home().join("data/extension");
    assert_eq!(mode_of(&directory), 0o700);
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!(seen.one("data-directory"), "ok", "{}", seen.words("data-directory"));
    set_mode(&directory, 0o755);
    let seen = Diagnosis::of(&world, &[]);
    assert_ne!(seen.one("data-directory"), "ok", "`doctor` looks at it: {}", seen.words("data-directory"));
}

#[test]
fn f47_leftovers_of_dead_browsers_are_found_and_removed() {
    let world = World::new();
    let file = plant_descriptor(&world, "dead", &dead_process(), &dead_process());
    dead_socket(&file.with_extension("sock"));
    dead_socket(&file.with_file_name("lonely.sock"));
    let profile = private(&world, "runtime/profiles/dead");
    fs::write(profile.join(".tabwire-throw-away"), json!({"owner": dead_process()}).to_string())
        .expect("a mark");
    set_mode(&profile.join(".tabwire-throw-away"), 0o600);
    set_mode(&file, 0o600);
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!((seen.code, seen.one("browsers")), (1, "wrong".to_owned()));
    assert!(
        seen.words("browsers").contains("1 descriptor(s), 1 socket(s) and 1 profile(s)"),
        "{:?}",
        seen.findings
    );
    assert!(file.exists() && profile.exists(), "`doctor` changes nothing");
    let shown = world.run(&["doctor"]);
    assert!(shown.code == 1 && shown.stdout.contains("doctor --fix"), "{shown:?}");
    let repaired = Diagnosis::of(&world, &["--fix"]);
    assert_eq!((repaired.code, repaired.one("browsers")), (0, "fixed wrong".to_owned()));
    assert!(!file.exists() && !profile.exists() && world.files("runtime/browsers").is_empty());
    assert_eq!(Diagnosis::of(&world, &[]).one("browsers"), "ok");
}

#[test]
fn f39_stale_daemon_files_are_removed_and_a_stuck_daemon_is_reported() {
    let world = World::new();
    world.run(&["daemon", "start"]).succeeded();
    let daemon = world.daemon_pid();
    signal(daemon, Signal::STOP);
    let stuck = Diagnosis::of(&world, &["--fix"]);
    signal(daemon, Signal::CONT);
    assert_eq!((stuck.code, stuck.one("daemon")), (1, "wrong".to_owned()));
    assert!(stuck.words("daemon").contains(&daemon.to_string()), "{}", stuck.words("daemon"));
    assert!(world.socket().exists(), "a stuck daemon's socket stays");
    kill(daemon);
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!((seen.one("daemon-socket"), seen.one("handshake")), ("warning".into(), "warning".into()));
    assert!(world.socket().exists(), "`doctor` changes nothing");
    let repaired = Diagnosis::of(&world, &["--fix"]);
    let fixed = || "fixed warning".to_owned();
    assert_eq!((repaired.one("daemon-socket"), repaired.one("handshake")), (fixed(), fixed()));
    assert!(!world.socket().exists() && !world.runtime().join("handshake.json").exists());
    let after = Diagnosis::of(&world, &[]);
    assert_eq!((after.all("daemon-socket").len(), after.all("handshake").len()), (0, 0));
    fs::write(world.socket(), "not a socket").expect("written");
    let seen = Diagnosis::of(&world, &["--fix"]);
    assert_eq!(seen.one("daemon-socket"), "wrong", "a file of another program is only reported");
    fs::remove_file(world.socket()).expect("still there");
}

#[test]
fn t33_file_modes_are_fixed_and_links_are_only_reported() {
    let world = World::new();
    let (runtime, sessions) = (private(&world, "runtime"), private(&world, "state/sessions/global"));
    let state = world.home().join("state");
    let record = sessions.join("open.state");
    fs::write(&record, "{}").expect("written");
    set_mode(&runtime, 0o777);
    set_mode(&state, 0o755);
    set_mode(&record, 0o644);
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!(
        (seen.one("runtime-directory"), seen.all("state-directory")),
        ("wrong".into(), vec!["warning".to_owned(); 2])
    );
    assert_eq!(
        (mode_of(&runtime), mode_of(&state), mode_of(&record)),
        (0o777, 0o755, 0o644),
        "reported, not changed"
    );
    let refused = world.run(&["--json", "open", "about:blank"]);
    assert!(refused.code != 0 && refused.stdout.contains("other users can write in it"), "{refused:?}");

    // Every command closes a state directory that others can only read.
    set_mode(&state, 0o755);
    let link = runtime.join("handshake.json");
    symlink("/etc/hostname", &link).expect("a link");
    let refusing = Diagnosis::of(&world, &["--fix"]);
    assert_eq!(refusing.all("runtime-directory"), ["wrong", "wrong"], "other users may have written there");
    assert_eq!(refusing.all("state-directory"), vec!["fixed warning"; 2]);
    assert_eq!((mode_of(&runtime), mode_of(&state), mode_of(&record)), (0o777, 0o700, 0o600));
    assert_eq!(mode_of(Path::new("/etc/hostname")) & 0o004, 0o004, "a link is not followed");
    // The handshake of a dead daemon is removed, also if it is a link.
    assert!(!link.exists() && refusing.one("handshake") == "fixed warning");
    let repaired = Diagnosis::of(&world, &["--fix"]);
    assert_eq!((repaired.code, repaired.one("runtime-directory")), (0, "fixed wrong".to_owned()));
    let after = Diagnosis::of(&world, &[]);
    assert_eq!((after.one("runtime-directory"), after.one("state-directory")), ("ok".into(), "ok".into()));
    world.run(&["daemon", "start"]).succeeded();
}

#[test]
fn f35_only_the_browser_without_its_keeper_is_ended() {
    let world = World::new().with("TABWIRE_LINGER", "60");
    world.open(&["about:blank"]);
    let (daemon, keeper, browser) = (world.daemon_pid(), world.pid("keeper_pid"), world.pid("browser_pid"));
    // While another process has its pipe open, the browser does not notice that its keeper is gone.
    let to_browser = OpenOptions::new().write(true).open(format!("/proc/{browser}/fd/3")).expect("its pipe");
    let from_browser = File::open(format!("/proc/{browser}/fd/4")).expect("its pipe");
    kill(daemon);
    kill(keeper);
    for name in world.files("runtime/browsers") {
        fs::remove_file(world.runtime().join("browsers").join(name)).expect("removed");
    }
    let precious = private(&world, "runtime/profiles/precious");
    let mut bystander = Command::new("sh")
        .args(["-c", "read line", "sh", &format!("--user-data-dir={}", precious.display())])
        .stdin(Stdio::piped())
        .spawn()
        .expect("a process");
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!(seen.one("orphaned-browser"), "wrong", "{:#?}", seen.findings);
    assert!(seen.words("orphaned-browser").contains(&browser.to_string()));
    assert_eq!(seen.one("sessions"), "warning", "{}", seen.words("sessions"));
    assert!(is_running(browser), "`doctor` changes nothing");
    let repaired = Diagnosis::of(&world, &["--fix"]);
    let fixed = || "fixed wrong".to_owned();
    assert_eq!(
        (repaired.one("orphaned-browser"), repaired.one("browsers")),
        (fixed(), fixed()),
        "{:#?}",
        repaired.findings
    );
    assert!(!is_running(browser));
    drop((to_browser, from_browser));
    assert!(bystander.try_wait().expect("our child").is_none(), "an innocent process was ended");
    bystander.kill().and_then(|()| bystander.wait()).expect("ended");
    fs::remove_dir(&precious).expect("not changed");
    let after = Diagnosis::of(&world, &[]);
    assert_eq!((after.all("orphaned-browser").len(), after.one("browsers")), (0, "ok".to_owned()));
}

#[test]
fn damaged_files_are_reported_quarantined_and_never_deleted() {
    let world = World::new();
    let sessions = private(&world, "state/sessions/global");
    let browsers = private(&world, "runtime/browsers");
    let planted = [
        (sessions.join("torn.json"), "{\"format\": 2, \"na"),
        (browsers.join("torn.json"), "{\"format\": 1"),
        (world.home().join("state/audit.sqlite"), "this is not a database"),
        (sessions.join("newer.json"), "{\"format\": 99}"),
    ];
    for (path, content) in &planted {
        fs::write(path, content).expect("written");
        set_mode(path, 0o600);
    }
    let codes = ["session-record", "browser-descriptor", "audit-log"];
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!(seen.all("session-record"), ["warning", "wrong"]);
    assert_eq!((seen.one("browser-descriptor"), seen.one("audit-log")), ("wrong".into(), "wrong".into()));
    assert!(planted.iter().all(|(path, _)| path.exists()), "`doctor` changes nothing");
    let repaired = Diagnosis::of(&world, &["--fix"]);
    assert_eq!(repaired.code, 0, "{:#?}", repaired.findings);
    for (code, (path, content)) in codes.iter().zip(&planted) {
        assert!(!path.exists() && repaired.words(code).contains("it is now"), "{code}");
        let words = repaired.words(code);
        let place =
            words.split("it is now ").nth(1).and_then(|rest| rest.split(".\"").next()).expect("a place");
        assert_eq!(&fs::read_to_string(place).expect("kept"), content, "{code}");
    }
    assert!(planted[3].0.exists(), "a file of a newer version stays");
    let after = Diagnosis::of(&world, &[]);
    assert_eq!((after.code, after.all("session-record")), (0, vec!["warning".to_owned()]));
    assert_eq!((after.all("browser-descriptor").len(), after.one("audit-log")), (0, "ok".to_owned()));
}

#[test]
fn secrets_settings_clock_and_locks_are_checked() {
    let world = World::new();
    let (data, config) = (private(&world, "data"), private(&world, "config"));
    let key = data.join("vault.key");
    fs::write(&key, "secret").expect("written");
    set_mode(&key, 0o644);
    fs::write(config.join("config.toml"), "timeout = \"30s\"\nbrowsre = \"x\"\n").expect("written");
    set_mode(&config.join("config.toml"), 0o600);
    let log = private(&world, "state/logs").join("daemon.log");
    let later = SystemTime::now() + Duration::from_secs(7200);
    File::create(&log).and_then(|file| file.set_modified(later)).expect("written");
    set_mode(&log, 0o600);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let (stale, foreign) = (private(&world, "data/profiles/mine"), private(&world, "data/profiles/theirs"));
    symlink(format!("{}-4194305", host.trim()), stale.join("SingletonLock")).expect("a lock");
    symlink("elsewhere.example-17", foreign.join("SingletonLock")).expect("a lock");

    let seen = Diagnosis::of(&world, &[]);
    assert_eq!((seen.one("vault-key"), seen.one("configuration")), ("wrong".into(), "wrong".into()));
    let words = seen.words("configuration");
    assert!(words.contains("config.toml:2:") && words.contains("Did you mean `browser`?"), "{words}");
    assert!(seen.one("clock") == "warning" && seen.words("clock").contains("minutes behind"));
    assert_eq!(seen.all("profile-lock"), ["warning", "warning"]);
    assert_eq!(seen.one("data-directory"), "ok");

    let repaired = Diagnosis::of(&world, &["--fix"]);
    assert_eq!(
        (repaired.code, repaired.one("vault-key")),
        (1, "fixed wrong".to_owned()),
        "settings are not changed"
    );
    assert_eq!(
        (mode_of(&key), repaired.all("profile-lock")),
        (0o600, vec!["fixed warning".into(), "warning".into()])
    );
    fs::write(config.join("config.toml"), "timeout = \"30s\"\n").expect("written");
    File::open(&log).and_then(|file| file.set_modified(SystemTime::now())).expect("a time");
    let after = Diagnosis::of(&world, &[]);
    assert_eq!((after.code, after.one("vault-key"), after.one("clock")), (0, "ok".into(), "ok".into()));
    assert_eq!(after.all("profile-lock"), ["warning"], "a lock of another machine is kept");
    assert!(foreign.join("SingletonLock").symlink_metadata().is_ok());
}

#[test]
fn f37_a_taken_port_and_a_missing_browser_are_reported_without_a_daemon() {
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = stranger.local_addr().expect("bound").port();
    let world = World::new().with("TABWIRE_PORT", port.to_string()).with("TABWIRE_BROWSER", "/nonexistent");
    let seen = Diagnosis::of(&world, &[]);
    assert_eq!((seen.one("port"), seen.one("browser")), ("warning".into(), "wrong".into()));
    assert!(seen.words("port").contains(&format!("Another program uses port {port}")));
    assert!(seen.words("browser").contains("TABWIRE_BROWSER"), "{}", seen.words("browser"));
    drop(stranger);
    assert_eq!(Diagnosis::of(&world, &[]).one("port"), "ok");
    assert!(world.find_status().is_none(), "`doctor` starts no daemon");
}

/// Responds to one request on the daemon's socket as a daemon of another version does.
fn respond_once(listener: &UnixListener, status: &str, body: &Value) {
    let (mut stream, _) = listener.accept().expect("a caller");
    let mut request = [0; 4096];
    let _ = stream.read(&mut request).expect("a request");
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n{body}").expect("a response");
}

#[test]
fn a_daemon_of_another_version_is_reported() {
    let world = World::new();
    private(&world, "runtime");
    let listener = UnixListener::bind(world.socket()).expect("bound");
    let mismatch = |code: &str, hint: &str| json!({"error": {"code": code, "message": "The daemon is another version.", "hint": hint}});
    let status = json!({"version": "0.0.1", "pid": 1, "port": 1, "uptime_seconds": 1, "sessions": []});
    let cases = [
        ("200 OK", status, "warning", "0.0.1"),
        ("409 Conflict", mismatch("DAEMON_OLDER", "It is replaced."), "warning", "older"),
        (
            "409 Conflict",
            mismatch("VERSION_MISMATCH", "A newer daemon runs."),
            "wrong",
            "A newer daemon runs.",
        ),
    ];
    for (status, body, verdict, word) in cases {
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| respond_once(&listener, status, &body));
            // `World::run` would check the daemon and wait for another response.
            let child = world.start(&["--json", "doctor"]);
            Diagnosis::read(&crate::support::world::wait(child, &["doctor"]))
        });
        assert_eq!(seen.one("version"), verdict, "{:#?}", seen.findings);
        assert!(seen.words("version").contains(word), "{}", seen.words("version"));
    }
    drop(listener);
    fs::remove_file(world.socket()).expect("removed");
}

/// Mounts a disk of one megabyte at a directory, allows few open files, and runs `doctor`.
const POOR_MACHINE: &str =
    r#"mount -t tmpfs -o size=1m,mode=0700 none "$1" && ulimit -n 200 && exec "$0" --json doctor"#;

#[test]
fn f32_a_full_disk_and_a_low_file_limit_are_reported() {
    let world = World::new();
    let state = private(&world, "state").display().to_string();
    let may_mount = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", &state])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let outcome = if may_mount {
        world.run_program("unshare", &["--mount", "sh", "-c", POOR_MACHINE, TABWIRE, &state])
    } else {
        world.run_program("sh", &["-c", "ulimit -n 200 && exec \"$0\" --json doctor", TABWIRE])
    };
    let seen = Diagnosis::read(&outcome);
    assert_eq!(seen.one("open-files"), "warning");
    assert_eq!(seen.one("runtime-disk"), "ok");
    assert_eq!(
        seen.one("state-disk"),
        if may_mount { "wrong" } else { "ok" },
        "{}",
        seen.words("state-disk")
    );
    assert_eq!(Diagnosis::of(&world, &[]).one("state-disk"), "ok");
}
