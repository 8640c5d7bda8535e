package sessionstore

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Store that nobody opened answers with an error, whatever is asked.
func TestZero(t *testing.T) {
	t.Parallel()
	var st Store
	require.False(t, st.Exists("s"))
	require.Empty(t, st.Dir())
	for _, name := range methods(reflect.TypeFor[*Store](), answersWithoutError...) {
		require.ErrorIs(t, invoke(t.Context(), reflect.ValueOf(&st), name), ErrClosed, name)
	}
	require.NoError(t, st.Close())
	require.NoError(t, st.Close())
	require.ErrorIs(t, invoke(t.Context(), reflect.ValueOf(&st), "Load"), ErrClosed, "closed or not")
}
