package s3

import (
	"path/filepath"
	"testing"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
)

func TestRemote(t *testing.T) {
	t.Parallel()
	for name := range servers {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			remotetest.Run(t, func(t *testing.T) remote.Remote { return opened(t, name, nil) })
		})
	}
}
