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
// # Sizes
//
// The body of an object has at most [MaxObject] bytes, and its label at most [MaxLabel]. A
// Commit of more, and a Get of more, returns [ErrTooLarge]; an object whose label is larger
// is listed without one. An implementation finds out the size before it reads, or reads no
// further than the limit: whoever may write to the remote may have stored anything.
//
// # Silence
//
// Package hybrid ends a call when nothing has moved for 30 seconds: the cause of the end of
// its ctx is a [NoAnswer] then. So an implementation needs no limits of its own, and returns
// soon after ctx has ended, with [ErrUnknown] where a swap may yet be made. It calls [Moved]
// when it begins a request and for each block that it sends, and [Heard] for each block that
// it receives. A call that calls neither has 30 seconds, and the time in which its bytes move
// at 16 KB a second: the bytes of a Commit, and [MaxObject] for a Get. Of a List only the
// time counts in which the caller waits.
//
// A call that does not return within two seconds of the end of its ctx, as a system call on a
// mount whose server is gone, is left: it goes on by itself, and its result is dropped. While
// four such calls have not returned, all further calls fail with [ErrUnreachable]. What a
// left Commit was given does not change, so it may still read it. A goroutine stays for each
// left call until that returns, also after the store was closed.
//
// # Errors
//
// Callers check for the errors of this package with [errors.Is]. An implementation
// returns every other error as it is; the session is tried again later then. No error
// holds the content of an object.
package remote
