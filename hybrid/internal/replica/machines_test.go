package replica

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// deviceOf asks for the device of a machine, which becomes fresh where there is none.
func deviceOf(t *testing.T, path string, hooks *seam.Seam, m Machine, fresh string) (string, error) {
	root, err := os.OpenRoot(path)
	require.NoError(t, err)
	dir := vfs.New(root, hooks)
	defer func() { require.NoError(t, dir.Close()) }()
	return DeviceOf(t.Context(), dir, m, func(taken map[string]bool) (string, error) {
		if taken[fresh] {
			return fresh + "+", nil
		}
		return fresh, nil
	})
}

func requireDevice(t *testing.T, path string, m Machine, fresh, want string) {
	t.Helper()
	id, err := deviceOf(t, path, nil, m, fresh)
	require.NoError(t, err)
	require.Equal(t, want, id)
}

// TestMachines: each machine, and each place of it, keeps the device that it had first, and
// no machine changes another one's line.
func TestMachines(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	file := filepath.Join(path, MachinesFile)
	machines := []Machine{{Key: "a", Place: "/home/u"}, {Key: "b", Place: "/home/u"}, {Place: "/home/u"}, {Key: "a", Place: "/copy"}}
	lines := ""
	for i, m := range machines {
		requireDevice(t, path, m, fmt.Sprint("id", i), fmt.Sprint("id", i))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, now, _ := strings.Cut(string(text), "\n")
		require.True(t, strings.HasPrefix(now, lines))
		require.Equal(t, i+1, strings.Count(now, "\n"))
		lines = now
	}
	for i, m := range machines {
		requireDevice(t, path, m, "new", fmt.Sprint("id", i))
	}
	requireDevice(t, path, Machine{Key: "clone"}, "id0", "id0+") // what is taken is known
	names, err := os.ReadDir(path)
	require.NoError(t, err)
	require.Len(t, names, 2, "the file and its lock")
}

// TestMachinesAtOnce: whatever begins at once, also for the first time, each machine has
// one device.
func TestMachinesAtOnce(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	var work sync.WaitGroup
	var got [40]string
	begin := make(chan struct{})
	for i := range got {
		work.Go(func() {
			<-begin
			id, err := deviceOf(t, path, nil, Machine{Key: fmt.Sprint(i % 4)}, fmt.Sprint("id", i))
			if err == nil {
				got[i] = id
			}
		})
	}
	close(begin)
	work.Wait()
	for i := range got {
		require.NotEmpty(t, got[i])
		require.Equal(t, got[i%4], got[i])
		requireDevice(t, path, Machine{Key: fmt.Sprint(i % 4)}, "new", got[i])
	}
}

// TestMachinesFileIsMadeElsewhere: a file server tells a machine late that another one has
// made the file, and the locks of the two do not see each other.
func TestMachinesFileIsMadeElsewhere(t *testing.T) {
	t.Parallel()
	path, elsewhere := t.TempDir(), t.TempDir()
	requireDevice(t, elsewhere, Machine{Key: "other"}, "other", "other")
	hooks := &seam.Seam{Before: func(op seam.Op) error {
		text, err := os.ReadFile(filepath.Join(elsewhere, MachinesFile))
		if err == nil && op.Kind == seam.Link {
			err = os.WriteFile(filepath.Join(path, MachinesFile), text, 0o600)
		}
		return err
	}}
	id, err := deviceOf(t, path, hooks, Machine{Key: "mine"}, "mine")
	require.NoError(t, err)
	require.Equal(t, "mine", id)
	requireDevice(t, path, Machine{Key: "other"}, "new", "other")
	requireDevice(t, path, Machine{Key: "mine"}, "new", "mine")
}

// TestMachinesFileIsDamaged cuts the file at each byte, and changes each.
func TestMachinesFileIsDamaged(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	file := filepath.Join(path, MachinesFile)
	for _, key := range []string{"a", "b", "c"} {
		requireDevice(t, path, Machine{Key: key, Place: "/home/u"}, "id-"+key, "id-"+key)
	}
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	harmed := [][]byte{append(bytes.Clone(whole), whole...), append(bytes.Clone(whole), '\n'), []byte("\n"), []byte("{}\n")}
	for i := range whole {
		other := bytes.Clone(whole)
		other[i] ^= 1
		harmed = append(harmed, whole[:i], other)
	}
	for _, text := range harmed {
		require.NoError(t, os.WriteFile(file, text, 0o600))
		for _, key := range []string{"a", "c", "new"} {
			id, err := deviceOf(t, path, nil, Machine{Key: key, Place: "/home/u"}, "new")
			require.ErrorContains(t, err, "damaged", "%q", text)
			require.ErrorContains(t, err, "Options.Device")
			require.NotErrorIs(t, err, ErrNotRecorded)
			require.Empty(t, id)
		}
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, now)
	}
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Symlink("nowhere", file))
	_, err = deviceOf(t, path, nil, Machine{Key: "a"}, "new")
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNotRecorded)
}

// TestMachinesFileFails lets each step of adding a line fail in turn.
func TestMachinesFileFails(t *testing.T) {
	t.Parallel()
	for _, others := range []int{0, 1, 2} {
		steps := 0
		for at, ended := 1, false; !ended; at++ {
			path := t.TempDir()
			for i := range others {
				requireDevice(t, path, Machine{Key: fmt.Sprint(i)}, fmt.Sprint("id", i), fmt.Sprint("id", i))
			}
			n := 0
			hooks := &seam.Seam{Before: func(seam.Op) error {
				if n++; n == at {
					return syscall.ENOSPC
				}
				return nil
			}}
			id, err := deviceOf(t, path, hooks, Machine{Key: "mine"}, "mine")
			ended = n < at
			if err == nil {
				require.Equal(t, "mine", id)
			} else {
				require.ErrorIs(t, err, syscall.ENOSPC)
			}
			for i := range others {
				requireDevice(t, path, Machine{Key: fmt.Sprint(i)}, "new", fmt.Sprint("id", i))
			}
			requireDevice(t, path, Machine{Key: "mine"}, "mine", "mine")
			steps = at
		}
		require.Greater(t, steps, 4)
	}
}

// TestMachinesFileIsReadOnly: what is there is read, and what is not there is told.
func TestMachinesFileIsReadOnly(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	readOnly := &seam.Seam{Before: func(seam.Op) error { return syscall.EROFS }}
	_, err := deviceOf(t, path, readOnly, Machine{Key: "a"}, "a")
	require.ErrorIs(t, err, ErrNotRecorded)
	require.True(t, errors.Is(err, syscall.EROFS))
	requireDevice(t, path, Machine{Key: "a"}, "a", "a")
	id, err := deviceOf(t, path, readOnly, Machine{Key: "a"}, "new")
	require.NoError(t, err)
	require.Equal(t, "a", id)
}
