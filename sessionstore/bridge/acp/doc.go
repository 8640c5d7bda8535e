// Package acp serves sessions to the clients of the Agent Client Protocol, such as editors. An
// agent embeds [Sessions] and writes one method, Prompt; [Serve] does the rest: new, list,
// load, resume, close, fork and delete, permissions, cancellation, and what a kill leaves.
//
// A turn is one of package turn: the prompt is stored before Prompt is called, and an answer that
// streams survives a kill. README.md of this folder has the methods and what each does.
package acp
