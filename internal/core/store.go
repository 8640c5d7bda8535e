package core

import (
	"context"
	"log/slog"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Store is a store in the form for the packages of this module. Besides its own methods
// it has the methods of the interface that it embeds.
type Store struct{ methods }

// methods are the methods that package sessionstore implements. The callbacks of Change,
// ChangeOwned and Make get a Tx; [Store] has the three with that type.
type methods interface {
	Change(ctx context.Context, id string, do func(tx any) error) error
	ChangeOwned(ctx context.Context, id string, do func(tx any) error) error
	Make(ctx context.Context, id string, do func(tx any) error) error

	settings
	reading
	syncing
	moving
}

// settings are the settings of the store.
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

// reading reads sessions and changes none.
type reading interface {
	// Has reports whether there is a session id.
	Has(id string) bool

	// Read runs do with the directory of session id. It takes no lock.
	Read(ctx context.Context, id string, do func(*sessiondir.Dir) error) error

	// Damaged returns the whole messages in a damaged transcript of session id: the file
	// name is from the report of [sessionstore.Store.Salvage]. The error Is
	// [fs.ErrNotExist] when there is no such file.
	Damaged(ctx context.Context, id, name string) ([]sessionstore.Message, error)

	// Copies returns other devices' versions of the transcript, by name, with the number
	// of messages that the transcript lacks.
	Copies(ctx context.Context, id string) (map[string]int, error)

	// Entries returns all sessions with the stamps of their directories, in any
	// order. It opens no session.
	Entries(ctx context.Context) ([]sessiondir.Entry, error)

	// Stat returns the stamp of the file name of session id, or of the session's
	// directory when name is "". It opens nothing. regular is false for anything that is
	// neither a file nor a directory, such as a symlink.
	Stat(id, name string) (is sessiondir.Stamp, regular bool, err error)

	// IsLocal reports whether the sessions are on a local file system that is known to
	// time each change of a directory. It returns false where this is not known.
	IsLocal() bool

	// Settled reports whether every change of a file after its stamp was
	// taken, at the time at, is sure to show in a later stamp.
	Settled(s sessiondir.Stamp, at time.Time) bool

	// Free reports whether no call writes session id now, in any process, and the session
	// is not acquired by this store. The ownership locks that this store's own writes
	// hold do not count.
	Free(id string) bool

	// Acquired reports whether session id was acquired by this store, and is not released
	// yet.
	Acquired(id string) bool

	// Busy returns the reason why session id may not be moved away now. The error Is
	// [sessionstore.ErrLocked] or [sessionstore.ErrFenced] when a host runs the session,
	// and ErrLocked when a call writes it. Tools that take no lock are not noticed.
	Busy(ctx context.Context, id string) error
}

// syncing makes files durable that others wrote, and keeps files beside the sessions.
type syncing interface {
	// Epoch returns the number of the content that the transcript of session id has with
	// the stamp at. Two contents of the same number are the same, except for lines that
	// this store appended to the later one. It is 0 where the store does not know the
	// file.
	Epoch(id string, at sessiondir.Stamp) uint64

	// SyncFiles makes the named files of session id durable in their present state, with
	// their names and the session's own. It does nothing when the store does so at each
	// write. It skips a file that does not exist or may not be opened.
	SyncFiles(ctx context.Context, id string, names ...string) error

	// SyncDirs makes the moves of Send and Fetch durable, if the store is durable. paths
	// are the directories below the sessions directory, or "." for itself, in the order
	// in which they are synced. Name the directory first that sessions went to: then a
	// file system without a journal leaves two names after a power cut rather than none.
	SyncDirs(paths ...string) error

	// Bookkeeping opens the directory name of the bookkeeping, and makes it if it is
	// missing. Its content may be lost at any time.
	Bookkeeping(name string) (*vfs.Dir, error)
}

// moving takes whole sessions out of the list, and brings them back.
type moving interface {
	// Trash opens the directory [sessiondir.Trash], and makes it if it is missing. No
	// tool lists its content, and nothing in it is removed.
	Trash() (*vfs.Dir, error)

	// Send takes a session away as [sessionstore.Store.Delete] does, but moves
	// it into the directory to, a path below the sessions directory, where it
	// keeps its name. It moves whole and at once, and that is durable after
	// SyncDirs. The checkpoint that older hosts kept outside of the session's
	// directory stays where it is.
	Send(ctx context.Context, id, to string) error

	// Fetch brings back a session that Send moved away. The error Is [fs.ErrExist] when a
	// session id exists again, and [fs.ErrNotExist] when the directory from has no such
	// session.
	Fetch(ctx context.Context, id, from string) error

	// Destroy removes path, a directory below the sessions directory that Send
	// moved sessions into, or one above it. It vanishes at once and whole.
	Destroy(ctx context.Context, path string) error
}
