//! Functions for agents: files, secrets, labels, logs, skills, help, and the signal of a run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::scripts::{execute, on_page};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn files_are_read_and_written_below_the_roots() {
    let world = World::new();
    fs::write(world.home().join("in.txt"), "grüße\n").expect("written");
    fs::write(world.home().join("theirs.txt"), "of the user").expect("written");
    let code = "const text = await fs.readFile('in.txt', 'utf8'); const bytes = await fs.readFile('in.txt'); \
                const path = await fs.writeFile('out.txt', text.toUpperCase()); \
                console.log(text.trim(), bytes.length, path.endsWith('out.txt'))";
    assert_eq!(execute(&world, code), "grüße 8 true");
    assert_eq!(fs::read_to_string(world.home().join("out.txt")).expect("a file"), "GRÜSSE\n");
    for (code, message) in [
        ("await fs.readFile('/etc/hostname')", "is not below a directory that was declared"),
        ("await fs.readFile('../x')", "is not below a directory that was declared"),
        ("await fs.readFile('missing.txt')", "missing.txt"),
        ("await fs.writeFile('theirs.txt', 'again')", "theirs.txt"),
        ("await fs.writeFile('.git/hooks/x', 'x')", ".git"),
        ("await fs.readFile('in.txt', 'latin1')", "latin1"),
    ] {
        let outcome = world.run(&["execute", code]);
        assert!(outcome.code != 0 && outcome.stderr.contains(message), "{code}: {}", outcome.stderr);
    }
    assert_eq!(fs::read_to_string(world.home().join("theirs.txt")).expect("a file"), "of the user");
    execute(&world, "await fs.writeFile('out.txt', 'again')");
    assert_eq!(fs::read_to_string(world.home().join("out.txt")).expect("a file"), "again");
}

#[test]
fn t26_files_of_a_guarded_script_need_grants_and_stay_with_their_site() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    fs::write(world.home().join("in.txt"), "secret ".repeat(60)).expect("written");
    let (a, b) = (site.url("a", ""), site.url("b", ""));
    let allow = |origin: &str, more: &[&str]| {
        world.run(&[&["allow", origin, "--without-terminal"], more].concat()).succeeded();
    };
    allow(&a, &["--act"]);
    allow(&b, &["--act"]);
    let start = format!("await page.goto({});", json!(site.url("a", "/inputs")));
    for call in ["fs.readFile('in.txt')", "fs.writeFile('new.txt', 'x')"] {
        let refused = world.run(&["--json", "execute", &format!("{start} await {call}")]);
        assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{call}: {refused:?}");
    }
    assert!(!world.home().join("new.txt").exists());
    allow(&a, &["--act", "--upload"]);
    world
        .run(&["execute", &format!("{start} state.text = await fs.readFile('in.txt', 'utf8'); await page.fill('#text', state.text)")])
        .succeeded();
    let elsewhere =
        format!("await page.goto({}); await page.fill('#text', state.text)", json!(site.url("b", "/inputs")));
    let refused = world.run(&["--json", "execute", &elsewhere]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    assert!(refused.stdout.contains("--carry"), "{refused:?}");
}

#[test]
fn labels_logs_and_snapshots_are_there() {
    let world = World::new();
    let code = on_page(
        "const shot = await screenshotWithAccessibilityLabels();\n\
         console.log(/\\[e\\d+\\] button \"Ask\"/.test(shot.labels), shot.path.endsWith('.png'));\n\
         await page.evaluate(() => { console.log('hello one'); console.warn('other two') });\n\
         console.log(await getLogs({ search: 'hello' })); console.log((await getLogs({ search: /two$/ })).length);\n\
         await clearLogs(); console.log((await getLogs()).length);\n\
         console.log((await snapshot({ search: 'Pear' })).includes('Pear'), (await snapshot({ interactive: true })).includes('Items'));\n\
         await snapshot(); await page.evaluate(() => { document.querySelector('h1').textContent = 'Changed' });\n\
         console.log((await snapshot({ delta: true })).includes('Changed'));\n\
         console.log((await pageMarkdown()).includes('# Changed'), (await cleanHTML('h1')).includes('Changed'));\n\
         await waitForPageLoad();",
    );
    let printed = execute(&world, &code);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "true true", "{printed}");
    assert!(lines[1].contains("hello one") && !lines[1].contains("two"), "{printed}");
    assert_eq!(lines[2..4], ["1", "0"], "{printed}");
    assert!(lines[4].starts_with("true"), "{printed}");
    assert_eq!(lines[5..], ["true", "true true"], "{printed}");
}

#[test]
fn the_signal_of_a_run_is_aborted_when_its_time_is_over() {
    let world = World::new();
    let code = "state.seen = executeSignal.aborted; executeSignal.addEventListener('abort', () => { state.seen = 'aborted' }); \
                await new Promise(() => {})";
    let outcome = world.run(&["--json", "--timeout", "300ms", "execute", code]);
    assert_eq!(outcome.failure().0, "TIMEOUT");
    assert_eq!(execute(&world, "state.seen + ' ' + executeSignal.aborted"), "aborted false");
    assert_eq!(execute(&world, "const c = new AbortController(); c.abort(); c.signal.aborted"), "true");
}

#[test]
fn skills_of_the_user_are_imported_listed_and_explained() {
    let world = World::new();
    let folder = world.home().join("config/scripts/greet");
    fs::create_dir_all(&folder).expect("a directory");
    let files = [
        (
            "index.ts",
            "import { word } from './word'; export const greet = (name: string): string => `${word} ${name}`;",
        ),
        ("word.ts", "export const word = 'Hello';"),
        ("SKILL.md", "---\nname: greet\ndescription: Greets by name.\n---\n# Greet\n\nCall `greet(name)`."),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("written");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).expect("set");
    }
    let code = "const { greet } = await import('tabwire:greet'); greet('Ann')";
    assert_eq!(execute(&world, code), "Hello Ann");
    assert_eq!(
        execute(&world, "import { greet } from 'tabwire:greet'; console.log(greet('Bo'))"),
        "Hello Bo"
    );
    assert_eq!(execute(&world, "skills()"), "[ { name: 'greet', description: 'Greets by name.' } ]");
    assert!(execute(&world, "help('greet')").contains("Call `greet(name)`."));
    assert!(execute(&world, "help('skills')").contains("tabwire:greet: Greets by name."));
    fs::write(
        world.home().join("use.ts"),
        "import { greet } from 'tabwire:greet'; console.log(greet('file'));",
    )
    .expect("written");
    assert_eq!(world.run(&["run", "use.ts"]).succeeded().text(), "Hello file");
    let outcome = world.run(&["execute", "await import('tabwire:none')"]);
    assert!(outcome.stderr.contains("There is no skill `tabwire:none`"), "{}", outcome.stderr);
    // Code that others can write is not run.
    fs::set_permissions(folder.join("index.ts"), fs::Permissions::from_mode(0o666)).expect("set");
    assert_eq!(execute(&world, "skills().length"), "0");
}

#[test]
fn skills_of_a_project_need_the_users_trust() {
    let world = World::new();
    let folder = world.home().join("scripts/report");
    fs::create_dir_all(&folder).expect("a directory");
    fs::write(folder.join("index.ts"), "export const title = 'of the project';").expect("written");
    fs::set_permissions(folder.join("index.ts"), fs::Permissions::from_mode(0o600)).expect("set");
    let code = "const { title } = await import('tabwire:report'); title";
    let outcome = world.run(&["execute", code]);
    assert!(outcome.stderr.contains("There is no skill `tabwire:report`"), "{}", outcome.stderr);
    // The project cannot trust itself.
    fs::write(world.home().join("tabwire.toml"), "").expect("written");
    let refused = world.run(&["--json", "config", "set", "--project", "skills", "scripts"]);
    assert_eq!(refused.failure().0, "POLICY_DENIED", "{refused:?}");
    let directory = world.home().join("scripts");
    world.run(&["config", "set", "skills", directory.to_str().expect("text")]).succeeded();
    world.run(&["daemon", "stop"]).succeeded();
    assert_eq!(execute(&world, code), "of the project");
}

#[test]
fn help_explains_every_topic_that_it_names() {
    let world = World::new();
    let code = "const topics = [...help().matchAll(/'(\\w+)'/g)].map((match) => match[1]); \
                topics.filter((topic) => help(topic).startsWith('There is no topic')).join() + '|' + topics.length";
    let report = execute(&world, code);
    assert!(report.starts_with('|') && report.len() > 2, "{report}");
    assert!(execute(&world, "help('actions')").contains("snapshot"));
    assert!(execute(&world, "help('nothing')").contains("There is no topic"));
}
