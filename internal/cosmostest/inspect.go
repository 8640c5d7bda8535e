package cosmostest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A Doc is a document as the server holds it.
type Doc struct {
	Partition string // the partition key as a client sends it, like ["s-abc"]
	ID        string
	ETag      string
	LSN       int64     // the write that made it: 1, 2, … in its container
	At        time.Time // of that write
	Body      []byte    // with the members that the service adds
}

// A PartitionStat tells the size of a logical partition.
type PartitionStat struct {
	Key   string
	Docs  int
	Bytes int64
}

// find returns a container.
func (s *Server) find(db, container string) (*container, error) {
	if d := s.databases[db]; d != nil && d.containers[container] != nil {
		return d.containers[container], nil
	}
	return nil, fmt.Errorf("find container %q of %q: not there", container, db)
}

// CreateContainer makes a container, and its database if need be, behind the
// service's back. Its properties are those of the REST API without the id; ""
// stands for one with the partition key /pk and documents that may expire.
func (s *Server) CreateContainer(db, container, properties string) error {
	if properties == "" {
		properties = `{"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1}`
	}
	o, err := jsondoc.ParseObject([]byte(properties))
	if err != nil {
		return fmt.Errorf("create container %q: %w", container, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{Request: Request{At: s.gate.now(), Database: db}}
	if s.databases[db] == nil {
		c.Body = jsondoc.Append(nil, jsondoc.NewObject(jsondoc.Member{Name: "id", Value: db}))
		if _, f := s.createDatabase(c); f != nil {
			return fmt.Errorf("create database %q: %w", db, f)
		}
	}
	c.Body = jsondoc.Append(nil, o.With("id", container))
	if _, f := s.createContainer(c, s.databases[db]); f != nil {
		return fmt.Errorf("create container %q: %w", container, f)
	}
	return nil
}

// Docs returns the documents of a container, by partition and then in the
// order of their creation; none when there is no such container.
func (s *Server) Docs(db, container string) (out []Doc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return nil
	}
	v := box.now(s.gate.now())
	for key := range box.partitions {
		for _, d := range v.list(key) {
			out = append(out, Doc{key, d.id, d.etag, d.lsn, d.at, slices.Clone(d.data)})
		}
	}
	slices.SortStableFunc(out, func(a, b Doc) int { return cmp.Compare(a.Partition, b.Partition) })
	return out
}

// Partitions returns the sizes of a container's logical partitions by key.
func (s *Server) Partitions(db, container string) (out []PartitionStat) {
	for _, d := range s.Docs(db, container) {
		if len(out) == 0 || out[len(out)-1].Key != d.Partition {
			out = append(out, PartitionStat{Key: d.Partition})
		}
		last := &out[len(out)-1]
		last.Docs++
		last.Bytes += int64(len(d.Body))
	}
	return out
}

// Put upserts a document behind the service's back: without a charge, but
// with all of its checks.
func (s *Server) Put(db, container, body string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return err
	}
	doc, err := jsondoc.ParseObject([]byte(body))
	if err != nil {
		return fmt.Errorf("put document: %w", err)
	}
	key, f := box.keyOf(doc)
	if f != nil {
		return fmt.Errorf("put document: %w", f)
	}
	t := box.begin(s.gate.now())
	if r := t.apply(key, write{op: OpUpsert, body: []byte(body)}); r.failure != nil {
		t.rollback()
		return fmt.Errorf("put document: %w", r.failure)
	}
	t.commit()
	return nil
}

// Edit damages a document: its content becomes what edit returns, a JSON
// object, and its etag and time stay.
func (s *Server) Edit(db, container, partition, id string, edit func(body []byte) []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return err
	}
	doc := box.now(s.gate.now()).get(partition, id)
	if doc == nil {
		return fmt.Errorf("edit document %q: not there", id)
	}
	body, err := jsondoc.ParseObject(edit(slices.Clone(doc.data)))
	if err != nil {
		return fmt.Errorf("edit document %q: %w", id, err)
	}
	next := *doc
	next.body, next.data = body, jsondoc.Append(nil, body)
	box.partitions[partition].docs[id] = &next
	return nil
}

// Remove deletes a document behind the service's back.
func (s *Server) Remove(db, container, partition, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return err
	}
	if box.now(s.gate.now()).get(partition, id) == nil {
		return fmt.Errorf("remove document %q: not there", id)
	}
	delete(box.partitions[partition].docs, id)
	return nil
}

// Wipe deletes all documents of all containers.
func (s *Server) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, db := range s.databases {
		for _, box := range db.containers {
			box.partitions, box.graves = map[string]*partition{}, nil
		}
	}
}
