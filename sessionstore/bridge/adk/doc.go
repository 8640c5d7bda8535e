// Package adk keeps the sessions of adk-go in session directories, which the tools can list,
// search, fork, rewind and send to other devices.
//
// A [Service] is a session.Service of google.golang.org/adk/v2:
//
//	r, err := runner.New(runner.Config{AppName: "weather", Agent: agent, SessionService: adk.New(projects)})
//
// Each pair of an app and a user is a project, and each event is a message: the text of its
// parts with the role user or assistant, and the whole event beside it. Messages that other
// tools add become events with their text. What a bridge to version 1 of adk-go stored is
// read.
//
// # The state of a session
//
// The state of a session is what its events say, after the state with which it was created.
// So an event and its state are one write, and a fork or a rewind has the state of its last
// turn. Keys that begin with app: and user: are in the metadata of sessions of a project of
// their own, which all sessions of the app share. Keys that begin with temp: are not stored.
//
// So that few events tell the state of a long session, each eighth event or so has the state
// before it beside it, with a cursor: the hash of all messages that this state is of. The
// state counts only while the session begins with exactly these messages. After a change by
// any tool to one of them, the state is computed from all events, until the next event is
// appended. A large state is kept less often, so that it at most doubles the session.
//
// # What is read
//
// A transcript of less than 1 MiB is read as a whole, once for each program. Of a larger one
// Get with NumRecentEvents or After reads the events that it returns, at least eight, and for
// After at most twice as many; see [sessionstore.Store.View]. List reads the summaries in
// the index; the state of a listed session is read when it is asked for.
package adk
