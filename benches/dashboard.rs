//! The dashboard's live view: frames a second and their size at 704x396, the daemon's processor time for a moving page, for
//! a still one and for thumbnails, and the time from a press to the frame that shows its effect. Then its chats, with an
//! agent that replies at once.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::{CdpSession, Connection, TaskGroup, WebSocketUrl};
use tabwire_testkit::bench::{BareBrowser, Sample, TabwireWorld};

const LIMIT: Duration = Duration::from_secs(30);

/// How long each state is measured, in milliseconds.
const MEASURED_MS: u32 = 6_000;

/// Presses that are timed.
const PRESSES: u32 = 20;

/// A page that always moves: text and colors over the whole viewport.
const MOVES: &str = "document.body.innerHTML = Array.from({length: 60}, (_, row) => `<p>Row ${row} with a text that moves</p>`).join(''); \
    window.timer = setInterval(() => { scrollTo(0, Date.now() / 8 % 900); document.body.style.color = `hsl(${Date.now() / 10 % 360} 60% 40%)` }, 16); 1";

/// A page that changes its color with each press.
const PRESSED: &str = "clearInterval(window.timer); document.body.innerHTML = ''; let dark = false; \
    addEventListener('mousedown', () => { dark = !dark; document.documentElement.style.background = dark ? '#000' : '#fff' }); 1";

/// Opens the websocket of a live view in the dashboard's page, and counts frames and bytes.
const WATCH: &str = "(async () => { \
    window.live?.close(); window.counted = {frames: 0, bytes: 0}; window.drawn = () => {}; \
    const socket = window.live = new WebSocket(`ws://${location.host}/dashboard/live`); socket.binaryType = 'arraybuffer'; \
    await new Promise((done) => socket.onopen = done); \
    socket.send(JSON.stringify({key: sessionStorage.getItem('key'), session: 'default'})); \
    socket.send(JSON.stringify({type: 'size', width: 704, height: 396})); \
    await new Promise((done) => socket.onmessage = async ({data}) => { \
        if (!(data instanceof ArrayBuffer)) return; \
        const bitmap = await createImageBitmap(new Blob([data.slice(24)])); \
        window.counted.frames += 1; window.counted.bytes += data.byteLength; \
        const canvas = new OffscreenCanvas(1, 1), context = canvas.getContext('2d'); \
        context.drawImage(bitmap, 0, 0, 1, 1); bitmap.close(); \
        socket.send(JSON.stringify({type: 'drawn', seq: new DataView(data).getUint32(4, true)})); \
        window.drawn(context.getImageData(0, 0, 1, 1).data[0]); done(); }); \
    return true; })()";

/// Takes over and presses; returns the times until the drawn frame is dark or light as the press made it, in milliseconds.
const PRESS: &str = "(async (presses) => { \
    const say = (message) => window.live.send(JSON.stringify(message)), times = []; \
    const mouse = (what, buttons) => say({type: 'input', input: {kind: 'mouse', what, x: 200, y: 200, button: 'left', buttons, clicks: 1, modifiers: 0}}); \
    say({type: 'take'}); await new Promise((done) => setTimeout(done, 1000)); \
    for (let round = 0; round < presses; round += 1) { \
        const isDark = round % 2 === 0, before = performance.now(); \
        mouse('mousePressed', 1); mouse('mouseReleased', 0); \
        await Promise.race([new Promise((done) => window.drawn = (red) => (red < 100) === isDark && done()), new Promise((done) => setTimeout(done, 2000))]); \
        times.push(performance.now() - before); \
        await new Promise((done) => setTimeout(done, 100)); } \
    say({type: 'give'}); return times; })";

/// Opens the view of chats; returns the time until its message field takes text, in milliseconds.
const OPEN_CHATS: &str = "(async () => { const before = performance.now(); location.hash = 'chats'; \
    while (document.querySelector('.chats textarea')?.disabled !== false) await new Promise(requestAnimationFrame); \
    return performance.now() - before; })()";

/// Notes how old each piece of text is when it is in the page. The agent writes the time into it, in microseconds.
const WATCH_PIECES: &str = "(() => { window.ages = []; let last = ''; const clock = () => performance.timeOrigin + performance.now(); \
    new MutationObserver(() => { const stamp = [...document.querySelector('.talk').textContent.matchAll(/@(\\d+)@/g)].at(-1)?.[1]; \
        if (stamp && stamp !== last) { last = stamp; ages.push(clock() - Number(stamp) / 1000); } }) \
        .observe(document.querySelector('.chats'), {subtree: true, childList: true, characterData: true}); \
    document.querySelector('.chats textarea').focus(); return true; })()";

/// Waits until the button is pressed, and then until the page shows that the turn stops.
const STOP: &str = "(async () => { const button = document.querySelector('.chats button.stop'); \
    const pressed = new Promise((done) => button.addEventListener('pointerdown', () => done(performance.now()), {once: true})); \
    const before = await pressed; \
    while (!button.disabled && button.checkVisibility()) await new Promise(requestAnimationFrame); \
    return performance.now() - before; })()";

/// The dashboard in a browser without Tabwire.
struct Dashboard {
    page: CdpSession,
    _connection: Connection,
}

impl Dashboard {
    async fn open(bare: &BareBrowser, tasks: &TaskGroup, url: &str) -> Self {
        let address = WebSocketUrl::parse(&bare.websocket()).expect("an address");
        let (source, sink) = address.connect().await.expect("connected");
        let connection = Connection::start(source, sink, tasks);
        let browser = connection.browser();
        let asked = browser.send("Target.createTarget", &json!({"url": url}), LIMIT).await;
        let created: Value = asked.expect("a page").to().expect("an id");
        let params = json!({"targetId": created["targetId"], "flatten": true});
        let asked = browser.send("Target.attachToTarget", &params, LIMIT).await;
        let attached: Value = asked.expect("attached").to().expect("an id");
        let page = connection.session(&CdpSessionId::new(attached["sessionId"].as_str().expect("an id")));
        let dashboard = Self { page, _connection: connection };
        let until = Instant::now() + Duration::from_secs(30);
        while dashboard.run("sessionStorage.getItem('key') !== null").await != true {
            assert!(Instant::now() < until, "the dashboard did not open");
        }
        dashboard
    }

    async fn run(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        // A page that loads has no context for a moment.
        let Ok(response) = self.page.send("Runtime.evaluate", &params, LIMIT).await else {
            return Value::Null;
        };
        response.to::<Value>().expect("a result")["result"]["value"].take()
    }

    async fn becomes(&self, expression: &str) {
        let until = Instant::now() + LIMIT;
        while self.run(expression).await != true {
            assert!(Instant::now() < until, "{expression}");
        }
    }

    async fn send(&self, method: &'static str, params: &Value) {
        self.page.send(method, params, LIMIT).await.expect("the browser responds");
    }

    /// Types a message and sends it.
    async fn say(&self, text: &str) {
        self.send("Input.insertText", &json!({"text": text})).await;
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { "\r" } else { "" };
            let event = json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": text});
            self.send("Input.dispatchKeyEvent", &event).await;
        }
    }

    async fn wait(&self, milliseconds: u32) {
        self.run(&format!("new Promise((done) => setTimeout(done, {milliseconds}))")).await;
    }
}

/// Processor time of a process so far.
fn processor_time(pid: u64) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process lives");
    let fields = text.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|tick| tick.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Frames, bytes and the daemon's share of a core while the dashboard shows what it shows.
async fn measure(dashboard: &Dashboard, daemon: u64) -> (f64, f64, f64) {
    dashboard.run("window.counted = {frames: 0, bytes: 0}").await;
    let (before, since) = (processor_time(daemon), Instant::now());
    dashboard.wait(MEASURED_MS).await;
    let (seconds, used) = (since.elapsed().as_secs_f64(), processor_time(daemon).saturating_sub(before));
    let counted = dashboard.run("window.counted").await;
    let (frames, bytes) =
        (counted["frames"].as_f64().unwrap_or_default(), counted["bytes"].as_f64().unwrap_or_default());
    (frames / seconds, bytes / frames.max(1.0) / 1024.0, used.as_secs_f64() / seconds * 100.0)
}

/// The view of chats, pieces of text and a stop.
async fn measure_chats(dashboard: &Dashboard) {
    dashboard.send("Emulation.setFocusEmulationEnabled", &json!({"enabled": true})).await;
    let drawn = dashboard.run(OPEN_CHATS).await.as_f64().unwrap_or_default();
    println!("view of chats: drawn in {drawn:.0} ms (aim: 150)");
    dashboard.run(WATCH_PIECES).await;
    // The first message starts the agent.
    dashboard.say("warm").await;
    dashboard
        .becomes(
            "document.querySelector('.chats button.stop').checkVisibility() === false && ages.length > 0",
        )
        .await;
    dashboard.run("(window.ages.length = 0, document.querySelector('.chats textarea').focus(), true)").await;
    dashboard.say("again").await;
    dashboard
        .becomes(
            "ages.length > 9 && document.querySelector('.chats button.stop').checkVisibility() === false",
        )
        .await;
    let mut sample = Sample::default();
    for age in dashboard.run("ages").await.as_array().into_iter().flatten().filter_map(Value::as_f64) {
        sample.add(Duration::from_secs_f64(age.max(0.0) / 1_000.0));
    }
    let milliseconds = |share: f64| sample.quantile(share).as_secs_f64() * 1_000.0;
    println!(
        "piece of text to the page: p50 {:.0} ms, p90 {:.0} ms (aim: 50)",
        milliseconds(0.5),
        milliseconds(0.9)
    );
    dashboard.say("hang").await;
    dashboard.becomes("document.querySelector('.chats button.stop').checkVisibility()").await;
    let place = dashboard
        .run("(() => { const {x, y, width, height} = document.querySelector('.chats button.stop').getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()")
        .await;
    let press = async {
        dashboard.wait(300).await;
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            dashboard.send("Input.dispatchMouseEvent", &event).await;
        }
    };
    let (stopped, ()) = tokio::join!(dashboard.run(STOP), press);
    println!("stop shown in {:.0} ms (aim: 100)", stopped.as_f64().unwrap_or_default());
}

/// A search path on which the agent of this benchmark is installed.
fn path_with_agent(world: &TabwireWorld) -> std::ffi::OsString {
    let programs = world.home().join("programs");
    std::fs::create_dir(&programs).expect("a directory");
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/chat_agent.py");
    std::os::unix::fs::symlink(agent, programs.join("codex-acp")).expect("a link");
    let before = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&before))).expect("a path")
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let program =
        tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path;
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let started = world.command(&["daemon", "start"]).env("PATH", path_with_agent(&world)).status();
    assert!(started.is_ok_and(|status| status.success()), "the daemon starts");
    world.run(&["--global", "open", "about:blank"]);
    world.run(&["--global", "eval", MOVES]);
    let daemon = world.status()["pid"].as_u64().expect("a pid");
    let printed = world.text(&["--json", "dashboard", "--print", "--without-terminal"]);
    let url: Value = serde_json::from_str(&printed).expect("a URL");
    let (bare, tasks) = (BareBrowser::start(&program), TaskGroup::new());
    runtime.block_on(async {
        let dashboard = Dashboard::open(&bare, &tasks, url["url"].as_str().expect("a URL")).await;
        // A view without images of its own.
        dashboard.run("void (location.hash = 'health')").await;
        dashboard.run(WATCH).await;
        let (rate, size, share) = measure(&dashboard, daemon).await;
        println!("moving page at 704x396: {rate:.1} frames/s (aim: 20), {size:.1} KB a frame (aim: 40), daemon {share:.1} % of a core (aim: 3)");
        world.run(&["--global", "eval", PRESSED]);
        dashboard.wait(1_000).await;
        let (rate, _, share) = measure(&dashboard, daemon).await;
        println!("still page: {rate:.1} frames/s, daemon {share:.1} % of a core (aim: 1)");
        let times = dashboard.run(&format!("{PRESS}({PRESSES})")).await;
        let mut sample = Sample::default();
        for time in times.as_array().into_iter().flatten().filter_map(Value::as_f64) {
            sample.add(Duration::from_secs_f64(time / 1_000.0));
        }
        let milliseconds = |share: f64| sample.quantile(share).as_secs_f64() * 1_000.0;
        println!("press to drawn frame: p50 {:.0} ms, p90 {:.0} ms (aim: 80)", milliseconds(0.5), milliseconds(0.9));
        dashboard.run("void (window.live.close(), location.hash = 'live')").await;
        dashboard.wait(1_000).await;
        let (_, _, share) = measure(&dashboard, daemon).await;
        println!("one thumbnail: daemon {share:.1} % of a core (aim: 2)");
        measure_chats(&dashboard).await;
    });
}
