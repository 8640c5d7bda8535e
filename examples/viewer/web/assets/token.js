// The token that a request needs that changes something. The server leads the
// address that the program printed to one with the token behind the #, which no
// browser sends. It is kept for this address.
const name = "token";

// takeToken keeps the token of the address, and takes it out of there.
export function takeToken() {
  const found = /^#token=(\w+)$/.exec(location.hash);
  if (!found) return;
  localStorage.setItem(name, found[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

export const tokenHeader = () => ({ "X-Viewer-Token": localStorage.getItem(name) ?? "" });
