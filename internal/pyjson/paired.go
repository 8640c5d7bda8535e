package pyjson

import "bytes"

// Paired returns raw with U+FFFD for the halves of surrogate pairs, and reports
// whether it had any. Else, and where raw is no value that json.loads accepts, it
// returns raw itself.
func Paired(raw []byte) (paired []byte, had bool) {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return raw, false
	}
	if Check(raw, Tolerant) != nil {
		return raw, false
	}
	same, err := Append(nil, raw, Style{})
	if err != nil {
		return raw, false
	}
	paired, err = Append(nil, raw, Style{Replace: true})
	if err != nil || bytes.Equal(same, paired) {
		return raw, false
	}
	return paired, true
}
