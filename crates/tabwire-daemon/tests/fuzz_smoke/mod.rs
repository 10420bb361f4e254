//! Replays the fuzz targets' corpus, then a fixed number of seeded mutations of it, on the stable toolchain.
//!
//! The bodies are the ones the fuzzer runs (`fuzz/bodies`); `fuzz/README.md` says how to fuzz for real.

#[path = "../../../../fuzz/bodies/acp_line.rs"]
mod acp_line;
#[path = "../../../../fuzz/bodies/cdp_frame_peek.rs"]
mod cdp_frame_peek;
#[path = "../../../../fuzz/bodies/descriptor_file.rs"]
mod descriptor_file;
#[path = "../../../../fuzz/bodies/host_gate.rs"]
mod host_gate;
#[path = "../../../../fuzz/bodies/pipe_framing.rs"]
mod pipe_framing;
#[path = "../../../../fuzz/bodies/script_message.rs"]
mod script_message;
#[path = "../../../../fuzz/bodies/type_stripper.rs"]
mod type_stripper;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Mutations tried for each target.
const MUTATIONS: usize = 20_000;

/// Longest mutated input.
const LONGEST: usize = 4096;

/// Marsaglia's generator: the same numbers in every run.
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).expect("a small number"))
            .expect("below bound")
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&directory).expect("the corpus is committed");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a seed")).collect()
}

fn mutate(random: &mut Xorshift, seeds: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(5) {
        let at = random.below(input.len() + 1);
        match random.below(7) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.byte(),
            2 if at < input.len() => {
                let end = (at + 1 + random.below(8)).min(input.len());
                input.drain(at..end);
            }
            3 => input.truncate(at),
            4 => input.insert(at, random.byte()),
            5 => {
                let word = words[random.below(words.len())];
                input.splice(at..at, word.iter().copied());
            }
            _ => {
                let other = &seeds[random.below(seeds.len())];
                input.truncate(at);
                input.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
        }
    }
    input.truncate(LONGEST);
    input
}

fn smoke(target: &str, words: &[&[u8]], check: fn(&[u8])) {
    let seeds = corpus(target);
    assert!(seeds.len() >= 15, "{target} has a corpus");
    let mut random = Xorshift(0x5eed_7ab1_3e00_0001);
    let mutations = (0..MUTATIONS).map(|_| mutate(&mut random, &seeds, words));
    for input in seeds.iter().cloned().chain(mutations) {
        if catch_unwind(AssertUnwindSafe(|| check(&input))).is_err() {
            panic!("{target} panics on {:?}", String::from_utf8_lossy(&input));
        }
    }
}

#[test]
fn t41_peeking_at_frames_agrees_with_a_full_parse() {
    let words: &[&[u8]] = &[
        b"\"id\":1",
        b",\"sessionId\":\"S\"",
        b"\"method\":\"A.b\"",
        b",\"params\":{}",
        b",\"result\":{}",
        b"}}",
        b"\\u0041",
        b"\"",
        b"{",
        b"[",
        b"\xff",
    ];
    smoke("cdp_frame_peek", words, cdp_frame_peek::check);
}

#[test]
fn t41_a_pipe_cut_anywhere_gives_the_same_frames_in_bounded_memory() {
    smoke("pipe_framing", &[b"\0", b"\0\0", b"{}", b"{}\0", &[b'x'; 300]], pipe_framing::check);
}

#[test]
fn t02_t06_no_mutated_request_gets_past_the_gate_without_a_secret() {
    let words: &[&[u8]] =
        &[b"\n", b"-", b"127.0.0.1:38017", b"localhost", b"Bearer ", b"/cdp", b"/demo", b"/", b"|", b"POST"];
    smoke("host_gate", words, host_gate::check);
}

#[test]
fn damaged_descriptor_files_are_refused_without_a_panic() {
    smoke("descriptor_file", &[b"null", b"-1", b"\"", b"{}", b"[", b"\\ud800"], descriptor_file::check);
}

#[test]
fn lines_of_a_scripts_process_are_parsed_or_refused_without_a_panic() {
    let words: &[&[u8]] = &[
        b"\n",
        b"{\"call\":",
        b"{\"id\":1,\"action\":\"get\"}",
        b"{\"done\":{\"run\":1}}\n",
        b"{\"console\":{\"level\":\"log\",\"text\":\"\"}}\n",
        b"\"ready\"",
        b"\\u0000",
        b"}}",
        b"[[[[",
        b"\xff",
    ];
    smoke("script_message", words, script_message::check);
}

#[test]
fn lines_of_an_agent_are_parsed_or_ignored_without_a_panic() {
    let words: &[&[u8]] = &[
        b"\n",
        b"\"sessionId\":\"s1\"",
        b"\"method\":\"session/update\"",
        b"{\"id\":3,\"result\":{\"stopReason\":\"cancelled\"}}\n",
        b"\"toolCallId\":\"c1\"",
        b",\"content\":{\"type\":\"text\",\"text\":\"x\"}",
        b"\\u0000",
        b"null",
        b"[[[[",
        b"\xff",
    ];
    smoke("acp_line", words, acp_line::check);
}

#[test]
fn types_are_removed_or_refused_without_a_panic() {
    let words: &[&[u8]] = &[
        b": number",
        b"<T>",
        b" as any",
        b"interface A {",
        b"import type ",
        b"enum ",
        b"=> {",
        b"}",
        b"`${",
        b"\n",
        b"return ",
        b"await ",
        "\u{fc}".as_bytes(),
        b"/*",
    ];
    smoke("type_stripper", words, type_stripper::check);
}
