//! Recipes: how a provider's browsers are created, reached, kept and released, as data in a TOML file.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure};
use url::Url;

use crate::attach::RequestHeader;
use crate::rent::template::{Template, Values, origin_of};
use crate::rent::{RentRequest, SecretSource, shown_text};

/// Largest file of a recipe.
pub const RECIPE_BYTES: usize = 32 * 1024;

/// Nesting of a body.
const BODY_DEPTH: usize = 16;

/// Recipes that are shipped as examples: name and file.
pub const EXAMPLES: [(&str, &str); 3] = [
    ("browserless", include_str!("examples/browserless.toml")),
    ("rest", include_str!("examples/rest.toml")),
    ("kubernetes", include_str!("examples/kubernetes.toml")),
];

/// How a provider's browsers are rented.
#[derive(Clone, Debug)]
pub struct Recipe {
    description: String,
    create: Option<Call>,
    address: Address,
    id: Option<String>,
    release: Option<Call>,
    keepalive: Option<(Call, Duration)>,
    connect: Vec<(String, Template)>,
    lifetime: Option<Duration>,
    idle: Option<Duration>,
}

/// Where the browser is reached.
#[derive(Clone, Debug)]
enum Address {
    /// A JSON pointer into the response of `create`.
    Pointer(String),
    /// A URL.
    Url(Template),
}

/// A request.
#[derive(Clone, Debug)]
struct Call {
    method: String,
    url: Template,
    headers: Vec<(String, Template)>,
    body: Option<Body>,
}

#[derive(Clone, Debug)]
enum Body {
    Text(Template),
    List(Vec<Body>),
    Table(Vec<(String, Body)>),
    Plain(Value),
}

/// The browser that a provider gave.
#[derive(Clone)]
pub struct Given {
    /// Its id, if the recipe names one.
    pub id: Option<String>,
    /// Its URL: `ws`, `wss`, `http` or `https`.
    pub address: Url,
}

impl std::fmt::Debug for Given {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Given({})", self.address.origin().ascii_serialization())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeFile {
    #[serde(default)]
    description: String,
    create: Option<CallFile>,
    address: String,
    id: Option<String>,
    release: Option<CallFile>,
    keepalive: Option<KeepaliveFile>,
    #[serde(default)]
    connect: ConnectFile,
    #[serde(default)]
    lifetime: LifetimeFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFile {
    method: Option<String>,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeepaliveFile {
    every_seconds: u64,
    method: Option<String>,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConnectFile {
    headers: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LifetimeFile {
    seconds: Option<u64>,
    idle_seconds: Option<u64>,
}

impl Recipe {
    /// Parses the file of a recipe.
    ///
    /// # Errors
    /// When it is not valid; the failure says where.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text.len() > RECIPE_BYTES {
            return Err(invalid("it is too long"));
        }
        let file: RecipeFile = toml::from_str(text).map_err(|error| invalid(error.message()))?;
        let create = file.create.map(|call| read_call(call, "POST")).transpose()?;
        let address = if file.address.starts_with('/') {
            Address::Pointer(file.address)
        } else {
            let url = Template::parse(&file.address)?;
            url.origin()?;
            Address::Url(url)
        };
        let keepalive = file.keepalive.map(|one| {
            let KeepaliveFile { every_seconds, method, url, headers, body } = one;
            let every = Duration::from_secs(every_seconds.clamp(5, 3600));
            read_call(CallFile { method, url, headers, body }, "GET").map(|call| (call, every))
        });
        let recipe = Self {
            description: shown_text(&file.description),
            create,
            address,
            id: file.id,
            release: file.release.map(|call| read_call(call, "DELETE")).transpose()?,
            keepalive: keepalive.transpose()?,
            connect: read_headers(file.connect.headers)?,
            lifetime: file.lifetime.seconds.map(Duration::from_secs),
            idle: file.lifetime.idle_seconds.map(Duration::from_secs),
        };
        recipe.check()?;
        Ok(recipe)
    }

    fn check(&self) -> Result<(), Failure> {
        let has_response = self.create.is_some();
        if !has_response && (matches!(self.address, Address::Pointer(_)) || self.id.is_some()) {
            return Err(invalid("`address` and `id` are JSON pointers, but there is no `create`"));
        }
        if self.id.as_deref().is_some_and(|id| !id.starts_with('/')) {
            return Err(invalid("`id` is not a JSON pointer, which begins with `/`"));
        }
        let needs_id = self.calls().any(Call::needs_id);
        if needs_id && self.id.is_none() {
            return Err(invalid("it uses ${id}, but names no `id`"));
        }
        if self.create.as_ref().is_some_and(Call::needs_id) {
            return Err(invalid("`create` uses ${id}, which is known only afterwards"));
        }
        if self.create.is_some() && self.release.is_none() {
            return Err(invalid("it has `create` but no `release`: its browsers would never be released"));
        }
        Ok(())
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        let keepalive = self.keepalive.as_ref().map(|(call, _)| call);
        [self.create.as_ref(), self.release.as_ref(), keepalive].into_iter().flatten()
    }

    /// What the recipe says about itself.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// How long the provider lets a browser live.
    #[must_use]
    pub const fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    /// How long the provider lets a browser idle.
    #[must_use]
    pub const fn idle(&self) -> Option<Duration> {
        self.idle
    }

    /// How often the keepalive request is sent.
    #[must_use]
    pub fn keepalive_interval(&self) -> Option<Duration> {
        self.keepalive.as_ref().map(|(_, every)| *every)
    }

    /// Where requests go: the origins, without doubles.
    #[must_use]
    pub fn origins(&self) -> Vec<String> {
        let address = match &self.address {
            Address::Url(url) => url.origin().ok(),
            Address::Pointer(_) => None,
        };
        let mut all: Vec<String> =
            self.calls().filter_map(|call| call.url.origin().ok()).chain(address).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The names of its secrets, without doubles.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let mut all: Vec<String> = self.calls().flat_map(Call::secrets).collect();
        if let Address::Url(url) = &self.address {
            all.extend(url.secrets().map(str::to_owned));
        }
        all.extend(self.connect.iter().flat_map(|(_, value)| value.secrets()).map(str::to_owned));
        all.sort();
        all.dedup();
        all
    }

    /// The request that creates a browser; `None` when connecting creates it.
    ///
    /// # Errors
    /// When a secret is missing, or belongs to another site.
    pub fn create(&self, rental: &str, secrets: &dyn SecretSource) -> Result<Option<RentRequest>, Failure> {
        self.create.as_ref().map(|call| call.fill(None, rental, secrets)).transpose()
    }

    /// The request that releases a browser; `None` when disconnecting releases it.
    ///
    /// # Errors
    /// As [`Recipe::create`].
    pub fn release(
        &self,
        id: Option<&str>,
        rental: &str,
        secrets: &dyn SecretSource,
    ) -> Result<Option<RentRequest>, Failure> {
        self.release.as_ref().map(|call| call.fill(id, rental, secrets)).transpose()
    }

    /// Whether a browser can be released whose id was lost.
    #[must_use]
    pub fn releases_by_name(&self) -> bool {
        self.release.as_ref().is_some_and(|call| !call.needs_id())
    }

    /// The request that keeps a browser.
    ///
    /// # Errors
    /// As [`Recipe::create`].
    pub fn keepalive(
        &self,
        id: Option<&str>,
        rental: &str,
        secrets: &dyn SecretSource,
    ) -> Result<Option<RentRequest>, Failure> {
        self.keepalive.as_ref().map(|(call, _)| call.fill(id, rental, secrets)).transpose()
    }

    /// Reads where the browser is, from the response to `create` if there is one.
    ///
    /// # Errors
    /// When the response has no such members, or its address is no URL of a browser.
    pub fn read(
        &self,
        response: Option<&[u8]>,
        rental: &str,
        secrets: &dyn SecretSource,
    ) -> Result<Given, Failure> {
        let value: Value = response.and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default();
        let id = match &self.id {
            None => None,
            Some(pointer) => Some(find_text(&value, pointer).ok_or_else(|| missing("id", pointer))?),
        };
        let address = match &self.address {
            Address::Pointer(pointer) => {
                find_text(&value, pointer).ok_or_else(|| missing("address", pointer))?
            }
            Address::Url(url) => {
                let origin = url.origin()?;
                url.fill(&Values { id: id.as_deref(), rental, secrets, origin: &origin }, encoded)?
            }
        };
        let is_address = |url: &Url| origin_of(url).is_some();
        let address = Url::parse(&address).ok().filter(is_address).ok_or_else(|| {
            Failure::new(ErrorCode::NoBackend, "The provider's address is not a ws, wss, http or https URL.")
                .with_remedy("Correct `address` in the recipe.")
        })?;
        Ok(Given { id, address })
    }

    /// The id in a response, also when its address is unusable: the browser must be released then.
    #[must_use]
    pub fn find_id(&self, response: &[u8]) -> Option<String> {
        let value: Value = serde_json::from_slice(response).ok()?;
        find_text(&value, self.id.as_ref()?)
    }

    /// The headers of the websocket.
    ///
    /// # Errors
    /// As [`Recipe::create`].
    pub fn connect_headers(
        &self,
        given: &Given,
        rental: &str,
        secrets: &dyn SecretSource,
    ) -> Result<Vec<RequestHeader>, Failure> {
        let origin = origin_of(&given.address).unwrap_or_default();
        let values = Values { id: given.id.as_deref(), rental, secrets, origin: &origin };
        fill_headers(&self.connect, &values)
    }
}

impl Call {
    fn needs_id(&self) -> bool {
        self.texts().any(Template::needs_id)
    }

    fn secrets(&self) -> Vec<String> {
        self.texts().flat_map(Template::secrets).map(str::to_owned).collect()
    }

    fn texts(&self) -> impl Iterator<Item = &Template> {
        let mut of_body = Vec::new();
        if let Some(body) = &self.body {
            body.collect(&mut of_body);
        }
        std::iter::once(&self.url).chain(self.headers.iter().map(|(_, value)| value)).chain(of_body)
    }

    fn fill(
        &self,
        id: Option<&str>,
        rental: &str,
        secrets: &dyn SecretSource,
    ) -> Result<RentRequest, Failure> {
        let origin = self.url.origin()?;
        let values = Values { id, rental, secrets, origin: &origin };
        let url = Url::parse(&self.url.fill(&values, encoded)?).map_err(|_| invalid("a URL is not valid"))?;
        let body = self.body.as_ref().map(|body| body.fill(&values)).transpose()?;
        Ok(RentRequest {
            method: self.method.clone(),
            url,
            headers: fill_headers(&self.headers, &values)?,
            body,
        })
    }
}

impl Body {
    fn read(value: Value, depth: usize) -> Result<Self, Failure> {
        if depth == 0 {
            return Err(invalid("a body is nested too deeply"));
        }
        Ok(match value {
            Value::String(text) => Self::Text(Template::parse(&text)?),
            Value::Array(list) => {
                Self::List(list.into_iter().map(|one| Self::read(one, depth - 1)).collect::<Result<_, _>>()?)
            }
            Value::Object(table) => {
                let members = table.into_iter().map(|(name, one)| Ok((name, Self::read(one, depth - 1)?)));
                Self::Table(members.collect::<Result<_, Failure>>()?)
            }
            plain => Self::Plain(plain),
        })
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Template>) {
        match self {
            Self::Text(text) => found.push(text),
            Self::List(list) => list.iter().for_each(|one| one.collect(found)),
            Self::Table(table) => table.iter().for_each(|(_, one)| one.collect(found)),
            Self::Plain(_) => {}
        }
    }

    fn fill(&self, values: &Values<'_>) -> Result<Value, Failure> {
        Ok(match self {
            Self::Text(text) => Value::String(text.fill(values, str::to_owned)?),
            Self::List(list) => {
                Value::Array(list.iter().map(|one| one.fill(values)).collect::<Result<_, _>>()?)
            }
            Self::Table(table) => {
                let members = table.iter().map(|(name, one)| Ok((name.clone(), one.fill(values)?)));
                Value::Object(members.collect::<Result<_, Failure>>()?)
            }
            Self::Plain(plain) => plain.clone(),
        })
    }
}

fn read_call(file: CallFile, default_method: &str) -> Result<Call, Failure> {
    let method = file.method.unwrap_or_else(|| default_method.to_owned()).to_ascii_uppercase();
    if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
        return Err(invalid("a method is not GET, POST, PUT, PATCH or DELETE"));
    }
    let url = Template::parse(&file.url)?;
    if !file.url.starts_with("http") {
        return Err(invalid("the URL of a request is not an http or https URL"));
    }
    url.origin()?;
    let body = file.body.map(|body| Body::read(body, BODY_DEPTH)).transpose()?;
    Ok(Call { method, url, headers: read_headers(file.headers)?, body })
}

fn read_headers(headers: BTreeMap<String, String>) -> Result<Vec<(String, Template)>, Failure> {
    let read = headers.into_iter().map(|(name, value)| {
        RequestHeader::parse(&format!("{name}: x"))?;
        Ok((name, Template::parse(&value)?))
    });
    read.collect()
}

fn fill_headers(headers: &[(String, Template)], values: &Values<'_>) -> Result<Vec<RequestHeader>, Failure> {
    let filled = headers.iter().map(|(name, value)| {
        let value = value.fill(values, str::to_owned)?;
        RequestHeader::parse(&format!("{name}: {value}")).map_err(Failure::from)
    });
    filled.collect()
}

/// The text or number at a JSON pointer.
fn find_text(value: &Value, pointer: &str) -> Option<String> {
    match value.pointer(pointer)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn encoded(text: &str) -> String {
    // A space as `%20`, which holds in paths and in queries.
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

fn invalid(what: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("The recipe is not valid: {}.", shown_text(what)))
        .with_remedy("docs/fleets.md describes recipes; `tabwire provider add --example rest` shows one.")
}

fn missing(what: &str, pointer: &str) -> Failure {
    let pointer = shown_text(pointer);
    Failure::new(ErrorCode::NoBackend, format!("The provider's response has no {what} at `{pointer}`."))
        .with_remedy(format!("Correct `{what}` in the recipe."))
}

#[cfg(test)]
mod tests;
