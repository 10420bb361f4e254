//! Shell completion: the scripts in real shells, and names of existing sessions and tabs.

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

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

/// Startup file of a zsh that prints its completions and does not change the line.
const ZSH_START: &str = r#"
autoload -Uz compinit && compinit -u -D
source <(tabwire completions zsh)
compadd() { local -a all; builtin compadd -O all "$@"; print -rl -- "<offered>" $all "</offered>"; builtin compadd "$@" }
_files() { print -rl -- "<offered>" ":files" "</offered>" }
bindkey "^I" list-choices
print "<ready>"
"#;

/// Types a line and Tab in zsh on a terminal. `$1` is the line.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty shell zsh -d -i
zpty -r shell seen '*<ready>*'
zpty -w -n shell "$1"$'\t'
zpty -r shell seen '*</offered>*'
print -r -- "$seen"
zpty -d shell
"#;

/// Runs a script in a shell with our program in PATH, and returns its output.
fn in_shell(world: &World, shell: &str, script: &str, words: &[&str]) -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_tabwire")).parent().expect("a folder");
    let path = format!("PATH={}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let zsh = format!("ZDOTDIR={}", world.home().display());
    let outcome = world.run_program("env", &[&[&path, &zsh, shell, "-c", script], words].concat());
    let outcome = outcome.succeeded();
    assert!(outcome.stderr.is_empty(), "{shell} {words:?}: {outcome:?}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

/// The completions of bash after these words, split as bash splits them.
fn in_bash(world: &World, line: &str, words: &[&str]) -> Vec<String> {
    in_shell(world, "bash", BASH, &[&["bash", line], words].concat())
}

/// The completions of zsh at the end of a line.
fn in_zsh(world: &World, line: &str) -> Vec<String> {
    std::fs::write(world.home().join(".zshrc"), ZSH_START).expect("written");
    let seen = in_shell(world, "zsh", ZSH, &["zsh", line]).join("\n").replace('\r', "");
    let (_, offered) = seen.split_once("<offered>\n").unwrap_or_else(|| panic!("{line}: {seen}"));
    let (offered, _) = offered.split_once("</offered>").unwrap_or_else(|| panic!("{line}: {seen}"));
    offered.lines().map(str::to_owned).collect()
}

/// The completions of fish at the end of a line: `value`, tab, meaning.
fn in_fish(world: &World, line: &str) -> Vec<String> {
    let script = "tabwire completions fish | source; complete --do-complete $argv[1]";
    in_shell(world, "fish", script, &[line])
}

/// The output of `tabwire complete`: `value`, tab, meaning.
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
    for (line, word) in
        [("tabwire snaps", "snapshot"), ("tabwire daemon sto", "stop"), ("tabwire click --new", "--new-tab")]
    {
        assert_eq!(in_zsh(&world, line), [word], "{line}");
        let output = in_fish(&world, line);
        assert!(output.len() == 1 && output[0].starts_with(&format!("{word}\t")), "{line}: {output:?}");
    }
    for words in [&["click", ""][..], &["--session", ""], &["tab-select", ""], &["no-such", ""], &[]] {
        assert_eq!(asked(&world, "fish", words), [""; 0], "{words:?}");
    }
    assert_eq!(asked(&world, "zsh", &["upload", ""]), [":files"]);
    assert_eq!(in_zsh(&world, "tabwire upload "), [":files"]);
    let all = asked(&world, "fish", &[""]);
    assert!(all.contains(&"click\tClick an element".to_owned()), "{all:?}");
    // PowerShell's script appends a mark to the last word, so that it is never empty.
    assert_eq!(asked(&world, "powershell", &["dialog", "acc_"]).len(), 1);
    assert_eq!(world.run(&["complete"]).succeeded().stdout, "");
    std::fs::write(world.home().join("tabwire.toml"), "nonsense = [").expect("written");
    assert_eq!(asked(&world, "zsh", &["snaps"]).len(), 1, "an unreadable file is ignored");
    std::fs::remove_file(world.home().join("tabwire.toml")).expect("removed");
    assert!(world.find_status().is_none(), "completion started a daemon");
}

#[test]
fn current_names_are_offered() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.page("/plain")]);
    assert_eq!(in_bash(&world, "tabwire click ", &["tabwire", "click", ""]), [""], "no snapshot, no refs");
    let seen = world.run(&["snapshot"]).succeeded().stdout;
    let line = seen.lines().find(|line| line.contains("button")).expect("a button");
    let name = line.split('[').nth(1).and_then(|rest| rest.split(']').next()).expect("a ref").to_owned();
    assert!(in_bash(&world, "tabwire click ", &["tabwire", "click", ""]).contains(&name), "{seen}");
    assert!(in_zsh(&world, "tabwire click ").contains(&name), "{seen}");
    let output = in_fish(&world, &format!("tabwire click {name}"));
    assert!(output[0].starts_with(&format!("{name}\tbutton \"")), "{output:?}");
    assert!(seen.contains(output[0].split('"').nth(1).expect("a name")), "{output:?}");

    // bash splits words at colons, and replaces only what follows the last one.
    let (before, number) = tab.rsplit_once(':').expect("an id");
    let (kind, epoch) = before.split_once(':').expect("an id");
    let words = ["tabwire", "snapshot", "--tab", kind, ":", epoch, ":", ""];
    assert_eq!(in_bash(&world, &format!("tabwire snapshot --tab {before}:"), &words), [number]);
    assert_eq!(in_bash(&world, "tabwire --session=de", &["tabwire", "--session", "=", "de"]), ["default"]);
    let titled = asked(&world, "zsh", &["tab-select", ""]);
    assert!(titled.len() == 1 && titled[0].starts_with(&format!("{tab}\t")), "{titled:?}");
    assert_eq!(in_zsh(&world, "tabwire snapshot --tab "), [tab.as_str()]);
    assert_eq!(in_fish(&world, "tabwire status --session "), ["default\t1 tab"]);
    assert_eq!(asked(&world, "zsh", &["status", "--session", ""]), ["default\t1 tab"]);
    assert_eq!(asked(&world, "zsh", &["--session", "other", "click", ""]), [""; 0], "another session");
    std::fs::create_dir_all(world.home().join("data/profiles/work")).expect("a profile");
    assert_eq!(asked(&world, "zsh", &["open", "--profile", "w"]), ["work\tprofile"]);
}

#[test]
fn shells_without_a_test_have_scripts() {
    let world = World::new();
    for shell in ["powershell", "elvish"] {
        let script = world.run(&["completions", shell]).succeeded().stdout;
        assert!(script.contains(&format!("complete {shell}")), "{script}");
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, 2);
}
