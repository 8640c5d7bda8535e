package hybrid

import (
	"context"
	"iter"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// identify finds out under which identity the remote is known here, and opens what is known of it:
// under that of the last success, where this is that remote under another name.
func (e *engine) identify(ctx context.Context) {
	e.States.Remote = e.address
	last := readLast(e.Store.Dir())
	if last.address == e.address {
		e.States.Remote = last.identity
	}
	e.Table = replica.New(e.bookkeeping, e.replicaOf(e.States.Remote))
	if last.address == "" || last.address == e.address {
		return
	}
	if former := replica.New(e.bookkeeping, e.replicaOf(last.identity)); e.isRenamed(e.soon(ctx), former) {
		e.States.Remote, e.Table = last.identity, former
	}
}

// isRenamed reports whether the remote is the one of which a table is known: it has the newest entry
// that was listed there, in that version, and written at that time. In a copy that a tool made object
// by object the time is another one. A copy of a whole database may be older than what this device
// sent since: it lacks the last entry of that.
func (e *engine) isRenamed(ctx context.Context, former *replica.Table) bool {
	was, sent, of := replica.Entry{}, replica.KnownEntry{}, ""
	for entry := range former.Entries() {
		if s, _ := former.Session(entry.Session); entry.Written > was.Written && entry.Revision >= s.Revision {
			was = entry
		}
	}
	for id, s := range former.Sessions() {
		sid := e.SID(id)
		if entry, _ := former.Entry(sid); s.Revision > entry.Revision {
			if cat := e.States.Load(sid, id).Cat; cat.At.After(sent.At) {
				sent, of = cat, sid
			}
		}
	}
	if was.Written == 0 {
		return false
	}
	link := e.Connect()
	now, err := link.EntryOf(ctx, e.UID(), was.SID)
	if err != nil || now == nil || entryOf(now, was.Round) != was {
		return false
	}
	if of == "" {
		return true
	}
	now, err = link.EntryOf(ctx, e.UID(), of)
	return err == nil && now != nil && now.Version == sent.Version
}

// unasked is the remote of a store that knows no more of it than its identity; see
// Options.Identity. All requests fail.
type unasked string

// Info implements [remote.Remote].
func (u unasked) Info(context.Context) (remote.Info, error) {
	return remote.Info{Identity: string(u)}, nil
}

// Get implements [remote.Remote].
func (unasked) Get(context.Context, string, string, remote.Version) (remote.Object, error) {
	return remote.Object{}, ErrNoRemote
}

// List implements [remote.Remote].
func (unasked) List(context.Context, string, remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) { yield(remote.Object{}, ErrNoRemote) }
}

// Commit implements [remote.Remote].
func (unasked) Commit(context.Context, string, []remote.Object, *remote.Swap) (remote.Version, error) {
	return "", ErrNoRemote
}

// Delete implements [remote.Remote].
func (unasked) Delete(context.Context, string, []string) error { return ErrNoRemote }
