package sessionstore

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// refusals are errors with which kernels, file systems and sandboxes refuse an
// exchange of names.
var refusals = []syscall.Errno{
	syscall.EPERM, syscall.EACCES, syscall.ENOTTY, syscall.EXDEV, syscall.EIO, syscall.ENOSYS, syscall.EINVAL, syscall.EOPNOTSUPP,
}

// A refuser refuses the exchange number at, and those after it as long as
// lasts says.
type refuser struct {
	at    int
	lasts bool
	err   error

	mu    sync.Mutex // guards the fields below
	armed bool
	asked int
}

func (r *refuser) before(op seam.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.armed || op.Kind != seam.Exchange {
		return nil
	}
	n := r.asked
	r.asked++
	if n == r.at || r.lasts && n > r.at {
		return r.err
	}
	return nil
}

func (r *refuser) arm(armed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.armed = armed
}

// TestExchangeRefused refuses the exchanges of names that a call does, each
// once and from there on, in a session with backups. The call succeeds all the
// same: what was is the backup then, and no temporary file stays.
func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	known := []act{create(), add(1, 40), add(3, 40), save(1), add(1, 40)}
	type changed struct {
		act
		file string // of which the backup is what was
	}
	for _, changes := range testenv.Some(t, 2, []changed{
		{add(1, 40), sessiondir.Transcript},
		{save(2), sessiondir.Transcript},
		{rewind(2), sessiondir.Transcript},
		{replace(2), sessiondir.Transcript},
		{update(), sessiondir.Metadata},
	}...) {
		t.Run(changes.name, func(t *testing.T) {
			t.Parallel()
			s := scene{changes.name, known, changes.act}
			for _, errno := range refusals {
				for _, lasts := range []bool{false, true} {
					refused := 0
					for r := (&refuser{err: errno, lasts: lasts}); refuseOne(t, s, changes.file, r); r = (&refuser{err: errno, lasts: lasts, at: r.at + 1}) {
						refused++
					}
					if runtime.GOOS == "linux" { // elsewhere a call may exchange nothing
						require.NotZero(t, refused, "exchanges of %s", changes.name)
					}
				}
			}
		})
	}
}

// refuseOne reports whether r refused an exchange of the scene's act.
func refuseOne(t *testing.T, s scene, file string, r *refuser) bool {
	t.Helper()
	text := fmt.Sprintf("%s: %v at %d, lasts %v", s.name, r.err, r.at, r.lasts)
	dir := testenv.Scratch(t)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	st := openFaulty(t, dir, Durable, &seam.Seam{Before: r.before})
	defer func() { require.NoError(t, st.Close()) }()
	for n, a := range s.before {
		require.NoError(t, a.do(t, st, n+1), a.name)
	}
	path := filepath.Join(dir, victim, file)
	was, err := os.ReadFile(path)
	require.NoError(t, err)

	r.arm(true)
	require.NoError(t, s.act.do(t, st, len(s.before)+1), text)
	r.arm(false)
	found, err := lookAt(t, st)
	require.NoError(t, err, text)
	whole := wholeScene(t, s)
	require.Equal(t, whole, found, text)
	backup, err := os.ReadFile(sessiondir.Backup(path))
	require.NoError(t, err, text)
	require.Equal(t, string(was), string(backup), text)
	requireNoTemporary(t, dir, text)
	require.NoError(t, st.Append(t.Context(), victim, row(0, "more")), text)
	return r.asked > r.at
}

// requireNoTemporary requires that the session holds its own files alone, and
// that nothing is staged.
func requireNoTemporary(t *testing.T, dir, text string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, victim))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		require.Regexp(t, fileNames, e.Name(), text)
	}
	staged, err := os.ReadDir(filepath.Join(dir, sessiondir.Bookkeeping, "new"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.Empty(t, staged, text)
}

// TestCreationLeavesNothingStaged lets each step of the calls that make a
// session fail, once and, on a full disk, for good. Then nothing is left of the
// session where it was built, unless it is there.
func TestCreationLeavesNothingStaged(t *testing.T) {
	t.Parallel()
	for _, a := range []act{create(), add(2, 40), save(2), config()} {
		for _, d := range []Durability{Durable, Relaxed} {
			t.Run(a.name+", "+durabilities[d], func(t *testing.T) {
				t.Parallel()
				for _, f := range failures {
					if f.stays && f.err != syscall.ENOSPC {
						continue // nothing can be removed
					}
					for at := 0; failOne(t, a, d, &crashsim.Failer{At: at, Err: f.err, Part: f.part, Stays: f.stays}); at++ {
						continue
					}
				}
			})
		}
	}
}

// failOne reports whether f failed a step of a.
func failOne(t *testing.T, a act, d Durability, f *crashsim.Failer) bool {
	t.Helper()
	dir := testenv.Scratch(t)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	p := &play{failer: f}
	st := openFaulty(t, dir, d, &seam.Seam{Before: p.before})
	defer func() { require.NoError(t, st.Close()) }()
	p.armed = true
	err := a.do(t, st, 1)
	p.armed = false
	op, failed := f.Failed()
	text := fmt.Sprintf("%s: %v at %v %s: %v", a.name, f.Err, op.Kind, op.Name, err)
	staged, readErr := os.ReadDir(filepath.Join(dir, sessiondir.Bookkeeping, "new"))
	if !os.IsNotExist(readErr) {
		require.NoError(t, readErr)
	}
	require.Empty(t, staged, text)
	if !failed {
		require.NoError(t, err)
	}
	if st.base.Has(victim) { // it is published, though its name is not synced
		a = add(1, 40)
	}
	require.NoError(t, a.do(t, st, 2), "%s: again", text)
	return failed
}
