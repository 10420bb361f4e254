//! The process of a script: one thread that runs the engine, its jobs and timers, and exchanges messages with the daemon.

mod host;
mod input;
mod modules;
mod output;
mod report;
mod run;

use std::cell::{Cell, RefCell};
use std::io;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Runtime};

use self::input::Input;
use self::modules::{ModuleFiles, ModuleSource};
use self::output::Output;
use self::run::ActiveRun;
use crate::limits::{HEAP_BYTES, STACK_BYTES};
use crate::message::{Cancel, Done, Response, ToChild};
use crate::sandbox;

/// The API of scripts: one function that takes the host and returns what the loop calls.
const API: &str = include_str!(concat!(env!("OUT_DIR"), "/script_api.js"));

/// The name of the API's code in stack traces.
pub(crate) const API_NAME: &str = "tabwire:api";

/// How long code may run after the end of its run. Then the process ends.
const STRAY_TIME: Duration = Duration::from_millis(100);

/// How long code may run after a cancel, to handle its errors.
const CANCEL_TIME: Duration = Duration::from_millis(300);

/// What the engine's interrupt handler and the loop share.
#[derive(Debug)]
struct Shared {
    input: RefCell<Input>,
    output: Output,
    modules: ModuleFiles,
    since: Instant,
    /// The number of the current run.
    run: Cell<Option<u64>>,
    /// When code is interrupted.
    stop_at: Cell<Option<Instant>>,
    /// Whether code was interrupted. The process then ends, because jobs may be left.
    is_interrupted: Cell<bool>,
}

impl Shared {
    /// Whether the code that runs is to be interrupted. The engine asks every few thousand steps.
    fn must_interrupt(&self) -> bool {
        let is_late = self.stop_at.get().is_some_and(|at| Instant::now() >= at);
        let is_cancelled = match (self.run.get(), self.input.try_borrow_mut()) {
            (Some(run), Ok(mut input)) => {
                input.wait(Some(Duration::ZERO));
                input.has_cancel(run) || input.has_ended()
            }
            _ => false,
        };
        if is_late || is_cancelled {
            self.is_interrupted.set(true);
        }
        self.is_interrupted.get()
    }
}

/// Runs the process of a script until the daemon closes its input.
#[must_use]
pub fn run() -> ExitCode {
    match try_run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn try_run() -> io::Result<()> {
    sandbox::limit_resources()?;
    let shared = Rc::new(Shared {
        input: RefCell::default(),
        output: Output::default(),
        modules: ModuleFiles::default(),
        since: Instant::now(),
        run: Cell::new(None),
        stop_at: Cell::new(None),
        is_interrupted: Cell::new(false),
    });
    let runtime = Runtime::new().map_err(io::Error::other)?;
    runtime.set_memory_limit(HEAP_BYTES);
    runtime.set_max_stack_size(STACK_BYTES);
    runtime.set_loader(shared.modules.clone(), ModuleSource::new(&shared.modules));
    let watched = Rc::clone(&shared);
    runtime.set_interrupt_handler(Some(Box::new(move || watched.must_interrupt())));
    let context = Context::full(&runtime).map_err(io::Error::other)?;
    context.with(|context| {
        let api = load_api(&context, &shared)?;
        sandbox::confine()?;
        shared.output.ready();
        Child { context, api, shared: Rc::clone(&shared), run: None }.serve();
        // The engine frees its memory object by object; the end of the process is faster.
        Ok(())
    })
}

/// Runs the API's code and returns the functions that the loop calls.
fn load_api<'js>(context: &Ctx<'js>, shared: &Rc<Shared>) -> io::Result<Object<'js>> {
    let load = || {
        let mut options = rquickjs::context::EvalOptions::default();
        options.filename = Some(API_NAME.to_owned());
        let start: Function<'js> = context.eval_with_options(API, options)?;
        start.call((host::make(context, shared)?,))
    };
    load().catch(context).map_err(|error| io::Error::other(error.to_string()))
}

/// The engine with its loop.
struct Child<'js> {
    context: Ctx<'js>,
    /// The functions of the API that the loop calls.
    api: Object<'js>,
    shared: Rc<Shared>,
    run: Option<ActiveRun<'js>>,
}

impl<'js> Child<'js> {
    /// Handles messages, jobs and timers until the input ends.
    fn serve(&mut self) {
        loop {
            self.run_jobs();
            self.finish_run();
            if self.must_end() {
                return;
            }
            let wait = self.next_timer();
            self.shared.input.borrow_mut().wait(wait);
            let message = self.shared.input.borrow_mut().take();
            if let Some(message) = message {
                self.handle(message);
            } else if self.shared.input.borrow().has_ended() {
                return;
            }
            self.fire_timers();
        }
    }

    fn must_end(&self) -> bool {
        self.shared.output.is_broken() || (self.shared.is_interrupted.get() && self.run.is_none())
    }

    /// Runs jobs until none is left. After the end of a run they have little time.
    fn run_jobs(&self) {
        if self.run.is_none() {
            self.shared.stop_at.set(Some(Instant::now() + STRAY_TIME));
        }
        while self.context.execute_pending_job() {
            if self.shared.is_interrupted.get() || self.has_stray_jobs() {
                self.shared.is_interrupted.set(true);
                return;
            }
            if self.run.as_ref().is_some_and(ActiveRun::is_settled) {
                return;
            }
        }
    }

    fn has_stray_jobs(&self) -> bool {
        self.run.is_none() && self.shared.stop_at.get().is_some_and(|at| Instant::now() >= at)
    }

    /// How long until the next timer; none when there is no timer.
    fn next_timer(&self) -> Option<Duration> {
        let due: Option<f64> = self.call("nextTimer", ()).flatten();
        let wait = due? - self.now();
        Some(Duration::try_from_secs_f64((wait / 1000.0).max(0.0)).unwrap_or(Duration::from_secs(1)))
    }

    fn fire_timers(&self) {
        let _: Option<()> = self.call("fireTimers", (self.now(),));
    }

    /// Milliseconds since the start of the process.
    fn now(&self) -> f64 {
        self.shared.since.elapsed().as_secs_f64() * 1000.0
    }

    fn handle(&mut self, message: ToChild) {
        match message {
            ToChild::Run(run) => self.begin_run(*run),
            ToChild::Response(response) => self.settle(&response),
            ToChild::Event(event) => {
                if let Ok(data) = self.context.json_parse(event.data.get()) {
                    let _: Option<()> = self.call("event", (event.name, data));
                }
            }
            ToChild::Cancel(cancel) => self.cancel(&cancel),
        }
    }

    /// Passes the result of a call to the promise that waits for it.
    fn settle(&self, response: &Response) {
        let parse = |text: Option<&str>| self.context.json_parse(text.unwrap_or("null"));
        let (result, error) = (response.result.as_ref(), response.error.as_ref());
        let parsed = parse(result.map(|raw| raw.get())).and_then(|result| {
            let error = parse(error.map(|raw| raw.get()))?;
            Ok((result, error))
        });
        #[expect(clippy::cast_precision_loss, reason = "a process makes fewer calls than 2^52")]
        let id = response.id as f64;
        if let Ok((result, error)) = parsed {
            let _: Option<()> = self.call("settle", (id, result, error));
        } else {
            // Out of memory: the exception is dropped, and the call fails.
            let _ = self.context.catch();
            let message = "The result is too large for the script's memory.";
            let _: Option<()> = self.call("settleTooLarge", (id, message));
        }
    }

    /// Rejects open calls, gives the script a moment to handle that, and ends the run.
    fn cancel(&mut self, cancel: &Cancel) {
        if self.run.as_ref().is_none_or(|run| run.id != cancel.run) {
            return;
        }
        self.shared.stop_at.set(Some(Instant::now() + CANCEL_TIME));
        let _: Option<()> = self.call("cancel", (cancel.reason.clone(),));
        self.run_jobs();
        if let Some(run) = self.run.take_if(|run| !run.is_settled()) {
            self.end_run(Done {
                error: Some(report::cancelled(&cancel.reason)),
                run: run.id,
                ..Done::default()
            });
        }
    }

    /// Calls a function of the API. Its exceptions are dropped: only a script that broke its own environment causes them.
    fn call<A, R>(&self, name: &str, arguments: A) -> Option<R>
    where
        A: rquickjs::function::IntoArgs<'js>,
        R: rquickjs::FromJs<'js>,
    {
        let function: Function<'js> = self.api.get(name).ok()?;
        function.call(arguments).catch(&self.context).ok()
    }
}
