package sessionstore

import (
	"bytes"
	"fmt"
	"slices"
)

// transcript returns the transcript on disk for writing. While a marker is
// there and the backup is no transcript, nothing may be written; nor while the
// system does not let the transcript be read.
func (tx *transaction) transcript(md Metadata) (*transcript, error) {
	t, err := tx.existing(md)
	if err == nil && t.gone {
		t.damage, err = nil, tx.refuseMissing(t)
	}
	return t, err
}

// existing is transcript, also where it is missing and must not be written.
func (tx *transaction) existing(md Metadata) (*transcript, error) {
	t := tx.read(md)
	if t.unread != nil {
		return nil, t.unread
	}
	if t.appendPending && t.damage != nil {
		return nil, t.damage
	}
	return &t, nil
}

// read reads the transcript as the only writer.
func (tx *transaction) read(md Metadata) transcript {
	return tx.st.transcriptOf(tx.s, tx.dir, tx.id, md)
}

// saveTranscript makes the storable of want the transcript, in the place of t.
func (tx *transaction) saveTranscript(t *transcript, want []Message) error {
	if t.cached != nil && !t.cached.nonCanonical {
		if n, ok := tx.matchPrefix(want, t.rows); ok {
			added, err := tx.st.storable(want[n:], n)
			if err != nil {
				return err
			}
			t.cached = t.cached.withMessages(want[:n])
			return tx.extend(t, added)
		}
	}
	rows, err := tx.st.storable(want, 0)
	if err != nil {
		return err
	}
	return tx.writeRows(t, rows)
}

// matchPrefix reports how many messages of want stand for have, all of which is
// stored; ok is false when want does not begin with them. Messages that are
// not stored do not count. Those that this store handed out are compared by
// identity.
func (tx *transaction) matchPrefix(want, have []Message) (n int, ok bool) {
	if sameMessages(want, have) {
		return len(have), true
	}
	for _, m := range have {
		for n < len(want) && want[n] != m && want[n].m != nil && want[n].m.places.role == unstoredRole {
			n++
		}
		if n == len(want) || want[n] != m && !tx.wouldStore(want[n], m) {
			return n, false
		}
		n++
	}
	return n, true
}

// sameMessages reports whether want begins with the very messages of have.
func sameMessages(want, have []Message) bool {
	if len(want) < len(have) {
		return false
	}
	const step = 64 // compared as one piece of memory
	for len(have) >= step {
		if *(*[step]Message)(want) != *(*[step]Message)(have) {
			return false
		}
		want, have = want[step:], have[step:]
	}
	return slices.Equal(want[:len(have)], have)
}

// wouldStore reports whether a save of m writes the line of row.
func (tx *transaction) wouldStore(m, row Message) bool {
	if m.m == nil {
		return false
	}
	if tx.st.opts.Portable {
		m = m.portable()
	}
	return bytes.Equal(m.m.raw, row.m.raw)
}

// storable returns the messages that are stored; the first is called at.
func (st *Store) storable(msgs []Message, at int) ([]Message, error) {
	rows := make([]Message, 0, len(msgs))
	for i, m := range msgs {
		if m.m == nil {
			return nil, zeroMessage(at + i)
		}
		if m.m.places.role == unstoredRole {
			continue
		}
		if st.opts.Portable {
			m = m.portable()
		}
		rows = append(rows, m)
	}
	return rows, nil
}

func zeroMessage(i int) error {
	return fmt.Errorf("message %d: %w: it is the zero Message", i, ErrUnstorable)
}
