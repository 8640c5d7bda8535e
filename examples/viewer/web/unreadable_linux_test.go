package web

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// nobody is a user whom permissions bind.
const nobody = 65534

func init() { children["unreadable"] = readUnreadable }

// unreadable are entries that cannot be read, by their names, in the sessions of a
// project, and projects.
var unreadable = map[string]func(path string) error{
	"closed":  func(path string) error { return os.Chmod(path, 0) },
	"file":    func(path string) error { return os.Chmod(filepath.Join(path, "transcript.jsonl"), 0) },
	"out":     func(path string) error { return instead(path, "../../..") },
	"broken":  func(path string) error { return instead(path, "/nowhere/at/all") },
	"pipe":    func(path string) error { return syscall.Mkfifo(filepath.Join(path, "metadata.json.pipe"), 0o600) },
	"special": func(path string) error { return special(filepath.Join(path, "transcript.jsonl")) },
}

func instead(path, to string) error { return errors.Join(os.RemoveAll(path), os.Symlink(to, path)) }

func special(path string) error { return errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o600)) }

// TestUnreadable shows a project with sessions that cannot be read, and a list with
// projects that cannot be read, to a user whom permissions bind.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	testenv.Need(t, os.Getuid() == 0, "files of another user are made by root alone")
	top, err := os.MkdirTemp("/tmp", "enterable-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(top)) })
	session := func(path ...string) string {
		dir := filepath.Join(append([]string{top}, path...)...)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"name": "name of `+filepath.Base(dir)+`"}`), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(`{"role": "user", "content": "x"}`+"\n"), 0o600))
		return dir
	}
	for name, spoil := range unreadable {
		require.NoError(t, spoil(session("p", "sessions", name)))
	}
	session("p", "sessions", "sound")
	session("p", "sessions", "lost+found")
	session("closed-project", "sessions", "s")
	session("closed-sessions", "sessions", "s")
	session("sound-project", "sessions", "s")
	require.NoError(t, os.Symlink("/nowhere/at/all", filepath.Join(top, "broken-project")))
	require.NoError(t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	require.NoError(t, os.Chmod(filepath.Join(top, "closed-project"), 0))
	require.NoError(t, os.Chmod(filepath.Join(top, "closed-sessions", "sessions"), 0))
	said := testenv.Spawn(t, "unreadable", top, "").End(t)
	require.Equal(t, []string{"done"}, said)
}

// readUnreadable asks for the pages.
func readUnreadable(top, _ string) (err error) {
	if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	places, err := OpenPlaces(top, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	server, err := New(places, addr, slog.New(slog.DiscardHandler), Options{NoToken: true})
	if err != nil {
		return err
	}
	get := func(status int, path string) (body string, err error) {
		r := httptest.NewRequest(http.MethodGet, "http://"+addr.String()+path, nil)
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		if answer.Code != status {
			err = fmt.Errorf("%s: status %d: %s", path, answer.Code, answer.Body)
		}
		return answer.Body.String(), err
	}
	list, err := get(http.StatusOK, "/p/p")
	if err != nil {
		return err
	}
	for _, text := range []string{"name of sound", "name of pipe", ">closed<", ">file<", ">out<", ">broken<", ">special<", "permission denied", "leads nowhere", "not a regular file but a named pipe"} {
		if !strings.Contains(list, text) {
			return fmt.Errorf("the list lacks %q: %s", text, list)
		}
	}
	if n := strings.Count(list, "cannot be read"); n != 5 || strings.Contains(list, "lost+found") {
		return fmt.Errorf("%d of the list cannot be read: %s", n, list)
	}
	if list, err = get(http.StatusOK, "/p/p/s/sound"); err != nil || strings.Count(list, "cannot be read") != 5 {
		return fmt.Errorf("beside a session: %s: %w", list, err)
	}
	if list, err = get(http.StatusOK, "/"); err != nil {
		return err
	}
	for _, text := range []string{"sound-project", "closed-project", "closed-sessions", "broken-project", "permission denied", "leads nowhere"} {
		if !strings.Contains(list, text) {
			return fmt.Errorf("the projects lack %q: %s", text, list)
		}
	}
	if n := strings.Count(list, "cannot be read"); n != 3 {
		return fmt.Errorf("%d projects cannot be read: %s", n, list)
	}
	for _, name := range []string{"closed-project", "closed-sessions", "broken-project"} {
		if _, err := get(http.StatusInternalServerError, "/p/"+name); err != nil {
			return err
		}
	}
	fmt.Println("done")
	return nil
}
