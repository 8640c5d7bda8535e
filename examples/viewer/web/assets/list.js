// The list of sessions: keys, health of what is in sight, changes.
import { ask, byID, later, renew, typing } from "./util.js";
import { listen } from "./live.js";

const seen = new Map(); // health by address and time of the last change

export function startList() {
  const sidebar = byID("sidebar");
  document.addEventListener("keydown", onKey);
  closeSwitch();
  if (!sidebar) return;
  byID("sessions").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  keepFocus();
  const watch = watchHealth();
  watch();
  const again = later(700, () => refresh(watch).catch(() => {}));
  listen(sidebar.dataset.stream, { ready: again, list: again });
}

// refresh shows the list as it is now.
async function refresh(watch) {
  await renew("sessions", "count");
  watch();
}

const links = () => [...document.querySelectorAll(".sessions .session > a:first-child, .recent .session > a:first-child, .projects .session > a:first-child")];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  const inside = event.target === document.body || event.target.closest?.("#sidebar, .recent, .projects");
  if (!step || !inside || byID("panel") && event.target === document.body) return;
  const all = links();
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.focus();
  event.preventDefault();
}

// keepFocus remembers a link on which Enter was pressed, and the session that a
// key closed, and gives it the focus in the page that comes. A page without the
// list shows the session alone, which then has the focus.
function keepFocus() {
  const path = sessionStorage.getItem("focus");
  sessionStorage.removeItem("focus");
  const link = path && links().find((a) => a.pathname === path);
  if (link?.offsetParent) link.focus();
  else if (link || path === location.pathname) byID("panel")?.focus();
  byID("sessions").addEventListener("keydown", (event) => {
    const link = event.target.closest(".session > a:first-child");
    if (event.key === "Enter" && link) sessionStorage.setItem("focus", link.pathname);
  });
}

// closeSwitch closes the list of projects when it is left.
function closeSwitch() {
  const box = byID("projects");
  if (!box) return;
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) box.open = false;
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    box.open = false;
    box.querySelector("summary").focus();
    event.preventDefault();
    event.stopPropagation();
  });
}

// A session's transcript is read once it is in sight, one after the other.
let queue = Promise.resolve();

// watchHealth returns a function that begins to watch the sessions that are there.
function watchHealth() {
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      observer.unobserve(entry.target);
      queue = queue.then(() => showHealth(entry.target)).catch(() => {});
    }
  }, { root: byID("sessions") });
  return () => {
    for (const item of document.querySelectorAll("#sidebar .session")) {
      const health = seen.get(keyOf(item));
      if (health) show(item, health);
      else observer.observe(item);
    }
  };
}

const pathOf = (item) => new URL(item.querySelector("a").href).pathname;
const keyOf = (item) => pathOf(item) + " " + item.querySelector("time").dateTime;

async function showHealth(item) {
  if (!item.isConnected) return;
  const key = keyOf(item);
  if (!seen.has(key)) seen.set(key, await ask("/api" + pathOf(item) + "/health"));
  if (key === keyOf(item)) show(item, seen.get(key)); // else the next refresh asks again
}

function show(item, health) {
  const mark = item.querySelector(".health");
  const kind = health.damaged ? "damaged" : health.recovered ? "recovered" : health.broken ? "broken" : "";
  if (kind && !(kind === "damaged" && item.classList.contains("damaged"))) {
    mark.textContent = kind;
    mark.classList.add(kind === "damaged" ? "damage" : kind);
    mark.hidden = false;
  }
  if (health.damaged) item.classList.add("damaged");
  mark.title = health.notes.join("\n");
}
