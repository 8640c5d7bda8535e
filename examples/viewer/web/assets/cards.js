// The cards of the phases. A prompt is asked for when its card is opened.
import { ask, byID, classOf, el, fill, handOver, place, sizeText } from "./util.js";

export class Cards {
  constructor(api) {
    this.api = api;
    this.box = byID("cards");
    this.heading = byID("phase-count");
    this.cards = new Map(); // by id of the phase
    this.read = 0;
    this.loading = null;
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.load();
  }

  show() {}

  load() {
    this.loading ??= ask(this.api + "/phases")
      .then((all) => this.replace(all))
      .catch((failure) => this.box.replaceChildren(el("p", { class: "error-text" }, failure.message)))
      .finally(() => (this.loading = null));
    return this.loading;
  }

  // sync reads again what changed before the stream began.
  async sync(read) {
    await this.loading;
    if (read !== this.read) this.load();
  }

  replace({ records, read }) {
    this.read = read;
    const old = this.cards;
    this.cards = new Map();
    for (const record of records) {
      const card = old.get(record.phase_id) ?? new Card(this.api);
      card.update(record);
      this.cards.set(record.phase_id, card);
    }
    place(this.box, [...this.cards.values()].map((card) => card.node));
    this.count();
  }

  // put shows a record that is new or changed.
  put(record) {
    let card = this.cards.get(record.phase_id);
    if (!card) {
      card = new Card(this.api);
      this.cards.set(record.phase_id, card);
      this.box.append(card.node);
      this.count();
    }
    card.update(record);
    card.node.classList.remove("fresh");
    requestAnimationFrame(() => card.node.classList.add("fresh"));
  }

  count() {
    this.heading.textContent = "Phase Outputs (" + this.cards.size + ")";
  }

  onKey(event) {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    const card = event.target.closest?.(".prompt-view-card");
    if (!step || !card || !event.target.matches(".prompt-header button")) return;
    const next = step > 0 ? card.nextElementSibling : card.previousElementSibling;
    next?.querySelector(".prompt-header button").focus();
    event.preventDefault();
  }
}

class Card {
  constructor(api) {
    this.api = api;
    this.open = false;
    this.name = el("span", { class: "phase-name" });
    this.status = el("span", { class: "status" });
    this.chevron = el("span", { class: "chevron", "aria-hidden": "true" }, "▶");
    this.button = el("button", { type: "button", "aria-expanded": "false" }, this.name, this.status, this.chevron);
    this.button.addEventListener("click", () => this.toggle());
    this.prompts = el("div", { hidden: true });
    this.output = section("output-section", "Output", "div");
    this.error = section("error-section", "Error", "pre");
    this.error.text.className = "error";
    this.node = el("article", { class: "prompt-view-card" }, el("header", { class: "prompt-header" }, this.button), this.prompts, this.output.node, this.error.node);
  }

  update(record) {
    const changed = this.record && this.record.updated_at !== record.updated_at;
    this.record = record;
    this.node.dataset.id = record.id;
    this.name.textContent = record.phase_name || record.phase_id;
    this.status.textContent = record.status;
    this.status.className = "status status-" + classOf(record.status);
    this.showText(this.output, record.output, record.output_size, record.html);
    this.showText(this.error, record.error, 0);
    if (changed && this.open) this.fetchPrompts();
  }

  showText(part, text, size, html) {
    part.node.hidden = !text;
    if (!text || part.whole === size + text) return;
    part.whole = size + text;
    write(part.text, text, html);
    part.more.replaceChildren();
    const shown = new TextEncoder().encode(text).length;
    if (size > shown) {
      const more = el("button", { type: "button", class: "more" }, "show all " + sizeText(size));
      more.addEventListener("click", async () => {
        more.disabled = true;
        try {
          const whole = await this.fetchRecord();
          write(part.text, whole.output, whole.html);
          handOver(more, part.text);
        } catch (failure) {
          more.textContent = failure.message;
        }
      });
      part.more.append(more);
    }
  }

  fetchRecord() {
    return ask(this.api + "/phases/" + this.record.id);
  }

  toggle() {
    this.open = !this.open;
    this.button.setAttribute("aria-expanded", this.open);
    this.chevron.textContent = this.open ? "▼" : "▶";
    this.prompts.hidden = !this.open;
    this.prompts.replaceChildren();
    if (this.open) this.fetchPrompts();
  }

  async fetchPrompts() {
    if (!this.record.has_prompts) {
      this.prompts.replaceChildren(el("p", { class: "prompt-note" }, "No prompts were kept for this phase."));
      return;
    }
    if (!this.prompts.childElementCount) this.prompts.append(el("p", { class: "prompt-note" }, "Loading…"));
    try {
      const whole = await this.fetchRecord();
      if (!this.open) return;
      const content = el("div", { class: "prompt-content" });
      if (whole.system_prompt) content.append(prompt("system-prompt", "System Prompt", whole.system_prompt));
      if (whole.user_input) content.append(prompt("user-input", "User Input", whole.user_input));
      this.prompts.replaceChildren(content);
    } catch (failure) {
      this.prompts.replaceChildren(el("p", { class: "prompt-note error-text" }, failure.message));
    }
  }
}

// write shows a text, or the Markdown that the server rendered and sanitised.
function write(box, text, html) {
  box.classList.toggle("markdown", Boolean(html));
  if (html) fill(box, html);
  else if (box.tagName === "PRE") box.textContent = text;
  else box.replaceChildren(el("pre", {}, text));
}

function section(name, title, kind) {
  const [text, more] = [el(kind), el("div")];
  return { node: el("div", { class: name, hidden: true }, el("h4", { "aria-level": "3" }, title), text, more), text, more };
}

const prompt = (name, title, text) => el("div", { class: name }, el("h4", { "aria-level": "3" }, title), el("pre", { tabindex: "0" }, text));
