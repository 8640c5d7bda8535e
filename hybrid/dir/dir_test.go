package dir

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
)

// provisioned opens a new remote.
func provisioned(t *testing.T) *Remote {
	t.Helper()
	place := filepath.Join(t.TempDir(), "remote")
	require.NoError(t, Provision(t.Context(), place))
	r, err := Open(t.Context(), place)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestRemote(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(t *testing.T) remote.Remote { return provisioned(t) })
}

// TestRenames is a file system without links.
func TestRenames(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(t *testing.T) remote.Remote {
		r := provisioned(t)
		r.links = false
		return r
	})
}

// TestPlanted has others put files there that are larger than an object may be.
func TestPlanted(t *testing.T) {
	t.Parallel()
	remotetest.RunPlanted(t, func(t *testing.T) (remote.Remote, remotetest.Plant) {
		r := provisioned(t)
		return r, func(t *testing.T, part string, o remote.Object) {
			t.Helper()
			d, err := r.open(r.root, "p-"+part, true)
			require.NoError(t, err)
			defer func() { require.NoError(t, d.Close()) }()
			require.NoError(t, r.store(d, &o))
		}
	})
}
