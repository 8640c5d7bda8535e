package syncer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// cloud is the session in the cloud, by the head that was last read or written.
type cloud struct {
	*session
	link     *remoteread.Reader
	pk       string
	head     *head.Head // nil: none
	version  remote.Version
	dead     *head.Head     // not nil: a tombstone, or the known part of one, which the next head replaces
	infos    []segment.Info // of the transcript, once listed
	former   []head.History // that the head formerOf names, once listed
	formerOf *head.Head
	lacking  []error // parts that are damaged

	cap  int      // of a segment, after a refusal for its size; 0: the default
	sent []string // op and birth of the heads that were sent: they identify our head after a lost answer
	left leftovers
}

// gc returns the session in the form of package gc.
func (c *cloud) gc() *gc.Session {
	return &gc.Session{SID: c.sid, Reader: c.link, Head: c.st.Head, Device: c.Device.ID, Random: c.Random}
}

// cloud begins a piece of work on the session in the cloud.
func (s *session) cloud() *cloud {
	link := s.Connect()
	return &cloud{session: s, link: link, pk: segment.SessionPK(s.sid)}
}

// cut returns how size bytes of lines are cut into segments.
func (c *cloud) cut(size int64) segment.Options {
	return segment.Options{SID: c.sid, Cap: c.cap, Size: size, Draw: func() string { return c.Random.Name(8) }}
}

// living returns the head that was read; nil where the cloud has none or a tombstone.
func (c *cloud) living() *head.Head {
	if c.head == nil || c.head.Deleted {
		return nil
	}
	return c.head
}

// lack records a part of the session that is damaged in the cloud and returns nil: the
// whole parts are installed without it. It returns every other error.
func (c *cloud) lack(name string, err error) error {
	if !errors.Is(err, remoteread.ErrDamaged) {
		return err
	}
	c.lacking = append(c.lacking, fmt.Errorf("%s: %w", name, err))
	return nil
}

// lacks returns the errors of the parts that could not be read; nil for none.
func (c *cloud) lacks() error { return errors.Join(c.lacking...) }

// leftovers are the documents that a sync stored ahead of a head. They wait for the head
// that leads to them. When the session is deleted or born anew instead, no head will ever
// lead to them, and the sync removes them: a removal may have looked before they came,
// and they may have forms that must not stay in the cloud.
type leftovers struct {
	mu  sync.Mutex // guards ids
	ids []string
}

// note notes a document that is stored.
func (l *leftovers) note(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id)
}

// clear forgets the documents: the head leads to them now.
func (l *leftovers) clear() { l.ids = nil }

// remove removes the documents.
func (l *leftovers) remove(ctx context.Context, r *remoteread.Reader, pk string) error {
	if err := r.Discard(ctx, pk, l.ids); err != nil {
		return fmt.Errorf("remove what was stored in vain: %w", err)
	}
	l.clear()
	return nil
}

// readHead reads the head, which costs one point read when it did not change.
func (s *work) readHead(ctx context.Context) error {
	was, last := s.st.Clone(), s.st.Head.Head(s.sid)
	s.turns = last != nil && last.Writer.Device == s.Device.ID
	born := s.st.Born
	t, known, err := s.cloud.link.Head(ctx, s.sid, s.st.Head)
	if errors.Is(err, remoteread.ErrOlder) && s.st.SeeOlder(time.Now()) {
		s.st.Estrange("")
		s.Vanished(ctx, s.sid)
		t, known, err = s.cloud.link.Head(ctx, s.sid, remoteread.Known{})
	}
	if err != nil {
		return err
	}
	if s.st.See(s.sid, t, known) {
		s.Vanished(ctx, s.sid)
	}
	s.cloud.head, s.cloud.version, s.cloud.dead = t, known.Version, nil
	if t == nil {
		s.cloud.head = s.st.Head.Head(s.sid) // nil, or a tombstone
	}
	if s.passes(t) {
		return s.passOver(ctx, was)
	}
	if t != nil && slices.Contains(s.cloud.sent, t.Op) {
		s.out.Pushed = true // by a request whose answer was lost
		s.cloud.left.clear()
	}
	reborn := s.st.Born != born && born != ""
	if reborn {
		if err := s.reborn(ctx, was); err != nil {
			*s.st = *was
			return err
		}
	}
	if t != nil && (t.Deleted || reborn && !slices.Contains(s.cloud.sent, t.Born)) {
		return s.removeLeft(ctx)
	}
	return nil
}

// removeLeft removes the documents that this sync stored for a session that was deleted,
// or born anew by another device, since. No head of this sync will lead to them: a commit
// that is still under way expects an earlier version of the head. A tombstone gets a new
// version before.
func (s *work) removeLeft(ctx context.Context) error {
	c := s.cloud
	if len(c.left.ids) == 0 {
		return nil
	}
	if c.head.Deleted {
		version, err := gc.Renew(ctx, c.gc(), c.head, c.version)
		if err != nil {
			return err
		}
		c.version, s.st.Head.Version = version, version
	}
	return c.left.remove(ctx, c.link, c.pk)
}

// outdated reports whether a round met damage, and the head has changed since the round
// read it: documents that the older head led to may have been removed since.
func (c *cloud) outdated(ctx context.Context, err error) bool {
	damage := errors.Is(err, remoteread.ErrDamaged) || err == nil && len(c.lacking) > 0
	if !damage || c.head == nil || c.version == "" {
		return false
	}
	doc, err := c.link.Get(ctx, c.pk, segment.HeadID(c.sid), c.version)
	return err == nil && doc != nil
}

// has reports whether p is on the history that ends at to.
func (c *cloud) has(ctx context.Context, p, to segment.Point) (bool, error) {
	infos, err := c.listed(ctx)
	if err != nil {
		return false, err
	}
	_, err = segment.Tile(segment.Transcript, infos, p, to)
	if errors.Is(err, segment.ErrOffside) {
		return false, nil
	}
	return err == nil, remoteread.Damaged(err)
}

// branchHas returns a function that reports whether a point is on a branch that ends at
// tip. For a damaged branch it reports false.
func (c *cloud) branchHas(ctx context.Context, tip segment.Point) syncplan.Has {
	return func(p segment.Point) (bool, error) {
		has, err := c.has(ctx, p, tip)
		if errors.Is(err, remoteread.ErrDamaged) {
			return false, nil
		}
		return has, err
	}
}

// planBranches returns the branches in the form of package syncplan.
func (c *cloud) planBranches(ctx context.Context) (all []syncplan.Branch, err error) {
	known, err := c.histories(ctx)
	for _, h := range known {
		if h.Branch() {
			all = append(all, syncplan.Branch{ID: h.ID, Tip: h.Extent.Point(), Has: c.branchHas(ctx, h.Extent.Point())})
		}
	}
	return all, err
}

// replaced returns a function that reports whether a point was on a former head.
func (c *cloud) replaced(ctx context.Context) syncplan.Has {
	if len(c.head.Histories.Former) == 0 {
		return nil
	}
	return func(p segment.Point) (bool, error) {
		former, err := c.histories(ctx)
		if err != nil {
			return false, err
		}
		for _, h := range former {
			if h.Branch() || h.Stream != segment.Transcript || h.Extent.N < p.N {
				continue
			}
			if h.Extent.Point() == p {
				return true, nil
			}
			if on, err := c.has(ctx, p, h.Extent.Point()); on || err != nil && !errors.Is(err, remoteread.ErrDamaged) {
				return on, err
			}
		}
		return false, nil
	}
}

// histories returns the former heads and branches; see [remoteread.Reader.Histories]. It lists
// them once for a head.
func (c *cloud) histories(ctx context.Context) (all []head.History, err error) {
	if c.former == nil || c.formerOf != c.head {
		if c.former, err = c.link.Histories(ctx, c.head, c.version); err != nil {
			all, c.former = c.former, nil
			return all, err
		}
		c.formerOf = c.head
	}
	return c.former, nil
}

// listed returns all segments of the transcript, on whatever history.
func (c *cloud) listed(ctx context.Context) ([]segment.Info, error) {
	if c.infos != nil {
		return c.infos, nil
	}
	infos, err := c.link.Segments(ctx, c.head, segment.Transcript, 0)
	if err == nil {
		c.infos = append([]segment.Info{}, infos...)
	}
	return infos, err
}

// common returns the number of records that this device's transcript shares with the
// cloud's.
func (s *work) common(ctx context.Context) (int64, error) {
	infos, err := s.cloud.listed(ctx)
	if err != nil {
		return 0, err
	}
	return shared(ctx, s.local.main, infos, s.cloud.head.Transcript.Point())
}

// shared returns the number of first lines that h has in common with a history of its
// stream in the cloud, which ends at with.
func shared(ctx context.Context, h *track.Chain, infos []segment.Info, with segment.Point) (int64, error) {
	spans, err := segment.Tile(h.Stream, infos, segment.Origin(h.Stream), with)
	if err != nil {
		return 0, remoteread.Damaged(err)
	}
	return h.Shared(ctx, spans)
}
