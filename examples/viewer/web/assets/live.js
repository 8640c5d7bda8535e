// A stream of events that is closed while nobody looks, since a browser opens
// few connections to one server, and that goes on where it was.

// listen calls handlers[name](data) for the events of a stream, of which "ready"
// is the first whenever it is connected: what changed before is not told. The
// result has onstate, called with whether it is connected.
export function listen(path, handlers) {
  const live = { onstate: () => {} };
  let source = null;
  let last = "";

  function open() {
    source = new EventSource(path + (last ? "?last=" + encodeURIComponent(last) : ""));
    source.onopen = () => live.onstate(true);
    source.onerror = () => {
      live.onstate(false);
      if (source?.readyState === EventSource.CLOSED) {
        close();
        setTimeout(() => !source && !document.hidden && open(), 2000);
      }
    };
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) last = event.lastEventId;
        handle(JSON.parse(event.data));
      });
    }
  }

  function close() {
    source?.close();
    source = null;
    live.onstate(false);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (!source) open();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", () => source || document.hidden || open());
  if (!document.hidden) open();
  return live;
}
