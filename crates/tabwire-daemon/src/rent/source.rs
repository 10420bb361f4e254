//! A Grid or a provider: which requests create, keep and release a browser there.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use tabwire_api::api::SessionOptions;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_bidi::BrowserFacts;
use tabwire_browser::RequestHeader;
use tabwire_browser::atomic_file;
use tabwire_browser::rent::grid::Grid;
use tabwire_browser::rent::recipe::{RECIPE_BYTES, Recipe};
use tabwire_browser::rent::{NamedSecret, RentRequest, SecretSource, provider_name};
use tabwire_cdp::{Deadline, HttpError, HttpRequest, HttpResponse};
use tabwire_engine::LoginStore;
use url::Url;

use crate::rent::record::SavedSource;
use crate::vault::Vault;

/// How often a Grid's session is used when nothing else uses it. A Grid ends sessions after 300 s by default.
const GRID_KEEPALIVE: Duration = Duration::from_secs(45);

/// The longest response of a Grid or a provider: a list of many nodes, or a download.
const RESPONSE_BYTES: usize = 96 * 1024 * 1024;

/// Where browsers are rented.
#[derive(Clone)]
pub(crate) enum RentalSource {
    Grid(Box<Grid>),
    Provider { name: String, recipe: Box<Recipe> },
}

/// The browser that a Grid or provider gave.
#[derive(Clone)]
pub(crate) struct GivenBrowser {
    /// Its id there.
    pub(crate) id: Option<String>,
    /// Where its debugging protocol is; `None` when the node offers none.
    pub(crate) address: Option<Url>,
    /// Headers of its websocket, `Name: value`.
    pub(crate) headers: Vec<String>,
    /// Name and version, if they were reported.
    pub(crate) product: String,
    /// Whether the node keeps downloads for the client.
    pub(crate) keeps_downloads: bool,
    /// Set for a Firefox, whose websocket speaks WebDriver BiDi.
    pub(crate) firefox: Option<BrowserFacts>,
}

/// Scheme and host, or the provider's name: no credentials.
impl fmt::Display for RentalSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid(grid) => write!(formatter, "the Grid at {grid}"),
            Self::Provider { name, .. } => write!(formatter, "the provider {name}"),
        }
    }
}

impl fmt::Debug for RentalSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RentalSource({self})")
    }
}

/// The saved logins as secrets of recipes.
#[derive(Clone, Debug)]
pub(crate) struct VaultSecrets(pub(crate) Vault);

impl SecretSource for VaultSecrets {
    fn find(&self, name: &str) -> Result<NamedSecret, Failure> {
        let login = self.0.find(name, None).map_err(|failure| {
            let missing =
                Remedy::new("Run {}.", [Step::command(format!("tabwire auth save {name} --url ORIGIN"))]);
            let remedy = failure.remedy.clone().unwrap_or(missing);
            Failure::new(failure.code, format!("The secret `{name}` of the provider: {}", failure.message))
                .with_remedy(remedy)
        })?;
        let password = login.password.expose().to_owned();
        Ok(NamedSecret { username: login.username, password, origin: login.origin })
    }
}

impl SavedSource {
    /// What a session's options name. A recipe is read from the user's configuration only.
    pub(crate) fn of_options(options: &SessionOptions, config: &Path) -> Result<Self, Failure> {
        if let Some(url) = &options.grid {
            return Ok(Self::Grid { url: url.clone(), headers: options.headers.clone() });
        }
        let name = provider_name(options.provider.as_deref().unwrap_or_default())?;
        let file = config.join("providers").join(format!("{name}.toml"));
        let unknown = |why: String| {
            Failure::new(ErrorCode::BadArgs, format!("There is no provider {name}: {why}")).with_remedy(
                Remedy::new(
                    "Run {} to list them, or {} to add one.",
                    [Step::command("tabwire provider list"), Step::command("tabwire provider add NAME FILE")],
                ),
            )
        };
        let content = atomic_file::read(&file, RECIPE_BYTES).map_err(|error| unknown(error.to_string()))?;
        let recipe =
            String::from_utf8(content).map_err(|_| unknown("its recipe is not UTF-8.".to_owned()))?;
        Ok(Self::Provider { name: name.to_owned(), recipe })
    }
}

/// The options with the capabilities that name the browser of `--browser`.
pub(crate) fn with_browser(options: &SessionOptions) -> Result<SessionOptions, Failure> {
    let Some(browser) = options.browser.as_deref().filter(|_| options.grid.is_some()) else {
        return Ok(options.clone());
    };
    let refuse = |message: String, remedy: &str| {
        Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy.to_owned()))
    };
    if options.capabilities.is_some() {
        let message = "The capabilities name the browser of a Grid.".to_owned();
        return refuse(message, "Set `browserName` there, and leave `browser` out.");
    }
    let name = match browser {
        "firefox" => "firefox",
        "chrome" | "chromium" => "chrome",
        "edge" => "MicrosoftEdge",
        _ => return refuse(format!("A Grid has no browser {browser}."), "Use firefox, chrome or edge."),
    };
    let capabilities = Some(serde_json::json!({"browserName": name}));
    Ok(SessionOptions { capabilities, ..options.clone() })
}

impl RentalSource {
    pub(crate) fn load(saved: &SavedSource) -> Result<Self, Failure> {
        match saved {
            SavedSource::Grid { url, headers } => Ok(Self::Grid(Box::new(Grid::parse(url, headers)?))),
            SavedSource::Provider { name, recipe } => {
                Ok(Self::Provider { name: name.clone(), recipe: Box::new(Recipe::parse(recipe)?) })
            }
        }
    }

    /// The request that creates a browser; `None` when connecting creates it.
    pub(crate) fn create(
        &self,
        rental: &str,
        options: &SessionOptions,
        secrets: &VaultSecrets,
    ) -> Result<Option<RentRequest>, Failure> {
        match self {
            Self::Grid(grid) => grid.create(rental, options.capabilities.as_ref()).map(Some),
            Self::Provider { recipe, .. } => recipe.create(rental, secrets),
        }
    }

    /// Reads the response to `create`.
    pub(crate) fn read(
        &self,
        response: Option<&HttpResponse>,
        rental: &str,
        secrets: &VaultSecrets,
    ) -> Result<GivenBrowser, Failure> {
        match self {
            Self::Grid(grid) => {
                let (status, body) =
                    response.map_or((0, &[][..]), |found| (found.status, found.body.as_slice()));
                let session = grid.read_session(status, body)?;
                let own = session.address.as_ref().is_some_and(|address| grid.serves(address));
                let headers = if own { header_lines(grid.headers()) } else { Vec::new() };
                let (address, product, keeps_downloads) =
                    (session.address, session.product, session.keeps_downloads);
                let version = product.rsplit(' ').next().unwrap_or_default().to_owned();
                let firefox = session.firefox.map(|user_agent| BrowserFacts {
                    product: format!("Firefox/{version}"),
                    user_agent,
                    anchor: None,
                });
                Ok(GivenBrowser { id: Some(session.id), address, headers, product, keeps_downloads, firefox })
            }
            Self::Provider { recipe, .. } => {
                if let Some(refused) = response.filter(|response| !(200..300).contains(&response.status)) {
                    return Err(self.refused(refused.status));
                }
                let body = response.map(|response| response.body.as_slice());
                let given = recipe.read(body, rental, secrets)?;
                let headers = header_lines(&recipe.connect_headers(&given, rental, secrets)?);
                let (id, address) = (given.id, Some(given.address));
                let (product, keeps_downloads, firefox) = (String::new(), false, None);
                Ok(GivenBrowser { id, address, headers, product, keeps_downloads, firefox })
            }
        }
    }

    /// The id in a response that is otherwise unusable.
    pub(crate) fn find_id(&self, response: &HttpResponse) -> Option<String> {
        match self {
            Self::Grid(_) => None,
            Self::Provider { recipe, .. } => recipe.find_id(&response.body),
        }
    }

    fn refused(&self, status: u16) -> Failure {
        let (code, what) = match status {
            401 | 403 => (ErrorCode::NoBackend, "refuses the credentials"),
            402 => (ErrorCode::NoBackend, "requires a payment"),
            429 | 503 => (ErrorCode::Backpressure, "has no browser free"),
            _ => (ErrorCode::NoBackend, "created no browser"),
        };
        let of = match self {
            Self::Grid(_) => "The Grid".to_owned(),
            Self::Provider { name, .. } => format!("The provider {name}"),
        };
        Failure::new(code, format!("{of} {what} (HTTP status {status})."))
            .with_remedy("Check its recipe, its secret and your account there, and retry.")
    }

    /// The request that releases a browser; `None` when disconnecting releases it.
    pub(crate) fn release(
        &self,
        id: Option<&str>,
        rental: &str,
        secrets: &VaultSecrets,
    ) -> Result<Option<RentRequest>, Failure> {
        match self {
            Self::Grid(grid) => Ok(id.map(|id| grid.release(id))),
            Self::Provider { recipe, .. } => recipe.release(id, rental, secrets),
        }
    }

    /// The request that keeps a browser, which also tells whether it is still there.
    pub(crate) fn keepalive(
        &self,
        id: Option<&str>,
        rental: &str,
        secrets: &VaultSecrets,
    ) -> Result<Option<RentRequest>, Failure> {
        match self {
            Self::Grid(grid) => Ok(id.map(|id| grid.keep_alive(id))),
            Self::Provider { recipe, .. } => recipe.keepalive(id, rental, secrets),
        }
    }

    /// How often it is sent.
    pub(crate) fn keepalive_interval(&self) -> Option<Duration> {
        match self {
            Self::Grid(_) => Some(GRID_KEEPALIVE),
            Self::Provider { recipe, .. } => recipe.keepalive_interval(),
        }
    }

    /// How long the provider lets a browser live, and idle.
    pub(crate) fn life(&self) -> (Option<Duration>, Option<Duration>) {
        match self {
            Self::Grid(_) => (None, None),
            Self::Provider { recipe, .. } => (recipe.lifetime(), recipe.idle()),
        }
    }
}

/// Fills a request on the blocking pool: a keyring's program may have to be run for a secret.
pub(crate) async fn filled<T: Send + 'static>(
    source: &Arc<RentalSource>,
    fill: impl FnOnce(&RentalSource) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let source = Arc::clone(source);
    tokio::task::spawn_blocking(move || fill(&source)).await.unwrap_or_else(|error| {
        Err(Failure::new(ErrorCode::Internal, format!("Background work ended early: {error}.")))
    })
}

/// Sends a request of a Grid or provider.
pub(crate) async fn send(request: &RentRequest, deadline: Deadline) -> Result<HttpResponse, HttpError> {
    let mut headers = HeaderMap::new();
    for header in &request.headers {
        let (name, value) = header.expose();
        let pair = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
        let (Ok(name), Ok(mut value)) = pair else {
            return Err(HttpError::NotSent("a header is not valid".to_owned()));
        };
        value.set_sensitive(true);
        headers.append(name, value);
    }
    let body =
        request.body.as_ref().map(|body| ("application/json; charset=utf-8", body.to_string().into_bytes()));
    let (method, url) = (request.method.clone(), request.url.clone());
    HttpRequest { method, url, headers, body, limit: RESPONSE_BYTES }.send(deadline).await
}

fn header_lines(headers: &[RequestHeader]) -> Vec<String> {
    let pairs = headers.iter().map(RequestHeader::expose);
    pairs.map(|(name, value)| format!("{name}: {value}")).collect()
}
