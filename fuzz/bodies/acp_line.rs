//! Lines of an agent: parsed or ignored, never panicking, and every request gets at most one response.

use tabwire_acp::{Client, ClientInfo, Content, LineBuffer, McpServer, Opening, SessionSetup, Transcript};

/// Feeds the input to a client in a turn, as the daemon does, and to a transcript.
pub(crate) fn check(data: &[u8]) {
    let mut client = working_client();
    let mut transcript = Transcript::default();
    let mut buffer = LineBuffer::default();
    let mut requests = 0;
    for piece in data.chunks(7) {
        buffer.extend(piece).expect("shorter than the limit");
        while let Some(line) = buffer.take_line() {
            requests += usize::from(line.windows(6).any(|part| part == b"method") || line.contains(&b'\\'));
            for event in client.receive(&line) {
                transcript.apply(&event);
            }
        }
    }
    let sent = client.take_output();
    assert!(sent.len() <= requests, "a response only to a request");
    for line in sent {
        assert!(!line.contains('\n'), "one line");
        serde_json::from_str::<serde_json::Value>(&line).expect("JSON");
    }
    let stored = serde_json::to_string(&transcript).expect("JSON");
    let read: Transcript = serde_json::from_str(&stored).expect("what is stored can be read");
    assert_eq!(read.items(), transcript.items());
}

fn working_client() -> Client {
    let mut client = Client::new(ClientInfo { name: "tabwire".to_owned(), version: "1".to_owned() });
    client.initialize().expect("new");
    client.receive(br#"{"id":1,"result":{"protocolVersion":1,"_meta":{"steering":{"supported":true}}}}"#);
    let servers: Vec<McpServer> = Vec::new();
    client
        .open(Opening::New, &SessionSetup { directory: "/".to_owned(), servers, meta: None })
        .expect("ready");
    client.receive(br#"{"id":2,"result":{"sessionId":"s1"}}"#);
    client.prompt(&[Content::Text("hello".to_owned())]).expect("idle");
    client.take_output();
    client
}
