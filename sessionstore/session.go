package sessionstore

import (
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// session is a store's entry for one session: the state that the calls under way share,
// and the content that earlier calls read or wrote. [sessionCache] decides how long it
// stays.
type session struct {
	id    string
	calls int // the number of calls under way; guarded by the cache

	gate chan struct{} // holds a token while a call writes; guards the fields below, up to the queue

	state *ownership.State // nil while no call writes
	owner *ownerPlace      // nil: not looked up yet

	// The state that this store has synced. A store that does not know it syncs once
	// more.
	parentSynced sessiondir.Stamp // the directory, under its name
	nameSynced   sessiondir.Stamp // the transcript, under its name; zero: not known

	backups soundBackups

	rowsFile string // of its index; "": not known yet

	appends appendQueue // calls of Append that wait for the gate

	mu            sync.Mutex // guards the fields below
	cached        *cachedTranscript
	meta          *metadataFile // as last read or written, sound
	metaCheckedAt time.Time
	metaCost      int64
}

// worthCaching reports whether s holds anything that a later call can use.
func (s *session) worthCaching() bool {
	return s.cached != nil || s.meta != nil || s.owner != nil || s.namesSynced()
}

// namesSynced reports whether s knows of a synced name.
func (s *session) namesSynced() bool {
	return s.parentSynced != (sessiondir.Stamp{}) || s.nameSynced != (sessiondir.Stamp{})
}

// putTranscript caches c.
func (s *session) putTranscript(c *cachedTranscript) {
	s.mu.Lock()
	s.cached = c
	s.mu.Unlock()
}

// putPlaces caches the places behind the messages of c, unless c is no longer cached.
func (s *session) putPlaces(c *cachedTranscript, places []index.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached == c {
		with := *c
		with.places = places
		s.cached = &with
	}
}

// cachedMain returns the stamp of the cached transcript, zero when there is none.
func (s *session) cachedMain() sessiondir.Stamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached == nil {
		return sessiondir.Stamp{}
	}
	return s.cached.main
}

// invalidate drops the cached transcript and metadata: the files may have
// changed.
func (s *session) invalidate() {
	s.mu.Lock()
	s.cached, s.meta, s.metaCost = nil, nil, 0
	s.mu.Unlock()
}

// The memory of a session beside the bytes of files.
const (
	sessionBytes    = 1024 // the session, with its place in the cache
	transcriptBytes = 1536 // a cached transcript
	rowBytes        = 72   // a message of it
	placeBytes      = 40   // the place behind it, if a call has asked for places
)

// cost returns about how many bytes of memory s takes.
func (s *session) cost() int64 {
	n := sessionBytes + 2*int64(len(s.id)) + s.metaCost
	if c := s.cached; c != nil {
		n += transcriptBytes + c.size + rowBytes*int64(cap(c.rows)) + placeBytes*int64(cap(c.places)) + int64(cap(c.end))
	}
	return n + n/8 // the overhead of the allocator
}

// putMetadata caches m if it is sound. at is a time before m was read.
func (s *session) putMetadata(m metadataFile, at time.Time) {
	if !m.main.sound() {
		return
	}
	s.mu.Lock()
	s.meta, s.metaCheckedAt, s.metaCost = &m, at, m.cost()
	s.mu.Unlock()
}

// soundBackup identifies the backup of a file that this store last read and found sound.
// The zero soundBackup is no backup.
type soundBackup struct {
	stamp     sessiondir.Stamp
	checkedAt time.Time // when the stamp was taken
}

// soundBackups are the sound backups of one session.
type soundBackups struct{ transcript, metadata soundBackup }
