package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
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

// errBad is returned for a file that is of another version, or not whole.
var errBad = errors.New("not an index of this version, or damaged")

// Rules is the number of the rules by which the content of sessions becomes the content
// of the index: what counts as a message, a turn, a prompt and its text, and how metadata
// are read. A change of one of them must raise it: an index that was made by other rules
// counts as none.
const Rules = 5

const sumSize = 16 // of the hash at the end of a file

// seal appends the hash of b, which depends on [Rules].
func seal(b []byte) []byte { return sealBy(Rules, b) }

func sealBy(rules uint64, b []byte) []byte { return appendSum(b, xxh3.Hash128Seed(b, rules)) }

// unseal returns the reader of the bytes between the head and the hash of a file.
func unseal(b []byte, head string) (*codec, error) {
	if len(b) < len(head)+sumSize || string(b[:len(head)]) != head {
		return nil, errBad
	}
	body := b[:len(b)-sumSize]
	if xxh3.Hash128Seed(body, Rules) != sumIn(b[len(body):]) {
		return nil, errBad
	}
	return &codec{b: body[len(head):]}, nil
}

// codec writes values, or reads them: each method does one or the other with the value
// that its argument points to, so that the two cannot differ. After the first error
// it reads zero values.
type codec struct {
	writes bool
	b      []byte // the bytes written, or still to be read
	all    string // ends as b does: the texts that are read are parts of it; "": each has memory of its own
	bad    bool
}

func (c *codec) fail() {
	if c.bad = true; !c.writes {
		c.b = nil
	}
}

// read moves behind n bytes, and returns them.
func (c *codec) read(n int) []byte {
	if n > len(c.b) {
		c.fail()
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func number[T int | int64 | uint64](c *codec, v *T) {
	if c.writes {
		c.b = binary.AppendUvarint(c.b, uint64(*v))
		return
	}
	n, size := binary.Uvarint(c.b)
	if size <= 0 {
		n, size = 0, len(c.b)+1
	}
	*v = T(n)
	c.read(size)
}

// count is number for the count of the items that follow, each of which takes so many
// bytes or more.
func (c *codec) count(n *int, least int) {
	if number(c, n); !c.writes && uint(*n) > uint(len(c.b)/least) {
		*n = 0
		c.fail()
	}
}

func (c *codec) text(v *string) {
	n, at := len(*v), 0
	c.count(&n, 1)
	if c.writes {
		c.b = append(c.b, *v...)
		return
	}
	at = len(c.all) - len(c.b)
	if b := c.read(n); at >= 0 && n > 0 {
		*v = c.all[at : at+n]
	} else {
		*v = string(b)
	}
}

func (c *codec) bool(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	number(c, &n)
	*v = n == 1
}

func (c *codec) sum(v *xxh3.Uint128) {
	if c.writes {
		c.b = appendSum(c.b, *v)
	} else if b := c.read(sumSize); b != nil {
		*v = sumIn(b)
	}
}

func (c *codec) time(v *time.Time) {
	seconds, nanos := v.Unix(), int64(v.Nanosecond())
	number(c, &seconds)
	number(c, &nanos)
	*v = time.Unix(seconds, nanos).UTC()
}

func (c *codec) stamp(v *vfs.Stamp) {
	number(c, &v.Dev)
	number(c, &v.Inode)
	number(c, &v.Size)
	c.time(&v.Mtime)
	c.time(&v.Ctime)
}

func appendSum(b []byte, sum xxh3.Uint128) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, sum.Hi), sum.Lo)
}

// sumIn returns the hash at the beginning of b.
func sumIn(b []byte) xxh3.Uint128 {
	return xxh3.Uint128{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])}
}
