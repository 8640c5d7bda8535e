package sessionstore

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every call is made with ids, names and references of any length. An error
// shows 64 bytes of them.
func TestErrorsShowTheBeginningOfIDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all, err := OpenProjects(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	st, err := Open(filepath.Join(dir, "p", "sessions"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	failed := 0
	for _, n := range []int{65, 200, 1000, 1 << 20} {
		text := strings.Repeat("x", n)
		for _, receiver := range []any{st, all} {
			v := reflect.ValueOf(receiver)
			for _, name := range methods(v.Type(), "Close") {
				if err := invokeWith(t.Context(), v, name, text); err != nil {
					failed++
					require.NotContains(t, err.Error(), text[:65], "%T.%s", receiver, name)
				}
			}
		}
	}
	require.Greater(t, failed, 50)
}
