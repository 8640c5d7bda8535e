package memremote_test

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote/remotetest"
)

func TestRemote(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(*testing.T) remote.Remote { return &memremote.Remote{} })
}
