// One event, read when it is opened.
import { ask, byID, el, Failure, sizeText } from "./util.js";

export class EventView {
  constructor(api, query, left) {
    this.api = api;
    this.query = query;
    this.left = left; // called when the view is closed by hand
    this.box = byID("event-view");
    this.open = false;
    this.at = "";
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.open || !byID("pane-events").contains(event.target)) return;
      event.preventDefault();
      event.stopPropagation();
      this.close();
      this.left();
    }, true);
  }

  close() {
    this.open = false;
    this.at = "";
    this.box.hidden = true;
  }

  // showMessage puts a link to the message to which an event belongs, if there is one,
  // behind a node.
  async showMessage(node, line) {
    const { message } = await ask(`${this.api}/event/message?${this.query()}&line=${line}`);
    if (message === null) return;
    node.after(el("a", { href: "#" + (message + 1), title: "Go to the message of this event" }, "message #" + (message + 1)));
  }

  async show(row) {
    if (this.at === row.at) return;
    this.open = true;
    this.at = row.at;
    this.box.hidden = false;
    const address = `${this.api}/event?${this.query()}&at=${row.at}`;
    const close = el("button", { type: "button", "aria-label": "Close event" }, "×");
    close.addEventListener("click", () => {
      this.close();
      this.left();
    });
    const note = el("span", {}, sizeText(row.size));
    const text = el("pre", { tabindex: "0" }, "Loading…");
    const download = el("a", { href: address + "&download", download: "" }, "download");
    this.box.replaceChildren(el("header", {}, el("strong", {}, row.event || "no name"), note, el("span", { class: "space" }), download, close), text);
    if (row.line) this.showMessage(note, row.line).catch(() => {}); // the event shows without it
    try {
      const answer = await fetch(address);
      const body = await answer.text();
      if (this.at !== row.at) return;
      if (!answer.ok) throw new Failure(answer.status, JSON.parse(body).error);
      text.textContent = body;
      const shown = Number(answer.headers.get("X-Event-Shown"));
      if (shown < row.size) note.textContent = `the first ${sizeText(shown)} of ${sizeText(row.size)}`;
    } catch (failure) {
      text.textContent = failure.message;
    }
  }
}
