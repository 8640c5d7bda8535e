package sessioncost

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

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
	return text, err == nil && !hasLone(text)
}
