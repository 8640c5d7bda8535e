package hybrid

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/replica"
)

// roundEvery is how often the catalogue is read from its beginning: then entries
// that were removed are forgotten.
const roundEvery = 7 * 24 * time.Hour

// readCatalogue reads what was written to the catalogue since it was last read,
// page by page, and marks the sessions of which the cloud has more. What it read
// before an error stays known.
func (e *engine) readCatalogue(ctx context.Context) (cosmos.Usage, error) {
	leave, err := e.Enter(ctx, "") // no session has that id
	if err != nil {
		return cosmos.Usage{}, err
	}
	defer leave()
	link := e.Connect("")
	err = e.checkCatalogue(ctx, link)
	for more := err == nil; more && err == nil; {
		more, err = e.readCataloguePage(ctx, link)
	}
	return link.Usage(), err
}

// readCataloguePage reads a page of the catalogue. more reports whether another follows.
func (e *engine) readCataloguePage(ctx context.Context, c cosmos.Conn) (more bool, err error) {
	at := e.Table.Cursor()
	if now := time.Now().Unix(); at.Round == 0 || at.Whole && now-at.Began > int64(roundEvery/time.Second) {
		at = replica.Cursor{Round: at.Round + 1, Began: now}
	}
	page, next, err := cosmos.EntriesPage(ctx, c, e.UID(), e.opts.Project, at.Since, at.Next)
	if errors.Is(err, cosmos.ErrNoPage) {
		at.Next = ""
		e.Table.Advance(nil, at)
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read catalogue: %w", err)
	}
	entries := make([]replica.Entry, len(page))
	for i := range page {
		entries[i] = entryOf(&page[i], at.Round)
	}
	e.Table.Advance(entries, after(at, page, next, c.Time()))
	e.save(ctx)
	if !e.opts.Manual {
		e.hint(entries)
	}
	return next != "", nil
}

// checkCatalogue forgets what is known when the catalogue is not the one that was
// read before, as in another account, or one that was restored: then it lacks the
// entry that was read last. Then the worker compares all sessions with the cloud. It
// asks each hour, and when a sync found that the head which it knew is gone.
func (e *engine) checkCatalogue(ctx context.Context, c cosmos.Conn) error {
	at := e.Table.Cursor()
	doubted := e.doubted.Swap(false)
	if !doubted && time.Since(e.checked) < checkEvery {
		return nil
	}
	if e.checked = time.Now(); at.Last == "" {
		return nil
	}
	same, err := cosmos.HasEntry(ctx, c, e.UID(), at.Last, at.Revision)
	if err != nil {
		e.doubted.Store(true)
		return fmt.Errorf("read catalogue: %w", err)
	}
	if same {
		return nil
	}
	e.Log.Warn("the catalogue is not the one that was read before; all sessions are compared anew")
	e.Table.Void()
	if e.opts.Manual {
		return nil // the next Sync finds that nothing is in step
	}
	here, err := e.Core.Entries(ctx)
	for _, at := range here {
		e.Dirty.Add(at.Name, replica.Hinted)
	}
	return err
}

// checkEvery is how often the catalogue is checked.
const checkEvery = time.Hour

// writtenBy is after how long all entries of a second can be read, by the service's
// clock: no entry is written any more with an earlier time, and no replica lags so
// far behind.
const writtenBy = time.Hour

// after returns the cursor behind a page, which was read at a time by the service's
// clock.
func after(at replica.Cursor, page []cosmos.Entry, next string, now time.Time) replica.Cursor {
	newest := at.Since
	for i := range page {
		if written := page[i].Written.Unix(); written >= newest {
			newest, at.Last, at.Revision = written, page[i].SID, page[i].Revision
		}
	}
	switch {
	case next == "":
		at.Since, at.Next, at.Whole = newest, "", true
		if at.Last != "" && len(page) > 0 && now.Unix()-newest > int64(writtenBy/time.Second) {
			at.Since++ // what was read is not read again
		}
	case newest > at.Since: // pages get smaller when they begin later
		at.Since, at.Next = newest, ""
	default:
		at.Next = next
	}
	return at
}

func entryOf(c *cosmos.Entry, round int) replica.Entry {
	return replica.Entry{
		SID: c.SID, Session: c.Session, Name: c.Name, Revision: c.Revision, Updated: c.Updated.UnixNano(),
		N: c.N, Turns: c.Turns, Deleted: c.Deleted, Conflict: c.Conflict, Round: round,
	}
}

// hint marks the sessions of which the cloud has more.
func (e *engine) hint(entries []replica.Entry) {
	for i := range entries {
		if e.concerns(&entries[i]) {
			e.Dirty.Add(entries[i].Session, replica.Hinted)
		}
	}
}

// concerns reports whether an entry tells of something that is to be fetched: a
// later head of a session that is here, or a session that was never here.
func (e *engine) concerns(entry *replica.Entry) bool {
	s, ok := e.Table.Session(entry.Session)
	if ok && (s.State == replica.Denied || s.State != replica.Gone && s.Revision >= entry.Revision) || e.SID(entry.Session) != entry.SID {
		return false
	}
	st := e.States.Load(entry.SID, entry.Session)
	if e.Core.Has(entry.Session) {
		return st.Revision(entry.SID) < entry.Revision
	}
	return !entry.Deleted && e.Arrives(entry.Session, st)
}

// catalogueOf reports whether the catalogue, as it was read last, tells of a session
// that is here, and whether of a later head than the one that is known here.
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

// save writes what is known of the sessions. Without it they are compared once
// more.
func (e *engine) save(ctx context.Context) {
	if err := e.Table.Save(ctx); err != nil && ctx.Err() == nil {
		e.Log.Info("what is known of the sessions is not saved", "err", err)
	}
}
