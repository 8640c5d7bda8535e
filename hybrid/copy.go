package hybrid

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// CopyOptions are the options of a [Copy].
type CopyOptions struct {
	Skip func(id string) bool // reports whether a session is left out; nil: all are copied
	Done func()               // called after each session, by one goroutine at a time; nil: nothing is
}

// CopyResult is the outcome of a [Copy].
type CopyResult struct {
	Sessions int      `json:"sessions"` // in the remote that is copied, with the removed ones
	Skipped  []string `json:"skipped"`  // of these: CopyOptions.Skip left them out
	Copied   int      `json:"copied"`   // whose head was stored
	Objects  int      `json:"objects"`  // stored beside the heads
	Bytes    int64    `json:"bytes"`    // of these
}

// ErrElsewhere is returned for a session that the other remote has, but not from this copy.
var ErrElsewhere = errors.New("the other remote has the session, but not from this copy: copy to an empty project, or sync a device with one remote and then with the other, which keeps both histories there")

// Copy copies the sessions of a user's project from one remote to another one: their lines,
// files and histories, the logs of all devices, and the tombstones of removed sessions. It goes
// into an empty project, or one that has nothing but what earlier calls for the same two
// remotes stored. Where the other project has a session that the source lacks, unless it was
// removed, Copy stores nothing; a session that devices changed in the other remote it leaves as
// it is. The error Is [ErrElsewhere] then, and names the sessions. End the programs that sync
// with the two remotes first.
//
// Objects keep their names and contents, so devices that change to the other remote find the
// heads that they know. A head is stored last, after everything that it leads to was read from
// the other remote, with all hashes checked. Copy may end at any time; another call copies the
// rest, and what was sent to the source since.
//
// Copy does not know the rules of a device: o.Skip names the sessions that must not get
// into another remote: those whose [Status] is [Local], [KeptLate], or [Blocked] with [ErrHeld] or
// [ErrRedaction], and those of which that is true of a parent that [Store.Remote] names, where
// a parent below that one is not here. It is called once for each session, by one goroutine.
// Copy goes on after a session that fails; the error joins the failures. A nil o is options
// without a value.
func Copy(ctx context.Context, from, to remote.Remote, user, project string, o *CopyOptions) (CopyResult, error) {
	who := segment.Identity{User: user, Project: project}
	c := &copier{uid: who.UID(), opts: cmp.Or(o, &CopyOptions{}), sum: CopyResult{Skipped: []string{}}}
	err := who.Check()
	if err == nil {
		err = c.connect(ctx, from, to)
	}
	if err == nil {
		err = c.sessions(ctx)
	}
	return c.sum, wrap("copy", "", err)
}

// copier is the work of a Copy.
type copier struct {
	from, to *remoteread.Reader
	source   string // the identity of from
	uid      string
	opts     *CopyOptions

	mu  sync.Mutex // guards sum
	sum CopyResult
}

func (c *copier) connect(ctx context.Context, from, to remote.Remote) error {
	unasked, end := context.WithCancel(ctx)
	end()
	source, _ := from.Info(unasked) // the identity comes at once
	target, _ := to.Info(unasked)
	if c.source = source.Identity; c.source == target.Identity {
		return errors.New("the two remotes are one")
	}
	c.from = &remoteread.Reader{Remote: throttle.New(from, new(Limits).shared(), nil)}
	c.to = &remoteread.Reader{Remote: throttle.New(to, new(Limits).shared(), nil)}
	return nil
}

// plan returns the sessions to copy.
func (c *copier) plan(ctx context.Context) (entries []remoteread.Entry, err error) {
	known := map[string]bool{}
	for entry, err := range c.from.Entries(ctx, c.uid, "", time.Time{}) {
		if err != nil {
			return nil, fmt.Errorf("read catalogue: %w", err)
		}
		known[entry.SID] = true
		entries = append(entries, entry)
	}
	c.sum.Sessions = len(entries)
	entries = slices.DeleteFunc(entries, func(entry remoteread.Entry) bool {
		skips := c.opts.Skip != nil && c.opts.Skip(entry.Session)
		if skips {
			c.sum.Skipped = append(c.sum.Skipped, entry.Session)
		}
		return skips
	})
	var failed error
	for entry, err := range c.to.Entries(ctx, c.uid, "", time.Time{}) {
		if err != nil {
			return nil, fmt.Errorf("read the other catalogue: %w", err)
		}
		if !known[entry.SID] && !entry.Deleted {
			failed = errors.Join(failed, wrap("copy", entry.Session, ErrElsewhere))
		}
	}
	return entries, failed
}

// sessions copies the sessions.
func (c *copier) sessions(ctx context.Context) error {
	entries, err := c.plan(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := newErrors()
	atOnce(maxSyncs, entries, func(entry remoteread.Entry) {
		err := remoteread.Again(ctx, nil, func() error { return c.session(ctx, entry.SID) })
		if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrBlocked) && !errors.Is(err, remote.ErrRefused) {
			cancel(err) // it is the same for all sessions
		}
		if ctx.Err() == nil {
			failed.add(wrap("copy", entry.Session, err))
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.opts.Done != nil {
			c.opts.Done()
		}
	})
	return errors.Join(failed.all(), context.Cause(ctx))
}

// session copies a session. The error Is [remoteread.ErrLost] where a head changed since it was
// read.
func (c *copier) session(ctx context.Context, sid string) error {
	t, known, err := c.from.Head(ctx, sid, remoteread.Known{})
	if err != nil || t == nil { // without a head, its first upload never ended
		return err
	}
	there, theirs, err := c.to.Head(ctx, sid, remoteread.Known{})
	if err != nil || there != nil && there.Deleted && t.Deleted || bytes.Equal(theirs.Doc, known.Doc) {
		return err
	}
	has, err := c.lists(ctx, c.to, sid, there != nil)
	if err != nil {
		return err
	}
	if there != nil && (there.Revision >= t.Revision || !has[c.mark(sid, theirs.Doc)]) {
		return ErrElsewhere
	}
	entry := t.Catalogue(c.uid, t.Name())
	if _, err := c.to.WriteEntry(ctx, &entry, ""); err != nil { // before the first object, as at a first upload
		return fmt.Errorf("write catalogue: %w", err)
	}
	mark := c.mark(sid, known.Doc)
	swap := remoteread.Swap(segment.Document{ID: segment.HeadID(sid), Label: segment.Label(head.TypeHead), Body: known.Doc}, theirs.Version)
	var marks []segment.Document
	if !t.Deleted {
		if err := c.objects(ctx, t, known.Version, has); err != nil {
			return err
		}
		marks = append(marks, segment.Document{ID: mark, Label: segment.Label("copy")})
	}
	for name := range has { // of a removed session nothing stays but the head
		if name != swap.Name && (t.Deleted || name != mark && strings.HasPrefix(name, sid+copied)) {
			swap.Remove = append(swap.Remove, name)
		}
	}
	if _, err := c.to.Commit(ctx, segment.SessionPK(sid), marks, swap); err != nil {
		return remoteread.Lost(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Copied++
	return nil
}

// copied is part of the names of marks. They stay until the next copy or the removal of the
// session: no pruning removes them.
const copied = "-copy-"

// mark returns the name of the object that is stored in the other remote before a head, and
// tells that this copy stored the head.
func (c *copier) mark(sid string, doc []byte) string {
	sum := sha256.Sum256(append([]byte(c.source), doc...))
	return fmt.Sprintf("%s%s%x", sid, copied, sum[:12])
}

// lists returns the names of the objects that a remote has of a session. Where it has no head,
// objects that a pruning may remove are not among them.
func (c *copier) lists(ctx context.Context, of *remoteread.Reader, sid string, headed bool) (map[string]bool, error) {
	has := map[string]bool{}
	for o, err := range of.List(ctx, segment.SessionPK(sid), remote.Query{Prefix: sid + "-"}) {
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		if headed || of.Time().Sub(o.Time) < gc.MaxFirstUpload {
			has[o.Name] = true
		}
	}
	return has, nil
}

// objects copies the objects of a session that the other remote lacks, and checks that it has
// everything that the head t leads to. The head is still the same afterwards, so nothing that
// it leads to was removed while it was copied.
func (c *copier) objects(ctx context.Context, t *head.Head, version remote.Version, has map[string]bool) error {
	pk := segment.SessionPK(t.SID)
	own, err := c.lists(ctx, c.from, t.SID, true)
	if err != nil {
		return err
	}
	histories, err := c.from.Histories(ctx, t, version)
	if err != nil {
		return err
	}
	for _, h := range histories { // also where the list lags
		own[h.ID] = true
	}
	var missing []string
	for name := range own {
		if !has[name] && name != segment.HeadID(t.SID) && !strings.HasPrefix(name, t.SID+copied) {
			missing = append(missing, name)
		}
	}
	errs := newErrors()
	atOnce(copiesAtOnce, missing, func(name string) {
		if ctx.Err() == nil {
			errs.add(c.object(ctx, pk, name))
		}
	})
	if err := errors.Join(errs.all(), ctx.Err()); err != nil {
		return err
	}
	if _, err := c.from.Get(ctx, pk, segment.HeadID(t.SID), version); !errors.Is(err, remote.ErrUnchanged) {
		if err == nil {
			err = remoteread.ErrLost
		}
		return err
	}
	return c.check(ctx, t, histories)
}

// copiesAtOnce is the number of objects of a session that are copied at once.
const copiesAtOnce = 4

// object copies an object, unless it was removed.
func (c *copier) object(ctx context.Context, pk, name string) error {
	o, err := c.from.Get(ctx, pk, name, "")
	if err != nil || o == nil {
		return err
	}
	if _, err := c.to.Commit(ctx, pk, []segment.Document{{ID: name, Label: o.Label, Body: o.Body}}, nil); err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Objects++
	c.sum.Bytes += int64(len(o.Label) + len(o.Body))
	return nil
}

// check reads everything that a head and its histories lead to from the other remote, each
// segment once. The error Is [ErrDamaged] where something is missing or another content.
func (c *copier) check(ctx context.Context, t *head.Head, histories []head.History) error {
	ends := map[segment.Stream][]segment.Point{segment.Transcript: {t.Transcript.Point()}}
	for st, extent := range t.Logs {
		ends[st] = append(ends[st], extent.Point())
	}
	for _, h := range histories {
		ends[h.Stream] = append(ends[h.Stream], h.Extent.Point())
	}
	for st, points := range ends {
		infos, err := c.to.Segments(ctx, t, st, 0)
		if err != nil {
			return err
		}
		read := map[string]bool{}
		for _, end := range points {
			spans, err := segment.Tile(st, infos, segment.Origin(st), end)
			if err != nil {
				return fmt.Errorf("stream %s: %w", st, remoteread.Damaged(err))
			}
			for _, s := range spans {
				at := fmt.Sprint(s.ID, " ", s.Upto.N)
				if read[at] {
					continue
				}
				for _, err := range c.to.Lines(ctx, st, infos, s.From, s.Upto, nil) {
					if err != nil {
						return err
					}
				}
				read[at] = true
			}
		}
	}
	for name, f := range t.Files {
		if _, err := c.to.File(ctx, t.SID, f); err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
	}
	return nil
}
