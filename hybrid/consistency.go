package hybrid

import "github.com/amplifier-go/sessionstorage/internal/cosmos"

// Consistency returns the account's default level of consistency, in the service's
// words: Strong, BoundedStaleness, Session, ConsistentPrefix or Eventual. It is "" until
// the account has answered: then a store with a container of [Connect] asks for it, once.
//
// No level loses what was acknowledged: what a sync changes, it changes only if the
// head is still the one that it read. The level decides how soon a read shows a write:
//
//	                           own writes of a device      what the Sync of another device sent
//	Strong, BoundedStaleness   at once                     at once
//	Session                    at once                     when the replica that answers has it
//	ConsistentPrefix, Eventual when the replica has it     when the replica has it
//
// A replica mostly has a write within milliseconds. The first line holds for reads in the
// region that takes the writes; in others, BoundedStaleness shows a write when the bound
// has passed. A program that goes on with a session before the replica has the other
// device's turn causes two histories, and both are kept; see [Policy]. A head that is older
// than the known one is not believed for 15 minutes. So below Session a device may be
// told late of its own turn, and of a session that was restored; a store logs a
// warning then.
func (s *Store) Consistency() string {
	if s.engine == nil {
		return ""
	}
	if level := s.engine.level.Load(); level != nil {
		return *level
	}
	return ""
}

// hearLevel notes the account's level of consistency, as it was told first.
func (e *engine) hearLevel(level string) {
	if e.level.CompareAndSwap(nil, &level) && !cosmos.Consistent(level) {
		e.Log.Warn("the account's consistency is below Session: a device may read its own writes late; choose Session or a stronger level", "level", level)
	}
}
