package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// nobody is a user whom permissions bind.
const nobody = 65534

func init() {
	programs["sessions of nobody"] = func() {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			panic(err)
		}
		main()
	}
}

// badKind is an entry beside three sound sessions.
type badKind struct {
	name   string
	put    func(t *testing.T, at string)
	listed bool   // it is a session as others are
	sound  string // commands that have nothing to say of it, though others have
}

func put(t *testing.T, dir string) {
	t.Helper()
	id := filepath.Base(dir)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(`{"role": "user", "content": "word of `+id+`"}`+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"session_id": "`+id+`", "created": "2026-09-01T10:00:00+00:00", "turn_count": 1}`), 0o600))
}

// barred makes a session without the rights of a file, or of itself.
func barred(file string) func(*testing.T, string) {
	return func(t *testing.T, at string) {
		put(t, at)
		require.NoError(t, os.Chmod(filepath.Join(at, file), 0))
	}
}

// inPlaceOf makes a session with something else in the place of a file.
func inPlaceOf(file string, mode uint32) func(*testing.T, string) {
	return func(t *testing.T, at string) {
		put(t, at)
		path := filepath.Join(at, file)
		require.NoError(t, os.RemoveAll(path))
		if mode == syscall.S_IFDIR {
			require.NoError(t, os.Mkdir(path, 0o700))
			return
		}
		require.NoError(t, syscall.Mknod(path, mode|0o600, 1<<8|5))
	}
}

func link(to string) func(*testing.T, string) {
	return func(t *testing.T, at string) { require.NoError(t, os.Symlink(to, at)) }
}

const none = "every command" // has nothing to say

var badKinds = []badKind{
	{"file", func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, []byte("x"), 0o600)) }, false, none},
	{"pipe", func(t *testing.T, at string) { require.NoError(t, syscall.Mkfifo(at, 0o600)) }, false, none},
	{"lost+found", barred(""), false, none},
	{"@eaDir", put, false, none},
	{".hidden", barred(""), false, none},
	{"empty", func(t *testing.T, at string) { require.NoError(t, os.Mkdir(at, 0o700)) }, true, none},
	{"link inside", link("sound-a"), true, none},
	{"no rights", barred(""), false, ""},
	{"transcript without rights", barred("transcript.jsonl"), false, "stats tree"},
	{"metadata without rights", barred("metadata.json"), false, ""},
	{"link out", link("../victim"), false, ""},
	{"broken link", link("/nowhere/at/all"), false, ""},
	{"metadata that is a directory", inPlaceOf("metadata.json", syscall.S_IFDIR), false, ""},
	{"transcript that is a pipe", inPlaceOf("transcript.jsonl", syscall.S_IFIFO), false, "stats tree"},
	{"metadata that is a socket", inPlaceOf("metadata.json", syscall.S_IFSOCK), false, ""},
	{"transcript that is a device", inPlaceOf("transcript.jsonl", syscall.S_IFCHR), false, "stats tree"},
	{"log that is a pipe", inPlaceOf("events.jsonl", syscall.S_IFIFO), true, "list resume find search tree"},
	{"no UTF-8", func(t *testing.T, at string) {
		put(t, at)
		require.NoError(t, os.Rename(at, at+"\xff"))
	}, false, ""},
}

// id is the name that an entry of the kind gets.
func (k badKind) id() string {
	if strings.HasPrefix(k.name, "lost") || k.name[0] == '.' || k.name[0] == '@' {
		return k.name
	}
	return "bad"
}

// home makes a user's projects, of which one is that of the directory work.
func home(t *testing.T, place string) (root, work string) {
	t.Helper()
	work = filepath.Join(place, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	return filepath.Join(place, "projects"), work
}

// give gives all files in place to nobody.
func give(t *testing.T, place string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(place, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
}

// answer is what a command said.
type answer struct {
	code        int
	out, errors string
}

// sound returns how many of the sound sessions the answer names.
func (a answer) sound() int {
	found := regexp.MustCompile(`sound-[abc]`).FindAllString(a.out, -1)
	slices.Sort(found)
	return len(slices.Compact(found))
}

// asNobody runs the tool.
func asNobody(t *testing.T, place, command string) (a answer) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Args = append([]string{"sessions of nobody"}, strings.Fields(command)...)
	cmd.Dir = filepath.Join(place, "work")
	cmd.Env = append(os.Environ(), "AMPLIFIER_HOME="+place, "HOME="+place, "XDG_CONFIG_HOME="+place)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// TestOneBadEntry puts one entry beside sound sessions. Each command over many sessions
// shows those, and names the entry and ends with 1 where it could not be read.
func TestOneBadEntry(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Getuid() == 0, "devices and files of another user are made by root alone")
	for i, kind := range badKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			place := enterable(t)
			root, work := home(t, place)
			project := filepath.Join(root, sessionstore.ProjectSlug(work))
			earlier := time.Now().Add(-time.Hour) // the bad one is the newest, which resume looks at first
			for _, id := range []string{"a", "b", "c"} {
				dir := filepath.Join(project, "sessions", "sound-"+id)
				put(t, dir)
				require.NoError(t, os.Chtimes(dir, earlier, earlier))
			}
			put(t, filepath.Join(project, "victim"))
			kind.put(t, filepath.Join(project, "sessions", kind.id()))
			give(t, place)
			for command, sound := range map[string]int{
				"list": 3, "list --all-projects": 3, "list --json": 3, "list -n 1 --since 2d": 1, "resume -": 1,
				"find --keyword word": 3, "search word": 3, "stats": 0, "list --tree sound-a": 1, "verify": 0,
			} {
				a := asNobody(t, place, command)
				about := fmt.Sprintf("%d: %s: %d, %s%s", i, command, a.code, a.out, a.errors)
				name, _, _ := strings.Cut(strings.Replace(command, "list --tree", "tree", 1), " ")
				told := kind.sound != none && !strings.Contains(kind.sound, name)
				switch {
				case !told:
					require.Zero(t, a.code, about)
					if !kind.listed {
						require.NotContains(t, a.out+a.errors, kind.id(), about)
					}
				default:
					require.Equal(t, 1, a.code, about)
					require.Contains(t, a.out+a.errors, kind.id(), about)
				}
				if kind.listed && sound > 0 && sound < 3 { // it may be the newest
					continue
				}
				require.Equal(t, sound, a.sound(), about)
			}
		})
	}
}

// TestOneBadProject lets a project, or all of them, not be read.
func TestOneBadProject(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Getuid() == 0, "files of another user are made by root alone")
	for name, path := range map[string]string{"project": "other", "sessions": "other/sessions", "own project": "", "root": ".", "broken link": "link", "lost+found": "lost+found"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := enterable(t)
			root, work := home(t, place)
			own := sessionstore.ProjectSlug(work)
			if path == "" {
				path = own
			}
			for _, id := range []string{"a", "b", "c"} {
				put(t, filepath.Join(root, own, "sessions", "sound-"+id))
			}
			put(t, filepath.Join(root, "other", "sessions", "further"))
			put(t, filepath.Join(root, "lost+found", "sessions", "further"))
			if name == "broken link" {
				require.NoError(t, os.Symlink("/nowhere/at/all", filepath.Join(root, path)))
			} else {
				require.NoError(t, os.Chmod(filepath.Join(root, path), 0))
			}
			give(t, place)
			for _, command := range []string{"list --all-projects", "list --all-projects --json", "find", "search word", "stats", "verify"} {
				a := asNobody(t, place, command)
				about := fmt.Sprintf("%s: %d, %s%s", command, a.code, a.out, a.errors)
				if name == "lost+found" {
					require.Zero(t, a.code, about)
					require.NotContains(t, a.out+a.errors, name, about)
				} else {
					require.Equal(t, 1, a.code, about)
					require.Contains(t, a.errors, filepath.Join(root, path), about)
				}
				if path != own && path != "." && command != "stats" && command != "verify" {
					require.Equal(t, 3, a.sound(), about)
				}
			}
			for _, command := range []string{"list", "list --json", "resume -"} {
				a := asNobody(t, place, command)
				about := fmt.Sprintf("%s: %d, %s%s", command, a.code, a.out, a.errors)
				if path == own || path == "." {
					require.Equal(t, 1, a.code, about)
					require.Contains(t, a.errors, "permission denied", about)
				} else {
					require.Zero(t, a.code, about)
				}
			}
			if path == "other" || path == "link" { // a session elsewhere is found all the same
				require.NoError(t, os.Mkdir(filepath.Join(place, "elsewhere"), 0o755))
				a := asNobody(t, place, "show sound-a --project="+own)
				require.Zero(t, a.code, a.errors)
				a = asNobody(t, place, "info sound-a")
				require.Zero(t, a.code, a.errors)
			}
		})
	}
}

// enterable returns a new directory that nobody can reach.
func enterable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "enterable-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return dir
}
