package cosmostest

import "maps"

// A Snapshot is the state of an account at one time: databases, containers
// and documents. It may be restored many times and to any Server.
type Snapshot struct {
	databases       map[string]*database
	removed, serial int
}

// Snapshot returns the state of the account. Documents are not copied: they
// are immutable.
func (s *Server) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{copyDatabases(s.databases), s.removed, s.serial}
}

// Restore makes the account what it was. Answers under way and requests to
// come once more are not part of it; sessions that saw more find their
// tokens refused.
func (s *Server) Restore(snapshot *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.databases = copyDatabases(snapshot.databases)
	s.removed, s.serial = snapshot.removed, snapshot.serial
}

func copyDatabases(all map[string]*database) map[string]*database {
	out := make(map[string]*database, len(all))
	for id, db := range all {
		next := *db
		next.containers = make(map[string]*container, len(db.containers))
		for id, box := range db.containers {
			next.containers[id] = box.clone()
		}
		out[id] = &next
	}
	return out
}

// clone copies a container without what its replicas may lack.
func (c *container) clone() *container {
	next := *c
	next.graves = nil
	next.partitions = make(map[string]*partition, len(c.partitions))
	for key, p := range c.partitions {
		docs := maps.Clone(p.docs)
		for id, doc := range docs {
			last := *doc
			if last.prev = nil; last.deleted {
				delete(docs, id)
				continue
			}
			docs[id] = &last
		}
		next.partitions[key] = &partition{docs}
	}
	return &next
}
