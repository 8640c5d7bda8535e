package workflow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var research = Manifest{"research", []string{"phase_1", "phase_2", "phase_3"}}

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"write": writeAsChild})
}

// writeAsChild adds messages and phases, so many of each, and sets the status.
// It prints what each call is about to write, and what it gave when it is
// acknowledged.
func writeAsChild(dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	st, err := core.Open(dir, nil, testenv.KillPoint())
	if err != nil {
		return err
	}
	l, ctx := New(st, research), context.Background()
	for i := range n {
		content := fmt.Sprintf("%d of %d", i, os.Getpid())
		fmt.Println("message", content)
		id, err := insist(func() (int64, error) { return l.AddMessage(ctx, "s", nil, userRole, content) })
		if err != nil {
			return err
		}
		fmt.Println("added", id, content)
		fmt.Println("phase", content)
		id, err = insist(func() (int64, error) {
			return l.SavePhaseOutput(ctx, "s", PhaseOutput{PhaseID: content, PhaseName: content, Status: running})
		})
		if err != nil {
			return err
		}
		fmt.Println("saved", id, content)
		status := []string{inProgress, completed, failed}[i%3]
		fmt.Println("status", status)
		if err := testenv.Retry(sessionstore.ErrLocked, func() error { return l.SetStatus(ctx, "s", status) }); err != nil {
			return err
		}
		fmt.Println("set", status)
	}
	return st.Close()
}

// insist writes, as long as other writers leave no lock, again; see
// [testenv.Retry].
func insist(write func() (int64, error)) (id int64, err error) {
	err = testenv.Retry(sessionstore.ErrLocked, func() (err error) {
		id, err = write()
		return err
	})
	return id, err
}

// newLog returns a log of a store with the session s, whose clock goes a
// second on with every look.
func newLog(t testing.TB, metadata string, manifests ...Manifest) (*Workflow, *sessionstore.Store) {
	t.Helper()
	return logIn(t, t.TempDir(), nil, metadata, manifests...)
}

// logIn is newLog in the directory dir, with a seam.
func logIn(t testing.TB, dir string, hooks *seam.Seam, metadata string, manifests ...Manifest) (*Workflow, *sessionstore.Store) {
	t.Helper()
	st := openWith(t, dir, &sessionstore.Options{Now: ticking(0)}, hooks)
	md, err := sessionstore.ParseMetadata([]byte(metadata))
	require.NoError(t, err)
	require.NoError(t, st.Create(t.Context(), "s", md))
	return New(st, manifests...), st
}

// openStore opens a store whose clock is a day after that of newLog.
func openStore(t testing.TB, dir string) *sessionstore.Store {
	t.Helper()
	return openWith(t, dir, &sessionstore.Options{Now: ticking(1)}, nil)
}

func openWith(t testing.TB, dir string, opts *sessionstore.Options, hooks *seam.Seam) *sessionstore.Store {
	t.Helper()
	st, err := core.Open(dir, opts, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// ticking returns a clock that goes a second on with every look, from noon of
// the day after so many.
func ticking(days int) func() time.Time {
	start := time.Date(2026, 11, 18+days, 12, 0, 0, 0, time.UTC)
	var looks atomic.Int64
	return func() time.Time { return start.Add(time.Duration(looks.Add(1)) * time.Second) }
}

func save(t testing.TB, l *Workflow, p PhaseOutput) int64 {
	t.Helper()
	id, err := insist(func() (int64, error) { return l.SavePhaseOutput(t.Context(), "s", p) })
	require.NoError(t, err)
	return id
}

func add(t testing.TB, l *Workflow, phase *string, role, content string) int64 {
	t.Helper()
	id, err := insist(func() (int64, error) { return l.AddMessage(t.Context(), "s", phase, role, content) })
	require.NoError(t, err)
	return id
}

func outputs(t testing.TB, l *Workflow) []PhaseRecord {
	t.Helper()
	records, err := l.PhaseOutputs(t.Context(), "s")
	require.NoError(t, err)
	return records
}

func conversation(t testing.TB, l *Workflow) []SessionMessage {
	t.Helper()
	messages, err := l.Conversation(t.Context(), "s", nil)
	require.NoError(t, err)
	return messages
}

func contents(messages []SessionMessage) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Content
	}
	return all
}

func readFile(t testing.TB, st *sessionstore.Store, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(st.Dir(), "s", name))
	require.NoError(t, err)
	return string(data)
}

func writeFile(t testing.TB, st *sessionstore.Store, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), "s", name), []byte(content), 0o600))
}
