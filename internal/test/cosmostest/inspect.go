package cosmostest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Doc is a document as the server holds it.
type Doc struct {
	Partition string // the partition key as a client sends it, like ["s-abc"]
	ID        string
	ETag      string
	Body      []byte // with the members that the service adds
}

// CreateContainer makes a container, and its database if need be, behind the service's back. Its
// partition key is a path, "" is /pk.
func (s *Server) CreateContainer(db, container, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.databases[db] == nil {
		if a := s.createDatabase(document{{"id", quoted(db)}}.json()); a.failed() {
			return fmt.Errorf("create database %q: %s", db, a.body)
		}
	}
	if a := s.createContainer(s.databases[db], propertiesOf(container, cmp.Or(key, "/pk")), s.options.Now()); a.failed() {
		return fmt.Errorf("create container %q: %s", container, a.body)
	}
	return nil
}

// Docs returns the documents of a container, by partition and then in the order of their
// creation; none when there is no such container.
func (s *Server) Docs(db, container string) (out []Doc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return nil
	}
	v := box.newest()
	for key := range box.partitions {
		for _, d := range v.list(key) {
			out = append(out, Doc{key, d.id, d.etag, slices.Clone(d.data)})
		}
	}
	slices.SortStableFunc(out, func(a, b Doc) int { return cmp.Compare(a.Partition, b.Partition) })
	return out
}

// Put upserts a document behind the service's back: without a charge, but with all of its
// checks.
func (s *Server) Put(db, container, body string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return err
	}
	doc, err := parseDocument([]byte(body))
	if err != nil {
		return fmt.Errorf("put document: %w", err)
	}
	key, no := keyOf(doc.get(box.key))
	if no != nil {
		return fmt.Errorf("put document: %s", no.body)
	}
	t := box.begin(s.options.Now(), s.options.PartitionBytes)
	if a := t.apply(key, write{op: OpUpsert, body: []byte(body)}); a.failed() {
		t.rollback()
		return fmt.Errorf("put document: %s", a.body)
	}
	t.commit()
	return nil
}

// Edit damages a document: edit returns its new content, a JSON object. Its etag and time
// stay.
func (s *Server) Edit(db, container, partition, id string, edit func(body []byte) []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs, err := s.docsWith(db, container, partition, id)
	if err != nil {
		return err
	}
	next := *docs[id]
	if next.body, err = parseDocument(edit(slices.Clone(next.data))); err != nil {
		return fmt.Errorf("edit document %q: %w", id, err)
	}
	next.data, next.size = next.body.json(), sizeOf(next.body)
	docs[id] = &next
	return nil
}

// Remove deletes a document behind the service's back.
func (s *Server) Remove(db, container, partition, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs, err := s.docsWith(db, container, partition, id)
	delete(docs, id)
	return err
}

// docsWith returns the documents of a partition that has a document id.
func (s *Server) docsWith(db, container, partition, id string) (map[string]*version, error) {
	box, err := s.find(db, container)
	if err != nil {
		return nil, err
	}
	if box.newest().get(partition, id) == nil {
		return nil, fmt.Errorf("find document %q: not there", id)
	}
	return box.partitions[partition], nil
}

// Wipe deletes all documents of all containers.
func (s *Server) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, db := range s.databases {
		for _, box := range db.containers {
			box.partitions, box.recent = map[string]map[string]*version{}, nil
		}
	}
}

// Split puts a container into the state in which the service splits its physical
// partitions: for the time takes, requests on documents are refused with 410 and 1007.
// Session tokens and continuations from before are good after it.
func (s *Server) Split(db, container string, takes time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err == nil {
		box.splitting = s.options.Now().Add(takes)
	}
	return err
}

// A Snapshot is the state of an account at one time: databases, containers and documents.
// It may be restored many times and to any Server.
type Snapshot struct {
	databases map[string]*database
	made      int
}

// Snapshot returns the state of the account. Documents are not copied: they are immutable.
func (s *Server) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{copyDatabases(s.databases), s.made}
}

// Restore puts the account into the state of a snapshot. Answers under way and requests to
// come once more are not part of it; sessions that saw more find their tokens refused.
func (s *Server) Restore(snapshot *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.databases, s.made = copyDatabases(snapshot.databases), snapshot.made
}

func copyDatabases(all map[string]*database) map[string]*database {
	out := maps.Clone(all)
	for id, db := range out {
		next := *db
		next.containers = maps.Clone(db.containers)
		for id, box := range next.containers {
			next.containers[id] = box.clone()
		}
		out[id] = &next
	}
	return out
}
