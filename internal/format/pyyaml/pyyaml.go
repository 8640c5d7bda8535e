// Package pyyaml writes JSON values as the YAML text that Python's PyYAML 6
// gives for them, byte for byte:
//
//	yaml.dump(json.loads(raw), default_flow_style=False, sort_keys=False)
//
// The rules are the rules of its pure Python emitter with its defaults: block style, two
// columns per level, lines folded at 80 columns, ASCII only, and strings quoted when YAML
// 1.1 would read them as something else. Anchors and tags cannot arise: JSON values are
// never shared and always have a plain type.
package pyyaml

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Append appends the YAML text of raw to dst and ends it with a line break. raw is one
// JSON value that [pyjson.Check] accepted; of members with the same key the last value is
// at the place of the first, as in a Python dict. Lone surrogates become escapes such as
// \uD800. Values nested deeper than 330 containers are refused as they are in Python, and
// dst is returned as it was.
func Append(dst, raw []byte) ([]byte, error) {
	raw = pyjson.Trim(raw)
	w := writer{out: dst, line: len(dst)}
	if err := w.value(raw, 0); err != nil {
		return dst, fmt.Errorf("write yaml: %w", err)
	}
	w.newline(0)
	if isPlain(raw) {
		w.put("...\n") // a plain scalar leaves the document open
	}
	return w.out, nil
}
