package hybrid

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
)

// Recreate sends sessions anew under today's rules of redaction: transcript, small files,
// and the logs of all devices. It removes all documents that the cloud had of them, as
// [Store.Remove] does, whatever their age. So what the rules of Options.Redact find is in
// no document of the sessions any more, though it was sent under weaker rules or none.
// What earlier rules took out does not come back. Files on devices stay as they are.
//
// First it brings the session, as Sync and Pull do, also where it is not here. The error Is
// [ErrDeferred], and nothing is removed, when that is not possible just now: a program uses
// the session here, or a branch in the cloud has no session of its own there: sync the
// session that keeps it. It Is [ErrDamaged] when something of the session cannot be read.
// Former histories and branches do not come back. A fork and a conflict copy are sessions
// of their own, with copies of the lines: name them, too; the Parent of [Store.Remote] tells which.
//
// Of a session that was removed by mistake, with [Store.Remove],
// it sends what is here, without the logs of other devices.
//
// Every device that has the session compares all of its lines with the new ones. What it
// has more is added, or becomes a conflict copy where both went on; see [Policy]. With the
// same rules it sends and fetches no line because of it, and no device sends a former form.
// Lines that were rewound on a device that was away may come back. A device whose rules may
// find less sends nothing of these sessions any more, with [ErrRedaction]. A device on
// which the session was removed while it was deleted gets it again.
//
// Several devices may call it at once: one is first, and the others go on as in [Store.Sync],
// or once more. A Remove at that time ends with [ErrContended], or removes the session once
// more. The error Is ErrContended when other devices change a session all the time: then
// it stays. After any error call it again. What was interrupted while the cloud had only a
// tombstone is finished by the next sync of this device, too.
//
// The error Is [sessionstore.ErrNotFound] when a session is neither here nor in the cloud,
// or was removed there, and [ErrLocal], [ErrHeld] or [ErrRedaction] where the rules hold it
// back: then nothing changes. Recreate goes on after a session that fails; the error joins
// what failed. Backups of the account keep what they hold for their retention.
func (s *Store) Recreate(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("recreate", ids)
	if err != nil {
		return err
	}
	refused := newErrors()
	want := always(syncer.Options{Mode: syncer.Recreate, Named: true})
	done := func(id string, out syncer.Result, _ remoteread.Usage) {
		if out.Err == nil && (out.State == syncer.Local || out.State == syncer.KeptLate) {
			refused.add(wrap("recreate", id, ErrLocal))
		}
	}
	ctx = e.asked(ctx)
	for _, id := range ids { // one by one: one may keep a branch of the next
		refused.add(e.each(ctx, "recreate", []string{id}, want, done))
	}
	return refused.all()
}
