package sessionstore

import (
	"cmp"
	"slices"
	"strings"
)

// newestFirst returns the candidates in the order of Find. Those with a time
// are sorted by it; each of the others goes before the first of them whose
// text is smaller, so that texts in one notation are in the order of the
// reference, which knows the text alone.
func newestFirst(all []*candidate) []*candidate {
	var timed, others []*candidate
	for _, c := range all {
		if c.timed {
			timed = append(timed, c)
		} else {
			others = append(others, c)
		}
	}
	lastText := func(a, b *candidate) int {
		return cmp.Or(strings.Compare(b.CreatedText, a.CreatedText), a.place-b.place)
	}
	slices.SortFunc(timed, func(a, b *candidate) int { return cmp.Or(b.Created.Compare(a.Created), lastText(a, b)) })
	slices.SortFunc(others, lastText)
	merged := make([]*candidate, 0, len(all))
	for _, c := range timed {
		for len(others) > 0 && others[0].CreatedText > c.CreatedText {
			merged, others = append(merged, others[0]), others[1:]
		}
		merged = append(merged, c)
	}
	return append(merged, others...)
}
