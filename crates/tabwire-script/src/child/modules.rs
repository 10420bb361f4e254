//! The modules that a script can import: files that came with the run, and built-in ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module};

use crate::limits::MODULE_BYTES;
use crate::module_path::{candidates, join};
use crate::typescript::{Purpose, prepare};

/// Built-in modules: the name, and code that takes everything from the API.
const BUILT_IN: [(&str, &str); 4] = [
    (
        "playwright",
        "const m = globalThis.__tabwire_modules.playwright; export const { chromium, devices, errors, request, selectors } = m; export default m;",
    ),
    ("playwright-core", "export * from 'playwright'; export { default } from 'playwright';"),
    (
        "@playwright/test",
        "export * from 'playwright'; const m = globalThis.__tabwire_modules.test; export const { test, expect, defineConfig } = m; export default m.test;",
    ),
    (
        "tabwire",
        "const m = globalThis.__tabwire_modules.tabwire; export const { tabwire, expect } = m; export default m.tabwire;",
    ),
];

/// Begins the name of a skill of the user.
const SKILL_PREFIX: &str = "tabwire:";

/// The files of a run, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct ModuleFiles(Rc<RefCell<BTreeMap<String, String>>>);

impl ModuleFiles {
    pub(super) fn replace(&self, files: BTreeMap<String, String>) {
        *self.0.borrow_mut() = files;
    }

    fn find(&self, path: &str) -> Option<String> {
        let files = self.0.borrow();
        candidates(path).find(|path| files.contains_key(path))
    }
}

impl Resolver for ModuleFiles {
    fn resolve<'js>(
        &mut self,
        context: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        if BUILT_IN.iter().any(|(known, _)| *known == name) {
            return Ok(name.to_owned());
        }
        let path = match name {
            name if name.starts_with('.') => Some(join(base, name)),
            name if name.starts_with(SKILL_PREFIX) => Some(name.to_owned()),
            _ => None,
        };
        let found = path.and_then(|path| self.find(&path));
        found.ok_or_else(|| {
            if name.starts_with(SKILL_PREFIX) {
                let message = format!("There is no skill `{name}`. skills() lists them.");
                return Exception::throw_message(context, &message);
            }
            let known = BUILT_IN.map(|(name, _)| name).join(", ");
            let message = format!(
                "Cannot import `{name}`. Imports are files beside the script, by a relative path, and: {known}."
            );
            Exception::throw_message(context, &message)
        })
    }
}

/// Loads the code of modules.
pub(super) struct ModuleSource(ModuleFiles);

impl ModuleSource {
    pub(super) fn new(files: &ModuleFiles) -> Self {
        Self(files.clone())
    }
}

impl Loader for ModuleSource {
    fn load<'js>(
        &mut self,
        context: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        if let Some((_, code)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Module::declare(context.clone(), name, *code);
        }
        let total: usize = self.0.0.borrow().values().map(String::len).sum();
        if total > MODULE_BYTES {
            let message = format!("The modules have {total} bytes; {MODULE_BYTES} are allowed.");
            return Err(Exception::throw_message(context, &message));
        }
        let code = self.0.0.borrow().get(name).cloned().ok_or_else(|| Error::new_loading(name))?;
        let prepared = prepare(&code, Purpose::File).map_err(|error| {
            let message = format!("{} ({name}:{}:{})", error.message, error.line, error.column);
            Exception::throw_syntax(context, &message)
        })?;
        Module::declare(context.clone(), name, prepared.code)
    }
}
