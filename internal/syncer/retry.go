package syncer

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

// rounds is how often a session is synced again while others change it meanwhile.
const rounds = 5

// retry runs do again, a few times, while others change the session meanwhile.
func retry(do func() error) error {
	for range rounds {
		if err := do(); !errors.Is(err, errLost) && !errors.Is(err, track.ErrMoved) {
			return err
		}
	}
	return remoteread.ErrContended
}
