package core

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
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
