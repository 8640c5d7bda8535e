// Package eino keeps the checkpoints of eino graphs and agents in a session
// directory, so that a run that was interrupted, as for the user's approval,
// goes on after a restart or on another device.
//
// CheckPoints is a compose.CheckPointStore and an adk.CheckPointStore:
//
//	graph.Compile(ctx, compose.WithCheckPointStore(eino.New(store, id)))
//
// A checkpoint is stored in the session's state.json, in base64, and is deleted with the
// session. eino decides on its content. If eino cannot read a checkpoint after an update
// of the program, resuming the run fails with an error.
//
// eino needs 64 bits, by way of github.com/bytedance/sonic, and that needs
// v1.15 or newer with Go 1.26; on 32 bits this package is empty.
package eino
