//! Limits of a run: memory, stack, time, calls, console.

use std::time::{Duration, Instant};

use tabwire_script::limits::{CALLS, CODE_BYTES, CONSOLE_BYTES, IMAGES, MODULE_BYTES};
use tabwire_script::message::{FromChild, Run};

use super::process::ScriptProcess;

fn begin(code: &str) -> (ScriptProcess, u64) {
    let mut process = ScriptProcess::start();
    let run = process.begin(Run { code: code.to_owned(), ..Run::default() });
    (process, run)
}

#[test]
fn memory_is_limited() {
    let mut process = ScriptProcess::start();
    let error =
        process.execute("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)").error.expect("an error");
    assert!(error.message.contains("out of memory"), "{error:?}");
    // Variables hold the memory, so the process ends.
    assert!(process.exit_status().success());
}

#[test]
fn the_stack_is_limited() {
    let mut process = ScriptProcess::start();
    let error = process.execute("function f() { return f() + 1 }; f()").error.expect("an error");
    assert!(error.message.contains("call stack"), "{error:?}");
    let deep = process.execute(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)));
    assert!(deep.error.is_some());
}

#[test]
fn a_loop_is_interrupted_by_a_cancel() {
    for code in [
        "for (;;) {}",
        "/(a+)+b/.test('a'.repeat(40))",
        "try { for (;;) {} } catch {} finally { for (;;) {} }",
    ] {
        let (mut process, run) = begin(code);
        process.cancel(run);
        let since = Instant::now();
        let error = process.wait().error.expect("an error");
        assert_eq!(error.name, "CancelledError", "{code}");
        assert!(since.elapsed() < Duration::from_secs(10), "{code}");
        // Jobs of the interrupted code may be left, so the process ends.
        assert!(process.exit_status().success(), "{code}");
    }
}

#[test]
fn a_loop_of_jobs_is_interrupted_by_a_cancel() {
    let (mut process, run) =
        begin("const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})");
    process.cancel(run);
    assert_eq!(process.wait().error.map(|error| error.name).as_deref(), Some("CancelledError"));
}

#[test]
fn a_cancel_lets_the_script_handle_its_errors() {
    let (mut process, run) =
        begin("try { await new Promise((r) => setTimeout(r, 1e9)) } finally { console.log('x') }");
    process.cancel(run);
    let done = process.wait();
    assert_eq!(done.error.map(|error| error.message).as_deref(), Some("The time is over."));
    assert_eq!(process.execute("1 + 1").text.as_deref(), Some("2"));
}

#[test]
fn a_kill_ends_code_that_cannot_be_interrupted() {
    let (mut process, run) = begin("new Array(1e9) + ''");
    process.cancel(run);
    assert!(process.next_within(Duration::from_millis(500)).is_none(), "the engine does not see the cancel");
    process.kill();
    assert!(!process.exit_status().success());
}

#[test]
fn code_after_the_end_of_a_run_is_stopped() {
    let mut process = ScriptProcess::start();
    let done = process.execute("const f = () => Promise.resolve().then(f); f(); state.a = 1; 'done'");
    assert_eq!((done.text.as_deref(), done.state), (Some("done"), Some(serde_json::json!({"a": 1}))));
    assert!(process.exit_status().success());
}

#[test]
fn console_output_is_cut_and_counted() {
    let mut process = ScriptProcess::start();
    let done = process.execute("for (let i = 0; i < 3000; i++) console.log('x'.repeat(1000))");
    // The end of each line counts.
    let bytes: usize = process.console.iter().map(|line| line.text.len() + 1).sum();
    assert_eq!(bytes, CONSOLE_BYTES);
    assert_eq!(done.dropped_console_bytes, 3_003_000 - u64::try_from(CONSOLE_BYTES).expect("small"));
}

#[test]
fn empty_lines_of_the_console_are_limited_too() {
    let mut process = ScriptProcess::start();
    let done = process.execute("for (let i = 0; i < 1.2e6; i++) console.log('')");
    assert_eq!(process.console.len(), CONSOLE_BYTES);
    assert_eq!(done.dropped_console_bytes, 1_200_000 - u64::try_from(CONSOLE_BYTES).expect("small"));
}

#[test]
fn code_modules_parameters_and_results_have_sizes() {
    let mut process = ScriptProcess::start();
    let error = process.execute(&format!("// {}", "x".repeat(CODE_BYTES))).error.expect("an error");
    assert!(error.message.contains(&CODE_BYTES.to_string()), "{error:?}");
    let modules = (0..5).map(|at| (format!("m{at}.ts"), format!("// {}", "x".repeat(1_000_000)))).collect();
    let code = "import './m0'; import './m1'; import './m2'; import './m3'; import './m4'; 1".to_owned();
    process.begin(Run { code, name: "script.ts".to_owned(), is_file: true, modules, ..Run::default() });
    let error = process.wait().error.expect("an error");
    assert!(error.message.contains(&MODULE_BYTES.to_string()), "{error:?}");
    let error = process.execute("await tabwire.get({ text: 'x'.repeat(17e6) })").error.expect("an error");
    assert!(error.message.contains("too large"), "{error:?}");
    assert_eq!(process.calls.len(), 0);
    // A value that is too large as JSON is left out; its text is cut.
    let done = process.execute("state.kept = 1; 'x'.repeat(5e6)");
    assert_eq!((done.value, done.text.map(|text| text.len() < 2_000_000)), (None, Some(true)));
    let done = process.execute("state.large = 'x'.repeat(5e6); 1");
    assert_eq!((done.state, done.text.as_deref()), (None, Some("1")));
}

#[test]
fn images_are_limited() {
    let mut process = ScriptProcess::start();
    process.begin(Run {
        code: "for (let i = 0; i < 50; i++) await page.screenshot()".to_owned(),
        ..Run::default()
    });
    let mut images = 0;
    loop {
        match process.next().expect("a message") {
            FromChild::Image(_) => images += 1,
            FromChild::Call(call) => process.respond(&call, r#"{"result":{"path":"/x.png","base64":""}}"#),
            FromChild::Done(_) => break,
            FromChild::Ready | FromChild::Console(_) | FromChild::Listen(_) => {}
        }
    }
    assert_eq!(images, IMAGES + 1, "one more, so that the daemon tells the client");
}

#[test]
fn calls_and_timers_are_limited() {
    let mut process = ScriptProcess::start();
    let code = "let most = 0; for (let i = 0; i < 12000; i++) await tabwire.get({ i })";
    let error = process.execute(code).error.expect("an error");
    assert!(error.message.contains(&CALLS.to_string()), "{error:?}");
    assert_eq!(u64::try_from(process.calls.len()).expect("few"), CALLS);
    let error =
        process.execute("for (let i = 0; i < 1e5; i++) setTimeout(() => {}, 1e6)").error.expect("an error");
    assert!(error.message.contains("10000 timers"), "{error:?}");
}

#[test]
fn at_most_64_calls_are_under_way() {
    let mut process = ScriptProcess::start();
    process.begin(Run {
        code: "for (let i = 0; i < 100; i++) tabwire.get({ i }); await new Promise(() => {})".to_owned(),
        ..Run::default()
    });
    let mut calls = 0;
    while let Some(FromChild::Call(_)) = process.next_within(Duration::from_secs(1)) {
        calls += 1;
    }
    assert_eq!(calls, 64);
}

#[test]
fn changed_functions_of_the_language_break_only_the_script() {
    for code in [
        "JSON.stringify = () => '1}\\n{\"done\":{}}'; await tabwire.get({ a: 1 }); for (;;) {}",
        "Map.prototype.get = null; Map.prototype.values = null; await tabwire.get({ a: 1 }); for (;;) {}",
        "Array.prototype[Symbol.iterator] = null; Promise.prototype.then = null; await new Promise(() => {})",
        "Object.prototype.toJSON = () => { for (;;) {} }; for (;;) {}",
        "globalThis.Error = null; Object.defineProperty = null; null.x; for (;;) {}",
        "page.constructor.prototype.call = () => { for (;;) {} }; await page.title(); for (;;) {}",
        "Object.setPrototypeOf(page, new Proxy({}, { get() { for (;;) {} } })); await page.title()",
        "Object.defineProperty(Object.prototype, 'id', { get: () => 1, set() {} }); await tabwire.get({}); for (;;) {}",
        "tabwire.get = tabwire; Object.freeze(tabwire); expect.poll = null; state = null; globalThis.state = new Proxy({}, { ownKeys() { for (;;) {} } }); for (;;) {}",
        "Object.prototype.then = (resolve) => resolve(1); await tabwire.get({}); for (;;) {}",
        "Function.prototype.call = Function.prototype.apply = null; Array.prototype.push = () => { throw 1 }; await tabwire.get({}); for (;;) {}",
    ] {
        let (mut process, run) = begin(code);
        process.cancel(run);
        let done = process.wait();
        assert_eq!(done.run, run, "{code}");
        assert!(done.error.is_some(), "{code}");
    }
}
