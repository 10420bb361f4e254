//! The completion scripts of the shells. Each hands the words typed so far to `tabwire complete` and shows the response.

/// A shell that completion exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CompletionShell {
    /// bash 4 and later.
    Bash,
    /// Elvish.
    Elvish,
    /// fish 3 and later.
    Fish,
    /// PowerShell 5 and later.
    #[value(name = "powershell", alias = "pwsh")]
    PowerShell,
    /// zsh.
    Zsh,
}

impl CompletionShell {
    /// What the shell has to load.
    pub(crate) const fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("tabwire.bash"),
            Self::Elvish => include_str!("tabwire.elv"),
            Self::Fish => include_str!("tabwire.fish"),
            Self::PowerShell => include_str!("tabwire.ps1"),
            Self::Zsh => include_str!("tabwire.zsh"),
        }
    }
}
