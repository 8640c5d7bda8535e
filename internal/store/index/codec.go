package index

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// errBad tells that a file is not one of this version, or not whole.
var errBad = errors.New("not an index of this version, or damaged")

// Rules is the number of the rules by which the content of sessions becomes what
// the index remembers: what counts as a message, a turn, a prompt and its text,
// and what metadata say. Whoever changes one of them raises it: an index that was
// made by others counts as none.
const Rules = 4

const sumSize = 16 // of the hash at the end of a file

// seal appends the hash of all that is in b, which depends on [Rules].
func seal(b []byte) []byte { return sealBy(Rules, b) }

func sealBy(rules uint64, b []byte) []byte {
	sum := xxh3.Hash128Seed(b, rules).Bytes()
	return append(b, sum[:]...)
}

// unseal returns what stands between the head and the hash of a file.
func unseal(b []byte, head string) (*decoder, error) {
	if len(b) < len(head)+sumSize || string(b[:len(head)]) != head {
		return nil, errBad
	}
	body, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if is := xxh3.Hash128Seed(body, Rules).Bytes(); string(is[:]) != string(sum) {
		return nil, errBad
	}
	return &decoder{rest: body[len(head):]}, nil
}

// decoder reads what the append functions wrote. After the first error it
// returns zero values. The texts that it returns are parts of one.
type decoder struct {
	rest []byte
	all  string // ends as rest does
	bad  bool
}

func (d *decoder) fail() { d.rest, d.bad = nil, true }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count returns a number of things, each of which takes so many bytes or more.
func (d *decoder) count(least int) int {
	n := d.uint()
	if n > uint64(len(d.rest)/least) {
		d.fail()
		return 0
	}
	return int(n)
}

// number returns a number that every int holds.
func (d *decoder) number() int {
	n := d.uint()
	if n > math.MaxInt32 {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.fail()
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) text() string {
	n := d.count(1)
	if n == 0 {
		return ""
	}
	if d.all == "" {
		d.all = string(d.rest)
	}
	at := len(d.all) - len(d.rest)
	d.rest = d.rest[n:]
	return d.all[at : at+n]
}

// oneText is text where no others follow: it leaves the rest where it is.
func (d *decoder) oneText() string { return string(d.bytes(d.count(1))) }

func (d *decoder) bool() bool {
	b := d.bytes(1)
	return len(b) == 1 && b[0] == 1
}

func (d *decoder) sum() (sum xxh3.Uint128) {
	if b := d.bytes(sumSize); b != nil {
		sum.Hi, sum.Lo = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	}
	return sum
}

func (d *decoder) time() time.Time {
	seconds, nanos := d.int(), d.uint()
	return time.Unix(seconds, int64(nanos)).UTC()
}

func (d *decoder) stamp() vfs.Stamp {
	return vfs.Stamp{Dev: d.uint(), Inode: d.uint(), Size: d.int(), Mtime: d.time(), Ctime: d.time()}
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendSum(b []byte, sum xxh3.Uint128) []byte {
	bytes := sum.Bytes()
	return append(b, bytes[:]...)
}

func appendTime(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

func appendStamp(b []byte, s vfs.Stamp) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, s.Dev), s.Inode)
	return appendTime(appendTime(binary.AppendVarint(b, s.Size), s.Mtime), s.Ctime)
}
