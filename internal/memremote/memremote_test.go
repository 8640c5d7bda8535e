package memremote_test

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/memremote"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/remote/remotetest"
)

func TestRemote(t *testing.T) {
	t.Parallel()
	remotetest.Run(t, func(*testing.T) remote.Remote { return &memremote.Remote{} })
}
