// The transcript, of any length. In the page are the chunks of messages that are
// in sight or near it, and a space for those before and for those behind them.
// The heights of messages change: when a chunk is filled, an image comes, a fold is
// opened, a window gets narrower. What the reader looks at keeps its place then. The
// page does that itself, since not every browser does, and none does after a jump.
import { ask, byID, el, plural, typing } from "./util.js";
import { Find } from "./find.js";
import { Fresh } from "./fresh.js";
import { Chunk, size } from "./chunk.js";

const margin = 1200; // height above the window, and below it, that is filled

export class Transcript {
  constructor(api) {
    this.api = api;
    this.box = byID("messages");
    this.before = el("div", { class: "unseen" });
    this.behind = el("div", { class: "unseen" });
    this.chunks = [];
    this.total = 0;
    this.turns = 0;
    this.tag = "";
    this.shown = false;
    this.following = true; // the end was in sight when the reader scrolled last
    this.aim = null; // the number of the message of a jump, until the reader scrolls
    this.anchor = null; // else what was at the top of the window, and where
    this.y = 0; // where the box was scrolled to last
    this.style = { raw: localStorage.getItem("raw") === "1", opened: new Set() };
    startSwitch(this.style, () => this.chunks.forEach((chunk) => chunk.rows && chunk.fill(chunk.rows)));
    this.find = new Find(api, (hit, text) => this.showFound(hit, text));
    this.fresh = new Fresh(() => this.toEnd());
    this.sizes = new ResizeObserver(() => this.settle()); // of the box and of chunks
    this.sizes.observe(this.box);
    this.box.addEventListener("scroll", () => this.scrolled());
    for (const input of ["wheel", "touchmove", "pointerdown", "keydown"]) this.box.addEventListener(input, () => this.leaveAim(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    byID("to-top").addEventListener("click", () => this.goTo(0));
    byID("to-end").addEventListener("click", () => this.toEnd());
    byID("turn").addEventListener("change", (event) => this.toTurn(Number(event.target.value)));
  }

  // show loads the transcript when it is looked at for the first time. It goes to message
  // asked, if there is one.
  show(asked = NaN) {
    if (!this.shown) {
      this.shown = true;
      this.load(() => (asked < this.total ? asked : this.turns ? this.start(this.turns) : this.total - 1)).then(() => this.mark(asked));
    } else if (asked < this.total) {
      this.jump(asked).then(() => this.mark(asked));
    } else {
      this.hold();
    }
  }

  // load reads how long the transcript is, and the messages around the one that
  // target returns.
  async load(target) {
    this.loading = ask(this.api + "/messages?from=0&to=0")
      .then(async (all) => {
        this.resize(all);
        await this.jump(await target(), false);
      })
      .catch((failure) => this.box.replaceChildren(el("p", { class: "pending error-text" }, failure.message)));
    return this.loading;
  }

  // start returns the number of the message that begins a turn.
  async start(turn) {
    return (await ask(`${this.api}/turns/${turn}?tag=${this.tag}`)).message;
  }

  // sync loads again what changed before the stream began.
  async sync(tag) {
    await this.loading;
    if (this.shown && tag !== this.tag) this.reload();
  }

  reload() {
    const [first, following] = [this.first(), this.following];
    for (const chunk of this.chunks) if (chunk.near) chunk.leave();
    this.chunks = [];
    return this.load(() => (following ? this.total - 1 : Math.min(first, this.total - 1)));
  }

  // resize makes as many chunks as there are messages for.
  resize({ total, turns, tag }) {
    this.tag = tag;
    this.total = total;
    this.turns = byID("turn").max = turns;
    byID("message-count").textContent = plural(total, "message", "messages");
    const want = Math.ceil(total / size);
    while (this.chunks.length > want) {
      const chunk = this.chunks.pop();
      if (chunk.near) chunk.leave();
    }
    this.chunks.at(-1)?.rest(); // it has grown
    while (this.chunks.length < want) this.chunks.push(new Chunk(this, this.chunks.length * size));
    if (!total) this.box.replaceChildren(el("p", { class: "pending" }, "No messages."));
    else if (!this.before.isConnected) this.box.replaceChildren(this.before, this.behind);
    this.arrange();
  }

  // arrange puts into the page what is in sight or near it, and nothing else.
  arrange() {
    if (!this.box.clientHeight || !this.before.isConnected) return; // another view is shown: this one stays as it is
    const [top, end] = [this.box.scrollTop - margin, this.box.scrollTop + this.box.clientHeight + margin];
    const near = [];
    let [y, before, behind] = [0, 0, 0];
    for (const chunk of this.chunks) {
      const height = chunk.height();
      if (y + height <= top) before += height;
      else if (y >= end) behind += height;
      else near.push(chunk);
      y += height;
    }
    for (const chunk of this.chunks) if (chunk.near && !near.includes(chunk)) chunk.leave();
    let next = this.behind;
    for (const chunk of near.reverse()) {
      if (!chunk.near) chunk.enter(next);
      next = chunk.node;
    }
    this.before.style.height = before + "px";
    this.behind.style.height = behind + "px";
  }

  // top returns where the window on the messages begins.
  top() {
    return this.box.getBoundingClientRect().top + this.box.clientTop;
  }

  // first returns the number of the first message in sight.
  first() {
    const top = this.top();
    const node = [...this.box.querySelectorAll(".message")].find((m) => m.getBoundingClientRect().bottom > top);
    return Number(node?.dataset.n ?? 0);
  }

  scrollTo(y) {
    this.box.scrollTop = y;
    this.y = this.box.scrollTop;
  }

  // settle keeps the reader's place after heights have changed, and fills what came near.
  settle() {
    this.hold();
    this.arrange();
  }

  // hold scrolls to what the reader looks at: the message of a jump, the end, or what was
  // at the top of the window.
  hold() {
    if (!this.box.clientHeight) return; // another view is shown
    let { node, off } = this.anchor ?? {};
    if (this.aim !== null) [node, off] = [this.markOf(this.aim), 0];
    else if (this.following) return this.scrollTo(this.box.scrollHeight);
    else if (Math.abs(this.box.scrollTop - this.y) > 1) return this.note(); // the reader scrolls
    if (!node?.isConnected) return;
    const by = node.getBoundingClientRect().top - this.top() - off;
    if (Math.abs(by) >= 1) this.scrollTo(this.box.scrollTop + by);
  }

  // note takes what is at the top of the window for what the reader looks at.
  note() {
    const top = this.top();
    const seen = (node) => node.getBoundingClientRect().bottom > top;
    const chunk = this.chunks.find((c) => c.near && seen(c.node))?.node;
    const node = chunk && ([...chunk.children].find(seen) ?? chunk);
    this.anchor = node && { node, off: node.getBoundingClientRect().top - top };
    this.y = this.box.scrollTop;
  }

  leaveAim() {
    if (this.aim === null) return;
    this.aim = null;
    this.note();
  }

  scrolled() {
    if (!this.box.clientHeight) return; // another view is shown
    this.following = this.atEnd();
    if (this.following) this.fresh.seen();
    else if (Math.abs(this.box.scrollTop - this.y) > 1) this.aim = null; // and no jump scrolled
    this.note();
    this.arrange();
  }

  // told takes a change that the stream tells.
  async told({ tag, total, turns, from, rows }) {
    if (!this.shown) return;
    await this.loading;
    const [follow, old] = [this.following, this.total];
    this.resize({ total, turns, tag });
    this.find.stale();
    if (!from) this.forget(); // maybe another transcript
    const first = this.chunks[Math.floor(from / size)];
    const whole = from + rows.length === total && first === this.chunks.at(-1);
    if (whole && first?.rows && first.from + first.rows.length >= from) {
      first.fill([...first.rows.slice(0, from - first.from), ...rows]);
    } else {
      await Promise.all(this.chunks.filter((c) => c.from + size > from && c.near).map((c) => c.load()));
    }
    if (follow) this.follow();
    else if (from && total > old) this.fresh.add(total - old - rows.filter((m) => m.n >= old && m.elsewhere).length);
    else this.fresh.seen();
  }

  // viewOf returns what shows message n, if it is in the page.
  viewOf(n) {
    return this.chunks[Math.floor(n / size)]?.view(n);
  }

  // forget takes all that is known of messages for that of another transcript.
  forget() {
    this.style.opened.clear();
    this.chunks.forEach((chunk) => chunk.forget());
  }

  atEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 80;
  }

  // bring puts a chunk into the page, filled, and scrolls to where it may be.
  async bring(chunk) {
    if (!chunk.near) {
      let y = 0;
      for (const c of this.chunks.slice(0, this.chunks.indexOf(chunk))) y += c.height();
      this.scrollTo(y);
      this.arrange();
    }
    if (!chunk.rows) await chunk.load();
  }

  // jump brings a message to the top, and gives it the focus.
  async jump(n, focus = true) {
    const chunk = this.chunks[Math.floor(n / size)];
    if (!chunk) return;
    this.aim = n;
    await this.bring(chunk);
    if (this.aim !== n) return; // the reader, or another jump, went on
    this.settle();
    this.following = this.atEnd();
    if (focus) chunk.find(n)?.focus({ preventScroll: true });
  }

  // markOf returns the node of a message, or the mark of the turn that it begins.
  markOf(n) {
    const node = this.chunks[Math.floor(n / size)]?.find(n);
    return node?.previousElementSibling?.matches(".turn-mark") ? node.previousElementSibling : node;
  }

  // showFound brings a message in which a text was found to the top and marks it. The
  // field keeps the focus.
  async showFound({ n, folds = [] }, text) {
    await this.jump(n, false);
    this.mark(n);
    this.viewOf(n)?.reveal(folds, text)?.node.scrollIntoView({ block: "nearest" });
  }

  mark(n) {
    this.style.found = n; // for a chunk that is filled again
    for (const node of this.box.querySelectorAll(".found")) node.classList.remove("found");
    this.box.querySelector(`[data-n="${n}"]`)?.classList.add("found");
  }

  async toEnd() {
    const chunk = this.chunks.at(-1);
    if (!chunk) return;
    history.replaceState(null, "", "#transcript");
    this.follow();
    await this.bring(chunk);
    this.follow();
    [...(chunk.node?.querySelectorAll(".message") ?? [])].at(-1)?.focus({ preventScroll: true });
  }

  // follow goes to the end and stays there.
  follow() {
    this.aim = null;
    this.following = true; // also when another view is shown before the scrolling is told
    this.settle();
  }

  async toTurn(turn) {
    if (turn < 1 || turn > this.turns) return;
    const n = await this.start(turn).catch(() => null); // the stream tells what is new
    if (n !== null) await this.goTo(n);
  }

  // goTo goes to a message. A reload of the page comes back to it.
  goTo(n) {
    history.replaceState(null, "", "#" + (n + 1));
    return this.jump(n);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    const turn = { "]": 1, "[": -1 }[event.key];
    if (step) this.step(step);
    else if (turn) this.stepTurn(turn);
    else if (event.key === "Home") this.goTo(0);
    else if (event.key === "End") this.toEnd();
    else if (event.key === "Enter" && event.target.matches(".message")) this.viewOf(Number(event.target.dataset.n))?.toggle();
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
    const n = Number(document.activeElement?.dataset?.n ?? -1);
    const now = this.chunks[Math.floor(n / size)]?.row(n) ?? { turn: 0 };
    this.toTurn(step > 0 ? now.turn + 1 : now.starts ? now.turn - 1 : now.turn);
  }
}

// startSwitch starts the button that chooses between rendered and raw texts.
function startSwitch(style, changed) {
  const button = byID("raw");
  button.setAttribute("aria-pressed", style.raw);
  button.addEventListener("click", () => {
    style.raw = !style.raw;
    localStorage.setItem("raw", style.raw ? "1" : "0");
    button.setAttribute("aria-pressed", style.raw);
    changed();
  });
}
