// What is kept beside the transcript: the conversation about a workflow, and
// decisions. They are read when they are looked at, and again when they change.
import { ask, byID, classOf, el, fill, place, timeText } from "./util.js";

class Records {
  constructor(path, name, node) {
    this.path = path;
    this.node = node; // makes the node of a record
    this.pane = byID("pane-" + name);
    this.box = byID(name);
    this.note = byID(name + "-note");
    this.nodes = new Map(); // by what they show
    this.current = false;
    this.reading = Promise.resolve();
  }

  show() {
    if (!this.current) this.read();
  }

  // stale says that there is something else to show.
  stale() {
    this.current = false;
    if (!this.pane.hidden) this.read();
  }

  read() {
    this.current = true;
    this.reading = this.reading.then(() => this.fetch());
  }

  async fetch() {
    try {
      const all = await ask(this.path);
      const nodes = new Map();
      all.rows.forEach((row, i) => {
        const key = i + JSON.stringify(row);
        nodes.set(key, this.nodes.get(key) ?? this.node(row));
      });
      this.nodes = nodes;
      place(this.box, [...nodes.values()]);
      const older = (all.total ?? 0) - all.rows.length;
      this.note.textContent = [older > 0 ? older + " older ones are not shown" : "", all.more ? "There are more." : "", all.damage ?? "", all.rows.length ? "" : "Nothing here yet."].filter(Boolean).join(" ");
      this.note.classList.toggle("error-text", Boolean(all.damage));
    } catch (failure) {
      this.current = false;
      this.note.textContent = failure.message;
    }
    this.note.hidden = !this.note.textContent;
  }
}

export const conversation = (api) => new Records(api + "/conversation", "conversation", (m) => {
  const body = el("div", { class: "body" + (m.html ? " markdown" : "") });
  if (m.html) fill(body, m.html);
  else body.append(el("pre", {}, m.content));
  const phase = m.phase_id ? el("span", { class: "kind" }, m.phase_id) : null;
  return el("article", { class: "message " + classOf(m.role) }, el("header", {}, el("span", { class: "role" }, m.role), phase, el("time", { datetime: m.created_at }, timeText(m.created_at))), body);
});

export const decisions = (api) => new Records(api + "/decisions", "decisions", (d) =>
  el("article", { class: "decision" }, el("header", {}, el("span", { class: "mark " + kindOf(d.kind) }, d.kind), el("strong", {}, d.what), d.time ? el("time", { datetime: d.time }, timeText(d.time)) : null), d.text ? el("pre", {}, d.text) : null));

// kindOf returns the class of a mark.
function kindOf(kind) {
  if (/^(refused|denied|rejected|error|run: (failed|error))/.test(kind)) return "damage";
  if (/^(pending|change)/.test(kind)) return "recovered";
  return "plain";
}
