package sessioncost

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// Member is the name of the boundary in the metadata of a fork.
const Member = "fork_cost_boundary"

// The limits of a boundary.
const (
	maxTurns = 4096
	maxBytes = 65536 // as JSON in one line, in UTF-8
)

// Boundary is the cost that a fork inherits.
type Boundary struct {
	Verified bool
	Totals   []decimal.Number // after each inherited turn; none unless verified
	Hash     string           // of the inherited messages
	Problems []string         // the reasons why it is not verified, in the words of the newest tools
}

// Last returns the last total, zero where there is none.
func (b Boundary) Last() decimal.Number {
	if len(b.Totals) == 0 {
		return decimal.Number{}
	}
	return b.Totals[len(b.Totals)-1]
}

// Verify reads the boundary raw, nil where the metadata have none. It does not
// compare the hash with messages: a fork may go on after they changed.
func Verify(raw []byte) Boundary {
	not := func(problems ...string) Boundary { return Boundary{Problems: problems} }
	if pyjson.KindOf(raw) != pyjson.Object {
		return not("missing_fork_cost_boundary")
	}
	found := pyjson.Values(raw, "version", "status", "reasons")
	if !isOne(found[0]) {
		return not("unsupported_fork_cost_boundary")
	}
	size, ok := sizeOf(raw)
	switch {
	case !ok:
		return not("invalid_fork_cost_boundary")
	case size > maxBytes:
		return not("oversized_fork_cost_boundary")
	case pyjson.KindOf(found[1]) != pyjson.String || !pyjson.KeyIs(found[1], "verified"):
		return not(append([]string{"unavailable_fork_cost_boundary"}, reasonsIn(found[2])...)...)
	}
	b, ok := verified(raw)
	if !ok {
		return not("invalid_fork_cost_boundary")
	}
	return b
}

// verified reads a boundary with the status verified.
func verified(raw []byte) (Boundary, bool) {
	found := pyjson.Values(raw, "inherited_turn_count", "cumulative_cost_usd_by_turn", "prefix_fingerprint")
	count, ok := pyjson.Int(found[0])
	if !ok || pyjson.KindOf(found[0]) != pyjson.Integer || count < 0 || count > maxTurns {
		return Boundary{}, false
	}
	if pyjson.KindOf(found[2]) != pyjson.String || utf8.RuneCountInString(pyjson.Text(found[2])) != 64 {
		return Boundary{}, false
	}
	if pyjson.KindOf(found[1]) != pyjson.Array {
		return Boundary{}, false
	}
	b := Boundary{Verified: true, Totals: []decimal.Number{}, Hash: pyjson.Text(found[2])}
	for e := range pyjson.Elements(found[1]) {
		total, ok := decimal.FromJSON(e)
		if !ok || total.Compare(b.Last()) < 0 {
			return Boundary{}, false
		}
		b.Totals = append(b.Totals, total)
	}
	return b, int64(len(b.Totals)) == count
}

// isOne reports whether a value equals 1 in Python.
func isOne(raw []byte) bool {
	switch pyjson.KindOf(raw) {
	case pyjson.True:
		return true
	case pyjson.Integer, pyjson.Float:
		n, ok := decimal.FromJSON(raw)
		one, _ := decimal.Parse("1")
		return ok && n.Compare(one) == 0
	}
	return false
}

// sizeOf returns the size of a value in bytes, as JSON in one line. It returns false for
// a value with NaN, an infinity or a lone surrogate in it, which is no JSON.
func sizeOf(raw []byte) (int, bool) {
	text, err := pyjson.Append(nil, raw, pyjson.Style{Finite: true})
	return len(text), err == nil && !pyjson.HasSurrogate(text)
}

// reasonsIn returns the texts in a list of reasons.
func reasonsIn(raw []byte) (reasons []string) {
	for e := range pyjson.Elements(raw) {
		reasons = append(reasons, shown(e))
	}
	return reasons
}

// Fingerprint returns the hash of the first turns of a conversation, in hexadecimal. Two
// conversations have the same one if the newest tools would store the same messages for
// these turns, calls without a result completed. It returns false for rows that have no
// hash: there are fewer turns, a row is no object, or it holds a value that cannot be
// stored.
func Fingerprint(rows []Row, turns int) (string, bool) {
	cut, ok := prefix(rows, turns)
	if !ok {
		return "", false
	}
	if cut, ok = completed(cut); !ok {
		return "", false
	}
	hash := sha256.New()
	hash.Write([]byte{'['})
	for i, row := range cut {
		if i > 0 {
			hash.Write([]byte{','})
		}
		hash.Write(row.JSON)
	}
	hash.Write([]byte{']'})
	return hex.EncodeToString(hash.Sum(nil)), true
}

// prefix returns the rows of the first turns, without the rows that are never stored,
// each as it is stored: sanitised, here with sorted members and without spaces.
func prefix(rows []Row, turns int) (cut []Row, ok bool) {
	rows, ok = storedRows(rows)
	if !ok || turns < 0 {
		return nil, false
	}
	if turns == 0 {
		return nil, true
	}
	found := 0
	for _, row := range rows {
		if roleOf(row) == user {
			if found == turns {
				break
			}
			found++
		}
		if row.JSON, ok = sanitised(row.JSON); !ok {
			return nil, false
		}
		cut = append(cut, row)
	}
	return cut, found == turns
}

// storedRows returns the rows that are stored, and false if one is no object.
func storedRows(rows []Row) (kept []Row, ok bool) {
	all := true
	for _, row := range rows {
		if pyjson.KindOf(row.JSON) != pyjson.Object {
			return nil, false
		}
		all = all && roleOf(row) != unstored
	}
	if all { // nearly always
		return rows, true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return roleOf(row) == unstored }), true
}

func sanitised(row []byte) ([]byte, bool) {
	text, err := pyjson.AppendMessage(nil, row, pyjson.Style{SortKeys: true, Compact: true, Finite: true})
	return text, err == nil && !pyjson.HasSurrogate(text)
}
