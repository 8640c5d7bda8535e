// A message of the transcript, with the results of the tools that it calls.
import { Fold, showCall, showResult } from "./fold.js";
import { TurnMark } from "./fork.js";
import { ask, byID, classOf, el, fileNode, fill, handOver, place, sizeText, timeText } from "./util.js";

// MessageView shows a message. The nodes of what stays as it was stay too.
export class MessageView {
  constructor(api, n, style) {
    this.style = style; // raw: show texts as they are stored; found: the number of the message to mark; opened: names of folds
    this.n = n;
    this.api = api;
    this.parts = new Map(); // nodes by what they show
    this.folds = [];
    this.node = el("article", { tabindex: "-1", "data-n": n });
    this.mark = new TurnMark(api);
  }

  update(m) {
    this.node.className = "message " + classOf(m.role) + (m.injected ? " injected" : "") + (m.n === this.style.found ? " found" : "");
    this.mark.update(m.turn); // where it starts one
    const parts = new Map();
    const part = (name, value, make) => {
      const key = name + JSON.stringify(value);
      parts.set(key, this.parts.get(key) ?? make(value));
    };
    const whole = once(() => ask(`${this.api}/messages/${m.n}`));
    part("head", [m.n, m.role, m.injected, m.time], () => headNode(this.api, m));
    if (m.thinking) part("thinking", m.thinking, (text) => el("div", { class: "thinking" }, ...shown(text, whole, (w) => w.thinking)));
    if (m.html && !this.style.raw) part("html", [m.html, m.body.size], () => el("div", {}, ...rendered(m, whole)));
    else if (m.body) part("body", m.body, (text) => el("div", {}, ...shown(text, whole, (w) => w.body, "body")));
    if (m.files) part("files", m.files, (files) => el("div", { class: "files" }, ...files.map((file) => fileNode(this.api, file))));
    this.parts = parts;
    const texts = (text, pick) => shown(text, whole, pick);
    const result = (r, pick) => [...(r.body.text || !r.files ? texts(r.body, pick) : []), ...(r.files ?? []).map((file) => fileNode(this.api, file))];
    const [calls, results] = [m.calls ?? [], m.results ?? []];
    this.folds.length = Math.min(this.folds.length, calls.length + results.length);
    calls.forEach((call, i) => showCall(this.fold(i), call, m.gists[i], texts, result, i));
    results.forEach((result, i) => showResult(this.fold(calls.length + i), result, m.gists[calls.length + i], result, i));
    place(this.node, [...parts.values(), ...this.folds.map((fold) => fold.node)]);
  }

  fold(i) {
    return (this.folds[i] ??= new Fold(this.n + "." + i, this.style.opened));
  }

  // reveal opens the folds in which a text was found, and shows long texts whole when
  // it stands behind where they are cut. It returns the first of those folds.
  reveal(folds, text) {
    const opened = folds.map((i) => this.folds[i]).filter(Boolean);
    opened.forEach((fold) => fold.open());
    if (!this.node.textContent.toLowerCase().includes(text.toLowerCase())) this.node.querySelectorAll(".more").forEach((button) => button.click());
    return opened[0];
  }

  // toggle opens all folds and shows long texts whole, and closes the folds when
  // there is nothing left to open.
  toggle() {
    const more = [...this.node.querySelectorAll(".more")].filter((button) => !button.closest("details:not([open])"));
    const closed = this.folds.filter((fold) => !fold.node.open);
    more.forEach((button) => button.click());
    closed.forEach((fold) => fold.open());
    if (!more.length && !closed.length) this.folds.forEach((fold) => (fold.node.open = false));
  }
}

function headNode(api, m) {
  const raw = el("a", { class: "raw", href: `${api}/messages/${m.n}/line`, target: "_blank", rel: "noopener", title: "The line as it is stored", "aria-label": "line of message " + (m.n + 1) }, "line");
  const events = byID("panel").hasAttribute("data-logs") ? el("a", { class: "raw", href: "#events-" + (m.n + 1), title: "Events of this message", "aria-label": "events of message " + (m.n + 1) }, "events") : null;
  const link = el("a", { class: "line", href: "#" + (m.n + 1), title: "Link to this message", "aria-label": "link to message #" + (m.n + 1) }, "#" + (m.n + 1));
  return el("header", {}, el("span", { class: "role" }, m.role || "no role"), m.injected ? el("span", {}, "written by a tool") : null, m.time ? el("time", { datetime: m.time }, timeText(m.time)) : null, el("span", { class: "space" }), events, raw, link);
}

// once returns a function that runs ask once, and again after a failure.
function once(act) {
  let running = null;
  return () => (running ??= act().catch((failure) => {
    running = null;
    throw failure;
  }));
}

// shown returns a text, and a button for the rest of it.
function shown(text, whole, pick, name) {
  const pre = el("pre", { class: name }, text.text);
  return withRest(pre, text, async () => (pre.textContent = pick(await whole()).text));
}

// rendered returns a text that the server has rendered and sanitised.
function rendered(m, whole) {
  const box = el("div", { class: "body markdown" });
  fill(box, m.html);
  return withRest(box, m.body, async () => {
    const all = await whole();
    if (all.html) fill(box, all.html);
    else box.replaceChildren(el("pre", {}, all.body.text));
  });
}

// withRest returns a node with the beginning of a text, and a button that calls
// extend to show all of it.
function withRest(node, text, extend) {
  if (!text.cut) return [node];
  const more = el("button", { type: "button", class: "more" }, "show all " + sizeText(text.size));
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      await extend();
      handOver(more, node);
    } catch (failure) {
      more.disabled = false;
      more.textContent = failure.message;
    }
  });
  return [node, more];
}
