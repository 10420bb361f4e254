//! DNS rebinding, the PDF viewer, service workers and pages of very many frames in guarded sessions.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_testkit::{NameServer, by_size};

use crate::policy::grants::{allow, guarded};
use crate::support::cdp_client::CdpClient;
use crate::support::http_server::{Response, TinyServer};
use crate::support::process::peak_memory;
use crate::support::wait::eventually;
use crate::support::world::{Outcome, World};

/// Text that must not be shown.
const CANARY: &str = "CANARY";

/// A name that resolves to one address first, and to another later.
const NAME: &str = "name.rebind";

/// Every way to read or act that these tests try.
const TRIES: &[&[&str]] = &[
    &["get-text"],
    &["get-html"],
    &["read-as-markdown"],
    &["snapshot", "--full"],
    &["find", "CANARY"],
    &["extract-links"],
    &["eval", "document.documentElement.outerHTML"],
    &["screenshot"],
    &["pdf"],
    &["console", "--all"],
    &["tabs"],
    &["frame"],
];

fn check_no_leak(arguments: &[&str], outcome: &Outcome) {
    let output = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(!output.contains(CANARY), "{arguments:?}: {outcome:?}");
    assert!(!output.contains("INTERNAL") && !output.contains("panicked"), "{arguments:?}: {outcome:?}");
}

/// A program that starts the browser with our name server; `None` where this user may not do that.
fn misled_browser(world: &World, server: SocketAddr) -> Option<PathBuf> {
    let is_let = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    let browser =
        ["/usr/bin/chromium", "/usr/bin/google-chrome"].iter().find(|path| fs::metadata(path).is_ok())?;
    if !is_let {
        return None;
    }
    let (names, program) = (world.home().join("resolv.conf"), world.home().join("misled-browser"));
    fs::write(&names, format!("nameserver {}\n", server.ip())).expect("written");
    let text = format!(
        "#!/bin/sh\nexec unshare -m sh -c 'mount --make-rprivate / && mount --bind {} /etc/resolv.conf && exec {browser} \"$@\"' sh \"$@\"\n",
        names.display()
    );
    fs::write(&program, text).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    Some(program)
}

/// A name server on an address that no other test has.
fn name_server() -> Option<NameServer> {
    let [.., high, low] = std::process::id().to_be_bytes();
    let at = SocketAddr::from((Ipv4Addr::new(127, 77, high, low.max(1)), 53));
    NameServer::start(at, NAME, &[Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2)]).ok()
}

#[test]
fn dns_rebinding_allows_neither_reading_nor_acting() {
    let world = guarded();
    let Some(names) = name_server() else { return skipped("port 53 of this machine is not available") };
    let Some(browser) = misled_browser(&world, names.address()) else {
        return skipped("unshare is not allowed");
    };
    let world = world.with("TABWIRE_BROWSER", browser.display().to_string());
    let outer = TinyServer::start("127.0.0.1:0", |_| Response::page("<title>outer</title><p>outer page"));
    let port = outer.port();
    let inner = TinyServer::start(&format!("127.0.0.2:{port}"), |_| {
        Response::page(format!(
            "<title>{CANARY}</title><button id=b onclick=\"fetch('/acted')\">{CANARY}</button><script>console.log('{CANARY}')</script>"
        ))
    });
    let page = outer.url(NAME, "/");
    for site in [format!("http://{NAME}:{port}"), format!("http://127.0.0.1:{port}"), "*".to_owned()] {
        allow(&world, &[&site, "--act", "--eval", "--cdp"]);
    }
    // The name resolves to the granted address and can be read.
    world.run(&["open", &page]).succeeded();
    assert!(world.run(&["get-text"]).succeeded().stdout.contains("outer page"));
    assert!(names.asked() > 0, "the browser asks this name server");

    // That server stops, and the browser uses the name's other address.
    drop(outer);
    let tries = [
        &["reload"][..],
        &["open", &page],
        &["navigate", &page],
        &["click", "#b"],
        &["press", "Tab"],
        &["press", "Enter"],
    ];
    for arguments in tries.iter().chain(TRIES) {
        let outcome = world.run(&[&["--timeout", "5s"], *arguments].concat());
        check_no_leak(arguments, &outcome);
    }
    assert!(inner.visits(&format!("{NAME}/")) > 0, "the name has moved");
    assert_eq!(inner.visits(&format!("{NAME}/acted")), 0, "nothing was acted on");
    let refused = world.run(&["--json", "get-text"]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    assert!(refused.stdout.contains(&format!("{NAME} resolves to 127.0.0.2")), "{refused:?}");
    let mut client = CdpClient::connect(&world.cdp_url());
    let target = client.open_page(&page);
    eventually("a CDP client is refused it too", 15, || {
        let read = json!({"expression": "document.documentElement.outerHTML", "returnByValue": true});
        let response = client.ask("Runtime.evaluate", read, Some(&target.session));
        assert!(!response.to_string().contains(CANARY), "{response}");
        response["error"]["data"] == "POLICY_DENIED"
    });
    drop(client);
    refuses_the_name(&world, &names);
}

/// The daemon's own port refuses the name in a browser that has just resolved it.
fn refuses_the_name(world: &World, names: &NameServer) {
    names.lead_to(&[Ipv4Addr::LOCALHOST]);
    let port = world.find_status().expect("a daemon runs")["port"].as_u64().expect("a port");
    let shown = |host: &str| {
        let mut stream =
            TcpStream::connect(("127.0.0.1", u16::try_from(port).expect("a port"))).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a time limit");
        stream
            .write_all(format!("GET /demo HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())
            .expect("sent");
        let mut response = String::new();
        let _ = stream.read_to_string(&mut response);
        response
    };
    assert!(shown(&format!("127.0.0.1:{port}")).starts_with("HTTP/1.1 200"));
    let refused = shown(&format!("{NAME}:{port}"));
    assert!(refused.starts_with("HTTP/1.1 4") && !refused.contains("<html"), "{refused}");
    let asked = names.asked();
    let open = |host: &str| {
        let demo = format!("http://{host}:{port}/demo");
        world.run(&["--session", "free", "open", "--policy", "open", &demo]).stdout
    };
    assert!(open("127.0.0.1").contains("It works"), "the demo page is there under its own address");
    let shown = open(NAME);
    assert!(names.asked() > asked, "the browser looked the name up");
    assert!(!shown.contains("It works"), "{shown}");
}

#[expect(clippy::print_stderr, reason = "readers of the test log should see it")]
fn skipped(why: &str) {
    // Root can use the port and the namespace, so for root a skip is a failure.
    assert!(!rustix::process::getuid().is_root(), "{why}");
    eprintln!("skipped: {why}");
}

/// A PDF file of one page with a text.
fn pdf(text: &str) -> Vec<u8> {
    let content = format!("BT /F1 36 Tf 40 100 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let (mut file, mut places) = (String::from("%PDF-1.4\n"), Vec::new());
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let start = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        file.push_str(&format!("{place:010} 00000 n \n"));
    }
    file.push_str(&format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    ));
    file.into_bytes()
}

#[test]
fn pdf_files_of_ungranted_sites_are_neither_shown_nor_read() {
    let world = guarded().with_whole_chromium();
    let server = TinyServer::start("127.0.0.1:0", |request| match request.path.as_str() {
        "/canary.pdf" => Response::of("application/pdf", pdf(CANARY)),
        "/own.pdf" => Response::of("application/pdf", pdf("own")),
        _ => Response::page("<p>page"),
    });
    let port = server.port();
    allow(&world, &[&format!("http://a.localhost:{port}"), "--act", "--eval", "--cdp"]);
    let embedding = format!(
        "for (const [tag, name] of [['iframe', 'src'], ['embed', 'src'], ['object', 'data']]) document.body.appendChild(Object.assign(document.createElement(tag), {{ type: 'application/pdf', width: 300, height: 200, [name]: 'http://b.localhost:{port}/canary.pdf' }}))"
    );
    world.run(&["open", &server.url("a.localhost", "/")]).succeeded();
    world.run(&["eval", &format!("{embedding}; 1")]).succeeded();
    eventually("the files were asked for", 20, || server.visits("b.localhost/canary.pdf") >= 1);
    for arguments in TRIES {
        check_no_leak(arguments, &world.run(&[&["--timeout", "10s"], *arguments].concat()));
    }
    // A screenshot of the page would show the file.
    for arguments in
        [&["--json", "screenshot"][..], &["--json", "pdf"], &["--json", "screenshot", "--full-page"]]
    {
        let outcome = world.run(arguments);
        assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {outcome:?}");
    }
    // The file as its own tab, opened in every way.
    let file = server.url("b.localhost", "/canary.pdf");
    let seen = server.visits("b.localhost/canary.pdf");
    for go in [vec!["open", &file], vec!["navigate", &file], vec!["tab-new", &file]] {
        let outcome = world.run(&[&["--json"], &go[..]].concat());
        assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{go:?}: {outcome:?}");
    }
    world.run(&["open", &server.url("a.localhost", "/")]).succeeded();
    world.run(&["eval", &format!("location.href = '{file}'; 1")]);
    for arguments in TRIES {
        check_no_leak(arguments, &world.run(&[&["--timeout", "10s"], *arguments].concat()));
    }
    assert_eq!(server.visits("b.localhost/canary.pdf"), seen, "the site is not asked for it");

    // A file of the granted site can be read.
    let own = world.run(&["--json", "--timeout", "10s", "open", &server.url("a.localhost", "/own.pdf")]);
    assert!(own.code == 0 || own.stdout.contains("download"), "{own:?}");
    for arguments in TRIES {
        check_no_leak(arguments, &world.run(&[&["--timeout", "5s"], *arguments].concat()));
    }
    // The viewer's frames end with the tab.
    world.run(&["open", "about:blank"]).succeeded();
}

/// A service worker that sends a request to another site for each request of its page.
const WORKER: &str = "
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
console.log('CANARY of a worker');
self.addEventListener('fetch', (event) => {
    const there = `http://c.localhost:${location.port}/report/${location.hostname}`;
    event.respondWith(fetch(there, { mode: 'no-cors' }).catch(() => {}).then(() => {
        const { pathname } = new URL(event.request.url);
        return pathname === '/made' ? new Response('made by the worker') : fetch(event.request);
    }));
});";

#[test]
fn service_workers_of_a_profile_send_no_requests() {
    let world = World::new();
    let server = TinyServer::start("127.0.0.1:0", |request| match request.path.as_str() {
        "/worker.js" => Response::of("text/javascript", WORKER.as_bytes().to_vec()),
        "/imported.js" => Response::of("text/javascript", b"self.imported = 1;".to_vec()),
        _ => Response::page("<title>page</title><p>page"),
    });
    let (own, other) = (server.url("a.localhost", "/"), server.url("b.localhost", "/"));
    let register = "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 'kept', (error) => error.name)";
    // An open session registers workers of both sites, which work.
    for page in [&own, &other] {
        world.run(&["open", page, "--profile", "kept"]).succeeded();
        assert_eq!(world.eval(register), "kept");
        world.run(&["reload"]).succeeded();
        eventually("the worker responds", 10, || {
            world.eval("fetch('/made').then((made) => made.text())") == "made by the worker"
        });
    }
    let report_count = |site: &str| server.visits(&format!("c.localhost/report/{site}"));
    assert!(
        report_count("a.localhost") > 0 && report_count("b.localhost") > 0,
        "both sites report to the third"
    );
    world.run(&["session", "stop"]).succeeded();

    // A guarded session with the same profile.
    let grant = own.trim_end_matches('/').to_owned();
    world.run(&["allow", &grant, "--act", "--eval", "--cdp", "--without-terminal"]).succeeded();
    let before = (report_count("a.localhost"), report_count("b.localhost"));
    let start = ["--session", "held", "open", &own, "--profile", "kept", "--policy", "guarded"];
    world.run(&start).succeeded();
    let held = |arguments: &[&str]| world.run(&[&["--session", "held"], arguments].concat());
    for arguments in [&["reload"][..], &["eval", "fetch('/made').then((made) => made.text())"], &["reload"]] {
        held(arguments);
    }
    let refused = held(&["eval", register]).stdout;
    for arguments in [&["get-text"][..], &["console", "--all"], &["tabs"], &["frame"]] {
        let outcome = held(arguments);
        assert!(!outcome.stdout.contains("b.localhost"), "{arguments:?}: {outcome:?}");
    }
    let address = held(&["cdp-url"]).succeeded().text().to_owned();
    let mut client = CdpClient::connect(&address);
    let targets = client.ask("Target.getTargets", json!({"filter": [{}]}), None);
    assert!(!targets.to_string().contains("b.localhost"), "{targets}");
    drop(client);
    let after = (report_count("a.localhost"), report_count("b.localhost"));
    assert_eq!(after, before, "neither site's worker reports to the third site");
    assert_eq!(refused, "SecurityError\n", "no new worker is registered");
}

/// Commands tried on a page with very many frames.
const MANY: &[&[&str]] = &[
    &["get-text"],
    &["snapshot", "--full"],
    &["find", "CANARY"],
    &["frame"],
    &["tabs"],
    &["screenshot"],
    &["click", "role=button[name=press]"],
];

/// Frames that a page creates. Chromium allows about a thousand in a page and ignores the rest.
fn frames() -> usize {
    by_size(500, 10_000)
}

#[test]
fn a_page_of_thousands_of_frames_delays_no_other_session() {
    let (world, count) = (guarded(), frames());
    let server = TinyServer::start("127.0.0.1:0", move |request| {
        match (request.host.as_str(), request.path.as_str()) {
        ("a.localhost", "/") => Response::page(format!(
            "<title>many</title><script>addEventListener('load', () => {{ for (let at = 0; at < {count}; at++) {{
                const frame = document.createElement('iframe');
                frame.name = 'frame' + at;
                frame.src = at % 50 === 0 ? `http://b.localhost:${{location.port}}/inner` : at % 50 === 1 ? '/own' : 'about:blank';
                document.body.append(frame); }} globalThis.isMade = true; }});</script><body><button>press</button>"
        )),
        ("b.localhost", _) => Response::page(format!("<p>{CANARY}<button>inner</button>")),
        _ => Response::page("<p>own<button>own</button>"),
    }
    });
    for (session, site) in [("many", server.url("a.localhost", "")), ("other", server.url("c.localhost", ""))]
    {
        allow(&world, &[&site, "--act", "--eval"]);
        let opened = world.run(&[
            "--session",
            session,
            "--timeout",
            "60s",
            "open",
            &server.url(if session == "many" { "a.localhost" } else { "c.localhost" }, "/"),
        ]);
        assert!(opened.code == 0 || opened.stderr.contains("TIMEOUT"), "{opened:?}");
    }
    let daemon = world.daemon_pid();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for arguments in MANY {
                let began = Instant::now();
                let outcome = world.run(&[&["--session", "many", "--timeout", "20s"], *arguments].concat());
                check_no_leak(arguments, &outcome);
                let took = began.elapsed();
                assert!(took < Duration::from_secs(30), "{arguments:?} took {took:?}: {outcome:?}");
                assert!(outcome.code == 0 || outcome.stderr.contains("hint:"), "{arguments:?}: {outcome:?}");
                assert!(outcome.stdout.len() < 300_000, "{arguments:?}: {}", outcome.stdout.len());
            }
        });
        let mut slowest = Duration::ZERO;
        while !busy.is_finished() {
            let began = Instant::now();
            world.run(&["--session", "other", "eval", "1 + 1"]).succeeded();
            slowest = slowest.max(began.elapsed());
        }
        busy.join().expect("the action returns");
        assert!(slowest < Duration::from_secs(1), "the other session waited {slowest:?}");
    });
    assert!(peak_memory(daemon) < 400, "{} MiB", peak_memory(daemon));
    // The frames end with their page.
    world.run(&["--session", "many", "open", "about:blank"]).succeeded();
}
