//! One client of one page (`/devtools/page/ID`): its frames have no session id. The connection ends with the page or the
//! browser.

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_cdp::page_frames::{Delivery, from_page, to_page};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame};

use super::BROWSER_TIMEOUT;
use super::link::Link;
use super::server::PortServer;

/// The id of the attach request, above the ids of clients.
const ATTACH_ID: u64 = 9_000_000_000_000;

/// An attached page, before its client is served.
#[derive(Debug)]
pub(super) struct PageLink {
    link: Link,
    /// The CDP session; the client does not see it.
    session: String,
}

impl PageLink {
    /// Attaches to a page; `None` when there is no such page.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub(super) async fn open(server: &PortServer, target: &str) -> Result<Option<Self>, Failure> {
        let mut link = server.open_page_link().await?;
        let params = json!({"targetId": target, "flatten": true});
        let request =
            json!({"id": ATTACH_ID, "method": "Target.attachToTarget", "params": params}).to_string();
        let attaching = async {
            link.sink.send(BytesMut::from(request.as_bytes())).await.ok()?;
            loop {
                let Ok(Some(ReceivedFrame::Frame(frame))) = link.source.next().await else { return None };
                let response: Value = serde_json::from_slice(&frame).ok()?;
                if response.get("id").and_then(Value::as_u64) == Some(ATTACH_ID) {
                    return response.pointer("/result/sessionId")?.as_str().map(str::to_owned);
                }
            }
        };
        let session = tokio::time::timeout(BROWSER_TIMEOUT, attaching).await.ok().flatten();
        Ok(session.map(|session| Self { link, session }))
    }

    /// Serves a client until it disconnects, or the page or the browser ends.
    pub(super) async fn serve(mut self, server: &PortServer, mut source: FrameSource, mut sink: FrameSink) {
        let frames = server.client_frames();
        loop {
            let is_done = tokio::select! {
                read = source.next() => match read {
                    Ok(Some(ReceivedFrame::Frame(frame))) => {
                        if let Some(frames) = &frames {
                            frames.log_client(&frame);
                        }
                        self.link.sink.send(to_page(frame, &self.session)).await.is_err()
                    }
                    _ => return,
                },
                read = self.link.source.next() => match read {
                    Ok(Some(ReceivedFrame::Frame(frame))) => match from_page(frame, &self.session) {
                        Delivery::Forward(frame) => {
                            if let Some(frames) = &frames {
                                frames.log_browser(&frame);
                            }
                            sink.send(frame).await.is_err()
                        }
                        Delivery::Drop => false,
                        Delivery::End => true,
                    },
                    Ok(Some(ReceivedFrame::Oversize(_))) => false,
                    Ok(None) | Err(_) => true,
                },
                _ = server.finished() => true,
            };
            if is_done {
                return sink.close_with(CloseFrame::Done);
            }
        }
    }
}
