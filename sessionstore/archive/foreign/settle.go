package foreign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// settle returns the file to read instead of the file that sessions are made from: the file
// that the store keeps, if it has all records of the other, or both joined; else nil. If an
// earlier version made that file of several, there is nothing to make, and it leaves no
// sessions.
func (ld *lander) settle(ctx context.Context, ss *sessions) (kept *thread.File, leave func(), err error) {
	f, leave, first := ss.file, func() {}, ss.top
	if len(ss.all) > 0 {
		first = ss.all[0]
	}
	holder, place := first.id, first.place()
	if apart := lastApart(ld.has, f.Tool.Name(), first.id); apart != "" {
		holder, place = apart, importFolder
	}
	if !ld.has(holder) {
		return nil, leave, nil
	}
	md, err := ld.st.Metadata(ctx, holder)
	if err != nil {
		return nil, leave, err
	}
	if s := stateIn(md, place); s.SHA256 == f.Table.Sum && s.Pending == "" {
		return nil, leave, nil
	}
	dir := ld.kept(holder, place)
	rel, _, err := relate(ctx, f, dir)
	if err != nil || rel != within && rel != parted {
		return nil, leave, err
	}
	kept, leaveKept, err := joinKept(ctx, f, dir)
	if err == nil && kept == nil && rel == within {
		h, err := readHeader(dir)
		if err != nil {
			return nil, leave, err
		}
		if len(h.Copies) > 0 {
			ss.all = nil
			ld.done.Sessions = append(ld.done.Sessions, Imported{first.id, first.kind, Unchanged, 0})
			return nil, leave, nil
		}
		if kept, leaveKept, err = openKept(ctx, dir, f.Tool, f.ID); err != nil {
			return nil, leave, err
		}
	}
	if err != nil || kept == nil {
		return nil, leave, err
	}
	kept.Path = f.Path // which names a sub-agent
	ld.done.notes.Lines += kept.Table.LinesRead - f.Table.LinesRead
	return kept, leaveKept, nil
}

// hasThread reports whether a session of a thread has all records of a file that is a part
// of the thread and lacks its beginning. That session is the thread's own one, or a fork of
// records that the thread lost.
func (ld *lander) hasThread(ctx context.Context, f *thread.File, threadID string) (bool, error) {
	all, err := ld.st.List(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, s := range all {
		rel := unkept
		md, err := ld.st.Metadata(ctx, s.ID) // a session that cannot be read has none
		for _, place := range places {
			if st := stateIn(md, place); err == nil && rel != within && st.Tool == f.Tool.Name() && st.ID == threadID {
				rel, _, err = relate(ctx, f, ld.kept(s.ID, place))
			}
		}
		if ctx.Err() != nil {
			return false, err
		}
		if rel == within {
			ld.done.Sessions = append(ld.done.Sessions, Imported{s.ID, Conversation, Unchanged, 0})
			return true, nil
		}
	}
	return false, nil
}

// leaveOut leaves the parts of a thread out of its history that a rule keeps on this machine,
// where no rule keeps the session of the thread: it would carry their words away.
func (ld *lander) leaveOut(ctx context.Context, h *thread.History, project string) error {
	id, err := ld.sessionOf(h.ID)
	if err != nil {
		return err
	}
	slug, failed := projectOf(ld.p, *h, id, project)
	out := h.LeaveOut(func(part string) bool {
		kept, err := ld.binds(ctx, thread.UUID5(ld.tool.Name(), part), id, slug)
		failed = errors.Join(failed, err)
		return kept
	})
	for _, part := range out {
		ld.done.StandAlone = append(ld.done.StandAlone, thread.UUID5(ld.tool.Name(), part))
	}
	return failed
}

// stay has a new session stay on this machine, durably, before it appears, if it was here and a
// rule kept it, whose glob its new name may not fit, or if its file is an export of a session
// that stays, and that one is not here any more, or in another project.
func (ld *lander) stay(ctx context.Context, tg target) (err error) {
	if tg.parent != "" && binds(ctx, ld.st, tg.parent) {
		return nil
	}
	never := thread.UUID5(tg.file.Tool.Name(), tg.id) // a glob that keeps it, too, keeps all sessions
	kept, of := binds(ctx, ld.st, tg.id) && !binds(ctx, ld.st, never), tg.file.Table.Exported
	if !kept && of != "" {
		kept, err = ld.binds(ctx, of, "", "")
	}
	if !kept || err != nil {
		return err
	}
	return bookOf(ld.st).SetLocalOnly(tg.id, true)
}

// binds reports whether the rules of a project keep on this machine what comes from the session
// id, unless they keep the session to of the project named, which gets it.
func (ld *lander) binds(ctx context.Context, id, to, named string) (bool, error) {
	slugs, err := ld.p.Slugs(ctx)
	for _, slug := range slugs {
		st, err := ld.p.Store(slug)
		if err != nil {
			return false, err
		}
		elsewhere := to == "" || slug != named && core.Of(st).Has(id)
		if binds(ctx, st, id) && (elsewhere || !binds(ctx, st, to)) {
			return true, nil
		}
	}
	return false, err
}

// binds reports whether what comes from the session id of a store stays on this machine, too.
func binds(ctx context.Context, st *sessionstore.Store, id string) bool {
	globs := core.Of(st).Private()
	if len(globs) == 0 && !private.Remembers(st.Dir()) {
		return false
	}
	g := private.Guard{Dir: st.Dir(), Sessions: core.Of(st), Private: globs, Book: bookOf(st)}
	return g.Binds(ctx, id)
}

func bookOf(st *sessionstore.Store) *private.Book {
	return private.NewBook(st.Dir(), private.Opened(func() (*vfs.Dir, error) { return core.Of(st).Bookkeeping(private.Folder) }))
}

// takeUp moves sessions into the trash that earlier imports made of parts of a thread which
// stood alone, now that the session of the thread has what they say. A session that was changed
// here stays, and so does a session that the trash does not take.
func (ld *lander) takeUp(ctx context.Context, f *thread.File, all []thread.Segment) error {
	for _, s := range all {
		id := thread.UUID5(f.Tool.Name(), s.Part)
		if ld.dry || s.Part == "" || s.Borrowed || !ld.has(id) {
			continue
		}
		md, err := ld.st.Metadata(ctx, id)
		if err != nil {
			return err
		}
		has, err := ld.transcript(ctx, id, -1)
		if err != nil {
			return err
		}
		rel, _, err := relate(ctx, f, ld.kept(id, importFolder))
		if err != nil {
			return err
		}
		gone := trash.Deleted{}
		if (rel == wider || rel == grown) && stateIn(md, importFolder).Transcript == revisionText(has) && asImported(ld.kept(id, "")) {
			gone, err = trash.Delete(ctx, ld.st, []string{id}, &trash.Options{Reason: "the session of its thread has all of it", Quiet: -1})
		}
		if err != nil {
			return fmt.Errorf("take up session %q: %w", id, err)
		}
		if len(gone.Receipt.Sessions) == 0 {
			ld.done.StandAlone = append(ld.done.StandAlone, id)
		}
		for _, s := range gone.Receipt.Sessions {
			ld.done.TakenUp = append(ld.done.TakenUp, s.ID)
		}
	}
	return nil
}

// asImported reports whether a session's directory has nothing but what its last import wrote,
// which gives its files one time: who writes metadata later does not.
func asImported(dir string) bool {
	made := []string{
		".", sessiondir.Transcript, sessiondir.Backup(sessiondir.Transcript), sessiondir.Metadata, sessiondir.Backup(sessiondir.Metadata),
		importFolder, importFolder + "/" + originalFile, importFolder + "/" + mapFile,
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && !slices.Contains(made, path) {
			err = fs.ErrExist
		}
		return err
	})
	md, err1 := os.Stat(filepath.Join(dir, sessiondir.Metadata))
	of, err2 := os.Stat(filepath.Join(dir, importFolder, mapFile))
	return errors.Join(err, err1, err2) == nil && md.ModTime().Equal(of.ModTime())
}

// landAll brings sessions into the store. The session of the conversation comes last:
// messages that leave it are in another session before, and a killed import loses none.
func (ld *lander) landAll(ctx context.Context, all []target) (failed error) {
	before := len(ld.done.Sessions)
	var done []Imported
	for i := range all {
		one, err := ld.land(ctx, all[(i+1)%len(all)], all)
		if err == nil {
			done = append(done, one)
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			break
		}
	}
	if n := len(done); n > 1 && len(all) == n { // the session of the conversation comes first
		done = append(done[n-1:], done[:n-1]...)
	}
	ld.done.Sessions = slices.Insert(ld.done.Sessions, before, done...)
	return failed
}
