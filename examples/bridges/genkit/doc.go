// Package genkit keeps the state of Genkit sessions in session directories.
//
// A [Store] is a session.Store of github.com/firebase/genkit/go/core/x/session:
//
//	s, err := session.New(ctx, session.WithStore(genkit.New[State](store)))
//
// The id of a Genkit session is the id of a session here. The state is stored beside
// that session's transcript, as the value "genkit" of its state.json. So it is listed,
// copied to other devices and deleted with the session, and a program that writes the
// transcript too has both in one place.
package genkit
