package sessionstore_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var failingFlag = flag.Int("failing", 0, "how many processes TestFailingCalls makes; 0: 27 with TEST_LONG set, else 4")

func failingRuns() int {
	switch {
	case *failingFlag > 0:
		return *failingFlag
	case testenv.Long():
		return 27
	}
	return 4
}

// failingErrors are the errors that calls of the system end in.
var failingErrors = map[string]unix.Errno{
	"EPERM": unix.EPERM, "EXDEV": unix.EXDEV, "EIO": unix.EIO, "ENOSPC": unix.ENOSPC, "EINTR": unix.EINTR, "EMFILE": unix.EMFILE,
}

// failingCalls are the calls of the system that fail.
var failingCalls = []string{
	"renameat2", "renameat", "openat", "fsync,fdatasync", "fcntl", "flock", "renameat2,renameat,openat,fsync,fcntl,flock",
	"newfstatat", "unlinkat", "mkdirat", "utimensat", "ftruncate", "pwrite64", "copy_file_range", "getdents64",
}

// TestFailingCalls lets calls of the system fail in a process that writes, by
// strace: also those that the seam does not see. After each call of the store,
// acknowledged or failed, the session is what it was before the call or after
// it, for this library and for the Python tools, and after an acknowledged call
// it is what it was told to be. An error is typed, says what failed and on
// what, and Is the error of the system. Meanwhile readers never meet an empty,
// missing or torn transcript. Once calls of the system fail no more, each call
// of the same process succeeds.
func TestFailingCalls(t *testing.T) {
	t.Parallel()
	testenv.Strace(t)
	n := testenv.Seed(t)
	var mu sync.Mutex
	var total failingFigures
	runs := make(chan int)
	var workers sync.WaitGroup
	for range 4 { // they mostly wait for each other
		workers.Go(func() {
			for i := range runs {
				run := newFailing(n, uint64(i))
				t.Run(run.String(), func(t *testing.T) {
					f := run.run(t)
					mu.Lock()
					defer mu.Unlock()
					total.add(f)
				})
			}
		})
	}
	for i := range failingRuns() {
		runs <- i
	}
	close(runs)
	workers.Wait()
	fmt.Fprintf(t.Output(), "failing calls: %d processes, %+v\n", failingRuns(), total)
	if *failingFlag == 0 && testenv.Long() { // few processes may make no call that fails
		require.Positive(t, total.Injected)
		require.Positive(t, total.Failed)
		require.Positive(t, total.Acknowledged)
	}
}

// failingFigures count what happened.
type failingFigures struct {
	Injected     int // calls of the system that failed
	Acknowledged int // calls of the store
	Failed       int // of those, with an error
	Done         int // of the failed, after which the change was there
	Reads        int
}

func (f *failingFigures) add(o failingFigures) {
	f.Injected += o.Injected
	f.Acknowledged += o.Acknowledged
	f.Failed += o.Failed
	f.Done += o.Done
	f.Reads += o.Reads
}

// failing is a process of which calls of the system fail.
type failing struct {
	calls, errno, when string
	durability         string
	r                  *rand.Rand
}

func newFailing(seed, i uint64) *failing {
	f := &failing{r: rand.New(rand.NewPCG(seed, i))}
	f.calls = failingCalls[f.r.IntN(len(failingCalls))]
	f.errno = pick(f.r, failingErrors)
	f.durability = pick(f.r, durabilities)
	f.when = fmt.Sprintf("%d+%d", 1+f.r.IntN(40), 2+f.r.IntN(60))
	if !strings.Contains(f.calls, "openat") && !strings.Contains(f.calls, "newfstatat") { // which are made less often
		step := 1 + f.r.IntN(8)
		if f.errno == "EINTR" { // a call that is interrupted each time is made again for ever
			step = max(step, 2)
		}
		f.when = fmt.Sprintf("%d+%d", 1+f.r.IntN(6), step)
	}
	return f
}

// pick returns a random key of m.
func pick[V any](r *rand.Rand, m map[string]V) string {
	keys := sortedKeys(m)
	return keys[r.IntN(len(keys))]
}

func (f *failing) String() string {
	return fmt.Sprintf("%s %s:error=%s:when=%s", f.durability, f.calls, f.errno, f.when)
}

// failingSession is what a session of the run must be.
type failingSession struct {
	id   string
	rows []string
	n    int // of the metadata
}

// failingRun is a run of a process.
type failingRun struct {
	*failing
	t        *testing.T
	dir      string
	child    *testenv.Process
	own      *sessionstore.Store // of the parent
	sessions []*failingSession
	made     int
	figures  failingFigures
	calm     bool // calls of the system fail no more
}

const failingSteps = 30 // calls of the store while calls of the system fail

func (f *failing) run(t *testing.T) failingFigures {
	home := t.TempDir()
	r := &failingRun{failing: f, t: t, dir: filepath.Join(home, "sessions")}
	r.own = open(t, r.dir, &sessionstore.Options{Durability: durabilities[f.durability]})
	for _, id := range []string{turnsID, "first"} { // nobody owns a sub-session
		s := &failingSession{id: id, rows: []string{numbered("first", 0)}}
		require.NoError(t, r.own.Save(t.Context(), id, parse(t, s.rows...), metadata(t, `{"n": 0, "turn_count": 1}`)))
		r.sessions = append(r.sessions, s)
	}
	r.child = spawn(t, "failing", r.dir, f.durability, home)
	require.Equal(t, "ready", r.child.Hear(t))
	tracer := testenv.Attach(t, r.child.PID(), testenv.Injection{Calls: f.calls, What: "error=" + f.errno, When: f.when})
	done := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { r.read(done) })
	stop := sync.OnceFunc(func() { close(done); readers.Wait() })
	defer stop()
	for range failingSteps {
		r.step()
	}
	tracer.Detach()
	r.calm = true
	for range 6 {
		r.step()
	}
	stop()
	r.child.End(t)
	r.figures.Injected = tracer.Injected(t)
	return r.figures
}

// A failingCall is what the child is told to do, and what it was asked for.
type failingCall struct {
	Do, ID string
	Row    string // to be added
	N      int    // of the metadata from now on; 0: as it is
}

// failingAnswer is what came of it.
type failingAnswer struct {
	Error  string   // "": nil
	Typed  bool     // it is an Error with an operation, or what Recovered tells
	Is     []string // errors that it is
	Loaded []string // rows that the child loaded
}

// step lets the child or, now and then, the parent's store make one call, and
// checks what is there then.
func (r *failingRun) step() {
	r.t.Helper()
	s := r.sessions[r.r.IntN(len(r.sessions))]
	r.made++
	row := numbered("row", r.made)
	if r.r.IntN(6) == 0 {
		require.NoError(r.t, r.own.Append(r.t.Context(), s.id, parse(r.t, row)...))
		s.rows = append(s.rows, row)
		r.check(s, "append of another process")
		return
	}
	call := failingCall{Do: failingDeeds[r.r.IntN(len(failingDeeds))], ID: s.id}
	switch call.Do {
	case "list", "acquire": // not of a sub-session
		call.ID = "first"
		s = r.sessions[1]
	case "load", "messages", "config":
	case "metadata", "name":
		call.N = r.made
	case "save":
		call.Row, call.N = row, r.made
	default:
		call.Row = row
	}
	answer := r.ask(call)
	r.judge(s, call, answer)
}

var failingDeeds = []string{"append", "append", "append", "append", "save", "save", "replace", "metadata", "load", "messages", "list", "acquire", "config"}

func (r *failingRun) ask(call failingCall) (answer failingAnswer) {
	r.t.Helper()
	line, err := json.Marshal(call)
	require.NoError(r.t, err)
	r.child.Tell(r.t, string(line))
	said := r.child.Hear(r.t)
	require.NoError(r.t, json.Unmarshal([]byte(said), &answer), said)
	return answer
}

// judge checks what a call of the child left, and takes it as what is there.
func (r *failingRun) judge(s *failingSession, call failingCall, answer failingAnswer) {
	r.t.Helper()
	what := fmt.Sprintf("%+v: %+v", call, answer)
	after := &failingSession{id: s.id, rows: s.rows, n: s.n}
	if call.Row != "" {
		after.rows = append(s.rows[:len(s.rows):len(s.rows)], call.Row)
	}
	if call.N > 0 {
		after.n = call.N
	}
	if n := len(answer.Loaded); answer.Loaded != nil && call.Do == "messages" && n < len(after.rows) {
		require.False(r.t, r.calm, what)
		require.Equal(r.t, after.rows[:n], answer.Loaded, "the backup, as Load would tell: %s", what)
	} else if answer.Loaded != nil {
		require.Equal(r.t, after.rows, answer.Loaded, what)
	}
	if answer.Error == "" {
		r.figures.Acknowledged++
		*s = *after
		r.check(s, what)
		return
	}
	r.figures.Failed++
	require.False(r.t, r.calm, "no call of the system fails any more: %s", what)
	require.True(r.t, answer.Typed, what)
	require.NotEmpty(r.t, answer.Is, what)
	found, n := r.load(s.id, what)
	if len(found) > len(s.rows) || n > s.n {
		r.figures.Done++
	}
	if len(found) > len(s.rows) {
		s.rows = after.rows
	}
	if n > s.n {
		s.n = after.n
	}
	r.check(s, what)
}

// load loads with a store that knows nothing.
func (r *failingRun) load(id, what string) (rows []string, n int) {
	r.t.Helper()
	st, err := sessionstore.Open(r.dir, nil)
	require.NoError(r.t, err)
	loaded, err := st.Load(r.t.Context(), id)
	require.NoError(r.t, err, what)
	require.Nil(r.t, loaded.Recovered, what)
	require.NoError(r.t, st.Close())
	n, _ = loaded.Metadata.Int("n")
	return lines(loaded.Messages), n
}

// check requires a session to be s, for everybody.
func (r *failingRun) check(s *failingSession, what string) {
	r.t.Helper()
	rows, n := r.load(s.id, what)
	require.Equal(testenv.Lost(r.t), s.rows, rows, what)
	require.Equal(r.t, s.n, n, what)
	session := filepath.Join(r.dir, s.id)
	old, err := oldPython(session).load()
	require.NoError(r.t, err)
	require.Equal(r.t, s.rows, old, what)
	strict, ok := strictRows([]byte(read(r.t, session, transcriptFile)))
	require.True(r.t, ok, what)
	require.Equal(r.t, s.rows, strict, what)
	own, err := r.own.Load(r.t.Context(), s.id)
	require.NoError(r.t, err, what)
	require.Equal(testenv.Lost(r.t), s.rows, lines(own.Messages), what)
}

// read reads the sessions as an old tool does, until done.
func (r *failingRun) read(done <-chan struct{}) {
	for until(done) {
		for _, id := range []string{turnsID, "first"} {
			tool := writertest.OldTool{Dir: filepath.Join(r.dir, id)}
			l, err := tool.Load()
			assert.NoError(r.t, err)
			assert.Equal(r.t, writertest.Whole, l.Main, "a reader meets a transcript that is missing or torn")
			assert.NotEmpty(r.t, l.Rows)
			r.figures.Reads++
			time.Sleep(time.Millisecond)
		}
	}
}
