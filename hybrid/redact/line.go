package redact

import "slices"

// rounds is the largest number of passes over a line until nothing more is found: some
// texts are found only when the secret beside them is gone.
const rounds = 8

// Line returns a line with a placeholder for each secret. It does not change the given
// line.
func (r *Finder) Line(line []byte) []byte {
	line, _ = r.redacted(line)
	return line
}

// Kinds returns the kind of each secret that [Finder.Line] replaces, as a rule in
// the order of the line. It never returns a part of a secret.
func (r *Finder) Kinds(line []byte) []string {
	_, kinds := r.redacted(line)
	return kinds
}

func (r *Finder) redacted(line []byte) (_ []byte, kinds []string) {
	for range rounds {
		found := r.find(line)
		if len(found) == 0 {
			break
		}
		for _, p := range found {
			kinds = append(kinds, p.kind)
		}
		line = replaced(line, found)
	}
	return line, kinds
}

// find returns the secrets in a line in ascending order.
func (r *Finder) find(line []byte) []place {
	var found, kept []place
	v := &view{text: line}
	for range layers {
		s := scan{rules: r.rules, view: v}
		s.run(r.starts)
		found, kept = append(found, s.found...), append(kept, s.kept...)
		found = append(found, r.own(v)...)
		next, ok := v.unescaped()
		if !ok {
			break
		}
		v = next
	}
	found = withinStrings(line, found)
	kept = merged(kept)
	found = slices.DeleteFunc(found, func(p place) bool { return p.from >= p.to || overlaps(kept, p) })
	return merged(aroundPlaceholders(line, merged(found)))
}

// overlaps reports whether a place shares a byte with one of kept, which are in
// ascending order.
func overlaps(kept []place, p place) bool {
	n, _ := slices.BinarySearchFunc(kept, p.from+1, func(k place, at int) int { return k.to - at })
	return n < len(kept) && kept[n].from < p.to
}
