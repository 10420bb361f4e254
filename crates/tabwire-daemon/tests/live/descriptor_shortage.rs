//! Running out of descriptors: the daemon waits, does not spin, and recovers.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::live::support::live_daemon::{LiveDaemon, TIMEOUT};
use crate::live::support::process_facts::{descriptors, ticks};

#[test]
fn f41_without_descriptors_accepting_backs_off_and_recovers() {
    let daemon = LiveDaemon::start();
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).expect("a pid")).expect("not zero");
    let limit = u64::try_from(descriptors(daemon.pid()) + 3).expect("a small number");
    let maximum = getrlimit(Resource::Nofile).maximum;
    let before = prlimit(Some(pid), Resource::Nofile, Rlimit { current: Some(limit), maximum })
        .expect("its limit can be lowered");
    let waiting: Vec<TcpStream> = (0..20).map(|_| daemon.connect()).collect();
    let until = Instant::now() + TIMEOUT;
    while descriptors(daemon.pid()) < usize::try_from(limit).expect("a small number") {
        assert!(Instant::now() < until, "the daemon accepts up to the limit");
        std::thread::yield_now();
    }
    // The last connection gets no response while this read waits; the daemon uses little processor time.
    let worked = ticks(daemon.pid());
    let mut last = waiting.last().expect("twenty");
    last.set_read_timeout(Some(Duration::from_millis(1500))).expect("a timeout");
    let silent = last.read(&mut [0]).expect_err("no response");
    assert!(matches!(silent.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{silent}");
    let spent = ticks(daemon.pid()) - worked;
    assert!(spent <= 20, "{spent} hundredths of a second of processor time in 1.5 s");
    drop(waiting);
    prlimit(Some(pid), Resource::Nofile, before).expect("its limit can be raised");
    daemon.expect_alive();
}
