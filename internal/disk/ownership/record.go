package ownership

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

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

const maxApp = 256 // code points
