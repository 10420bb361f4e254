//! Table of the embedded pages: path, content type and text.

use crate::site::http::response::Response;

/// One static page of the fixture site.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) text: &'static str,
}

/// Finds the page of a path and fills in the port.
pub(crate) fn find(path: &str, port: u16) -> Option<Response> {
    let page = PAGES.iter().find(|page| page.path == path)?;
    let response = Response::new(page.content_type, page.text.replace("{{port}}", &port.to_string()));
    Some(response.with("service-worker-allowed", "/"))
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! page {
    ($path:literal, $content_type:expr, $file:literal) => {
        Page {
            path: $path,
            content_type: $content_type,
            text: include_str!(concat!("../../../pages/", $file)),
        }
    };
}

/// Every static page.
pub(crate) const PAGES: &[Page] = &[
    page!("/", HTML, "plain.html"),
    page!("/plain", HTML, "plain.html"),
    page!("/frames", HTML, "frames.html"),
    page!("/frames/middle", HTML, "frames_middle.html"),
    page!("/frames/inner", HTML, "frames_inner.html"),
    page!("/worker/dedicated", HTML, "worker_dedicated.html"),
    page!("/worker/dedicated.js", SCRIPT, "worker_dedicated.js"),
    page!("/worker/shared", HTML, "worker_shared.html"),
    page!("/worker/shared.js", SCRIPT, "worker_shared.js"),
    page!("/worker/service", HTML, "worker_service.html"),
    page!("/worker/service.js", SCRIPT, "worker_service.js"),
    page!("/popup", HTML, "popup.html"),
    page!("/popup/child", HTML, "popup_child.html"),
    page!("/dialogs", HTML, "dialogs.html"),
    page!("/downloads", HTML, "downloads.html"),
    page!("/requests", HTML, "requests.html"),
    page!("/image.svg", "image/svg+xml", "image.svg"),
    page!("/favicon.ico", "image/svg+xml", "image.svg"),
    page!("/events", HTML, "events.html"),
    page!("/websocket", HTML, "websocket.html"),
    page!("/form", HTML, "form.html"),
    page!("/media", HTML, "media.html"),
    page!("/console", HTML, "console.html"),
    page!("/flood", HTML, "flood.html"),
    page!("/bench", HTML, "bench.html"),
    page!("/click/covered", HTML, "click_covered.html"),
    page!("/click/moving", HTML, "click_moving.html"),
    page!("/click/late", HTML, "click_late.html"),
    page!("/click/enabled", HTML, "click_enabled.html"),
    page!("/click/sticky", HTML, "click_sticky.html"),
    page!("/click/targets", HTML, "click_targets.html"),
    page!("/click/listeners", HTML, "click_listeners.html"),
    page!("/click/effects", HTML, "click_effects.html"),
    page!("/churn", HTML, "churn.html"),
    page!("/keys", HTML, "keys.html"),
    page!("/scroll", HTML, "scroll.html"),
    page!("/frames/deep", HTML, "frames_deep.html"),
    page!("/frames/deep/middle", HTML, "frames_deep_middle.html"),
    page!("/frames/form", HTML, "frames_form.html"),
    page!("/frames/mix", HTML, "frames_mix.html"),
    page!("/shadow", HTML, "shadow.html"),
    page!("/list/infinite", HTML, "list_infinite.html"),
    page!("/list/virtual", HTML, "list_virtual.html"),
    page!("/editor/plain", HTML, "editor_plain.html"),
    page!("/editor/rich", HTML, "editor_rich.html"),
    page!("/drag", HTML, "drag.html"),
    page!("/files", HTML, "files.html"),
    page!("/inputs", HTML, "inputs.html"),
    page!("/datepicker", HTML, "datepicker.html"),
    page!("/selects", HTML, "selects.html"),
    page!("/checks", HTML, "checks.html"),
    page!("/dialogs/sources", HTML, "dialogs_sources.html"),
    page!("/dialogs/frame", HTML, "dialogs_frame.html"),
    page!("/popup/kinds", HTML, "popup_kinds.html"),
    page!("/popup/message", HTML, "popup_message.html"),
    page!("/downloads/routes", HTML, "downloads_routes.html"),
    page!("/console/errors", HTML, "console_errors.html"),
    page!("/storage", HTML, "storage.html"),
    page!("/history", HTML, "history.html"),
    page!("/hostile/hidden", HTML, "hostile_hidden.html"),
    page!("/hostile/forged", HTML, "hostile_forged.html"),
    page!("/hostile/surrogates", HTML, "hostile_surrogates.html"),
    page!("/hostile/depth", HTML, "hostile_depth.html"),
    page!("/hostile/watch", HTML, "hostile_watch.html"),
    page!("/article", HTML, "article.html"),
    page!("/tall", HTML, "tall.html"),
    page!("/slow/page", HTML, "slow_page.html"),
    page!("/cors", HTML, "cors.html"),
    page!("/print", HTML, "print.html"),
    page!("/device", HTML, "device.html"),
    page!("/clipboard", HTML, "clipboard.html"),
    page!("/vitals", HTML, "vitals.html"),
    page!("/moment", HTML, "moment.html"),
    page!("/canary", HTML, "canary.html"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::route::SiteResponse;
    use crate::site::route::tests::ask;

    /// The paths in the first column of the tables in `pages/README.md`.
    fn described_paths() -> Vec<&'static str> {
        let rows = include_str!("../../../pages/README.md").lines();
        rows.filter_map(|row| row.strip_prefix("| `")?.split_once('`')).map(|(path, _)| path).collect()
    }

    #[test]
    fn every_page_is_described_once() {
        let described = described_paths();
        for page in PAGES {
            let times = described.iter().filter(|path| **path == page.path).count();
            assert_eq!(times, 1, "{} in pages/README.md", page.path);
        }
    }

    #[tokio::test]
    async fn every_described_path_has_a_response() {
        for path in described_paths() {
            if let SiteResponse::Response { response, .. } =
                ask(&format!("GET {path} HTTP/1.1\r\n\r\n")).await
            {
                assert!(!response.head().starts_with("HTTP/1.1 404"), "{path}");
            }
        }
    }

    #[test]
    fn pages_load_only_local_resources() {
        for page in PAGES {
            for address in page.text.split("src=\"http://").skip(1) {
                let host = address.split('/').next().unwrap_or_default();
                assert!(host.ends_with(".localhost:{{port}}"), "{}: {host}", page.path);
            }
            assert!(!page.text.contains("src=\"https"), "{}", page.path);
        }
    }
}
