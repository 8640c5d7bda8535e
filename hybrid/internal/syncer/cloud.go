package syncer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// cloud is the session as the cloud has it, by the head that was last read or written.
type cloud struct {
	*session
	link     *remoteread.Reader
	pk       string
	head     *head.Head // nil: none
	version  remote.Version
	dead     *head.Head     // not nil: a tombstone, or what is known of one, that the next head is to replace
	infos    []segment.Info // of the transcript, once listed
	former   []head.History // that the head formerOf names, once listed
	formerOf *head.Head
	lacking  []error // parts that are damaged

	cap  int      // of a segment, after a refusal for its size; 0: the default
	sent []string // op and birth of the heads that were sent: where an answer was lost, they tell whose a head is
	left leftovers
}

// gc returns the session as package gc takes it.
func (c *cloud) gc() *gc.Session {
	return &gc.Session{SID: c.sid, Reader: c.link, Head: c.st.Head, Device: c.Device.ID, Random: c.Random}
}

// cloud begins a piece of work on the session in the cloud.
func (s *session) cloud() *cloud {
	link := s.Connect()
	return &cloud{session: s, link: link, pk: segment.SessionPK(s.sid)}
}

// cut returns how size bytes of lines are cut into segments.
func (c *cloud) cut(size int64) segment.Options {
	return segment.Options{SID: c.sid, Cap: c.cap, Size: size, Draw: func() string { return c.Random.Name(8) }}
}

// living returns the head that was read; nil where the cloud has none or a tombstone.
func (c *cloud) living() *head.Head {
	if c.head == nil || c.head.Deleted {
		return nil
	}
	return c.head
}

// lack takes note of a part of the session that is damaged in the cloud and
// returns nil: what is whole is installed without it. It returns every other error.
func (c *cloud) lack(name string, err error) error {
	if !errors.Is(err, remoteread.ErrDamaged) {
		return err
	}
	c.lacking = append(c.lacking, fmt.Errorf("%s: %w", name, err))
	return nil
}

// lacks returns what could not be read; nil: all could.
func (c *cloud) lacks() error { return errors.Join(c.lacking...) }

// leftovers are the documents that a sync stored ahead of a head. They wait for the head that
// leads to them. When the session is deleted or born anew instead, no head will ever lead to
// them, and the sync removes them: a removal may have looked before they came, and they may be
// in forms that nobody is to have any more.
type leftovers struct {
	mu  sync.Mutex // guards ids
	ids []string
}

// note notes a document that is stored.
func (l *leftovers) note(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id)
}

// clear forgets them: the head leads to them now.
func (l *leftovers) clear() { l.ids = nil }

// remove removes them.
func (l *leftovers) remove(ctx context.Context, r *remoteread.Reader, pk string) error {
	if err := r.Discard(ctx, pk, l.ids); err != nil {
		return fmt.Errorf("remove what was stored in vain: %w", err)
	}
	l.clear()
	return nil
}
