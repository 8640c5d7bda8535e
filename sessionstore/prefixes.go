package sessionstore

import (
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/index"
)

// addPrefixes appends to the prefixes up to each of some messages those of the
// messages that follow them.
func addPrefixes(prefixes []index.Prefix, rows []Message) []index.Prefix {
	var last index.Prefix
	if n := len(prefixes); n > 0 {
		last = prefixes[n-1]
	}
	prefixes = slices.Grow(prefixes, len(rows))
	for _, m := range rows {
		last = last.Plus(m.sum())
		prefixes = append(prefixes, last)
	}
	return prefixes
}
