package head

import (
	"bytes"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// A Version is the text of metadata on one side, and the time of its last
// change.
type Version struct {
	Text  []byte
	Clock HLC
}

// A Loss is a change that another one, made at the same time, won over. Value
// is nil when the member had been removed. Key is "" for the whole text, when
// one side held no object.
type Loss struct {
	Key   string
	Value []byte
	Clock HLC
}

// MergeMetadata merges what two sides made of base, an object, member by
// member: a change on one side alone is taken, also a removal; where both
// changed, the later clock wins, and the other value is returned as lost. When
// only one side changed anything, the result is its text, byte for byte.
// Sides may be swapped without changing the result. An empty base counts as {}.
//
// Members that count something, like turn_count, are to be set anew by the
// caller: neither side's is right.
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
