//! Results, variables, errors, modules and the environment of scripts.

use std::collections::BTreeMap;

use serde_json::json;
use tabwire_script::message::Run;

use super::process::{ScriptProcess, text};

#[test]
fn the_last_expression_is_the_result() {
    assert_eq!(text("1 + 1"), "2");
    assert_eq!(text("const a: number = 2; a * 3"), "6");
    assert_eq!(text("await Promise.resolve('x')"), "x");
    assert_eq!(text("Promise.resolve([1, 'a'])"), "[ 1, 'a' ]");
    assert_eq!(text("return 5"), "5");
    assert_eq!(text("if (true) { ({ a: { b: null } }) }"), "{ a: { b: null } }");
    assert_eq!(text("const x = 1"), "undefined");
}

#[test]
fn variables_live_until_the_process_ends() {
    let mut process = ScriptProcess::start();
    process.execute("const a = 1; let b = 2; function f() { return a + b } class C { d = 4 }");
    assert_eq!(process.execute("const a = 10; f()").text.as_deref(), Some("12"));
    assert_eq!(process.execute("class C { d = 5 }; new C().d").text.as_deref(), Some("5"));
    process.execute("state.list = [1, 2]; state.f = () => 1");
    let done = process.execute("state.list.push(3)");
    assert_eq!(done.state, Some(json!({"list": [1, 2, 3]})));
    assert!(process.exit_status().success());
}

#[test]
fn state_of_an_earlier_process_is_restored() {
    let mut process = ScriptProcess::start();
    let state = Some(json!({"n": 7}));
    process.begin(Run { code: "state.n + 1".to_owned(), state, ..Run::default() });
    assert_eq!(process.wait().value, Some(json!(8)));
}

#[test]
fn errors_have_place_and_line() {
    let mut process = ScriptProcess::start();
    let error = process.execute("const a = 1;\n  a.b.c()").error.expect("an error");
    assert_eq!((error.name.as_str(), error.place.as_deref()), ("TypeError", Some("execute:2:3")));
    assert_eq!(error.excerpt.as_deref(), Some("  2 |   a.b.c()\n    |   ^"));
    let error = process.execute("let a = ;").error.expect("an error");
    assert_eq!((error.name.as_str(), error.place.as_deref()), ("SyntaxError", Some("execute:1:9")));
    let error = process.execute("return a.b.c").error.expect("an error");
    assert_eq!(error.place.as_deref(), Some("execute:1:8"));
    let error = process.execute("throw 5").error.expect("an error");
    assert_eq!(error.message, "The script threw 5.");
    assert_eq!(process.execute("1").text.as_deref(), Some("1"));
}

#[test]
fn a_failed_call_points_at_its_line() {
    let mut process = ScriptProcess::start();
    let code = "async function press() {\n  await tabwire.click({ target: 'e1' });\n}\nawait tabwire.get();\nawait press();";
    let error = process.execute(code).error.expect("an error");
    assert_eq!(error.message, "tabwire.click: Nothing matches.\nLook again.");
    assert_eq!((error.name.as_str(), error.place.as_deref()), ("TimeoutError", Some("execute:2:17")));
    assert_eq!(error.failure.expect("a failure")["code"], "TIMEOUT");
    assert_eq!(process.calls.len(), 2);
    assert!(
        process.execute("try { await tabwire.click() } catch (error) { error.code }").text.as_deref()
            == Some("TIMEOUT")
    );
}

#[test]
fn the_console_prints_as_in_node() {
    let mut process = ScriptProcess::start();
    process.execute("console.log('a %s', 1, { b: [true] }); console.error(new Map([[1, 'x']]))");
    let lines: Vec<_> =
        process.console.iter().map(|line| (line.level.as_str(), line.text.as_str())).collect();
    assert_eq!(lines, [("log", "a 1 { b: [ true ] }"), ("error", "Map(1) { 1 => 'x' }")]);
}

#[test]
fn timers_url_and_encoding_are_there() {
    assert_eq!(text("await new Promise((resolve) => setTimeout(resolve, 5, 'later'))"), "later");
    assert_eq!(
        text(
            "let n = 0; await new Promise((r) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r() } }, 1) }); n"
        ),
        "3"
    );
    assert_eq!(
        text(
            "const u = new URL('../b?x=1#y', 'https://a.test/c/d'); u.searchParams.append('z', 'ä b'); u.href"
        ),
        "https://a.test/b?x=1&z=%C3%A4+b#y"
    );
    assert_eq!(text("URL.canParse('nonsense')"), "false");
    assert_eq!(text("new TextDecoder().decode(new TextEncoder().encode('aä€🎉'))"), "aä€🎉");
    assert_eq!(text("atob(btoa('hello'))"), "hello");
    assert_eq!(text("crypto.randomUUID().length"), "36");
    assert_eq!(
        text("structuredClone({ a: new Date(0), b: [NaN, undefined] })"),
        "{ a: 1970-01-01T00:00:00.000Z, b: [ NaN, undefined ] }"
    );
}

#[test]
fn files_import_files_that_came_with_them() {
    let mut process = ScriptProcess::start();
    let modules = BTreeMap::from([
        ("lib/add.ts".to_owned(), "export const add = (a: number, b: number): number => a + b;".to_owned()),
        ("lib/index.ts".to_owned(), "export * from './add';".to_owned()),
    ]);
    let code = "import { add } from './lib';\nconsole.log(add(1, Number(args[0])));";
    let run = Run {
        code: code.to_owned(),
        name: "script.ts".to_owned(),
        is_file: true,
        modules,
        args: vec!["2".to_owned()],
        ..Run::default()
    };
    process.begin(run);
    assert_eq!(process.wait().error, None);
    assert_eq!(process.console[0].text, "3");
    for name in ["fs", "./missing", "https://a.test/x.js"] {
        process.begin(Run {
            code: format!("import x from '{name}'; x()"),
            name: "other.ts".to_owned(),
            is_file: true,
            ..Run::default()
        });
        let error = process.wait().error.expect("an error");
        assert!(error.message.contains("Cannot import"), "{error:?}");
    }
}
