package sessionstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
)

// stoppedRun is a writer that is about to be stopped.
type stoppedRun struct {
	stopped
	t      *testing.T
	h      writertest.History
	writer *testenv.Process
}

// run stops a writer once.
func (s stopped) run(t *testing.T) writertest.Figures {
	t.Helper()
	dir := t.TempDir()
	session := filepath.Join(dir, turnsID)
	r := &stoppedRun{stopped: s, t: t, h: writertest.History{Dir: session, First: user("first")}}
	write(t, r.h.First+"\n", session, transcriptFile)
	write(t, "{}", session, metadataFile)
	r.writer = spawn(t, "stops", dir, fmt.Sprint(s.durability, " ", s.step), dir)
	for i := range stoppedRow {
		r.append(i)
	}
	r.stop()
	r.append(stoppedRow + 1)
	require.NoError(t, r.h.Theirs(&writertest.OldTool{Dir: session}, numbered("theirs", 1)))
	r.append(stoppedRow + 2)
	r.writer.End(t)
	r.h.Last()
	f := r.h.Judge()
	require.Zero(t, f.Broken(), "the contract was broken: %q", f.Findings)
	return f
}

// append lets the writer append row i, at which it is not stopped.
func (r *stoppedRun) append(i int) {
	r.t.Helper()
	require.NoError(r.t, r.h.Ours("Append", numbered("ours", i), func(*writertest.Call) error {
		r.writer.Tell(r.t, "go on")
		r.hear("appended")
		return nil
	}))
}

// stop stops the writer in the append of row [stoppedRow], lets others work,
// and lets the writer go on.
func (r *stoppedRun) stop() {
	r.t.Helper()
	var tool sync.WaitGroup
	require.NoError(r.t, r.h.Ours("stopped Append", numbered("ours", stoppedRow), func(*writertest.Call) error {
		r.writer.Tell(r.t, "go on")
		if r.step > 0 {
			r.hear("at ")
		} else {
			time.Sleep(r.after)
			r.signal(syscall.SIGSTOP)
		}
		r.awaitStop()
		r.others(&tool)
		r.signal(syscall.SIGCONT)
		if r.step > 0 {
			r.writer.Tell(r.t, "go on")
		}
		r.hear("appended")
		return nil
	}))
	tool.Wait()
}

// others lets an old tool read, save and read again while the writer is
// stopped. Its look at the files waits for the writer, in tool.
func (r *stoppedRun) others(tool *sync.WaitGroup) {
	r.t.Helper()
	saved := make(chan struct{})
	tool.Go(func() {
		assert.NoError(r.t, r.h.Theirs(r.telling(sync.OnceFunc(func() { close(saved) })), numbered("theirs", 0)))
	})
	for range 2 {
		_, err := r.h.Load("load while a writer is stopped", &writertest.OldTool{Dir: r.h.Dir})
		require.NoError(r.t, err)
		<-saved
	}
}

// telling is an old tool that tells when it has saved, or come so far that the
// writer goes on.
type telling struct {
	writertest.OldTool
	enough func()
}

func (r *stoppedRun) telling(enough func()) *telling {
	steps := 0
	return &telling{enough: enough, OldTool: writertest.OldTool{Dir: r.h.Dir, Step: func(string) {
		if steps++; steps > r.until {
			enough()
			time.Sleep(time.Millisecond) // so that both go on at once
		}
	}}}
}

func (t *telling) Save(name, content string) (renamed time.Time, err error) {
	defer t.enough()
	return t.OldTool.Save(name, content)
}

// hear waits until the writer says something that begins with prefix.
func (r *stoppedRun) hear(prefix string) {
	r.t.Helper()
	line := r.writer.Hear(r.t)
	require.True(r.t, strings.HasPrefix(line, prefix), "the writer says %q", line)
	if prefix != "appended" {
		r.t.Log(line)
	}
}

func (r *stoppedRun) signal(sig syscall.Signal) {
	r.t.Helper()
	require.NoError(r.t, syscall.Kill(r.writer.PID(), sig))
}

// awaitStop returns once the writer is stopped.
func (r *stoppedRun) awaitStop() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.writer.PID()))
		return err == nil && strings.Contains(string(stat), ") T ")
	}, time.Minute, time.Millisecond)
}
