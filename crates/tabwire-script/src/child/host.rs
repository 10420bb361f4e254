//! The functions of the process that the API's JavaScript calls. Scripts never get this object.

use std::rc::Rc;

use rquickjs::prelude::{Func, Opt};
use rquickjs::{Ctx, Exception, Object};
use url::Url;

use super::Shared;
use crate::message::{Call, Listen};

/// Makes the host object.
pub(super) fn make<'js>(context: &Ctx<'js>, shared: &Rc<Shared>) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(context.clone())?;
    let of = Rc::clone(shared);
    host.set("now", Func::from(move || of.since.elapsed().as_secs_f64() * 1000.0))?;
    let of = Rc::clone(shared);
    host.set("console", Func::from(move |level: String, text: String| of.output.console(level, text)))?;
    let of = Rc::clone(shared);
    host.set("image", Func::from(move |path: String| of.output.image(path)))?;
    let of = Rc::clone(shared);
    let call = move |context: Ctx<'js>, call: String| {
        // Parsed and written anew, so that a changed `JSON.stringify` cannot send anything but one call.
        let call: Call = serde_json::from_str(&call)
            .map_err(|_| Exception::throw_type(&context, "The parameters are not JSON."))?;
        if of.output.call(call) {
            return Ok(());
        }
        Err(Exception::throw_range(&context, "The parameters are too large."))
    };
    host.set("call", Func::from(call))?;
    let of = Rc::clone(shared);
    let listen = move |events: Vec<String>, tabs: Vec<String>| of.output.listen(Listen { events, tabs });
    host.set("listen", Func::from(listen))?;
    host.set("parseUrl", Func::from(parse_url))?;
    host.set("setUrlPart", Func::from(set_url_part))?;
    host.set("random", Func::from(random))?;
    Ok(host)
}

/// Random bytes.
fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count.min(65_536)];
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    bytes
}

/// The parts of a URL as a list of texts; none when it is not valid.
fn parse_url(text: String, base: Opt<Option<String>>) -> Option<Vec<String>> {
    let url = match base.0.flatten() {
        Some(base) => Url::parse(&base).ok()?.join(&text).ok()?,
        None => Url::parse(&text).ok()?,
    };
    Some(parts(&url))
}

fn parts(url: &Url) -> Vec<String> {
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    let place = if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") };
    let with = |sign: char, part: Option<&str>| {
        part.filter(|part| !part.is_empty()).map(|part| format!("{sign}{part}")).unwrap_or_default()
    };
    vec![
        url.as_str().to_owned(),
        url.origin().ascii_serialization(),
        format!("{}:", url.scheme()),
        url.username().to_owned(),
        url.password().unwrap_or_default().to_owned(),
        place,
        host.to_owned(),
        port,
        url.path().to_owned(),
        with('?', url.query()),
        with('#', url.fragment()),
    ]
}

/// The parts of a URL with one of them changed; none when that is not valid.
fn set_url_part(text: String, part: String, value: String) -> Option<Vec<String>> {
    let mut url = Url::parse(&text).ok()?;
    let bare = |sign: char| Some(value.strip_prefix(sign).unwrap_or(&value)).filter(|bare| !bare.is_empty());
    match part.as_str() {
        "href" => url = Url::parse(&value).ok()?,
        "protocol" => url.set_scheme(value.trim_end_matches(':')).ok()?,
        "username" => url.set_username(&value).ok()?,
        "password" => url.set_password(Some(&value)).ok()?,
        "hostname" => url.set_host(Some(&value)).ok()?,
        "host" => {
            let (host, port) = value.split_once(':').unwrap_or((&value, ""));
            url.set_host(Some(host)).ok()?;
            url.set_port(port.parse().ok()).ok()?;
        }
        "port" => url.set_port(value.parse().ok()).ok()?,
        "pathname" => url.set_path(&value),
        "search" => url.set_query(bare('?')),
        "hash" => url.set_fragment(bare('#')),
        _ => return None,
    }
    Some(parts(&url))
}
