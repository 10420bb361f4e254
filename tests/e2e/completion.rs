//! Completion as shells ask for it: the real scripts in real shells, and names that exist right now.

use crate::fixture_site::FixtureSite;
use crate::world::World;

/// Loads the script in bash and completes at the end of a line, as readline would.
const BASH: &str = r#"
eval "$(tabwire completions bash)"
COMP_LINE="$1"
COMP_POINT=${#COMP_LINE}
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tabwire tabwire "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash offers after words, given as bash breaks them.
fn in_bash(world: &World, line: &str, words: &[&str]) -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_tabwire")).parent().expect("a folder");
    let script = format!("PATH={}:$PATH\n{BASH}", folder.display());
    let outcome = world.run_program("bash", &[&["-c", &script, "bash", line], words].concat()).succeeded();
    assert!(outcome.stderr.is_empty(), "{line}: {outcome:?}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

/// What a script is answered: `value`, tab, meaning.
fn asked(world: &World, shell: &str, words: &[&str]) -> Vec<String> {
    let outcome = world.run(&[&["complete", shell, "--"], words].concat()).succeeded();
    assert!(outcome.stderr.is_empty(), "{words:?}: {outcome:?}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn without_a_daemon_words_are_offered_and_nothing_is_started() {
    let world = World::new();
    assert_eq!(in_bash(&world, "tabwire snaps", &["tabwire", "snaps"]), ["snapshot"]);
    assert_eq!(in_bash(&world, "tabwire daemon sto", &["tabwire", "daemon", "sto"]), ["stop"]);
    assert_eq!(in_bash(&world, "tabwire click --new", &["tabwire", "click", "--new"]), ["--new-tab"]);
    for words in [&["click", ""][..], &["--session", ""], &["tab-select", ""], &["no-such", ""], &[]] {
        assert_eq!(asked(&world, "fish", words), [""; 0], "{words:?}");
    }
    assert_eq!(asked(&world, "zsh", &["upload", ""]), [":files"]);
    let all = asked(&world, "fish", &[""]);
    assert!(all.contains(&"click\tClick an element".to_owned()), "{all:?}");
    // The last word of PowerShell carries a mark, so that it is never empty.
    assert_eq!(asked(&world, "powershell", &["dialog", "acc_"]).len(), 1);
    assert_eq!(world.run(&["complete"]).succeeded().stdout, "");
    std::fs::write(world.home().join("tabwire.toml"), "nonsense = [").expect("written");
    assert_eq!(
        asked(&world, "zsh", &["snaps"]).len(),
        1,
        "a file that cannot be read is not our business here"
    );
    std::fs::remove_file(world.home().join("tabwire.toml")).expect("removed");
    assert!(world.find_status().is_none(), "completion started a daemon");
}

#[test]
fn names_that_exist_right_now_are_offered() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.page("/plain")]);
    assert_eq!(in_bash(&world, "tabwire click ", &["tabwire", "click", ""]), [""], "no snapshot, no refs");
    let seen = world.run(&["snapshot"]).succeeded().stdout;
    let line = seen.lines().find(|line| line.contains("button")).expect("a button");
    let name = line.split('[').nth(1).and_then(|rest| rest.split(']').next()).expect("a ref").to_owned();
    assert!(in_bash(&world, "tabwire click ", &["tabwire", "click", ""]).contains(&name), "{seen}");
    let told = asked(&world, "fish", &["click", &name]);
    assert!(told[0].starts_with(&format!("{name}\tbutton \"")), "{told:?}");
    assert!(seen.contains(told[0].split('"').nth(1).expect("a name")), "{told:?}");

    // bash breaks words at colons, and only what follows the last one is replaced.
    let (before, number) = tab.rsplit_once(':').expect("an id");
    let (kind, epoch) = before.split_once(':').expect("an id");
    let words = ["tabwire", "snapshot", "--tab", kind, ":", epoch, ":", ""];
    assert_eq!(in_bash(&world, &format!("tabwire snapshot --tab {before}:"), &words), [number]);
    assert_eq!(in_bash(&world, "tabwire --session=de", &["tabwire", "--session", "=", "de"]), ["default"]);
    let titled = asked(&world, "zsh", &["tab-select", ""]);
    assert!(titled.len() == 1 && titled[0].starts_with(&format!("{tab}\t")), "{titled:?}");
    assert_eq!(asked(&world, "zsh", &["status", "--session", ""]), ["default\t1 tab"]);
    assert_eq!(asked(&world, "zsh", &["--session", "other", "click", ""]), [""; 0], "another session");
    std::fs::create_dir_all(world.home().join("data/profiles/work")).expect("a profile");
    assert_eq!(asked(&world, "zsh", &["open", "--profile", "w"]), ["work\tprofile"]);
}

#[test]
fn the_scripts_are_sound_in_the_shells_that_are_here() {
    let world = World::new();
    for (shell, program, check) in
        [("bash", "bash", "-n"), ("zsh", "zsh", "-n"), ("fish", "fish", "--no-execute")]
    {
        let script = world.run(&["completions", shell]).succeeded().stdout;
        assert!(script.contains(&format!("complete {shell} --")), "{script}");
        let is_here = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(program).exists());
        if is_here {
            let file = world.home().join(format!("tabwire.{shell}"));
            std::fs::write(&file, script).expect("written");
            world.run_program(program, &[check, &file.to_string_lossy()]).succeeded();
        }
    }
    for shell in ["powershell", "elvish"] {
        let script = world.run(&["completions", shell]).succeeded().stdout;
        assert!(script.contains(&format!("complete {shell}")), "{script}");
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, 2);
}
