package hybrid

import (
	"context"
)

// DeleteRemote removes a session from the cloud, for every device. It removes no file on
// any device. Devices that have it keep it and report [DeletedRemotely]; it is not sent
// again until somebody calls [Store.Recreate]. Its forks stay. [Store.Purge] removes
// several, and leaves no name. The error Is [ErrContended] when a device recreated the
// session meanwhile: then that session stays. A call that was interrupted is finished by
// the next.
// Sessions that rules keep here can be removed there, too; nothing of the files here is
// sent.
func (s *Store) DeleteRemote(ctx context.Context, id string) error {
	if s.engine == nil {
		return wrap("delete in the cloud", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	return wrap("delete in the cloud", id, s.engine.Delete(ctx, id))
}
