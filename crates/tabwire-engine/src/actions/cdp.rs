//! `cdp`: sends one CDP command to the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, TabId};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::cdp::check_method;
use crate::limits::RESULT_BYTES;
use crate::snapshot::enclose;

/// Send one Chrome DevTools Protocol command to the page and print its result.
///
/// The command runs in a CDP session of its own, which ends with it: settings such as emulation do not last. The domain
/// is enabled first where it must be. In guarded sessions the site needs `--cdp` and `--eval`, and each method is
/// judged by what it touches.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Cdp {
    /// The method: Page.getLayoutMetrics.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    method: String,
    /// Its parameters as a JSON object; none by default.
    #[arg(value_name = "JSON", value_parser = parse_object)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>", extend("x-carries" = "code"))]
    params: Option<Value>,
}

/// The result of a command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CdpResult {
    /// The tab it was sent to.
    #[schemars(with = "String")]
    tab: TabId,
    /// The command's result; its JSON as text if it was cut.
    result: Value,
    /// The size of the whole result in bytes, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from_bytes: Option<usize>,
}

fn parse_object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err("the parameters of a CDP command are a JSON object".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

impl Action for Cdp {
    const NAME: &'static str = "cdp";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire cdp Page.getLayoutMetrics", "Send a command without parameters."),
        Example::new(
            "tabwire cdp DOM.getOuterHTML '{\"backendNodeId\": 12}' --json",
            "Send one with parameters, and print its result as JSON.",
        ),
    ];
    const TOOL: ToolOptions =
        ToolOptions::new(ToolGroup::Debug).described("Send one CDP command to the page").with_timeout();
    type Output = CdpResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Cdp).and(Capability::Eval, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<CdpResult, Failure> {
        check_method(&self.method)?;
        let params = match self.params {
            None => json!({}),
            Some(object @ Value::Object(_)) => object,
            Some(_) => {
                return Err(Failure::new(ErrorCode::BadArgs, "`params` must be an object.")
                    .with_remedy("`params` holds the parameters of `method` by name."));
            }
        };
        let page = context.page().await?;
        let sent = context.raw_cdp.send(page.target(), &self.method, &params, context.deadline);
        let result = page.unless_blocked(sent).await?;
        let tab = context.browser.tab_id(&page);
        let text = result.to_string();
        if text.len() <= RESULT_BYTES {
            return Ok(CdpResult { tab, result, cut_from_bytes: None });
        }
        let cut = &text[..text.floor_char_boundary(RESULT_BYTES)];
        Ok(CdpResult { tab, result: json!(cut), cut_from_bytes: Some(text.len()) })
    }
}

impl CdpResult {
    fn json(&self) -> String {
        match &self.result {
            Value::String(cut) => cut.clone(),
            result => serde_json::to_string_pretty(result).unwrap_or_default(),
        }
    }
}

impl Render for CdpResult {
    fn render(&self) -> String {
        let text = enclose("result", &format!("{}\n", self.json())).trim_end().to_owned();
        match self.cut_from_bytes {
            Some(bytes) => format!("{text}\n… (cut: the whole result has {bytes} bytes)"),
            None => text,
        }
    }

    fn bare(&self) -> Option<BareValue> {
        let cut = |bytes: usize| format!("The whole result has {bytes} bytes.");
        let text = match &self.result {
            Value::String(cut) => cut.clone(),
            result => result.to_string(),
        };
        Some(BareValue::whole(text).with_cut(self.cut_from_bytes.map(cut)))
    }
}
