// The events of a log by their heads. Rows are asked for when they come into
// sight, and the data of an event when it is opened.
import { ask, byID, el, later, place, plural, sizeText, timeText, typing } from "./util.js";
import { EventView } from "./event.js";

const height = 26; // of a row, as in the style sheet
const pageSize = 200;
const maxPages = 30;
const maxRows = 1_000_000; // browsers limit how high a page may be

export class Events {
  constructor(api) {
    this.api = api;
    this.box = byID("event-rows");
    this.space = byID("event-space");
    this.view = new EventView(api, () => this.query(), () => this.box.focus());
    this.shown = false;
    this.message = null; // the number of the message whose events are shown; null: all are
    this.reset();
    byID("event-message").addEventListener("click", () => {
      history.replaceState(null, "", "#events");
      this.choose(null);
      this.box.focus();
    });
    this.draw = frame(() => this.render());
    this.box.addEventListener("scroll", this.draw);
    addEventListener("resize", this.draw);
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest(".event");
      if (row) this.select(Number(row.dataset.i), true);
    });
    const filter = byID("event-filter");
    const changed = later(250, () => this.restart());
    filter.addEventListener("input", changed);
    filter.addEventListener("submit", (event) => event.preventDefault());
    byID("event-top").addEventListener("click", () => this.select(0));
    byID("event-end").addEventListener("click", () => this.select(this.count() - 1));
    this.more = later(200, () => this.extend());
  }

  // show shows the events of message n, if there is one, else the events as they were.
  show(n) {
    if (n !== undefined) this.choose(n);
    else if (this.shown) this.draw();
    else this.restart();
    this.shown = true;
  }

  // choose shows the events of message n, or with null all events.
  choose(n) {
    this.message = n;
    const button = byID("event-message");
    button.hidden = n === null;
    if (n !== null) button.textContent = "of message #" + (n + 1) + " ×";
    this.restart();
  }

  // sync counts what was logged before the stream began.
  sync() {
    if (this.shown) this.more();
  }

  // told takes a change that the stream tells.
  told({ log, rewritten }) {
    const choice = byID("event-log");
    choice.querySelector(`[value="${log}"]`).disabled = false;
    if (!this.shown || log !== choice.value) return;
    if (rewritten) this.restart();
    else this.more();
  }

  reset() {
    this.run = (this.run ?? 0) + 1;
    this.pages = new Map(); // {rows, old} by number
    this.nodes = new Map(); // of the rows in sight, by number
    this.known = 0;
    this.epoch = null;
    this.selected = -1;
  }

  restart() {
    this.reset();
    this.view.close();
    this.box.scrollTop = 0;
    this.extend();
  }

  query() {
    const value = (id) => encodeURIComponent(byID(id).value);
    return `log=${value("event-log")}&level=${value("event-level")}&name=${value("event-name")}` + (this.message === null ? "" : "&message=" + this.message);
  }

  count() {
    return Math.min(this.known, maxRows);
  }

  // extend counts on to the end of the log.
  async extend() {
    const run = this.run;
    try {
      for (let complete = false; !complete && run === this.run;) {
        const page = await this.ask(this.known, 0);
        if (run !== this.run) return;
        complete = page.complete;
        byID("event-count").textContent = plural(this.known, "event", "events") + (complete ? "" : "…");
        this.draw();
      }
    } catch (failure) {
      byID("event-count").textContent = failure.message;
    }
  }

  // ask asks for rows and takes what the answer tells of the log.
  async ask(from, n) {
    const run = this.run;
    const page = await ask(`${this.api}/events?${this.query()}&from=${from}&n=${n}`);
    if (run !== this.run) return page;
    if (this.epoch !== null && page.epoch !== this.epoch) {
      this.restart();
      return page;
    }
    this.epoch = page.epoch;
    if (page.known > this.known) {
      const last = this.pages.get(Math.floor(this.known / pageSize));
      if (last) last.old = true; // it was not full
      this.known = page.known;
      this.space.style.height = this.count() * height + "px";
    }
    return page;
  }

  async load(n) {
    const run = this.run;
    const page = this.pages.get(n) ?? { rows: [] };
    page.old = false;
    this.pages.set(n, page);
    try {
      const { rows } = await this.ask(n * pageSize, pageSize);
      if (run !== this.run) return;
      if (rows.length > page.rows.length) page.rows = rows; // answers may overtake each other
      if (this.pages.size > maxPages) this.pages.delete(this.pages.keys().next().value);
      this.draw();
    } catch {
      page.old = true;
    }
  }

  row(i) {
    return this.pages.get(Math.floor(i / pageSize))?.rows[i % pageSize];
  }

  // render shows the rows that are in sight. A row that stays keeps its node.
  render() {
    const first = Math.max(Math.floor(this.box.scrollTop / height) - 5, 0);
    const last = Math.min(Math.ceil((this.box.scrollTop + this.box.clientHeight) / height) + 5, this.count());
    const nodes = new Map();
    for (let i = first; i < last; i++) {
      const page = Math.floor(i / pageSize);
      if (this.pages.get(page)?.old ?? true) this.load(page);
      const node = this.nodes.get(i) ?? rowNode(i);
      fill(node, this.row(i));
      node.setAttribute("aria-selected", i === this.selected);
      node.setAttribute("aria-setsize", this.known);
      nodes.set(i, node);
    }
    this.nodes = nodes;
    place(this.space, [...nodes.values()]);
    const chosen = this.nodes.get(this.selected);
    if (chosen) this.box.setAttribute("aria-activedescendant", chosen.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  select(i, open) {
    if (!this.count()) return;
    this.selected = Math.min(Math.max(i, 0), this.count() - 1);
    const top = this.selected * height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + height > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + height - this.box.clientHeight;
    this.draw();
    const row = this.row(this.selected);
    if (row && (open || this.view.open)) this.view.show(row);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const far = Math.floor(this.box.clientHeight / height) - 1;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: far, PageUp: -far }[event.key];
    if (step) this.select(this.selected < 0 ? 0 : this.selected + step);
    else if (event.key === "Home") this.select(0);
    else if (event.key === "End") this.select(this.count() - 1);
    else if (event.key === "Enter" || event.key === " ") this.select(Math.max(this.selected, 0), true);
    else return;
    event.preventDefault();
  }
}

// rowNode returns the node of a row whose event is not known yet.
function rowNode(i) {
  const node = el("div", { class: "event", role: "option", id: "event-" + i, "data-i": i, "aria-posinset": i + 1 }, el("span", { class: "no" }, "…"));
  node.style.top = i * height + "px";
  return node;
}

// fill shows an event, which stays the same, in the node of its row.
function fill(node, row) {
  if (!row || node.childElementCount > 1) return;
  node.firstChild.textContent = row.line || Number(node.dataset.i) + 1;
  const level = row.level.toLowerCase().replace(/[^a-z]/g, "-");
  node.append(
    el("span", { class: "time", title: row.time ? timeText(row.time) : null }, row.time ? timeText(row.time, true) : "no time"),
    el("span", { class: "level " + level }, row.level), el("span", { class: "name", title: row.event }, row.event || "no name"),
    el("span", { class: "size" }, sizeText(row.size)),
  );
}

// frame returns a function that runs draw with the next picture.
function frame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}
