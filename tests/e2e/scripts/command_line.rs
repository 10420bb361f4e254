//! `execute`, `run` and `reset` on the command line.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use super::execute;
use crate::support::world::World;

#[test]
fn variables_and_state_stay_until_reset() {
    let world = World::new();
    assert_eq!(execute(&world, "const a: number = 2; state.n = 1; a"), "2");
    assert_eq!(execute(&world, "a + state.n"), "3");
    assert!(world.run(&["reset"]).succeeded().text().contains("gone"));
    let outcome = world.run(&["--json", "execute", "a"]);
    assert_eq!(outcome.failure(), ("EVAL_FAILED".to_owned(), 1));
    assert_eq!(world.json(&["execute", "({ b: [1] })"])["value"], serde_json::json!({"b": [1]}));
}

#[test]
fn clients_have_processes_of_their_own() {
    let world = World::new();
    world.run(&["--as", "one", "execute", "const mine = 1"]).succeeded();
    assert_eq!(world.run(&["--as", "two", "execute", "typeof mine"]).succeeded().text(), "undefined");
    assert_eq!(world.run(&["--as", "one", "execute", "mine"]).succeeded().text(), "1");
}

#[test]
fn code_comes_from_standard_input_too() {
    let world = World::new();
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["execute"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
    child.stdin.take().expect("piped").write_all(b"console.log('one');\n40 + 2").expect("written");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\n42\n");
}

#[test]
fn errors_show_line_and_caret() {
    let world = World::new();
    let outcome = world.run(&["execute", "const a = 1;\nawait page.locator('#none').click({ timeout: 50 })"]);
    assert_eq!(outcome.code, 1);
    for part in [
        "locator.click: Timeout 50ms exceeded.",
        "waiting for locator('#none')",
        "at execute:2:",
        "  2 | await page",
        "^",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
}

#[test]
fn an_error_names_similar_elements() {
    let world = World::new();
    let code = super::on_page("await page.getByRole('button', { name: 'Buyy' }).click({ timeout: 300 })");
    let outcome = world.run(&["execute", &code]);
    assert!(outcome.stderr.contains("Similar elements on the page: button \"Buy\""), "{}", outcome.stderr);
}

#[test]
fn files_import_index_files_and_import_at_run_time() {
    let world = World::new();
    for (name, text) in [
        (
            "main.ts",
            "import { one } from './one'; const { two } = await import('./two.js'); console.log(one, two);",
        ),
        ("one/index.mjs", "export const one = 1;"),
        ("two.ts", "export const two: number = 2;"),
    ] {
        let path = world.home().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("written");
    }
    assert_eq!(world.run(&["run", "main.ts"]).succeeded().text(), "1 2");
}

#[test]
fn files_run_with_their_imports_and_arguments() {
    let world = World::new();
    let folder = world.home().join("scripts");
    fs::create_dir(&folder).expect("a directory");
    fs::write(folder.join("lib.ts"), "export const twice = (n: number): number => n * 2;").expect("written");
    let script = "import { twice } from './lib';\nimport { chromium, type Page } from 'playwright';\n\
                  const browser = await chromium.launch();\nconst page: Page = await browser.newPage();\n\
                  await page.goto('data:text/html,<title>File</title>');\n\
                  console.log(await page.title(), twice(Number(args[0])));\nawait browser.close();";
    fs::write(folder.join("script.ts"), script).expect("written");
    assert_eq!(world.run(&["run", "scripts/script.ts", "21"]).succeeded().text(), "File 42");
    fs::write(folder.join("bad.ts"), "enum A { B }").expect("written");
    let outcome = world.run(&["run", "scripts/bad.ts"]);
    assert!(outcome.stderr.contains("`enum`") && outcome.stderr.contains("bad.ts:1:1"), "{}", outcome.stderr);
}

#[test]
fn specs_run_without_node() {
    let world = World::new();
    let spec = "import { test, expect } from '@playwright/test';\n\
                test.beforeEach(async ({ page }) => { await page.goto('data:text/html,<h1>Hi</h1>'); });\n\
                test('greets', async ({ page }) => { await expect(page.getByRole('heading')).toHaveText('Hi'); });\n\
                test('fails', async ({ page }) => { await expect(page.locator('h1')).toHaveText('Ho', { timeout: 50 }); });";
    fs::write(world.home().join("a.spec.ts"), spec).expect("written");
    let outcome = world.run(&["run", "a.spec.ts"]);
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stdout.contains("✓  greets") && outcome.stdout.contains("✘  fails"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn the_log_has_a_row_for_the_run_and_its_calls() {
    let world = World::new();
    execute(&world, "await page.goto('data:text/html,<p>x</p>'); 'secret-text-in-code'");
    execute(&world, "for (let i = 0; i < 5; i++) await page.locator('p').count(); await page.title()");
    let log = world.run(&["log", "--json"]).succeeded();
    assert!(!log.stdout.contains("secret-text-in-code"), "{}", log.stdout);
    let rows: Vec<serde_json::Value> =
        log.stdout.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    let runs: Vec<_> = rows.iter().filter(|row| row["action"] == "execute").collect();
    assert_eq!(runs.len(), 2, "{rows:#?}");
    assert!(runs[0]["params"]["bytes"].is_u64() && runs[0]["params"]["hash"].is_string(), "{}", runs[0]);
    let calls = |run: &serde_json::Value| -> Vec<(String, i64)> {
        let of_run = rows.iter().filter(|row| row["run"] == run["run"] && row["action"] != "execute");
        of_run
            .map(|row| {
                (row["action"].as_str().unwrap_or_default().to_owned(), row["times"].as_i64().unwrap_or(1))
            })
            .collect()
    };
    assert_eq!(calls(runs[0]), [("navigate".to_owned(), 1)]);
    assert_eq!(calls(runs[1]), [("query".to_owned(), 5), ("get".to_owned(), 1)], "{rows:#?}");
    let run = runs[1]["run"].as_str().expect("a name");
    let one = world.run(&["log", "--run", run]).succeeded().stdout;
    assert!(one.contains("×5") && one.contains("execute") && !one.contains("navigate"), "{one}");
}

#[test]
fn a_dash_reads_standard_input_and_json_has_console_and_result() {
    let world = World::new();
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["--json", "execute", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
    let code = b"console.log('one'); console.error('two'); ({ a: 1 })";
    child.stdin.take().expect("piped").write_all(code).expect("written");
    let output = child.wait_with_output().expect("an end");
    let lines: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["console"], serde_json::json!({"level": "log", "text": "one"}));
    assert_eq!(lines[1]["console"]["level"], "error");
    assert_eq!(lines[2]["value"], serde_json::json!({"a": 1}));
}

#[test]
fn a_watched_file_runs_again_when_its_import_changes() {
    let world = World::new();
    let (script, lib) = (world.home().join("watched.ts"), world.home().join("lib.ts"));
    fs::write(&lib, "export const word = 'first';").expect("written");
    fs::write(&script, "import { word } from './lib'; console.log(word, args[0]);").expect("written");
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["run", "--watch", "watched.ts", "x"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
    let (sender, lines) = std::sync::mpsc::channel();
    let output = child.stdout.take().expect("piped");
    std::thread::spawn(move || {
        for line in std::io::BufRead::lines(std::io::BufReader::new(output)).map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let next = || lines.recv_timeout(std::time::Duration::from_secs(40)).expect("a line");
    assert_eq!(next(), "first x");
    fs::write(&lib, "export const word = 'second one';").expect("written");
    assert_eq!(next(), "second one x");
    fs::write(&script, "console.log('alone')").expect("written");
    assert_eq!(next(), "alone");
    child.kill().expect("killed");
    child.wait().expect("an end");
}
