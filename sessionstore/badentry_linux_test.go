package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/verify"
)

func init() { children["bad entries"] = readBadEntries }

// soundOnes is how many sound sessions lie beside a bad entry: more than one portion of a
// listing.
const soundOnes = 40

// failsIn says which calls fail on an entry, and name it.
type failsIn uint8

const (
	inSummaries failsIn = 1 << iota
	inFind
	inUsage
	inVerify
	inAll = inSummaries | inFind | inUsage | inVerify
)

// badEntry is an entry of a sessions directory beside sound sessions.
type badEntry struct {
	name   string
	id     string                             // "bad" if empty
	put    func(t *testing.T, dir, id string) // root runs it; every user may read what it makes otherwise
	listed bool                               // the reference lists it
	fails  failsIn
}

func sessionIn(t *testing.T, dir, id string) {
	t.Helper()
	write(t, user("word of "+id)+"\n", dir, id, transcriptFile)
	write(t, `{"session_id": "`+id+`", "created": "2026-09-01T10:00:00+00:00", "turn_count": 1}`, dir, id, metadataFile)
}

// closed makes a session, of which a user may not do something.
func closed(mode fs.FileMode, path ...string) func(*testing.T, string, string) {
	return func(t *testing.T, dir, id string) {
		sessionIn(t, dir, id)
		at := filepath.Join(append([]string{dir, id}, path...)...)
		require.NoError(t, os.Chmod(at, mode))
	}
}

func leads(to string) func(*testing.T, string, string) {
	return func(t *testing.T, dir, id string) { symlink(t, to, dir, id) }
}

// nodes are what may have a name in the place of a file.
var nodes = map[string]func(path string) error{
	"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"socket":    func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
	"device":    func(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }, // endless zeros
}

func badEntries() (all []badEntry) {
	for _, name := range sortedKeys(nodes) {
		put := nodes[name]
		if name != "directory" {
			all = append(all, badEntry{name: name, put: func(t *testing.T, dir, id string) { require.NoError(t, put(filepath.Join(dir, id))) }})
		}
		fails := map[string]failsIn{transcriptFile: inSummaries | inFind | inVerify, metadataFile: inAll, "events.jsonl": inUsage | inVerify}
		for _, file := range sortedKeys(fails) {
			all = append(all, badEntry{name: name + " for " + file, listed: true, fails: fails[file], put: func(t *testing.T, dir, id string) {
				sessionIn(t, dir, id)
				path := filepath.Join(dir, id, file)
				require.NoError(t, os.RemoveAll(path))
				require.NoError(t, put(path))
			}})
		}
	}
	for _, id := range []string{"lost+found", "@eaDir", "#recycle", "System Volume Information"} {
		all = append(all, badEntry{name: id, id: id, put: sessionIn}, badEntry{name: id + " without rights", id: id, put: closed(0)})
	}
	empty := func(t *testing.T, dir, id string) { require.NoError(t, os.Mkdir(filepath.Join(dir, id), 0o700)) }
	return append(all,
		badEntry{name: "file", put: func(t *testing.T, dir, id string) { write(t, "x", dir, id) }},
		badEntry{name: "symlink to a file", put: leads("../victim/" + transcriptFile)},
		badEntry{name: "hidden without rights", id: ".bad", put: closed(0)},
		badEntry{name: "hidden and empty", id: ".bad", put: empty},
		badEntry{name: "empty", put: empty, listed: true, fails: inVerify},
		badEntry{name: "symlink inside", put: leads("s07"), listed: true, fails: inVerify},
		badEntry{name: "symlink inside with an absolute path", put: func(t *testing.T, dir, id string) { symlink(t, filepath.Join(dir, "s07"), dir, id) }, listed: true, fails: inVerify},
		badEntry{name: "longest name", id: strings.Repeat("b", 255), put: sessionIn, listed: true},
		badEntry{name: "no rights", put: closed(0), listed: true, fails: inAll},
		badEntry{name: "may be listed but not entered", put: closed(0o444), listed: true, fails: inAll},
		badEntry{name: "transcript without rights", put: closed(0, transcriptFile), listed: true, fails: inSummaries | inFind | inVerify},
		badEntry{name: "metadata without rights", put: closed(0, metadataFile), listed: true, fails: inAll},
		badEntry{name: "symlink out", put: leads("../victim"), listed: true, fails: inAll},
		badEntry{name: "symlink through what may not be entered", put: leads("../locked/s"), fails: inAll},
		badEntry{name: "broken symlink", put: leads("nowhere"), fails: inAll},
		badEntry{name: "broken symlink with an absolute path", put: leads("/nowhere/at/all"), fails: inAll},
		badEntry{name: "symlink to itself", put: leads("bad"), fails: inAll},
		badEntry{name: "not UTF-8", id: "b\xff\xfed", put: sessionIn, listed: true, fails: inAll},
	)
}

func (e badEntry) entry() string {
	if e.id != "" {
		return e.id
	}
	return "bad"
}

// TestOneBadEntry puts one entry beside sound sessions. Each call over many sessions
// returns all that are sound, in order, and names the entry or does not, by the table.
func TestOneBadEntry(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Getuid() == 0, "devices and files of another user are made by root alone")
	top := enterable(t)
	for i, e := range badEntries() {
		root := filepath.Join(top, fmt.Sprint(i))
		dir := filepath.Join(root, "p", "sessions")
		for n := range soundOnes {
			sessionIn(t, dir, fmt.Sprintf("s%02d", n))
		}
		sessionIn(t, filepath.Join(root, "p"), "victim")
		sessionIn(t, filepath.Join(root, "p", "locked"), "s")
		require.NoError(t, os.Chmod(filepath.Join(root, "p", "locked"), 0))
		e.put(t, dir, e.entry())
	}
	require.NoError(t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	testenv.Spawn(t, "bad entries", top, "").End(t)
}

// readBadEntries reads all of them, as a user whom permissions bind.
func readBadEntries(top, _ string) (err error) {
	if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	for i, e := range badEntries() {
		if failed := e.read(filepath.Join(top, fmt.Sprint(i))); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", e.name, failed))
		}
	}
	return err
}

// outcome is what a call returned.
type outcome struct {
	sound, other []string // ids
	failed       []string // ids of rows and errors
	err          error    // the last of them
}

func (o *outcome) add(id string, err error) {
	switch {
	case err != nil:
		o.failed, o.err = append(o.failed, id), err
	case len(id) == 3 && id[0] == 's':
		o.sound = append(o.sound, id)
		if len(o.failed) > 0 {
			o.err = errors.New("a sound one comes after one that failed")
		}
	default:
		o.other = append(o.other, id)
	}
}

func (e badEntry) read(root string) error {
	ctx := context.Background()
	p, err := projects.Open(root, nil)
	if err != nil {
		return err
	}
	st, err := p.Store("p")
	if err != nil {
		return err
	}
	all := &sessionstore.ListOptions{All: true}
	got := map[string]*outcome{}
	for _, name := range []string{"summaries", "summaries again", "first summaries", "summaries of projects", "list", "find", "usage", "verify"} {
		got[name] = &outcome{}
	}
	for _, name := range []string{"summaries", "summaries again"} { // the second with an index
		for s, err := range st.Summaries(ctx, all) {
			got[name].add(s.ID, err)
		}
	}
	for s, err := range st.Summaries(ctx, &sessionstore.ListOptions{All: true, Limit: 5}) {
		got["first summaries"].add(s.ID, err)
	}
	for s, err := range p.Summaries(ctx, all) {
		if s.Project != "p" {
			return errors.New("a row without its project")
		}
		got["summaries of projects"].add(s.ID, err)
	}
	infos, err := st.List(ctx, all)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	for _, info := range infos {
		got["list"].add(info.ID, nil)
	}
	found, err := p.Find(ctx, projects.Query{Keyword: "word"})
	for _, f := range found {
		got["find"].add(filepath.Base(f.Dir), nil)
	}
	for _, id := range failed(err) {
		got["find"].add(id, err)
	}
	for u, err := range p.Usage(ctx, projects.Query{}) {
		got["usage"].add(u.Session, err)
	}
	for f, err := range verify.CheckAll(ctx, st, nil) {
		got["verify"].add(f.Session, errors.Join(err, f.Err))
	}
	for _, name := range sortedKeys(got) {
		if err := e.judge(name, got[name]); err != nil {
			return fmt.Errorf("%s: %w: %+v", name, err, *got[name])
		}
	}
	return p.Close()
}

// judge compares what a call returned with the table.
func (e badEntry) judge(name string, got *outcome) error {
	sound, fails := soundOnes, e.fails&inSummaries != 0
	listed := e.listed && !fails
	switch name {
	case "first summaries":
		sound = 5
		if listed = listed && !strings.HasPrefix(e.name, "symlink inside"); listed { // which is as old as what it leads to
			sound = 4
		}
	case "list":
		fails, listed = false, e.listed
	case "find": // which needs metadata, and finds a transcript by its text
		fails = e.fails&inFind != 0
		listed = listed && e.name != "empty"
	case "usage":
		sound, fails, listed = 0, e.fails&inUsage != 0, false
	case "verify":
		sound, fails, listed = 0, e.fails&inVerify != 0, false
	}
	failed := slices.Compact(slices.Clone(got.failed))
	switch {
	case len(got.sound) != sound:
		return fmt.Errorf("%d sound ones of %d", len(got.sound), sound)
	case listed != slices.Equal(got.other, []string{e.entry()}) || !listed && len(got.other) > 0:
		return errors.New("the entry is listed or not")
	case fails != slices.Equal(failed, []string{e.entry()}) || !fails && len(failed) > 0:
		return errors.New("the entry is named as one that failed or not")
	}
	return nil
}

// TestOneBadProject makes a project beside a sound one that cannot be read. Calls over
// all projects name it, and return the sessions of the other.
func TestOneBadProject(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Getuid() == 0, "files of another user are made by root alone")
	top := enterable(t)
	for i, e := range badProjects {
		root := filepath.Join(top, fmt.Sprint(i))
		sessionIn(t, filepath.Join(root, "p", "sessions"), "s00")
		sessionIn(t, filepath.Join(root, e.slug, "sessions"), "hidden")
		e.put(t, root)
	}
	require.NoError(t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	testenv.Spawn(t, "bad projects", top, "").End(t)
}

func init() { children["bad projects"] = readBadProjects }

type badProject struct {
	name, slug string
	put        func(t *testing.T, root string)
	fails      bool
}

// without takes rights from a path.
func without(mode fs.FileMode, path ...string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		require.NoError(t, os.Chmod(filepath.Join(append([]string{root}, path...)...), mode))
	}
}

// instead puts a symlink in the place of a path.
func instead(to string, path ...string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		at := filepath.Join(append([]string{root}, path...)...)
		require.NoError(t, os.RemoveAll(at))
		require.NoError(t, os.Symlink(to, at))
	}
}

var badProjects = []badProject{
	{"no rights", "bad", without(0, "bad"), true},
	{"sessions without rights", "bad", without(0, "bad", "sessions"), true},
	{"sessions that may not be entered", "bad", without(0o444, "bad", "sessions"), true},
	{"sessions that may not be listed", "bad", without(0o111, "bad", "sessions"), true},
	{"broken symlink", "bad", instead("nowhere", "bad"), true},
	{"symlink to itself", "bad", instead("bad", "bad"), true},
	{"sessions that are a broken symlink", "bad", instead("nowhere", "bad", "sessions"), true},
	{"file", "bad", func(t *testing.T, root string) {
		require.NoError(t, os.RemoveAll(filepath.Join(root, "bad")))
		write(t, "x", root, "bad")
	}, false},
	{"sessions that are a pipe", "bad", func(t *testing.T, root string) {
		require.NoError(t, os.RemoveAll(filepath.Join(root, "bad", "sessions")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(root, "bad", "sessions"), 0o600))
	}, false},
	{"no sessions", "bad", func(t *testing.T, root string) {
		require.NoError(t, os.RemoveAll(filepath.Join(root, "bad", "sessions")))
	}, false},
	{"lost+found", "lost+found", without(0, "lost+found"), false},
	{"hidden", ".Trash", without(0, ".Trash"), false},
}

func readBadProjects(top, _ string) (err error) {
	if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	for i, e := range badProjects {
		if failed := e.read(filepath.Join(top, fmt.Sprint(i))); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", e.name, failed))
		}
	}
	return err
}

func (e badProject) read(root string) error {
	ctx := context.Background()
	p, err := projects.Open(root, nil)
	if err != nil {
		return err
	}
	slugs, err := p.Slugs(ctx)
	if err != nil || e.fails != slices.Contains(slugs, e.slug) {
		return fmt.Errorf("slugs: %v: %w", slugs, err)
	}
	if e.fails {
		if _, err := p.Store(e.slug); err == nil || errors.Is(err, sessionstore.ErrNotFound) {
			return fmt.Errorf("store: %w", err)
		}
	}
	want := []string{"p/s00"}
	if e.fails {
		want = append(want, "failed "+e.slug+"/")
	}
	var got []string
	for s, err := range p.Summaries(ctx, nil) {
		row := s.Project + "/" + s.ID
		if err != nil {
			row = "failed " + row
		}
		got = append(got, row)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("summaries: %q", got)
	}
	found, err := p.Find(ctx, projects.Query{})
	if len(found) != 1 || e.fails != (err != nil) {
		return fmt.Errorf("find: %v: %w", found, err)
	}
	_, err = p.Find(ctx, projects.Query{Project: e.slug})
	if e.fails && err == nil {
		return fmt.Errorf("find in it: %w", err)
	}
	got = nil
	for u, err := range p.Usage(ctx, projects.Query{}) {
		got = append(got, u.Project+"/"+u.Session)
		if err == nil {
			return errors.New("usage without an error")
		}
	}
	if e.fails != slices.Equal(got, []string{e.slug + "/"}) || !e.fails && len(got) > 0 {
		return fmt.Errorf("usage: %q", got)
	}
	return p.Close()
}

// failed are the sessions that the joined err is about.
func failed(err error) (ids []string) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, one := range joined.Unwrap() {
		if e := (*sessionstore.Error)(nil); errors.As(one, &e) {
			ids = append(ids, e.Session)
		}
	}
	return ids
}
