package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxEntry is the greatest size of an entry of a shard in bytes. The longest prompt fits
// into it, beside the longest id.
const MaxEntry = 3 << 10

// Shards is the number of shards.
const Shards = 64

// MaxFile is the greatest size of a file of the index that is read.
const MaxFile = 64 << 20

const shardHead = "sessionstore sums\x00\x02"

// Entry is the record of one session.
type Entry struct {
	ID         string
	Dir        Seen // the session's directory
	Transcript Seen
	Facts      Facts
	Prompt     string // the text of the first prompt, as it is shown

	HasMetadata bool // the fields below were read
	Metadata    Seen
	About       About
}

// About holds the facts about a session from its metadata.
type About struct {
	Name, Model, Bundle, WorkingDir, Parent string
	Created                                 time.Time
	Fork, Sub, Internal                     bool
	Conflict                                bool // a sync made it, to keep messages that two devices wrote at once
	Imported                                bool // from another tool
}

// append appends the entry, without About if that does not fit.
func (e *Entry) append(b []byte) []byte {
	c := codec{writes: true, b: b}
	if c.entry(e); len(c.b)-len(b) > MaxEntry {
		short := *e
		short.HasMetadata = false
		c.b = b
		c.entry(&short)
	}
	return c.b
}

// Fits reports whether a shard can hold the whole entry.
func (e *Entry) Fits() bool {
	c := codec{writes: true}
	c.entry(e)
	return len(c.b) <= MaxEntry
}

// entry writes all of an entry, or reads one.
func (c *codec) entry(e *Entry) {
	c.text(&e.ID)
	c.seen(&e.Dir)
	c.seen(&e.Transcript)
	c.facts(&e.Facts)
	c.text(&e.Prompt)
	if c.bool(&e.HasMetadata); !e.HasMetadata {
		return
	}
	c.seen(&e.Metadata)
	a := &e.About
	for _, text := range [...]*string{&a.Name, &a.Model, &a.Bundle, &a.WorkingDir, &a.Parent} {
		c.text(text)
	}
	c.time(&a.Created)
	for _, is := range [...]*bool{&a.Fork, &a.Sub, &a.Internal, &a.Conflict, &a.Imported} {
		c.bool(is)
	}
}

// Shard holds some of the entries by the ids of their sessions.
type Shard map[string]Entry

// Encode returns the file.
func (s Shard) Encode() []byte {
	b := make([]byte, 0, len(shardHead)+len(s)*(MaxEntry/6))
	b = binary.AppendUvarint(append(b, shardHead...), uint64(len(s)))
	for _, id := range slices.Sorted(maps.Keys(s)) {
		e := s[id]
		b = e.append(b)
	}
	return seal(b)
}

// ParseShard reads a shard's file.
func ParseShard(data []byte) (Shard, error) {
	c, err := unseal(data, shardHead)
	if err != nil {
		return nil, err
	}
	n := 0
	c.count(&n, 64)
	c.all = string(c.b)
	s := make(Shard, n)
	for range n {
		var e Entry
		c.entry(&e)
		s[e.ID] = e
	}
	if c.bad || len(c.b) > 0 || len(s) != n {
		return nil, errBad
	}
	return s, nil
}

// Of returns the number of the shard that the session id belongs to.
func Of(id string) int { return int(sha256.Sum256([]byte(id))[0]) % Shards }

// The names of the files.
const (
	Lock      = "lock"
	shardEnd  = ".sums"
	rowsEnd   = ".rows"
	nameBytes = 16
)

// ShardName returns the name of a shard's file.
func ShardName(n int) string { return fmt.Sprintf("%02d%s", n, shardEnd) }

// ShardIn returns the number of the shard whose file has the name.
func ShardIn(name string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimSuffix(name, shardEnd))
	return n, err == nil && 0 <= n && n < Shards && ShardName(n) == name
}

// RowsName returns the name of the rows file of session id.
func RowsName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:nameBytes]) + rowsEnd
}

// IsRows reports whether name is the name of a rows file.
func IsRows(name string) bool {
	return len(name) == 2*nameBytes+len(rowsEnd) && name[2*nameBytes:] == rowsEnd
}
