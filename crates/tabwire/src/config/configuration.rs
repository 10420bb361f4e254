//! The settings of one command, with the source of each. Built once at its start; nothing is parsed when
//! there is no file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure, ProjectKey, SessionName};

use super::layer::{Entry, Layer};
use super::origin::{Origin, ValueWithOrigin};
use super::project_rule::ProjectValue;
use super::setting::Key;
use super::settings::SETTINGS;
use super::value::Value;
use crate::cli::GlobalFlags;
use crate::environment::Environment;
use crate::project::Project;

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileRole {
    User,
    Project,
}

/// The settings of one command.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    /// By index in the table of settings; `None` for a setting without a value.
    set: Vec<Option<ValueWithOrigin<Value>>>,
    project: Option<Project>,
}

impl Configuration {
    /// Reads the user's file, the project's, the environment and the flags; the later ones win.
    pub(crate) fn load(environment: &Environment, flags: &GlobalFlags) -> Result<Self, Failure> {
        let home = environment.home.as_deref();
        let project = if flags.global { None } else { Project::find_here(home)? };
        let mut built = Self::without_files();
        built.take_user_file(&user_file(environment), home)?;
        if let Some(project) = project {
            if project.has_file {
                built.take_project_file(&project, environment)?;
            }
            built.project = Some(project);
        }
        built.take_variables(environment)?;
        built.take_flags(environment, flags);
        Ok(built)
    }

    /// Settings of the environment and the flags without any file; invalid ones are ignored.
    pub(crate) fn of_environment(environment: &Environment, flags: &GlobalFlags) -> Self {
        let mut built = Self::without_files();
        // An invalid variable sets nothing here; the first load has reported it.
        let _ = built.take_variables(environment);
        built.take_flags(environment, flags);
        built
    }

    /// No setting has a value.
    pub(crate) fn without_files() -> Self {
        Self { set: vec![None; SETTINGS.len()], project: None }
    }

    /// Checks a text as a user file or a project file; returns what it sets.
    pub(crate) fn check(
        environment: &Environment,
        role: FileRole,
        path: &Path,
        text: &str,
    ) -> Result<Layer, Failure> {
        let home = environment.home.as_deref();
        let layer = Layer::parse(text, path, home)?;
        if role == FileRole::Project {
            let mut built = Self::without_files();
            built.take_user_file(&user_file(environment), home)?;
            let root = path.parent().unwrap_or(Path::new("/"));
            built.judge(&layer, root, path, &user_file(environment))?;
        }
        Ok(layer)
    }

    fn take_user_file(&mut self, path: &Path, home: Option<&Path>) -> Result<(), Failure> {
        let layer = Layer::read(path, home)?;
        let path: Arc<Path> = Arc::from(path);
        for Entry { setting, value, line, .. } in layer.entries {
            let origin = Origin::UserFile { path: Arc::clone(&path), line };
            self.put(setting.key, value, origin);
        }
        Ok(())
    }

    fn take_project_file(&mut self, project: &Project, environment: &Environment) -> Result<(), Failure> {
        let path = project.file();
        project.check_file()?;
        let layer = Layer::read(&path, environment.home.as_deref())?;
        self.judge(&layer, &project.root, &path, &user_file(environment))?;
        let path: Arc<Path> = Arc::from(path);
        for Entry { setting, value, line, .. } in layer.entries {
            let origin = Origin::ProjectFile { path: Arc::clone(&path), line };
            self.put(setting.key, value, origin);
        }
        Ok(())
    }

    /// Refuses values that a project file may not set, given the user's settings.
    fn judge(&self, layer: &Layer, root: &Path, path: &Path, user: &Path) -> Result<(), Failure> {
        for Entry { setting, value, line, .. } in &layer.entries {
            let before = self.find(setting.key).map(|sourced| &sourced.value);
            let judged = ProjectValue { value, root, before };
            setting.project.judge(&judged).map_err(|why| {
                let name = setting.name;
                let message =
                    format!("{}:{line}: a project may not set `{name}` like this: {why}.", path.display());
                let flag = setting.flag.map(|flag| format!(", or pass {flag}")).unwrap_or_default();
                let hint = format!(
                    "Remove the line. If you want it, put it into your own file {} with `tabwire config set \
                     {name} VALUE`{flag}.",
                    user.display()
                );
                Failure::new(ErrorCode::PolicyDenied, message).with_remedy(hint)
            })?;
        }
        Ok(())
    }

    fn take_variables(&mut self, environment: &Environment) -> Result<(), Failure> {
        for (key, text) in &environment.settings {
            let setting = key.setting();
            let Some(variable) = setting.variable else { continue };
            let value = Value::from_text(setting.kind, text).map_err(|expected| {
                let message = format!("The environment variable {variable} is {expected}.");
                Failure::new(ErrorCode::BadArgs, message).with_remedy(setting.meaning)
            })?;
            // A relative path in the environment is relative to the working directory.
            let value = match std::env::current_dir() {
                Ok(here) => value.seen_from(setting.kind, &here, environment.home.as_deref()),
                Err(_) => value,
            };
            self.put(*key, value, Origin::Variable(variable));
        }
        Ok(())
    }

    fn take_flags(&mut self, environment: &Environment, flags: &GlobalFlags) {
        if let Some(session) = &flags.session {
            // The parser fills the flag in from the variable.
            let from_variable = environment
                .settings
                .iter()
                .any(|(key, text)| *key == Key::Session && text == session.as_str());
            if !from_variable {
                self.put_flag(Key::Session, Value::Text(session.to_string()));
            }
        }
        if let Some(timeout) = flags.timeout {
            self.put_flag(Key::Timeout, Value::Time(timeout));
        }
        if !flags.roots.is_empty() {
            let texts = flags.roots.iter().map(|root| root.display().to_string());
            self.put_flag(Key::Roots, Value::List(texts.collect()));
        }
    }

    fn put_flag(&mut self, key: Key, value: Value) {
        let flag = key.setting().flag.unwrap_or_default();
        self.put(key, value, Origin::Flag(flag));
    }

    pub(super) fn put(&mut self, key: Key, value: Value, origin: Origin) {
        self.set[key.index()] = Some(ValueWithOrigin { value, origin });
    }

    /// The key of the project's sessions.
    pub(crate) fn project_key(&self) -> ProjectKey {
        self.project.as_ref().map(|project| project.key.clone()).unwrap_or_default()
    }

    /// The value that a file, a variable or a flag sets.
    pub(crate) fn find(&self, key: Key) -> Option<&ValueWithOrigin<Value>> {
        self.set[key.index()].as_ref()
    }

    /// The effective value: the set one, else the default.
    pub(crate) fn effective(&self, key: Key) -> Option<ValueWithOrigin<Value>> {
        let fallback = || built_in(key).map(|value| ValueWithOrigin { value, origin: Origin::BuiltIn });
        self.find(key).cloned().or_else(fallback)
    }

    /// The current session.
    pub(crate) fn session(&self) -> ValueWithOrigin<SessionName> {
        let set = self.text(Key::Session);
        let named = set.and_then(|set| Some((SessionName::new(set.value).ok()?, set.origin)));
        match named {
            Some((value, origin)) => ValueWithOrigin { value, origin },
            None => ValueWithOrigin { value: SessionName::default(), origin: Origin::BuiltIn },
        }
    }

    /// The set text.
    pub(crate) fn text(&self, key: Key) -> Option<ValueWithOrigin<&str>> {
        match self.find(key)? {
            ValueWithOrigin { value: Value::Text(text), origin } => {
                Some(ValueWithOrigin { value: text, origin: origin.clone() })
            }
            _ => None,
        }
    }

    /// The set switch.
    pub(crate) fn switch(&self, key: Key) -> Option<ValueWithOrigin<bool>> {
        match self.find(key)? {
            ValueWithOrigin { value: Value::Switch(value), origin } => {
                Some(ValueWithOrigin { value: *value, origin: origin.clone() })
            }
            _ => None,
        }
    }

    /// The set time.
    pub(crate) fn time(&self, key: Key) -> Option<ValueWithOrigin<Duration>> {
        match self.find(key)? {
            ValueWithOrigin { value: Value::Time(value), origin } => {
                Some(ValueWithOrigin { value: *value, origin: origin.clone() })
            }
            _ => None,
        }
    }

    /// The set size.
    pub(crate) fn size(&self, key: Key) -> Option<ValueWithOrigin<(u16, u16)>> {
        match self.find(key)? {
            ValueWithOrigin { value: Value::Size(width, height), origin } => {
                Some(ValueWithOrigin { value: (*width, *height), origin: origin.clone() })
            }
            _ => None,
        }
    }

    /// The set port.
    pub(crate) fn port(&self, key: Key) -> Option<ValueWithOrigin<u16>> {
        match self.find(key)? {
            ValueWithOrigin { value: Value::Port(value), origin } => {
                Some(ValueWithOrigin { value: *value, origin: origin.clone() })
            }
            _ => None,
        }
    }

    /// The set list.
    pub(crate) fn list(&self, key: Key) -> Option<ValueWithOrigin<&[String]>> {
        match self.find(key)? {
            ValueWithOrigin { value: Value::List(parts), origin } => {
                Some(ValueWithOrigin { value: parts, origin: origin.clone() })
            }
            _ => None,
        }
    }
}

/// The path of the user file.
pub(crate) fn user_file(environment: &Environment) -> PathBuf {
    environment.paths.config.join("config.toml")
}

/// The default of a setting.
fn built_in(key: Key) -> Option<Value> {
    let setting = key.setting();
    setting.default.and_then(|text| Value::from_text(setting.kind, text).ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Loads the texts of two files and variables.
    fn load(user: &str, project: &str, variables: &[(Key, &str)]) -> Result<Configuration, Failure> {
        let home = tempfile::tempdir().expect("a home");
        let (root, file) = (home.path().join("project"), home.path().join("project/tabwire.toml"));
        fs::create_dir_all(home.path().join("config")).expect("a directory");
        fs::create_dir_all(&root).expect("a directory");
        fs::write(home.path().join("config/config.toml"), user).expect("written");
        fs::write(&file, project).expect("written");
        let mut built = Configuration::without_files();
        let environment = Environment {
            settings: variables.iter().map(|(key, text)| (*key, (*text).to_owned())).collect(),
            ..Environment::below(home.path())
        };
        built.take_user_file(&user_file(&environment), None)?;
        built.take_project_file(&Project::find(&root, None)?.expect("a project"), &environment)?;
        built.take_variables(&environment)?;
        built.take_flags(
            &environment,
            &GlobalFlags { timeout: Some(Duration::from_secs(1)), ..GlobalFlags::default() },
        );
        Ok(built)
    }

    #[test]
    fn the_later_layer_wins_and_is_named() {
        let user = "session = \"mine\"\nbrowser = \"chrome\"\nheaded = true\ntimeout = 5\n";
        let project = "\nsession = \"theirs\"\nheaded = false\nwindow = \"800x600\"\n";
        let loaded = load(user, project, &[(Key::Session, "here"), (Key::Port, "0")]).expect("valid");
        let named = |key: Key| loaded.effective(key).expect("a value");
        assert_eq!(loaded.session().value.as_str(), "here");
        assert_eq!(named(Key::Session).origin, Origin::Variable("TABWIRE_SESSION"));
        assert!(named(Key::Browser).origin.to_string().ends_with("config.toml:2"));
        assert!(named(Key::Headed).origin.to_string().ends_with("tabwire.toml:3"));
        assert_eq!(loaded.switch(Key::Headed).map(|set| set.value), Some(false));
        assert_eq!(loaded.size(Key::Window).map(|set| set.value), Some((800, 600)));
        assert_eq!(loaded.port(Key::Port).map(|set| set.value), Some(0));
        assert_eq!(named(Key::Timeout).origin, Origin::Flag("--timeout"));
        assert_eq!(loaded.time(Key::Timeout).map(|set| set.value), Some(Duration::from_secs(1)));
        assert_eq!(named(Key::Linger).origin, Origin::BuiltIn);
        assert_eq!(loaded.effective(Key::Proxy), None);
    }

    #[test]
    fn c3_l7_forbidden_project_settings_are_refused_with_their_line() {
        for (user, project, name) in [
            ("", "browser = \"chrome\"", "browser"),
            ("", "profile = \"work\"", "profile"),
            ("", "\nprofile = \"./p\"", "profile"),
            ("", "\nbrowser_args = [\"--no-sandbox\"]", "browser_args"),
            ("", "cdp = \"9222\"", "cdp"),
            ("", "proxy = \"http://127.0.0.1:80\"", "proxy"),
            ("", "roots = [\"/\"]", "roots"),
            ("", "hide_automation = true", "hide_automation"),
            ("", "policy = \"open\"", "policy"),
            ("policy = \"open\"", "policy = \"open\"", "policy"),
            ("policy = \"guarded\"", "policy = \"open\"", "policy"),
            ("timeout = 5", "timeout = 6", "timeout"),
        ] {
            let failure = load(user, project, &[]).expect_err(project);
            assert_eq!(failure.code, ErrorCode::PolicyDenied, "{failure:?}");
            let line = 1 + project.matches('\n').count();
            assert!(failure.message.contains(&format!("tabwire.toml:{line}: ")), "{failure:?}");
            let hint = failure.hint();
            assert!(hint.contains("config/config.toml"), "{hint}");
            assert!(hint.contains(&format!("config set {name}")), "{hint}");
        }
        assert!(load("policy = \"open\"", "policy = \"guarded\"", &[]).is_ok());
    }

    #[test]
    fn an_invalid_variable_is_named() {
        let failure = load("", "", &[(Key::Port, "many")]).expect_err("no port");
        assert!(failure.message.contains("TABWIRE_PORT"), "{failure:?}");
    }

    #[test]
    fn built_in_defaults_equal_the_limits() {
        use tabwire_daemon::limits::{DEFAULT_PORT, IDLE_EXIT};
        assert_eq!(built_in(Key::Port), Some(Value::Port(DEFAULT_PORT)));
        assert_eq!(built_in(Key::IdleExit), Some(Value::Time(IDLE_EXIT)));
        assert_eq!(built_in(Key::Linger), Some(Value::Time(tabwire_browser::limits::DEFAULT_LINGER)));
    }
}
