// Package remote defines the interface of a place that keeps sessions for all devices of
// a user: five methods on named objects. Package hybrid syncs with any such place; its
// documentation describes the objects.
//
// # Parts and names
//
// A remote is divided into parts; each part holds the objects of one session or of one
// list. Names of parts and of objects consist of lower-case letters, digits and '-', and
// are at most 120 bytes long. A name is unique in its part. Names are compared byte by
// byte.
//
// Some names are fixed: their objects are replaced by [Remote.Commit] with a [Swap], and are
// never removed. All others are drawn: they hold a random number and are used once. A drawn
// name that is stored again, as after a lost answer, is stored with the same content.
//
// # Errors
//
// Callers check for the errors of this package with [errors.Is]. An implementation
// returns every other error as it is; the session is tried again later then. No error
// holds the content of an object.
package remote
