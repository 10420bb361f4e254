//! The cookies of a page's browser context.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::Capability;

use crate::cdp::ResponseFuture;
use crate::page::Page;
use crate::storage::cookie::Cookie;

#[derive(Deserialize)]
struct Jar {
    cookies: Vec<Cookie>,
}

/// Which cookies to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CookieScope {
    /// Cookies for the page and its frames.
    Page,
    /// Cookies for a URL.
    Url(String),
    /// Cookies of a host and its subdomains.
    Domain(String),
    /// All cookies.
    All,
}

impl Page {
    /// The cookies of a scope, and the total number.
    pub(crate) async fn cookies(
        &self,
        scope: &CookieScope,
        deadline: Deadline,
    ) -> Result<(Vec<Cookie>, usize), Failure> {
        // `Network.getCookies` applies the rules of a request (host, path, `Secure`); `Storage.getCookies` lists
        // the whole context.
        let narrow = match scope {
            CookieScope::Page => Some(json!({})),
            CookieScope::Url(url) => Some(json!({"urls": [url]})),
            CookieScope::Domain(_) | CookieScope::All => None,
        };
        let narrow = narrow.map(|params| self.begin("Network.getCookies", &params, deadline));
        let all = self.begin_storage("Storage.getCookies", json!({}), deadline);
        let mut all = self.readable(read_jar(self.one(all).await?)?);
        let count = all.len();
        match (narrow, scope) {
            (Some(narrow), _) => Ok((self.readable(read_jar(self.one(narrow).await?)?), count)),
            (None, CookieScope::Domain(domain)) => {
                all.retain(|cookie| cookie.is_of_domain(domain));
                Ok((all, count))
            }
            (None, _) => Ok((all, count)),
        }
    }

    /// The cookies of readable hosts.
    fn readable(&self, mut cookies: Vec<Cookie>) -> Vec<Cookie> {
        let policy = self.session().policy();
        cookies.retain(|cookie| policy.check_cookie_domain(&cookie.domain, Capability::Read).is_ok());
        cookies
    }

    /// Deletes cookies; fails when some remain.
    pub(crate) async fn remove_cookies(&self, cookies: &[Cookie], deadline: Deadline) -> Result<(), Failure> {
        let removals = cookies
            .iter()
            .map(|cookie| self.begin("Network.deleteCookies", &cookie.to_removal(), deadline))
            .collect();
        self.wait_all(removals).await?;
        // Check in a second command: Chromium 156 responds before it has deleted anything.
        let left = self.begin_storage("Storage.getCookies", json!({}), deadline);
        let left = read_jar(self.one(left).await?)?;
        match left.iter().find(|left| cookies.iter().any(|cookie| cookie.is_same(left))) {
            None => Ok(()),
            Some(stayed) => {
                let message = format!("The browser kept the cookie {:?} of {}.", stayed.name, stayed.domain);
                Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(Remedy::new(
                    "The page may have set it again. Navigate away first, or set {}.",
                    [Step::argument("all")],
                )))
            }
        }
    }

    /// Deletes every cookie; under a policy only those of readable hosts.
    pub(crate) async fn remove_all_cookies(&self, deadline: Deadline) -> Result<(), Failure> {
        if !self.session().policy().is_idle() {
            let (cookies, _) = self.cookies(&CookieScope::All, deadline).await?;
            return self.remove_cookies(&cookies, deadline).await;
        }
        self.one(self.begin_storage("Storage.clearCookies", json!({}), deadline)).await.map(drop)
    }

    /// Sets cookies and returns those that the browser rejected. Fails before setting any when the policy denies one.
    pub(crate) async fn set_cookies(
        &self,
        cookies: &[Cookie],
        deadline: Deadline,
    ) -> Result<Vec<Cookie>, Failure> {
        let policy = self.session().policy();
        cookies.iter().try_for_each(|cookie| policy.check_cookie_domain(&cookie.domain, Capability::Act))?;
        if cookies.is_empty() {
            return Ok(Vec::new());
        }
        let all: Vec<Value> = cookies.iter().map(Cookie::to_params).collect();
        let set = self.begin_storage("Storage.setCookies", json!({"cookies": all}), deadline);
        let refused = self.unless_blocked(async {
            match set.await {
                Ok(_) => Ok(false),
                Err(CdpError::Protocol { .. }) => Ok(true),
                Err(error) => Err(error.into_failure()),
            }
        });
        if !refused.await? {
            return Ok(Vec::new());
        }
        // One bad cookie fails the batch; set each one alone to find it.
        let each = all.iter().map(|params| self.begin("Network.setCookie", params, deadline));
        let each: Vec<ResponseFuture<Value, CdpError>> = each.collect();
        self.unless_blocked(async {
            let mut refused = Vec::new();
            for (reply, cookie) in each.into_iter().zip(cookies) {
                match reply.await {
                    Ok(response) if response.get("success") != Some(&Value::Bool(false)) => {}
                    Ok(_) => refused.push(cookie.clone()),
                    Err(error) => {
                        let is_refusal = matches!(error, CdpError::Protocol { .. });
                        let failure = error.into_failure();
                        // What the browser cannot do is no fault of the cookie.
                        if !is_refusal || failure.code == ErrorCode::UnsupportedHere {
                            return Err(failure);
                        }
                        refused.push(cookie.clone());
                    }
                }
            }
            Ok(refused)
        })
        .await
    }

    async fn one(&self, reply: ResponseFuture<Value, CdpError>) -> Result<Value, Failure> {
        self.unless_blocked(async { reply.await.map_err(CdpError::into_failure) }).await
    }
}

fn read_jar(response: Value) -> Result<Vec<Cookie>, Failure> {
    let read: Result<Jar, _> = serde_json::from_value(response);
    read.map(|jar| jar.cookies).map_err(|error| {
        Failure::new(ErrorCode::CdpError, format!("Unexpected response about cookies: {error}."))
    })
}
