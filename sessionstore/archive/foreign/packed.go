package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Some tools keep their sessions in a database, and import a session from a file by a command of
// their own.

// Takes returns the arguments with which the program of the tool imports the file of an export,
// nil for a tool that finds the file at its place. What the tool has of the session stays as it
// is.
func (t Tool) Takes(path string) []string {
	if db, ok := programs[string(t)].(thread.Database); ok {
		return db.Take(path)
	}
	return nil
}

// exportPacked is export into the file that the tool imports.
func exportPacked(ctx context.Context, st *sessionstore.Store, id string, tool thread.Tool, again int, w io.Writer, opts *ExportOptions) (done Exported, err error) {
	db, ok := tool.(thread.Database)
	if !ok {
		return export(ctx, st, id, tool, again, w, opts)
	}
	f, done, leave, err := draft(ctx, st, id, tool, again, opts)
	if err != nil {
		return done, err
	}
	defer leave()
	md, err := st.Metadata(ctx, id)
	if err == nil {
		err = db.Pack(ctx, f, md.Text("name"), w)
	}
	return done, err
}

// draft is export into a private file, which leave removes.
func draft(ctx context.Context, st *sessionstore.Store, id string, tool thread.Tool, again int, opts *ExportOptions) (f *os.File, done Exported, leave func(), err error) {
	if f, leave, err = thread.Scratch(); err != nil {
		return nil, done, nil, err
	}
	if done, err = export(ctx, st, id, tool, again, f, opts); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		leave()
	}
	return f, done, leave, err
}

// Continues reports whether a session of a tool that takes files can go on as an export does: all
// that the tool has is in the export. again is the number of a further export, see
// [ExportAgain].
func Continues(ctx context.Context, st *sessionstore.Store, id string, h History, again int, opts *ExportOptions) (goesOn bool, err error) {
	tool := programs[string(h.Tool)]
	if tool == nil {
		return false, fmt.Errorf("compare an export: %w %q", ErrTool, h.Tool)
	}
	f, leave, err := thread.Open(ctx, h.found.Source(h.Path), tool, h.ID, thread.NewNotes())
	if err != nil {
		return false, err
	}
	defer leave()
	made, _, remove, err := draft(ctx, st, id, tool, again, opts)
	if err != nil {
		return false, err
	}
	defer remove()
	theirs, failed := speaks(tool, f.Lines(ctx))
	ours, broken := speaks(tool, thread.LinesOf(ctx, made))
	if err = errors.Join(failed, broken); err != nil {
		return false, err
	}
	slices.Sort(theirs) // results may be in the order of the calls
	slices.Sort(ours)
	return thread.ContainsAll(ours, theirs), nil
}

// speaks returns what the lines say that are part of a conversation.
func speaks(tool thread.Tool, lines iter.Seq2[thread.Line, error]) (all []uint64, err error) {
	for l, err := range lines {
		if err != nil {
			return nil, err
		}
		if tool.Speaks(l.Bytes) {
			all = append(all, tool.Says(l.Bytes))
		}
	}
	return all, nil
}

// joinKept returns the lines of a session that a tool keeps in a database, with those that an
// import kept and the tool took back since. It is nil where its conversation would be another
// one.
func joinKept(ctx context.Context, f *thread.File, dir string) (j *thread.File, leave func(), err error) {
	db, ok := f.Tool.(thread.Database)
	if !ok {
		return nil, nil, nil
	}
	k, shut, err := openKept(ctx, dir, f.Tool, f.ID)
	if err != nil {
		return nil, nil, ctx.Err() // a copy that cannot be read has none
	}
	defer shut()
	out, leave, err := thread.Scratch()
	if err != nil {
		return nil, nil, err
	}
	if err = db.Join(ctx, k, f, out); err == nil {
		var size int64
		if size, err = out.Seek(0, io.SeekCurrent); err == nil {
			j, err = thread.Read(ctx, thread.Source{Segments: thread.Whole(f.Path)}, out, size, f.Tool, f.ID, thread.NewNotes())
		}
	}
	var ours, theirs []uint64
	if err == nil {
		ours, err = conversation(j)
	}
	if err == nil {
		theirs, err = conversation(f)
	}
	if err != nil || len(ours) == 0 || !slices.Equal(ours, theirs) {
		leave()
		return nil, nil, err
	}
	return j, leave, nil
}

// conversation returns what the records of a file's conversation say.
func conversation(f *thread.File) (all []uint64, err error) {
	for _, at := range f.Line(thread.WholeLine) {
		said, err := f.Says(at)
		if err != nil {
			return nil, err
		}
		all = append(all, said)
	}
	return all, nil
}
