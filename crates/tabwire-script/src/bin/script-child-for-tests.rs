//! The process of a script, for this crate's tests; the product has `tabwire script-child`. With a word, it enters the
//! sandbox and tries what that forbids.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode};

use tabwire_script::{child, sandbox};

fn main() -> ExitCode {
    let Some(probe) = std::env::args().nth(1) else { return child::run() };
    let address = ([127, 0, 0, 1], 9).into();
    // Made before: under the sandbox even the lookup of a program would end the process.
    let mut command = Command::new("/bin/true");
    if sandbox::limit_resources().and_then(|()| sandbox::confine()).is_err() {
        return ExitCode::from(2);
    }
    let tried = match probe.as_str() {
        "open" => std::fs::File::open("/etc/hostname").is_ok(),
        "write" => std::fs::write("/tmp/x", "x").is_ok(),
        "tcp" => TcpStream::connect::<std::net::SocketAddr>(address).is_ok(),
        "unix" => UnixStream::connect("/run/x").is_ok(),
        "exec" => command.status().is_ok(),
        "thread" => std::thread::Builder::new().spawn(|| ()).is_ok(),
        "kill" => rustix::process::kill_process(
            rustix::process::getppid().unwrap_or(rustix::process::Pid::INIT),
            rustix::process::Signal::TERM,
        )
        .is_ok(),
        "directory" => std::env::current_dir().is_ok(),
        // Allowed, so that the test sees that the sandbox alone ends no process.
        "nothing" => true,
        _ => false,
    };
    let _ = writeln!(std::io::stdout(), "{tried}");
    ExitCode::from(u8::from(tried) + 3)
}
