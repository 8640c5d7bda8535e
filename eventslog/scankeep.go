package eventslog

import "github.com/amplifier-go/sessionstorage/internal/pyjson"

// maxKey is more than the longest name that is looked for, all of it escaped.
const maxKey = 160

// target returns the member that is looked for and whose value is read, not a
// part of it; nil if there is none.
func (s *scanner) target() *value {
	switch s.depth {
	case 1:
		return s.want
	case 2:
		return s.sub
	}
	return nil
}

// found notes where the value of a member that is looked for begins.
func (s *scanner) found(kind pyjson.Kind, at int64, scalar bool) {
	v := s.target()
	if v == nil {
		return
	}
	*v = value{kind: kind, raw: v.raw[:0], start: at}
	if scalar {
		s.kept = &v.raw
	}
	if v == &s.head.data {
		s.head.inner = value{raw: s.head.inner.raw[:0]}
	}
}

// finish ends a value inside a container before the offset at.
func (s *scanner) finish(at int64) {
	s.state = afterValue
	v := s.target()
	if v == nil {
		return
	}
	v.end = at
	s.sub, s.kept = nil, nil
	if s.depth == 1 {
		s.want = nil
	}
}

func (s *scanner) beginKey() {
	s.state, s.isKey = inString, true
	if s.looking() {
		s.key = append(s.key[:0], '"')
		s.kept = &s.key
	}
}

// looking reports whether the key that is read may be one that is looked for.
func (s *scanner) looking() bool {
	return s.depth == 1 || s.newer && s.depth == 2 && s.want == &s.head.data && s.inObject()
}

// finishString ends a key or a value before the offset at.
func (s *scanner) finishString(at int64) {
	if !s.isKey {
		s.finish(at)
		return
	}
	s.state = colon
	if s.looking() {
		s.kept = nil
		s.named()
	}
}

// named notes which member's value comes after the key.
func (s *scanner) named() {
	known := len(s.key) < maxKey
	switch {
	case s.depth == 2:
		s.sub = nil
		if known && pyjson.KeyIs(s.key, "session_id") {
			s.sub = &s.head.inner
		}
	case known:
		s.want = s.head.member(s.key)
	default:
		s.want = nil
	}
}

// keep keeps one byte of what is read.
func (s *scanner) keep(c byte) {
	if s.kept != nil && len(*s.kept) < s.room() {
		*s.kept = append(*s.kept, c)
	}
}

// keepAll keeps the bytes p.
func (s *scanner) keepAll(p []byte) {
	if s.kept != nil {
		n := max(s.room()-len(*s.kept), 0)
		*s.kept = append(*s.kept, p[:min(n, len(p))]...)
	}
}

func (s *scanner) room() int {
	if s.kept == &s.key {
		return maxKey
	}
	return maxKept
}
