//! Every rule of how a launcher's line becomes one for Windows, one test each.

use std::ffi::OsString;

use super::*;

fn line(words: &[&str]) -> LauncherLine {
    LauncherLine::parse(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap()
}

fn in_wsl() -> ChromeSettings {
    let wsl = Wsl { distribution: Some("Debian".to_owned()), search_path: None };
    ChromeSettings { wsl, ..ChromeSettings::default() }
}

fn profile(words: &[&str]) -> String {
    WindowsPlan::make(&line(words), &in_wsl()).unwrap().wish.profile
}

#[test]
fn windows_is_meant_when_it_is_said_or_when_its_names_are_used() {
    let meant = |words: &[&str], change: &dyn Fn(&mut ChromeSettings)| {
        let mut settings = in_wsl();
        change(&mut settings);
        is_meant(&line(words), &settings)
    };
    assert!(!meant(&["--user-data-dir=/home/me/p"], &|_| {}).unwrap());
    assert!(meant(&[r"--user-data-dir=C:\p"], &|_| {}).unwrap());
    assert!(meant(&[r"--user-data-dir=/home/me/%TEMP%\p"], &|_| {}).unwrap());
    assert!(meant(&[], &|settings| settings.browser = Some("/mnt/c/x/Chrome.EXE".to_owned())).unwrap());
    assert!(meant(&[], &|settings| settings.host = HostChoice::Windows).unwrap());
    assert!(!meant(&[r"--user-data-dir=C:\p"], &|settings| settings.host = HostChoice::Local).unwrap());
    // Outside WSL such a name is that of a directory here.
    assert!(!meant(&[r"--user-data-dir=C:\p"], &|settings| settings.wsl.distribution = None).unwrap());
    let nowhere = ChromeSettings { host: HostChoice::Windows, ..ChromeSettings::default() };
    assert!(is_meant(&line(&[]), &nowhere).unwrap_err().hint.is_some());
}

#[test]
fn a_windows_profile_is_kept_and_restored_when_the_launcher_mistook_it_for_one_of_this_system() {
    assert_eq!(profile(&[r"--user-data-dir=C:\Users\me\p"]), r"C:\Users\me\p");
    assert_eq!(profile(&[r"--user-data-dir=/home/me/work/%TEMP%\p"]), r"%TEMP%\p");
    assert_eq!(profile(&["--user-data-dir=/mnt/d/profiles/a"]), r"D:\profiles\a");
    let settings = ChromeSettings { profile: Some(r"%LOCALAPPDATA%\mine".into()), ..in_wsl() };
    let plan = WindowsPlan::make(&line(&[r"--user-data-dir=C:\theirs"]), &settings).unwrap();
    assert_eq!(plan.wish.profile, r"%LOCALAPPDATA%\mine", "the environment counts more than the launcher");
}

#[test]
fn profiles_of_this_system_have_one_of_their_own_and_those_of_a_moment_share_one() {
    let (one, other) = (profile(&["--user-data-dir=/home/me/a"]), profile(&["--user-data-dir=/home/me/b"]));
    assert!(one.starts_with(r"%TEMP%\tabwire-chrome\profile-") && one != other, "{one} {other}");
    assert_eq!(one, profile(&["--user-data-dir=/home/me/a"]));
    let made = std::env::temp_dir().join("playwright_chromiumdev_profile-x");
    assert_eq!(profile(&["--user-data-dir", &made.to_string_lossy()]), DEFAULT_PROFILE);
    assert_eq!(profile(&[]), DEFAULT_PROFILE);
}

#[test]
fn everyday_profiles_of_windows_are_refused() {
    let words = [r"--user-data-dir=%LOCALAPPDATA%\Google\Chrome\User Data"];
    let failure = WindowsPlan::make(&line(&words), &in_wsl()).unwrap_err();
    assert_eq!((failure.code, failure.hint.is_some()), (ErrorCode::BadArgs, true));
}

#[test]
fn the_port_there_is_ours_to_say_then_the_users_then_the_launchers_then_any() {
    let port = |words: &[&str], own: Option<u16>| {
        let settings = ChromeSettings { windows_port: own, ..in_wsl() };
        WindowsPlan::make(&line(words), &settings).unwrap().wish.port
    };
    let all = ["--remote-debugging-port=1", "--tabwire-remote-debugging-port=3"];
    assert_eq!(port(&all, Some(2)), WindowsPort::Fixed(3));
    assert_eq!(port(&all[..1], Some(2)), WindowsPort::Fixed(2));
    assert_eq!(port(&all[..1], None), WindowsPort::Wished(1));
    assert_eq!(port(&["--remote-debugging-port=0"], None), WindowsPort::Any);
    assert_eq!(port(&["--remote-debugging-pipe"], None), WindowsPort::Any);
}

#[test]
fn paths_of_flags_that_write_files_are_converted_and_others_are_left_alone() {
    let words =
        ["--disk-cache-dir=/mnt/c/cache", "--crash-dumps-dir=/home/me/dumps", "--lang=de", "--x=/home/me"];
    let plan = WindowsPlan::make(&line(&words), &in_wsl()).unwrap();
    let converted = [
        r"--disk-cache-dir=C:\cache",
        r"--crash-dumps-dir=\\wsl$\Debian\home\me\dumps",
        "--lang=de",
        "--x=/home/me",
    ];
    assert_eq!(plan.arguments, converted);
}

#[test]
fn the_program_is_one_of_windows_or_is_looked_for_there() {
    let program = |named: &str| {
        let settings = ChromeSettings { browser: Some(named.to_owned()), ..in_wsl() };
        WindowsPlan::make(&line(&[]), &settings).map(|plan| plan.wish.executable)
    };
    assert_eq!(program(r"C:\x\chrome.exe").unwrap().as_deref(), Some(r"C:\x\chrome.exe"));
    assert_eq!(program("/mnt/c/x/chrome.exe").unwrap().as_deref(), Some(r"C:\x\chrome.exe"));
    assert_eq!(program("chrome").unwrap(), None);
    assert!(program("edge").unwrap().is_some_and(|path| path.ends_with("msedge.exe")));
    assert!(program("/usr/bin/chromium").is_err());
}

#[test]
fn a_directory_made_by_mistake_is_removed_only_when_it_is_empty_and_no_link() {
    let place = tempfile::tempdir().unwrap();
    let (empty, full, link) =
        (place.path().join("empty"), place.path().join("full"), place.path().join("link"));
    for directory in [&empty, &full] {
        std::fs::create_dir(directory).unwrap();
    }
    std::fs::write(full.join("file"), "x").unwrap();
    std::os::unix::fs::symlink(&empty, &link).unwrap();
    for directory in [&link, &full, &place.path().join("missing")] {
        remove_if_empty(directory);
    }
    assert!(link.exists() && full.exists() && empty.exists());
    remove_if_empty(&empty);
    assert!(!empty.exists());
    let mistaken = |words: &[&str]| WindowsPlan::make(&line(words), &in_wsl()).unwrap().mistaken;
    assert_eq!(mistaken(&[r"--user-data-dir=/w/%TEMP%\p"]), Some(PathBuf::from(r"/w/%TEMP%\p")));
    assert_eq!(mistaken(&["--user-data-dir=/home/me/p"]), None, "a directory that was meant is left alone");
}

#[test]
fn with_one_loopback_the_listening_port_is_not_asked_for_again() {
    let place = tempfile::tempdir().unwrap();
    let tool = place.path().join("wslinfo");
    std::fs::write(&tool, "#!/bin/sh\necho mirrored\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut settings = in_wsl();
    settings.wsl.search_path = Some(place.path().as_os_str().to_owned());
    let plan = WindowsPlan::make(&line(&["--remote-debugging-port=9222"]), &settings).unwrap();
    assert_eq!((plan.wish.shares_loopback, plan.wish.port), (true, WindowsPort::Any));
}

#[test]
fn the_script_ends_only_what_it_has_looked_at_and_knows_every_word() {
    let part = |start: &str| {
        let (_, rest) = SCRIPT.split_once(start).unwrap();
        rest.split("\n}\n").next().unwrap()
    };
    let answer = part("function Answer");
    for word in ["find", "port", "launch", "version", "stop", "open", "close"] {
        assert!(answer.contains(&format!("'{word}' {{")), "{word}");
    }
    // Profile and main process first, then port, window and program, and only then the end.
    let (find, stop) = (part("function Find-Browsers"), part("function Stop-Browser"));
    assert!(find.contains("-not ($_.CommandLine -match '--type=')") && find.contains("-eq $wanted"));
    let places = [
        "Find-Browsers $request.profile",
        "$browser.port -ne",
        "-not $browser.headless",
        "$browser.executable -ne",
    ];
    let end = stop.find("Stop-Process -Id $browser.pid -Force").unwrap();
    for check in places {
        assert!(stop.find(check).is_some_and(|at| at < end), "{check}");
    }
    assert_eq!(SCRIPT.matches("Stop-Process").count(), 1, "nothing else ends a process");
}
