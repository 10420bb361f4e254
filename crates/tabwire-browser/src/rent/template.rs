//! Placeholders in the texts of a recipe: `${secret:NAME}`, `${user:NAME}`, `${id}` and `${rental}`.

use tabwire_api::{ErrorCode, Failure};
use url::Url;

use crate::rent::{NamedSecret, SecretSource, provider_name, shown_text};

/// One part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Secret(String),
    User(String),
    Id,
    Rental,
}

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

/// What placeholders stand for.
pub(crate) struct Values<'a> {
    /// The id that the provider gave.
    pub(crate) id: Option<&'a str>,
    /// Our own name of the rental.
    pub(crate) rental: &'a str,
    /// The vault.
    pub(crate) secrets: &'a dyn SecretSource,
    /// Where the text goes.
    pub(crate) origin: &'a str,
}

impl Template {
    /// Parses a text.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            parts.push(Part::Text(before.to_owned()));
            let (name, after) = after.split_once('}').ok_or_else(|| bad(after))?;
            parts.push(match name.split_once(':') {
                None if name == "id" => Part::Id,
                None if name == "rental" => Part::Rental,
                Some(("secret", name)) => Part::Secret(provider_name(name)?.to_owned()),
                Some(("user", name)) => Part::User(provider_name(name)?.to_owned()),
                _ => return Err(bad(name)),
            });
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self { parts })
    }

    /// Whether it has the placeholder `${id}`.
    pub(crate) fn needs_id(&self) -> bool {
        self.parts.contains(&Part::Id)
    }

    /// The names of its secrets.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(name) | Part::User(name) => Some(name.as_str()),
            Part::Text(_) | Part::Id | Part::Rental => None,
        })
    }

    /// The text with every placeholder replaced; `encode` is applied to the replacements.
    pub(crate) fn fill(
        &self,
        values: &Values<'_>,
        encode: impl Fn(&str) -> String,
    ) -> Result<String, Failure> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(own) => text.push_str(own),
                Part::Rental => text.push_str(&encode(values.rental)),
                Part::Id => text.push_str(&encode(values.id.ok_or_else(no_id)?)),
                Part::Secret(name) => text.push_str(&encode(&find(values, name)?.password)),
                Part::User(name) => text.push_str(&encode(&find(values, name)?.username)),
            }
        }
        Ok(text)
    }

    /// The origin of a URL with placeholders. Scheme, host and port are plain text, so that a recipe shows where it sends
    /// requests and secrets.
    pub(crate) fn origin(&self) -> Result<String, Failure> {
        let refused = || {
            Failure::new(
                ErrorCode::BadArgs,
                "A URL of a recipe does not begin with a plain http, https, ws or wss scheme, host and port.",
            )
            .with_remedy("Use placeholders only after the host, as in https://api.example/sessions/${id}.")
        };
        let Some(Part::Text(first)) = self.parts.first() else { return Err(refused()) };
        let (scheme, rest) = first.split_once("://").ok_or_else(refused)?;
        let end = rest.find(['/', '?', '#']);
        // A placeholder right after the host would be a part of it.
        let authority = match end {
            Some(end) => rest.get(..end).unwrap_or_default(),
            None if self.parts.len() == 1 => rest,
            None => return Err(refused()),
        };
        if authority.is_empty()
            || authority.contains('@')
            || !["http", "https", "ws", "wss"].contains(&scheme)
        {
            return Err(refused());
        }
        origin_of(&Url::parse(&format!("{scheme}://{authority}/")).map_err(|_| refused())?)
            .ok_or_else(refused)
    }
}

/// The http origin of a URL; that of a websocket is its server's.
pub(crate) fn origin_of(url: &Url) -> Option<String> {
    let scheme = match url.scheme() {
        "ws" | "http" => "http",
        "wss" | "https" => "https",
        _ => return None,
    };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let whole = Url::parse(&format!("{scheme}://{host}{port}/")).ok()?;
    Some(whole.origin().ascii_serialization())
}

/// A secret, for its own origin only.
fn find(values: &Values<'_>, name: &str) -> Result<NamedSecret, Failure> {
    let secret = values.secrets.find(name)?;
    if secret.origin == values.origin {
        return Ok(secret);
    }
    let message = format!(
        "The secret `{name}` was saved for {}, and the recipe would send it to {}.",
        secret.origin, values.origin
    );
    Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(format!(
        "Save a secret for that site: `tabwire auth save NAME --url {}`.",
        values.origin
    )))
}

fn bad(name: &str) -> Failure {
    let name = shown_text(name);
    Failure::new(ErrorCode::BadArgs, format!("A recipe has the unknown placeholder `{name}`."))
        .with_remedy("Use ${secret:NAME}, ${user:NAME}, ${id} or ${rental}.")
}

fn no_id() -> Failure {
    Failure::new(ErrorCode::BadArgs, "A recipe uses ${id}, but the provider gave no id.")
        .with_remedy("Set `id` in the recipe to the JSON pointer of the id in the response.")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneSecret;

    impl SecretSource for OneSecret {
        fn find(&self, _name: &str) -> Result<NamedSecret, Failure> {
            Ok(NamedSecret {
                username: "me".to_owned(),
                password: "a b/c".to_owned(),
                origin: "https://api.example".to_owned(),
            })
        }
    }

    #[test]
    fn placeholders_are_replaced_and_encoded() {
        let template =
            Template::parse("https://api.example/x/${id}?t=${secret:key}&u=${user:key}&r=${rental}");
        let template = template.expect("valid");
        let origin = template.origin().expect("an origin");
        let values = Values { id: Some("7/8"), rental: "tabwire-1", secrets: &OneSecret, origin: &origin };
        let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let filled = template.fill(&values, encode).expect("filled");
        assert_eq!(filled, "https://api.example/x/7%2F8?t=a+b%2Fc&u=me&r=tabwire-1");
        assert!(template.needs_id() && template.secrets().eq(["key", "key"]));
    }

    #[test]
    fn t39_a_secret_goes_to_its_own_origin_only() {
        for url in ["https://api.example.evil/${secret:key}", "http://api.example/${secret:key}"] {
            let template = Template::parse(url).expect("valid");
            let origin = template.origin().expect("an origin");
            let values = Values { id: None, rental: "r", secrets: &OneSecret, origin: &origin };
            let failure = template.fill(&values, str::to_owned).expect_err(url);
            assert!(failure.code == ErrorCode::PolicyDenied && !failure.message.contains("a b"), "{failure}");
        }
    }

    #[test]
    fn the_host_of_a_url_is_plain() {
        for (url, origin) in [
            ("https://a.example", "https://a.example"),
            ("wss://a.example:443/x?${id}", "https://a.example"),
            ("ws://a.example:3000/${id}", "http://a.example:3000"),
        ] {
            assert_eq!(Template::parse(url).expect("valid").origin().as_deref(), Ok(origin), "{url}");
        }
        for url in
            ["https://${id}/", "https://a${id}/", "https://u@a/", "https://a.example${id}", "file:///x", "x"]
        {
            assert!(Template::parse(url).expect("valid").origin().is_err(), "{url}");
        }
        for bad in ["${", "${nothing}", "${secret:../x}", "${env:HOME}"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
    }
}
