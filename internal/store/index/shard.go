package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"
)

// MaxEntry is how many bytes an entry of a shard takes at most.
const MaxEntry = 1 << 10

// Shards is how many shards there are.
const Shards = 64

// MaxFile is how large a file of the index may be to be read.
const MaxFile = 64 << 20

const shardHead = "sessionstore sums\x00\x01"

// Entry is what is remembered of one session.
type Entry struct {
	ID         string
	Dir        Seen // the session's directory
	Transcript Seen
	Facts      Facts
	HasPrompt  bool   // Prompt is the text of the first prompt, or there is none
	Prompt     string // as it is shown

	HasMetadata bool // what follows was read
	Metadata    Seen
	About       About
}

// About is what metadata says of a session.
type About struct {
	Name, Model, Bundle, WorkingDir, Parent string
	Created                                 time.Time
	Fork, Sub, Internal                     bool
	Conflict                                bool // a sync made it, to keep what two devices wrote at once
	Imported                                bool // from another tool
}

// append appends the entry, without texts that do not fit.
func (e *Entry) append(b []byte) []byte {
	start := len(b)
	if b = e.appendAll(b); len(b)-start <= MaxEntry {
		return b
	}
	short := *e
	short.HasPrompt, short.Prompt = false, ""
	if b = short.appendAll(b[:start]); len(b)-start <= MaxEntry {
		return b
	}
	short.HasMetadata, short.About = false, About{}
	return short.appendAll(b[:start])
}

// Fits reports whether a shard holds all of the entry.
func (e *Entry) Fits() bool { return len(e.appendAll(nil)) <= MaxEntry }

// appendAll appends the entry with all texts.
func (e *Entry) appendAll(b []byte) []byte {
	b = e.Transcript.append(e.Dir.append(appendText(b, e.ID)))
	b = appendText(appendBool(e.Facts.append(b), e.HasPrompt), e.Prompt)
	if b = appendBool(b, e.HasMetadata); !e.HasMetadata {
		return b
	}
	b = e.Metadata.append(b)
	a := &e.About
	for _, text := range [...]string{a.Name, a.Model, a.Bundle, a.WorkingDir, a.Parent} {
		b = appendText(b, text)
	}
	b = appendTime(b, a.Created)
	for _, is := range [...]bool{a.Fork, a.Sub, a.Internal, a.Conflict, a.Imported} {
		b = appendBool(b, is)
	}
	return b
}

func (d *decoder) entry() (e Entry) {
	e.ID, e.Dir, e.Transcript = d.text(), d.seen(), d.seen()
	e.Facts, e.HasPrompt, e.Prompt = d.facts(), d.bool(), d.text()
	if e.HasMetadata = d.bool(); !e.HasMetadata {
		return e
	}
	e.Metadata = d.seen()
	a := &e.About
	a.Name, a.Model, a.Bundle, a.WorkingDir, a.Parent = d.text(), d.text(), d.text(), d.text(), d.text()
	a.Created = d.time()
	a.Fork, a.Sub, a.Internal, a.Conflict, a.Imported = d.bool(), d.bool(), d.bool(), d.bool(), d.bool()
	return e
}

// Shard is some of the entries by the ids of their sessions.
type Shard map[string]Entry

// Encode returns the file.
func (s Shard) Encode() []byte {
	b := make([]byte, 0, len(shardHead)+len(s)*MaxEntry/2)
	b = binary.AppendUvarint(append(b, shardHead...), uint64(len(s)))
	for _, id := range slices.Sorted(maps.Keys(s)) {
		e := s[id]
		b = e.append(b)
	}
	return seal(b)
}

// ParseShard returns what is in a file.
func ParseShard(data []byte) (Shard, error) {
	d, err := unseal(data, shardHead)
	if err != nil {
		return nil, err
	}
	n := d.count(64)
	s := make(Shard, n)
	for range n {
		e := d.entry()
		s[e.ID] = e
	}
	if d.bad || len(d.rest) > 0 || len(s) != n {
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

// RowsName returns the name of the rows file of session id.
func RowsName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:nameBytes]) + rowsEnd
}

// IsRows reports whether name is that of a rows file.
func IsRows(name string) bool {
	return len(name) == 2*nameBytes+len(rowsEnd) && name[2*nameBytes:] == rowsEnd
}
