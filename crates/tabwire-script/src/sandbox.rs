//! Confines the process of a script: few system calls, no files, no network, no other processes.
//!
//! The parent has already emptied the environment and the descriptors, and set the working directory to `/`.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::ADDRESS_SPACE_BYTES;

/// Descriptors that the process may have: input, output and errors. With 0, `poll` fails.
const DESCRIPTORS: u64 = 3;

/// The profile of `sandbox-exec` on macOS: nothing is allowed but to load and run the program itself. `EXE` is a parameter,
/// so that no path is quoted. Not tested: it was written without a Mac.
pub const MACOS_PROFILE: &str = "\
(version 1)
(deny default)
(allow process-exec (literal (param \"EXE\")))
(allow file-read* (literal (param \"EXE\")) (literal \"/\") (literal \"/dev/urandom\") (literal \"/dev/null\")
  (subpath \"/usr/lib\") (subpath \"/System/Library\") (subpath \"/System/Volumes/Preboot/Cryptexes/OS\"))
(allow sysctl-read)
";

/// The program and arguments that start another program under [`MACOS_PROFILE`].
#[must_use]
pub fn macos_command(program: &str) -> (&'static str, Vec<String>) {
    let arguments = ["-D", &format!("EXE={program}"), "-p", MACOS_PROFILE, program].map(str::to_owned);
    ("/usr/bin/sandbox-exec", arguments.to_vec())
}

/// Sets resource limits, and makes the process end with its parent. Called before the engine starts.
///
/// # Errors
/// When the system refuses a limit.
pub fn limit_resources() -> io::Result<()> {
    // No core files, and no files at all: with FSIZE 0 a write to a file ends the process.
    for (resource, most) in [(Resource::Core, 0), (Resource::Fsize, 0), (Resource::Nofile, DESCRIPTORS)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // macOS refuses a limit below what every process maps at its start.
    if cfg!(target_os = "linux") {
        let most = Some(ADDRESS_SPACE_BYTES);
        setrlimit(Resource::As, Rlimit { current: most, maximum: most })?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{
            DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal,
        };
        // Also keeps other processes of the user from attaching with ptrace.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The kernel sends no signal for a parent that ended before the call.
        if rustix::process::getppid() == Some(rustix::process::Pid::INIT) {
            return Err(io::ErrorKind::NotConnected.into());
        }
    }
    Ok(())
}

/// Allows only the system calls that the engine needs. Any other kills the process.
///
/// # Errors
/// When the kernel does not take the filter.
#[cfg(target_os = "linux")]
pub fn confine() -> io::Result<()> {
    let filter = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)
}

/// Elsewhere the parent starts the process under `sandbox-exec`.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn confine() -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn filter() -> Result<seccompiler::BpfProgram, seccompiler::BackendError> {
    use std::collections::BTreeMap;

    use seccompiler::{
        SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        TargetArch,
    };

    /// `PROT_EXEC` of `mmap` and `mprotect`.
    const EXECUTABLE: u64 = 4;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        system_calls().into_iter().map(|number| (number, Vec::new())).collect();
    // The third argument is the protection: memory is never executable.
    for number in [libc::SYS_mmap, libc::SYS_mprotect] {
        let never_executable =
            SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(EXECUTABLE), 0)?;
        rules.insert(number, vec![SeccompRule::new(vec![never_executable])?]);
    }
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    // Killed instead of refused: code that has broken out must not be able to try further calls.
    let filter = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, architecture)?;
    filter.try_into()
}

/// The allowed system calls, besides `mmap` and `mprotect`.
#[cfg(target_os = "linux")]
fn system_calls() -> Vec<i64> {
    let mut allowed = vec![
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_ppoll,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_rt_sigreturn,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigaction,
        libc::SYS_sigaltstack,
        // The kernel makes this call itself after a signal has interrupted a wait.
        libc::SYS_restart_syscall,
        libc::SYS_sched_yield,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];
    #[cfg(target_arch = "x86_64")]
    // glibc waits with `poll` there, and with `ppoll` on architectures without it.
    allowed.push(libc::SYS_poll);
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_for_macos_denies_by_default_and_names_no_path_of_the_user() {
        let (program, arguments) = macos_command("/Applications/a b\")(allow default/tabwire");
        assert_eq!(program, "/usr/bin/sandbox-exec");
        assert_eq!(arguments[1], "EXE=/Applications/a b\")(allow default/tabwire");
        assert!(MACOS_PROFILE.contains("(deny default)") && !MACOS_PROFILE.contains("Applications"));
        for word in ["network", "file-write", "process-fork", "mach", "signal", "ipc"] {
            assert!(!MACOS_PROFILE.contains(word), "{word}");
        }
        let depth = MACOS_PROFILE.chars().fold(0, |depth, letter| match letter {
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        });
        assert_eq!(depth, 0);
    }
}
