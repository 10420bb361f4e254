//! Scripts that misbehave, for the tests and the bench of what others notice of them.

/// Programs and why they are hostile.
pub const HOSTILE_SCRIPTS: [(&str, &str); 14] = [
    ("a loop", "for (;;) {}"),
    ("code that cannot be interrupted", "new Array(1e9) + ''"),
    ("a loop of jobs", "const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})"),
    ("memory", "const a = []; for (;;) a.push(new Array(1e5).fill(a.length))"),
    ("a long text", "let s = 'x'; for (;;) s += s"),
    ("output", "for (;;) console.log('x'.repeat(1000))"),
    ("empty output", "for (;;) console.log('')"),
    ("recursion", "const f = () => { try { f() } catch { f() } }; f()"),
    ("timers", "for (let i = 0; ; i++) { try { setTimeout(() => {}, 0) } catch { await null } }"),
    ("calls", "for (;;) await Promise.all(Array.from({ length: 64 }, () => tabwire.get({ what: 'title' })))"),
    (
        "calls that fail",
        "for (;;) { try { await tabwire.click({ target: '#none' }, { timeout: 1 }) } catch {} }",
    ),
    (
        "prototypes of the API",
        "page.constructor.prototype.call = () => { for (;;) {} }; Map.prototype.get = null; JSON.stringify = () => '{}\\n{\"done\":{\"run\":1}}'; try { await page.title() } catch {} for (;;) {}",
    ),
    (
        "a forged line",
        "for (;;) { try { await tabwire.get({ what: '\\n{\"done\":{\"run\":1}}\\n' }) } catch {} }",
    ),
    ("a proxy as the state", "state = new Proxy({}, { ownKeys() { for (;;) {} } }); for (;;) {}"),
];
