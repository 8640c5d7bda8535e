package core

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/access"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The functions of sessionstore, whose types are asserted when the program
// starts: see package access.
var (
	registered   = access.Registered()
	open         = registered.Open.(func(string, *sessionstore.Options, *seam.Seam) (*sessionstore.Store, error))
	summaries    = registered.Summaries.(func(context.Context, []string, OpenProject, *sessionstore.ListOptions, func(string, sessionstore.Summary, error) bool) error)
	checkID      = registered.CheckID.(func(string) error)
	readMetadata = registered.ReadMetadata.(func(*sessiondir.Dir) (sessionstore.Metadata, bool, error))
	of           = registered.Of.(func(*sessionstore.Store) any)
	from         = registered.From.(func(sessionstore.Message, string) []byte)
	blocks       = registered.Blocks.(func(sessionstore.Message) []byte)
	row          = registered.Row.(func(sessionstore.Message) []byte)
	wrap         = registered.Wrap.(func(string, string, error) error)
	spread       = registered.Spread.(func(int, func(next func() (int, bool))))
)

// Open is [sessionstore.Open] with a seam, which sees every operation that
// changes the disk and may delay it or let it fail. A nil seam does nothing.
func Open(dir string, opts *sessionstore.Options, hooks *seam.Seam) (*sessionstore.Store, error) {
	return open(dir, opts, hooks)
}

// OpenProject opens the store of a project for the time of a listing. own reports
// whether the listing must close it.
type OpenProject = func(slug string) (st *sessionstore.Store, own bool, err error)

// Summaries summarizes the sessions of the projects of those names, in the order of
// Changed over all of them. After them come the sessions and the projects that could not
// be read, the latter without an id, and at last an error without either where there are
// no more rows. It returns the errors of closing the stores.
func Summaries(ctx context.Context, slugs []string, open OpenProject, o *sessionstore.ListOptions, yield func(slug string, s sessionstore.Summary, err error) bool) error {
	return summaries(ctx, slugs, open, o, yield)
}

// Wrap makes err a [*sessionstore.Error] with op and id. It returns an error unchanged that
// already names the failed call.
func Wrap(op, id string, err error) error { return wrap(op, id, err) }

// CheckID returns the reason why id cannot be the id of a session, nil if it can.
func CheckID(id string) error { return checkID(id) }

// ReadMetadata reads metadata.json alone, as [sessionstore.Store.Load] reads a file. It
// does not look at the backup.
func ReadMetadata(dir *sessiondir.Dir) (md sessionstore.Metadata, found bool, err error) {
	return readMetadata(dir)
}

// Of returns st in the form for the packages of this module. sessionstore returns one
// type only, so the assertion holds for every store if it holds for one, as the tests
// show; the same is true of transactions, in typed.
func Of(st *sessionstore.Store) Store { return Store{of(st).(methods)} }

// From returns the row of a message from the value of the member name on, with the rest
// of the row behind it. It returns nil when there is no such member. The bytes are the
// message's own: the caller must not change them.
func From(m sessionstore.Message, name string) []byte { return from(m, name) }

// Blocks is [From] for the member content when that is a list. It returns nil
// when content is no list, or is known to hold text blocks alone.
func Blocks(m sessionstore.Message) []byte { return blocks(m) }

// Row returns the JSON value of a message, without white space at its ends. The bytes are
// the message's own: the caller must not change them.
func Row(m sessionstore.Message) []byte { return row(m) }

// Spread runs worker on all processors; next hands out the numbers below n.
func Spread(n int, worker func(next func() (int, bool))) { spread(n, worker) }

// Change runs do in a transaction on the existing session id: no other writer of this
// library, and no tool that takes the session's lock, writes the session during the
// transaction. When Change returns nil, the names that do reported are durable if the
// store is durable, and OnChange got them. When do fails, its changes so far stay. Errors
// are not wrapped in [*sessionstore.Error].
func (s Store) Change(ctx context.Context, id string, do func(Tx) error) error {
	return s.methods.Change(ctx, id, typed(do))
}

// ChangeOwned is [Store.Change] for changes of the transcript, which only the owner of a
// session may make.
func (s Store) ChangeOwned(ctx context.Context, id string, do func(Tx) error) error {
	return s.methods.ChangeOwned(ctx, id, typed(do))
}

// Make runs do in the directory of the new session id. The session appears
// under its name, whole, when do returns nil, and not at all when do fails. The
// error Is [fs.ErrExist] when something has that name already.
func (s Store) Make(ctx context.Context, id string, do func(Tx) error) error {
	return s.methods.Make(ctx, id, typed(do))
}

// typed returns do for sessionstore, which cannot name Tx.
func typed(do func(Tx) error) func(tx any) error {
	return func(tx any) error { return do(tx.(Tx)) }
}

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

	// Syncs reports whether content is synced before it is acknowledged.
	Syncs() bool

	// Workspace returns the directory that new sessions belong to.
	Workspace() string

	// Stored returns a message as the store writes it.
	Stored(m sessionstore.Message) sessionstore.Message

	// Private returns the globs of the sessions that never leave this machine, of
	// SetPrivate: the directory may not remember them.
	Private() []string

	// SetPrivate sets those globs, before the store is used.
	SetPrivate(globs []string)
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

	// Runs reports whether a host of this machine runs session id, as it has told: it takes
	// no lock.
	Runs(id string) bool
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

	// ReadBookkeeping returns the content of the file name, of at most so many bytes, in
	// the directory dir of the bookkeeping. It makes nothing. The error Is
	// [fs.ErrNotExist] when there is no such file, and [vfs.ErrNotRegular] when a symlink
	// is on the way.
	ReadBookkeeping(dir, name string, most int64) ([]byte, error)
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

// Tx is a transaction: one call that writes a session, of which it is the only
// writer. It must not be used after the call.
type Tx interface {
	// Dir returns the session's directory.
	Dir() *sessiondir.Dir

	// Changed reports to the transaction that the content of the file name was changed,
	// and synced if [Store.Syncs] is true.
	Changed(name string)

	// Renamed reports to the transaction that name is new or belongs to another file.
	Renamed(name string)

	// Metadata returns the metadata on disk, recovered as by
	// [sessionstore.Store.Load].
	Metadata() (sessionstore.Metadata, error)

	// SetMetadata makes md the metadata, exactly. The former metadata become the backup.
	// The error Is [sessionstore.ErrConflict] when a writer that takes no lock came
	// between.
	SetMetadata(md sessionstore.Metadata) error

	// Transcript returns the transcript on disk. When it is damaged and no backup is
	// good, it returns the readable messages and an error that Is
	// [sessionstore.ErrCorrupt].
	Transcript() ([]sessionstore.Message, sessionstore.Revision, error)

	// Recovered returns the reason why Transcript read the backup, nil when it did not.
	Recovered() *sessionstore.Recovery

	// SetTranscript makes rows, all of them, the transcript. It replaces the transcript
	// that Transcript returned, which becomes the backup. The error Is
	// [sessionstore.ErrConflict] when a writer that takes no lock came between.
	SetTranscript(rows []sessionstore.Message) error

	// Messages returns the messages of the file name, which has the form of a transcript.
	// When the file is damaged, it returns the readable messages and an error that Is
	// [sessionstore.ErrCorrupt].
	Messages(name string) ([]sessionstore.Message, error)

	// Scan is Transcript that hands each message to do, which must not keep it, and holds
	// one line of a sound transcript at a time. Of a damaged one, do gets some messages first.
	Scan(do func(sessionstore.Message)) error

	// SetName is [sessionstore.Store.SetName].
	SetName(n sessionstore.Naming) (changed bool, err error)

	// Restore makes the bytes of the file name the transcript, after Transcript or Scan, as
	// SetTranscript does with rows.
	Restore(name string) error

	// Replace gives the file name new content. The error Is
	// [sessionstore.ErrConflict] when another writer came between.
	Replace(name string, r commit.Replacement) error
}
