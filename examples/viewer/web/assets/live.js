// A stream of events that is closed while nobody looks, since a browser opens
// few connections to one server, and that goes on where it was.

// listen calls handlers[name](data) for the events of a stream. The result has
// onback, called when the stream is there again after it was lost, and onstate,
// called with whether it is connected.
export function listen(path, handlers) {
  const live = { onback: () => {}, onstate: () => {} };
  let source = null;
  let last = "";
  let lost = false;

  function open() {
    source = new EventSource(path + (last ? "?last=" + encodeURIComponent(last) : ""));
    source.onopen = () => {
      live.onstate(true);
      if (lost) live.onback();
      lost = false;
    };
    source.onerror = () => {
      live.onstate(false);
      lost = true;
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
    lost = true;
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
