//! One test per rule of how launcher arguments become a request to Windows.

use std::ffi::OsString;

use super::*;

fn args(words: &[&str]) -> LauncherArgs {
    LauncherArgs::parse(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap()
}

fn in_wsl() -> ChromeSettings {
    let wsl = Wsl { distribution: Some("Debian".to_owned()), search_path: None };
    ChromeSettings { wsl, ..ChromeSettings::default() }
}

fn profile(words: &[&str]) -> String {
    WindowsPlan::make(&args(words), &in_wsl()).unwrap().request.profile
}

#[test]
fn windows_is_used_by_setting_or_by_windows_paths() {
    let requested = |words: &[&str], change: &dyn Fn(&mut ChromeSettings)| {
        let mut settings = in_wsl();
        change(&mut settings);
        is_requested(&args(words), &settings)
    };
    assert!(!requested(&["--user-data-dir=/home/me/p"], &|_| {}).unwrap());
    assert!(requested(&[r"--user-data-dir=C:\p"], &|_| {}).unwrap());
    assert!(requested(&[r"--user-data-dir=/home/me/%TEMP%\p"], &|_| {}).unwrap());
    assert!(requested(&[], &|settings| settings.browser = Some("/mnt/c/x/Chrome.EXE".to_owned())).unwrap());
    assert!(requested(&[], &|settings| settings.host = HostChoice::Windows).unwrap());
    assert!(!requested(&[r"--user-data-dir=C:\p"], &|settings| settings.host = HostChoice::Local).unwrap());
    // Outside WSL such a path is a local directory name.
    assert!(!requested(&[r"--user-data-dir=C:\p"], &|settings| settings.wsl.distribution = None).unwrap());
    let nowhere = ChromeSettings { host: HostChoice::Windows, ..ChromeSettings::default() };
    assert!(is_requested(&args(&[]), &nowhere).unwrap_err().remedy.is_some());
}

#[test]
fn a_windows_profile_is_extracted_from_a_local_path() {
    assert_eq!(profile(&[r"--user-data-dir=C:\Users\me\p"]), r"C:\Users\me\p");
    assert_eq!(profile(&[r"--user-data-dir=/home/me/work/%TEMP%\p"]), r"%TEMP%\p");
    assert_eq!(profile(&["--user-data-dir=/mnt/d/profiles/a"]), r"D:\profiles\a");
    let settings = ChromeSettings { profile: Some(r"%LOCALAPPDATA%\mine".into()), ..in_wsl() };
    let plan = WindowsPlan::make(&args(&[r"--user-data-dir=C:\theirs"]), &settings).unwrap();
    assert_eq!(plan.request.profile, r"%LOCALAPPDATA%\mine", "variables override the launcher");
}

#[test]
fn local_profiles_get_their_own_directory_and_temporary_ones_share_one() {
    let (one, other) = (profile(&["--user-data-dir=/home/me/a"]), profile(&["--user-data-dir=/home/me/b"]));
    assert!(one.starts_with(r"%TEMP%\tabwire-chrome\profile-") && one != other, "{one} {other}");
    assert_eq!(one, profile(&["--user-data-dir=/home/me/a"]));
    let made = std::env::temp_dir().join("playwright_chromiumdev_profile-x");
    assert_eq!(profile(&["--user-data-dir", &made.to_string_lossy()]), DEFAULT_PROFILE);
    assert_eq!(profile(&[]), DEFAULT_PROFILE);
}

#[test]
fn default_profiles_of_windows_are_refused() {
    let words = [r"--user-data-dir=%LOCALAPPDATA%\Google\Chrome\User Data"];
    let failure = WindowsPlan::make(&args(&words), &in_wsl()).unwrap_err();
    assert_eq!((failure.code, failure.remedy.is_some()), (ErrorCode::BadArgs, true));
}

#[test]
fn port_precedence_is_own_flag_variable_launcher_any() {
    let port = |words: &[&str], own: Option<u16>| {
        let settings = ChromeSettings { windows_port: own, ..in_wsl() };
        WindowsPlan::make(&args(words), &settings).unwrap().request.port
    };
    let all = ["--remote-debugging-port=1", "--tabwire-remote-debugging-port=3"];
    assert_eq!(port(&all, Some(2)), WindowsPort::Fixed(3));
    assert_eq!(port(&all[..1], Some(2)), WindowsPort::Fixed(2));
    assert_eq!(port(&all[..1], None), WindowsPort::Preferred(1));
    assert_eq!(port(&["--remote-debugging-port=0"], None), WindowsPort::Any);
    assert_eq!(port(&["--remote-debugging-pipe"], None), WindowsPort::Any);
}

#[test]
fn only_paths_of_known_flags_are_converted() {
    let words =
        ["--disk-cache-dir=/mnt/c/cache", "--crash-dumps-dir=/home/me/dumps", "--lang=de", "--x=/home/me"];
    let plan = WindowsPlan::make(&args(&words), &in_wsl()).unwrap();
    let converted = [
        r"--disk-cache-dir=C:\cache",
        r"--crash-dumps-dir=\\wsl$\Debian\home\me\dumps",
        "--lang=de",
        "--x=/home/me",
    ];
    assert_eq!(plan.arguments, converted);
}

#[test]
fn the_program_is_a_windows_path_or_searched_on_windows() {
    let program = |named: &str| {
        let settings = ChromeSettings { browser: Some(named.to_owned()), ..in_wsl() };
        WindowsPlan::make(&args(&[]), &settings).map(|plan| plan.request.executable)
    };
    assert_eq!(program(r"C:\x\chrome.exe").unwrap().as_deref(), Some(r"C:\x\chrome.exe"));
    assert_eq!(program("/mnt/c/x/chrome.exe").unwrap().as_deref(), Some(r"C:\x\chrome.exe"));
    assert_eq!(program("chrome").unwrap(), None);
    assert!(program("edge").unwrap().is_some_and(|path| path.ends_with("msedge.exe")));
    assert!(program("/usr/bin/chromium").is_err());
}

#[test]
fn the_stray_directory_is_removed_only_if_empty_and_not_a_link() {
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
    let stray_directory =
        |words: &[&str]| WindowsPlan::make(&args(words), &in_wsl()).unwrap().stray_directory;
    assert_eq!(stray_directory(&[r"--user-data-dir=/w/%TEMP%\p"]), Some(PathBuf::from(r"/w/%TEMP%\p")));
    assert_eq!(
        stray_directory(&["--user-data-dir=/home/me/p"]),
        None,
        "a directory that was meant is left alone"
    );
}

#[test]
fn with_shared_loopback_the_shims_port_is_not_requested() {
    let place = tempfile::tempdir().unwrap();
    let tool = place.path().join("wslinfo");
    std::fs::write(&tool, "#!/bin/sh\necho mirrored\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut settings = in_wsl();
    settings.wsl.search_path = Some(place.path().as_os_str().to_owned());
    let plan = WindowsPlan::make(&args(&["--remote-debugging-port=9222"]), &settings).unwrap();
    assert_eq!((plan.request.shares_loopback, plan.request.port), (true, WindowsPort::Any));
}

#[test]
fn the_script_checks_a_process_before_it_stops_it() {
    let part = |start: &str| {
        let (_, rest) = SCRIPT.split_once(start).unwrap();
        rest.split("\n}\n").next().unwrap()
    };
    let response = part("function Invoke-Request");
    for word in ["find", "port", "launch", "version", "stop", "open", "close"] {
        assert!(response.contains(&format!("'{word}' {{")), "{word}");
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
