package sessionstore

import (
	"context"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Harden makes the named files of session id durable as they stand, with their
// names and the session's own, where the store does not promise that anyway. A
// file that is not there, or may not be opened, is passed over.
func (in Inside) Harden(ctx context.Context, id string, names ...string) error {
	if in.st.opts.Durability == Durable {
		return nil
	}
	err := in.Read(ctx, id, func(dir *sessiondir.Dir) error {
		for _, name := range names {
			if err := dir.Harden(name); err != nil {
				return err
			}
		}
		return dir.Sync()
	})
	if err != nil {
		return err
	}
	return in.st.base.Sync()
}
