package sessionstore_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var stopsFlag = flag.Int("stops", 0, "how often TestStoppedInAppend stops a writer; 0: at every step with TEST_LONG set, else not at all")

// TestStoppedInAppend stops a process in the middle of an append, as SIGSTOP, a
// laptop's lid or a stalled disk do. While it is stopped, readers open the
// files and an old tool saves, which takes until the leases of the stopped
// process have expired. Then it goes on. Nothing may be lost but what contract
// 3 of [writertest] gives away, neither then nor after the next calls of both.
func TestStoppedInAppend(t *testing.T) {
	if *stopsFlag == 0 {
		testenv.Soak(t, "it changes how long leases last on the whole machine")
	}
	shortenLeases(t)
	n := testenv.Seed(t)
	r := rand.New(rand.NewPCG(n, 3))
	stops := make(chan stopped)
	total := writertest.Figures{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range 8 { // they mostly wait for leases to expire
		workers.Go(func() {
			for s := range stops {
				t.Run(s.String(), func(t *testing.T) {
					f := s.run(t)
					mu.Lock()
					defer mu.Unlock()
					total.Add(f)
				})
			}
		})
	}
	for _, s := range chooseStops(t, r) {
		stops <- s
	}
	close(stops)
	workers.Wait()
	fmt.Fprintf(t.Output(), "a stopped writer: %s\n", &total)
}

// shortenLeases lets leases expire after one second, until the test ends. It
// skips the test where only the 45 s of the system can be had.
func shortenLeases(t *testing.T) {
	t.Helper()
	const path = "/proc/sys/fs/lease-break-time"
	was, err := os.ReadFile(path)
	testenv.Need(t, err == nil, "the time until a lease expires cannot be told")
	err = os.WriteFile(path, []byte("1\n"), 0)
	testenv.Need(t, err == nil, "only root can shorten the time until a lease expires")
	t.Cleanup(func() { assert.NoError(t, os.WriteFile(path, was, 0)) })
}

// stopped is a writer that is stopped in an append, at one of its steps.
type stopped struct {
	durability string
	step       int           // 0: at a random time
	after      time.Duration // that time, from the beginning of the append
	until      int           // it goes on after so many steps of the tool, if that has not saved before
}

func (s stopped) String() string {
	if s.step > 0 {
		return fmt.Sprint(s.durability, " step=", s.step, " until=", s.until)
	}
	return fmt.Sprint(s.durability, " after=", s.after, " until=", s.until)
}

// chooseStops returns all steps in all durabilities, and some random times; or
// so many of them as are wanted.
func chooseStops(t *testing.T, r *rand.Rand) (list []stopped) {
	t.Helper()
	for name := range durabilities {
		steps := countSteps(t, name)
		for step := range steps {
			list = append(list, stopped{durability: name, step: 1 + step, until: 1000})
			list = append(list, stopped{durability: name, step: 1 + step, until: r.IntN(25)})
		}
		for range 2 * steps {
			list = append(list, stopped{durability: name, after: time.Duration(r.IntN(8000)) * time.Microsecond, until: r.IntN(40)})
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if *stopsFlag > 0 {
		return list[:min(*stopsFlag, len(list))]
	}
	return list
}

// countSteps returns how often an append that goes on from others calls the
// hooks of the seam.
func countSteps(t *testing.T, durability string) (n int) {
	t.Helper()
	dir := t.TempDir()
	write(t, "{}", dir, turnsID, metadataFile) // as the writer finds it: turns are not counted
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: durabilities[durability]}, &seam.Seam{
		Before: func(seam.Op) error { n++; return nil },
		After:  func(seam.Op) { n++ },
	})
	require.NoError(t, err)
	for i := range stoppedRow {
		require.NoError(t, st.Append(t.Context(), turnsID, parse(t, numbered("ours", i))...))
	}
	n = 0
	require.NoError(t, st.Append(t.Context(), turnsID, parse(t, numbered("ours", stoppedRow))...))
	all := n
	require.NoError(t, st.Close())
	return all
}

// stoppedRow is the number of the row that a process appends while it is
// stopped.
const stoppedRow = 4

// stopsChild appends rows, one for each line that it is told, and says when it
// has. It stops itself at a step of the append of row [stoppedRow], until it is
// told another line.
func stopsChild(dir, argument string) error {
	durability, text, _ := strings.Cut(argument, " ")
	step, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	row, calls := 0, 0
	at := func(op seam.Op) {
		if row != stoppedRow {
			return
		}
		if calls++; calls == step {
			fmt.Printf("at %v of %s\n", op.Kind, op.Name)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-testenv.Orders()
		}
	}
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: durabilities[durability]}, &seam.Seam{
		Before: func(op seam.Op) error { at(op); return nil },
		After:  at,
	})
	if err != nil {
		return err
	}
	for range testenv.Orders() {
		m, err := sessionstore.ParseMessage([]byte(numbered("ours", row)))
		if err != nil {
			return err
		}
		if err := st.Append(context.Background(), turnsID, m); err != nil {
			return err
		}
		fmt.Println("appended")
		row++
	}
	return st.Close()
}
