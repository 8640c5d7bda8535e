// Package core is a store as the other packages of this module see it: those
// that keep files of their own in its session directories (workflow,
// agentstate), those that change several files of a session at once (slice),
// and those that copy sessions (hybrid). [Of] leads from a
// [sessionstore.Store] to its [Store] here, and [Store.Change] to a [Tx], one
// transaction.
//
// What stands here can break a store, since it hands out the directory of a
// session and the lock for it. So it stands below internal, and no exported
// identifier of a public package mentions it.
//
// The code is in package sessionstore, in the files core*.go. It gets here by
// package access.
package core
