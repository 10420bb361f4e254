//! `cargo xtask bench`: runs the benchmarks that the tabwire crate declares.

use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

const MANIFEST: &str = "crates/tabwire/Cargo.toml";

/// Runs every declared benchmark, or only the named ones.
pub(crate) fn run(repository: &Repository, names: &[String]) -> Result<(), Error> {
    let declared = repository.declared_targets(MANIFEST, "bench")?;
    let chosen = choose(&declared, names)?;
    if chosen.is_empty() {
        println!("No benchmark is declared in {MANIFEST}.");
        return Ok(());
    }
    for name in &chosen {
        let step = Step::cargo(name, &["bench", "--profile", "dist", "-p", "tabwire", "--bench", name]);
        step.run(repository.root())?;
    }
    println!("Ran {} of {} benchmarks: {}.", chosen.len(), declared.len(), chosen.join(", "));
    Ok(())
}

fn choose(declared: &[String], names: &[String]) -> Result<Vec<String>, Error> {
    if let Some(unknown) = names.iter().find(|name| !declared.contains(name)) {
        let known = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
        return Err(Error::Usage(format!("there is no benchmark `{unknown}`; declared: {known}")));
    }
    Ok(if names.is_empty() { declared.to_vec() } else { names.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_selects_all_and_an_unknown_name_is_an_error() {
        let declared = ["mux".to_owned(), "startup".to_owned()];
        assert_eq!(choose(&declared, &[]).unwrap(), ["mux", "startup"]);
        assert_eq!(choose(&declared, &["mux".to_owned()]).unwrap(), ["mux"]);
        let error = choose(&declared, &["nux".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "there is no benchmark `nux`; declared: mux, startup");
    }
}
