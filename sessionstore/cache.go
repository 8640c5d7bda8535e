package sessionstore

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// defaultCacheBytes bounds the cache unless Options.CacheBytes does.
const defaultCacheBytes = 64 << 20

// sessionCache holds all that a store remembers of sessions between calls. A session with
// a call under way is pinned: it stays, whatever it costs. The others make room in the
// order of their last use, so that they fit the bound.
type sessionCache struct {
	mu       sync.Mutex // guards the fields below, and the pins and costs of sessions
	sessions map[string]*session
	used     list.List // of the sessions that are worth caching, the one used last first
	cost     int64     // of those that are not pinned
	most     int64     // the bound

	// Under the default bound one session may be larger than the whole bound: the last
	// used of these large sessions. Its next save costs its new messages only, too.
	keepsLarge bool
	large      *session
}

// newSessionCache returns an empty cache with a bound of so many bytes. Zero means the
// default; a negative bound caches nothing.
func newSessionCache(bytes int64) *sessionCache {
	keepsLarge := bytes == 0
	if keepsLarge {
		bytes = defaultCacheBytes
	}
	return &sessionCache{keepsLarge: keepsLarge, sessions: map[string]*session{}, most: max(bytes, 0)}
}

// call pins session id for a call that was admitted, and returns it. The caller
// must [sessionCache.end] it.
func (c *sessionCache) call(id string) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		s = &session{id: strings.Clone(id), gate: make(chan struct{}, 1)}
		c.sessions[s.id] = s
	}
	if c.large == s {
		c.large = nil
	}
	s.calls++
	c.cost -= s.counted
	s.counted = 0
	return s
}

// known returns the cached session id, nil when it is not cached. The nil cache has none.
func (c *sessionCache) known(id string) *session {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[id]
}

// end unpins s. When no other call uses it, end caches it, or drops it when there is
// nothing to cache or no room.
func (c *sessionCache) end(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.calls--; s.calls > 0 {
		return
	}
	if s.cached == nil && s.meta == nil && !s.owner.located && s.parentSynced == (sessiondir.Stamp{}) && s.nameSynced == (sessiondir.Stamp{}) {
		c.drop(s) // it has nothing that a later call can use
		return
	}
	if cost := s.cost(); cost <= c.most {
		c.keep(s, cost)
		return
	}
	c.unlist(s)
	small := s
	if c.keepsLarge {
		small, c.large = c.large, s
	}
	if small == nil {
		return
	}
	small.putTranscript(nil) // which is nearly always the large part
	if cost := small.cost(); cost <= c.most {
		c.keep(small, cost)
	} else {
		c.drop(small)
	}
}

// keep caches s, used last. The least recently used sessions make room.
func (c *sessionCache) keep(s *session, cost int64) {
	if s.at == nil {
		s.at = c.used.PushFront(s)
	} else {
		c.used.MoveToFront(s.at)
	}
	c.cost += cost - s.counted
	s.counted = cost
	for at := c.used.Back(); c.cost > c.most; {
		oldest := at.Value.(*session)
		at = at.Prev()
		if oldest.calls == 0 {
			c.drop(oldest)
		}
	}
}

// unlist takes s out of the list.
func (c *sessionCache) unlist(s *session) {
	if s.at != nil {
		c.used.Remove(s.at)
		c.cost -= s.counted
		s.at, s.counted = nil, 0
	}
}

// drop removes s from the cache. Of a session that a host has acquired its locks stay.
func (c *sessionCache) drop(s *session) {
	c.unlist(s)
	if s.holds > 0 {
		s.invalidate()
		return
	}
	delete(c.sessions, s.id)
}

// host keeps s until [sessionCache.unhost]: a host has acquired it.
func (c *sessionCache) host(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.holds++
}

func (c *sessionCache) unhost(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.holds--; s.holds == 0 && s.calls == 0 && s.at == nil && c.large != s { // it was kept for its locks
		c.drop(s)
	}
}

// hosted reports whether a host of this store has acquired session id.
func (c *sessionCache) hosted(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	return s != nil && s.holds > 0
}

// close gives up the locks that hosts hold, and empties the cache. No call is under way.
func (c *sessionCache) close() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		if s.holds > 0 {
			err = joinErrors(err, joinErrors(s.owner.here.close(), s.owner.workspace.close()))
		}
	}
	clear(c.sessions)
	c.large = nil
	c.used.Init()
	c.cost, c.most = 0, 0
	return err
}

// session is a store's entry for one session: the state that the calls under way share,
// and the content that earlier calls read or wrote. [sessionCache] decides how long it
// stays.
type session struct {
	id    string
	calls int // the number of calls under way; guarded by the cache
	holds int // the number of hosts that have acquired it; guarded by the cache

	at      *list.Element // of the cache's list, and the cost that counts there; guarded by the cache
	counted int64

	gate chan struct{} // holds a token while a call writes; guards the fields below, up to the queue

	owner owner // its ownership locks

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
		nonCanonical: c.nonCanonical, users: c.users, epoch: c.epoch,
	}
	if c.users.known {
		n.users.n += countUsers(rows)
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

// transcriptOf returns the transcript in dir. It reads the files only when the
// transcript is not cached or may have changed, until ctx ends.
func (st *Store) transcriptOf(ctx context.Context, s *session, dir *sessiondir.Dir, id string, md Metadata) transcript {
	if c := st.getTranscript(s, dir); c != nil && c.size > 0 && !mayBeAppending(dir) {
		t := transcript{rows: c.rows, cached: c}
		t.main = file{name: sessiondir.Transcript, path: dir.Path(sessiondir.Transcript), found: true, stamp: c.main}
		t.from = fromMain
		return t
	}
	asked := time.Now()
	t := readTranscript(ctx, dir, md)
	if t.from == fromNothing && dir.Removed() {
		gone := notFound(id)
		return transcript{unread: gone, damage: gone}
	}
	if t.from == fromMain && t.damage == nil && t.main.stamp.Size == int64(len(t.main.data)) {
		t.cached = cachedTranscriptOf(&t.main, t.rows, asked)
		s.putTranscript(t.cached)
	}
	return t
}

// getTranscript returns the cached transcript, or nil when there is none or the
// file in dir may have changed since.
func (st *Store) getTranscript(s *session, dir *sessiondir.Dir) *cachedTranscript {
	s.mu.Lock()
	c := s.cached
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	now, err := dir.Stat(sessiondir.Transcript)
	if err != nil || !now.Same(c.main) {
		return nil
	}
	if now.Mtime.Equal(c.writtenTime) || st.base.Settled(now, c.checkedAt) {
		return c
	}
	return nil
}

// metadataOf returns the metadata in dir. It reads the files only when the
// metadata is not cached or may have changed.
func (st *Store) metadataOf(s *session, dir *sessiondir.Dir, id string) metadataFile {
	s.mu.Lock()
	cached, at := s.meta, s.metaCheckedAt
	s.mu.Unlock()
	if cached != nil {
		now, err := dir.Stat(sessiondir.Metadata)
		if err == nil && now.Same(cached.main.stamp) && (now.Mtime.Equal(cached.writtenTime) || st.base.Settled(now, at)) {
			return *cached
		}
	}
	asked := time.Now()
	m := readMetadata(dir, id, st.opts.Now)
	if m.unread == nil {
		s.putMetadata(m, asked)
	}
	return m
}
