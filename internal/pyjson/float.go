package pyjson

import (
	"bytes"
	"math"
	"strconv"
)

// AppendFloat appends f as Python's repr and json.dumps write it: the shortest digits that read back as f, without an
// exponent from 1e-4 up to 1e16; also NaN, Infinity and -Infinity.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	begin := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[begin:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// exactLen is how long a float may be for strconv to read it exactly: it stops counting exponents at 10000.
const exactLen = 4000

// parseFloat reads a float as Python does: too large is infinite, too small is zero.
func parseFloat(raw []byte) float64 {
	if len(raw) > exactLen {
		raw = shorten(raw)
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // an overflow gives an infinity and an error
	return f
}

// shorten rewrites a long float as 0.DIGITSeN, so that only an exponent that decides the value by itself is large.
func shorten(raw []byte) []byte {
	mantissa, exponent := raw, 0
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		mantissa, exponent = raw[:i], clampedInt(raw[i+1:])
	}
	out := make([]byte, 0, len(mantissa)+16)
	if mantissa[0] == '-' {
		out, mantissa = append(out, '-'), mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(bytes.Clone(whole), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	if len(significant) == 0 {
		return append(out, '0')
	}
	exponent += len(whole) - (len(digits) - len(significant))
	out = append(append(out, "0."...), significant...)
	return strconv.AppendInt(append(out, 'e'), int64(min(max(exponent, -9999), 9999)), 10)
}

// clampedInt reads a signed integer of any length, limited to what leaves room for the length of a text.
func clampedInt(raw []byte) int {
	const limit = math.MaxInt / 2
	n, err := strconv.Atoi(string(raw))
	if err != nil && raw[0] == '-' {
		return -limit
	} else if err != nil {
		return limit
	}
	return min(max(n, -limit), limit)
}
