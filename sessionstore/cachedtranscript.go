package sessionstore

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// cachedTranscript is the content of a sound transcript as it was last read or
// written. It is never changed, only replaced.
type cachedTranscript struct {
	rows         []Message // in order; the array behind them belongs to the newest cachedTranscript
	sum          xxh3.Hasher
	size         int64
	end          []byte           // the last bytes of the file; nil: not cached
	ended        bool             // the last line has its LF
	nonCanonical bool             // a save would not write some of rows as they are
	users        userCount        // of rows
	places       []index.Place    // behind each of rows; nil: no call has asked for them
	main         sessiondir.Stamp // of the file with this content
	backup       sessiondir.Stamp // of a backup that the file begins with; zero when that is not known
	checkedAt    time.Time        // when the stamps were taken
	writtenTime  time.Time        // the time that this store gave the file, if it did
	epoch        uint64           // drawn anew with each content that does not begin with the one before; never 0
}

// cachedTranscriptOf returns the cached form of main, a sound file with these rows. at is
// a time before main was read.
func cachedTranscriptOf(main *file, rows []Message, at time.Time) *cachedTranscript {
	c := &cachedTranscript{rows: rows, size: int64(len(main.data)), main: main.stamp, checkedAt: at, epoch: newEpoch()}
	var wait sync.WaitGroup
	sum := func() { c.sum.Write(main.data) } // never fails
	if c.size < chunkSize {
		sum()
	} else {
		wait.Go(sum)
	}
	c.ended = c.size == 0 || main.data[c.size-1] == '\n'
	returns := bytes.IndexByte(main.data, '\r') >= 0
	c.nonCanonical = slices.ContainsFunc(rows, func(m Message) bool { return m.m.places.role == unstoredRole || returns && m.nonCanonical() })
	wait.Wait()
	return c
}

// revision identifies the content.
func (c *cachedTranscript) revision() Revision {
	sum := c.sum // asking a hasher that was never written to changes it
	return Revision{Messages: len(c.rows), Bytes: c.size, Sum: sum.Sum128().Bytes()}
}

// extended returns c with rows, whose lines are tail, at its end. The caller
// sets the stamps and times.
func (c *cachedTranscript) extended(rows []Message, tail []byte) *cachedTranscript {
	n := &cachedTranscript{
		rows: append(c.rows, rows...), sum: c.sum, size: c.size + int64(len(tail)), ended: true,
		nonCanonical: c.nonCanonical, users: c.users.plus(rows), epoch: c.epoch,
	}
	if c.places != nil {
		n.places = addPlaces(c.places, rows)
	}
	n.sum.Write(tail) // never fails
	if len(tail) <= cachedEnd {
		n.end = tail
	}
	return n
}

// cachedEnd is the most bytes at the end of a transcript that are cached.
const cachedEnd = 64 << 10

// withMessages returns c with messages of want in place of its own, where both have the
// same line. want begins with the messages of c, see matchPrefix. The next save then
// compares the two by identity.
func (c *cachedTranscript) withMessages(want []Message) *cachedTranscript {
	last := len(c.rows) - 1
	if last < 0 || want[len(want)-1] == c.rows[last] {
		return c
	}
	other, n := *c, 0
	other.rows = slices.Clone(c.rows)
	for i, m := range c.rows {
		for want[n] != m && want[n].m.places.role == unstoredRole {
			n++
		}
		if bytes.Equal(want[n].m.raw, m.m.raw) {
			other.rows[i] = want[n]
		}
		n++
	}
	return &other
}

// write writes the lines of c, and notes their size and sum.
func (c *cachedTranscript) write(out io.Writer) error {
	c.size = 0
	c.sum.Reset()
	buf := bufio.NewWriterSize(io.MultiWriter(out, &c.sum), 256<<10)
	for _, m := range c.rows {
		n, _ := buf.Write(m.m.line()) // Flush returns the error
		buf.WriteByte('\n')
		c.size += int64(n) + 1
	}
	return buf.Flush()
}
