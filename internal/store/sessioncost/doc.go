// Package sessioncost computes the cost of a session, as the newest tools do, and the
// part of it that a fork inherits. Amounts are US dollars.
//
// A session's cost is the sum over the responses of models in one log of events. Rows
// have no identity: a row that occurs twice counts twice. Double counting is avoided by
// reading only one file, see [Files].
//
// # Boundaries
//
// A fork begins with turns of its parent. The object fork_cost_boundary in its metadata
// holds the cost of the parent after each of them. A program that resumes the fork adds
// the costs in the fork's own log, and opens no file of any ancestor.
//
// A boundary is either verified or unavailable. It holds one total for each inherited
// turn, and a hash of the inherited messages. [Verify] reads a boundary, [Build] makes
// one, and [Fingerprint] is the hash.
//
// # Turns
//
// Every row with the role user begins a turn here, also a row that a host inserted and a
// row that holds results of tools: the Python tools count so, and the boundary is theirs.
// Package slice counts otherwise. A turn is an anchor when a person wrote its prompt.
// Only anchors have costs of their own: the costs of the responses between their prompt
// and the next one in the log. Other turns repeat the total of the turn before them.
//
// # Two meanings of version 1
//
// The newest tools refuse a fork that earlier ones priced: a fork that ends before a turn
// which is no anchor and has output of the assistant. The log does not show which part of
// the last prompt's cost belongs to that output. [Build] refuses it too. [Verify] accepts
// both, since the object does not show which tools made it.
//
// Everything but [Open] and [IsFile] is pure.
package sessioncost
