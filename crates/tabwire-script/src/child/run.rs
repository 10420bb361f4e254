//! One run: from the code to the message that says how it ended.

use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, CaughtError, Ctx, Module, Object, Promise, Value};

use super::{Child, report};
use crate::limits::CODE_BYTES;
use crate::message::{Done, Run, ScriptError};
use crate::typescript::{FUNCTION_START, Form, Purpose, prepare};

/// How long reading the result and `state` may take, since that can run code of the script.
const READ_TIME: Duration = Duration::from_millis(500);

/// The message of a run whose code was interrupted.
const INTERRUPTED: &str = "The script was interrupted.";

/// The engine's message when a script has used its memory.
const OUT_OF_MEMORY: &str = "out of memory";

/// The run that is under way.
pub(super) struct ActiveRun<'js> {
    pub(super) id: u64,
    promise: Promise<'js>,
    form: Form,
    code: String,
    name: String,
}

impl ActiveRun<'_> {
    pub(super) fn is_settled(&self) -> bool {
        self.promise.state() != PromiseState::Pending
    }
}

impl<'js> Child<'js> {
    pub(super) fn begin_run(&mut self, run: Run) {
        self.shared.output.begin_run();
        self.shared.stop_at.set(None);
        let id = run.id;
        match self.start(run) {
            Ok(active) => {
                self.shared.run.set(Some(id));
                self.run = Some(active);
            }
            Err(error) => self.end_run(Done { run: id, error: Some(*error), ..Done::default() }),
        }
    }

    fn start(&mut self, run: Run) -> Result<ActiveRun<'js>, Box<ScriptError>> {
        if run.code.len() > CODE_BYTES {
            let message = format!("The code has {} bytes; {CODE_BYTES} are allowed.", run.code.len());
            return Err(Box::new(ScriptError { message, ..ScriptError::default() }));
        }
        let purpose = if run.is_file { Purpose::File } else { Purpose::Snippet };
        let prepared = prepare(&run.code, purpose)
            .map_err(|error| Box::new(report::syntax(&run.name, &run.code, &error)))?;
        self.shared.modules.replace(run.modules);
        // Set before the code starts: it may compute without end.
        self.shared.run.set(Some(run.id));
        let facts = serde_json::json!({
            "args": run.args, "state": run.state, "tab": run.tab, "tabs": run.tabs, "actions": run.actions,
            "skills": run.skills,
        });
        let facts = self.context.json_parse(facts.to_string()).catch(&self.context);
        if let Ok(facts) = facts {
            let _: Option<()> = self.call("begin", (facts,));
        }
        let promise = evaluate(&self.context, &prepared.code, prepared.form, &run.name).catch(&self.context);
        let promise = promise.map_err(|error| {
            if self.shared.is_interrupted.get() {
                return Box::new(report::cancelled(INTERRUPTED));
            }
            Box::new(self.report(&error, prepared.form, &run.name, &run.code))
        })?;
        Ok(ActiveRun { id: run.id, promise, form: prepared.form, code: run.code, name: run.name })
    }

    /// Reports the run when its promise is settled, or when it was interrupted.
    pub(super) fn finish_run(&mut self) {
        let is_interrupted = self.shared.is_interrupted.get();
        while self.follow_promise() {
            self.run_jobs();
        }
        let Some(run) = self.run.take_if(|run| is_interrupted || run.is_settled()) else { return };
        let done = match run.promise.result::<Value<'js>>() {
            _ if is_interrupted => Done { error: Some(report::cancelled(INTERRUPTED)), ..Done::default() },
            Some(Ok(value)) => match self.call::<_, Option<Value<'js>>>("takeSoftError", ()).flatten() {
                Some(error) => {
                    let error = CaughtError::Value(error);
                    let error = self.report(&error, run.form, &run.name, &run.code);
                    Done { error: Some(error), ..Done::default() }
                }
                None => self.result_of(run.form, value),
            },
            Some(Err(error)) => {
                let caught = CaughtError::from_error(&self.context, error);
                let error = self.report(&caught, run.form, &run.name, &run.code);
                Done { error: Some(error), ..Done::default() }
            }
            None => Done::default(),
        };
        self.end_run(Done { run: run.id, ..done });
    }

    /// Waits for the promise that is the value of a script's last expression, and for the tests of a file. Whether
    /// there is one.
    fn follow_promise(&mut self) -> bool {
        if self
            .run
            .as_ref()
            .is_some_and(|run| run.form == Form::Module && run.promise.state() == PromiseState::Resolved)
            && let Some(Some(tests)) = self.call::<_, Option<Promise<'js>>>("takeTests", ())
            && let Some(run) = &mut self.run
        {
            run.promise = tests;
            return true;
        }
        let Some(run) = self.run.as_mut().filter(|run| run.form == Form::Script) else { return false };
        let Some(Ok(value)) = run.promise.result::<Value<'js>>() else { return false };
        let last = value.as_object().and_then(|object| object.get::<_, Value<'js>>("value").ok());
        let Some(promise) = last.and_then(|last| last.into_promise()) else { return false };
        (run.promise, run.form) = (promise, Form::Function);
        true
    }

    /// Sends the end of a run, with the part of `state` that is JSON.
    pub(super) fn end_run(&mut self, mut done: Done) {
        self.shared.stop_at.set(Some(Instant::now() + READ_TIME));
        // The interrupt must not end the code that reads `state`, unless it takes too long.
        let was_interrupted = self.shared.is_interrupted.replace(false);
        self.shared.run.set(None);
        let state: Option<Option<String>> = self.call("end", ());
        done.state = state.flatten().and_then(|text| serde_json::from_str(&text).ok());
        self.shared.is_interrupted.set(was_interrupted || self.shared.is_interrupted.get());
        done.ends = self.shared.is_interrupted.get();
        self.shared.output.done(done);
    }

    /// The result as text, and as JSON where it has that form.
    fn result_of(&self, form: Form, value: Value<'js>) -> Done {
        self.shared.stop_at.set(Some(Instant::now() + READ_TIME));
        // The engine wraps the value of a script, so that a promise as the last expression is not awaited twice.
        let value = match form {
            Form::Script => value.as_object().and_then(|object| object.get("value").ok()).unwrap_or(value),
            Form::Function => value,
            Form::Module => return Done::default(),
        };
        let description: Option<Object<'js>> = self.call("describe", (value,));
        let Some(description) = description else {
            return Done { text: Some("(a value that cannot be shown)".to_owned()), ..Done::default() };
        };
        let text: Option<String> = description.get("text").ok().flatten();
        let json: Option<String> = description.get("json").ok().flatten();
        Done { text, value: json.and_then(|json| serde_json::from_str(&json).ok()), ..Done::default() }
    }

    fn report(&self, error: &CaughtError<'js>, form: Form, name: &str, code: &str) -> ScriptError {
        let value = match error {
            CaughtError::Exception(exception) => exception.clone().into_value(),
            CaughtError::Value(value) => value.clone(),
            CaughtError::Error(error) => {
                return ScriptError { message: error.to_string(), ..ScriptError::default() };
            }
        };
        self.shared.stop_at.set(Some(Instant::now() + READ_TIME));
        // Without memory the engine cannot make an error, and throws null.
        let is_null = value.is_null();
        let description: Option<Object<'js>> = self.call("describeError", (value,));
        let text = |key: &str| {
            description
                .as_ref()
                .and_then(|description| description.get::<_, Option<String>>(key).ok().flatten())
        };
        let shift = if form == Form::Function { FUNCTION_START.len() } else { 0 };
        let place = text("stack").and_then(|stack| report::find_place(&stack, name, shift));
        let message = text("message").unwrap_or_else(|| "The script failed.".to_owned());
        let is_out_of_memory = is_null || description.is_none() || message == OUT_OF_MEMORY;
        if is_out_of_memory {
            // Variables may hold the memory, so that no later run could work.
            self.shared.is_interrupted.set(true);
        }
        ScriptError {
            name: text("name").unwrap_or_else(|| "Error".to_owned()),
            message: if is_out_of_memory { format!("{OUT_OF_MEMORY}; variables are lost") } else { message },
            excerpt: place.as_ref().and_then(|place| report::excerpt(code, place)),
            place: place.map(|place| format!("{name}:{}:{}", place.line, place.column)),
            failure: text("failure").and_then(|json| serde_json::from_str(&json).ok()),
        }
    }
}

fn evaluate<'js>(context: &Ctx<'js>, code: &str, form: Form, name: &str) -> rquickjs::Result<Promise<'js>> {
    if form == Form::Module {
        let (_, promise) = Module::declare(context.clone(), name, code)?.eval()?;
        return Ok(promise);
    }
    let mut options = EvalOptions::default();
    options.strict = false;
    options.promise = form == Form::Script;
    options.filename = Some(name.to_owned());
    context.eval_with_options(code, options)
}
