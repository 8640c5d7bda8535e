package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A sync changes the files of a session only when no program is sure to lose by
// it: one that keeps the messages in memory and saves them later would undo what
// the sync brought. This table is the rule. The first line that fits decides;
// "here" is the program that asks, which is this store: another store of the same
// process is another program. "Used" means that it wrote the session, or called
// Refresh for it, in the last ten minutes.
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
// What waits is Behind, and synced again each Interval. Package inuse knows
// which programs live and what they use, and what those wrote that have ended,
// also by a kill. A program that keeps messages in memory for longer than ten
// minutes calls Acquire, or Refresh before it goes on.
//
// The rule is asked before anything is fetched, and again for other programs of
// this library when the session is locked to be changed.

// quietFor is how long a session must not have been used by others before its
// files are changed.
const quietFor = inuse.Window

// errRuns is why the files of a session that somebody acquired stay.
var errRuns = fmt.Errorf("%w: somebody runs or writes the session", ErrDeferred)

// busy tells why the files must not be changed now; nil: they may be.
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
	use, told := l.use()
	if err := l.inUse(use); err != nil {
		return err
	}
	if (l.st.Synced && told || l.st.Own && (told || l.asked())) && !l.main.Torn {
		return nil
	}
	now := time.Now()
	if now.Sub(l.st.Quiet) < quietFor && now.Sub(l.main.File.Mtime) < quietFor {
		return fmt.Errorf("%w: a program wrote the session in the last %v", ErrDeferred, quietFor)
	}
	return nil
}

// inUse tells which program of this library uses the session, so that its files
// must not be changed now; nil: none does.
func (s *session) inUse(use inuse.Use) error {
	switch {
	case s.Mode == Resume && s.Core.Acquired(s.id): // the others cannot write it
		return nil
	case !use.Others.IsZero():
		return fmt.Errorf("%w: another program used the session %v ago", ErrDeferred, time.Since(use.Others).Round(time.Second))
	case use.Here && !s.asked():
		return fmt.Errorf("%w: this program used the session in the last %v", ErrDeferred, quietFor)
	}
	return nil
}

// use returns which programs of this library use the session. Where that cannot
// be told, told is false, and what is written counts as written by others.
func (s *session) use() (use inuse.Use, told bool) {
	if s.Programs == nil {
		return use, false
	}
	use, err := s.Programs.Look(s.id)
	if err != nil {
		s.Log.Info("programs that use sessions not read", "session", s.id, "err", err)
	}
	return use, err == nil
}

// noteWriter keeps in mind whether a program of this library wrote the
// transcript that stands here. own: this one did.
func (l *local) noteWriter(main *track.Chain, own bool) {
	if !own && (l.rewrote(main) || !l.st.Own && !l.st.Synced) {
		use, _ := l.use()
		own = use.Wrote(main.File.Mtime)
	}
	l.setWriter(main, own)
	if l.Programs != nil {
		l.Programs.Noted(l.id)
	}
}

// setWriter sets who wrote the transcript that stands here. own: this program did.
func (l *local) setWriter(main *track.Chain, own bool) {
	switch {
	case l.rewrote(main):
		l.st.Own, l.st.Synced, l.st.Quiet = own, false, time.Now()
	case own:
		l.st.Own = true
	}
}

// rewrote reports whether somebody wrote the transcript since it was last scanned.
func (l *local) rewrote(main *track.Chain) bool {
	return l.st.Main == nil || !l.st.Main.File.SameContent(main.File)
}

// change makes a change, by Change or Make of the store, and notes which
// files of the session it wrote: what a sync writes is nobody's use of it. The
// store tells of the files before another call of it may write the session.
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

// installing is a transaction that keeps in mind which files were written.
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
