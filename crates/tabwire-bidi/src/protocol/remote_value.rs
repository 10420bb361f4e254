//! Values of pages: BiDi's `RemoteValue` as CDP's `RemoteObject`, and CDP's arguments as BiDi's `LocalValue`.

use serde_json::{Map, Value, json};
use tabwire_cdp::lenient_json;

use super::message::text;

/// Levels of an argument or of a console value that are converted.
const DEPTH: usize = 64;

/// A CDP object id. It holds all that BiDi needs to name the object, so no table of objects is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectId {
    /// The number of its execution context.
    pub(crate) context: i64,
    /// The name of a node in every realm of the document.
    pub(crate) shared: Option<String>,
    pub(crate) handle: Option<String>,
}

impl ObjectId {
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let mut parts = id.splitn(3, '|');
        let context = parts.next()?.parse().ok()?;
        let mut part = || parts.next().filter(|part| !part.is_empty()).map(str::to_owned);
        let (shared, handle) = (part(), part());
        (shared.is_some() || handle.is_some()).then_some(Self { context, shared, handle })
    }

    pub(crate) fn to_text(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{}|{}|{}", self.context, part(&self.shared), part(&self.handle))
    }

    /// The reference as BiDi's `RemoteReference`. A node is named by what is valid in every realm.
    pub(crate) fn to_reference(&self) -> Value {
        match (&self.shared, &self.handle) {
            (Some(shared), _) => json!({"sharedId": shared}),
            (None, Some(handle)) => json!({"handle": handle}),
            (None, None) => json!({"type": "undefined"}),
        }
    }
}

/// A CDP `RemoteObject` from a value in an execution context.
pub(crate) fn to_object(value: &Value, context: i64) -> Value {
    let kind = text(value, "type");
    let inner = value.get("value");
    match kind {
        "undefined" => json!({"type": "undefined"}),
        "null" => json!({"type": "object", "subtype": "null", "value": null}),
        "string" | "boolean" => json!({"type": kind, "value": inner}),
        "number" => number_object(inner),
        "bigint" => {
            let digits = format!("{}n", inner.and_then(Value::as_str).unwrap_or_default());
            json!({"type": "bigint", "unserializableValue": digits, "description": digits})
        }
        _ => handle_object(value, context),
    }
}

fn number_object(inner: Option<&Value>) -> Value {
    match inner {
        Some(Value::String(name)) => {
            json!({"type": "number", "unserializableValue": name, "description": name})
        }
        other => {
            let shown = other.map(Value::to_string).unwrap_or_default();
            json!({"type": "number", "value": other, "description": shown})
        }
    }
}

fn handle_object(value: &Value, context: i64) -> Value {
    let kind = text(value, "type");
    let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = ObjectId { context, shared: member("sharedId"), handle: member("handle") };
    let (kind, subtype, class) = match kind {
        "function" => ("function", None, "Function"),
        "symbol" => ("symbol", None, "Symbol"),
        "array" => ("object", Some("array"), "Array"),
        "node" => ("object", Some("node"), "Node"),
        "htmlcollection" => ("object", Some("array"), "HTMLCollection"),
        "nodelist" => ("object", Some("array"), "NodeList"),
        "regexp" => ("object", Some("regexp"), "RegExp"),
        "date" => ("object", Some("date"), "Date"),
        "map" => ("object", Some("map"), "Map"),
        "set" => ("object", Some("set"), "Set"),
        "weakmap" => ("object", Some("weakmap"), "WeakMap"),
        "weakset" => ("object", Some("weakset"), "WeakSet"),
        "error" => ("object", Some("error"), "Error"),
        "proxy" => ("object", Some("proxy"), "Proxy"),
        "promise" => ("object", Some("promise"), "Promise"),
        "typedarray" => ("object", Some("typedarray"), "TypedArray"),
        "arraybuffer" => ("object", Some("arraybuffer"), "ArrayBuffer"),
        "generator" => ("object", Some("generator"), "Generator"),
        "window" => ("object", None, "Window"),
        _ => ("object", None, "Object"),
    };
    let mut object = json!({"type": kind, "className": class, "description": describe(value, class)});
    if let Some(members) = object.as_object_mut() {
        if let Some(subtype) = subtype {
            members.insert("subtype".to_owned(), json!(subtype));
        }
        if id.shared.is_some() || id.handle.is_some() {
            members.insert("objectId".to_owned(), json!(id.to_text()));
        }
    }
    object
}

fn describe(value: &Value, class: &str) -> String {
    let inner = value.get("value");
    let length = inner.and_then(Value::as_array).map(Vec::len);
    match (text(value, "type"), inner) {
        ("array", _) => format!("Array({})", length.unwrap_or_default()),
        ("map" | "set", _) => format!("{class}({})", length.unwrap_or_default()),
        ("date", Some(Value::String(date))) => date.clone(),
        ("regexp", Some(inner)) => format!("/{}/{}", text(inner, "pattern"), text(inner, "flags")),
        ("node", Some(inner)) => describe_node(inner),
        _ => class.to_owned(),
    }
}

fn describe_node(node: &Value) -> String {
    let name = text(node, "localName");
    if name.is_empty() {
        return "#node".to_owned();
    }
    let attribute = |name: &str| node.get("attributes").map(|all| text(all, name)).unwrap_or_default();
    let mut shown = name.to_owned();
    if !attribute("id").is_empty() {
        shown.push('#');
        shown.push_str(attribute("id"));
    }
    for class in attribute("class").split_whitespace() {
        shown.push('.');
        shown.push_str(class);
    }
    shown
}

/// The object for an object or array given by value.
pub(crate) fn object_of(inner: Value) -> Value {
    let mut object = json!({"type": "object"});
    if inner.is_array() {
        object["subtype"] = json!("array");
    }
    object["value"] = inner;
    object
}

/// The object for a value that came back as text: by value, as Chrome gives it.
pub(crate) fn to_object_by_value(value: &Value, context: i64) -> Value {
    let given = value.get("value").and_then(Value::as_str).filter(|_| text(value, "type") == "string");
    match given {
        Some(given) if given.starts_with('j') => match lenient_json::read_as::<Value>(&given.as_bytes()[1..])
        {
            Ok(inner) => object_of(inner),
            Err(_) => json!({"type": "undefined"}),
        },
        Some(given) => json!({"type": "string", "value": given.get(1..).unwrap_or_default()}),
        None => {
            let mut object = to_object(value, context);
            if let Some(members) = object.as_object_mut() {
                members.remove("objectId");
            }
            object
        }
    }
}

/// The JSON of a value, as far as the browser serialised it. For values of the console.
pub(crate) fn to_json(value: &Value, depth: usize) -> Value {
    let inner = value.get("value");
    let below = |value: &Value| to_json(value, depth.saturating_sub(1));
    match (text(value, "type"), inner) {
        _ if depth == 0 => Value::Null,
        ("string" | "boolean" | "number" | "date", Some(inner)) => inner.clone(),
        ("bigint", Some(inner)) => json!(format!("{}n", inner.as_str().unwrap_or_default())),
        ("array" | "set" | "nodelist" | "htmlcollection", Some(Value::Array(items))) => {
            items.iter().map(below).collect()
        }
        ("object" | "map", Some(Value::Array(entries))) => {
            let mut object = Map::new();
            for entry in entries {
                let key = match entry.get(0) {
                    Some(Value::String(key)) => key.clone(),
                    Some(key) => below(key).to_string(),
                    None => continue,
                };
                object.insert(key, entry.get(1).map(below).unwrap_or_default());
            }
            Value::Object(object)
        }
        _ => Value::Null,
    }
}

/// A `RemoteObject` of a console call. A plain object has its members as a preview.
pub(crate) fn to_console_object(value: &Value, context: i64) -> Value {
    let mut object = to_object(value, context);
    let kind = text(value, "type");
    let is_plain = matches!(kind, "object" | "array" | "map" | "set");
    let Some(members) = object.as_object_mut() else { return object };
    if is_plain && value.get("value").is_some() {
        let json = to_json(value, DEPTH);
        let properties: Vec<Value> = match &json {
            Value::Object(entries) => entries.iter().map(|(key, value)| preview(key, value)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, value)| preview(&index.to_string(), value)).collect()
            }
            _ => Vec::new(),
        };
        let preview = json!({
            "type": "object", "subtype": members.get("subtype"), "description": members.get("description"),
            "overflow": false, "properties": properties,
        });
        members.insert("preview".to_owned(), preview);
    }
    object
}

fn preview(name: &str, value: &Value) -> Value {
    let (kind, shown) = match value {
        Value::String(text) => ("string", text.clone()),
        Value::Number(number) => ("number", number.to_string()),
        Value::Bool(truth) => ("boolean", truth.to_string()),
        Value::Null => ("object", "null".to_owned()),
        Value::Array(items) => ("object", format!("Array({})", items.len())),
        Value::Object(_) => ("object", "Object".to_owned()),
    };
    let mut property = json!({"name": name, "type": kind, "value": shown});
    if value.is_null() {
        property["subtype"] = json!("null");
    }
    property
}

/// A CDP `CallArgument` as BiDi's `LocalValue` or reference.
pub(crate) fn to_argument(argument: &Value) -> Value {
    if let Some(id) = argument.get("objectId").and_then(Value::as_str) {
        return ObjectId::parse(id).map_or_else(|| json!({"type": "undefined"}), |id| id.to_reference());
    }
    if let Some(name) = argument.get("unserializableValue").and_then(Value::as_str) {
        return match name.strip_suffix('n') {
            Some(digits) => json!({"type": "bigint", "value": digits}),
            None => json!({"type": "number", "value": name}),
        };
    }
    match argument.get("value") {
        Some(value) => to_local(value, DEPTH * 8),
        None => json!({"type": "undefined"}),
    }
}

/// JSON as BiDi's `LocalValue`.
pub(crate) fn to_local(value: &Value, depth: usize) -> Value {
    let below = |value: &Value| to_local(value, depth.saturating_sub(1));
    match value {
        _ if depth == 0 => json!({"type": "null"}),
        Value::Null => json!({"type": "null"}),
        Value::Bool(truth) => json!({"type": "boolean", "value": truth}),
        Value::Number(number) => json!({"type": "number", "value": number}),
        Value::String(text) => json!({"type": "string", "value": text}),
        Value::Array(items) => json!({"type": "array", "value": items.iter().map(below).collect::<Vec<_>>()}),
        Value::Object(members) => {
            let entries: Vec<Value> = members.iter().map(|(key, value)| json!([key, below(value)])).collect();
            json!({"type": "object", "value": entries})
        }
    }
}

/// CDP's `exceptionDetails` from BiDi's.
pub(crate) fn to_exception(details: &Value, context: i64) -> Value {
    let message = text(details, "text");
    let class = message.split(':').next().filter(|name| name.ends_with("Error")).unwrap_or("Error");
    let thrown = details.get("exception").cloned().unwrap_or_default();
    let mut exception = to_object(&thrown, context);
    if let Some(members) = exception.as_object_mut().filter(|_| text(&thrown, "type") == "error") {
        members.insert("className".to_owned(), json!(class));
        members.insert("description".to_owned(), json!(describe_error(message, details)));
    }
    let line = details.get("lineNumber").and_then(Value::as_u64).unwrap_or_default();
    let column = details.get("columnNumber").and_then(Value::as_u64).unwrap_or_default();
    let frames = call_frames(details.get("stackTrace"));
    let mut converted = json!({
        "exceptionId": 1, "text": "Uncaught", "lineNumber": line, "columnNumber": column, "exception": exception,
    });
    let is_syntax = class == "SyntaxError";
    if !is_syntax && !frames.is_empty() {
        converted["stackTrace"] = json!({"callFrames": frames});
    }
    converted
}

/// The message of an error with its stack, as V8 describes it.
fn describe_error(message: &str, details: &Value) -> String {
    let mut shown = message.to_owned();
    for frame in call_frames(details.get("stackTrace")).iter().take(10) {
        let number = |name: &str| frame.get(name).and_then(Value::as_u64).unwrap_or_default();
        let url = text(frame, "url");
        if !url.is_empty() {
            let name = text(frame, "functionName");
            let name = if name.is_empty() { "<anonymous>" } else { name };
            shown.push_str(&format!(
                "\n    at {name} ({url}:{}:{})",
                number("lineNumber") + 1,
                number("columnNumber") + 1
            ));
        }
    }
    shown
}

/// CDP's `callFrames` from BiDi's `stackTrace`.
pub(crate) fn call_frames(stack: Option<&Value>) -> Vec<Value> {
    let frames = stack.and_then(|stack| stack.get("callFrames")).and_then(Value::as_array);
    let frame = |frame: &Value| {
        json!({
            "functionName": frame.get("functionName"), "scriptId": "0", "url": frame.get("url"),
            "lineNumber": frame.get("lineNumber"), "columnNumber": frame.get("columnNumber"),
        })
    };
    frames.into_iter().flatten().map(frame).collect()
}
