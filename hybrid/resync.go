package hybrid

import (
	"context"
)

// Resync writes what the cloud has of sessions anew, under today's rules of redaction:
// each line and small file in the form that these give to the one that was sent, in all
// histories, branches and logs of all devices. Then it removes the former documents,
// whatever their age. So what the rules of Options.Redact find is in no document of the
// sessions any more, though it was sent under weaker rules or none. What earlier rules
// took out does not come back. No file on any device changes, and the sessions need not
// be here.
//
// A fork has a copy of the lines, which stays as it was sent: name the forks too;
// [Store.Family] tells which. The error Is [ErrRedaction] when this store has no rules of
// redaction, or some that may find less than others by which the sessions were sent;
// [sessionstore.ErrNotFound] when the cloud has no such session; [ErrDamaged] when
// something of one cannot be read, and [ErrContended] when other devices changed them all
// the time. After any error call it again: sessions that were written anew are left alone,
// and no session is left half. Until then former documents of some may stay, or until
// [Store.Prune] finds them old enough.
//
// What other devices do with these sessions at that time, they begin again. A device
// with the same rules sends and fetches no line because of it; with later ones it
// fetches the transcript once. Logs of other devices are fetched once more by the next
// [Store.Pull]. A device whose rules may find less sends nothing of these sessions any
// more, with [ErrRedaction]. A device that is sending lines at that instant removes
// itself what it stored in vain, and where it is killed before, the next Resync or
// [Store.Prune] does.
//
// When it returns without an error, all of that is durable. The hashes of former
// histories go, but for those that other devices know. Backups of the account keep
// what they hold for their retention. Store.Resync reads all documents of the sessions.
// It takes 200 bytes of memory for each line of the longest session.
func (s *Store) Resync(ctx context.Context, ids ...string) error {
	e, err := s.forNamed("resync", ids)
	if err != nil {
		return err
	}
	return wrap("resync", single(ids), e.Resync(e.asked(ctx), ids))
}

// ResyncPlan is what a [Store.Resync] would do, and what it would cost.
type ResyncPlan struct {
	Documents    int   // that are stored, heads and entries of the catalogue too
	Bytes        int64 // of these
	Removed      int   // documents that are removed
	Requests     int
	RequestUnits float64 // by the published prices, see [Budget]
}

// PlanResync estimates what Resync of these sessions would do now. It changes nothing,
// and costs what Resync would read. Documents, Bytes and Removed are what Resync then
// does, as long as nobody changes a session between and nothing else is stored that no
// head leads to. Requests and RequestUnits differ by a tenth and ten more. Errors are as
// of [Store.Resync].
func (s *Store) PlanResync(ctx context.Context, ids ...string) (ResyncPlan, error) {
	e, err := s.forNamed("plan resync", ids)
	if err != nil {
		return ResyncPlan{}, err
	}
	cost, err := e.ForecastResync(e.asked(ctx), ids)
	return ResyncPlan{cost.Documents, cost.Bytes, cost.Removed, cost.Requests, cost.Units}, wrap("plan resync", single(ids), err)
}
