// Package eino keeps the checkpoints of eino graphs and agents in a session
// directory, so that a run that was interrupted, as for the user's approval,
// goes on after a restart or on another device.
//
// [CheckPoints] is a compose.CheckPointStore and an adk.CheckPointStore:
//
//	graph.Compile(ctx, compose.WithCheckPointStore(eino.New(store, id)))
//
// A checkpoint stands in the session's state.json, in base64, and is deleted
// with the session. eino decides what is in it; what it cannot read after an
// update of the program is an error when the run is resumed.
package eino
