package hybrid

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
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

// CopyResult is the outcome of a [Copy].
type CopyResult struct {
	Sessions int   `json:"sessions"` // in the remote that is copied, with the removed ones
	Copied   int   `json:"copied"`   // whose head was stored
	Objects  int   `json:"objects"`  // stored beside the heads
	Bytes    int64 `json:"bytes"`    // of these
}

// ErrElsewhere is returned for a session that two remotes have with different histories, or
// that only one of them removed.
var ErrElsewhere = errors.New("the other remote has the session with another history, or only one of them removed it: sync a device with one and then with the other, which keeps both histories there, or remove it from both")

// Copy copies the sessions of a user's project from one remote to another one: their
// lines, files and histories, the logs of all devices, and the tombstones of removed
// sessions. Objects keep their names and contents, so devices that change to the other
// remote find the heads that they know. A head is stored last, after everything that it
// leads to was read from the other remote, with all hashes checked. At the end all heads
// are compared again, and later changes are copied too.
//
// Copy may end at any time; another call goes on, and copies the rest. A session that
// the other remote has with another beginning, or that devices went on with there and here,
// is not touched: its error Is [ErrElsewhere]. Copy goes on after a session that fails; the
// error joins the failures. done, which may be nil, is called after each session by one
// goroutine at a time.
func Copy(ctx context.Context, from, to remote.Remote, user, project string, done func()) (CopyResult, error) {
	who := segment.Identity{User: user, Project: project}
	c := &copier{uid: who.UID(), done: done, failed: map[string]error{}}
	err := who.Check()
	if err == nil {
		err = c.connect(ctx, from, to)
	}
	for changed := true; err == nil && changed; {
		changed, err = c.round(ctx)
	}
	for _, sid := range slices.Sorted(maps.Keys(c.failed)) {
		err = errors.Join(err, c.failed[sid])
	}
	return c.sum, wrap("copy", "", err)
}

// copier is the work of a Copy.
type copier struct {
	from, to    *remoteread.Reader
	here, there string // identities of from and to
	uid         string
	done        func()
	rounds      int

	mu     sync.Mutex // guards the fields below
	failed map[string]error
	sum    CopyResult
}

func (c *copier) connect(ctx context.Context, from, to remote.Remote) error {
	unasked, end := context.WithCancel(ctx)
	end()
	here, _ := from.Info(unasked) // the identity comes at once
	there, _ := to.Info(unasked)
	if c.here, c.there = here.Identity, there.Identity; c.here == c.there {
		return errors.New("the two remotes are one")
	}
	c.from = &remoteread.Reader{Remote: throttle.New(from, new(Limits).shared(), nil)}
	c.to = &remoteread.Reader{Remote: throttle.New(to, new(Limits).shared(), nil)}
	return nil
}

// copyRounds is the number of times that heads which change during a Copy are copied.
const copyRounds = 5

// round copies the sessions whose heads differ, without those that failed before, and
// reports whether there were any. Its error concerns all sessions.
func (c *copier) round(ctx context.Context) (changed bool, err error) {
	if c.rounds++; c.rounds > copyRounds {
		return false, fmt.Errorf("%w: end the programs that sync with it, and copy again", ErrContended)
	}
	var entries []remoteread.Entry
	for entry, err := range c.from.Entries(ctx, c.uid, "", time.Time{}) {
		if err != nil {
			return false, fmt.Errorf("read catalogue: %w", err)
		}
		if c.failed[entry.SID] == nil {
			entries = append(entries, entry)
		}
	}
	c.sum.Sessions = len(entries) + len(c.failed)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	atOnce(maxSyncs, entries, func(entry remoteread.Entry) {
		did := false
		err := remoteread.Again(ctx, nil, func() (err error) {
			did, err = c.session(ctx, entry.SID)
			return err
		})
		if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrBlocked) && !errors.Is(err, remote.ErrRefused) {
			cancel(err) // it is the same for all sessions
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if did {
			c.sum.Copied++
			changed = true
		}
		if err != nil && ctx.Err() == nil {
			c.failed[entry.SID] = wrap("copy", entry.Session, err)
		}
		if c.done != nil {
			c.done()
		}
	})
	return changed, context.Cause(ctx)
}

// session copies a session, and reports whether it stored a head. The error Is
// [remoteread.ErrLost] where a head changed since it was read.
func (c *copier) session(ctx context.Context, sid string) (changed bool, err error) {
	t, known, err := c.from.Head(ctx, sid, remoteread.Known{})
	if err != nil || t == nil { // without a head, its first upload never ended
		return false, err
	}
	there, theirs, err := c.to.Head(ctx, sid, remoteread.Known{})
	if err != nil || there != nil && there.Deleted && t.Deleted {
		return false, err
	}
	if bytes.Equal(theirs.Doc, known.Doc) {
		return false, c.arrived(ctx, sid, known.Doc)
	}
	own, err := c.lists(ctx, c.from, sid, true)
	if err != nil {
		return false, err
	}
	has, err := c.lists(ctx, c.to, sid, there != nil)
	if err != nil {
		return false, err
	}
	mark := copyMark(sid, c.here, known.Doc)
	switch {
	case there == nil:
	case there.Born != t.Born:
		return false, ErrElsewhere
	case has[copyMark(sid, "", known.Doc)] || own[copyMark(sid, c.there, known.Doc)]: // devices went on there
		return false, nil
	case there.Revision >= t.Revision || !own[copyMark(sid, "", theirs.Doc)] && !has[copyMark(sid, c.here, theirs.Doc)]:
		return false, ErrElsewhere
	}
	entry := t.Catalogue(c.uid, t.Name())
	if _, err := c.to.WriteEntry(ctx, &entry, ""); err != nil { // before the first object, as at a first upload
		return false, fmt.Errorf("write catalogue: %w", err)
	}
	swap := remoteread.Swap(segment.Document{ID: segment.HeadID(sid), Label: segment.Label(head.TypeHead), Body: known.Doc}, theirs.Version)
	var marks []segment.Document
	if !t.Deleted {
		if err := c.objects(ctx, t, known.Version, own, has); err != nil {
			return false, err
		}
		marks = append(marks, segment.Document{ID: mark, Label: segment.Label("copy")})
	}
	for name := range has { // of a removed session nothing stays but the head
		if name != swap.Name && (t.Deleted || name != mark && strings.HasPrefix(name, sid+copied)) {
			swap.Remove = append(swap.Remove, name)
		}
	}
	if _, err := c.to.Commit(ctx, segment.SessionPK(sid), marks, swap); err != nil {
		return false, remoteread.Lost(err)
	}
	if !t.Deleted {
		err = c.arrived(ctx, sid, known.Doc)
	}
	return true, err
}

// copied is part of the names of marks, of which doc.go says what follows. They stay until
// the next copy or the removal of the session: no pruning removes them.
const copied = "-copy-"

// copyMark returns the name of the mark of a head. With the identity of a remote, the mark
// records that this remote had the head, and is stored before the head. Without one, it
// records that the remote which holds the mark had the head, and is stored after it.
func copyMark(sid, identity string, doc []byte) string {
	sum := sha256.Sum256(append([]byte(identity), doc...))
	return fmt.Sprintf("%s%s%x", sid, copied, sum[:12])
}

// arrived records that the other remote had a head.
func (c *copier) arrived(ctx context.Context, sid string, doc []byte) error {
	pk, mark := segment.SessionPK(sid), copyMark(sid, "", doc)
	was, err := c.to.Get(ctx, pk, mark, "")
	if err == nil && was == nil {
		_, err = c.to.Commit(ctx, pk, []segment.Document{{ID: mark, Label: segment.Label("copy")}}, nil)
	}
	return err
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

// objects copies the objects of own, a session's, that the other remote lacks, and checks that it
// has everything that the head t leads to. The head is still the same afterwards, so
// nothing that it leads to was removed while it was copied.
func (c *copier) objects(ctx context.Context, t *head.Head, version remote.Version, own, has map[string]bool) error {
	pk := segment.SessionPK(t.SID)
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
