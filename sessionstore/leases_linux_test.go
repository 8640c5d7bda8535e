package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() {
	children["signals"] = signalsChild
	children["stops"] = stopsChild
}

// openers open the files of a session until they are stopped, and break the
// leases that a writer holds on them.
type openers struct {
	session string
	stop    chan struct{}
	wait    sync.WaitGroup
	opened  atomic.Int64
	broken  atomic.Int64 // opens that met a lease
}

func startOpeners(dir string) *openers {
	o := &openers{session: filepath.Join(dir, turnsID), stop: make(chan struct{})}
	for _, name := range []string{transcriptFile, transcriptBackup} {
		o.wait.Go(func() {
			for until(o.stop) {
				o.open(name)
			}
		})
	}
	return o
}

// open opens a file for a moment. That it would have to wait tells of a lease.
func (o *openers) open(name string) {
	f, err := os.OpenFile(filepath.Join(o.session, name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.EAGAIN) {
		o.broken.Add(1)
	}
	if err == nil {
		_ = f.Close()
	}
	time.Sleep(time.Duration(o.opened.Add(1)*617%1000) * time.Microsecond) // a file that is always open gets no lease
}

func (o *openers) end() int64 {
	close(o.stop)
	o.wait.Wait()
	return o.broken.Load()
}

// leaseRows returns how many rows a host appends while others open the files.
func leaseRows() int {
	if testenv.Long() {
		return 1000
	}
	return 80
}

// requireHostRows requires all that a host appended.
func requireHostRows(t *testing.T, dir string) {
	t.Helper()
	s, err := open(t, dir, nil).Load(t.Context(), turnsID)
	require.NoError(t, err)
	want := []string{user("first")}
	for i := range leaseRows() {
		want = append(want, numbered("host", i))
	}
	require.Equal(t, want, lines(s.Messages))
}

// TestLeaseBreakIsNoSignalForHosts lets a host that is notified of every signal
// append while another process opens the files. It is told of none that such a
// host does not get from the runtime anyway.
func TestLeaseBreakIsNoSignalForHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("first")+"\n", dir, turnsID, transcriptFile)
	others := startOpeners(dir)
	testenv.Spawn(t, "signals", dir, strconv.Itoa(leaseRows())).End(t) // the child knows no flags
	t.Logf("%d opens met a lease", others.end())
	requireHostRows(t, dir)
}

// signalsChild appends, slowly, and fails when it is told of a signal.
func signalsChild(dir, argument string) error {
	told := make(chan os.Signal, 1000)
	signal.Notify(told)
	slow := func(seam.Op) { time.Sleep(200 * time.Microsecond) }
	st, err := sessionstore.OpenWithSeam(dir, nil, &seam.Seam{After: slow})
	if err != nil {
		return err
	}
	rows, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	if err := appendRows(st, rows); err != nil {
		return err
	}
	signal.Stop(told)
	close(told)
	for sig := range told {
		if sig != syscall.SIGURG { // with which the runtime interrupts goroutines
			return fmt.Errorf("the host got signal %v", sig)
		}
	}
	return st.Close()
}

func appendRows(st *sessionstore.Store, n int) error {
	for i := range n {
		m, err := sessionstore.ParseMessage([]byte(numbered("host", i)))
		if err != nil {
			return err
		}
		if err := st.Append(context.Background(), turnsID, m); err != nil {
			return err
		}
	}
	return nil
}

// TestLeaseBreakInC lets a program in C, which handles no signals, append by a
// shared library while another process opens the files. A lease break must not
// end it.
func TestLeaseBreakInC(t *testing.T) {
	t.Parallel()
	testenv.Soak(t, "it builds a program in C")
	gcc, err := exec.LookPath("gcc")
	testenv.Need(t, err == nil, "gcc is not installed")
	program := buildHost(t, gcc)
	dir := t.TempDir()
	write(t, user("first")+"\n", dir, turnsID, transcriptFile)
	others := startOpeners(dir)
	out, err := exec.CommandContext(t.Context(), program, dir, turnsID, fmt.Sprint(leaseRows())).CombinedOutput()
	t.Logf("%d opens met a lease", others.end())
	require.NoError(t, err, "%s", out)
	requireHostRows(t, dir)
}

// buildHost builds the program in C and returns its path.
func buildHost(t *testing.T, gcc string) string {
	t.Helper()
	const source = "testdata/chost"
	built := t.TempDir()
	host := filepath.Join(built, "host")
	for _, command := range [][]string{
		{"go", "build", "-buildvcs=false", "-buildmode=c-shared", "-o", filepath.Join(built, "libstore.so"), "./" + source + "/library"},
		{gcc, "-I", built, "-o", host, filepath.Join(source, "host.c"), "-L", built, "-lstore", "-Wl,-rpath," + built},
	} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", command, out)
	}
	return host
}
