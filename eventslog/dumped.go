package eventslog

import (
	"bytes"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// The limits up to which isDumped looks; beyond them, and where it would have to compute,
// it leaves the answer to pyjson.
const (
	dumpedDepth = 32
	dumpedNames = 128 // of all objects that are open
	dumpedFloat = 15  // digits that any float has
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
			n := dumpedScalar(b[i:])
			if n == 0 {
				return false
			}
			i += n
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

// dumpedScalar returns the length of the number or word at the start of b, 0
// if it may not be as json.dumps writes it.
func dumpedScalar(b []byte) int {
	switch b[0] {
	case 't', 'n':
		return len("true")
	case 'f':
		return len("false")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return dumpedNumber(b)
	}
	return 0
}

// dumpedNumber is dumpedScalar for a number. A float of few digits is its own
// shortest form, unless it ends in zero or is so small that it gets an exponent.
func dumpedNumber(b []byte) int {
	sign := 0
	if b[0] == '-' {
		sign = 1
	}
	dot := afterDigits(b, sign)
	switch c := b[dot]; {
	case c == 'e' || c == 'E' || c == 'I':
		return 0
	case c != '.':
		if dot-sign == 1 && sign == 1 && b[sign] == '0' {
			return 0
		}
		return dot
	}
	end := afterDigits(b, dot+1)
	last := b[end-1] == '0' && end-dot > len(".0")
	if b[end]|0x20 == 'e' || end-sign-1 > dumpedFloat || last || bytes.HasPrefix(b[sign:], []byte("0.000")) {
		return 0
	}
	return end
}

func afterDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
