//! Emulation: viewport, time zone, locale, user agent, position, offline.

use serde_json::{Value, json};

use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{flag, number, text};
use crate::protocol::script_text::MEDIA_MATCHES;

impl EmulatedBrowser {
    pub(in crate::browser) fn emulation_command(&mut self, tab: &str, command: &Command, reply: Reply) {
        let params = &command.params;
        let contexts = json!([tab]);
        match command.method.as_str() {
            "Emulation.setDeviceMetricsOverride" => self.set_metrics(tab, params, reply),
            "Emulation.clearDeviceMetricsOverride" => {
                let clear = json!({"context": tab, "viewport": null, "devicePixelRatio": null});
                self.note_viewport(tab, &Value::Null);
                self.send_acknowledged("browsingContext.setViewport", clear, reply);
            }
            "Emulation.setTimezoneOverride" => {
                let zone = Some(text(params, "timezoneId")).filter(|zone| !zone.is_empty());
                let set = json!({"timezone": zone, "contexts": contexts});
                self.send_acknowledged("emulation.setTimezoneOverride", set, reply);
            }
            "Emulation.setLocaleOverride" => {
                let locale = Some(text(params, "locale").replace('_', "-")).filter(|one| !one.is_empty());
                let set = json!({"locale": locale, "contexts": contexts});
                self.send_acknowledged("emulation.setLocaleOverride", set, reply);
            }
            "Emulation.setUserAgentOverride" => self.set_user_agent(tab, params, reply),
            "Emulation.setGeolocationOverride" => {
                let set = match (number(params, "latitude"), number(params, "longitude")) {
                    (Some(latitude), Some(longitude)) => json!({
                        "coordinates": {
                            "latitude": latitude, "longitude": longitude,
                            "accuracy": number(params, "accuracy").unwrap_or(1.0),
                        },
                        "contexts": contexts,
                    }),
                    _ => json!({"error": {"type": "positionUnavailable"}, "contexts": contexts}),
                };
                self.send_acknowledged("emulation.setGeolocationOverride", set, reply);
            }
            "Emulation.clearGeolocationOverride" => {
                let set = json!({"coordinates": null, "contexts": contexts});
                self.send_acknowledged("emulation.setGeolocationOverride", set, reply);
            }
            // Turning off what is off anyway.
            "Emulation.setTouchEmulationEnabled" if !flag(params, "enabled") => self.succeed(reply, "{}"),
            "Emulation.setCPUThrottlingRate" if number(params, "rate").is_some_and(|rate| rate <= 1.0) => {
                self.succeed(reply, "{}");
            }
            "Emulation.setEmulatedMedia" => self.set_media(tab, params, reply),
            "Emulation.setDefaultBackgroundColorOverride" if params.get("color").is_none() => {
                self.succeed(reply, "{}");
            }
            method => self.refuse(reply, method),
        }
    }

    /// Media features cannot be emulated. Playwright sets each new page to the usual ones, which mostly hold anyway.
    fn set_media(&mut self, tab: &str, params: &Value, reply: Reply) {
        let queries = media_queries(params);
        if queries.is_empty() {
            return self.succeed(reply, "{}");
        }
        let arguments: Vec<Value> =
            queries.iter().map(|query| json!({"type": "string", "value": query})).collect();
        self.call_own(tab, MEDIA_MATCHES, &json!(arguments), move |browser, outcome| match outcome {
            Ok(matches) if flag(&matches, "value") => browser.succeed(reply, "{}"),
            _ => browser.refuse(reply, "Emulation.setEmulatedMedia"),
        });
    }

    fn set_metrics(&mut self, tab: &str, params: &Value, reply: Reply) {
        let size = |name: &str| params.get(name).and_then(Value::as_u64).filter(|size| *size > 0);
        let viewport = match (size("width"), size("height")) {
            (Some(width), Some(height)) => json!({"width": width, "height": height}),
            _ => Value::Null,
        };
        self.note_viewport(tab, &viewport);
        let ratio = number(params, "deviceScaleFactor").filter(|ratio| *ratio > 0.0);
        let set = json!({"context": tab, "viewport": viewport, "devicePixelRatio": ratio});
        self.send_acknowledged("browsingContext.setViewport", set, reply);
    }

    fn note_viewport(&mut self, tab: &str, viewport: &Value) {
        if let Some(context) = self.contexts.find_mut(tab) {
            context.viewport = Some(viewport.clone()).filter(|viewport| viewport.is_object());
        }
    }

    pub(in crate::browser) fn set_user_agent(&mut self, tab: &str, params: &Value, reply: Reply) {
        let agent = Some(text(params, "userAgent")).filter(|agent| !agent.is_empty());
        let set = json!({"userAgent": agent, "contexts": [tab]});
        self.send_acknowledged("emulation.setUserAgentOverride", set, reply);
    }

    /// `Network.emulateNetworkConditions`: only offline exists.
    pub(in crate::browser) fn set_conditions(&mut self, tab: &str, command: &Command, reply: Reply) {
        let params = &command.params;
        let limits = ["latency", "downloadThroughput", "uploadThroughput"];
        if limits.iter().any(|name| number(params, name).is_some_and(|limit| limit > 0.0)) {
            return self.refuse(reply, &command.method);
        }
        let conditions = if flag(params, "offline") { json!({"type": "offline"}) } else { Value::Null };
        let set = json!({"networkConditions": conditions, "contexts": [tab]});
        self.send_acknowledged("emulation.setNetworkConditions", set, reply);
    }
}

/// The media queries that match when the wanted features hold. An empty value resets one.
fn media_queries(params: &Value) -> Vec<String> {
    let features = params.get("features").and_then(Value::as_array).into_iter().flatten();
    let features = features
        .filter(|feature| !text(feature, "value").is_empty())
        .map(|feature| format!("({}: {})", text(feature, "name"), text(feature, "value")));
    let medium = Some(text(params, "media").to_owned()).filter(|medium| !medium.is_empty());
    medium.into_iter().chain(features).collect()
}
