package head

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

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

// ParseHLC reads what String returns.
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

// MarshalText returns what String does.
func (c HLC) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads it.
func (c *HLC) UnmarshalText(text []byte) (err error) {
	*c, err = ParseHLC(string(text))
	return err
}
