package index

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// errBad is returned for a file that is of another version, or not whole.
var errBad = errors.New("not an index of this version, or damaged")

// Rules is the number of the rules by which the content of sessions becomes the content
// of the index: what counts as a message, a turn, a prompt and its text, and how metadata
// are read. A change of one of them must raise it: an index that was made by other rules
// counts as none.
const Rules = 4

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
