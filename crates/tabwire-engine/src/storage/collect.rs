//! Collects and restores cookies and local storage of a browser context.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::Capability;

use crate::browser::Browser;
use crate::browser::hidden_tab::HiddenTab;
use crate::browser::visited_origins::origin_of;
use crate::page::Page;
use crate::storage::cookie::Cookie;
use crate::storage::jar::CookieScope;
use crate::storage::state::{SavedEntry, SavedOrigin, SavedState};

/// Reads local storage at an origin.
const READ: &str = "() => Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at))\
    .map((name) => ({ name, value: localStorage.getItem(name) }))";

/// Writes local storage at an origin and counts the keys that were stored.
const WRITE: &str = "({ entries, replace }) => { if (replace) localStorage.clear();\
    for (const { name, value } of entries) localStorage.setItem(name, value);\
    return entries.filter(({ name, value }) => localStorage.getItem(name) === value).length; }";

/// What could not be saved or loaded, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SkippedItem {
    /// The item.
    pub(crate) what: String,
    /// The reason.
    pub(crate) why: String,
}

/// What was restored.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestoreReport {
    pub(crate) cookies: usize,
    pub(crate) entries: usize,
    pub(crate) origins: Vec<String>,
    pub(crate) expired: usize,
    pub(crate) left_out: Vec<SkippedItem>,
}

/// The browser context of a page.
pub(crate) struct StateCollector<'a> {
    pub(crate) browser: &'a Browser,
    pub(crate) page: &'a Page,
    pub(crate) deadline: Deadline,
}

impl<'a> StateCollector<'a> {
    /// Collects all cookies, and the local storage of every visited or named origin.
    pub(crate) async fn collect(&self, named: &[String]) -> Result<(SavedState, Vec<SkippedItem>), Failure> {
        let (cookies, _) = self.page.cookies(&CookieScope::All, self.deadline).await?;
        let mut origins = self.browser.visited_origins();
        origins.extend(named.iter().cloned());
        origins.extend(self.frame_origins().await?);
        let (mut saved, mut left_out) = (Vec::new(), Vec::new());
        let (mut tab, nothing) = (None, json!({}));
        for origin in origins {
            let read = self.run_at(&mut tab, &origin, READ, &nothing);
            match self.page.unless_blocked(read).await {
                Ok(local_storage) if Vec::<SavedEntry>::is_empty(&local_storage) => {}
                Ok(local_storage) => saved.push(SavedOrigin { origin, local_storage, databases: None }),
                Err(failure) => left_out.push(pass_over(origin, failure)?),
            }
        }
        let cookies = cookies.into_iter().map(Into::into).collect();
        Ok((SavedState { cookies, origins: saved }, left_out))
    }

    /// Restores cookies and local storage; with `replace`, existing ones are removed first.
    pub(crate) async fn restore(&self, state: &SavedState, replace: bool) -> Result<RestoreReport, Failure> {
        let mut loaded = RestoreReport::default();
        let cookies: Vec<Cookie> =
            state.cookies.iter().map(crate::storage::state::SavedCookie::to_cookie).collect();
        let (expired, current): (Vec<Cookie>, Vec<Cookie>) =
            cookies.into_iter().partition(Cookie::is_expired);
        if replace {
            self.page.remove_all_cookies(self.deadline).await?;
        }
        let policy = self.page.session().policy();
        let is_allowed =
            |cookie: &Cookie| policy.check_cookie_domain(&cookie.domain, Capability::Act).is_ok();
        let (current, denied): (Vec<Cookie>, Vec<Cookie>) = current.into_iter().partition(is_allowed);
        loaded.left_out.extend(denied.iter().map(|cookie| SkippedItem {
            what: format!("cookie {:?} of {:?}", cookie.name, cookie.domain),
            why: "the policy does not allow it".to_owned(),
        }));
        let refused = self.page.set_cookies(&current, self.deadline).await?;
        (loaded.cookies, loaded.expired) = (current.len() - refused.len(), expired.len());
        loaded.left_out.extend(refused.iter().map(|cookie| SkippedItem {
            what: format!("cookie {:?} of {:?}", cookie.name, cookie.domain),
            why: "the browser refused it".to_owned(),
        }));
        let mut tab = None;
        for saved in &state.origins {
            match self.restore_origin(&mut tab, saved, replace, &mut loaded).await {
                Ok(()) => {}
                Err(failure) => loaded.left_out.push(pass_over(format!("{:?}", saved.origin), failure)?),
            }
        }
        Ok(loaded)
    }

    async fn restore_origin(
        &self,
        tab: &mut Option<HiddenTab<'a>>,
        saved: &SavedOrigin,
        replace: bool,
        loaded: &mut RestoreReport,
    ) -> Result<(), Failure> {
        let not_web = || Failure::new(ErrorCode::NotActionable, "It is not an http or https origin.");
        let origin = origin_of(&saved.origin).ok_or_else(not_web)?;
        let argument = json!({"entries": saved.local_storage, "replace": replace});
        let write = self.run_at(tab, &origin, WRITE, &argument);
        let count: usize = self.page.unless_blocked(write).await?;
        let databases = saved.databases.as_ref().and_then(serde_json::Value::as_array);
        if databases.is_some_and(|databases| !databases.is_empty()) {
            let why = "databases are not loaded".to_owned();
            loaded.left_out.push(SkippedItem { what: format!("indexedDB of {origin}"), why });
        }
        loaded.entries += count;
        loaded.origins.push(origin);
        Ok(())
    }

    /// Runs a function at each origin, in one hidden tab.
    async fn run_at<T: serde::de::DeserializeOwned>(
        &self,
        tab: &mut Option<HiddenTab<'a>>,
        origin: &str,
        function: &str,
        argument: &serde_json::Value,
    ) -> Result<T, Failure> {
        let mut open = match tab.take() {
            Some(open) => open,
            None => {
                let context = self.browser.context_of(self.page.target());
                HiddenTab::open(self.browser, context.as_ref(), self.deadline).await?
            }
        };
        let done = open.run_at(origin, function, argument, self.deadline).await;
        *tab = Some(open);
        done
    }

    /// The origins of all frames of the used pages, and of pages they showed before.
    async fn frame_origins(&self) -> Result<BTreeSet<String>, Failure> {
        let pending: Vec<_> = self
            .browser
            .attached_pages()
            .into_iter()
            .map(|page| {
                let tree = page.begin("Page.getFrameTree", &json!({}), self.deadline);
                let history = page.begin("Page.getNavigationHistory", &json!({}), self.deadline);
                (page, tree, history)
            })
            .collect();
        let mut origins = BTreeSet::new();
        for (page, tree, history) in pending {
            let responses = page.unless_blocked(async {
                let tree: Tree = read(tree.await)?;
                let history: History = read(history.await)?;
                Ok((tree, history))
            });
            match responses.await {
                Ok((tree, history)) => {
                    tree.frame_tree.collect(&mut origins);
                    origins.extend(history.entries.iter().filter_map(|entry| origin_of(&entry.url)));
                }
                // A dialog or crash of another tab must not stop the save.
                Err(_) if page.target() != self.page.target() => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(origins)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Branch,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Branch {
    frame: FrameUrl,
    #[serde(default)]
    child_frames: Vec<Branch>,
}

#[derive(Deserialize)]
struct FrameUrl {
    url: String,
}

#[derive(Deserialize)]
struct History {
    entries: Vec<FrameUrl>,
}

impl Branch {
    fn collect(&self, origins: &mut BTreeSet<String>) {
        origins.extend(origin_of(&self.frame.url));
        for child in &self.child_frames {
            child.collect(origins);
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(response: Result<serde_json::Value, CdpError>) -> Result<T, Failure> {
    let response = response.map_err(CdpError::into_failure)?;
    serde_json::from_value(response).map_err(|error| {
        Failure::new(ErrorCode::CdpError, format!("Unexpected response about the page's frames: {error}."))
    })
}

/// Reports the failure of one origin and continues; fatal errors are returned.
fn pass_over(what: String, failure: Failure) -> Result<SkippedItem, Failure> {
    match failure.code {
        ErrorCode::EvalFailed | ErrorCode::NotActionable | ErrorCode::CdpError => {
            Ok(SkippedItem { what, why: failure.message })
        }
        _ => Err(failure),
    }
}
