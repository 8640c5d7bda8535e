package foreign

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// rescuer knows the lines of a tool.
type rescuer interface {
	// isRecord reports whether an object is a line of the tool.
	isRecord(raw []byte) bool

	// id returns the id of the session that the lines name, "" where they name none.
	id(lines []line) string

	// order returns the lines in an order in which the tool finds all of them.
	order(lines []line, elsewhere func(uuid string) bool) ([]line, []Fault)

	// sent returns what the tool would send of a file with these lines.
	sent(f *thread.File, lines []line) []sent

	// apply returns the lines with the changes in the texts that are sent.
	apply(lines []line, all []sent, moved bool) []line

	// rename gives the lines new ids, which follow from the new id of the session.
	rename(lines []line, from, to string) []line

	// path returns where the tool looks for the new session.
	path(home string, h History, lines []line, id string) string
}

var rescuers = map[Tool]rescuer{Claude: claudeRescuer{}, Codex: codexRescuer{}}

// rescue is a call of [Rescue].
type rescue struct {
	RescueOptions
	p      *projects.Projects
	tool   thread.Tool
	knows  rescuer
	target accept.Target
}

// examined is what a file has, and what a session without faults would have instead.
type examined struct {
	debris
	talks bool // there is something to resume
}

// examine returns the faults of the bytes of a file, and lines without them.
func (r *rescue) examine(ctx context.Context, h History, data []byte) (e examined, err error) {
	e.debris = tear(data, r.knows.isRecord)
	elsewhere := func(uuid string) bool { return h.found.Near != nil && h.found.Near(ctx, thread.Hash(thread.ID(uuid))) }
	ordered, faults := r.knows.order(e.lines, elsewhere)
	e.lines, e.faults = ordered, append(e.faults, faults...)
	src := thread.Source{Segments: thread.Whole(h.Path)}
	raw := bytesOf(e.lines)
	f, err := thread.Read(ctx, src, bytes.NewReader(raw), int64(len(raw)), r.tool, h.ID, thread.NewNotes())
	if err != nil {
		return e, err
	}
	all := r.knows.sent(f, e.lines)
	e.talks = slices.ContainsFunc(all, func(s sent) bool { return !s.quiet })
	refused, moved := judge(all, e.lines, r.target)
	if len(refused) > 0 {
		e.lines, e.faults = r.knows.apply(e.lines, all, moved), append(e.faults, refused...)
	}
	slices.SortStableFunc(e.faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return e, nil
}

func bytesOf(lines []line) (data []byte) {
	for _, l := range lines {
		data = append(append(data, l.raw...), '\n')
	}
	return data
}

// one looks at a session, and makes a new one where it has faults that all can be mended.
func (r *rescue) one(ctx context.Context, h History) (done Rescued, err error) {
	done = Rescued{Tool: h.Tool, ID: h.ID, Path: h.Path}
	data, err := readWhole(ctx, h.Path)
	if err != nil {
		return done, err
	}
	e, err := r.examine(ctx, h, data)
	if err != nil {
		return done, err
	}
	done.Faults = e.faults
	own := 0
	for _, s := range h.found.Files[h.Path].Segments {
		if !s.Borrowed {
			own++
		}
	}
	switch {
	case len(e.faults) == 0:
		return done, nil
	case own > 1:
		done.Faults = append(done.Faults, Fault{Kind: "several_files"})
	case !e.talks:
		done.Faults = append(done.Faults, Fault{Kind: "unreadable"})
	}
	if !done.Mended() {
		return done, nil
	}
	done.ID = cmp.Or(r.knows.id(e.lines), h.ID)
	sum := sha256.Sum256(data)
	id := thread.UUID5(r.tool.Name(), "rescued/"+done.ID+"/"+hex.EncodeToString(sum[:]))
	lines := r.knows.rename(e.lines, done.ID, id)
	again, err := r.examine(ctx, h, bytesOf(lines))
	if err != nil {
		return done, err
	}
	for _, f := range again.faults { // there is no mend
		done.Faults = append(done.Faults, Fault{Kind: f.Kind, Reason: f.Reason})
	}
	if !done.Mended() {
		return done, nil
	}
	done.NewID, done.NewPath = id, r.knows.path(r.Home, h, lines, id)
	if r.DryRun {
		return done, nil
	}
	if done.Original, done.Damaged, err = r.keep(ctx, h, id, e.cut); err != nil {
		return done, err
	}
	return done, r.write(ctx, h, done, bytesOf(lines))
}

// readWhole returns the bytes of a file, also of a compressed one.
func readWhole(ctx context.Context, path string) ([]byte, error) {
	in, size, leave, err := thread.OpenPlain(ctx, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	return io.ReadAll(thread.ReaderUntil(ctx, io.NewSectionReader(in, 0, size)))
}

// rescuedFolder is the folder of the bookkeeping of a project with the files of which Rescue
// made new sessions. What is there stays on this machine.
const rescuedFolder = "rescued"

// keep copies the file of a session, as it is, and what is in no line of the new one.
func (r *rescue) keep(ctx context.Context, h History, id string, cut []byte) (original, damaged string, err error) {
	st, err := r.p.Store(h.Project())
	if err != nil {
		return "", "", err
	}
	dir, err := core.Of(st).Bookkeeping(rescuedFolder)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	name := r.tool.Name() + "-" + id + thread.HistorySuffix
	put := func(name string, from io.Reader) (path string, err error) {
		path = filepath.Join(dir.Root().Name(), name)
		return path, dir.Replace(name, true, time.Time{}, func(w io.Writer) error {
			_, err := io.Copy(thread.WriterUntil(ctx, w), from)
			return err
		})
	}
	if len(cut) > 0 {
		if damaged, err = put(name+".damaged", bytes.NewReader(cut)); err != nil {
			return "", "", err
		}
	}
	if strings.HasSuffix(h.Path, thread.PackedSuffix) {
		name += thread.PackedSuffix
	}
	f, _, err := thread.OpenRegular(h.Path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	original, err = put(name, f)
	return original, damaged, errors.Join(err, dir.Sync())
}

// write makes the new session, unless it is there, with the files of its sub-agents and its
// name.
func (r *rescue) write(ctx context.Context, h History, done Rescued, data []byte) error {
	if _, err := os.Lstat(done.NewPath); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	agents := filepath.Join(filepath.Dir(h.Path), done.ID, "subagents") + string(filepath.Separator)
	for _, path := range h.Agents {
		name, below := strings.CutPrefix(path, agents)
		if !below {
			continue
		}
		agent, err := readWhole(ctx, path)
		if err != nil {
			return err
		}
		lines := r.knows.rename(tear(agent, r.knows.isRecord).lines, done.ID, done.NewID)
		to := filepath.Join(strings.TrimSuffix(done.NewPath, thread.HistorySuffix), "subagents", name)
		if err := r.writeNew(ctx, to, bytesOf(lines)); err != nil {
			return err
		}
		about, err := os.ReadFile(r.tool.Beside(path))
		if err == nil {
			err = r.writeNew(ctx, filepath.Join(filepath.Dir(to), filepath.Base(r.tool.Beside(path))), about)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := addName(r.tool, r.Home, done.NewID, h.Title); err != nil {
		return err
	}
	return r.writeNew(ctx, done.NewPath, data)
}

// writeNew makes a file below the directory of the tool, which is whole when it appears.
func (r *rescue) writeNew(ctx context.Context, path string, data []byte) error {
	below, err := filepath.Rel(r.Home, filepath.Dir(path))
	if err != nil {
		return err
	}
	if err := inHome(r.Home, func(home *vfs.Dir) error { return home.MkdirAll(filepath.ToSlash(below)) }); err != nil {
		return err
	}
	return vfs.WriteNamed(ctx, path, "", func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// inHome calls do with the directory of a tool.
func inHome(path string, do func(home *vfs.Dir) error) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	home := vfs.New(root, nil)
	return errors.Join(do(home), home.Close())
}
