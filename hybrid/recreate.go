package hybrid

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/syncer"
)

// Recreate sends sessions of this device anew that were deleted in the cloud by mistake, with
// [Store.DeleteRemote] or [Store.Purge]: what is in their directories now, under today's
// rules of redaction. Former histories, branches, and logs of other devices do not come back
// by it. It takes the place of the tombstone, so every device that has the session syncs it
// again, and sends its own log. What such a device has and the new session lacks is added,
// also lines that were rewound while it was away, or becomes a conflict copy where both went
// on; see [Policy]. A device on which the session was
// removed after the deletion gets it again; where it was removed before, it stays away.
//
// Several devices may call it at once: one is first, and the others go on as in [Store.Sync].
// A Purge at that time ends with [ErrContended], or removes the session once more. Recreate
// does what Sync does with a session that is not deleted, so after an error call it again.
//
// The error Is [sessionstore.ErrNotFound] when a session is not on this device, and
// [ErrLocal], [ErrHeld] or [ErrRedaction] where the rules hold it back: then the tombstone
// stays. Recreate goes on after a session that fails; the error joins what failed.
func (s *Store) Recreate(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("recreate", ids)
	if err != nil {
		return err
	}
	refused := newErrors()
	want := always(syncer.Options{Asked: true, Named: true, Recreate: true})
	err = e.each(e.asked(ctx), "recreate", ids, want, func(id string, out syncer.Result, _ cosmos.Usage) {
		if out.Err == nil && (out.State == Local || out.State == KeptLate) {
			refused.add(wrap("recreate", id, ErrLocal))
		}
	})
	return errors.Join(err, refused.all())
}
