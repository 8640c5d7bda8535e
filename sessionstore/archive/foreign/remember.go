package foreign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// An import notes what the next one would report, which then reads no file that did not
// change. A file did not change where its size, its times, its inode and its device are those
// that it had before it was read, and its times were older by then than a step of the file
// system's clock. Where the system reports no inode, as Windows, nothing is noted. The notes
// are in the bookkeeping of the project, where they may be lost or damaged at any time.

const (
	notesFolder = "imports" // of the bookkeeping: a file for each tool
	notesForm   = 2         // another one where a version makes something else of the same files
	maxNotes    = 64 << 20  // of a file of notes, in bytes: more are not read
)

// note is what an import of a history reports while nothing changes.
type note struct {
	Of       string   // the path of the history's file
	Asked    string   // facts of the history and of its files
	Near     string   // facts of the files of its folder, if they were asked for a record
	Sessions []string // files of sessions on which it depends, whether they are there or not
	State    string   // facts of these
	Empty    bool     // the error Is ErrEmpty
	Torn     string   // the error of files that are not whole

	Report            Report // without these:
	Damaged, Unplaced []notedLine
}

// notedLine is a LineError, with the path of its fs.PathError.
type notedLine struct {
	Line      int
	Path, Why string
}

// notes are the notes in several files, each read once.
type notes struct {
	mu    sync.Mutex
	files map[string]map[string][]byte // the rows by the path of the file, and by note.Of
	lines map[string]int               // of each file
	near  map[*string]string           // facts of the files of a folder, by the first path
}

func newNotes() *notes {
	return &notes{files: map[string]map[string][]byte{}, lines: map[string]int{}, near: map[*string]string{}}
}

// question is an import that may be noted. Its facts are older than all that it reads.
type question struct {
	*notes
	file  string // of notes
	slug  string // of the project that has this file
	of    string
	asked string // "": it is not noted
	near  []string
	found string // facts of the files of near, once they were asked for a record
}

// ask returns the question of an import.
func (ld *lander) ask(shared *notes, h *thread.History, o Options) *question {
	if shared == nil {
		shared = newNotes()
	}
	q := &question{notes: shared, slug: cmp.Or(o.Project, projectName(h.Dir, h.Folder, h.InFolder)), of: h.Path, near: h.Beside}
	q.file = filepath.Join(ld.p.Dir(), q.slug, "sessions", sessiondir.Bookkeeping, notesFolder, ld.tool.Name()+thread.HistorySuffix)
	sum, paths := xxh3.New(), []string{}
	fmt.Fprintf(sum, "%d %d %q %v%s", notesForm, rules, []string{o.Project, h.ID, h.Dir, h.Folder, h.Title, h.Parent}, h.Summaries, h.Rows)
	if h.Generated {
		fmt.Fprint(sum, "generated")
	}
	if h.Origin != nil {
		fmt.Fprintf(sum, "%q", []string{h.Origin.ID, h.Origin.Path})
	}
	for _, path := range append([]string{h.Path}, h.Agents...) {
		fmt.Fprintf(sum, "%q %q %+v", path, h.Shorter, h.Files[path])
		if paths = append(paths, h.Files[path].Origin); h.Parent != "" || path != h.Path {
			paths = append(paths, ld.tool.Beside(path))
		}
		for _, s := range h.Source(path).Segments {
			paths = append(paths, s.Path)
		}
	}
	if h.Rows != "" {
		paths = nil
	}
	if h.ThreadID == "" && ld.finds == nil {
		if now := factsOf(time.Now(), paths); now != "" { // else the next import reads again
			q.asked = hex.EncodeToString(sum.Sum(nil)) + now
		}
	}
	if has := h.Near; has != nil {
		h.Near = func(ctx context.Context, uuid uint64) bool {
			q.found = cmp.Or(q.found, q.ofNear())
			return has(ctx, uuid)
		}
	}
	return q
}

// ofNear returns facts of the files of the folder, as they were when they were first asked for.
func (q *question) ofNear() string {
	if len(q.near) == 0 {
		return "there are none"
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	first := &q.near[0]
	if _, known := q.notes.near[first]; !known {
		q.notes.near[first] = cmp.Or(factsOf(time.Now(), q.near), time.Now().String()) // which no others are
	}
	return q.notes.near[first]
}

// factsOf returns facts of files, which differ where one of them changed. They are "" where a
// change after the moment at might not show.
func factsOf(at time.Time, paths []string) string {
	sum := xxh3.New()
	for _, path := range paths {
		fi, err := os.Stat(path)
		if path == "" || errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(sum, "%q", path)
			continue
		}
		if err != nil {
			return ""
		}
		s := vfs.StampOf(fi, nil)
		if s.Inode == 0 || !vfs.Settled(nil, s, at) {
			return ""
		}
		fmt.Fprintf(sum, "%q %d %d %d %d %d", path, s.Dev, s.Inode, s.Size, s.Mtime.UnixNano(), s.Ctime.UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// allSettled is a moment at which the files of sessions are settled: they are replaced, and not
// changed in place.
var allSettled = time.Unix(1<<33, 0)

// recall reports whether nothing changed since the import was noted, and what it reports then.
func (q *question) recall(ctx context.Context, d *results) (same bool, err error) {
	if q.asked == "" || ctx.Err() != nil {
		return false, nil
	}
	q.mu.Lock()
	row := q.read()[q.of]
	q.mu.Unlock()
	var n note
	if json.Unmarshal(row, &n) != nil || n.Asked != q.asked || n.Near != "" && n.Near != q.ofNear() {
		return false, nil
	}
	if now := factsOf(allSettled, n.Sessions); now == "" || now != n.State {
		return false, nil
	}
	d.Report = n.Report
	d.Damaged, d.Unplaced = lineErrorsOf(n.Damaged), lineErrorsOf(n.Unplaced)
	switch {
	case n.Torn != "":
		err = errors.New(n.Torn)
	case n.Empty:
		err = ErrEmpty
	}
	return true, err
}

// read returns the notes in the question's file.
func (q *question) read() map[string][]byte {
	all := q.files[q.file]
	if all != nil {
		return all
	}
	all = map[string][]byte{}
	q.files[q.file] = all
	f, fi, err := thread.OpenRegular(q.file)
	if err != nil {
		return all
	}
	defer f.Close()
	raw, _ := io.ReadAll(io.NewSectionReader(f, 0, min(fi.Size(), maxNotes)))
	for row := range bytes.Lines(raw) {
		var n struct{ Of string }
		if json.Unmarshal(row, &n) == nil {
			all[n.Of] = row
		}
		q.lines[q.file]++
	}
	return all
}

// note notes what the next import reports, once this one has nothing to write. What fails
// costs the next import a reading.
func (q *question) note(ctx context.Context, ld *lander, failed error) {
	d := ld.done
	if q.asked == "" || ld.dry || d.unsure || len(d.StandAlone) > 0 || failed != nil && !errors.Is(failed, ErrEmpty) {
		return
	}
	n := note{
		Of: q.of, Asked: q.asked, Near: q.found, Sessions: slices.Sorted(maps.Keys(d.asked)), Empty: failed != nil,
		Report: d.Report, Damaged: notedLines(d.Damaged), Unplaced: notedLines(d.Unplaced),
	}
	n.State = factsOf(allSettled, n.Sessions)
	if d.notes.Torn != nil {
		n.Torn = d.notes.Torn.Error()
	}
	r := &n.Report
	r.Left, r.Blocks, r.Home, r.TakenUp, r.Damaged, r.Unplaced = d.left, d.blocks, map[string]int{}, nil, nil, nil
	r.Sessions = slices.Clone(r.Sessions)
	for i, s := range r.Sessions {
		if d.written[s.ID] {
			r.Sessions[i] = Imported{s.ID, s.Kind, Unchanged, 0}
		}
	}
	row, err := json.Marshal(n)
	st := ld.st
	if d.Project != q.slug { // the session is in another project
		st, _ = storeThere(ctx, ld.p, q.slug)
	}
	if err == nil && st != nil {
		q.add(st, row)
	}
}

// add writes a note, into a file that begins anew where most of its notes are of the past.
func (q *question) add(st *sessionstore.Store, row []byte) {
	dir, err := core.Of(st).Bookkeeping(notesFolder)
	if err != nil {
		return
	}
	defer dir.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	all, name, some := q.read(), filepath.Base(q.file), [][]byte{nil, row} // after a row that is torn
	all[q.of] = row
	if q.lines[q.file]++; q.lines[q.file] > 8*len(all)+100 {
		_ = dir.Remove(name)
		some, q.lines[q.file] = slices.Collect(maps.Values(all)), len(all)
	}
	if f, _, err := dir.Append(name); err == nil {
		_ = errors.Join(f.Write(append(bytes.Join(some, []byte("\n")), '\n'), 0), f.Close())
	}
}

func notedLines(all []LineError) (some []notedLine) {
	for _, e := range all {
		n := notedLine{Line: e.Line, Why: e.Err.Error()}
		if in, ok := errors.AsType[*fs.PathError](e.Err); ok {
			n.Path, n.Why = in.Path, in.Err.Error()
		}
		some = append(some, n)
	}
	return some
}

func lineErrorsOf(all []notedLine) (some []LineError) {
	for _, n := range all {
		e := LineError{n.Line, errors.New(n.Why)}
		if n.Path != "" {
			e.Err = &fs.PathError{Op: "read", Path: n.Path, Err: e.Err}
		}
		some = append(some, e)
	}
	return some
}
