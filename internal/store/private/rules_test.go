package private_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestLocalOnlyIsOfAll has several books of one directory, as processes have, record sessions
// at once: none is lost.
func TestLocalOnlyIsOfAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := private.Opened(func() (*vfs.Dir, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		return vfs.New(root, nil), nil
	})
	const books, each = 4, 10
	var writers sync.WaitGroup
	errs := make([]error, books)
	for i := range books {
		writers.Go(func() {
			book := private.NewBook(dir, open)
			for n := 0; n < each && errs[i] == nil; n++ {
				errs[i] = book.SetLocalOnly(fmt.Sprintf("s%d-%d", i, n), true)
			}
		})
	}
	writers.Wait()
	rules := private.NewBook(dir, open).Rules()
	for i := range books {
		require.NoError(t, errs[i])
		for n := range each {
			require.True(testenv.Lost(t), rules.Keeps(fmt.Sprintf("s%d-%d", i, n)), "%d of %d", n, i)
		}
	}
}
