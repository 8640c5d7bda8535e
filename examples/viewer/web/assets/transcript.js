// The transcript, of any length: chunks of messages are filled when they come
// into sight and emptied when they are far away.
import { ask, byID, el, Failure, place, plural, typing } from "./util.js";
import { MessageView } from "./message.js";

const size = 100; // messages in a chunk
const guess = 90; // height of a message that was not seen yet
const linger = 40; // milliseconds in sight before a chunk is asked for

export class Transcript {
  constructor(api) {
    this.api = api;
    this.box = byID("messages");
    this.chunks = [];
    this.starts = [];
    this.total = 0;
    this.tag = "";
    this.shown = false;
    this.observer = new IntersectionObserver((entries) => this.sight(entries), { root: this.box, rootMargin: "1200px 0px" });
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    byID("to-top").addEventListener("click", () => this.jump(0));
    byID("to-end").addEventListener("click", () => this.toEnd());
    byID("turn").addEventListener("change", (event) => this.toTurn(Number(event.target.value)));
  }

  // show loads the transcript when it is looked at for the first time.
  show() {
    if (this.shown) return;
    this.shown = true;
    this.load();
  }

  async load() {
    this.loading = ask(this.api + "/messages?from=0&to=" + size + "&turns=1")
      .then((first) => {
        this.resize(first.total, first.tag);
        this.starts = first.starts ?? [];
        byID("turn").max = this.starts.length;
        if (first.total) this.chunks[0].fill(first.rows);
      })
      .catch((failure) => this.box.replaceChildren(el("p", { class: "pending error-text" }, failure.message)));
    return this.loading;
  }

  // sync loads again what changed before the stream began.
  async sync(tag) {
    await this.loading;
    if (this.shown && tag !== this.tag) this.reload();
  }

  reload() {
    for (const chunk of this.chunks) chunk.remove();
    this.chunks = [];
    return this.load();
  }

  // resize makes as many chunks as there are messages for.
  resize(total, tag) {
    this.tag = tag;
    this.total = total;
    byID("message-count").textContent = plural(total, "message", "messages");
    const want = Math.ceil(total / size);
    while (this.chunks.length > want) this.chunks.pop().remove();
    if (!this.chunks.length) this.box.replaceChildren();
    this.chunks.at(-1)?.rest(); // it has grown
    while (this.chunks.length < want) {
      const chunk = new Chunk(this, this.chunks.length * size);
      this.chunks.push(chunk);
      this.box.append(chunk.node);
      chunk.rest();
      this.observer.observe(chunk.node);
    }
    if (!total) this.box.replaceChildren(el("p", { class: "pending" }, "No messages."));
  }

  // told takes a change that the stream tells.
  async told({ tag, total, turns, from, rows }) {
    if (!this.shown) return;
    await this.loading;
    const follow = this.atEnd();
    this.resize(total, tag);
    if (!from) this.chunks.forEach((chunk) => chunk.views.clear()); // maybe another transcript
    const first = this.chunks[Math.floor(from / size)];
    const whole = from + rows.length === total && first === this.chunks.at(-1);
    if (whole && first?.rows && first.from + first.rows.length >= from) {
      first.fill([...first.rows.slice(0, from - first.from), ...rows]);
    } else {
      await Promise.all(this.chunks.filter((c) => c.from + size > from && c.near).map((c) => c.load()));
    }
    if (turns !== this.starts.length) this.starts = (await ask(this.api + "/messages?from=0&to=0&turns=1")).starts ?? [];
    byID("turn").max = this.starts.length;
    if (follow) this.box.scrollTop = this.box.scrollHeight;
  }

  atEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 80;
  }

  sight(entries) {
    for (const entry of entries) {
      const chunk = this.chunks.find((c) => c.node === entry.target);
      if (!chunk) continue;
      chunk.near = entry.isIntersecting;
      if (!chunk.near) chunk.empty();
      else if (!chunk.rows) setTimeout(() => chunk.near && !chunk.rows && chunk.load(), linger);
    }
  }

  // jump brings a message to the top.
  async jump(n) {
    const chunk = this.chunks[Math.floor(n / size)];
    if (!chunk) return;
    chunk.near = true;
    if (!chunk.rows) await chunk.load();
    const node = chunk.find(n);
    (node?.previousElementSibling?.matches(".turn-mark") ? node.previousElementSibling : node)?.scrollIntoView({ block: "start" });
    node?.focus({ preventScroll: true });
  }

  async toEnd() {
    const chunk = this.chunks.at(-1);
    if (!chunk) return;
    chunk.near = true;
    if (!chunk.rows) await chunk.load();
    this.box.scrollTop = this.box.scrollHeight;
    [...chunk.node.querySelectorAll(".message")].at(-1)?.focus({ preventScroll: true });
    requestAnimationFrame(() => (this.box.scrollTop = this.box.scrollHeight));
  }

  toTurn(turn) {
    if (turn >= 1 && turn <= this.starts.length) this.jump(this.starts[turn - 1]);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    const turn = { "]": 1, "[": -1 }[event.key];
    if (step) this.step(step);
    else if (turn) this.stepTurn(turn);
    else if (event.key === "Home") this.jump(0);
    else if (event.key === "End") this.toEnd();
    else if (event.key === "Enter" && event.target.matches(".message")) event.target.querySelectorAll(".more").forEach((b) => b.click());
    else return;
    event.preventDefault();
  }

  step(step) {
    const all = [...this.box.querySelectorAll(".message")];
    let at = all.indexOf(document.activeElement);
    if (at < 0) {
      const top = this.box.getBoundingClientRect().top;
      at = all.findIndex((node) => node.getBoundingClientRect().bottom > top + 10) - (step > 0 ? 1 : 0);
    }
    const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }

  stepTurn(step) {
    const now = Number(document.activeElement?.dataset?.n ?? -1);
    const next = step > 0 ? this.starts.find((n) => n > now) : this.starts.findLast((n) => n < now);
    if (next !== undefined) this.jump(next);
  }
}

class Chunk {
  constructor(list, from) {
    this.list = list;
    this.from = from;
    this.rows = null;
    this.views = new Map(); // of the messages, by number
    this.near = false;
    this.seen = false;
    this.node = el("div", { class: "chunk" });
  }

  // rest gives a chunk that was not seen yet the height that it may have.
  rest() {
    if (!this.rows && !this.seen) this.node.style.height = Math.min(size, this.list.total - this.from) * guess + "px";
  }

  remove() {
    this.list.observer.unobserve(this.node);
    this.node.remove();
  }

  async load() {
    const { api, tag } = this.list;
    try {
      const part = await ask(`${api}/messages?from=${this.from}&to=${this.from + size}&tag=${tag}`);
      if (this.near) this.fill(part.rows); // it may be out of sight again
    } catch (failure) {
      if (failure instanceof Failure && failure.status === 409) return; // the stream tells what is new
      this.node.replaceChildren(el("p", { class: "pending error-text" }, failure.message));
    }
  }

  fill(rows) {
    const focus = document.activeElement?.closest?.(".message");
    const n = focus && this.node.contains(focus) ? Number(focus.dataset.n) : null;
    this.rows = rows;
    this.seen = true;
    this.node.style.height = "";
    const [views, nodes] = [new Map(), []];
    for (const m of rows) {
      const view = this.views.get(m.n) ?? new MessageView(this.list.api, m.n);
      view.update(m);
      views.set(m.n, view);
      if (m.starts) nodes.push(view.mark);
      if (!m.elsewhere) nodes.push(view.node);
    }
    this.views = views;
    place(this.node, nodes);
    if (n !== null && !this.node.contains(document.activeElement)) this.find(n)?.focus({ preventScroll: true });
  }

  empty() {
    if (!this.rows || this.node.contains(document.activeElement)) return;
    this.node.style.height = this.node.offsetHeight + "px";
    this.node.replaceChildren();
    this.views.clear();
    this.rows = null;
  }

  find(n) {
    return this.node.querySelector(`[data-n="${n}"]`) ?? this.node.querySelector(".message");
  }
}
