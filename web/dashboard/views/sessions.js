// The live view: every session on a wall, or one session on the stage with the others below it.
// @ts-check

import { button, make, part, say } from "../shared/element.js";
import { commandLine } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { createStage } from "../live/stage.js";
import { createWall } from "../live/wall.js";
import { live } from "../live/now.js";
import { createScreenshots } from "../screenshots.js";

const VIEW = "live";

/** The session that the address names. */
const sessionOfAddress = () => {
  const [view, session] = location.hash.slice(1).split("/");
  return view === VIEW && session ? decodeURIComponent(session) : null;
};

/** Ends what the view shows. */
let close = () => {};

/** @type {import("../dashboard.js").View} */
export const sessions = {
  id: VIEW,
  title: "Live",
  icon: "screen",
  count: ({ sessions: all }) => all.filter(({ active }) => active).length,
  create(body, tools, { request }) {
    const screenshots = createScreenshots(request);
    const tags = part("view-tags");
    /** @type {{session: string, stage: ReturnType<typeof createStage>} | null} */
    let current = null;
    /** @type {(import("../dashboard.js").Shown & {state: import("../dashboard.js").State}) | null} */
    let last = null;
    let isEveryoneHeld = false;
    const empty = make("div", { look: "empty" }, icon("screen"), make("p", {}, "No session runs. This command starts one:"), commandLine("tabwire open https://example.com"));
    const place = make("div", {});
    const wall = createWall((holds) => {
      isEveryoneHeld = holds.some(([scope]) => scope === "all");
      showControls();
    });
    const all = make("a", { look: "button plain only-icon mini", href: `#${VIEW}`, hidden: "", "aria-label": "All sessions", title: "All sessions" }, icon("left"));
    const controls = make("span", { look: "line" });
    const pauseAll = button([icon("pause"), "Pause all"], () => wall.socket.command({ type: isEveryoneHeld ? "resume" : "pause", scope: "all" }));
    const stopAll = button([icon("stop"), "Stop all"], () => wall.socket.command({ type: "stop", scope: "all" }));
    part("view-title").before(all);
    tools.append(pauseAll, stopAll, controls);
    body.append(place, empty, wall.list);

    const showControls = () => {
      const text = isEveryoneHeld ? "Resume all" : "Pause all";
      if (pauseAll.textContent !== text) pauseAll.replaceChildren(icon(isEveryoneHeld ? "play" : "pause"), text);
      all.hidden = current === null;
      pauseAll.hidden = current !== null;
      stopAll.hidden = current !== null;
    };
    const openStage = () => {
      if (location.hash.slice(1).split("/")[0] !== VIEW && location.hash !== "") return;
      const session = sessionOfAddress();
      if (session === (current?.session ?? null)) return;
      current?.stage.close();
      controls.replaceChildren();
      tags.replaceChildren();
      current = session === null ? null : { session, stage: createStage(session, controls, tags, screenshots) };
      place.replaceChildren(...(current ? [current.stage.root] : []));
      say(part("view-title"), session ?? "Live");
      part("view").classList.toggle("is-stage", current !== null);
      showControls();
      update();
    };
    const update = () => {
      if (!last) return;
      const active = last.state.sessions.filter((one) => one.active);
      empty.hidden = active.length > 0 || current !== null;
      wall.update(active, current?.session ?? null);
      current?.stage.update(last);
    };
    addEventListener("hashchange", openStage);
    close = () => {
      removeEventListener("hashchange", openStage);
      current?.stage.close();
      all.remove();
      wall.close();
      screenshots.clear();
      live.set({ ...live.get(), cards: [], stage: null });
    };
    openStage();
    showControls();
    return (shown) => {
      last = shown;
      update();
    };
  },
  close: () => close(),
};
