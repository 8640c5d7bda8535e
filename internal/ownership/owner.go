package ownership

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

const maxApp = 256 // code points

// An Owner is what the holder of a session says of itself. It is for display:
// a holder that crashed is still in the file, and the lock alone decides.
// Members that are no strings are "" here.
type Owner struct {
	App, Hostname, User string
	PID                 int64 // 0 when it is a bool or beyond 64 bits
	AcquiredAt          string
	Workspace           string
	SessionID           string
	Raw                 []byte // the whole record, with members of other hosts
}

// ParseOwner reads the content of owner.json. It reports false for a record
// that is not shown: not JSON, not active, or without one of the members of
// [Owner].
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
		*into = textOf(value)
	}
	pid, ok := pyjson.Lookup(raw, "pid")
	if n, fits := pyjson.Int(pid); fits {
		owner.PID = n
	}
	isInt := slices.Contains([]pyjson.Kind{pyjson.Integer, pyjson.True, pyjson.False}, pyjson.KindOf(pid))
	return owner, ok && isInt // a Python bool is an int
}

// textOf returns the text of a string and "" for another value.
func textOf(value []byte) string {
	if pyjson.KindOf(value) != pyjson.String {
		return ""
	}
	return pyjson.Text(value)
}

// ReadOwner returns the owner that the record in a state directory names, or
// nil. A symlink is not followed, and the mode does not matter.
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
	record := []byte(`{"app":` + quote(o.App) +
		`,"hostname":` + quote(self.hostname) +
		`,"user":` + quote(self.user) +
		`,"pid":` + strconv.Itoa(self.pid) +
		`,"process_start_identity":` + self.started +
		`,"acquired_at":` + quote(isoTime(o.now())) +
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
	return pyjson.Splice(record, "released_at", []byte(quote(isoTime(at))))
}

func quote(s string) string { return string(pyjson.AppendQuoted(nil, s, pyjson.Style{})) }

// isoTime is Python's isoformat in UTC, which leaves out a fraction of zero.
func isoTime(t time.Time) string {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}

// acquisitionID returns a random UUID without hyphens.
func acquisitionID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return hex.EncodeToString(id[:])
}

// process is what a record tells of its writer.
type process struct {
	hostname, user string
	pid            int
	started        string // raw JSON: start time in clock ticks since boot as a string, or null
}

func thisProcess() (process, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return process{}, err
	}
	p := process{hostname: hostname, user: userName(), pid: os.Getpid(), started: "null"}
	stat, err := os.ReadFile("/proc/self/stat")
	if ticks, ok := startTicks(string(stat)); ok && err == nil {
		p.started = quote(ticks)
	}
	return p, nil
}

// startTicks returns field 22 of a Linux /proc/<pid>/stat, whose second field
// is a name in parentheses that may hold anything.
func startTicks(stat string) (string, bool) {
	end := strings.LastIndexByte(stat, ')')
	if fields := strings.Fields(stat[end+1:]); end >= 0 && len(fields) > 19 {
		return fields[19], true
	}
	return "", false
}
