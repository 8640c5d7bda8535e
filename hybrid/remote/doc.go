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
// # Consistency and versions
//
// A swap is made on the newest version alone, and a later Get of the same device has it. Get and
// List of another device may lag: two histories come of that, and nothing is lost.
//
// Two versions of an object never have one name, also where their contents are equal: a swap
// that was decided by the former one must fail. Where a service derives versions from the
// content, an implementation adds something random to that. Versions may begin anew where an
// object was removed, and in a remote that was made anew and has another identity.
//
// A service whose writes ignore their conditions lets two devices replace one head. An
// implementation that does not know its service tries the conditions before its first write, on
// objects of its own, and returns [ErrBlocked] where they do not hold; see [Noter].
//
// # Identity
//
// A device keeps what it knows of a remote under [Info].Identity. Two remotes of one identity are
// taken for one: a missing head is sent again, and one that is older than the known one counts
// after 15 minutes. One remote of two identities, as by another name of its host, is taken for one
// where the newest object of the catalogue that the device knows has the same version and time
// there, else each head is read; nothing is sent again. An identity in the remote itself is best,
// else the whole address without a secret: it is written to the disk.
//
// # Errors and retries
//
// Callers check for the errors of this package with [errors.Is]. They decide the next call:
//
//	ErrUnreachable  the remote is shut for a while that grows with each failure, or for as long
//	                as it says; where it did not answer at all, it may be away for half a minute
//	  Throttled     it also gets calls more slowly, until five minutes after the last of these
//	  Away          it is away, unless another call got an answer in that time
//	  Stale         the next call goes at once
//	ErrUnknown      as ErrUnreachable
//	NoAnswer        it is away, unless it answered any call in that time
//	ErrBlocked      it is shut for 15 minutes
//	ErrUnauthorized it is shut for a minute, and after half an hour for 15: a role assignment
//	                takes some minutes to arrive, and a late one looks like none
//	other errors    the session is tried again later; [ErrRefused] and errors of objects show
//	                that the remote takes requests. An error that this package does not name
//	                reaches the program as ErrUnreachable
//
// Package hybrid makes a call four times at most, and a swap that may have been done again only
// after it has read the object: switch off the retries of a client, or at least those of swaps.
// No error holds the content of an object.
package remote
