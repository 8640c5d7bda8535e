package gc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Prune keeps the copy of a session in the cloud small. It may be interrupted anywhere,
// and run by several devices at once and beside writers; the package's documentation
// explains why. With an error, it returns the result up to then. The error Is
// [remoteread.ErrDamaged] when a part of the session was left alone because it is
// damaged, and [remoteread.ErrContended] when other devices keep changing the head.
func Prune(ctx context.Context, s *Session, o Options) (Result, error) {
	p := &pruner{s: s, o: o}
	err := remoteread.Again(ctx, s.Random, func() error {
		err := p.round(ctx)
		if p.outdated(ctx, err) {
			err = fmt.Errorf("%w: %w", remoteread.ErrLost, err)
		}
		return err
	})
	return p.sum, err
}

// round does all steps once, by the present head.
func (p *pruner) round(ctx context.Context) error {
	p.sum.Waiting, p.sum.Due = 0, Result{}.Due
	if p.o.Plan {
		p.sum = Result{}
	}
	if err := p.readHead(ctx); err != nil {
		return err
	}
	if p.head == nil {
		return p.clearRemains(ctx)
	}
	if p.head.Deleted {
		return p.clearDeleted(ctx)
	}
	if !p.o.Plan {
		if err := p.finish(ctx); err != nil {
			return err
		}
	}
	if err := p.readHistories(ctx); err != nil {
		return err
	}
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	p.expire(i)
	damage := p.merge(ctx, i)
	full := errors.Is(damage, remote.ErrFull)
	if damage != nil && !full && !errors.Is(damage, remoteread.ErrDamaged) {
		return damage
	}
	before := p.sum.Removed
	err = p.collect(ctx, i)
	if full && p.sum.Removed > before {
		damage = nil // there is room for the next Prune to merge
	}
	return errors.Join(damage, err)
}

// collect removes the expired former heads of an inventory, and its garbage.
func (p *pruner) collect(ctx context.Context, i *inventory) error {
	live, over, names := i.live(), i.over, []string{}
	for _, h := range over {
		names = append(names, h.ID)
	}
	for _, d := range i.garbage(live, p.o.Grace, &p.sum) {
		names = append(names, d.Name)
	}
	for len(names) > 0 {
		n, err := p.remove(ctx, over, names)
		if err != nil {
			return err
		}
		over, names = over[min(n, len(over)):], names[n:]
	}
	return live.damage
}

// remove gives up former heads and removes documents, as many as fit into a request, and
// returns their number. The names begin with the names of the former heads.
func (p *pruner) remove(ctx context.Context, over []head.History, names []string) (n int, err error) {
	n = min(len(names), maxNames)
	if !p.o.Plan {
		err = p.condemn(ctx, over[:min(n, len(over))], names[:n])
	}
	if errors.Is(err, remote.ErrFull) {
		n = min(len(names), max(1, p.s.Reader.Batch(ctx).Objects-1))
		err = p.removeFull(ctx, over[:min(n, len(over))], names[:n])
	}
	if err != nil {
		return 0, err
	}
	expired := min(n, len(over))
	p.sum.Expired += expired
	p.sum.Removed += n - expired
	if p.o.Plan {
		return n, nil
	}
	return n, p.finish(ctx)
}

// Options are the options of Prune.
type Options struct {
	Grace     time.Duration // age of garbage, and of the segments in its place, at which it is removed
	Retention time.Duration // for how long former heads are kept; negative: for ever
	Plan      bool          // only report what there is to do
}

const (
	// MaxFirstUpload is how long the first upload of a session may take. A writer that
	// takes longer begins again.
	MaxFirstUpload = 3 * 24 * time.Hour
	// firstGrace is the least age at which documents are removed that no head guards.
	firstGrace = 7 * 24 * time.Hour
)

// Result counts the work that Prune did, or would do.
type Result struct {
	Merged   int // small segments that larger ones replaced
	Segments int // the larger segments
	Expired  int // histories that were given up
	Removed  int // documents, also entries of the catalogue
	Waiting  int // documents that are garbage, but too young

	// Due is the time when there will be more to do though nothing changes; zero for
	// never.
	Due time.Time
}

// wait notes that there is work to do at a time.
func (r *Result) wait(until time.Time) {
	if r.Due.IsZero() || until.Before(r.Due) {
		r.Due = until
	}
}

// A Project reads sessions of one project by their ids.
type Project struct {
	Reader   *remoteread.Reader
	Identity segment.Identity // of all sessions, without a name
}

// A Member is a session of a project in the cloud.
type Member struct {
	SID, Session string
	Head         *head.Head // nil: it has none
	Version      remote.Version
	Entry        *remoteread.Entry // of the catalogue; nil: none
}

// Read reads the head of each session, and its entry in the catalogue.
func (p *Project) Read(ctx context.Context, sessions []string) (all []*Member, err error) {
	for _, session := range sessions {
		m := &Member{Session: session}
		if err := p.read(ctx, m); err != nil {
			return nil, m.Named(err)
		}
		all = append(all, m)
	}
	return all, nil
}

func (p *Project) read(ctx context.Context, m *Member) error {
	of := p.Identity
	of.Session = m.Session
	m.SID = of.SID()
	t, known, err := p.Reader.Head(ctx, m.SID, remoteread.Known{})
	if err != nil {
		return err
	}
	m.Head, m.Version = t, known.Version
	m.Entry, err = p.Reader.EntryOf(ctx, of.UID(), m.SID)
	return err
}

// Named adds the name of the session to an error; nil stays nil.
func (m *Member) Named(err error) error {
	if err != nil {
		err = fmt.Errorf("session %q: %w", limits.ID(m.Session), err)
	}
	return err
}

// Session is a session to prune, with its known state.
type Session struct {
	SID    string
	Reader *remoteread.Reader // makes all requests
	Head   remoteread.Known   // the head as it was last read or written; Prune brings it up to date
	Entry  *remoteread.Entry  // of the catalogue; nil: it is left alone
	Device string             // the device that prunes
	Random *jitter.Source
}

// pruner prunes one session.
type pruner struct {
	s    *Session
	o    Options
	head *head.Head // nil: none
	sum  Result

	histories []head.History // all that the head names
}

// errLagging is returned when a list of documents did not have the head that was read. A
// round that meets it begins again.
var errLagging = fmt.Errorf("%w: the list of documents has another one", remoteread.ErrLost)

// readHead reads the head.
func (p *pruner) readHead(ctx context.Context) error {
	t, known, err := p.s.Reader.Head(ctx, p.s.SID, p.s.Head)
	if err == nil {
		p.head, p.histories, p.s.Head = t, nil, known
	}
	return err
}

// readHistories reads the histories that the head names.
func (p *pruner) readHistories(ctx context.Context) (err error) {
	p.histories, err = p.s.Reader.Histories(ctx, p.head, p.s.Head.Version)
	return err
}

// outdated reports whether a round met damage, and the head has changed since the round
// read it: documents that the older head led to may have been removed since.
func (p *pruner) outdated(ctx context.Context, err error) bool {
	if !errors.Is(err, remoteread.ErrDamaged) || p.head == nil {
		return false
	}
	doc, err := p.s.Reader.Get(ctx, p.pk(), segment.HeadID(p.s.SID), p.s.Head.Version)
	return err == nil && doc != nil
}

// pk returns the partition of the session's head.
func (p *pruner) pk() string { return segment.SessionPK(p.s.SID) }
