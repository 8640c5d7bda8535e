// Package telemetry reports the calls of stores and their copying to OpenTelemetry, as
// spans and metrics. It is a module of its own, so that programs that do not use it need
// not have OpenTelemetry.
//
//	t, err := telemetry.New(tracerProvider, meterProvider)
//	store, err := hybrid.Open(ctx, dir, t.Hybrid(&hybrid.Options{…}))
//	…
//	err = errors.Join(store.Close(), t.Close())
//
// One [Telemetry] may serve many stores of a process.
//
// # Spans
//
// Each call of a store that lists, reads or writes becomes a span
// "sessionstorage <op>", and each sync of a session a span
// "sessionstorage sync" or "sessionstorage pull" with the attributes state,
// segments, bytes, requests and request_units. They are children of the span in
// the caller's context; syncs in the background have no parent. The attribute
// session is the session's id.
//
// # Metrics
//
//	sessionstorage.store.duration      s       histogram by op and error: calls
//	sessionstorage.store.written       By      counter: bytes written to files
//	sessionstorage.store.syncs         {sync}  counter: files and directories synced
//	sessionstorage.store.recoveries    {file}  counter: loads that read a backup
//	sessionstorage.sync.duration       s       histogram by state and error: syncs of sessions
//	sessionstorage.sync.sent           By      counter: bytes of documents sent
//	sessionstorage.sync.segments       {document}  counter: segments stored
//	sessionstorage.sync.requests       {request}   counter by http.response.status_code
//	sessionstorage.sync.request_units  {RU}    counter
//	sessionstorage.sync.backlog        {session}   gauge by state: sessions that are not in step
//
// The attribute error is true or false. The backlog counts sessions by their state after
// the last sync: those that are Pending, Deferred, Blocked, Behind or Diverged, and those
// whose last sync failed.
//
// No span or metric holds content of messages: errors have none, and names of sessions
// are not reported.
package telemetry
