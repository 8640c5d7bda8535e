// Package adk keeps the sessions of adk-go in session directories, which the tools can list,
// search, fork, rewind and send to other devices.
//
// A [Service] is a session.Service of google.golang.org/adk:
//
//	r, err := runner.New(runner.Config{AppName: "weather", Agent: agent, SessionService: adk.New(projects)})
//
// Each pair of an app and a user is a project, and each event is a message: the text of its
// parts with the role user or assistant, and the whole event beside it. Messages that other
// tools add become events with their text.
//
// The state of a session is what its events say, after the state with which it was created.
// So an event and its state are one write, and a fork or a rewind has the state of its last
// turn. Keys that begin with app: and user: are in the metadata of sessions of a project of
// their own, which all sessions of the app share. Keys that begin with temp: are not stored.
package adk
