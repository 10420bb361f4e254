//! The scripts that the emulated browser runs in pages, in a sandbox of its own or with the value of a client.

/// The sandbox of the emulated browser's own scripts. It is not reported to clients.
pub(crate) const OWN_SANDBOX: &str = "tabwire-browser";

/// Gives a value as text: `j` and its JSON for an object, else the value itself. Copies what Chrome's `returnByValue`
/// copies: own enumerable properties, without functions and symbols, and fails on cycles.
const BY_VALUE: &str = "(value) => {
    if (typeof value === 'string') return 's' + value;
    if (typeof value !== 'object' || value === null) return value;
    const above = [];
    const copy = (value) => {
        if (typeof value === 'bigint') return undefined;
        if (typeof value === 'function' || typeof value === 'symbol') return undefined;
        if (typeof value !== 'object' || value === null) return value;
        if (above.includes(value) || above.length > 400) throw new Error('Object reference chain is too long');
        above.push(value);
        let made;
        if (Array.isArray(value)) {
            made = [];
            for (let index = 0; index < value.length; index++) made.push(copy(value[index]));
        } else {
            made = {};
            for (const key of Object.keys(value)) {
                const member = copy(value[key]);
                if (member !== undefined) {
                    Object.defineProperty(made, key, { value: member, enumerable: true, configurable: true });
                }
            }
        }
        above.pop();
        return made;
    };
    const made = copy(value);
    Object.defineProperty(made, 'toJSON', { value: undefined });
    return 'j' + JSON.stringify(made);
}";

/// The same for values of the page agent, which are plain data.
const AGENT_VALUE: &str = "(value) => typeof value === 'string' ? 's' + value
    : typeof value === 'object' && value !== null ? 'j' + JSON.stringify(value) : value";

/// A function whose value comes back as text.
pub(crate) fn function_by_value(function: &str) -> String {
    format!(
        "function (...given) {{ const give = {BY_VALUE}; const value = ({function}\n).apply(this, given); \
         return value !== null && typeof value === 'object' && typeof value.then === 'function' \
         ? value.then(give) : give(value); }}"
    )
}

/// An expression of the page agent, whose value comes back as text.
pub(crate) fn agent_expression(expression: &str) -> String {
    format!(
        "(() => {{ const give = {AGENT_VALUE}; const value = {expression}; \
         return value !== null && typeof value === 'object' && typeof value.then === 'function' \
         ? value.then(give) : give(value); }})()"
    )
}

/// A function that gives its first argument as text.
pub(crate) fn value_of_handle() -> String {
    format!("(value) => ({BY_VALUE})(value)")
}

/// The point in a document: what is there. `window` for a frame, with the position of its content.
pub(crate) const FRAME_AT: &str = "(x, y) => {
    let found = document.elementFromPoint(x, y);
    while (found && found.shadowRoot) {
        const inner = found.shadowRoot.elementFromPoint(x, y);
        if (!inner || inner === found) break;
        found = inner;
    }
    if (!found || !found.contentWindow) return null;
    const box = found.getBoundingClientRect();
    const style = getComputedStyle(found);
    const size = (name) => parseFloat(style[name]) || 0;
    return [found.contentWindow, box.left + size('borderLeftWidth') + size('paddingLeft'),
        box.top + size('borderTopWidth') + size('paddingTop')];
}";

/// The window of the frame that has the focus.
pub(crate) const FOCUSED_FRAME: &str = "() => {
    let found = document.activeElement;
    while (found && found.shadowRoot && found.shadowRoot.activeElement) found = found.shadowRoot.activeElement;
    return found && found.contentWindow ? found.contentWindow : null;
}";

/// The name of a frame.
pub(crate) const NAME: &str = "() => String(window.name)";

/// The root element of a document.
pub(crate) const ROOT: &str = "() => document.documentElement";

/// Notes the drags that start in a document.
pub(crate) const CATCH_DRAGS: &str = "() => {
    globalThis.dragStart = null;
    if (globalThis.catchesDrags) return;
    globalThis.catchesDrags = true;
    window.addEventListener('dragstart', (event) => { globalThis.dragStart = event; }, true);
}";

/// Whether a drag has started that the page did not prevent.
pub(crate) const DRAG_STARTED: &str = "() => {
    const start = globalThis.dragStart;
    globalThis.dragStart = null;
    return Boolean(start) && !start.defaultPrevented;
}";

/// Inserts text where the caret is.
pub(crate) const INSERT_TEXT: &str = "(text) => document.execCommand('insertText', false, text)";

/// Scrolls a page at once.
pub(crate) const SCROLL_TO: &str = "(left, top) => window.scrollTo({left, top, behavior: 'instant'})";

/// The sizes of a page.
pub(crate) const LAYOUT: &str = "() => {
    const root = document.documentElement, view = window.visualViewport;
    const scroller = document.scrollingElement || root;
    return JSON.stringify({
        x: window.scrollX, y: window.scrollY, width: root ? root.clientWidth : window.innerWidth,
        height: document.compatMode === 'BackCompat' && document.body ? document.body.clientHeight
            : root ? root.clientHeight : window.innerHeight,
        rootWidth: root ? root.scrollWidth : 0, rootHeight: root ? root.scrollHeight : 0,
        outerWidth: window.innerWidth, outerHeight: window.innerHeight,
        contentWidth: scroller ? scroller.scrollWidth : window.innerWidth,
        contentHeight: scroller ? scroller.scrollHeight : window.innerHeight,
        ratio: window.devicePixelRatio, scale: view ? view.scale : 1,
        offsetX: view ? view.offsetLeft : 0, offsetY: view ? view.offsetTop : 0,
    });
}";

/// A node as CDP describes it: its frame, if it embeds one.
pub(crate) const DESCRIBE: &str = "function () { return [this, this.contentWindow ?? null]; }";

/// Scrolls a node into view, as far as it is not; the reason if that is impossible.
pub(crate) const SCROLL_INTO_VIEW: &str = "(node) => {
    if (!node.isConnected) return 'detached';
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    if (!element || element.getClientRects().length === 0) return 'hidden';
    const box = element.getBoundingClientRect();
    const isInside = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    // A box inside the window can still be outside of an element that scrolls.
    const place = isInside ? 'nearest' : 'center';
    element.scrollIntoView({ block: place, inline: place, behavior: 'instant' });
    return '';
}";

/// The boxes of a node, each as four corners.
pub(crate) const QUADS: &str = "(node) => {
    let measured = node;
    if (node.nodeType !== Node.ELEMENT_NODE) {
        measured = document.createRange();
        measured.selectNodeContents(node);
    }
    return JSON.stringify(Array.from(measured.getClientRects(), (box) => [
        box.left, box.top, box.right, box.top, box.right, box.bottom, box.left, box.bottom,
    ]));
}";

/// The boxes of an element, each as four corners: border, padding, content, margin.
pub(crate) const BOXES: &str = "(node) => {
    if (node.nodeType !== Node.ELEMENT_NODE || node.getClientRects().length === 0) return '[]';
    const style = getComputedStyle(node);
    const sides = (name, end) => ['Left', 'Top', 'Right', 'Bottom'].map((side) => parseFloat(style[name + side + end]) || 0);
    const inside = ([left, top, right, bottom], [a, b, c, d]) => [left + a, top + b, right - c, bottom - d];
    const outside = (box, by) => inside(box, by.map((size) => -size));
    const { left, top, right, bottom } = node.getBoundingClientRect();
    const border = [left, top, right, bottom];
    const padding = inside(border, sides('border', 'Width'));
    const boxes = [border, padding, inside(padding, sides('padding', '')), outside(border, sides('margin', ''))];
    return JSON.stringify(boxes.map(([left, top, right, bottom]) => [left, top, right, top, right, bottom, left, bottom]));
}";

/// Where the document of a frame's element starts.
pub(crate) const FRAME_ORIGIN: &str = "(frame) => {
    const box = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    const size = (name) => parseFloat(style[name]) || 0;
    return JSON.stringify([box.left + size('borderLeftWidth') + size('paddingLeft'),
        box.top + size('borderTopWidth') + size('paddingTop')]);
}";

/// Whether these media queries match now.
pub(crate) const MEDIA_MATCHES: &str = "(...queries) => queries.every((query) => matchMedia(query).matches)";

/// The own properties of an object that have values: name, value, and whether it is enumerable.
pub(crate) const OWN_PROPERTIES: &str = "function () {
    const found = Object.entries(Object.getOwnPropertyDescriptors(this));
    return found.filter(([, member]) => 'value' in member)
        .map(([name, member]) => [name, member.value, member.enumerable]);
}";
