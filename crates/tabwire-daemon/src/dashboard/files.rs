//! The files of the dashboard, embedded in the binary. They are served without comments and indentation, which are a
//! third of their size.

use std::sync::LazyLock;

use bytes::Bytes;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const IMAGE: &str = "image/svg+xml";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($path:literal => $kind:expr, $file:literal;)+) => {
        &[$(($path, $kind, include_str!(concat!("../../web/", $file)))),+]
    };
}

/// Path below `/dashboard`, content type, content.
static SOURCES: &[(&str, &str, &str)] = files![
    "" => HTML, "dashboard/index.html";
    "icon.svg" => IMAGE, "dashboard/icon.svg";
    "dashboard.css" => STYLE, "dashboard/dashboard.css";
    "dashboard.js" => SCRIPT, "dashboard/dashboard.js";
    "views.css" => STYLE, "dashboard/views.css";
    "activity.js" => SCRIPT, "dashboard/activity.js";
    "connection.js" => SCRIPT, "dashboard/connection.js";
    "icons.js" => SCRIPT, "dashboard/icons.js";
    "live/live.css" => STYLE, "dashboard/live/live.css";
    "live/input.js" => SCRIPT, "dashboard/live/input.js";
    "live/now.js" => SCRIPT, "dashboard/live/now.js";
    "live/frame_view.js" => SCRIPT, "dashboard/live/frame_view.js";
    "live/requests.js" => SCRIPT, "dashboard/live/requests.js";
    "live/socket.js" => SCRIPT, "dashboard/live/socket.js";
    "live/stage.js" => SCRIPT, "dashboard/live/stage.js";
    "live/states.js" => SCRIPT, "dashboard/live/states.js";
    "live/track.js" => SCRIPT, "dashboard/live/track.js";
    "live/visibility.js" => SCRIPT, "dashboard/live/visibility.js";
    "live/wall.js" => SCRIPT, "dashboard/live/wall.js";
    "screenshots.js" => SCRIPT, "dashboard/screenshots.js";
    "requests.js" => SCRIPT, "dashboard/requests.js";
    "views/chats.css" => STYLE, "dashboard/views/chats.css";
    "views/chats.js" => SCRIPT, "dashboard/views/chats.js";
    "search.js" => SCRIPT, "dashboard/search.js";
    "sidebar.js" => SCRIPT, "dashboard/sidebar.js";
    "views/clients.js" => SCRIPT, "dashboard/views/clients.js";
    "views/files.js" => SCRIPT, "dashboard/views/files.js";
    "views/replay.js" => SCRIPT, "dashboard/views/replay.js";
    "views/entry.js" => SCRIPT, "dashboard/views/entry.js";
    "views/health.js" => SCRIPT, "dashboard/views/health.js";
    "views/policy.js" => SCRIPT, "dashboard/views/policy.js";
    "views/questions.js" => SCRIPT, "dashboard/views/questions.js";
    "views/sessions.js" => SCRIPT, "dashboard/views/sessions.js";
    "views/timeline.js" => SCRIPT, "dashboard/views/timeline.js";
    "shared/base.css" => STYLE, "shared/base.css";
    "shared/chat/chat.css" => STYLE, "shared/chat/chat.css";
    "shared/chat/agent_question.js" => SCRIPT, "shared/chat/agent_question.js";
    "shared/chat/chat.js" => SCRIPT, "shared/chat/chat.js";
    "shared/chat/composer.js" => SCRIPT, "shared/chat/composer.js";
    "shared/chat/header.js" => SCRIPT, "shared/chat/header.js";
    "shared/chat/history.js" => SCRIPT, "shared/chat/history.js";
    "shared/chat/model.js" => SCRIPT, "shared/chat/model.js";
    "shared/chat/screenshots.js" => SCRIPT, "shared/chat/screenshots.js";
    "shared/chat/start.js" => SCRIPT, "shared/chat/start.js";
    "shared/chat/status.js" => SCRIPT, "shared/chat/status.js";
    "shared/chat/transcript.js" => SCRIPT, "shared/chat/transcript.js";
    "shared/chat/work.js" => SCRIPT, "shared/chat/work.js";
    "shared/components.css" => STYLE, "shared/components.css";
    "shared/components.js" => SCRIPT, "shared/components.js";
    "shared/element.js" => SCRIPT, "shared/element.js";
    "shared/icons.js" => SCRIPT, "shared/icons.js";
    "shared/keyed_list.js" => SCRIPT, "shared/keyed_list.js";
    "shared/markdown.js" => SCRIPT, "shared/markdown.js";
    "shared/question.js" => SCRIPT, "shared/question.js";
    "shared/store.js" => SCRIPT, "shared/store.js";
    "shared/time.js" => SCRIPT, "shared/time.js";
    "shared/tokens.css" => STYLE, "shared/tokens.css";
];

/// The files as they are served.
static FILES: LazyLock<Vec<(&str, &str, Bytes)>> = LazyLock::new(|| {
    let served = |kind, source| match kind {
        SCRIPT => without_comments(source, "/**"),
        STYLE => without_comments(source, "/*"),
        _ => source.to_owned(),
    };
    SOURCES.iter().map(|(path, kind, source)| (*path, *kind, Bytes::from(served(*kind, source)))).collect()
});

/// The content type and content of a file.
pub(super) fn find(path: &str) -> Option<(&'static str, Bytes)> {
    FILES.iter().find(|(known, _, _)| *known == path).map(|(_, kind, content)| (*kind, content.clone()))
}

/// Removes block comments, lines that are a comment, indentation and empty lines. No string of the sources contains the
/// beginning of a comment, and no template has several lines.
fn without_comments(source: &str, begin: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once(begin) {
        text.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// The component of chats is loaded when its view is opened, and counted with the side panel.
    fn is_of_chats(path: &str) -> bool {
        path.starts_with("shared/chat/") || path == "shared/markdown.js"
    }

    /// The whole page must load at once over a slow machine's loopback.
    #[test]
    fn all_files_have_at_most_60_kilobytes_compressed() {
        let mut bytes = 0;
        for (_, _, content) in FILES.iter().filter(|(path, ..)| !is_of_chats(path)) {
            let mut child = Command::new("gzip")
                .args(["-9", "-c"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("gzip");
            child.stdin.take().expect("its input").write_all(content).expect("written");
            bytes += child.wait_with_output().expect("its output").stdout.len();
        }
        assert!(bytes <= 60 * 1024, "{bytes} bytes");
    }

    #[test]
    fn comments_are_removed_and_nothing_else() {
        let source = "// One.\n/** @type {A} */\nconst a = 1;\n  /**\n   * Two.\n   */\n  f((/** @type {B} */ b) => \"http://x\");\n";
        assert_eq!(without_comments(source, "/**"), "const a = 1;\nf(( b) => \"http://x\");\n");
        assert_eq!(without_comments("/* A. */\na { b: c; } /* d */\n", "/*"), "a { b: c; }\n");
        for (path, _, source) in SOURCES.iter().filter(|(_, kind, _)| *kind == SCRIPT) {
            for line in source.lines() {
                assert!(line.matches('`').count() % 2 == 0, "{path}: a template of several lines: {line}");
                let quoted = line.split('"').skip(1).step_by(2);
                assert!(quoted.into_iter().all(|text| !text.contains("/*")), "{path}: {line}");
            }
        }
    }
}
