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
    let log = world.run(&["log", "--json"]).succeeded();
    assert!(log.stdout.contains("\"execute\"") && log.stdout.contains("\"navigate\""), "{}", log.stdout);
    assert!(!log.stdout.contains("secret-text-in-code"), "{}", log.stdout);
}
