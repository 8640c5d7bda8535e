package head

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// A Version is the text of metadata on one side, and the time of its last
// change.
type Version struct {
	Text  []byte
	Clock HLC
}

// A Loss is a change that lost against another one, made at the same time. Value is nil
// when the member had been removed. Key is "" for the whole text, when one side held no
// object.
type Loss struct {
	Key   string
	Value []byte
	Clock HLC
}

// MergeMetadata merges the changes of two sides to base, an object, member by member: a
// change on one side alone is taken, also a removal; where both changed, the later clock
// wins, and the other value is returned as lost. When only one side changed anything, the
// result is its text, byte for byte. Sides may be swapped without changing the result. An
// empty base counts as {}.
//
// The caller has to set members that count something, like turn_count, anew: neither
// side's is right.
func MergeMetadata(base []byte, a, b Version) (merged []byte, lost []Loss) {
	switch {
	case bytes.Equal(a.Text, b.Text), bytes.Equal(b.Text, base):
		return slices.Clone(a.Text), nil
	case bytes.Equal(a.Text, base):
		return slices.Clone(b.Text), nil
	}
	win, lose := a, b
	if c := a.Clock.Compare(b.Clock); c < 0 || c == 0 && bytes.Compare(a.Text, b.Text) < 0 {
		win, lose = b, a
	}
	if !isObject(win.Text) || !isObject(lose.Text) {
		if isObject(lose.Text) {
			win, lose = lose, win
		}
		return slices.Clone(win.Text), []Loss{{"", slices.Clone(lose.Text), lose.Clock}}
	}
	if !isObject(base) {
		base = []byte("{}")
	}
	merged = slices.Clone(win.Text)
	for _, key := range keys(lose.Text, base) {
		was, ours, theirs := value(base, key), value(win.Text, key), value(lose.Text, key)
		switch {
		case bytes.Equal(theirs, was), bytes.Equal(ours, theirs):
			continue
		case !bytes.Equal(ours, was):
			lost = append(lost, Loss{key, slices.Clone(theirs), lose.Clock})
		case theirs == nil:
			merged = pyjson.Remove(merged, key)
		default:
			merged = pyjson.Splice(merged, key, theirs)
		}
	}
	return merged, lost
}

func isObject(text []byte) bool {
	return pyjson.Check(text, pyjson.Tolerant) == nil && bytes.HasPrefix(pyjson.Trim(text), []byte("{"))
}

// value returns a member's value, nil when there is none.
func value(obj []byte, key string) []byte {
	v, _ := pyjson.Lookup(obj, key)
	return v
}

// keys returns the names of members, each once, in the order of the texts.
func keys(texts ...[]byte) (all []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		for m := range pyjson.Members(text) {
			if key := pyjson.Text(m.Key); !seen[key] {
				seen[key] = true
				all = append(all, key)
			}
		}
	}
	return all
}

// An HLC is a hybrid logical clock: wall time that never runs backwards, a
// count within a millisecond, and the device. It only decides which of two
// concurrent changes of metadata wins. The zero value is before all others.
type HLC struct {
	Wall   int64 // milliseconds since 1970, UTC
	Count  int   // 0 to 9999
	Device string
}

const (
	wallFormat = "2006-01-02T15:04:05.000Z"
	maxCount   = 9999
	maxWall    = 253402300799999 // the end of the year 9999
)

// Next returns a clock of device that is after last, and at now unless last is
// later. A device whose clock is behind thus orders its changes after those it
// has seen.
func Next(last HLC, now time.Time, device string) HLC {
	next := HLC{Wall: min(max(now.UnixMilli(), 0), maxWall), Device: device}
	if next.Wall > last.Wall {
		return next
	}
	next.Wall, next.Count = last.Wall, last.Count+1
	if next.Count > maxCount {
		next.Wall, next.Count = last.Wall+1, 0
	}
	return next
}

// Compare orders clocks; it is 0 only for equal ones.
func (c HLC) Compare(d HLC) int {
	return cmp.Or(cmp.Compare(c.Wall, d.Wall), cmp.Compare(c.Count, d.Count), cmp.Compare(c.Device, d.Device))
}

// String returns the text of c, which sorts as c does; "" for the zero value.
func (c HLC) String() string {
	if c == (HLC{}) {
		return ""
	}
	return fmt.Sprintf("%s-%04d-%s", time.UnixMilli(c.Wall).UTC().Format(wallFormat), c.Count, c.Device)
}

// ParseHLC reads the text of String.
func ParseHLC(s string) (HLC, error) {
	if s == "" {
		return HLC{}, nil
	}
	bad := errors.New("parse clock: not one of this store")
	if len(s) < len(wallFormat)+6 {
		return HLC{}, bad
	}
	at, err := time.Parse(wallFormat, s[:len(wallFormat)])
	if err != nil {
		return HLC{}, bad
	}
	var c HLC
	for _, d := range strings.TrimPrefix(s[len(wallFormat):len(wallFormat)+5], "-") {
		c.Count = c.Count*10 + int(d-'0')
	}
	c.Wall, c.Device = at.UnixMilli(), s[len(wallFormat)+6:]
	if c.Count < 0 || c.Count > maxCount || c.Wall < 0 || c.String() != s {
		return HLC{}, bad
	}
	return c, nil
}

// MarshalText returns the text of String.
func (c HLC) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the text of String.
func (c *HLC) UnmarshalText(text []byte) (err error) {
	*c, err = ParseHLC(string(text))
	return err
}
