package sessionstore

import (
	"context"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// session is what a store keeps of a session between calls.
type session struct {
	gate chan struct{} // holds a token while a call writes
	hold hold
	seat *sessiondir.Seat // for who holds the gate

	// What this store has made durable; for who holds the gate.
	place sessiondir.Stamp // the directory, under its name
	firm  sessiondir.Stamp // the transcript, under its name

	mu      sync.Mutex // guards what follows
	known   *knowledge
	meta    *metadataFile // as last read or written, sound
	metaAt  time.Time
	pending []*appending
}

// knowledge is the content of a sound transcript as it was last read or
// written. It is never changed, only replaced.
type knowledge struct {
	rows   []Message // of the file, in order; what follows them in the array belongs to the newest knowledge
	sum    xxh3.Hasher
	size   int64
	end    []byte           // the last bytes of the file, if they are kept
	ended  bool             // the last line has its LF
	alien  bool             // some of rows are none that a save would store
	main   sessiondir.Stamp // of the file with this content
	backup sessiondir.Stamp // of a backup that the file begins with; zero when that is not known
	at     time.Time        // when the stamps were taken
	set    time.Time        // the time that this store gave the file, if it did
}

func (k *knowledge) revision() Revision {
	sum := k.sum // asking a hasher that was never written to changes it
	return Revision{Messages: len(k.rows), Bytes: k.size, Sum: sum.Sum128().Bytes()}
}

// session returns what is kept of session id.
func (st *Store) session(id string) *session {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[id]
	if s == nil {
		s = &session{gate: make(chan struct{}, 1), seat: st.base.Seat(id)}
		st.sessions[id] = s
	}
	return s
}

// enter waits until this call alone writes the session in this store.
func (s *session) enter(ctx context.Context) error {
	select {
	case s.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) leave() { <-s.gate }

// recall returns what is known of the transcript in dir, or nil when that is
// nothing or the file may have changed.
func (st *Store) recall(s *session, dir *sessiondir.Dir) *knowledge {
	s.mu.Lock()
	k := s.known
	s.mu.Unlock()
	if k == nil {
		return nil
	}
	now, err := dir.Stat(sessiondir.Transcript)
	if err != nil || !now.Same(k.main) {
		return nil
	}
	if now.Mtime.Equal(k.set) || st.base.Settled(now, k.at) {
		return k
	}
	return nil
}

// learn keeps k, and forgets the transcripts used longest ago when the kept
// ones have become too many bytes.
func (st *Store) learn(id string, s *session, k *knowledge) {
	s.mu.Lock()
	s.known = k
	s.mu.Unlock()
	st.remember(id, k.size)
}

// knownMain returns the stamp of the transcript that is known.
func (s *session) knownMain() sessiondir.Stamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		return sessiondir.Stamp{}
	}
	return s.known.main
}

func (s *session) forget() {
	s.mu.Lock()
	s.known, s.meta = nil, nil
	s.mu.Unlock()
}

// keptBytes is how much of transcripts a store keeps in memory so that saving
// and loading them again costs only what is new. The last one is always kept.
const keptBytes = 256 << 20

// remember notes the use of session id, whose transcript has so many bytes.
func (st *Store) remember(id string, size int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.kept.use(id, size)
	for st.kept.total > keptBytes && st.kept.len() > 1 {
		oldest := st.sessions[st.kept.drop()]
		oldest.mu.Lock()
		oldest.known = nil
		oldest.mu.Unlock()
	}
}

// seats is how many sessions keep files open for their next write.
const seats = 32

// seated notes that session id keeps files open, and closes those of the
// session that was written longest ago when they have become too many, unless
// it is being written.
func (st *Store) seated(id string) {
	st.mu.Lock()
	st.seats.use(id, 1)
	var oldest *session
	if st.seats.len() > seats {
		oldest = st.sessions[st.seats.drop()]
	}
	st.mu.Unlock()
	if oldest == nil {
		return
	}
	select {
	case oldest.gate <- struct{}{}:
		if err := oldest.seat.Close(); err != nil {
			st.log.Warn("session files not closed", "err", err)
		}
		oldest.leave()
	default: // it is in use again, and noted after that
	}
}
