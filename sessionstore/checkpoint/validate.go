package checkpoint

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// A Violation is what is wrong at one place of a state.
type Violation struct {
	Pointer string // JSON pointer; "" is the whole state
	Text    string // such as "missing" or "want integer"; never a value
}

// String returns a text such as "/status: unknown value".
func (v Violation) String() string { return v.Pointer + ": " + v.Text }

// A Report is what [Validate] found.
type Report struct {
	Violations []Violation
	Warnings   []Violation // times without a zone: they count as local
}

// Validate checks raw, a session-state.json, against its schema and reports
// everything that is wrong, members in the order in which they stand. Null
// counts as absent for every member that is not required.
func Validate(raw []byte) Report {
	var r Report
	if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
		r.violate("", "not JSON")
		return r
	}
	s := schema()
	r.check(pyjson.Trim(raw), "", &s)
	return r
}

func (r *Report) violate(pointer, text string) {
	r.Violations = append(r.Violations, Violation{pointer, text})
}

func (r *Report) check(raw []byte, pointer string, want *rule) {
	if !want.kind.fits(raw) {
		r.violate(pointer, "want "+kindNames[want.kind])
		return
	}
	switch want.kind {
	case object:
		r.members(raw, pointer, want)
	case array:
		if want.items == nil {
			return
		}
		i := 0
		for item := range pyjson.Elements(raw) {
			r.check(item, pointer+"/"+strconv.Itoa(i), want.items)
			i++
		}
	case text:
		r.text(pyjson.Text(raw), pointer, want)
	case integer:
		if n := value(raw); want.bounded && (n < want.min || n > want.max) {
			r.violate(pointer, fmt.Sprintf("want %v to %v", want.min, want.max))
		}
	}
}

func (r *Report) members(raw []byte, pointer string, want *rule) {
	for _, name := range want.required {
		if _, found := pyjson.Lookup(raw, name); !found {
			r.violate(pointer+"/"+name, "missing")
		}
	}
	seen := map[string]bool{}
	for m := range pyjson.Members(raw) {
		name := pyjson.Text(m.Key)
		sub, known := want.member(name)
		if !known || seen[name] {
			continue
		}
		seen[name] = true
		v, _ := pyjson.Lookup(raw, name) // of several the last counts
		if pyjson.KindOf(v) == pyjson.Null && !slices.Contains(want.required, name) {
			continue
		}
		r.check(v, pointer+"/"+escape(name), sub)
	}
}

// member returns the rule for a member of an object, if there is one.
func (want *rule) member(name string) (*rule, bool) {
	if sub, ok := want.members[name]; ok {
		return &sub, true
	}
	return want.rest, want.rest != nil
}

func (r *Report) text(s, pointer string, want *rule) {
	switch {
	case want.enum != nil && !slices.Contains(want.enum, s):
		r.violate(pointer, "unknown value")
	case want.pattern != nil && !want.pattern.MatchString(s):
		r.violate(pointer, "want "+want.pattern.String())
	case want.time:
		_, zoned, ok := parseTime(s)
		if !ok {
			r.violate(pointer, "want date-time")
		} else if !zoned {
			r.Warnings = append(r.Warnings, Violation{pointer, "time without zone"})
		}
	}
}

func (k kind) fits(raw []byte) bool {
	got := pyjson.KindOf(raw)
	switch k {
	case object:
		return got == pyjson.Object
	case array:
		return got == pyjson.Array
	case text:
		return got == pyjson.String
	case boolean:
		return got == pyjson.True || got == pyjson.False
	}
	if got != pyjson.Integer && got != pyjson.Float {
		return false
	}
	n := value(raw)
	whole := got == pyjson.Integer || n == math.Trunc(n)
	return !math.IsNaN(n) && !math.IsInf(n, 0) && (k == number || whole)
}

// value returns a number; what overflows is infinite.
func value(raw []byte) float64 {
	n, _ := strconv.ParseFloat(string(raw), 64)
	return n
}

// escape returns name as a part of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// parseTime reads an RFC 3339 time, or one without a zone, which is local, as
// Python's datetime.now().isoformat() writes it.
func parseTime(s string) (t time.Time, zoned, ok bool) {
	if err := t.UnmarshalText([]byte(s)); err == nil {
		return t, true, true
	}
	if err := t.UnmarshalText([]byte(s + "Z")); err != nil {
		return time.Time{}, false, false
	}
	u := t
	t = time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), time.Local)
	return t, false, true
}

// zoned returns raw with a zone for each time that has none. raw is valid.
func zoned(raw []byte, want *rule) []byte {
	switch {
	case want.time && pyjson.KindOf(raw) == pyjson.String:
		if t, has, ok := parseTime(pyjson.Text(raw)); ok && !has {
			return quote(t.Format(time.RFC3339Nano))
		}
	case want.kind == object && pyjson.KindOf(raw) == pyjson.Object:
		for name, sub := range want.members {
			if v, found := pyjson.Lookup(raw, name); found {
				if z := zoned(v, &sub); string(z) != string(v) {
					raw = pyjson.Splice(raw, name, z)
				}
			}
		}
	case want.items != nil && pyjson.KindOf(raw) == pyjson.Array:
		var items [][]byte
		for item := range pyjson.Elements(raw) {
			items = append(items, zoned(item, want.items))
		}
		return join(items)
	}
	return raw
}
