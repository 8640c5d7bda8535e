package replica

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
)

// A scan makes at most three stats a session, and StatsAtLeast in a directory of few: one
// of its directory, which shows every name that came, went or changed, and the others of
// existing files, which a tool may write in place. First comes events.jsonl of each
// session: all tools append to it in place. Where the rest is too much, half of the room
// goes to the sessions that changed last, and half goes round, so that a few scans see
// every file. Writes of the programs of this library, and of all tools that replace files
// whole, show in the directory.
//
// The time of a directory may change a while before its new file can be seen. So an
// eighth of the room, and the rest that the others leave, is for files that were absent,
// shared out in the same way.
//
// That holds where the times of directories can be relied on. Elsewhere every file
// is asked for in each scan.
const (
	statsEach    = 3
	StatsAtLeast = 600
)

// Files stats the files of sessions; see package core.
type Files interface {
	Stat(id, name string) (is sessiondir.Stamp, regular bool, err error)
	IsLocal() bool
	Settled(s sessiondir.Stamp, at time.Time) bool
}

// Stats finds the sessions whose files changed since they were last synced, by stats
// alone. It remembers the stats of the files at the syncs of this store. Its methods may
// be called by many goroutines.
type Stats struct {
	Files Files // to be replaced before the first call alone
	table *Table
	rules func() *private.Rules

	mu         sync.Mutex // guards the fields below
	seen       map[string]seenStat
	brought    map[string]Stat // stats of files after a sync wrote them, since the last Note
	turn       int             // where the round of the stats of existing files continues
	absentTurn int             // and of absent files
}

// seenStat is a stat of the files of a session, first seen at a time.
type seenStat struct {
	stat Stat
	at   time.Time
}

// NewStats returns stats that know the table's stats and nothing else. A session that
// rules keep here since it was sent is not in step.
func NewStats(of Files, table *Table, rules func() *private.Rules) *Stats {
	return &Stats{Files: of, table: table, rules: rules, seen: map[string]seenStat{}, brought: map[string]Stat{}, turn: rand.IntN(1 << 30), absentTurn: rand.IntN(1 << 30)}
}

// sum returns the sum of a file of a session, 0 for a missing file; sure is false where a
// change of it could stay unseen.
func (s *Stats) sum(id, name string, at time.Time) (sum Sum, sure bool) {
	is, regular, err := s.Files.Stat(id, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, true
	case err != nil:
		return 1, false
	}
	return SumOf(is), regular && s.Files.Settled(is, at)
}

// Note returns the stat of all files of a session, and remembers it.
func (s *Stats) Note(id string) Stat {
	at := time.Now()
	stat := s.statOf(id, at)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.brought, id)
	if stat.Dir == 0 {
		delete(s.seen, id)
		return stat
	}
	was, ok := s.seen[id]
	if !ok || !was.stat.Same(stat) {
		was = seenStat{stat, at}
		s.seen[id] = was
	}
	stat.Sure = stat.Sure || at.Sub(was.at) > SettleTime
	return stat
}

// statOf returns the stat of all files of a session.
func (s *Stats) statOf(id string, at time.Time) (stat Stat) {
	if stat.Dir, stat.Sure = s.sum(id, "", at); stat.Dir == 0 {
		return stat
	}
	for i, name := range sessiondir.Files {
		sum, sure := s.sum(id, name, at)
		stat.Files[i], stat.Sure = sum, stat.Sure && sure
	}
	return stat
}

// Brought remembers the stat of the files of a session after a sync wrote them. The
// caller has the session's lock.
func (s *Stats) Brought(id string) {
	stat := s.statOf(id, time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brought[id] = stat
}

// AsNoted reports whether all files of a session have the stat that the last Note
// returned, or the one after the sync that followed.
func (s *Stats) AsNoted(id string) bool {
	now := s.statOf(id, time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.seen[id]
	left, wrote := s.brought[id]
	return ok && was.stat.Same(now) || wrote && left.Same(now)
}

// NotInStep returns the sessions, of all, that are not known to be in step with the
// cloud, by the present stats of their files. The session that changed last comes first.
func (s *Stats) NotInStep(all []sessiondir.Entry) map[string]bool {
	return s.compare(all, s.inStep)
}

// Changed returns the sessions, of all, whose files changed since this store synced them
// last, or which it never synced and that are not known to be in step. The session that
// changed last comes first.
func (s *Stats) Changed(all []sessiondir.Entry) map[string]bool {
	return s.compare(all, s.last)
}

// inStep returns the stat of the files of a session when it was in step. ok is false when
// that is not known.
func (s *Stats) inStep(r *private.Rules, id string) (stat Stat, ok bool) {
	k, ok := s.table.Session(id)
	if !ok || k.State == Gone || k.State == Open || k.State != Private && r.Keeps(id) {
		return stat, false
	}
	return k.Stat, k.Stat.Sure
}

// last returns the stat of the files of a session when it was in step, or else when this
// store synced it last.
func (s *Stats) last(r *private.Rules, id string) (stat Stat, ok bool) {
	if stat, ok = s.inStep(r, id); ok {
		return stat, true
	}
	k, _ := s.table.Session(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.seen[id]
	unsure := k.Stat.Same(was.stat) && time.Since(was.at) > SettleTime // one more stat makes it sure
	return was.stat, ok && !unsure
}

// compare returns the sessions, of all, whose files do not have the stat of was, or for
// which was has none.
func (s *Stats) compare(all []sessiondir.Entry, was func(*private.Rules, string) (Stat, bool)) map[string]bool {
	changed, r := map[string]bool{}, s.rules()
	var same []known
	for _, at := range all {
		if stat, ok := was(r, at.Name); ok && !at.Symlink && stat.Dir == SumOf(at.Stamp) {
			same = append(same, known{at.Name, stat})
		} else {
			changed[at.Name] = true
		}
	}
	for _, q := range s.questions(same, len(all)) {
		k := &same[q.session]
		if changed[k.id] {
			continue
		}
		if sum, _ := s.sum(k.id, sessiondir.Files[q.file], time.Time{}); sum != k.stat.Files[q.file] {
			changed[k.id] = true
		}
	}
	return changed
}

// known is the known stat of the files of a session.
type known struct {
	id   string
	stat Stat
}

// question names a file of a session to stat, by their indexes.
type question struct{ session, file int }

// questions returns the files to stat, of sessions whose directories have not changed.
// sessions is the number of all sessions.
func (s *Stats) questions(all []known, sessions int) (ask []question) {
	reliable := s.Files.IsLocal()
	var there, absent []question
	for i, k := range all {
		for file, sum := range k.stat.Files {
			q := question{i, file}
			switch {
			case !reliable || sessiondir.Files[file] == sessiondir.Events && sum != 0:
				ask = append(ask, q)
			case sum != 0:
				there = append(there, q)
			default:
				absent = append(absent, q)
			}
		}
	}
	room := max(0, max(statsEach*sessions, StatsAtLeast)-sessions-len(ask))
	few := min(len(absent), max(room/8, room-len(there)))
	s.mu.Lock()
	defer s.mu.Unlock()
	ask = append(ask, share(there, room-few, &s.turn)...)
	return append(ask, share(absent, few, &s.absentTurn)...)
}

// share returns room of the questions: half of them are the first, and half go round from
// turn on, which it advances.
func share(all []question, room int, turn *int) (some []question) {
	if len(all) <= room {
		return all
	}
	some, others := all[:room/2:room/2], all[room/2:]
	from := *turn % len(others)
	*turn = from + room - room/2
	for i := range room - room/2 {
		some = append(some, others[(from+i)%len(others)])
	}
	return some
}

// Gone returns the sessions that were here and no longer are.
func (s *Stats) Gone(here []sessiondir.Entry) (ids []string) {
	there := make(map[string]bool, len(here))
	for _, at := range here {
		there[at.Name] = true
	}
	for id, k := range s.table.Sessions() {
		if !there[id] && k.State != Gone {
			ids = append(ids, id)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.seen {
		if !there[id] {
			ids = append(ids, id)
			delete(s.seen, id)
		}
	}
	maps.DeleteFunc(s.brought, func(id string, _ Stat) bool { return !there[id] })
	return ids
}

// Stat is the state of the files of a session, without their content: when two are the
// same, and the earlier is Sure, nothing was written in between.
type Stat struct {
	Dir   Sum                        `json:"dir"`
	Files [len(sessiondir.Files)]Sum `json:"files"` // in the order of [sessiondir.Files]
	Sure  bool                       `json:"sure"`  // every later change shows in a later Stat
}

// Sum is a hash of the stamp of a file or directory; 0: it does not exist.
type Sum uint64

// SumOf returns the sum of a stamp.
func SumOf(s vfs.Stamp) Sum {
	var b [5 * 8]byte
	for i, n := range []uint64{s.Dev, s.Inode, uint64(s.Size), uint64(nanoseconds(s.Mtime)), uint64(nanoseconds(s.Ctime))} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:])
	return Sum(max(1, h.Sum64()))
}

// nanoseconds returns a time of the file system; 0 where there is none.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Same reports whether both are of the same files.
func (s Stat) Same(t Stat) bool { return s.Dir == t.Dir && s.Files == t.Files }

// SettleTime is the time after which an unchanged stat hides no change, however coarse or
// wrong the clocks are.
const SettleTime = 2 * time.Second
