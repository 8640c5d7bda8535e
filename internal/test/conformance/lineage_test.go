package conformance

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/slice"
)

// lineageCase asks where a session comes from.
type lineageCase struct {
	Sessions map[string]*metadataContent
	Target   string
	Lineage  string `json:"lineage_json"`
	Error    *failure
}

// metadataContent is a text, or a [content] where it is none.
type metadataContent string

func (m *metadataContent) UnmarshalJSON(b []byte) error {
	var c content
	if json.Unmarshal(b, (*string)(m)) == nil {
		return nil
	}
	err := json.Unmarshal(b, &c)
	*m = metadataContent(c.String())
	return err
}

type lineageOutcome struct{ Lineage, Failed string }

func (c lineageCase) run(t *testing.T) verdict {
	p := newPlace(t)
	for id, md := range c.Sessions {
		f := files{}
		if md != nil {
			f[metadataFile] = string(*md)
		}
		p.put(t, id, f)
	}
	ours := lineageOutcome{}
	l, err := slice.Trace(t.Context(), p.open(t), c.Target)
	if err != nil {
		ours.Failed = outcome(err)
	} else {
		raw, err := json.Marshal(l)
		require.NoError(t, err)
		ours.Lineage = strings.ReplaceAll(ascii(t, raw), p.dir, "{DIR}")
	}
	reference := lineageOutcome{Lineage: c.Lineage, Failed: c.Error.decoding()}
	return judge(reference, ours, c.predict)
}

// decoding is reading for what reads a file of one JSON value.
func (f *failure) decoding() string {
	if f != nil && f.Type == "JSONDecodeError" {
		return unreadable
	}
	return f.reading()
}

// Rules about lineages.
const (
	lineageByTime  rule = "lineage-by-time"
	lineageEnds    rule = "lineage-ends"
	lineageExists  rule = "lineage-exists"
	lineageHidden  rule = "lineage-hidden"
	lineageMembers rule = "lineage-members"
	lineageStored  rule = "lineage-stored-id"
)

func lineageRules() []rule {
	return []rule{lineageByTime, lineageEnds, lineageExists, lineageHidden, lineageMembers, lineageStored}
}

// absent is the state of a session without a directory.
const absent = "absent"

// predict is what Trace tells, or the reference.
func (c lineageCase) predict(f *fired) lineageOutcome {
	md, state := c.metadata(c.Target)
	switch {
	case state == absent && f.by(lineageExists):
		return lineageOutcome{Failed: shorten(f, notFound+"Session '"+c.Target+"' not found", c.Target)}
	case state == unreadable:
		return lineageOutcome{Failed: unreadable}
	}
	id := idMember(f, md, c.Target)
	parent := textOrNull(f, md, "parent_id")
	o := object{{"session_id", id}, {"parent_id", parent}, {"forked_from_turn", numberOr(f, md, "forked_from_turn", "null")}}
	ancestors, failed := c.climb(f, parent)
	if failed != "" {
		return lineageOutcome{Failed: failed}
	}
	children, ok := c.children(f, id)
	if !ok {
		return lineageOutcome{Failed: unreadable}
	}
	o = o.with("ancestors", listOf(ancestors)).with("children", listOf(children)).with("depth", strconv.Itoa(len(ancestors)))
	return lineageOutcome{Lineage: render(o.String(), pyjson.Style{ASCII: true})}
}

// metadata are those of a session: absent when there is no such directory,
// unreadable when they are damaged.
func (c lineageCase) metadata(id string) (md object, state string) {
	raw, ok := c.Sessions[id]
	switch {
	case !ok:
		return nil, absent
	case raw == nil:
		return nil, succeeded
	case !isValue(string(*raw)) || kindOf(string(*raw)) != pyjson.Object:
		return nil, unreadable
	}
	return parseObject(string(*raw)), succeeded
}

// climb follows the parents.
func (c lineageCase) climb(f *fired, parent string) (ancestors []string, failed string) {
	for truthy(parent) {
		if kindOf(parent) != pyjson.String { // by our rules there is none
			return nil, unreadable
		}
		ancestors = append(ancestors, parent)
		md, state := c.metadata(stringOf(parent))
		if state == absent && len(stringOf(parent)) > 255 && !f.by(lineageEnds) {
			return nil, ioError
		}
		if state == unreadable && !f.by(lineageEnds) {
			return nil, unreadable
		}
		if other := c.stored(stringOf(parent)); state == absent && other != "" && f.by(lineageStored) {
			md, state = c.metadata(other)
		}
		if state != succeeded {
			break
		}
		parent = textOrNull(f, md, "parent_id")
	}
	return ancestors, succeeded
}

// stored returns the one session that has another session_id in its metadata than
// its name, and that id there.
func (c lineageCase) stored(id string) (name string) {
	for other := range c.Sessions {
		md, state := c.metadata(other)
		raw := md.get("session_id")
		if state != succeeded || strings.HasPrefix(other, ".") || other == id || kindOf(raw) != pyjson.String || stringOf(raw) != id {
			continue
		}
		if name != "" {
			return ""
		}
		name = other
	}
	return name
}

// children are the sessions whose parent has that id; not ok when the
// reference cannot sort them.
func (c lineageCase) children(f *fired, id string) (list []string, ok bool) {
	var found []object
	var times []foundSession
	for name := range c.Sessions {
		md, state := c.metadata(name)
		raw := md.get("parent_id")
		same := (md.index("parent_id") >= 0 || id == "null") && equalInPython(raw, id)
		byName := kindOf(raw) == pyjson.String && stringOf(raw) == c.Target
		if state != succeeded || !same && !(byName && f.by(lineageStored)) {
			continue
		}
		if c.Sessions[name] == nil || strings.HasPrefix(name, ".") && f.by(lineageHidden) {
			continue
		}
		if kindOf(md.get("parent_id")) != pyjson.String && f.by(lineageMembers) {
			continue
		}
		at := textOrNull(f, md, "forked_at")
		times = append(times, foundSession{Created: newJSONText(at)})
		found = append(found, object{
			{"session_id", idMember(f, md, name)},
			{"session_dir", text("{DIR}/" + name)},
			{"forked_from_turn", numberOr(f, md, "forked_from_turn", "null")},
			{"forked_at", at},
			{"turn_count", numberOr(f, md, "turn_count", "0")},
		})
	}
	if f == nil && !comparable(times) {
		return nil, false
	}
	for _, o := range sortChildren(f, found) {
		list = append(list, o.String())
	}
	return list, true
}

// sortChildren sorts children by the text of their time, the last first, and those
// of one time by directory; by our rules those of which the text is a time stand
// before the others.
func sortChildren(f *fired, all []object) []object {
	timed := func(o object) bool {
		_, _, err := pytime.Parse(stringOf(o.get("forked_at")))
		return err == nil
	}
	slices.SortFunc(all, func(a, b object) int {
		return cmp.Or(strings.Compare(stringOf(b.get("forked_at")), stringOf(a.get("forked_at"))), strings.Compare(stringOf(a.get("session_dir")), stringOf(b.get("session_dir"))))
	})
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b object) int {
		switch {
		case timed(a) == timed(b):
			return 0
		case timed(a):
			return -1
		}
		return 1
	})
	same := slices.EqualFunc(all, sorted, func(a, b object) bool { return a.String() == b.String() })
	if !same && f.by(lineageByTime) {
		return sorted
	}
	return all
}

// equalInPython compares two values as far as the vectors have them.
func equalInPython(a, b string) bool {
	number := func(raw string) string {
		switch kindOf(raw) {
		case pyjson.True:
			return "1"
		case pyjson.False:
			return "0"
		}
		return raw
	}
	return number(a) == number(b) && a != "NaN"
}

// idMember is the session_id of metadata, or the directory's name where there
// is none; by our rules also where it is no text.
func idMember(f *fired, md object, name string) string {
	raw := md.get("session_id")
	if md.index("session_id") < 0 {
		return text(name)
	}
	ours := goText(raw, text(name))
	if ours != raw && f.by(lineageMembers) {
		return ours
	}
	return raw
}

// textOrNull is a member, which by our rules is a text or nothing.
func textOrNull(f *fired, md object, name string) string {
	raw := md.get(name)
	ours := goText(raw, "null")
	if md.index(name) < 0 || ours != raw && f.by(lineageMembers) {
		return ours
	}
	return raw
}

// numberOr is a member, which by our rules is a whole number or other.
func numberOr(f *fired, md object, name, other string) string {
	raw := md.get(name)
	if md.index(name) < 0 {
		return other
	}
	ours := other
	if n, ok := pyjson.Int([]byte(raw)); ok {
		ours = strconv.FormatInt(n, 10)
	}
	if ours != raw && f.by(lineageMembers) {
		return ours
	}
	return raw
}
