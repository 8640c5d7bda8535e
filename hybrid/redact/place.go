package redact

import (
	"bytes"
	"regexp"
	"slices"
)

// place is a secret in a line, with its kind.
type place struct {
	from, to int
	kind     string
	named    bool // found by the name beside it, and by no shape
	free     bool // a pattern of the user found it, which may match anything
}

// merged sorts places and joins those that overlap. The kind of a shape goes before the
// kind of a name.
func merged(all []place) (out []place) {
	slices.SortStableFunc(all, func(a, b place) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	for _, p := range all {
		if len(out) == 0 || p.from >= out[len(out)-1].to {
			out = append(out, p)
			continue
		}
		last := &out[len(out)-1]
		last.to = max(last.to, p.to)
		if last.named && !p.named {
			last.kind, last.named = p.kind, false
		}
	}
	return out
}

// placeholder matches the replacement of a secret that was found.
var placeholder = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)

// aroundPlaceholders drops the places within a placeholder, and widens those that hold a
// part of one: so each round leaves less to find.
func aroundPlaceholders(line []byte, found []place) (out []place) {
	if !bytes.Contains(line, []byte("[redacted:")) {
		return found
	}
	done := placeholder.FindAllIndex(line, -1)
	for _, p := range found {
		within := false
		for _, d := range done[firstAfter(done, p.from):] {
			if d[0] >= p.to {
				break
			}
			within = within || d[0] <= p.from && p.to <= d[1]
			p.from, p.to = min(p.from, d[0]), max(p.to, d[1])
		}
		if !within {
			out = append(out, p)
		}
	}
	return out
}

// firstAfter returns the index of the first range that ends behind from.
func firstAfter(ranges [][]int, from int) int {
	n, _ := slices.BinarySearchFunc(ranges, from+1, func(r []int, at int) int { return r[1] - at })
	return n
}

func replaced(line []byte, found []place) []byte {
	out := make([]byte, 0, len(line))
	done := 0
	for _, p := range found {
		out = append(out, line[done:p.from]...)
		out = append(append(append(out, "[redacted:"...), p.kind...), ']')
		done = p.to
	}
	return append(out, line[done:]...)
}
