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
	st, err := Open(filepath.Join(dir, "p", "sessions"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	failed := 0
	for _, n := range []int{65, 200, 1000, 1 << 20} {
		text := strings.Repeat("x", n)
		v := reflect.ValueOf(st)
		for _, name := range methods(v.Type(), "Close") {
			if err := invokeWith(t.Context(), v, name, text); err != nil {
				failed++
				require.NotContains(t, err.Error(), text[:65], name)
			}
		}
	}
	require.Greater(t, failed, 50)
}
