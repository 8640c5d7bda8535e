package foreign

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The files that an import keeps beside a conversation.
const (
	folder       = "import"
	originalFile = "original.jsonl.zst"
	mapFile      = "map.jsonl"
)

// maxDiverged is how many sessions one history may make because both sides went on.
const maxDiverged = 1000

// lander makes and updates sessions of one store. A nil store is one that does not
// exist yet, in a dry run.
type lander struct {
	st  *sessionstore.Store
	dry bool
}

// land brings the target into the store: into the session with its id, or else,
// where both went on, into a fork.
func (ld *lander) land(ctx context.Context, tg target) (Imported, error) {
	first := tg
	for n := range maxDiverged {
		if n > 0 {
			tg.id = uuid5(tg.tool, first.id+"/diverged/"+strconv.Itoa(n))
			tg.kind, tg.parent = Diverged, first.id
		}
		done, next, err := ld.try(ctx, tg)
		if err != nil {
			return Imported{}, fmt.Errorf("import into session %q: %w", tg.id, err)
		}
		if next == nil {
			return done, nil
		}
		tg.turn = next.Turns
	}
	return Imported{}, fmt.Errorf("import into session %q: it went on %d times", first.id, maxDiverged)
}

// try brings the target into the session with its id. It returns the state of that
// session and does nothing when both went on.
func (ld *lander) try(ctx context.Context, tg target) (done Imported, other *state, err error) {
	if ld.st == nil || !core.Of(ld.st).Has(tg.id) {
		done, err = ld.create(ctx, tg)
		if !errors.Is(err, fs.ErrExist) {
			return done, nil, err
		}
	}
	md, err := ld.st.Metadata(ctx, tg.id)
	if err != nil {
		return done, nil, err
	}
	s := stateOf(md)
	if s.SHA256 == tg.hash() && s.Pending == "" {
		return Imported{tg.id, tg.kind, Unchanged, 0}, nil, nil
	}
	r, want, err := tg.revision(tg.report)
	if err != nil {
		return done, nil, err
	}
	tg.countLeft(r, tg.report)
	has, begins, err := ld.compare(ctx, tg.id, want)
	if err != nil {
		return done, nil, err
	}
	done = Imported{tg.id, tg.kind, Unchanged, want.Messages}
	now := revisionText(has)
	ours := now != s.Transcript && (now != s.Pending || s.Pending == "")
	switch {
	case begins && (ours || has == want):
		if !tg.original && s.Pending == "" {
			return done, nil, nil
		}
		return done, nil, ld.change(ctx, tg, has, revised{r, want, false})
	case !ours:
		done.Action = Updated
		return done, nil, ld.change(ctx, tg, has, revised{r, want, true})
	case s.Transcript == revisionText(want) && s.Pending == "": // ours went on, and is no longer what it was
		return done, nil, nil
	}
	return done, &s, nil
}

func (h *history) hash() string { return hex.EncodeToString(h.t.sum[:]) }

// compare returns the transcript of a session, and whether it begins with want.
func (ld *lander) compare(ctx context.Context, id string, want sessionstore.Revision) (has sessionstore.Revision, begins bool, err error) {
	c := newTally()
	begins = c.revision() == want
	for m, err := range ld.st.Messages(ctx, id) {
		if err != nil {
			return has, false, err
		}
		c.add(m)
		if c.n == want.Messages {
			begins = c.revision() == want
		}
	}
	return c.revision(), begins, nil
}

// keep lets the tool's file be read where the session keeps it, if it does.
func (ld *lander) keep(h *history, id string) error {
	if ld.st == nil || h.file.kept != nil {
		return nil
	}
	kept, err := os.OpenInRoot(filepath.Join(ld.st.Dir(), id), folder+"/"+originalFile)
	if err != nil { // there is none yet: the tool's file is read
		return nil
	}
	return h.file.keep(kept, h.t.sums)
}

// create makes a new session.
func (ld *lander) create(ctx context.Context, tg target) (Imported, error) {
	done := Imported{tg.id, tg.kind, Created, 0}
	if ld.dry {
		r, want, err := tg.revision(tg.report)
		if err == nil {
			tg.countLeft(r, tg.report)
		}
		done.Messages = want.Messages
		return done, err
	}
	report := newReport()
	err := core.Of(ld.st).Make(ctx, tg.id, func(tx core.Tx) (err error) {
		f := files{tx, core.Of(ld.st)}
		if tg.original {
			defer func() { err = errors.Join(err, tg.file.leave()) }() // the directory gets its name then
		}
		if err := f.original(ctx, tg); err != nil {
			return err
		}
		var r *rendering
		var made sessionstore.Revision
		err = f.replace(tx.Dir().Dir, sessiondir.Transcript, func(w io.Writer) (err error) {
			r, made, err = tg.writeTranscript(contextWriter{ctx, w}, report)
			return err
		})
		if err != nil {
			return err
		}
		tx.Renamed(sessiondir.Transcript)
		if err := f.mapping(ctx, r); err != nil {
			return err
		}
		md := sessionstore.Metadata{}
		if err := tg.describe(&md, r, tg.state(r, made)); err != nil {
			return err
		}
		tg.countLeft(r, report)
		done.Messages = made.Messages
		return tx.SetMetadata(md)
	})
	if err == nil {
		tg.report.merge(report)
	}
	return done, err
}

func (tg target) state(r *rendering, made sessionstore.Revision) state {
	own, copied := tg.spending()
	return state{
		Tool: string(tg.tool), ID: tg.history.id, SHA256: tg.hash(),
		Transcript: revisionText(made), Turns: r.turns, Usage: r.usage,
		Spent: own, Copied: copied,
	}
}

// revised is what a target makes of a session that is there.
type revised struct {
	r     *rendering
	made  sessionstore.Revision
	write bool // the session's transcript is another one, and does not begin with it
}

// change writes the target into the session that has the transcript has. It holds
// no transcript in memory.
//
// A transcript is announced in metadata before it is written. So an import that
// was killed is completed by the next one, and is not taken for turns of ours. The
// announcement goes with the metadata that fit the new transcript.
func (ld *lander) change(ctx context.Context, tg target, has sessionstore.Revision, to revised) error {
	if ld.dry {
		return nil
	}
	return core.Of(ld.st).ChangeOwned(ctx, tg.id, func(tx core.Tx) error {
		f := files{tx, core.Of(ld.st)}
		was, err := tx.Dir().Stat(sessiondir.Transcript)
		if err != nil {
			return err
		}
		now, _, err := ld.compare(ctx, tg.id, has)
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
		if to.write {
			if err := f.announce(&md, to.made); err != nil {
				return err
			}
			if err := f.transcript(ctx, tg, was, to.made); err != nil {
				return err
			}
		}
		if err := f.original(ctx, tg); err != nil {
			return err
		}
		if err := f.mapping(ctx, to.r); err != nil {
			return err
		}
		if !to.write && stateOf(md).Pending == "" {
			if err := md.Set(member, tg.state(to.r, to.made)); err != nil {
				return err
			}
		} else if err := tg.describe(&md, to.r, tg.state(to.r, to.made)); err != nil {
			return err
		}
		return tx.SetMetadata(md)
	})
}

// files writes the files of one session.
type files struct {
	tx   core.Tx
	core core.Store
}

// announce tells in metadata which transcript comes.
func (f files) announce(md *sessionstore.Metadata, made sessionstore.Revision) error {
	s := stateOf(*md)
	s.Pending = revisionText(made)
	if err := md.Set(member, s); err != nil {
		return err
	}
	return f.tx.SetMetadata(*md)
}

// transcript replaces the transcript that has the stamp was by the one with the
// revision made. What stood there becomes the backup. The error Is ErrChanged when
// the tool's file makes another one by now.
func (f files) transcript(ctx context.Context, tg target, was sessiondir.Stamp, made sessionstore.Revision) error {
	return f.tx.Replace(sessiondir.Transcript, commit.Replacement{
		Was: was, Time: atomicfile.Now(was.Mtime),
		Write: func(w io.Writer) error {
			_, wrote, err := tg.writeTranscript(contextWriter{ctx, w}, newReport())
			if err == nil && wrote != made {
				err = ErrChanged
			}
			return err
		},
		Rotate: func() (bool, error) { return true, nil },
	})
}

// original keeps the tool's file, if the target does, and lets it be read there.
func (f files) original(ctx context.Context, tg target) error {
	if !tg.original {
		return nil
	}
	err := f.beside(originalFile, func(w io.Writer) error { return tg.writeOriginal(contextWriter{ctx, w}) })
	if err != nil || tg.file.kept != nil {
		return err
	}
	kept, err := f.tx.Dir().Root().Open(folder + "/" + originalFile)
	if err != nil {
		return err
	}
	return tg.file.keep(kept, tg.t.sums)
}

func (f files) mapping(ctx context.Context, r *rendering) error {
	return f.beside(mapFile, func(w io.Writer) error { return r.writeMap(contextWriter{ctx, w}) })
}

// beside writes a file in the folder of the import.
func (f files) beside(name string, write func(io.Writer) error) (err error) {
	top := f.tx.Dir().Dir
	if err := top.Mkdir(folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := top.Root().OpenRoot(folder)
	if err != nil {
		return err
	}
	dir := top.At(root)
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := f.replace(dir, name, write); err != nil {
		return err
	}
	f.tx.Renamed(folder + "/" + name)
	if !f.core.Syncs() {
		return nil
	}
	return errors.Join(dir.Sync(), top.Sync())
}

func (f files) replace(dir *atomicfile.Dir, name string, write func(io.Writer) error) error {
	return dir.Replace(name, f.core.Syncs(), f.core.Now(), write)
}
