package head

import (
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// An Extent says how far a stream is stored.
type Extent struct {
	N     int64        `json:"n"`
	Hash  segment.Hash `json:"h"`
	Bytes int64        `json:"bytes"` // of its lines, each with its LF
	Turns int          `json:"turns,omitempty"`
	Rules []Rules      `json:"red,omitempty"` // of redaction; nil: its lines went through none
}

// Point returns the history that is stored.
func (r Extent) Point() segment.Point { return segment.Point{N: r.N, Hash: r.Hash} }

// ExtentOf returns how far a stream is stored once everything before m is.
func ExtentOf(m segment.Mark) Extent {
	return Extent{N: m.N, Hash: m.Hash, Bytes: m.Bytes, Turns: m.Turn}
}

// A Rules says which version of the rules of redaction the lines went through from
// one on, up to those of the next Rules; "" for none.
type Rules struct {
	From    int64  `json:"n"`
	Version string `json:"v"`
}

// maxRules is how many ranges an extent tells apart. Beyond that the two oldest
// become one, under the version of the first.
const maxRules = 32

// Ruled returns r with the rules of its lines: those of was before line n, and that
// version from there on.
func (r Extent) Ruled(was []Rules, n int64, version string) Extent {
	rules := slices.DeleteFunc(slices.Clone(was), func(w Rules) bool { return w.From >= n })
	if r.N > n && (len(rules) == 0 || rules[len(rules)-1].Version != version) {
		rules = append(rules, Rules{n, version})
	}
	if len(rules) > maxRules {
		rules = slices.Delete(rules, 1, 2)
	}
	if len(rules) == 0 || len(rules) == 1 && rules[0] == (Rules{Version: version}) && version == "" {
		rules = nil // nothing was ever redacted
	}
	r.Rules = rules
	return r
}

// under reports whether that version is the only one of some lines.
func under(rules []Rules, version string) bool {
	return !slices.ContainsFunc(rules, func(r Rules) bool { return r.Version != version })
}

// Through reports whether it is known that all lines went through that version of the
// rules.
func (r Extent) Through(version string) bool {
	return r.N == 0 || len(r.Rules) > 0 && under(r.Rules, version)
}

func validRules(rules []Rules, n int64) error {
	at := int64(-1)
	for i, r := range rules {
		if r.From <= at || r.From >= n || i == 0 && r.From != 0 {
			return fmt.Errorf("%w: rules of lines that cannot be", segment.ErrDamaged)
		}
		at = r.From
	}
	return nil
}
