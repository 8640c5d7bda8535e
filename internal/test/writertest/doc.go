// Package writertest puts a store beside a tool that knows no lock, and judges the effect
// on a transcript. It is for tests alone.
//
// [OldTool] reads and saves a session as the old Python tools do, one system call at a
// time, and calls its hook before each. [Pauser] makes pauses for such hooks, and for the
// hooks of the seam. [Python] runs a [Script] in a process of its own: an old tool, a newer
// one, or a host that takes the ownership lock. [History] records the calls of writers and
// readers with their times, and [History.Judge] reports the losses.
//
// # The contract
//
// The store must never be worse than a second old tool in its place:
//
//  1. No reader ever meets an empty, missing or shorter transcript that no
//     writer meant.
//  2. A row that was acknowledged before a save began is in the transcript or
//     in its backup when that save ends.
//  3. Of two calls that overlap, the last to rename wins. Nothing else is lost.
//
// # How the judge reads it
//
// A call of the old tool begins before it loads and ends with its rename. A row is apart
// when no call of the other side overlapped the call that wrote it. A row that is apart may
// never be missing. Of the others, the judge lets those go that contract 3 gives away, and
// counts them; a row that was acknowledged between the load and the save of one call,
// however, falls under contract 2. An attempt that ends in a conflict says that it changed
// nothing, so it is no excuse once it has ended; but while it is under way, readers may
// miss a row whose call it overlapped, since no program can compare and rename in one step.
// After each save of the tool, while no other call is under way, both files are looked at:
// a row that is in neither of them is gone.
package writertest
