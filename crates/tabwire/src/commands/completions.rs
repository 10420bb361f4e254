//! `completions`: prints a completion script.

pub(super) fn run(shell: clap_complete::Shell) {
    let mut command = crate::invocation::command();
    clap_complete::generate(shell, &mut command, "tabwire", &mut std::io::stdout());
}
