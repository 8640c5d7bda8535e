// Package land brings the sessions of a history into a store, and out of it again: it makes
// them, brings them up to date, and keeps messages that either side would lose.
package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// maxDiverged is how many sessions one history may make because both sides went on.
const maxDiverged = 1000

// land brings one of all targets into the store: into the session with its id, or else,
// where the session and the file went on apart, into a fork.
func (ld *lander) land(ctx context.Context, tg target, all []target) (Imported, error) {
	first := tg
	if last := lastApart(ld.has, tg.file.Tool.Name(), tg.id); last != "" {
		md, err := ld.st.Metadata(ctx, last)
		if s := stateIn(md, importFolder); err == nil && s.SHA256 == tg.file.Hash() && s.Pending == "" {
			return Imported{last, Diverged, Unchanged, 0}, nil
		}
	}
	for n := range maxDiverged {
		if n > 0 {
			tg.id = divergedID(tg.file.Tool.Name(), first.id, n)
			tg.kind, tg.parent, tg.beside, tg.here = Diverged, first.id, "", nil
		}
		done, p, apart, err := ld.try(ctx, tg, all)
		if err != nil {
			return Imported{}, fmt.Errorf("import into session %q: %w", tg.id, err)
		}
		if !apart {
			if p != nil {
				ld.done.merge(tg, p.r, p.notes)
			}
			return done, nil
		}
		if n > 0 {
			continue
		}
		if tg.turn, err = ld.sharedTurns(ctx, first); err != nil {
			return Imported{}, err
		}
	}
	return Imported{}, fmt.Errorf("import into session %q: it went on %d times", first.id, maxDiverged)
}

// try brings the target into the session with its id. It returns the plan of the target if
// it read the file for it. When the session has messages that the file lacks, and the file
// has others, it says that they went on apart, and does nothing.
func (ld *lander) try(ctx context.Context, tg target, all []target) (done Imported, p *plan, apart bool, err error) {
	if !ld.has(tg.id) {
		done, err = ld.create(ctx, tg)
		if !errors.Is(err, fs.ErrExist) {
			return done, nil, false, err
		}
	}
	md, err := ld.st.Metadata(ctx, tg.id)
	if err != nil {
		return done, nil, false, err
	}
	s, known := stateIn(md, tg.place()), Imported{tg.id, tg.kind, Unchanged, 0}
	if s.SHA256 == tg.file.Hash() && s.Pending == "" {
		return known, nil, false, nil
	}
	has, err := ld.transcript(ctx, tg.id, -1)
	if err != nil {
		return done, nil, false, err
	}
	now := revisionText(has)
	ours := now != s.Transcript && (now != s.Pending || s.Pending == "")
	rel, size := unkept, int64(0)
	if tg.original {
		if rel, size, err = relate(ctx, tg.file, ld.kept(tg.id, tg.place())); err != nil {
			return done, nil, false, err
		}
		if rel == within && s.Pending == "" {
			return known, nil, false, nil
		}
	}
	if p, err = tg.write(io.Discard, has); err != nil {
		return done, nil, false, err
	}
	ours = ours || p.r.FromHere < s.Here
	begins := p.want == has
	if p.want.Messages < has.Messages {
		first, err := ld.transcript(ctx, tg.id, p.want.Messages)
		if err != nil {
			return done, nil, false, err
		}
		begins = first == p.want
	}
	done = Imported{tg.id, tg.kind, Unchanged, p.want.Messages}
	any, behind, turns := p.r.News(size, has.Messages)
	comes := p.extends && behind && (rel == grown || s.Tool == "" || p.r.FromHere == has.Messages)
	switch {
	case tg.here != nil && !any && s.Tool == "": // the file has nothing but the export
		return done, p, false, nil
	case begins && (ours || has == p.want):
		if rel == parted || !tg.original && s.Pending == "" {
			return done, p, false, nil
		}
		return done, p, false, ld.change(ctx, tg, has, p, false)
	case !ours || tg.here != nil && comes:
		if apart, err = ld.loses(ctx, tg, all, p, rel); err != nil || apart {
			return done, nil, apart, err
		}
		if done.Action = Updated; tg.here != nil && turns > 0 {
			ld.done.Home[tg.id] = turns
		}
		return done, p, false, ld.change(ctx, tg, has, p, true)
	case tg.here != nil && !any || s.Transcript == revisionText(p.want) && s.Pending == "": // ours went on, and differs from the last import
		return done, p, false, nil
	}
	return done, nil, true, nil
}

// create makes a new session.
func (ld *lander) create(ctx context.Context, tg target) (done Imported, err error) {
	var p *plan
	write := func(w io.Writer) (err error) {
		p, err = tg.write(thread.WriterUntil(ctx, w), sessionstore.Revision{})
		return err
	}
	if ld.dry {
		err = write(io.Discard)
	} else if err = ld.stay(ctx, tg); err == nil {
		err = core.Of(ld.st).Make(ctx, tg.id, func(tx core.Tx) error {
			f, md := files{tx, core.Of(ld.st), tg.place()}, sessionstore.Metadata{}
			if err := f.first(write); err != nil {
				return err
			}
			if err := f.keep(ctx, tg, p.r); err != nil {
				return err
			}
			if err := tg.describe(&md, p.r, tg.state(p.r, p.want)); err != nil {
				return err
			}
			return errors.Join(tx.SetMetadata(md), f.date(p.r))
		})
	}
	if err != nil {
		return done, err
	}
	ld.done.merge(tg, p.r, p.notes)
	return Imported{tg.id, tg.kind, Created, p.want.Messages}, nil
}

func (tg target) state(r *thread.Rendering, made sessionstore.Revision) state {
	s := state{
		Tool: tg.file.Tool.Name(), ID: tg.file.ID, SHA256: tg.file.Hash(),
		Transcript: revisionText(made), Turns: r.Turns, Rules: rules, Usage: r.Usage,
		Spent: tg.spent(), Here: r.FromHere,
	}
	if tg.kind == Conversation {
		for _, id := range tg.file.Table.Facts.GoesOn {
			s.ContinuedIn = append(s.ContinuedIn, thread.UUID5(tg.file.Tool.Name(), id))
		}
	}
	return s
}

// change writes the target into the session that has the transcript has, its own transcript
// only where write is set. It holds no transcript in memory.
//
// A transcript is announced in metadata before it is written, and the tool's file is kept
// before that. So the next import completes a killed one, also if the tool's file has
// become shorter in between, and does not take its messages for turns of ours. The
// announcement is removed with the metadata that fit the new transcript.
func (ld *lander) change(ctx context.Context, tg target, has sessionstore.Revision, p *plan, write bool) error {
	if ld.dry {
		return nil
	}
	return core.Of(ld.st).ChangeOwned(ctx, tg.id, func(tx core.Tx) error {
		f := files{tx, core.Of(ld.st), tg.place()}
		was, err := tx.Dir().Stat(sessiondir.Transcript)
		if err != nil {
			return err
		}
		now, err := ld.transcript(ctx, tg.id, -1)
		if err != nil {
			return err
		}
		if now != has {
			return sessionstore.ErrConflict
		}
		md, err := tx.Metadata()
		if err != nil {
			return err
		}
		if write {
			if err := f.announce(&md, tg, has, p.want); err != nil {
				return err
			}
		}
		if err := f.keep(ctx, tg, p.r); err != nil {
			return err
		}
		if write {
			if err := f.transcript(ctx, tg, was, p.want); err != nil {
				return err
			}
		}
		s := tg.state(p.r, p.want)
		if !write && stateIn(md, tg.place()).Pending == "" {
			err = errors.Join(tg.nameIn(&md, p.r), md.Set(tg.place(), s))
		} else {
			err = tg.describe(&md, p.r, s)
		}
		if err != nil {
			return err
		}
		if err := tx.SetMetadata(md); err != nil || !write && p.want != has || tg.place() != importFolder { // ours went on
			return err
		}
		return f.date(p.r)
	})
}
