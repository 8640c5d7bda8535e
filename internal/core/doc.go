// Package core gives the other packages of this module more access to a store than users
// get: the packages that keep files of their own in its session directories (workflow,
// agentstate), that change several files of a session at once (slice), and that copy
// sessions (hybrid). [Of] leads from a [sessionstore.Store] to its [Store] here, and
// [Store.Change] to a [Tx], one transaction.
//
// Users of this package can break a store, since it gives them the directory of a session
// and the lock for it. So it is internal, and no exported identifier of a public package
// mentions it.
//
// The code is in package sessionstore, in core.go. It is reached through
// package access.
package core
