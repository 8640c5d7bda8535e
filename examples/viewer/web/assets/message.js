// A message of the transcript, with the results of the tools that it calls.
import { ask, classOf, el, sizeText, timeText } from "./util.js";

export function messageNode(api, m) {
  const node = el("article", { class: "message " + classOf(m.role) + (m.injected ? " injected" : ""), tabindex: "-1", "data-n": m.n });
  const raw = el("a", { class: "line", href: `${api}/messages/${m.n}/line`, target: "_blank", rel: "noopener", title: "the line as it is stored" }, "#" + (m.n + 1));
  node.append(el("header", {}, el("span", { class: "role" }, m.role || "no role"), m.injected ? el("span", {}, "written by a tool") : null, m.time ? el("time", { datetime: m.time }, timeText(m.time)) : null, raw));
  const whole = once(() => ask(`${api}/messages/${m.n}`));
  if (m.thinking) node.append(el("div", { class: "thinking" }, ...shown(m.thinking, whole, (w) => w.thinking)));
  if (m.body) node.append(el("div", {}, ...shown(m.body, whole, (w) => w.body, "body")));
  (m.calls ?? []).forEach((call, i) => node.append(callNode(call, whole, i)));
  (m.results ?? []).forEach((result, i) => node.append(loneResult(result, whole, i)));
  return node;
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
