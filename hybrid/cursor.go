package hybrid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
)

// roundEvery is how often the catalogue is read from its beginning: then entries
// that were removed are forgotten.
const roundEvery = 7 * 24 * time.Hour

// readCatalogue reads the entries that were written to the catalogue since the last read,
// and marks the sessions that have more in the remote. Entries that it read before an
// error are kept.
func (e *engine) readCatalogue(ctx context.Context) (remoteread.Usage, error) {
	leave, err := e.Enter(ctx, "") // no session has that id
	if err != nil {
		return remoteread.Usage{}, err
	}
	defer leave()
	link := e.Connect()
	if err = e.checkCatalogue(ctx, link); err == nil {
		err = e.listCatalogue(ctx, link)
	}
	return link.Usage(), err
}

// entriesOfPart is the number of entries that are recorded at once.
const entriesOfPart = 1000

// listCatalogue reads the entries that were written to the catalogue since the last read,
// and continues a list that was interrupted.
func (e *engine) listCatalogue(ctx context.Context, r *remoteread.Reader) error {
	at := e.Table.Cursor()
	if now := time.Now().Unix(); at.Round == 0 || at.Whole && now-at.Began > int64(roundEvery/time.Second) {
		at = replica.Cursor{Round: at.Round + 1, Began: now}
	}
	since, before := time.Time{}, r.Usage().Requests
	if at.Since != 0 {
		since = time.Unix(at.Since, 0)
	}
	whole, last, older := at.Next == "", at, false
	complete := r.Complete()
	var entries []replica.Entry
	for entry, err := range r.Entries(ctx, e.UID(), at.Next, since) {
		if err != nil {
			e.advance(ctx, entries, at)
			return fmt.Errorf("read catalogue: %w", err)
		}
		if at.List == 0 {
			at.List = listed(r, complete).Unix()
		}
		if was, known := e.Table.Entry(entry.SID); known && entry.Revision < was.Revision {
			older = true
		}
		if written := entry.Written.Unix(); written >= at.New {
			at.New, last.Last, last.Revision = written, entry.SID, entry.Revision
		}
		at.Next, entries = entry.SID, append(entries, entryOf(&entry, at.Round))
		if len(entries) == entriesOfPart {
			e.advance(ctx, entries, at)
			entries = nil
		}
	}
	if older { // perhaps a sync stores the session anew in another remote; the entry that was read before decides
		e.doubted.Store(true)
	} else {
		at.Last, at.Revision = last.Last, last.Revision
	}
	e.advance(ctx, entries, after(at, whole && r.Usage().Requests == before+1, r.Time()))
	return nil
}

// listed returns the time, by the remote's clock, from which the next list begins, but for
// listTime and writtenBy. complete is from before the list; a program's first list has
// none from before.
func listed(r *remoteread.Reader, complete time.Time) time.Time {
	if complete.IsZero() {
		complete = r.Complete()
	}
	if complete.IsZero() {
		return r.Time()
	}
	return complete
}

// advance records entries that were read.
func (e *engine) advance(ctx context.Context, entries []replica.Entry, to replica.Cursor) {
	e.Table.Advance(entries, to)
	e.save(ctx)
	if !e.opts.Manual {
		e.hint(entries)
	}
}

// checkCatalogue forgets the known entries when the catalogue is not the catalogue that
// was read before, as in another remote or after a restore from a backup: then it lacks
// the entry that was read last. Then the worker compares all sessions with the remote. It
// checks each hour, and after a sync that found the known head missing.
func (e *engine) checkCatalogue(ctx context.Context, r *remoteread.Reader) error {
	at := e.Table.Cursor()
	doubted := e.doubted.Swap(false)
	if !doubted && time.Since(e.checked) < checkEvery {
		return nil
	}
	if e.checked = time.Now(); !e.void.Load() {
		if at.Last == "" {
			return nil
		}
		same, err := hasEntry(ctx, r, e.UID(), at.Last, at.Revision)
		if err != nil {
			e.doubted.Store(true)
			return fmt.Errorf("read catalogue: %w", err)
		}
		if same {
			return nil
		}
		e.Log.Warn("the catalogue is not the one that was read before; all sessions are compared anew")
		e.Table.Void()
		e.forgetNote()
		e.void.Store(true)
	}
	if err := e.Table.Save(ctx); err != nil { // a program after a kill would take sessions for sent that only the former catalogue had
		e.doubted.Store(true)
		return err
	}
	e.void.Store(false)
	if e.opts.Manual {
		return nil // the next Sync finds no session in step
	}
	here, err := e.Core.Entries(ctx)
	for _, at := range here {
		e.Dirty.Add(at.Name, replica.Hinted)
	}
	return err
}

// hasEntry reports whether a catalogue has an entry, of at least a revision.
func hasEntry(ctx context.Context, r *remoteread.Reader, uid, sid string, revision int64) (bool, error) {
	entry, err := r.EntryOf(ctx, uid, sid)
	if errors.Is(err, segment.ErrFormat) {
		return true, nil
	}
	return err == nil && entry != nil && entry.Revision >= revision, err
}

// checkEvery is how often the catalogue is checked.
const checkEvery = time.Hour

// writtenBy is the time, by the service's clock, after which all entries of a second can
// be read: no entry is written with an earlier time, and no replica lags further behind.
const writtenBy = time.Hour

// listTime is the longest time that a list of one request takes.
const listTime = time.Minute

// after returns the cursor for the next list, behind a list that ended at a time by the
// service's clock. A list may lack entries that were written after it began under keys
// that it had passed.
func after(at replica.Cursor, once bool, now time.Time) replica.Cursor {
	if at.New > 0 {
		lasts := writtenBy
		if once {
			lasts = listTime
		}
		newest := min(at.New, at.List-int64(lasts/time.Second))
		at.Since = max(at.Since, newest)
		if once && at.Since == newest && now.Unix()-newest > int64(writtenBy/time.Second) {
			at.Since++ // entries that were read are not read again
		}
	}
	at.Next, at.List, at.New, at.Whole = "", 0, 0, true
	return at
}

func entryOf(c *remoteread.Entry, round int) replica.Entry {
	return replica.Entry{
		SID: c.SID, Session: c.Session, Parent: c.Parent, Name: c.Name, Revision: c.Revision, Version: string(c.Version), Written: c.Written.Unix(), Updated: c.Updated.UnixNano(),
		N: c.N, Turns: c.Turns, Deleted: c.Deleted, Conflict: c.Conflict, Round: round,
	}
}

// hint marks the sessions that have more in the remote.
func (e *engine) hint(entries []replica.Entry) {
	for i := range entries {
		if e.concerns(&entries[i]) {
			e.Dirty.Add(entries[i].Session, replica.Hinted)
		}
	}
}

// concerns reports whether there is something to fetch for an entry: a later head of a
// session that is here, or a session that was never here.
func (e *engine) concerns(entry *replica.Entry) bool {
	if e.stays(entry) != nil {
		return false
	}
	s, ok := e.Table.Session(entry.Session)
	if ok && (s.State == replica.Private || s.State != replica.Gone && s.Revision >= entry.Revision) || e.SID(entry.Session) != entry.SID {
		return false
	}
	st := e.States.Load(entry.SID, entry.Session)
	if e.Core.Has(entry.Session) {
		return st.Revision(entry.SID) < entry.Revision
	}
	return !entry.Deleted && e.Arrives(entry.Session, st)
}

// stays returns the reason why a session that only the remote has stays there; nil for one that may
// come, is here, or was removed on either side.
func (e *engine) stays(entry *replica.Entry) error {
	err := syncer.Foreign(entry.Session)
	if err == nil || entry.Deleted || e.Core.Has(entry.Session) || e.WasHere(entry.Session, e.States.Load(entry.SID, entry.Session)) {
		return nil
	}
	return err
}

// staying returns the status of the sessions that stay in the remote.
func (e *engine) staying() (all []Status) {
	for entry := range e.Table.Entries() {
		if err := e.stays(&entry); err != nil {
			all = append(all, Status{SessionID: entry.Session, State: Blocked, Remote: int(entry.N), Err: err})
		}
	}
	return all
}

// exceptions returns the sessions that stay in the remote, in the order of their ids.
func (e *engine) exceptions() (all []Exception) {
	for _, stays := range e.staying() {
		all = append(all, Exception{SessionID: stays.SessionID, Err: stays.Err})
	}
	slices.SortFunc(all, bySession)
	return all
}

// catalogueOf reports whether the catalogue, as it was read last, has an entry of a
// session of this directory, and whether the entry has a later head than this device
// knows.
func (e *engine) catalogueOf(id string) (newer, ok bool) {
	sid := e.SID(id)
	entry, ok := e.Table.Entry(sid)
	s, known := e.Table.Session(id)
	switch {
	case known && s.State == replica.Deleted:
		return ok && entry.Revision > s.Revision, true
	case !ok:
		return false, false
	case known && s.Revision >= entry.Revision:
		return false, true
	}
	st := e.States.Load(sid, id)
	return st.Revision(sid) < entry.Revision, true
}

// saveEvery is the time in which the known state of the sessions is not saved again: it is
// written whole.
const saveEvery = time.Minute

// save saves the known state of the sessions, unless that was done just now: close saves the
// rest.
func (e *engine) save(ctx context.Context) {
	e.mu.Lock()
	due := time.Since(e.saved) >= saveEvery
	if due {
		e.saved = time.Now()
	}
	e.mu.Unlock()
	if due {
		e.saveNow(ctx)
	}
}

// saveNow saves it. Without it the sessions are compared with the remote once more.
func (e *engine) saveNow(ctx context.Context) {
	if err := e.Table.Save(ctx); err != nil && ctx.Err() == nil {
		e.Log.Info("what is known of the sessions is not saved", "err", err)
	}
}
