// Package remote says what a place must do in which sessions are kept for all devices of a
// user: five methods on named objects. Package hybrid syncs with any such place; what it
// stores there is described in its own documentation.
//
// # Parts and names
//
// A remote is divided in parts, of which each holds the objects of one session or of one
// list. Names of parts and of objects consist of lower-case letters, digits and '-', and are
// at most 120 bytes long. A name is unique in its part. Names are compared byte by byte.
//
// Some names are fixed: their objects are replaced by [Remote.Commit] with a [Swap], and are
// never removed. All others are drawn: they hold a random number and are used once. A drawn
// name that is stored again, as after a lost answer, is stored with the same content.
//
// # Errors
//
// The errors of this package are what callers branch on, with [errors.Is]. An implementation
// returns every other error as it is; the session is tried again later then. No error holds
// the content of an object.
package remote
