package redact

import "bytes"

// starts finds the places of a text at which rules are worth trying. A regular
// expression that is tried at every byte is slow; so one loop over the text looks
// three bytes at a time up in a table, whatever the number of rules.
type starts struct {
	table [1 << tableBits]uint8 // of a hash of three bytes: its bucket, 0 for none
	lists [][]start
}

// start is a text that a shape begins with, or is found by.
type start struct {
	text string
	fold bool // in lower case; any case is meant
	rule int
}

const tableBits = 13

func hashOf(three uint32) uint32 { return ((three | 0x202020) * 2654435761) >> (32 - tableBits) }

func threeOf(text string) uint32 { return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 }

func newStarts(all []start) *starts {
	s := &starts{lists: make([][]start, 1)}
	for _, one := range all {
		slot := &s.table[hashOf(threeOf(one.text))]
		if *slot == 0 {
			*slot = uint8(len(s.lists))
			s.lists = append(s.lists, nil)
		}
		s.lists[*slot] = append(s.lists[*slot], one)
	}
	return s
}

func (s start) begins(text []byte) bool {
	if len(text) < len(s.text) {
		return false
	}
	if s.fold {
		return bytes.EqualFold(text[:len(s.text)], []byte(s.text))
	}
	return string(text[:len(s.text)]) == s.text
}

// scan is one search of one view.
type scan struct {
	rules       []rule
	view        *view
	done        []int // of each rule: the text before it is searched
	found, kept []place
	names       assignments
}

func (s *scan) run(all *starts) {
	text := s.view.text
	if len(text) < 3 {
		return
	}
	s.done = make([]int, len(s.rules))
	s.names.text = text
	three := uint32(text[0])<<8 | uint32(text[1])<<16
	for i, c := range text[2:] {
		three = three>>8 | uint32(c)<<16
		if slot := all.table[hashOf(three)]; slot != 0 {
			for _, one := range all.lists[slot] {
				if one.begins(text[i:]) {
					s.try(one.rule, i)
				}
			}
		}
	}
}

// nameRule is the number of the rule for the names of values.
const nameRule = -1

// try tries a rule by the text that was found at a place.
func (s *scan) try(n, at int) {
	if n == nameRule {
		if from, to, kind := s.names.secretAt(at); to > from {
			s.found = append(s.found, place{from: s.view.at(from), to: s.view.at(to), kind: kind, named: true})
		}
		return
	}
	r, text := &s.rules[n], s.view.text
	if at < s.done[n] {
		return
	}
	from := r.back.from(text, at, s.done[n])
	if from < s.done[n] || r.word && within(text, from) {
		return
	}
	m := r.at(text, from)
	s.done[n] = max(m.end, s.done[n])
	if m.to <= m.from {
		return
	}
	p := place{from: s.view.at(m.from), to: s.view.at(m.to), kind: r.name}
	if r.keep {
		s.kept = append(s.kept, p)
		return
	}
	s.found = append(s.found, p)
}
