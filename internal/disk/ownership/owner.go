package ownership

import (
	"os"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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

// presence reports whether the process that wrote the record still exists.
func (o Owner) presence() presence {
	started, _ := pyjson.Lookup(o.Raw, "process_start_identity")
	return process{hostname: o.Hostname, pid: o.PID, started: textOf(started)}.find()
}

// A BusyError is [ErrBusy] with the record of the holder.
type BusyError struct {
	Owner *Owner // for display; nil when the record is unreadable or is not shown
}

func (e *BusyError) Error() string { return ErrBusy.Error() }

func (e *BusyError) Unwrap() error { return ErrBusy }
