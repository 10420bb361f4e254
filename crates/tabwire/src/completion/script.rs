//! The completion scripts. Each passes the words typed so far to `tabwire complete` and shows its output.

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
    /// The script that the shell loads.
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
