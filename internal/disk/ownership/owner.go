package ownership

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// An Owner is the record of the holder of a session about itself. It is for display: a
// holder that crashed is still in the file, and the lock alone decides. Members that are
// no strings are "" here.
type Owner struct {
	App, Hostname, User string
	PID                 int64 // 0 when it is a bool or beyond 64 bits
	AcquiredAt          string
	Workspace           string
	SessionID           string
	Raw                 []byte // the whole record, with members of other hosts
}

// ParseOwner reads the content of owner.json. It returns false for a record that is not
// shown: not JSON, not active, or without one of the members of [Owner].
func ParseOwner(data []byte) (Owner, bool) {
	if len(data) > maxState || pyjson.Check(data, pyjson.Tolerant) != nil {
		return Owner{}, false
	}
	raw := pyjson.Trim(data)
	if active, ok := pyjson.Lookup(raw, "active"); !ok || pyjson.KindOf(active) != pyjson.True {
		return Owner{}, false
	}
	owner := Owner{Raw: raw}
	for name, into := range map[string]*string{
		"app": &owner.App, "hostname": &owner.Hostname, "user": &owner.User,
		"acquired_at": &owner.AcquiredAt, "workspace": &owner.Workspace, "session_id": &owner.SessionID,
	} {
		value, ok := pyjson.Lookup(raw, name)
		if !ok {
			return Owner{}, false
		}
		*into = pyjson.Text(value)
	}
	pid, ok := pyjson.Lookup(raw, "pid")
	if n, fits := pyjson.Int(pid); fits {
		owner.PID = n
	}
	isInt := slices.Contains([]pyjson.Kind{pyjson.Integer, pyjson.True, pyjson.False}, pyjson.KindOf(pid))
	return owner, ok && isInt // a Python bool is an int
}

// ReadOwner returns the owner in the record of a state directory, or nil. A symlink is
// not followed, and the mode does not matter.
func ReadOwner(dir *os.Root) *Owner {
	data, err := readState(dir, OwnerName)
	if err != nil {
		return nil
	}
	if owner, ok := ParseOwner(data); ok {
		return &owner
	}
	return nil
}

// Runs reports whether a process of this machine runs the session at a place, by its record
// alone: it takes no lock and makes nothing.
func Runs(place Session) bool {
	dir, err := os.OpenRoot(place.Directory())
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }() // only read
	owner := ReadOwner(dir)
	return owner != nil && owner.presence() == running
}

// presence reports whether the process that wrote the record still exists.
func (o Owner) presence() presence {
	started, _ := pyjson.Lookup(o.Raw, "process_start_identity")
	return process{hostname: o.Hostname, pid: o.PID, started: pyjson.Text(started)}.find()
}

// A BusyError is [ErrBusy] with the record of the holder.
type BusyError struct {
	Owner *Owner // for display; nil when the record is unreadable or is not shown
}

func (e *BusyError) Error() string { return ErrBusy.Error() }

func (e *BusyError) Unwrap() error { return ErrBusy }

// Options say how a session is held.
type Options struct {
	App   string            // name shown to other hosts; 1 to 256 characters
	Extra map[string]string // further members of the record, at most 1024 characters each; names that suggest a secret are refused
	Now   func() time.Time  // nil: time.Now
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// newRecord returns the content of owner.json for a holder that begins now.
func newRecord(s Session, o Options) ([]byte, error) {
	if n := utf8.RuneCountInString(o.App); n < 1 || n > maxApp {
		return nil, invalid("app must be a non-empty string up to 256 characters")
	}
	root, err := System().resolve(s.StateRoot, false)
	if err != nil {
		return nil, &failure{kind: ErrInvalid, text: "state root cannot be resolved", cause: err}
	}
	self, err := thisProcess()
	if err != nil {
		return nil, err
	}
	started := "null"
	if self.started != "" {
		started = quote(self.started)
	}
	record := []byte(`{"app":` + quote(o.App) +
		`,"hostname":` + quote(self.hostname) +
		`,"user":` + quote(self.user) +
		`,"pid":` + strconv.FormatInt(self.pid, 10) +
		`,"process_start_identity":` + started +
		`,"acquired_at":` + quote(pytime.Format(o.now().UTC())) +
		`,"workspace":` + quote(s.Workspace) +
		`,"session_id":` + quote(s.ID) +
		`,"active":true` +
		`,"acquisition_id":` + quote(acquisitionID()) +
		`,"coordination_root":` + quote(root) + `}`)
	return o.addExtra(record)
}

const maxExtra = 1024

// addExtra adds the members that the host gives, in the order of their names.
func (o Options) addExtra(record []byte) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) {
		lower := strings.ToLower(name)
		suggests := func(secret string) bool { return strings.Contains(lower, secret) }
		if slices.ContainsFunc([]string{"argv", "env", "secret", "token", "credential", "prompt", "password"}, suggests) {
			return nil, invalid("owner member " + strconv.Quote(name) + " may not be shown to others")
		}
		if _, taken := pyjson.Lookup(record, name); taken || name == "" {
			return nil, invalid("owner member " + strconv.Quote(name) + " is taken")
		}
		if utf8.RuneCountInString(o.Extra[name]) > maxExtra {
			return nil, invalid("owner member " + strconv.Quote(name) + " is longer than 1024 characters")
		}
		record = pyjson.Splice(record, name, []byte(quote(o.Extra[name])))
	}
	return record, nil
}

// released returns the record of a holder that ended at that time.
func released(record []byte, at time.Time) []byte {
	record = pyjson.Splice(record, "active", []byte("false"))
	return pyjson.Splice(record, "released_at", []byte(quote(pytime.Format(at.UTC()))))
}

func quote(s string) string { return string(pyjson.Quote(s)) }

// acquisitionID returns a random UUID without hyphens.
func acquisitionID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return hex.EncodeToString(id[:])
}

const maxApp = 256 // code points

// process holds the members of a record about its writer.
type process struct {
	hostname, user string
	pid            int64
	started        string // clock ticks since boot; "" where the system does not report them
}

func thisProcess() (process, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return process{}, err
	}
	p := process{hostname: hostname, user: userName(), pid: int64(os.Getpid())}
	if stat, ok := readStat("self"); ok {
		p.started = stat.started
	}
	return p, nil
}

// procStat is the status of a process on Linux.
type procStat struct {
	state   string // one letter
	started string // clock ticks since boot
}

// readStat returns the status of a process on Linux, and false where it is not known.
func readStat(pid string) (procStat, bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return procStat{}, false
	}
	return parseStat(string(data))
}

// parseStat reads fields 3 and 22 of a /proc/<pid>/stat, whose second field is
// a name in parentheses that may hold anything.
func parseStat(stat string) (procStat, bool) {
	end := strings.LastIndexByte(stat, ')')
	if fields := strings.Fields(stat[end+1:]); end >= 0 && len(fields) > 19 {
		return procStat{state: fields[0], started: fields[19]}, true
	}
	return procStat{}, false
}

// presence says whether a process still exists.
type presence uint8

const (
	unknown presence = iota // the process is not of this machine
	running
	gone
)

// find looks for the process of a record. A process of another machine, or of a container
// with a name of its own, cannot be found. started is "" if the record does not have it.
func (p process) find() presence {
	hostname, err := os.Hostname()
	if err != nil || p.hostname != hostname || p.pid <= 0 || p.pid > math.MaxInt32 {
		return unknown
	}
	stat, known := readStat(strconv.FormatInt(p.pid, 10))
	switch {
	case !known && !answers(int(p.pid)):
		return gone
	case !known:
		return running
	case stat.state == "Z", stat.state == "X": // ended, and its parent has not collected its status
		return gone
	case p.started != "" && p.started != stat.started:
		return gone // the number belongs to another process now
	}
	return running
}
