// Package head holds the mutable documents of a session in the cloud, as pure
// values: the [Head], which says how far each stream reaches and what files the
// session has, and which alone makes stored segments visible; the [History] of
// each former head and branch, which the head names; the [Catalogue] entry made
// of the head; and the rules by which two devices merge metadata.
//
// A head is replaced only by compare-and-swap, and always last. Its revision
// counts up by one. A history never changes, and is no part of the session
// unless the head names it. A removed session leaves a tombstone: a head that is marked as
// deleted and keeps its numbers.
//
// Nothing here reads a clock or a file. Malformed documents are refused with an error,
// never with a panic.
package head
