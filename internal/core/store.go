package core

import (
	"context"
	"log/slog"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Store is a store as the packages of this module see it. Besides its own
// methods it has those of the interface that it embeds.
type Store struct{ methods }

// methods are those of a store that package sessionstore has. The callbacks of
// Change, ChangeOwned and Make get a Tx; [Store] has the three with that type.
type methods interface {
	Change(ctx context.Context, id string, do func(tx any) error) error
	ChangeOwned(ctx context.Context, id string, do func(tx any) error) error
	Make(ctx context.Context, id string, do func(tx any) error) error

	settings
	reading
	syncing
	moving
}

// settings are what the store was opened with.
type settings interface {
	// Now returns the store's time.
	Now() time.Time

	// Log returns the store's logger, which is never nil.
	Log() *slog.Logger

	// Syncs reports whether content is synced before it is acknowledged.
	Syncs() bool

	// Workspace returns the directory that new sessions belong to.
	Workspace() string
}

// reading looks at sessions and changes none.
type reading interface {
	// Has reports whether there is a session id.
	Has(id string) bool

	// Read runs do with the directory of session id. It takes no lock.
	Read(ctx context.Context, id string, do func(*sessiondir.Dir) error) error

	// Damaged returns the messages that stand whole in a damaged transcript of
	// session id: the file name is one that [sessionstore.Store.Salvage] told
	// of. The error Is [fs.ErrNotExist] when there is no such file.
	Damaged(ctx context.Context, id, name string) ([]sessionstore.Message, error)

	// Copies returns, by their names, how many messages other devices' versions of the
	// transcript hold that it does not have.
	Copies(ctx context.Context, id string) (map[string]int, error)

	// Entries returns all sessions with the stamps of their directories, in any
	// order. It opens no session.
	Entries(ctx context.Context) ([]sessiondir.Entry, error)

	// Stat returns the stamp of the file name of session id, or of the
	// session's directory when name is "". It opens nothing. regular is false
	// for what is neither a file nor a directory, such as a symlink.
	Stat(id, name string) (is sessiondir.Stamp, regular bool, err error)

	// IsLocal reports whether the sessions are on a local file system that is
	// known to time each change of a directory. It is false where nobody knows.
	IsLocal() bool

	// Settled reports whether every change of a file after its stamp was
	// taken, at the time at, is sure to show in a later stamp.
	Settled(s sessiondir.Stamp, at time.Time) bool

	// Free reports whether nobody writes session id now, in any process, and
	// nobody has acquired it by this store. That this store's own writes hold
	// the ownership lock does not count.
	Free(id string) bool

	// Acquired reports whether session id was acquired by this store, and not
	// released yet.
	Acquired(id string) bool

	// Busy tells why session id may not be taken away now. The error Is
	// [sessionstore.ErrLocked] or [sessionstore.ErrFenced] when somebody runs
	// the session, and ErrLocked when somebody writes it. Tools that take no
	// lock are not noticed.
	Busy(ctx context.Context, id string) error
}

// syncing makes durable what others wrote, and keeps files beside the sessions.
type syncing interface {
	// Epoch returns the number of the content that the transcript of session id has with
	// the stamp at. Two contents of the same number are one and the same, with lines at
	// the end of the later one that this store appended. It is 0 where the store does not
	// know the file.
	Epoch(id string, at sessiondir.Stamp) uint64

	// SyncFiles makes the named files of session id durable as they stand,
	// with their names and the session's own. It does nothing when the store
	// does so at each write. It passes over a file that is not there or may
	// not be opened.
	SyncFiles(ctx context.Context, id string, names ...string) error

	// SyncDirs makes durable what Send and Fetch did, if the store promises
	// that. paths are the directories below the sessions directory, or "." for
	// itself, in the order in which they are synced. Name the directory first
	// that sessions went to: then a file system without a journal leaves two
	// names after a power cut rather than none.
	SyncDirs(paths ...string) error

	// Bookkeeping opens the directory name of the bookkeeping, and makes it
	// when it is not there. What is in it may be lost at any time.
	Bookkeeping(name string) (*vfs.Dir, error)
}

// moving takes whole sessions out of the list, and brings them back.
type moving interface {
	// Trash opens the directory [sessiondir.Trash], and makes it when it is
	// not there. No tool lists what is in it, and nothing in it is removed.
	Trash() (*vfs.Dir, error)

	// Send takes a session away as [sessionstore.Store.Delete] does, but moves
	// it into the directory to, a path below the sessions directory, where it
	// keeps its name. It moves whole and at once, and that is durable after
	// SyncDirs. The checkpoint that older hosts kept outside of the session's
	// directory stays where it is.
	Send(ctx context.Context, id, to string) error

	// Fetch brings back what Send took. The error Is [fs.ErrExist] when there
	// is a session id by now, and [fs.ErrNotExist] when the directory from has
	// none.
	Fetch(ctx context.Context, id, from string) error

	// Destroy removes path, a directory below the sessions directory that Send
	// moved sessions into, or one above it. It vanishes at once and whole.
	Destroy(ctx context.Context, path string) error
}
