//! `har`: records requests with their bodies to a HAR file, or replays responses from one.

use std::collections::HashSet;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, count};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::FileKind;
use crate::network::{HarForm, HarReplay, RefusedRequests, RequestEntry};
use crate::page::Page;

/// Record the tab's requests to an HTTP archive (HAR 1.2), or replay responses from one.
///
/// Cookies, Authorization headers, tokens and passwords of requests are masked in the file unless --show-secrets is
/// given. Response bodies are written unchanged.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Har {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    action: HarAction,
    /// The file to write with `stop`, or to replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written_or_given"))]
    file: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
    /// With `replay`: fail requests that are not in the archive.
    #[arg(long)]
    #[serde(default)]
    strict: bool,
    /// Write cookies, Authorization headers, tokens and passwords unmasked.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-secret" = "reveals"))]
    show_secrets: bool,
}

/// What to do with an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HarAction {
    /// Start recording.
    Start,
    /// End the recording and write the file.
    Stop,
    /// Replay responses from a file.
    Replay,
    /// Stop replaying. Requests go to the network again.
    Live,
    /// Report the state.
    #[default]
    Show,
}

/// The state of recording and replaying.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct HarState {
    /// Whether requests are recorded.
    recording: bool,
    /// Recorded requests, so far or in the file.
    requests: usize,
    /// Bodies that could not be recorded.
    #[serde(skip_serializing_if = "is_zero")]
    bodies_left_out: u64,
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    /// The archive that is replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Replay>,
}

/// A replayed archive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Replay {
    /// Responses in the archive.
    responses: usize,
    /// Requests in the file without a usable response.
    unusable: usize,
    /// Whether other requests fail.
    strict: bool,
    /// Requests served from the archive so far.
    served: u64,
    /// Requests so far that were not in the archive.
    missed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Action for Har {
    const NAME: &'static str = "har";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire har start", "Start recording all requests."),
        Example::new("tabwire har stop requests.har", "Stop and write the file."),
        Example::new(
            "tabwire har replay requests.har --strict",
            "Replay responses from an archive; other requests fail.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network).hiding(&["output", "force"]);
    type Output = HarState;

    fn needs(&self) -> Needs {
        let needs = Needs::page(Capability::Read).showing_past().and_if(
            self.show_secrets,
            Capability::Eval,
            Scope::Page,
        );
        let needs = needs.and_if(self.output.is_some(), Capability::Download, Scope::Page);
        match self.action {
            HarAction::Start | HarAction::Show => needs,
            HarAction::Stop => needs.and(Capability::Download, Scope::Page),
            HarAction::Live => needs.and(Capability::Act, Scope::Page),
            // Replayed documents and scripts run in the page, which needs `eval`.
            HarAction::Replay => {
                needs.and(Capability::Eval, Scope::Page).and(Capability::Upload, Scope::Page)
            }
        }
    }

    async fn run(self, context: &Context) -> Result<HarState, Failure> {
        self.check()?;
        let page = context.page().await?;
        page.sync_events().await;
        page.unless_blocked(async { Ok(()) }).await?;
        match self.action {
            HarAction::Show => {}
            HarAction::Start => {
                if !page.network().start_recording() {
                    return Err(Failure::new(
                        ErrorCode::Busy,
                        "The tab's requests are already being recorded.",
                    )
                    .with_remedy(Remedy::new(
                        "Run {} first.",
                        [Step::action("har").with("action", "stop")],
                    )));
                }
            }
            HarAction::Stop => return self.stop(context, &page).await,
            HarAction::Replay => {
                let content = context.files.read(self.file.as_deref().unwrap_or(std::path::Path::new("")))?;
                let archive = HarReplay::read(&content, self.strict)?;
                page.network().settings().archive = Some(archive);
                page.apply_interception(context.deadline).await?;
            }
            HarAction::Live => {
                if page.network().settings().archive.take().is_none() {
                    return Err(Failure::new(ErrorCode::BadArgs, "Nothing is being replayed in this tab.")
                        .with_remedy("Requests already go to the network."));
                }
                page.apply_interception(context.deadline).await?;
            }
        }
        let refused = page.network().settings().archive.as_ref().map_or(0, |archive| archive.refused);
        if refused > 0 {
            let notice = format!(
                "Not served from the archive, because their sites lack `eval`: {}.",
                count(refused, "request")
            );
            context.notices.add([notice]);
        }
        Ok(state_of(&page))
    }
}

impl Har {
    fn check(&self) -> Result<(), Failure> {
        let bad =
            |message: &str, hint: &str| Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(hint));
        let takes_file = matches!(self.action, HarAction::Stop | HarAction::Replay);
        if self.action == HarAction::Replay && self.file.is_none() {
            return bad("`replay` needs a file.", "Add the file.");
        }
        if self.file.is_some() && !takes_file {
            return bad("`file` is only for `stop` and `replay`.", "Leave the file out.");
        }
        if self.output.is_some() && (self.action != HarAction::Stop || self.file.is_some()) {
            return bad("`output` is only for `stop`, without `file`.", "Leave `output` out.");
        }
        if self.strict && self.action != HarAction::Replay {
            return bad("`strict` is only for `replay`.", "Leave `strict` out.");
        }
        if self.show_secrets && self.action != HarAction::Stop {
            return bad("`show_secrets` is only for `stop`.", "Leave `show_secrets` out.");
        }
        Ok(())
    }

    async fn stop(&self, context: &Context, page: &Page) -> Result<HarState, Failure> {
        let Some(recording) = page.network().recording() else {
            return Err(Failure::new(ErrorCode::BadArgs, "The tab's requests are not being recorded.")
                .with_remedy(Remedy::new("Run {} first.", [Step::action("har").with("action", "start")])));
        };
        page.unless_blocked(async {
            recording.settle(context.deadline).await;
            Ok(())
        })
        .await?;
        let (entries, secret) = self.readable(context, page, recording.since());
        let archive = HarForm { shows_secrets: self.show_secrets }.write(&entries, &secret, &recording);
        // A page may have sent a saved secret in a body.
        let archive = context.redactor.redact_value(&archive);
        let content = serde_json::to_vec_pretty(&archive).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The archive cannot be written: {error}."))
        })?;
        // End the recording only after its file is written, so that a failed write loses nothing.
        let path = self.output.files(context).write(
            FileKind::Har,
            self.file.as_deref().or(self.output.path()),
            "requests.har",
            &content,
        )?;
        page.network().stop_recording();
        Ok(HarState {
            recording: false,
            requests: entries.len(),
            bodies_left_out: recording.left_out(),
            path: Some(path),
            replay: replay_of(page),
        })
    }
}

impl Har {
    /// The recorded requests that the policy lets the client read, and the numbers of those whose secrets stay masked.
    fn readable(&self, context: &Context, page: &Page, since: u64) -> (Vec<RequestEntry>, HashSet<u64>) {
        let (log, policy) = (page.network().log(), page.network().policy());
        let recorded: Vec<RequestEntry> = log.since(since).cloned().collect();
        let (entries, withheld) =
            RefusedRequests::find(&log, policy, Capability::Read).split_allowed(recorded);
        context.notices.add(withheld.notice("request", "requests"));
        let masked = RefusedRequests::find(&log, policy, Capability::Eval);
        let is_masked = |entry: &&RequestEntry| self.show_secrets && masked.url_for(entry).is_some();
        let secret: HashSet<u64> = entries.iter().filter(is_masked).map(|entry| entry.number).collect();
        if !secret.is_empty() {
            context.notices.add([format!(
                "Secrets of {} are masked: their sites lack `eval`.",
                count(secret.len(), "request")
            )]);
        }
        (entries, secret)
    }
}

fn replay_of(page: &Page) -> Option<Replay> {
    page.network().settings().archive.as_ref().map(|archive| Replay {
        responses: archive.len(),
        unusable: archive.unusable,
        strict: archive.is_strict(),
        served: archive.served,
        missed: archive.missed,
    })
}

fn state_of(page: &Page) -> HarState {
    let recording = page.network().recording();
    let since = recording.as_ref().map(|recording| recording.since());
    HarState {
        recording: recording.is_some(),
        requests: since.map_or(0, |since| page.network().log().since(since).count()),
        bodies_left_out: 0,
        path: None,
        replay: replay_of(page),
    }
}

impl Render for HarState {
    fn render(&self) -> String {
        let mut lines = Vec::new();
        if let Some(path) = &self.path {
            lines.push(format!("wrote {} to {}", count(self.requests, "request"), path.display()));
            if self.bodies_left_out > 0 {
                lines.push(format!("{} could not be recorded", count(self.bodies_left_out, "body")));
            }
        } else if self.recording {
            lines.push(format!("recording: {} so far", count(self.requests, "request")));
        }
        if let Some(replay) = &self.replay {
            let others = if replay.strict { "fail" } else { "go to the network" };
            lines.push(format!("replaying {}; other requests {others}", count(replay.responses, "response")));
            if replay.unusable > 0 {
                lines.push(format!("no usable response in the file: {}", count(replay.unusable, "request")));
            }
            lines.push(format!("served {}, not found {}", replay.served, replay.missed));
        }
        if lines.is_empty() { "not recording, not replaying".to_owned() } else { lines.join("\n") }
    }

    fn bare(&self) -> Option<BareValue> {
        self.path.as_deref().map(BareValue::path)
    }
}
