// Package sessioncost tells what a session cost, as the newest tools do, and
// what of it a fork inherits. Amounts are US dollars.
//
// A session's cost is the sum over the responses of models in one log of events.
// No row is told from another one: a row that occurs twice counts twice. Double
// counting is avoided by reading one file alone, see [Files].
//
// # Boundaries
//
// A fork begins with turns of its parent. The object fork_cost_boundary in its
// metadata tells what the parent had cost after each of them. Whoever resumes the
// fork adds what its own log tells, and opens no file of any ancestor.
//
// A boundary is verified or unavailable, and nothing between the two. It holds
// one total for each inherited turn, and a hash of the inherited messages.
// [Verify] reads one, [Build] makes one, and [Fingerprint] is the hash.
//
// # Turns
//
// Every row with the role user begins a turn here, also one that a host put in
// and one that holds results of tools: the Python tools count so, and the
// boundary is theirs. Package slice counts otherwise. A turn is an anchor when a
// person wrote its prompt. Only anchors have costs of their own: those of the
// responses between their prompt and the next one in the log. Other turns
// repeat the total of the turn before them.
//
// # Two meanings of version 1
//
// The newest tools refuse what earlier ones priced: a fork that ends before a
// turn which is no anchor and has output of the assistant. The log cannot tell
// what of the last prompt's cost belongs to that output. [Build] refuses it
// too. [Verify] accepts both, since nothing in the object tells them apart.
//
// Everything but [Open] and [IsFile] is pure.
package sessioncost
