//! The keys of a US keyboard.

/// A key, with the values of its `KeyboardEvent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// `KeyboardEvent.code`.
    pub(crate) code: &'static str,
    /// `KeyboardEvent.key`.
    pub(crate) key: &'static str,
    /// `KeyboardEvent.key` while Shift is held; empty when it is the same.
    pub(crate) shifted: &'static str,
    /// `KeyboardEvent.keyCode`.
    pub(crate) number: u16,
    /// `KeyboardEvent.location`: 1 left, 2 right, 3 number pad, 0 elsewhere.
    pub(crate) location: u8,
}

/// A key that types a character.
const fn character(code: &'static str, key: &'static str, shifted: &'static str, number: u16) -> Key {
    Key { code, key, shifted, number, location: 0 }
}

/// A key whose `code` equals its `key`.
const fn named(key: &'static str, number: u16) -> Key {
    Key { code: key, key, shifted: "", number, location: 0 }
}

/// A key that the keyboard has more than once.
const fn placed(code: &'static str, key: &'static str, number: u16, location: u8) -> Key {
    Key { code, key, shifted: "", number, location }
}

/// All keys.
pub(crate) const KEYS: &[Key] = &[
    character("KeyA", "a", "A", 65),
    character("KeyB", "b", "B", 66),
    character("KeyC", "c", "C", 67),
    character("KeyD", "d", "D", 68),
    character("KeyE", "e", "E", 69),
    character("KeyF", "f", "F", 70),
    character("KeyG", "g", "G", 71),
    character("KeyH", "h", "H", 72),
    character("KeyI", "i", "I", 73),
    character("KeyJ", "j", "J", 74),
    character("KeyK", "k", "K", 75),
    character("KeyL", "l", "L", 76),
    character("KeyM", "m", "M", 77),
    character("KeyN", "n", "N", 78),
    character("KeyO", "o", "O", 79),
    character("KeyP", "p", "P", 80),
    character("KeyQ", "q", "Q", 81),
    character("KeyR", "r", "R", 82),
    character("KeyS", "s", "S", 83),
    character("KeyT", "t", "T", 84),
    character("KeyU", "u", "U", 85),
    character("KeyV", "v", "V", 86),
    character("KeyW", "w", "W", 87),
    character("KeyX", "x", "X", 88),
    character("KeyY", "y", "Y", 89),
    character("KeyZ", "z", "Z", 90),
    character("Digit0", "0", ")", 48),
    character("Digit1", "1", "!", 49),
    character("Digit2", "2", "@", 50),
    character("Digit3", "3", "#", 51),
    character("Digit4", "4", "$", 52),
    character("Digit5", "5", "%", 53),
    character("Digit6", "6", "^", 54),
    character("Digit7", "7", "&", 55),
    character("Digit8", "8", "*", 56),
    character("Digit9", "9", "(", 57),
    character("Space", " ", " ", 32),
    character("Semicolon", ";", ":", 186),
    character("Equal", "=", "+", 187),
    character("Comma", ",", "<", 188),
    character("Minus", "-", "_", 189),
    character("Period", ".", ">", 190),
    character("Slash", "/", "?", 191),
    character("Backquote", "`", "~", 192),
    character("BracketLeft", "[", "{", 219),
    character("Backslash", "\\", "|", 220),
    character("BracketRight", "]", "}", 221),
    character("Quote", "'", "\"", 222),
    named("Enter", 13),
    named("Tab", 9),
    named("Escape", 27),
    named("Backspace", 8),
    named("Delete", 46),
    named("Insert", 45),
    named("Home", 36),
    named("End", 35),
    named("PageUp", 33),
    named("PageDown", 34),
    named("ArrowLeft", 37),
    named("ArrowUp", 38),
    named("ArrowRight", 39),
    named("ArrowDown", 40),
    named("F1", 112),
    named("F2", 113),
    named("F3", 114),
    named("F4", 115),
    named("F5", 116),
    named("F6", 117),
    named("F7", 118),
    named("F8", 119),
    named("F9", 120),
    named("F10", 121),
    named("F11", 122),
    named("F12", 123),
    named("ContextMenu", 93),
    named("CapsLock", 20),
    named("NumLock", 144),
    named("ScrollLock", 145),
    named("Pause", 19),
    named("PrintScreen", 44),
    named("Help", 47),
    named("AudioVolumeMute", 173),
    named("AudioVolumeDown", 174),
    named("AudioVolumeUp", 175),
    named("MediaTrackNext", 176),
    named("MediaTrackPrevious", 177),
    named("MediaStop", 178),
    named("MediaPlayPause", 179),
    placed("ShiftLeft", "Shift", 16, 1),
    placed("ShiftRight", "Shift", 16, 2),
    placed("ControlLeft", "Control", 17, 1),
    placed("ControlRight", "Control", 17, 2),
    placed("AltLeft", "Alt", 18, 1),
    placed("AltRight", "Alt", 18, 2),
    placed("MetaLeft", "Meta", 91, 1),
    placed("MetaRight", "Meta", 92, 2),
    placed("NumpadEnter", "Enter", 13, 3),
    placed("Numpad0", "0", 96, 3),
    placed("Numpad1", "1", 97, 3),
    placed("Numpad2", "2", 98, 3),
    placed("Numpad3", "3", 99, 3),
    placed("Numpad4", "4", 100, 3),
    placed("Numpad5", "5", 101, 3),
    placed("Numpad6", "6", 102, 3),
    placed("Numpad7", "7", 103, 3),
    placed("Numpad8", "8", 104, 3),
    placed("Numpad9", "9", 105, 3),
    placed("NumpadMultiply", "*", 106, 3),
    placed("NumpadAdd", "+", 107, 3),
    placed("NumpadSubtract", "-", 109, 3),
    placed("NumpadDecimal", ".", 110, 3),
    placed("NumpadDivide", "/", 111, 3),
];

/// Other common names of keys, in lower case.
pub(crate) const ALIASES: &[(&str, &str)] = &[
    ("esc", "Escape"),
    ("return", "Enter"),
    ("space", " "),
    ("spacebar", " "),
    ("del", "Delete"),
    ("ins", "Insert"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
    ("pgup", "PageUp"),
    ("pgdn", "PageDown"),
    ("plus", "+"),
    ("ctrl", "Control"),
    ("option", "Alt"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("super", "Meta"),
    ("win", "Meta"),
];
