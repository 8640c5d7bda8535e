// A call of a tool with its result, or a result without a call. It is folded: the
// page holds its summary, and the rest from when it is opened.
import { el } from "./util.js";

export class Fold {
  // The fold is open when its name is in the set opened, which it keeps up.
  constructor(name, opened) {
    this.summary = el("summary");
    this.body = null; // from when it is opened
    this.node = el("details", { class: "call" }, this.summary);
    this.node.open = opened.has(name);
    this.node.addEventListener("toggle", () => {
      if (this.node.open) opened.add(name);
      else opened.delete(name);
      this.fill();
    });
  }

  // show shows a call or a result, of which inside makes the nodes.
  show(value, title, marks, inside) {
    const key = JSON.stringify(value);
    if (key === this.key) return; // what a reader opened in it stays
    this.key = key;
    this.inside = inside;
    this.summary.replaceChildren(...title, ...marks.filter(Boolean));
    this.body?.replaceChildren(...inside());
    this.fill();
  }

  fill() {
    if (!this.node.open || this.body) return;
    this.body = el("div", { class: "inside" }, ...this.inside());
    this.node.append(this.body);
  }

  open() {
    this.node.open = true;
    this.fill();
  }
}

const mark = (kind, text) => el("span", { class: "mark " + kind }, text);

const titleOf = (name, gist) => [el("span", { class: "name" }, name), " ", el("span", { class: "gist" }, gist ?? "")];

const ident = (id) => (id ? [el("p", { class: "id" }, id)] : []);

const fileMarks = (files) => (files ?? []).map((file) => mark("plain", file.label));

// showCall shows call i of a message; shown makes the nodes of a text, and result those of
// a result.
export function showCall(fold, call, gist, shown, result, i) {
  fold.node.classList.toggle("orphan", Boolean(call.orphan));
  const marks = [call.orphan && mark("damage", "no result"), call.misplaced && mark("broken", "result out of place"), ...fileMarks(call.result?.files)];
  fold.show(call, titleOf(call.name || "no name", gist), marks, () => {
    const nodes = ident(call.id);
    if (call.arguments.text) nodes.push(...shown(call.arguments, (w) => w.calls[i].arguments));
    if (!call.result) return [...nodes, el("p", { class: "none" }, "This call has no result.")];
    const label = el("p", { class: "label" }, "result, #" + (call.result.n + 1));
    return [...nodes, el("div", { class: "result" }, label, ...result(call.result, (w) => w.calls[i].result.body))];
  });
}

// showResult shows result i of a message, which no call shows.
export function showResult(fold, alone, gist, result, i) {
  fold.node.classList.add("orphan");
  fold.show(alone, titleOf("result", gist), [mark("damage", "no call"), ...fileMarks(alone.files)], () => [...ident(alone.id), ...result(alone, (w) => w.results[i].body)]);
}
