package foreign

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// relation is how the tool's file compares to the file that a session keeps.
type relation uint8

const (
	unkept  relation = iota // the session keeps none that can be read, or one without records
	grown                   // the file begins with all that is kept
	wider                   // the file has all records that are kept
	within                  // the file has no record that is not kept
	brought                 // it has all of them and no others, in a later version of the format
	parted                  // each has records that the other one has not
)

// relate compares a file of the tool with the one in the folder of an import. Files are
// compared by their records, without a torn line at the end: files of Claude Code by the
// uuids and contents of the records, files of Codex by the lines that are part of the
// conversation. If the file begins with all bytes that are kept, known is their number.
func relate(ctx context.Context, f *thread.File, dir string) (rel relation, known int64, err error) {
	kept, _, err := thread.OpenRegular(filepath.Join(dir, originalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return unkept, 0, nil
	}
	if err != nil {
		return unkept, 0, err
	}
	known, err = beginsWith(ctx, f, kept)
	if err = errors.Join(err, kept.Close()); err != nil || known > 0 {
		return grown, known, err
	}
	k, leave, err := openKept(ctx, dir, f.Tool, f.ID)
	if err != nil {
		return unkept, 0, ctx.Err() // a copy that cannot be read is no loss
	}
	defer leave()
	theirs, err := f.Compared(ctx)
	if err != nil {
		return unkept, 0, err
	}
	ours, err := k.Compared(ctx)
	switch {
	case err != nil:
	case thread.ContainsAll(ours, theirs):
		if rel = within; f.Table.Version > k.Table.Version && thread.ContainsAll(theirs, ours) {
			rel = brought
		}
	case len(ours) == 0:
	case thread.ContainsAll(theirs, ours):
		rel = wider
	default:
		rel = parted
	}
	return rel, 0, err
}

// openKept opens the copy of the tool's file that an import kept in a folder.
func openKept(ctx context.Context, dir string, tool thread.Tool, id string) (*thread.File, func(), error) {
	h, err := readHeader(dir)
	if err != nil {
		return nil, nil, err
	}
	return thread.Open(ctx, thread.Source{Segments: thread.Whole(filepath.Join(dir, originalFile)), Layout: h.Layout}, tool, id, thread.NewNotes())
}

// openOriginal opens the tool's file that a session keeps, nil where it keeps none of that
// tool.
func openOriginal(ctx context.Context, dir string, tool thread.Tool, s state) (*thread.File, func()) {
	if tool == nil || s.Tool != tool.Name() {
		return nil, nil
	}
	f, leave, err := openKept(ctx, dir, tool, s.ID)
	if err != nil {
		return nil, nil
	}
	return f, leave
}

// beginsWith returns the length of the kept file where the other one begins with all of its
// bytes, and 0 where it does not.
func beginsWith(ctx context.Context, f *thread.File, kept io.Reader) (int64, error) {
	z, err := thread.NewDecoder(kept)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	ours, theirs := xxh3.New(), xxh3.New()
	n, err := io.Copy(ours, thread.ReaderUntil(ctx, z))
	if err != nil || n > f.Size { // a damaged copy is another file
		return 0, ctx.Err()
	}
	if _, err := io.Copy(theirs, io.NewSectionReader(f.Reader, 0, n)); err != nil {
		return 0, err
	}
	if ours.Sum128() != theirs.Sum128() {
		return 0, nil
	}
	return n, nil
}
