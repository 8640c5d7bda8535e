// A run of messages of the transcript.
import { ask, el, Failure, place } from "./util.js";
import { MessageView } from "./message.js";

export const size = 20; // messages in a chunk
const guess = 90; // height of a message that was not seen yet
const tallest = 8e6; // height of all of them, since browsers know no more than some 30 million
const linger = 40; // milliseconds near the window before a chunk is asked for

export class Chunk {
  constructor(list, from) {
    this.list = list;
    this.from = from;
    this.rows = null;
    this.views = new Map(); // of the messages, by number
    this.node = null; // null: the chunk is not in the page
    this.seen = 0; // its height when it was filled; 0: it was not
  }

  // height returns that of the chunk, or the one that it may have.
  height() {
    if (this.node && this.rows) this.seen = this.node.getBoundingClientRect().height;
    if (this.seen) return this.seen;
    const { total } = this.list;
    return Math.min(size, total - this.from) * Math.min(guess, tallest / total);
  }

  get near() {
    return this.node !== null;
  }

  // enter puts the chunk into the page, before a node, and asks for its messages
  // when it stays there.
  enter(before) {
    this.node = el("div", { class: "chunk" });
    this.rest();
    before.before(this.node);
    this.list.sizes.observe(this.node);
    setTimeout(() => this.near && !this.rows && this.load(), linger);
  }

  // leave takes the chunk out of the page.
  leave() {
    if (this.node.contains(document.activeElement)) this.list.box.focus({ preventScroll: true });
    this.height();
    this.list.sizes.unobserve(this.node);
    this.node.remove();
    this.node = this.rows = null;
    this.views.clear();
  }

  // rest gives a chunk without messages the height that it may have.
  rest() {
    if (this.node && !this.rows) this.node.style.height = this.height() + "px";
  }

  // forget takes what is known of messages for that of another transcript.
  forget() {
    this.views.clear();
  }

  async load() {
    const { api, tag } = this.list;
    try {
      const part = await ask(`${api}/messages?from=${this.from}&to=${this.from + size}&tag=${tag}`);
      if (this.node) this.fill(part.rows);
    } catch (failure) {
      if (failure instanceof Failure && failure.status === 409) return; // the stream tells what is new
      this.node?.replaceChildren(el("p", { class: "pending error-text" }, failure.message));
    }
  }

  fill(rows) {
    const focus = document.activeElement?.closest?.(".message");
    const n = focus && this.node.contains(focus) ? Number(focus.dataset.n) : null;
    this.rows = rows;
    this.node.style.height = "";
    const [views, nodes] = [new Map(), []];
    for (const m of rows) {
      const view = this.views.get(m.n) ?? new MessageView(this.list.api, m.n, this.list.style);
      view.update(m);
      views.set(m.n, view);
      if (m.starts) nodes.push(view.mark.node);
      if (!m.elsewhere) nodes.push(view.node);
    }
    this.views = views;
    place(this.node, nodes);
    if (n !== null && !this.node.contains(document.activeElement)) this.find(n)?.focus({ preventScroll: true });
    this.list.settle();
  }

  // row returns message n, if it is here.
  row(n) {
    return this.rows?.find((m) => m.n === n);
  }

  // view returns that of message n, if it is in the page.
  view(n) {
    return this.node && this.views.get(n);
  }

  // find returns the node that shows message n.
  find(n) {
    const all = [...(this.node?.querySelectorAll(".message") ?? [])];
    return all.findLast((node) => Number(node.dataset.n) <= n) ?? all[0]; // a result is shown with its call
  }
}
