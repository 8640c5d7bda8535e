package pyjson

// Limits of Python's reader.
const (
	MaxDepth  = 1000 // containers around a value; Python 3.11 stops there (its recursion limit), later ones further on
	MaxDigits = 4300 // digits of an integer
)

// Dialect names what is accepted as JSON.
type Dialect uint8

const (
	// Tolerant is what json.loads accepts in a text: also NaN, Infinity, -Infinity and lone surrogates as escapes.
	// The bytes must be UTF-8.
	Tolerant Dialect = iota
	// Strict is what the newer tools accept in bytes: no NaN and no infinities as literals, but surrogates as
	// three bytes (ED A0 80 to ED BF BF) and one byte order mark at the start.
	Strict

	// either accepts what one of the others does; the writers read so.
	either
)

// constants reports whether NaN, Infinity and -Infinity are numbers.
func (d Dialect) constants() bool { return d != Strict }

// surrogates reports whether surrogates may stand as bytes, and a byte order mark at the start.
func (d Dialect) surrogates() bool { return d != Tolerant }
