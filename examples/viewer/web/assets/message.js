// A message of the transcript, with the results of the tools that it calls.
import { TurnMark } from "./fork.js";
import { ask, classOf, el, handOver, place, sizeText, timeText } from "./util.js";

// MessageView shows a message. The nodes of what stays as it was stay too.
export class MessageView {
  constructor(api, n, style) {
    this.style = style; // raw: show texts as they are stored; found: the number of the message to mark
    this.api = api;
    this.parts = new Map(); // nodes by what they show
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
  return withRest(pre, text, async () => (pre.textContent = pick(await whole()).text));
}

// rendered returns a text that the server has rendered and sanitised.
function rendered(m, whole) {
  const box = el("div", { class: "body markdown" });
  box.innerHTML = m.html;
  return withRest(box, m.body, async () => {
    const all = await whole();
    if (all.html) box.innerHTML = all.html;
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
