//! Command-line definition of `provider`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Add a provider, from a recipe or an example.
    Add {
        /// The provider's name.
        name: String,
        /// The recipe: a TOML file, or `-` for standard input.
        #[arg(value_name = "FILE", required_unless_present = "example")]
        file: Option<PathBuf>,
        /// Use a shipped example: browserless, rest or kubernetes. Edit its URLs afterwards.
        #[arg(long, value_name = "EXAMPLE", conflicts_with = "file")]
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(["browserless", "rest", "kubernetes"]))]
        example: Option<String>,
        /// Replace a provider of the same name.
        #[arg(long)]
        force: bool,
    },
    /// List the providers with their servers and the secrets that they use.
    List,
    /// Rent a browser, connect to it and release it. This can cost money.
    Test {
        /// The provider's name.
        #[arg(value_name = "PROVIDER")]
        name: String,
    },
    /// Remove a provider. Rented browsers are still released.
    Remove {
        /// The provider's name.
        #[arg(value_name = "PROVIDER")]
        name: String,
    },
}
