package replica

import (
	"bytes"
	"maps"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
)

// SessionState is the state of a session that this device keeps between syncs. It is
// outside of the session's directory, so that it moves no times there and outlives it.
// Its loss costs one comparison with the cloud, never data.
type SessionState struct {
	V       int    `json:"v"`
	Session string `json:"session_id"`
	Place   string `json:"place"`            // the sessions directory: a copied directory is another replica
	Device  string `json:"device"`           // of Place
	Born    string `json:"born"`             // of the head: another container has another one
	Remote  string `json:"remote,omitempty"` // the identity of the remote

	Here   bool            `json:"here,omitempty"` // the session was seen here
	Gone   bool            `json:"gone,omitempty"` // and then was not: it is not brought back unless asked
	Base   *segment.Point  `json:"base,omitempty"` // of the transcript, when both sides were last in step
	Main   *track.Followed `json:"t,omitempty"`
	Own    bool            `json:"own,omitempty"`    // this library wrote Main
	Synced bool            `json:"synced,omitempty"` // a sync wrote Main: no program here did
	Quiet  time.Time       `json:"quiet"`            // since when Main has not changed

	Logs   map[string]*OwnLog           `json:"logs,omitempty"` // by the letter of their kind
	Files  map[string]*KnownFile        `json:"files,omitempty"`
	Cached map[segment.Stream]CachedLog `json:"held,omitempty"` // other devices' logs in the bookkeeping

	Head remoteread.Known `json:"head"`
	Cat  KnownEntry       `json:"cat,omitzero"`

	Anew *Anew `json:"recreate,omitempty"` // not nil: this device is writing it anew in the cloud

	Older time.Time `json:"older,omitzero"` // since when the cloud answers with an older head than Head

	Kept   []string     `json:"kept,omitempty"`   // sessions that divergences left here
	Rule   private.Rule `json:"rule,omitempty"`   // the last verdict of the rules, from when its parent was here
	Above  []string     `json:"above,omitempty"`  // its parents: programs of before read Rule and Above here
	Orphan bool         `json:"orphan,omitempty"` // it is held back: its parent was neither here nor in the cloud
	Lacks  bool         `json:"lacks,omitempty"`  // a part was damaged in the cloud when it was last fetched

	Failed Failure `json:"failed,omitzero"` // why the last sync failed, where the next one will, too

	stored []byte // as it is on the disk
	former []byte // the head that was known of another remote
}

// Failure is an error as a later program knows it: its text, and the name of the error that
// it Is.
type Failure struct {
	Is   string `json:"is"`
	Text string `json:"text"`
}

// KnownEntry is the catalogue's entry as this device last wrote it, or read it to replace it.
type KnownEntry struct {
	Revision int64          `json:"rev"`
	Version  remote.Version `json:"version"`
	At       time.Time      `json:"at"`
}

// Anew is the intent to send anew a session that is in the cloud. It is stored before the
// tombstone is, so that a sync that meets this tombstone continues, and a sync that meets
// another tombstone does not.
type Anew struct {
	Op       string                       `json:"op"`             // of the tombstone
	Born     string                       `json:"born"`           // of the head that the tombstone replaces
	Revision int64                        `json:"rev"`            // of the tombstone
	Logs     map[segment.Stream]CachedLog `json:"logs,omitempty"` // that are whole in the bookkeeping
}

// OwnLog is a log of this device.
type OwnLog struct {
	Generation int             `json:"generation"`
	Inherited  int64           `json:"adopted,omitempty"` // bytes of the file that came from another device
	From       segment.Stream  `json:"from,omitempty"`    // the stream of that device, and the end of its part
	FromPoint  segment.Point   `json:"from_point,omitzero"`
	File       *track.Followed `json:"file,omitempty"`
	Large      *segment.Large  `json:"large,omitempty"`
	Base       segment.Point   `json:"base,omitzero"` // when both sides were last in step
}

// KnownFile is a small file in the last form that both sides had.
type KnownFile struct {
	Sum  segment.Hash     `json:"sum"`  // of the content as it is sent
	Seen segment.Hash     `json:"seen"` // of the content here
	Base []byte           `json:"base,omitempty"`
	File sessiondir.Stamp `json:"file"`
	At   time.Time        `json:"at"`

	Clock head.HLC `json:"hlc,omitzero"` // of the change that both sides had

	Forms []track.Form `json:"forms,omitempty"` // of its lines, where rules changed them
}

// InStep reports whether the file here was the file that both sides had. For another file
// Seen is its sent form under the rules of that time, which may be others now.
func (k *KnownFile) InStep() bool { return k.Seen == k.Sum }

// CachedLog records how much of another device's log is in the bookkeeping. The lines
// before From are at the beginning of this device's own log.
type CachedLog struct {
	From  int64         `json:"from,omitempty"`
	Point segment.Point `json:"point"`
	Size  int64         `json:"size"` // of the file, which may be longer after a kill
}

const stateVersion = 1

// Clone returns a copy that shares no part that a sync changes.
func (s *SessionState) Clone() *SessionState {
	c := *s
	c.Logs, c.Files, c.Cached = map[string]*OwnLog{}, map[string]*KnownFile{}, maps.Clone(s.Cached)
	for kind, own := range s.Logs {
		c.Logs[kind] = new(*own)
	}
	for name, known := range s.Files {
		c.Files[name] = new(*known)
	}
	return &c
}

// IsNew reports whether nothing was known of the session.
func (s *SessionState) IsNew() bool { return s.stored == nil }

// Revision returns the revision of the known head, 0 for none.
func (s *SessionState) Revision(sid string) int64 {
	if t := s.Head.Head(sid); t != nil {
		return t.Revision
	}
	return 0
}

// See records the present head in the cloud, nil for none. A tombstone that is gone was
// removed in time. Where any other head is gone, or has another Born, the container is
// another one, or an empty one. See reports whether the known head has vanished.
func (s *SessionState) See(sid string, t *head.Head, known remoteread.Known) (vanished bool) {
	s.Older = time.Time{}
	if s.Born != "" && len(s.Head.Doc) == 0 && (t == nil || !bytes.Equal(s.former, known.Doc)) {
		s.Estrange("") // another remote, with another history perhaps
	}
	if t == nil {
		last, never := s.Head.Head(sid), s.Born == "" && len(s.Head.Doc) == 0
		if vanished = !never && (s.Born == "" || last == nil || !last.Deleted); vanished {
			s.Estrange("")
		}
		return vanished
	}
	if s.Born != t.Born {
		s.Estrange(t.Born)
	}
	s.Head = known
	return false
}

// move makes the state the state of a session in another remote, or in one with another
// address. Its head is not known then; See finds out whether it is the former one. A
// tombstone stays known, so that no remote gets a removed session.
func (s *SessionState) move(sid, to string) {
	if s.Remote != "" && s.Remote != to {
		s.Head.Version, s.Older = "", time.Time{}
		if t := s.Head.Head(sid); t == nil || !t.Deleted {
			s.former, s.Head = s.Head.Doc, remoteread.Known{}
		} else {
			s.Cat = KnownEntry{}
		}
	}
	s.Remote = to
}

// restored is how long the cloud must answer with an older head before that head counts:
// no replica lags behind for so long.
const restored = 15 * time.Minute

// SeeOlder records that the cloud answered with an older head than the known head. It
// reports whether it has done so for such a time that the container must have been
// restored from a backup.
func (s *SessionState) SeeOlder(now time.Time) bool {
	if s.Older.IsZero() || now.Before(s.Older) {
		s.Older = now.UTC().Round(0)
	}
	return now.Sub(s.Older) >= restored
}

// Estrange forgets everything that was in step with a head of another Born, and sets the
// new Born.
func (s *SessionState) Estrange(born string) {
	s.Born, s.Base, s.Files, s.Logs, s.Head, s.Cat = born, nil, nil, nil, remoteread.Known{}, KnownEntry{}
}

// RemovedDead reports whether a session that is not here was removed here after its
// tombstone was seen. If a device recreates it, it arrives as a session that was never
// here.
func (s *SessionState) RemovedDead(sid string) bool {
	if !s.Here || s.Gone {
		return false
	}
	t := s.Head.Head(sid)
	return t != nil && t.Deleted
}

// HasLogs reports whether the logs of a head are here, beside the logs that the device
// writes itself.
func (s *SessionState) HasLogs(t *head.Head, device string) bool {
	for st, r := range t.Logs {
		own := s.Logs[st.Kind().String()]
		if s.Cached[st].Point == r.Point() || own != nil && (own.From == st && own.FromPoint == r.Point() || st == segment.LogStream(st.Kind(), device, own.Generation)) {
			continue
		}
		return false
	}
	return true
}
