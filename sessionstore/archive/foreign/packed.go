package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	theirs, failed := speaks(ctx, tool, io.NewSectionReader(f.Reader, 0, f.Size))
	ours, broken := speaks(ctx, tool, made)
	if err = errors.Join(failed, broken); err != nil {
		return false, err
	}
	slices.Sort(theirs) // results may be in the order of the calls
	slices.Sort(ours)
	return thread.ContainsAll(ours, theirs), nil
}

// speaks returns what the lines say that are part of a conversation.
func speaks(ctx context.Context, tool thread.Tool, r io.Reader) (all []uint64, err error) {
	for l, err := range thread.LinesOf(ctx, r) {
		if err != nil {
			return nil, err
		}
		if tool.Speaks(l.Bytes) {
			all = append(all, tool.Says(l.Bytes))
		}
	}
	return all, nil
}
