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

// landing is a session that a target comes into.
type landing struct {
	target
	facts
	last  string // the last of the forks of what went on apart
	was   state
	has   sessionstore.Revision
	rel   relation
	known int64 // see relate
	plan  *plan
	turns int // of the tool, which the session lacks
}

// land brings one of all targets into the store: into the session with its id, or else,
// where the session and the file went on apart, into a fork.
func (ld *lander) land(ctx context.Context, tg target, all []target) (Imported, error) {
	first, at := tg, landing{last: lastApart(ld.has, tg.file.Tool.Name(), tg.id)}
	if at.last != "" {
		md, err := ld.st.Metadata(ctx, at.last)
		s := stateIn(md, importFolder)
		at.add(forked, err == nil && s.SHA256 == tg.file.Table.Sum && s.Pending == "")
	}
	for n := 0; n < maxDiverged; {
		at.target = tg
		do, err := ld.learn(ctx, &at, all)
		if err == nil && do == toPart {
			if n == 0 {
				if first.turn, err = ld.sharedTurns(ctx, at.target); err != nil {
					return Imported{}, err
				}
			}
			n++
			tg.id, tg.turn = divergedID(tg.file.Tool.Name(), first.id, n), first.turn
			tg.kind, tg.parent, tg.beside, tg.here = Diverged, first.id, "", nil
			at = landing{}
			continue
		}
		var done Imported
		if err == nil {
			done, err = ld.carryOut(ctx, &at, do)
		}
		if do == toCreate && errors.Is(err, fs.ErrExist) { // another import made it
			at = landing{facts: present}
			continue
		}
		if err != nil {
			err = fmt.Errorf("import into session %q: %w", tg.id, err)
		}
		return done, err
	}
	return Imported{}, fmt.Errorf("import into session %q: it went on %d times", first.id, maxDiverged)
}

// learn reads facts until they say what to do.
func (ld *lander) learn(ctx context.Context, at *landing, all []target) (do action, err error) {
	at.add(present, at.facts&(forked|present) == 0 && ld.has(at.id))
	at.add(keeps, at.original)
	at.add(comesHome, at.here != nil)
	for err == nil {
		switch do = decided(at.facts); do {
		case toOpen:
			err = ld.open(ctx, at)
		case toCompare:
			err = ld.compare(ctx, at)
		case toRender:
			err = ld.render(ctx, at)
		case toSearch:
			at.facts |= searched
			var loses bool
			loses, err = ld.loses(ctx, at.target, all, at.plan.r, at.rel)
			at.add(lost, loses)
		default:
			return do, nil
		}
	}
	return do, err
}

// carryOut does with a session what was decided, and adds that to the report.
func (ld *lander) carryOut(ctx context.Context, at *landing, do action) (done Imported, err error) {
	done = Imported{at.id, at.kind, Unchanged, 0}
	switch do {
	case toFollow:
		return Imported{at.last, Diverged, Unchanged, 0}, nil
	case toCreate:
		at.plan, err = ld.create(ctx, at.target)
		done.Action = Created
	case toName:
		err = ld.rename(ctx, at.target)
	case toNote:
		err = ld.change(ctx, at.target, at.has, at.plan, false)
	case toReplace:
		if at.here != nil && at.turns > 0 {
			ld.done.Home[at.id] = at.turns
		}
		err = ld.change(ctx, at.target, at.has, at.plan, true)
		done.Action = Updated
	}
	if err != nil {
		return Imported{}, err
	}
	ld.done.asked[ld.kept(at.id, at.place()+"/"+mapFile)] = true
	if at.plan != nil {
		done.Messages = at.plan.want.Messages
		ld.done.merge(at.target, at.plan, do != toStay)
	}
	return done, nil
}

// open reads the state of a session.
func (ld *lander) open(ctx context.Context, at *landing) error {
	md, err := ld.st.Metadata(ctx, at.id)
	at.was = stateIn(md, at.place())
	at.early = at.was.early()
	at.facts |= opened
	at.add(settled, at.was.SHA256 == at.file.Table.Sum)
	at.add(pending, at.was.Pending != "")
	at.add(unknown, at.was.Tool == "")
	name := at.name(&thread.Rendering{})
	differs := name != md.Text("name") && (name != "" && at.renames(md) || at.here != nil && at.was.Tool == "" && namedThere(md, at.file.Table))
	at.add(misnamed, differs || at.kind == Agent && at.adopts(md))
	return err
}

// compare compares the file with the one that a session keeps.
func (ld *lander) compare(ctx context.Context, at *landing) (err error) {
	at.facts |= related
	ld.done.asked[ld.kept(at.id, sessiondir.Transcript)] = true
	if at.has, err = ld.transcript(ctx, at.id, -1); err == nil && at.original {
		at.rel, at.known, err = relate(ctx, at.file, ld.kept(at.id, at.place()))
	}
	at.add(unlike, at.rel == unkept)
	at.add(covered, at.rel == within)
	at.add(renewed, at.rel == brought)
	at.add(split, at.rel == parted)
	return err
}

// render compares the messages that the file makes with those of a session.
func (ld *lander) render(ctx context.Context, at *landing) (err error) {
	at.facts |= rendered
	if at.plan, err = at.write(ctx, io.Discard, at.has); err != nil {
		return err
	}
	has, want, now := at.has, at.plan.want, revisionText(at.has)
	begins := want == has
	if want.Messages < has.Messages {
		first, err := ld.transcript(ctx, at.id, want.Messages)
		if err != nil {
			return err
		}
		begins = first == want
	}
	ours := now != at.was.Transcript && (now != at.was.Pending || at.was.Pending == "") || len(at.plan.r.FromHere) < at.was.Here
	some, behind, turns := at.plan.r.News(at.known, has.Messages)
	follow := at.plan.extends && behind && (at.rel == grown || at.was.Tool == "" || len(at.plan.r.FromHere) == has.Messages)
	at.turns = turns
	at.add(news, some)
	at.add(holds, begins && (ours || want == has))
	at.add(extends, at.plan.extends)
	at.add(unchanged, at.was.Transcript == revisionText(want))
	at.add(free, !ours || at.here != nil && follow)
	return nil
}

// create makes a new session.
func (ld *lander) create(ctx context.Context, tg target) (p *plan, err error) {
	write := func(w io.Writer) (err error) {
		p, err = tg.write(ctx, w, sessionstore.Revision{})
		return err
	}
	if ld.dry {
		err = write(io.Discard)
		return p, err
	}
	if err := ld.stay(ctx, tg); err != nil {
		return nil, err
	}
	err = core.Of(ld.st).Make(ctx, tg.id, func(tx core.Tx) error {
		f, md := files{tx, core.Of(ld.st), tg.place()}, sessionstore.Metadata{}
		if err := tx.Dir().Replace(sessiondir.Transcript, f.core.Syncs(), f.core.Now(), write); err != nil {
			return err
		}
		tx.Renamed(sessiondir.Transcript)
		if err := f.keep(ctx, tg, p.r); err != nil {
			return err
		}
		if err := tg.describe(&md, p.r, tg.state(p.r, p.want)); err != nil {
			return err
		}
		return errors.Join(tx.SetMetadata(md), f.date(p.r))
	})
	return p, err
}

func (tg target) state(r *thread.Rendering, made sessionstore.Revision) state {
	s := state{
		Tool: tg.file.Tool.Name(), ID: tg.file.ID, SHA256: tg.file.Table.Sum,
		Transcript: revisionText(made), Turns: r.Turns, Rules: rules, Usage: r.Usage,
		Here: len(r.FromHere), Early: tg.early, Call: tg.call,
	}
	if tg.mine != nil { // else the responses count in the session of which this is a branch
		s.Spent = tg.file.Table.Spent(tg.mine)
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
		s, former := tg.state(p.r, p.want), stateIn(md, tg.place())
		if s.Named = former.Named; !write && former.Pending == "" {
			err = errors.Join(tg.nameIn(&md, p.r, &s), md.Set(tg.place(), &s))
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

// rename gives a session the name and the parent that it has in the tool.
func (ld *lander) rename(ctx context.Context, tg target) error {
	if ld.dry {
		return nil
	}
	return core.Of(ld.st).ChangeOwned(ctx, tg.id, func(tx core.Tx) error {
		md, err := tx.Metadata()
		s := stateIn(md, tg.place())
		if err == nil {
			err = tg.nameIn(&md, &thread.Rendering{}, &s)
		}
		if err == nil && tg.beside != "" {
			err = md.Set(tg.beside, s)
		}
		if err != nil {
			return err
		}
		return tx.SetMetadata(md)
	})
}
