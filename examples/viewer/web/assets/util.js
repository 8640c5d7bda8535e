// Text from a session reaches the page through textContent alone, but for the
// Markdown that the server renders and sanitises.

// el makes an element: el("span", {class: "x", title: "y"}, "text", child).
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byID = (id) => document.getElementById(id);

// Failure is an answer that tells what is wrong.
export class Failure extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// ask returns the JSON that an address answers with.
export async function ask(path, options) {
  const answer = await fetch(path, options);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Failure(answer.status, value.error || answer.statusText);
  return value;
}

// fileNode shows an image that a message holds, and any other file by its name and size.
// The image takes its place before it is there.
export function fileNode(api, file) {
  if (!file.image) return el("p", { class: "file" }, file.label);
  const [src, scale] = [`${api}/messages/${file.n}/files/${file.i}`, Math.min(1, 480 / file.height)];
  const size = { width: Math.max(1, Math.round(file.width * scale)), height: Math.max(1, Math.round(file.height * scale)) };
  const alt = [file.name, file.label].filter(Boolean).join(", ");
  return el("p", { class: "file" }, el("a", { href: src, target: "_blank", rel: "noopener", title: alt }, el("img", { src, alt, loading: "lazy", decoding: "async", ...size })));
}

const units = ["bytes", "KB", "MB", "GB"];

export function sizeText(n) {
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return (unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + " " + units[unit];
}

const two = (n) => String(n).padStart(2, "0");

// timeText returns a time on the clock of this machine; brief leaves out the year.
export function timeText(text, brief) {
  const at = new Date(text);
  if (isNaN(at)) return text;
  const day = two(at.getMonth() + 1) + "-" + two(at.getDate());
  return (brief ? day : at.getFullYear() + "-" + day) + " " + [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
}

export const classOf = (status) => status.replace(/[^a-z_]/g, "-");

export const plural = (n, one, many) => n + " " + (n === 1 ? one : many);

// typing reports whether keys go to a field.
export const typing = (target) => target.matches?.("input, select, textarea");

// later returns a function that runs do once, some time after it was called,
// however often that was.
export function later(wait, act) {
  let waiting = 0;
  return () => {
    if (!waiting) {
      waiting = setTimeout(() => {
        waiting = 0;
        act();
      }, wait);
    }
  };
}

// handOver removes a button. What it showed gets the focus that the button had:
// a button that is disabled has lost it to nothing.
export function handOver(button, shown) {
  const had = document.activeElement === button || document.activeElement === document.body;
  button.remove();
  if (!had) return;
  shown.tabIndex = -1;
  shown.focus({ preventScroll: true });
}

// place makes nodes the children of a box. It touches none that is in its place
// already: a click is lost when its node is taken out between press and release.
export function place(box, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...box.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, i) => {
    if (box.childNodes[i] !== node) box.insertBefore(node, box.childNodes[i] ?? null);
  });
}

// morph makes an element like another one and keeps the nodes that both have:
// children of the same data-id, or of the same kind at the same place.
// What has data-own is left alone.
function morph(old, now) {
  if (old.hasAttribute("data-own") || old.isEqualNode(now)) return;
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const id = (node) => node?.dataset?.id;
  const named = new Map([...old.children].map((child) => [id(child), child]));
  const before = [...old.childNodes];
  place(old, [...now.childNodes].map((child, i) => {
    const like = id(child) ? named.get(id(child)) : before[i];
    if (!like || like.nodeName !== child.nodeName || id(like) !== id(child)) return child;
    if (child instanceof Element) morph(like, child);
    else if (like.data !== child.data) like.data = child.data;
    return like;
  }));
}

// renew makes parts of this page like those of the page as it is now.
export async function renew(...ids) {
  const answer = await fetch(location.pathname + location.search);
  if (!answer.ok) throw new Failure(answer.status, answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ids) {
    const [now, old] = [page.getElementById(id), byID(id)];
    if (now && old) morph(old, now);
  }
  return page;
}

// fill puts rendered Markdown into a box. Its headings are below that of the page.
export function fill(box, html) {
  box.innerHTML = html;
  for (const heading of box.querySelectorAll("h1, h2, h3, h4, h5, h6")) heading.ariaLevel = "2";
}
