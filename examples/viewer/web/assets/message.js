// A message of the transcript, with the results of the tools that it calls.
import { ask, classOf, el, place, sizeText, timeText } from "./util.js";

// MessageView shows a message. The nodes of what stays as it was stay too.
export class MessageView {
  constructor(api, n) {
    this.api = api;
    this.parts = new Map(); // nodes by what they show
    this.node = el("article", { tabindex: "-1", "data-n": n });
    this.mark = el("div", { class: "turn-mark", role: "separator" });
  }

  update(m) {
    this.node.className = "message " + classOf(m.role) + (m.injected ? " injected" : "");
    this.mark.textContent = "Turn " + m.turn; // where it starts one
    const parts = new Map();
    const part = (name, value, make) => {
      const key = name + JSON.stringify(value);
      parts.set(key, this.parts.get(key) ?? make(value));
    };
    const whole = once(() => ask(`${this.api}/messages/${m.n}`));
    part("head", [m.n, m.role, m.injected, m.time], () => headNode(this.api, m));
    if (m.thinking) part("thinking", m.thinking, (text) => el("div", { class: "thinking" }, ...shown(text, whole, (w) => w.thinking)));
    if (m.body) part("body", m.body, (text) => el("div", {}, ...shown(text, whole, (w) => w.body, "body")));
    (m.calls ?? []).forEach((call, i) => part("call" + i, call, () => callNode(call, whole, i)));
    (m.results ?? []).forEach((result, i) => part("result" + i, result, () => loneResult(result, whole, i)));
    this.parts = parts;
    place(this.node, [...parts.values()]);
  }
}

function headNode(api, m) {
  const raw = el("a", { class: "line", href: `${api}/messages/${m.n}/line`, target: "_blank", rel: "noopener", title: "the line as it is stored" }, "#" + (m.n + 1));
  return el("header", {}, el("span", { class: "role" }, m.role || "no role"), m.injected ? el("span", {}, "written by a tool") : null, m.time ? el("time", { datetime: m.time }, timeText(m.time)) : null, raw);
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
  if (!text.cut) return [pre];
  const more = el("button", { type: "button", class: "more" }, "show all " + sizeText(text.size));
  more.addEventListener("click", async () => {
    more.disabled = true;
    try {
      pre.textContent = pick(await whole()).text;
      more.remove();
    } catch (failure) {
      more.disabled = false;
      more.textContent = failure.message;
    }
  });
  return [pre, more];
}

function callNode(call, whole, i) {
  const node = el("section", { class: "call" + (call.orphan ? " orphan" : ""), "aria-label": "call of " + call.name });
  node.append(el("header", {}, el("span", { class: "name" }, call.name || "no name"), el("span", { class: "id" }, call.id)));
  if (call.misplaced) node.firstChild.append(el("span", { class: "mark broken" }, "result out of place"));
  if (call.orphan) node.firstChild.append(el("span", { class: "mark damage" }, "orphan"));
  if (call.arguments.text) node.append(...shown(call.arguments, whole, (w) => w.calls[i].arguments));
  if (call.result) {
    const title = el("div", { class: "label" }, "result, #" + (call.result.n + 1));
    node.append(el("div", { class: "result" }, title, ...shown(call.result.body, whole, (w) => w.calls[i].result.body)));
  } else {
    node.append(el("p", { class: "none" }, "This call has no result."));
  }
  return node;
}

function loneResult(result, whole, i) {
  const head = el("header", {}, el("span", { class: "name" }, "result"), el("span", { class: "id" }, result.id), el("span", { class: "mark damage" }, "no call"));
  return el("section", { class: "call orphan", "aria-label": "result without a call" }, head, ...shown(result.body, whole, (w) => w.results[i].body));
}
