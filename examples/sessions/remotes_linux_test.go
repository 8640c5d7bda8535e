package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/sessions/cli"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/postgres"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/s3"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// daemon is a server that a test starts, stops and starts again.
type daemon struct {
	t       *testing.T
	address string
	start   func() *exec.Cmd
	answers func() error // nil: it answers when it listens
	cmd     *exec.Cmd
}

// begin starts the server, and waits until it listens.
func (d *daemon) begin() {
	d.t.Helper()
	d.cmd = d.start()
	if d.cmd.SysProcAttr == nil {
		d.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	d.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	require.NoError(d.t, d.cmd.Start())
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", d.address)
		if err == nil {
			require.NoError(d.t, c.Close())
			if d.answers != nil {
				err = d.answers()
			}
		}
		if err == nil {
			return
		}
		require.True(d.t, time.Now().Before(end), "it does not listen: %v", err)
	}
}

func (d *daemon) end() {
	_ = d.cmd.Process.Signal(syscall.SIGINT)
	_ = d.cmd.Wait()
}

func newDaemon(t *testing.T, start func(address string) *exec.Cmd) *daemon {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	d := &daemon{t: t, address: address, start: func() *exec.Cmd { return start(address) }}
	d.begin()
	t.Cleanup(d.end)
	return d
}

// bucket starts Versity Gateway with a bucket, and returns its URL without a prefix.
func bucket(t *testing.T) (*daemon, string) {
	t.Helper()
	build := exec.Command("go", "tool", "-n", "github.com/versity/versitygw/cmd/versitygw")
	build.Dir = filepath.Join("..", "..", "hybrid", "s3", "testdata", "servers")
	program, err := build.Output()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, part := range []string{"files/sessions", "meta"} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, part), 0o700))
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "test-access-key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret-key")
	d := newDaemon(t, func(address string) *exec.Cmd {
		cmd := exec.Command(strings.TrimSpace(string(program)), "--port", address, "--quiet", "posix", "--sidecar", filepath.Join(folder, "meta"), filepath.Join(folder, "files"))
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=test-access-key", "ROOT_SECRET_KEY=test-secret-key")
		cmd.Dir = folder
		return cmd
	})
	return d, "s3://sessions/%s?endpoint=http://" + d.address
}

// database starts PostgreSQL, and returns its URL without a schema. It skips the test where
// none is installed.
func database(t *testing.T) (*daemon, string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	testenv.Need(t, len(found) > 0, "PostgreSQL is not installed")
	bin := filepath.Dir(slices.Max(found))
	top, err := os.MkdirTemp("", "remotes")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	data, as := filepath.Join(top, "data"), &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // it refuses to run as root
		other, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, err := strconv.ParseUint(other.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(other.Gid, 10, 32)
		require.NoError(t, err)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(top, int(uid), int(gid)))
	}
	made := exec.Command(filepath.Join(bin, "initdb"), "--pgdata="+data, "--auth=trust", "--username=ada", "--encoding=UTF8", "--no-sync")
	made.SysProcAttr = as
	out, err := made.CombinedOutput()
	require.NoError(t, err, string(out))
	d := newDaemon(t, func(address string) *exec.Cmd {
		_, port, _ := net.SplitHostPort(address)
		cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", top, "-h", "127.0.0.1", "-p", port)
		cmd.SysProcAttr, cmd.Dir = as, top
		return cmd
	})
	url := "postgres://ada@" + d.address + "/postgres?schema=%s"
	d.answers = func() error {
		r, err := postgres.Connect(fmt.Sprintf(url, "a"))
		if err != nil {
			return err
		}
		if _, err = r.Get(t.Context(), "part", "name", ""); !errors.Is(err, hybrid.ErrUnreachable) {
			err = nil
		}
		return errors.Join(err, r.Close())
	}
	require.Eventually(t, func() bool { return d.answers() == nil }, time.Minute, 10*time.Millisecond)
	return d, url
}

// container starts the strict server of Cosmos DB.
func container(t *testing.T) string {
	t.Helper()
	account := cosmostest.New(nil)
	server := httptest.NewServer(account)
	t.Cleanup(server.Close)
	t.Setenv("COSMOS_KEY", account.Key())
	require.NoError(t, account.CreateContainer("db", "a", ""))
	return "cosmos://test/db/%s?endpoint=" + server.URL
}

// tool runs the tool for a device, and returns its output and its errors.
func tool(t *testing.T, device string, code int, args ...string) (out, errs string) {
	t.Helper()
	t.Setenv("AMPLIFIER_HOME", device)
	t.Setenv("AMPLIFIER_SESSION_STATE_HOME", filepath.Join(device, "state"))
	var stdout, stderr bytes.Buffer
	got := cli.Run(t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
	require.Equal(t, code, got, "%v: %s%s", args, &stdout, &stderr)
	return stdout.String(), stderr.String()
}

// say adds a message to a session of a project, as long ago as a sync waits for other tools.
func say(t *testing.T, device, id, text string) {
	t.Helper()
	st, err := sessionstore.Open(filepath.Join(device, "projects", "demo", "sessions"), nil)
	require.NoError(t, err)
	m, err := sessionstore.Text("user", text, time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
	require.NoError(t, st.Close())
	before := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(device, "projects", "demo", "sessions", id, "transcript.jsonl"), before, before))
}

func transcript(t *testing.T, device, id string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(device, "projects", "demo", "sessions", id, "transcript.jsonl"))
	require.NoError(t, err)
	return string(text)
}

// TestRemotes takes two devices through the four kinds of remotes, one after the other, with
// the tool: add, sync, a second device by the printed command, and a copy to the next one. Two
// of the servers stop while a device syncs.
func TestRemotes(t *testing.T) { //nolint:paralleltest // it sets the environment
	runtime.LockOSThread() // the servers end with the thread that started them
	defer runtime.UnlockOSThread()
	gateway, objects := bucket(t)
	server, table := database(t)
	one, two := t.TempDir(), t.TempDir()
	shared := t.TempDir()
	urls := []string{"dir:" + filepath.Join(shared, "first"), fmt.Sprintf(objects, "a"), fmt.Sprintf(table, "a"), fmt.Sprintf(container(t), "a"), "dir:" + filepath.Join(shared, "last")}
	stops := map[int]*daemon{1: gateway, 2: server}
	say(t, one, "gone", "secret")
	var last string
	for i, url := range urls {
		name := fmt.Sprint("r", i)
		out, _ := tool(t, one, 0, "remote", "add", name, url, "--provision", "--user", "ada", "--redact")
		require.Regexp(t, `Rights\s+read, write, delete`, out)
		require.Regexp(t, `Consistent\s+yes`, out)
		join := regexp.MustCompile(`(?m)^    sessions (remote add .*)$`).FindStringSubmatch(out)
		require.NotNil(t, join, out)
		tool(t, two, 0, strings.Fields(strings.ReplaceAll(join[1], "'", ""))...)
		if last != "" {
			out, _ := tool(t, one, 0, "remote", "copy", last, name)
			require.NotContains(t, out, " 0 copied")
			tool(t, one, 0, "remote", "remove", last)
			tool(t, two, 0, "remote", "remove", last)
		}
		if last = name; i == 1 {
			tool(t, one, 0, "remote", "purge", "gone", "--force", "--project=demo")
		}
		say(t, one, "s", fmt.Sprint("one ", i))
		if stop := stops[i]; stop != nil {
			stop.end()
			_, errs := tool(t, one, 1, "sync", "--project=demo")
			require.Contains(t, errs, "Nothing is lost: run the command again when "+url+" answers.")
			require.LessOrEqual(t, strings.Count(errs, "\n"), 3, errs)
			stop.begin()
		}
		tool(t, one, 0, "sync", "--project=demo")
		require.NoError(t, os.MkdirAll(filepath.Join(two, "projects", "demo", "sessions"), 0o700))
		_, errs := tool(t, two, 0, "pull", "--project=demo")
		require.Empty(t, errs)
		say(t, two, "s", fmt.Sprint("two ", i))
		tool(t, two, 0, "sync", "--project=demo", "s")
		tool(t, one, 0, "pull", "--project=demo", "s")
		require.Equal(t, transcript(t, one, "s"), transcript(t, two, "s"), url)
		require.Equal(t, 2*(i+1), strings.Count(transcript(t, one, "s"), "\n"))
		_, errs = tool(t, one, 0, "remote", "check", "s", "--project=demo")
		require.Empty(t, errs)
		tool(t, one, 0, "remote", "check", "--project=demo")
	}
	three := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(three, "projects", "demo", "sessions"), 0o700))
	tool(t, three, 0, "pull", "--project=demo", "--user=ada", "--remote", urls[4])
	require.Equal(t, transcript(t, one, "s"), transcript(t, three, "s"))
	require.NoDirExists(t, filepath.Join(three, "projects", "demo", "sessions", "gone"))
}

// counted ends a context ahead of a request.
type counted struct {
	remote.Remote
	left *atomic.Int64
	end  context.CancelCauseFunc
}

var errKilled = errors.New("killed")

func (c *counted) count() {
	if c.left.Add(-1) == 0 {
		c.end(errKilled)
	}
}

func (c *counted) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	c.count()
	return c.Remote.Get(ctx, part, name, known)
}

func (c *counted) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	c.count()
	return c.Remote.List(ctx, part, q)
}

func (c *counted) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	c.count()
	return c.Remote.Commit(ctx, part, objects, swap)
}

// TestCopyIsKilled copies from a directory to a bucket, to a database, and to a directory,
// where each of the three copies ends at a request, and goes on.
func TestCopyIsKilled(t *testing.T) { //nolint:paralleltest // it sets the environment
	runtime.LockOSThread() // the servers end with the thread that started them
	defer runtime.UnlockOSThread()
	_, objects := bucket(t)
	_, table := database(t)
	top := t.TempDir()
	directory := func(name string) remote.Remote {
		place := filepath.Join(top, name)
		require.NoError(t, dir.Provision(t.Context(), place))
		r, err := dir.Open(t.Context(), place)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, r.Close()) })
		return r
	}
	device := func(r remote.Remote, name string) *hybrid.Store {
		s, err := hybrid.Open(t.Context(), filepath.Join(top, name, "sessions"), &hybrid.Options{Remote: r, Project: "demo", User: "ada", Manual: true})
		require.NoError(t, err)
		return s
	}
	source := directory("source")
	a := device(source, "a")
	for i := range 3 {
		m, err := sessionstore.Text("user", fmt.Sprint("text ", i), time.Now())
		require.NoError(t, err)
		require.NoError(t, a.Append(t.Context(), "s", m))
		require.NoError(t, a.Append(t.Context(), "gone", m))
		_, err = a.Sync(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, a.Remove(t.Context(), "gone"))
	want, err := os.ReadFile(filepath.Join(a.Dir(), "s", "transcript.jsonl"))
	require.NoError(t, err)
	require.NoError(t, a.Close())
	step := int64(testenv.Share(7, 4, 1))
	for at, whole := 1+testenv.Rand(t).Int64N(step), false; !whole; at += step {
		place := fmt.Sprintf(table, fmt.Sprint("kill", at))
		require.NoError(t, postgres.Provision(t.Context(), place))
		second, err := postgres.Connect(place)
		require.NoError(t, err)
		first, err := s3.Open(t.Context(), fmt.Sprintf(objects, fmt.Sprint("kill", at)), nil)
		require.NoError(t, err)
		last := directory(fmt.Sprint("last", at))
		from := source
		whole = true
		for _, to := range []remote.Remote{first, second, last} {
			ctx, cancel := context.WithCancelCause(t.Context())
			left := &atomic.Int64{}
			left.Store(at)
			_, err := hybrid.Copy(ctx, &counted{from, left, cancel}, &counted{to, left, cancel}, "ada", "demo", nil)
			if left.Load() <= 0 {
				whole = false
			} else {
				require.NoError(t, err)
			}
			cancel(nil)
			_, err = hybrid.Copy(t.Context(), from, to, "ada", "demo", nil)
			require.NoError(t, err, at)
			from = to
		}
		b := device(last, fmt.Sprint("b", at))
		_, err = b.Pull(t.Context())
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(b.Dir(), "s", "transcript.jsonl"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		report, err := b.Check(t.Context(), "s", nil)
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		_, err = b.Load(t.Context(), "gone")
		require.ErrorIs(t, err, sessionstore.ErrNotFound)
		require.NoError(t, b.Close())
		require.NoError(t, second.Close())
	}
}
