package intake

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options say what becomes of what is brought in.
type Options struct {
	ID   string // of the new session; "": the one that it had, else a fresh one
	Name string // "": the one that it had
}

// Result is a session that was brought in.
type Result struct {
	ID       string
	Was      string // the id that it had; "" where that is not known
	Messages int
	Files    int
	Bytes    int64

	// Damage tells that the transcript came as it was, damaged; it Is
	// [sessionstore.ErrCorrupt].
	Damage error
}

// ErrNoSession tells that what was brought in is no session.
var ErrNoSession = errors.New("it holds neither transcript.jsonl nor metadata.json")

// Take makes a session of src in st. It appears whole, and durable if the
// store promises that, or not at all. Files keep their bytes and times; with
// another id, that of the metadata changes, and that of the events does not.
// Lines of a transcript must all be messages, and get metadata.
//
// The error Is fs.ErrExist when there is such a session already, and
// [sessionstore.ErrInvalidID] when there can be none.
func Take(ctx context.Context, st *sessionstore.Store, src Source, o Options) (Result, error) {
	res := Result{ID: o.ID, Was: src.ID}
	if res.ID == "" {
		res.ID = src.ID
	}
	if res.ID == "" {
		res.ID = sessionstore.NewID()
	}
	err := st.Inside().Make(ctx, res.ID, func(k *sessionstore.Work) error {
		t := taking{in: st.Inside(), work: k, opts: o, res: &res, seen: map[string]bool{}}
		if src.Lines {
			return t.transcript(ctx, src)
		}
		return t.files(ctx, src)
	})
	if err != nil {
		return Result{}, fmt.Errorf("import session %q: %w", res.ID, err)
	}
	return res, nil
}

// taking is a session that is being made.
type taking struct {
	in   sessionstore.Inside
	work *sessionstore.Work
	opts Options
	res  *Result
	seen map[string]bool
}

func (t *taking) files(ctx context.Context, src Source) error {
	for f, err := range src.Files {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if f.Path == ownership.FenceName || f.Path == sessiondir.Marker || hidden(f.Path) {
			continue
		}
		if err := t.file(f); err != nil {
			return err
		}
	}
	if !t.seen[sessiondir.Transcript] && !t.seen[sessiondir.Metadata] {
		return ErrNoSession
	}
	rows, _, err := t.work.Transcript()
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	t.res.Messages, t.res.Damage = len(rows), err
	return nil
}

// file writes one file.
func (t *taking) file(f File) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) || strings.ContainsAny(f.Path, "\\\x00") || path.Clean(f.Path) != f.Path {
		return fmt.Errorf("%q is not a path inside of a session", f.Path)
	}
	if t.seen[f.Path] {
		return fmt.Errorf("%q is there twice", f.Path)
	}
	t.seen[f.Path] = true
	if f.Path == sessiondir.Metadata {
		var err error
		if f.Content, err = t.metadata(f.Content); err != nil {
			return err
		}
	}
	dir, leave, err := t.directory(path.Dir(f.Path))
	if err != nil {
		return err
	}
	err = dir.Replace(path.Base(f.Path), t.in.Sync(), f.Modified, func(w io.Writer) error {
		n, err := io.Copy(w, f.Content)
		t.res.Bytes += n
		return err
	})
	if err == nil && t.in.Sync() {
		err = dir.Sync()
	}
	if err = errors.Join(err, leave()); err != nil {
		return err
	}
	t.res.Files++
	t.work.Renamed(f.Path)
	return nil
}

// directory opens a directory in that of the session, and makes it.
func (t *taking) directory(name string) (dir *atomicfile.Dir, leave func() error, err error) {
	dir = t.work.Dir().Dir
	if name == "." {
		return dir, func() error { return nil }, nil
	}
	parts := strings.Split(name, "/")
	leave = func() error { return nil }
	for _, part := range parts {
		err := dir.Mkdir(part)
		switch {
		case errors.Is(err, fs.ErrExist):
			err = nil
		case err == nil && t.in.Sync():
			err = dir.Sync()
		}
		if err != nil {
			return nil, nil, errors.Join(err, leave())
		}
		root, err := dir.Root().OpenRoot(part)
		if err = errors.Join(err, leave()); err != nil {
			return nil, nil, err
		}
		dir = dir.At(root)
		leave = dir.Close
	}
	return dir, leave, nil
}

// mostMetadata is how large metadata may be to be changed.
const mostMetadata = 256 << 20

// metadata returns metadata with the session's id and name, and as they came
// where these are right already, or where they are damaged.
func (t *taking) metadata(r io.Reader) (io.Reader, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostMetadata+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostMetadata {
		return nil, fmt.Errorf("%s is larger than %d MiB", sessiondir.Metadata, mostMetadata>>20)
	}
	md, err := sessionstore.ParseMetadata(text)
	if err != nil {
		return bytes.NewReader(text), nil
	}
	if t.res.Was == "" {
		t.res.Was = md.Text("session_id")
	}
	changed := false
	for _, m := range []struct{ name, value string }{{"session_id", t.res.ID}, {"name", t.opts.Name}} {
		if m.value == "" || md.Text(m.name) == m.value || m.name == "session_id" && t.res.ID == t.res.Was {
			continue
		}
		if err := md.Set(m.name, m.value); err != nil {
			return nil, err
		}
		changed = true
	}
	if changed {
		text = md.AppendTo(nil)
	}
	return bytes.NewReader(text), nil
}

// transcript makes a session of lines.
func (t *taking) transcript(ctx context.Context, src Source) error {
	created, turns := time.Time{}, 0
	for f, err := range src.Files {
		if err != nil {
			return err
		}
		err = t.work.Dir().Replace(sessiondir.Transcript, t.in.Sync(), t.in.Now(), func(w io.Writer) error {
			return eachLine(ctx, f.Content, func(n int, line []byte) error {
				m, err := sessionstore.ParseMessage(line)
				if err != nil {
					return fmt.Errorf("line %d: %w", n, err)
				}
				if at, ok := m.Timestamp(); ok && created.IsZero() {
					created = at
				}
				if m.Role() == "user" {
					turns++
				}
				t.res.Messages++
				t.res.Bytes += int64(len(line)) + 1
				_, err = w.Write(append(m.AppendTo(nil), '\n'))
				return err
			})
		})
		if err != nil {
			return err
		}
		t.res.Files++
		t.work.Renamed(sessiondir.Transcript)
	}
	if created.IsZero() {
		created = t.in.Now()
	}
	return t.born(created, turns)
}

// born gives a session of lines the metadata of a new one.
func (t *taking) born(created time.Time, turns int) error {
	dir := t.in.Workspace()
	if dir == "" {
		dir, _ = os.Getwd() // a process without a working directory has none to tell
	}
	md, err := sessionstore.NewMetadata(struct {
		ID      string `json:"session_id"`
		Created string `json:"created"`
		Bundle  string `json:"bundle"`
		Model   string `json:"model"`
		Turns   int    `json:"turn_count"`
		Dir     string `json:"working_dir"`
		Name    string `json:"name,omitempty"`
	}{t.res.ID, created.UTC().Format("2006-01-02T15:04:05.000000+00:00"), "unknown", "unknown", turns, dir, t.opts.Name})
	if err != nil {
		return err
	}
	return t.work.SetMetadata(md)
}

// eachLine calls do for each line that is not blank, counted from 1. It holds
// one line in memory.
func eachLine(ctx context.Context, r io.Reader, do func(n int, line []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if text := bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			if derr := do(n, text); derr != nil {
				return derr
			}
		}
		if err != nil {
			return nil
		}
	}
}
