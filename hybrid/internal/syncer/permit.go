package syncer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// permit decides whether the session may leave, and keeps the verdict.
func (c *cloud) permit(ctx context.Context) (privacy.Verdict, error) {
	is := c.Privacy.Judge(ctx, c.id)
	c.st.Orphan = false
	for _, ancestor := range is.Unknown {
		if is.Held != nil || !c.Core.Has(c.id) {
			break
		}
		known, err := c.inCloud(ctx, ancestor)
		if err != nil {
			return is, err
		}
		if !known {
			is.Held, c.st.Orphan = privacy.ErrOrphan, true
		}
	}
	c.st.Above = is.Above
	switch {
	case !c.Core.Has(c.id):
		return is, nil
	case c.st.Orphan:
		return is, errors.Join(is.Held, c.States.Save(c.sid, c.st)) // Status of the next program says so
	case is.Held != nil:
		return is, is.Held
	case is.Kept:
		if err := c.askWhetherSent(ctx); err != nil {
			return is, err
		}
		if c.st.Rule = private.Kept; is.Inherited {
			c.st.Rule = private.Inherited
		}
	case is.Child || c.st.Rule != private.NotJudged:
		c.st.Rule = private.Leaves
		if len(is.Unknown) > 0 {
			if err := c.Privacy.Book.Leaves(c.id); err != nil {
				return is, err
			}
		}
	default:
		return is, nil
	}
	return is, c.States.Save(c.sid, c.st)
}

// askWhetherSent asks the cloud for a session that a rule keeps here, in a Sync: a
// session that was sent before may have been removed there, and a session with no known
// state may have been sent. Where the cloud does not answer, the known state stays.
func (c *cloud) askWhetherSent(ctx context.Context) error {
	_, sent := c.remoteHas()
	if !c.asked() || c.fetches || c.recreates || !sent && (c.st.Rule != private.NotJudged || c.Table.Cursor().Whole) {
		return nil
	}
	t, known, err := c.link.Head(ctx, c.sid, c.st.Head)
	if err == nil && (t == nil || c.st.Born == "" || t.Born == c.st.Born) {
		c.st.See(c.sid, t, known)
	}
	if sent {
		return nil
	}
	return err
}

// inCloud reports whether the cloud has this session, or the session with the id parent.
// In the background it asks only for sessions in the catalogue, once that was read as a
// whole.
func (c *cloud) inCloud(ctx context.Context, parent string) (bool, error) {
	if len(c.st.Head.Doc) > 0 {
		return true, nil
	}
	for _, sid := range []string{c.SID(parent), c.sid} {
		if _, listed := c.Table.Entry(sid); !listed && !c.asked() && c.Table.Cursor().Whole {
			continue
		}
		doc, err := c.link.HeadDocument(ctx, sid)
		if err != nil || doc != nil {
			return doc != nil, err
		}
	}
	return false, nil
}

// rulesHold returns an error when lines of the session in the cloud went through
// rules that this program does not apply: it must not add lines that did not.
func (c *cloud) rulesHold() error { return c.Syncer.rulesHold(c.head) }

// rulesHold does the same for a session with the head t; nil for none.
func (e *Syncer) rulesHold(t *head.Head) error {
	if t == nil || t.Deleted {
		return nil
	}
	ranges := append([]head.Rules{{Version: t.Redaction}}, t.RulesOf(segment.Transcript)...)
	for st := range t.Logs {
		ranges = append(ranges, t.RulesOf(st)...)
	}
	for _, r := range ranges {
		if r.Version != "" && !e.Privacy.Applies(r.Version) {
			return fmt.Errorf("%w (this session: %q)", privacy.ErrRedaction, r.Version)
		}
	}
	return e.followsAnew(t)
}

// followsAnew returns an error when a session was sent anew under rules, and the rules of
// this program may find less: it would send again the text that was taken out.
func (e *Syncer) followsAnew(t *head.Head) error {
	rules := t.Anew.Rules
	if rules == "" || e.Privacy.Redact != nil && replica.Follows(e.Privacy.Redact.Version(), rules) {
		return nil
	}
	return fmt.Errorf("%w (this session was sent anew under %q)", privacy.ErrRedaction, rules)
}

// withoutRules turns a sync into a pull where this program lacks rules of the session,
// and returns the reason why nothing is sent.
func (v *work) withoutRules(a syncplan.Action) error {
	if v.barred == nil {
		if v.fetches && !diverges(a) {
			return nil
		}
		v.barred = v.cloud.rulesHold()
	}
	v.fetches = v.fetches || v.barred != nil
	return v.barred
}

// sends reports whether an action stores lines of the transcript here in the cloud.
func sends(a syncplan.Action) bool {
	return a.Kind == syncplan.Push || a.Kind == syncplan.Rewrite || diverges(a)
}

func diverges(a syncplan.Action) bool {
	return a.Kind == syncplan.Diverge || a.Kind == syncplan.Record
}

// A sync changes the files of a session only when no program is sure to lose by it: a
// program that keeps the messages in memory and saves them later would undo the work of
// the sync. This table is the rule. The first line that fits decides; "here" is the
// program that asks, which is this store: another store of the same process is another
// program. "Used" means that it wrote the session, or called Refresh for it, in the last
// ten minutes.
//
//	                                                      background  Sync, Pull  Refresh
//	another tool has begun an append and not ended it        waits       waits      waits
//	this store has acquired it                               waits       waits      takes
//	another program has acquired it, or writes it now        waits       waits      waits
//	another program of this library that lives used it       waits       waits      waits
//	it is used here                                          waits       takes      takes
//	a sync wrote it last                                     takes       takes      takes
//	a program of this library wrote it last                  takes       takes      takes
//	another program wrote it last, in the last ten minutes   waits       waits      waits
//	another program wrote it last, before that               takes       takes      takes
//
// A session that waits is Behind, and synced again each Interval. Package inuse records
// which programs live and which sessions they use, and which transcripts ended programs
// wrote, also those ended by a kill. A program that keeps messages in memory for longer
// than ten minutes calls Acquire, or Refresh before it goes on.
//
// The rule is asked before anything is fetched, and again for other programs of
// this library when the session is locked to be changed.

// quietFor is how long a session must not have been used by others before its
// files are changed. A use long after the present time was on a clock that was set back.
const quietFor = inuse.Window

// Busy is the reason why the files of a session are left as they are. It Is [ErrDeferred].
type Busy struct {
	Why   string
	Until time.Time // when that ends; zero: when the program ends
}

func (b *Busy) Error() string { return ErrDeferred.Error() + ": " + b.Why }

func (b *Busy) Unwrap() error { return ErrDeferred }

// Until returns when a reason to leave files as they are ends; zero: that is not known.
func Until(why error) (end time.Time) {
	if busy := (*Busy)(nil); errors.As(why, &busy) {
		end = busy.Until
	}
	return end
}

// errRuns is the reason why the files of an acquired session stay.
var errRuns = &Busy{Why: "somebody runs or writes the session"}

// busy returns the reason why the files must not be changed now; nil: they may be.
func (l *local) busy() error {
	switch {
	case !l.present:
		return nil
	case l.doubt != nil:
		return l.doubt
	case l.Mode == Resume && l.Core.Acquired(l.id):
		return nil
	case !l.Core.Free(l.id):
		return errRuns
	}
	use, announced := l.use()
	if err := l.inUse(use); err != nil {
		return err
	}
	if (l.st.Synced && announced || l.st.Own && (announced || l.asked())) && !l.main.Torn {
		return nil
	}
	now := time.Now()
	if now.Sub(l.st.Quiet).Abs() < quietFor && now.Sub(l.main.File.Mtime) < quietFor {
		since := l.st.Quiet
		if l.main.File.Mtime.Before(since) {
			since = l.main.File.Mtime
		}
		return &Busy{"another tool wrote the session in the last 10 minutes", since.Add(quietFor)}
	}
	return nil
}

// inUse returns an error when another program of this library uses the session, so that
// its files must not be changed now; nil: none does.
func (s *session) inUse(use inuse.Use) error {
	switch {
	case s.Mode == Resume && s.Core.Acquired(s.id): // the others cannot write it
		return nil
	case !use.Others.IsZero():
		return &Busy{"another program used the session in the last 10 minutes", use.Others.Add(quietFor)}
	case use.Here && !s.asked():
		return &Busy{Why: "this program used the session in the last 10 minutes"}
	}
	return nil
}

// use returns which programs of this library use the session. Where that is not known,
// told is false, and every write counts as a write of other programs.
func (s *session) use() (use inuse.Use, announced bool) {
	if s.Programs == nil {
		return use, false
	}
	use, err := s.Programs.Look(s.id)
	if err != nil {
		s.Log.Info("programs that use sessions not read", "session", s.id, "err", err)
	}
	return use, err == nil
}

// noteWriter records whether a program of this library wrote the present transcript. own:
// this program did.
func (l *local) noteWriter(main *track.Chain, own bool) {
	l.setWriter(main, own)
	if l.Programs != nil {
		l.Programs.Noted(l.id)
	}
}

// setWriter sets the writer of the present transcript. own: this program wrote it.
func (l *local) setWriter(main *track.Chain, own bool) {
	if !own && (l.rewrote(main) || !l.st.Own && !l.st.Synced) {
		use, _ := l.use()
		own = use.Wrote(main.File.Mtime)
	}
	switch {
	case l.rewrote(main):
		l.st.Own, l.st.Synced, l.st.Quiet = own, false, time.Now()
	case own:
		l.st.Own = true
	}
}

// rewrote reports whether the transcript was written since its last scan.
func (l *local) rewrote(main *track.Chain) bool {
	return l.st.Main == nil || !l.st.Main.File.SameContent(main.File)
}

// change makes a change, by Change or Make of the store, and records which files of the
// session it wrote: a write of a sync is no use of the session. The store reports these
// files before another call of it may write the session.
func (e *Syncer) change(ctx context.Context, change func(context.Context, string, func(core.Tx) error) error, id string, do func(core.Tx) error) error {
	err := change(ctx, id, func(tx core.Tx) error {
		defer e.Stats.Brought(id)
		b := &installing{Tx: tx}
		if err := do(b); err != nil {
			return err
		}
		e.Dirty.Install(id, b.files)
		return nil
	})
	if err != nil {
		e.Dirty.Install(id, nil)
	}
	return err
}

// installing is a transaction that records the names of the written files.
type installing struct {
	core.Tx
	files []string
}

func (b *installing) Changed(name string) {
	b.files = append(b.files, name)
	b.Tx.Changed(name)
}

func (b *installing) Renamed(name string) {
	b.files = append(b.files, name)
	b.Tx.Renamed(name)
}

func (b *installing) SetMetadata(md sessionstore.Metadata) error {
	b.files = append(b.files, sessiondir.Metadata)
	return b.Tx.SetMetadata(md)
}

func (b *installing) Replace(name string, r commit.Replacement) error {
	err := b.Tx.Replace(name, r)
	if err == nil {
		b.files = append(b.files, name)
	}
	return err
}
