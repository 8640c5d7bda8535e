package eventslog

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// The limits up to which isDumped looks; beyond them it leaves the answer to pyjson.
const (
	dumpedDepth = 32
	dumpedNames = 128 // of all objects that are open
)

// isDumped reports whether b, an object that json.loads accepts, is as json.dumps writes
// it. False may be wrong.
func isDumped(b []byte) bool {
	var (
		names  [dumpedNames]uint64 // of open objects, as sums
		begins [dumpedDepth]int    // where the names of each begin; -1: it is an array
		depth  = -1
		count  int
		isKey  bool
	)
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case '{', '[':
			if depth++; depth == dumpedDepth {
				return false
			}
			begins[depth], isKey = count, true
			if c == '[' {
				begins[depth], isKey = -1, false
			}
			i++
		case '}', ']':
			if c == '}' {
				count = begins[depth]
			}
			depth--
			i++
		case ',':
			if b[i+1] != ' ' {
				return false
			}
			isKey = begins[depth] >= 0
			i += 2
		case '"':
			end := afterDumped(b, i+1)
			if end < 0 {
				return false
			}
			if isKey {
				sum := xxh3.Hash(b[i:end])
				if count == dumpedNames || slices.Contains(names[begins[depth]:count], sum) || b[end] != ':' || b[end+1] != ' ' {
					return false
				}
				names[count] = sum
				count++
				isKey = false
				end += 2
			}
			i = end
		default:
			end := afterScalar(b, i)
			if !isDumpedScalar(b[i:end]) {
				return false
			}
			i = end
		}
	}
	return true
}

// afterDumped returns the index behind the string whose content begins at i,
// -1 if it may have an escape that json.dumps would not write.
func afterDumped(b []byte, i int) int {
	end := pyjson.SkipString(b, i)
	for i < end {
		n := bytes.IndexByte(b[i:end], '\\')
		if n < 0 {
			return end
		}
		switch i += n; b[i+1] {
		case '"', '\\', 'n', 'r', 't', 'b', 'f':
			i += 2
		default:
			return -1
		}
	}
	return end
}

// afterScalar returns the index behind the number or word at i.
func afterScalar(b []byte, i int) int {
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != ']' && b[i] != '}' {
		i++
	}
	return i
}

// isDumpedScalar reports whether a number or word is as json.dumps writes it.
func isDumpedScalar(b []byte) bool {
	switch {
	case len(b) == 0: // white space is in its place
		return false
	case b[0] == 't', b[0] == 'f', b[0] == 'n':
		return true
	case !bytes.ContainsAny(b, ".eEIN"):
		return string(b) != "-0"
	}
	var room [32]byte
	f, err := strconv.ParseFloat(string(b), 64)
	return err == nil && string(pyjson.AppendFloat(room[:0], f)) == string(b)
}
