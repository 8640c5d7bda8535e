//go:build !unix

package ownership

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnsupported(t *testing.T) {
	t.Parallel()
	id := Identity{Workspace: t.TempDir(), SessionID: "a"}
	_, err := Locate(System(), id)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = LocateRetained(System(), id)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = Acquire(t.Context(), Session{ID: "a"}, Options{App: "test"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
