package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/accept/scale"
)

const (
	titlesFile = "session_index.jsonl" // the names of the sessions
	noFolder   = "-codex"              // for files that name no directory
)

// Tool is the Codex CLI.
type Tool struct{}

func (Tool) Name() string { return "codex" }

func (Tool) Program() thread.Program {
	return thread.Program{
		Title: "Codex", Home: ".codex", Moved: "CODEX_HOME", Totals: true, Resume: "resume", Names: titlesFile,
		Target: func() accept.Target { return accept.Target{Provider: accept.OpenAIResponses, Scale: scale.Picture} },
	}
}

func (Tool) Format(l *thread.Layout, _ func(uuid uint64) bool, origin iter.Seq2[thread.Line, error]) thread.Format {
	return &format{layout: *l, origin: origin}
}

func (Tool) Maker(w *thread.LineWriter, a thread.About) thread.Maker { return &maker{w: w, about: a} }

func (Tool) Says(raw []byte) uint64 {
	l, _ := parse(raw)
	return l.says()
}

func (Tool) IsCompared(r thread.Record) bool {
	return r.Is(thread.IsPerson | thread.IsAssistant | thread.HasResults)
}

func (Tool) Beside(string) string { return "" }

func (Tool) Repeats(string) (copied, question bool) { return false, false }

// Find: a file of a sub-agent belongs to the history of the session that began it, where
// that is there.
func (Tool) Find(ctx context.Context, home string) ([]thread.History, error) {
	var found []*rollout
	var failed error
	for _, folder := range []string{"sessions", "archived_sessions"} {
		some, err := below(ctx, filepath.Join(home, folder))
		found, failed = append(found, some...), errors.Join(failed, err)
	}
	found, err := joinThreads(ctx, found)
	failed = errors.Join(failed, err)
	titles, err := titlesIn(filepath.Join(home, titlesFile))
	failed = errors.Join(failed, err)
	byID := map[string]*rollout{}
	for _, f := range found {
		f.Title = titles[f.ID]
		byID[f.ID] = f
	}
	begun := map[string][]*rollout{} // by the session that began them
	var all []*rollout
	for _, f := range found {
		if parent := byID[f.lineage.Spawner]; parent != nil && !isAncestor(byID, f, parent) {
			begun[parent.ID] = append(begun[parent.ID], f)
			continue
		}
		all = append(all, f)
	}
	files := thread.FileSet{}
	for _, f := range found {
		files[f.Path] = thread.Together{Segments: f.segments, Broken: f.broken, Title: f.Title}
		if from := byID[cmp.Or(f.lineage.Original, f.lineage.Spawner)]; from != nil && from != f && f.base == nil {
			of := files[f.Path]
			of.Origin = from.Path
			files[f.Path] = of
		}
	}
	var histories []thread.History
	for _, f := range all {
		f.Files = files
		f.adopt(begun, f.ID)
		histories = append(histories, f.History)
	}
	return histories, failed
}

// isAncestor reports whether f is one of those that began a session, or the
// session, which happens in damaged files.
func isAncestor(byID map[string]*rollout, f, of *rollout) bool {
	for range len(byID) {
		if of == nil {
			return false
		}
		if of.ID == f.ID {
			return true
		}
		of = byID[of.lineage.Spawner]
	}
	return of != nil
}

// adopt adds the files of the sub-agents that a session began, and of the sub-agents that
// these began.
func (f *rollout) adopt(begun map[string][]*rollout, id string) {
	for _, sub := range begun[id] {
		f.Agents, f.Shorter = append(f.Agents, sub.Path), append(f.Shorter, sub.Shorter...)
		if sub.Modified.After(f.Modified) {
			f.Modified = sub.Modified
		}
	}
	for _, sub := range begun[id] {
		f.adopt(begun, sub.ID)
	}
}

// below lists the files below a directory, in the order of their paths.
func below(ctx context.Context, dir string) (found []*rollout, failed error) {
	failed = thread.Below(ctx, dir, func(open *thread.Folder, path string, e fs.DirEntry) error {
		name := strings.TrimSuffix(e.Name(), thread.PackedSuffix)
		if !e.Type().IsRegular() || !strings.HasPrefix(name, filePrefix) || !strings.HasSuffix(name, thread.HistorySuffix) {
			return nil
		}
		if name != e.Name() { // compressed: the plain file beside it is newer
			if _, err := os.Stat(strings.TrimSuffix(path, thread.PackedSuffix)); err == nil {
				return nil
			}
		}
		f, err := beginningOf(ctx, open, path, e)
		if err == nil && f != nil {
			found = append(found, f)
		}
		return err
	})
	return found, failed
}

// beginningOf returns the history in a file, from the beginning of the file.
func beginningOf(ctx context.Context, open *thread.Folder, path string, e fs.DirEntry) (*rollout, error) {
	file, fi, err := open.Open(path, e)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it was compressed or archived in between
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, leave, err := thread.PlainReader(file)
	if err != nil {
		return nil, err
	}
	defer leave()
	mark := int64(0)
	s, f := thread.Scanning{Table: &thread.Table{End: -1}, Notes: thread.NewNotes()}, &format{}
	for l, err := range thread.LinesOf(ctx, io.LimitReader(r, thread.MaxBeginning)) {
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		if l.End == int64(len(l.Bytes))+1 && bytes.HasPrefix(l.Bytes, []byte("\ufeff")) { // the first line
			mark = 3
		}
		_ = f.Scan(&s, l.Bytes) // a damaged line says nothing here
		if s.Table.Lineage.ID != "" && s.Table.Dir != "" {
			break
		}
	}
	id := cmp.Or(s.Table.Lineage.ID, idIn(path))
	return &rollout{lineage: s.Table.Lineage, from: f.base, mark: mark, History: thread.History{
		ID: id, Path: path, Dir: s.Table.Dir, Folder: noFolder, Size: fi.Size(), Modified: fi.ModTime(),
		Spawned: s.Table.Lineage.Spawner != "",
	}}, nil
}

// maxTitles is how much of the file of names is read, in bytes: its end.
const maxTitles = 16 << 20

// titlesIn returns the names of sessions, of which the last counts.
func titlesIn(path string) (map[string]string, error) {
	f, fi, err := thread.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	titles := map[string]string{}
	begin := max(0, fi.Size()-maxTitles)
	for l, err := range thread.LinesOf(context.Background(), io.NewSectionReader(f, begin, fi.Size()-begin)) {
		if err != nil {
			return titles, err
		}
		raw, _ := thread.Object(l.Bytes) // the first one may be cut
		if m := thread.Members(raw, "id", "thread_name"); thread.Text(m[0]) != "" && strings.TrimSpace(thread.Text(m[1])) != "" {
			titles[thread.ID(thread.Text(m[0]))] = thread.Text(m[1])
		}
	}
	return titles, nil
}
