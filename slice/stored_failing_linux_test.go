package slice_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func init() { children["failing"] = changeAsTold }

var failingFlag = flag.Int("failing", 0, "how many processes TestFailingCalls makes; 0: 10 with TEST_LONG set, else 3")

func failingRuns() int {
	switch {
	case *failingFlag > 0:
		return *failingFlag
	case testenv.Long():
		return 10
	}
	return 3
}

// TestFailingCalls lets calls of the system fail, by strace, in a process that
// forks, repairs, rewinds and undoes. After each call a fork is whole or not
// there, and the session is what it was before the call or after it; copies are
// there before the change. Once calls of the system fail no more, all succeed.
func TestFailingCalls(t *testing.T) {
	t.Parallel()
	testenv.Strace(t)
	seed := testenv.Seed(t)
	r := rand.New(rand.NewPCG(seed, 2))
	injected, calls, failed := 0, 0, 0
	for range failingRuns() {
		in := testenv.Injection{
			Calls: []string{"renameat2", "renameat", "openat", "fsync,fdatasync", "fcntl", "flock", "openat,renameat,renameat2,fsync,flock,fcntl"}[r.IntN(7)],
			What:  "error=" + []string{"EPERM", "EXDEV", "EIO", "ENOSPC", "EINTR", "EMFILE"}[r.IntN(6)],
			When:  fmt.Sprintf("%d+%d", 1+r.IntN(30), 3+r.IntN(40)),
		}
		t.Run(in.String(), func(t *testing.T) {
			f := &failingRun{t: t, dir: filepath.Join(t.TempDir(), "sessions"), rows: brokenRows}
			f.run(in)
			injected += f.injected
			calls += f.calls
			failed += f.failed
		})
	}
	fmt.Printf("%s: %d calls of the system failed, %d calls, %d of them failed\n", t.Name(), injected, calls, failed)
	if *failingFlag == 0 {
		require.Positive(t, calls)
	}
}

// failingRun is a session that a process changes while calls of the system fail.
type failingRun struct {
	t        *testing.T
	dir      string
	child    *testenv.Process
	rows     string // of the parent
	forks    int
	unknown  bool // a call failed and has changed the parent: nobody knows the name of its copy
	calls    int
	failed   int
	injected int
}

func (f *failingRun) run(in testenv.Injection) {
	f.t.Helper()
	st := openStore(f.t, f.dir)
	broken(f.t, st)
	f.child = testenv.Spawn(f.t, "failing", f.dir, "")
	require.Equal(f.t, "ready", f.child.Hear(f.t))
	tracer := testenv.Attach(f.t, f.child.PID(), in)
	for range 8 {
		f.step(false)
	}
	tracer.Detach()
	for range 5 {
		f.step(true)
	}
	f.child.End(f.t)
	f.injected = tracer.Injected(f.t)
}

// step lets the process fork, or make the call that suits what is there.
func (f *failingRun) step(calm bool) {
	f.t.Helper()
	f.calls++
	if f.calls%2 == 1 || f.unknown {
		f.forks++
		id := fmt.Sprint("fork-", f.forks)
		answer := f.ask("fork " + id)
		f.judge(answer, calm)
		f.checkFork(id, answer == "")
		return
	}
	before, then, call := f.rows, repairedRows, "repair"
	switch {
	case f.rows != brokenRows:
		then, call = brokenRows, "undo"
	case f.calls%4 == 0:
		then, call = firstTwo, "rewind"
	}
	answer := f.ask(call)
	f.judge(answer, calm)
	found := findAll(f.t, f.dir)
	require.Equal(f.t, found.rows, found.parent[transcriptFile], "the main file is what counts")
	if answer == "" {
		require.Equal(f.t, then, found.rows, call)
	} else {
		require.Contains(f.t, []string{before, then}, found.rows, "%s: %s", call, answer)
		f.unknown = found.rows != before
	}
	f.rows = found.rows
	require.Contains(f.t, []string{allEvents, twoEvents}, found.parent[eventsFile])
	if f.rows != brokenRows {
		kept := false
		for name, data := range found.parent {
			kept = kept || strings.HasPrefix(name, transcriptFile+".bak-") && data == brokenRows
		}
		require.True(f.t, kept, "what was there is kept")
	}
}

func (f *failingRun) judge(answer string, calm bool) {
	f.t.Helper()
	if answer == "" {
		return
	}
	f.failed++
	require.False(f.t, calm, "no call of the system fails any more: %s", answer)
	require.True(f.t, strings.HasPrefix(answer, "typed "), answer)
}

// ask lets the process do what, and returns the error; empty: none.
func (f *failingRun) ask(what string) string {
	f.t.Helper()
	f.child.Tell(f.t, what)
	return strings.TrimPrefix(f.child.Hear(f.t), "ok")
}

// checkFork requires a fork to be whole, or not to be there.
func (f *failingRun) checkFork(id string, acknowledged bool) {
	f.t.Helper()
	files := filesIn(f.t, filepath.Join(f.dir, id))
	if files == nil {
		require.False(f.t, acknowledged, "the fork is not there")
		return
	}
	require.Equal(f.t, firstTwo, files[transcriptFile], id)
	require.Equal(f.t, renamed(twoEvents, id), files[eventsFile])
	require.Len(f.t, files, 3, id)
	md, err := sessionstore.ParseMetadata([]byte(files[metadataFile]))
	require.NoError(f.t, err, id)
	require.Equal(f.t, id, md.Text("session_id"))
}

// changeAsTold does what it is told, line by line, and says what came of it.
func changeAsTold(dir, _ string) error {
	testenv.LetTrace()
	st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: "/w"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	ctx, last := context.Background(), ""
	for order := range testenv.Orders() {
		what, id, _ := strings.Cut(order, " ")
		path := ""
		switch what {
		case "fork":
			_, err = slice.Fork(ctx, st, parentID, &slice.ForkOptions{Events: true, NewID: id, Turn: new(2)})
		case "repair":
			var r slice.RepairReport
			r, err = slice.RepairSession(ctx, st, parentID)
			path = r.BackupPath
		case "rewind":
			var r slice.RewindReport
			r, err = slice.RewindSession(ctx, st, parentID)
			path = r.BackupPath
		case "undo":
			_, err = slice.Undo(ctx, st, parentID, last, nil)
		}
		if path != "" {
			last = filepath.Base(path)
		}
		fmt.Println(described(err))
	}
	return st.Close()
}

// described returns an error on one line, "ok" for none.
func described(err error) string {
	if err == nil {
		return "ok"
	}
	kind := "untyped "
	var errno unix.Errno
	var typed *sessionstore.Error
	if errors.As(err, &errno) || errors.As(err, &typed) {
		kind = "typed "
	}
	return kind + strings.ReplaceAll(err.Error(), "\n", "; ")
}

// TestDelayedKills repeats TestKills with random delays in the calls of the
// system, so that children are killed in the middle of them.
func TestDelayedKills(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 3))
	for range failingRuns() / 5 {
		testenv.Delayed(t, "TestKills", r.Uint64(), testenv.RandomDelays(r), "-kills=4")
	}
}
