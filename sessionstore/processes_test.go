//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestManyProcesses lets four processes append to one session, that nobody
// owns, and count in its metadata: everything is kept, each process's rows in
// its order.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("first")+"\n", dir, turnsID, transcriptFile)
	write(t, "{}", dir, turnsID, metadataFile)
	names := []string{"durable", "relaxed", "default", "another default"}
	rows := atOnceRows(testenv.Share(50, 50, 200))
	var all []*testenv.Process
	for _, name := range names {
		all = append(all, spawn(t, "writer", dir, fmt.Sprint(rows, ",", name), t.TempDir()))
	}
	for _, p := range all {
		p.End(t)
	}
	requireAll(t, dir, names, rows)
}

func init() {
	children["writer"] = writerChild
	children["leaks"] = leaksChild
}

// writerChild appends and counts as often as its argument says.
func writerChild(dir, argument string) error {
	count, name, _ := strings.Cut(argument, ",")
	rows, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: durabilities[name]})
	if err != nil {
		return err
	}
	for i := range rows {
		if err := appendAndCount(context.Background(), st, turnsID, name, i); err != nil {
			return err
		}
	}
	return st.Close()
}

// TestNothingLeaks does a lot in a process of its own, and then counts its
// goroutines, descriptors and locks.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS == "linux", "only Linux lists descriptors")
	rounds := strconv.Itoa(testenv.Share(100, 100, 400))
	spawn(t, "leaks", t.TempDir(), rounds, t.TempDir()).End(t)
}

func leaksChild(dir, argument string) error {
	rounds, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	busy := func(n int) error {
		st, err := sessionstore.Open(dir, nil)
		if err != nil {
			return err
		}
		for i := range n {
			if err := useAll(st, "session-"+strconv.Itoa(i%20), i); err != nil {
				return err
			}
		}
		return st.Close()
	}
	if err := busy(1); err != nil { // opens what the runtime keeps open
		return err
	}
	goroutines, files := runtime.NumGoroutine(), descriptors()
	if err := busy(rounds); err != nil {
		return err
	}
	for range 3000 { // a goroutine may still be on its way out
		if runtime.NumGoroutine() <= goroutines && descriptors() <= files {
			return locksFree(dir)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errLeak{runtime.NumGoroutine() - goroutines, descriptors() - files}
}

type errLeak struct{ goroutines, files int }

func (e errLeak) Error() string {
	return strconv.Itoa(e.goroutines) + " goroutines and " + strconv.Itoa(e.files) + " descriptors too many"
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// locksFree takes every lock that a session has.
func locksFree(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, ".*.lock"))
	if err != nil {
		return err
	}
	for _, name := range names {
		id := filepath.Base(name)[1 : len(filepath.Base(name))-len(".metadata.lock")]
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := newPython(filepath.Join(dir, id)).locked(ctx, func() error { return nil })
		if cancel(); err != nil {
			return err
		}
	}
	return nil
}

// useAll makes many kinds of calls, some of which fail.
func useAll(st *sessionstore.Store, id string, i int) error {
	ctx := context.Background()
	m, err := sessionstore.ParseMessage([]byte(numbered("m", i)))
	if err != nil {
		return err
	}
	if err := st.Append(ctx, id, m); err != nil {
		return err
	}
	s, err := st.Load(ctx, id)
	if err != nil {
		return err
	}
	if err := st.Save(ctx, id, append(s.Messages[i%2:], m), s.Metadata); err != nil && !errors.Is(err, sessionstore.ErrWindow) {
		return err
	}
	for range st.Messages(ctx, id) {
		break
	}
	if _, err := st.Replace(ctx, id, sessionstore.Revision{}, nil); err == nil {
		return os.ErrInvalid
	}
	if err := st.SaveConfig(ctx, id, s.Metadata); err != nil {
		return err
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := st.Append(cancelled, id, m); err == nil {
		return os.ErrInvalid
	}
	_, _, _ = st.LoadStrict(ctx, "none")
	_, _ = st.Find(ctx, "session", nil)
	if hold, err := st.Acquire(ctx, id, sessionstore.Owner{}); err == nil {
		err = hold.Release()
		if err != nil {
			return err
		}
	}
	if i%7 == 0 {
		return st.Delete(ctx, id)
	}
	return nil
}
