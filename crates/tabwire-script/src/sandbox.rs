//! Confines the process of a script: few system calls, no files, no network, no other processes.
//!
//! The parent has already emptied the environment and the descriptors, and set the working directory to `/`.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::ADDRESS_SPACE_BYTES;

/// Descriptors that the process may have: input, output and errors. With 0, `poll` fails.
const DESCRIPTORS: u64 = 3;

/// Sets resource limits, and makes the process end with its parent. Called before the engine starts.
///
/// # Errors
/// When the system refuses a limit.
pub fn limit_resources() -> io::Result<()> {
    // No core files, and no files at all: with FSIZE 0 a write to a file ends the process.
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::As, ADDRESS_SPACE_BYTES),
        (Resource::Nofile, DESCRIPTORS),
    ] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{
            DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal,
        };
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() == Some(rustix::process::Pid::INIT) {
            // The parent ended before the call.
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
        libc::SYS_restart_syscall,
        libc::SYS_sched_yield,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];
    #[cfg(target_arch = "x86_64")]
    allowed.push(libc::SYS_poll);
    allowed
}
