// The panel of a session: tabs, header, lineage, resume and what changes.
import { ask, byID, el, later, renew, typing } from "./util.js";
import { listen } from "./live.js";
import { Cards } from "./cards.js";
import { Transcript } from "./transcript.js";
import { conversation, decisions } from "./records.js";
import { Events } from "./events.js";
import { startResume } from "./resume.js";
import { startActions } from "./actions.js";
import { startPrint } from "./print.js";

const names = ["phases", "transcript", "conversation", "decisions", "events"];

export function startPanel() {
  const panel = byID("panel");
  if (!panel) return;
  const api = panel.dataset.api;
  for (const heading of document.querySelectorAll(".pane > h3")) heading.ariaLevel = "2"; // it follows the heading of the page
  const views = { phases: new Cards(api), transcript: new Transcript(api), conversation: conversation(api), decisions: decisions(api), events: new Events(api) };
  startTabs(views);
  startResume(api);
  startActions();
  startKeys();
  startPrint(api);
  showLineage(api).catch(() => {});
  const header = later(300, () => refreshHeader().catch(() => {}));
  const live = listen(api + "/stream", {
    ready: (data) => {
      views.phases.sync(data.read);
      views.transcript.sync(data.tag);
      views.events.sync();
      views.conversation.stale();
      views.decisions.stale();
      header();
    },
    "phase-output": (record) => views.phases.put(record),
    phases: (all) => views.phases.replace(all),
    transcript: (told) => views.transcript.told(told),
    event: (told) => views.events.told(told),
    conversation: () => views.conversation.stale(),
    session: () => {
      views.decisions.stale();
      header();
    },
    gone: () => location.assign(panel.dataset.project),
  });
  live.onstate = (on) => {
    const light = byID("live");
    light.classList.toggle("on", on);
    light.title = on ? "live" : "not connected";
    light.setAttribute("aria-label", light.title);
  };
}

function startTabs(views) {
  const tabs = byID("tabs");
  const show = (name, focus) => {
    for (const other of names) {
      const tab = byID("tab-" + other);
      const on = other === name;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      byID("pane-" + other).hidden = !on;
      if (on && focus) tab.focus();
    }
    const [, of, n] = linked() ?? [];
    views[name].show(n && (of ? "events" : "transcript") === name ? n - 1 : undefined);
  };
  const linked = () => /^#(events-)?([1-9]\d*)$/.exec(location.hash); // a link to a message, or to its events
  const wanted = () => (linked() ? (linked()[1] ? "events" : "transcript") : names.includes(location.hash.slice(1)) ? location.hash.slice(1) : tabs.dataset.first);
  const choose = (name) => {
    history.replaceState(null, "", "#" + name);
    show(name, true);
  };
  tabs.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) choose(tab.id.slice("tab-".length));
  });
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = names.filter((name) => !byID("tab-" + name).hidden);
    const at = all.indexOf(wanted());
    choose(all[(at + step + all.length) % all.length]);
    event.preventDefault();
  });
  addEventListener("hashchange", () => show(wanted()));
  show(wanted());
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (typing(event.target) && event.target.value) return; // Escape empties a field first
    sessionStorage.setItem("focus", location.pathname);
    byID("close").click();
  });
  byID("panel").addEventListener("keydown", (event) => {
    if (event.target.id === "close" && event.key === " ") {
      event.preventDefault();
      event.target.click();
    }
  });
}

// refreshHeader shows title, status, facts and damage as they are now.
async function refreshHeader() {
  const page = await renew("header", "about", "command");
  for (const id of ["footer", "tab-conversation", "tab-decisions"]) {
    const now = page.getElementById(id);
    if (now) byID(id).hidden = now.hidden;
  }
}

async function showLineage(api) {
  const { relatives, forked_from_turn: turn, cyclic, skipped } = await ask(api + "/lineage");
  const nav = byID("lineage");
  for (const r of relatives) {
    let kind = r.kind;
    if (kind === "parent" && turn !== null) kind = "forked at turn " + turn + " from";
    if (kind === "fork" && r.turn !== undefined) kind = "fork at turn " + r.turn;
    const name = r.path ? el("a", { href: r.path, title: r.id }, r.title) : el("span", { title: "not here" }, r.id + " (gone)");
    nav.append(el("span", { class: "relative" }, el("span", { class: "kind" }, kind), " ", name));
  }
  if (cyclic) nav.append(el("span", { class: "mark broken" }, "descends from itself"));
  if (skipped) nav.append(el("span", { class: "mark damage" }, skipped + " sessions could not be read"));
  nav.hidden = !nav.childElementCount;
}
