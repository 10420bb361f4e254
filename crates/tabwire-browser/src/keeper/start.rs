//! Starts the browser of a keep request and waits until it responds. Leaves no files or processes if that fails.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::browser_process::BrowserProcess;
use super::keep_request::KeepRequest;
use super::serve::{Abandoned, Keeper};
use super::signals::Signals;
use crate::error::{BrowserError, LaunchFault};
use crate::files::private_dir::PrivateDir;
use crate::keeper::descriptor::{BrowserDescriptor, is_file_name};
use crate::launch::sandbox::SandboxObstacle;
use crate::launch::spec::{BrowserEngine, LaunchSpec};
use crate::limits;
use crate::process::identity::ProcessIdentity;
use crate::profile::directory::refuse_other_content;
use crate::profile::lock::{LockState, lock_state, remove_stale_lock};
use crate::profile::preferences;
use crate::profile::{make_temporary, refuse_default_profile, remove_temporary, temporary_home};

/// The files of a browser, removed with it.
#[derive(Debug)]
pub(super) struct BrowserFiles {
    pub(super) directory: PathBuf,
    pub(super) socket: PathBuf,
    pub(super) descriptor: PathBuf,
    pub(super) temporary: Option<PathBuf>,
}

impl BrowserFiles {
    /// Removes the files, in an order that lets a sweep finish an interrupted removal.
    ///
    /// The socket is removed last: a sweep that found a descriptor without a socket would
    /// treat this keeper as hung and kill it.
    pub(super) fn remove(&self) {
        let profile_is_gone = self.temporary.as_deref().is_none_or(remove_temporary);
        if profile_is_gone {
            let _ = std::fs::remove_file(&self.descriptor);
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Starts a browser and waits until it responds. Removes everything if it does not.
pub(super) fn start(
    request: KeepRequest,
    signals: Signals,
) -> Result<(Keeper, BrowserDescriptor), BrowserError> {
    // Fails if this process already leads a group, as when a shell started it. Ctrl-C then reaches the keeper, as
    // intended.
    let _ = rustix::process::setsid();
    let own = ProcessIdentity::current().ok_or(BrowserError::Gone { what: "this process".to_owned() })?;
    let obstacle = SandboxObstacle::detect();
    let arguments = request.spec.arguments(obstacle)?;
    if !is_file_name(&request.spec.id) {
        let name = request.spec.id.to_string();
        return Err(BrowserError::BadProfileName { name });
    }
    PrivateDir::create(&request.runtime_dir)?;
    let directory = PrivateDir::create(&request.descriptor_directory())?;
    let (listener, socket) = bind(directory.path(), &request.spec)?;
    let mut files = BrowserFiles {
        descriptor: BrowserDescriptor::file(directory.path(), &request.spec.id),
        directory: directory.path().to_owned(),
        socket,
        temporary: None,
    };
    let browser = prepare_profile(&request, own, &mut files)
        .and_then(|()| BrowserProcess::spawn(&request.spec, &arguments))
        .inspect_err(|_| files.remove())?;

    let descriptor = describe(&request, own, &browser, &files, obstacle);
    let mut keeper = Keeper::new(request, browser, listener, signals, files);
    match keeper.wait_until_ready() {
        Ok(version) => {
            let descriptor = BrowserDescriptor { version: Some(version), ..descriptor };
            match descriptor.write(&keeper.files().directory) {
                Ok(()) => Ok((keeper, descriptor)),
                Err(error) => {
                    keeper.abandon();
                    Err(error)
                }
            }
        }
        Err(why) => {
            let Abandoned { spec, ended, stderr } = keeper.abandon();
            let why = match (why, ended) {
                (LaunchFault::Ended(_), Some(ended)) => LaunchFault::Ended(ended),
                (why, _) => why,
            };
            let launch_failed =
                BrowserError::LaunchFailed { executable: spec.executable.clone(), why, stderr };
            Err(locked_by_another(&spec, descriptor.browser).unwrap_or(launch_failed))
        }
    }
}

fn prepare_profile(
    request: &KeepRequest,
    own: ProcessIdentity,
    files: &mut BrowserFiles,
) -> Result<(), BrowserError> {
    let profile = &request.spec.profile;
    let real = refuse_default_profile(profile, None)?;
    if request.spec.temporary {
        // Only below the runtime directory, where users keep no files of their own.
        if profile.parent() != Some(&temporary_home(&request.runtime_dir)) {
            let fault = crate::DirectoryFault::OtherOwner;
            return Err(BrowserError::UntrustedDirectory { path: profile.clone(), fault });
        }
        make_temporary(profile, own)?;
        files.temporary = Some(profile.clone());
        if request.spec.engine == BrowserEngine::Chromium {
            preferences::write(profile, request.spec.reserved)?;
        }
    } else {
        if request.spec.launcher.is_none() {
            refuse_other_content(&real)?;
        }
        PrivateDir::create_or_keep(profile)?;
    }
    match remove_stale_lock(profile)? {
        LockState::Free | LockState::Stale { .. } => Ok(()),
        LockState::Live { owner } => {
            files.temporary = None;
            Err(BrowserError::ProfileLocked { directory: profile.clone(), owner })
        }
        LockState::Unknown { .. } => {
            files.temporary = None;
            Err(BrowserError::ProfileLocked { directory: profile.clone(), owner: None })
        }
    }
}

/// Chromium exits immediately if another browser uses its profile. Returns that error if so.
fn locked_by_another(spec: &LaunchSpec, ours: ProcessIdentity) -> Option<BrowserError> {
    match lock_state(&spec.profile) {
        LockState::Live { owner } if owner != Some(ours) => {
            Some(BrowserError::ProfileLocked { directory: spec.profile.clone(), owner })
        }
        _ => None,
    }
}

/// Binds the control socket, and replaces a socket file without a listener (F39).
fn bind(directory: &Path, spec: &LaunchSpec) -> Result<(UnixListener, PathBuf), BrowserError> {
    let socket = BrowserDescriptor::socket_file(directory, &spec.id);
    if socket.as_os_str().as_bytes().len() > limits::SOCKET_PATH_BYTES {
        return Err(BrowserError::SocketPathTooLong { path: socket });
    }
    if socket.symlink_metadata().is_ok() {
        if crate::files::unix_socket::is_listening(&socket) {
            return Err(BrowserError::Busy {
                browser: spec.id.to_string(),
                holder: "another keeper".to_owned(),
            });
        }
        std::fs::remove_file(&socket).map_err(|error| BrowserError::system("replace", &socket, error))?;
    }
    let wrong = |error| BrowserError::system("listen on", &socket, error);
    let listener = UnixListener::bind(&socket).map_err(wrong)?;
    // Only this user can enter the directory, so no other user connected before this.
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600)).map_err(wrong)?;
    listener.set_nonblocking(true).map_err(wrong)?;
    Ok((listener, socket))
}

fn describe(
    request: &KeepRequest,
    own: ProcessIdentity,
    browser: &BrowserProcess,
    files: &BrowserFiles,
    obstacle: Option<SandboxObstacle>,
) -> BrowserDescriptor {
    let spec = &request.spec;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let warnings = spec.left_out_sandbox(obstacle).map(|obstacle| obstacle.warning().to_owned());
    BrowserDescriptor {
        format: BrowserDescriptor::FORMAT,
        id: spec.id.clone(),
        instance: request.instance.clone(),
        keeper: own,
        browser: browser.identity(),
        executable: spec.executable.clone(),
        version: None,
        profile: spec.profile.clone(),
        temporary: spec.temporary,
        upstream: tabwire_api::UpstreamKind::Pipe,
        socket: files.socket.clone(),
        display: spec.display,
        debugging_port: spec.debugging_port,
        options_digest: spec.options_digest(),
        created_at: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
        warnings: warnings.into_iter().collect(),
        labels: request.labels.clone(),
    }
}
