//! Items of a transcript as text.

use serde_json::Value;
use tabwire_engine::plain_line;

/// Characters of a line about an item.
const LINE: usize = 300;

/// The whole transcript.
pub(super) fn text(chat: &Value) -> String {
    let field = |name: &str| chat[name].as_str().unwrap_or_default();
    let mut lines = vec![format!("{} · {} · {}", field("title"), field("agent_name"), field("state"))];
    if chat["shortened"] == true {
        lines.push("(older items were dropped)".to_owned());
    }
    for item in chat["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
        match item["item"].as_str() {
            Some("agent") => lines.push(item["text"].as_str().unwrap_or_default().to_owned()),
            _ => lines.extend(line(item)),
        }
    }
    lines.join("\n")
}

/// One line about an item that is no message of the agent. Thoughts and the agent's own view of our tools are left out.
pub(super) fn line(item: &Value) -> Option<String> {
    let field = |name: &str| plain_line(item[name].as_str().unwrap_or_default(), LINE);
    Some(match item["item"].as_str()? {
        "user" => {
            let mark = match (item["queued"] == true, item["steered"] == true, item["dropped"] == true) {
                (true, ..) => " (waits)",
                (_, true, _) => " (sent into the turn)",
                (.., true) => " (not sent)",
                _ => "",
            };
            let files = item["files"].as_array().map(Vec::as_slice).unwrap_or_default().iter();
            let files = files.filter_map(Value::as_str).map(|name| format!(" [{}]", plain_line(name, LINE)));
            let images = item["images"].as_u64().filter(|count| *count > 0);
            let images = images.map(|count| format!(" [{count} images]"));
            format!("> {}{}{mark}", field("text"), files.chain(images).collect::<String>())
        }
        "step" => {
            let about = ["label", "site"].map(field).into_iter().filter(|text| !text.is_empty());
            let about: String = about.map(|text| format!(" {text}")).collect();
            let indent = if item["nested"] == true { "    " } else { "  " };
            match item["succeeded"].as_bool() {
                None => return None,
                Some(true) => format!("{indent}· {}{about} ({} ms)", field("action"), item["milliseconds"]),
                Some(false) => format!("{indent}· {}{about}: {}", field("action"), field("error")),
            }
        }
        "plan" => {
            let entries = item["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
            let texts =
                entries.iter().map(|entry| plain_line(entry["text"].as_str().unwrap_or_default(), LINE));
            format!("  plan: {}", texts.collect::<Vec<_>>().join("; "))
        }
        "question" => format!("  ? {} {}", question(item), outcome(item)),
        "approval" => format!("  ? {} {}", field("text"), outcome(item)),
        "notice" => format!("  ! {}", field("text")),
        _ => return None,
    })
}

/// What a question of the agent asks. Titles are written by agents and models, so they are quoted.
pub(super) fn question(item: &Value) -> String {
    match item["kind"].as_str() {
        Some("permission") => {
            let tool = &item["tool"];
            let text = |name: &str| plain_line(tool[name].as_str().unwrap_or_default(), LINE);
            format!(
                "The agent wants to use a tool of its own: {:?} ({}) {}",
                text("title"),
                text("kind"),
                text("input")
            )
        }
        _ => format!("The agent asks: {:?}", plain_line(item["message"].as_str().unwrap_or_default(), LINE)),
    }
}

/// The fill of the context and the cost, of agents that report them.
pub(super) fn usage(usage: &Value) -> String {
    let (Some(used), Some(size)) = (usage["used"].as_u64(), usage["size"].as_u64().filter(|size| *size > 0))
    else {
        return "Context: unavailable".to_owned();
    };
    let cost = usage["cost"]["amount"].as_f64().map(|amount| {
        format!(" · {amount:.2} {}", plain_line(usage["cost"]["currency"].as_str().unwrap_or_default(), 8))
    });
    format!("Context: {} % of {size} tokens{}", used.saturating_mul(100) / size, cost.unwrap_or_default())
}

fn outcome(item: &Value) -> String {
    let answered = item["outcome"]["answered"].as_str().map(|text| plain_line(text, LINE));
    match (&item["outcome"], answered) {
        (Value::Null, _) => "[waits]".to_owned(),
        (_, Some(answer)) => format!("[{answer}]"),
        _ => "[withdrawn]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_are_shown_in_one_line_each() {
        let step = json!({"item": "step", "action": "click", "succeeded": false, "error": "TIMEOUT"});
        assert_eq!(line(&step).as_deref(), Some("  · click: TIMEOUT"));
        let tool = json!({"title": "rm\n-rf /", "kind": "execute", "input": "{}"});
        let asked =
            json!({"item": "question", "kind": "permission", "tool": tool, "outcome": {"answered": "no"}});
        let shown = line(&asked).expect("a line");
        assert!(!shown.contains('\n') && shown.ends_with("[no]"), "{shown}");
        assert_eq!(line(&json!({"item": "thought", "text": "hm"})), None);
        let step = json!({"item": "step", "action": "click", "label": "#save", "site": "https://a.test",
            "succeeded": true, "milliseconds": 7, "nested": true});
        assert_eq!(line(&step).as_deref(), Some("    · click #save https://a.test (7 ms)"));
        let reported = json!({"used": 900, "size": 1000, "cost": {"amount": 0.25, "currency": "USD"}});
        assert_eq!(usage(&reported), "Context: 90 % of 1000 tokens · 0.25 USD");
        assert_eq!(usage(&Value::Null), "Context: unavailable");
    }
}
