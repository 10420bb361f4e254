//! Encodes videos with ffmpeg, if it is installed. It reads PNG frames from a pipe and writes to a file of ours.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_engine::{NewFile, Video, VideoEncoder};

use crate::action::files::output_dirs::OutputDirs;
use crate::action::files::output_dirs::random_name;

/// How long the video encoder may take to end after the last frame.
const ENCODER_DEADLINE: Duration = Duration::from_secs(30);

/// How often to check whether the encoder has ended.
const POLL: Duration = Duration::from_millis(10);

/// Finds ffmpeg when a recording starts.
#[derive(Debug)]
pub(crate) struct Ffmpeg {
    path_env: Option<OsString>,
    dirs: Arc<OutputDirs>,
}

impl Ffmpeg {
    pub(crate) fn new(path_env: Option<OsString>, dirs: &Arc<OutputDirs>) -> Self {
        Self { path_env, dirs: Arc::clone(dirs) }
    }

    fn find(&self) -> Option<PathBuf> {
        let folders = std::env::split_paths(self.path_env.as_ref()?);
        // A relative entry of PATH would depend on the working directory.
        folders
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("ffmpeg"))
            .find(|path| path.is_file())
    }
}

impl VideoEncoder for Ffmpeg {
    fn begin(&self, frames_per_second: u32) -> Option<Box<dyn Video>> {
        let program = self.find()?;
        let output = self.dirs.encoding_directory().ok()?.join(format!("{}.webm", random_name()));
        let encoder = start(&program, frames_per_second, &output).ok()?;
        Some(Box::new(FfmpegVideo { encoder, output }))
    }
}

fn start(program: &Path, frames_per_second: u32, output: &Path) -> io::Result<Child> {
    let rate = frames_per_second.to_string();
    Command::new(program)
        .args(["-loglevel", "error", "-f", "image2pipe", "-framerate", &rate, "-c:v", "png", "-i", "pipe:0"])
        // All frames get the size of the first one, rounded to even numbers as yuv420p needs.
        .args(["-an", "-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2:eval=init", "-pix_fmt", "yuv420p"])
        .args(["-c:v", "libvpx", "-b:v", "2M", "-deadline", "realtime", "-cpu-used", "8", "-f", "webm"])
        .arg(output)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// A video that ffmpeg encodes.
#[derive(Debug)]
struct FfmpegVideo {
    encoder: Child,
    output: PathBuf,
}

impl FfmpegVideo {
    /// Waits until the encoder has ended.
    fn wait(&mut self) -> io::Result<bool> {
        drop(self.encoder.stdin.take());
        let end = Instant::now() + ENCODER_DEADLINE;
        while Instant::now() < end {
            if let Some(status) = self.encoder.try_wait()? {
                return Ok(status.success());
            }
            std::thread::sleep(POLL);
        }
        Ok(false)
    }
}

fn failed(what: &str) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The encoder ffmpeg {what}.")).with_remedy(Remedy::new(
        "Record without it: {} with {}.",
        [Step::action("record"), Step::argument_value("format", "webp")],
    ))
}

impl Video for FfmpegVideo {
    fn extension(&self) -> &'static str {
        "webm"
    }

    fn encoder(&self) -> &str {
        "ffmpeg"
    }

    fn add(&mut self, png: &[u8]) -> Result<(), Failure> {
        let written = self.encoder.stdin.as_mut().map(|pipe| pipe.write_all(png));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(failed("takes no more frames")),
        }
    }

    fn finish(&mut self, file: &mut NewFile) -> Result<u64, Failure> {
        if !self.wait().map_err(|_| failed("cannot be waited for"))? {
            return Err(failed("failed"));
        }
        let copied = File::open(&self.output).and_then(|mut video| io::copy(&mut video, &mut file.content));
        copied.map_err(|_| failed("wrote no readable video"))
    }
}

impl Drop for FfmpegVideo {
    fn drop(&mut self) {
        // It has usually ended already.
        let _ = self.encoder.kill();
        let _ = self.encoder.wait();
        let _ = std::fs::remove_file(&self.output);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A home directory with a program called ffmpeg.
    fn with_program(script: &str) -> (tempfile::TempDir, Ffmpeg) {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("ffmpeg");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let dirs = Arc::new(OutputDirs::new(home.path().join("state")));
        let ffmpeg = Ffmpeg::new(Some(home.path().into()), &dirs);
        (home, ffmpeg)
    }

    fn new_file(home: &tempfile::TempDir) -> NewFile {
        let path = home.path().join("video.webm");
        let content = Box::new(File::create_new(&path).unwrap());
        NewFile { path, content }
    }

    #[test]
    fn frames_are_encoded_to_a_video() {
        // Copies its input to the file that is its last argument.
        let (home, ffmpeg) = with_program("for last; do :; done; /bin/cat > \"$last\"");
        let mut video = ffmpeg.begin(10).expect("found");
        assert_eq!((video.extension(), video.encoder()), ("webm", "ffmpeg"));
        video.add(b"one").unwrap();
        video.add(b"two").unwrap();
        let mut file = new_file(&home);
        assert_eq!(video.finish(&mut file).unwrap(), 6);
        assert_eq!(std::fs::read(&file.path).unwrap(), b"onetwo");
        drop(video);
        let left = std::fs::read_dir(home.path().join("state/encoding")).unwrap().count();
        assert_eq!(left, 0, "the temporary file is removed");
    }

    #[test]
    fn a_failed_encoder_is_reported() {
        let (home, ffmpeg) = with_program("/bin/cat > /dev/null; exit 3");
        let mut video = ffmpeg.begin(10).expect("found");
        video.add(b"one").unwrap();
        let failure = video.finish(&mut new_file(&home)).expect_err("failed");
        assert!(failure.hint().contains("webp"));
    }

    #[test]
    fn without_ffmpeg_there_is_no_video() {
        let (home, _) = with_program("exit 0");
        let dirs = Arc::new(OutputDirs::new(home.path().join("state")));
        for path in [None, Some("/nowhere:relative".into())] {
            assert!(Ffmpeg::new(path, &dirs).begin(10).is_none());
        }
    }
}
