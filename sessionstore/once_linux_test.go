package sessionstore_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestWrittenOnceWithoutDescriptors lets an append run out of descriptors after
// it has exchanged the names, when it copies the former transcript for a reader
// that waits. The row is in the transcript then, once, and the call reports the error.
func TestWrittenOnceWithoutDescriptors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var armed, failed atomic.Bool
	var reader sync.WaitGroup
	main := filepath.Join(dir, turnsID, transcriptFile)
	st, err := sessionstore.OpenWithSeam(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
		switch {
		case !armed.Load():
		case op.Kind == seam.Exchange:
			reader.Go(func() {
				f, err := os.Open(main)
				assert.NoError(t, err)
				assert.NoError(t, f.Close())
			})
			time.Sleep(50 * time.Millisecond) // by now it waits for the lease
		case op.Kind == seam.Create:
			armed.Store(false)
			failed.Store(true)
			return syscall.EMFILE
		}
		return nil
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	for i := range 3 {
		require.NoError(t, st.Append(t.Context(), turnsID, parse(t, numbered("row", i))...))
	}
	armed.Store(true)
	err = st.Append(t.Context(), turnsID, parse(t, numbered("row", 3))...)
	reader.Wait()
	testenv.Need(t, failed.Load(), "the file system has no leases, or nobody could wait for one")
	require.ErrorIs(t, err, syscall.EMFILE)
	rows, err := oldPython(filepath.Join(dir, turnsID)).load()
	require.NoError(t, err)
	require.Equal(t, []string{numbered("row", 0), numbered("row", 1), numbered("row", 2), numbered("row", 3)}, rows)
	require.NoError(t, st.Append(t.Context(), turnsID, parse(t, numbered("row", 4))...))
	s, err := st.Load(t.Context(), turnsID)
	require.NoError(t, err)
	require.Equal(t, append(rows, numbered("row", 4)), lines(s.Messages))
}
