package pyjson

import (
	"iter"
	"math"
)

// Long is the longest member of an object, as [CheckMember] found it. Who knows of it reads the others without going
// through its value. The zero Long is that of any object.
type Long struct {
	number uint16 // of the member, from 1
	end    uint32 // of its value, an offset in the object
}

// longMember returns the Long of a member, the zero one where that cannot be told.
func longMember(number, end int) Long {
	if number > math.MaxUint16 || uint64(end) > math.MaxUint32 {
		return Long{}
	}
	return Long{uint16(number), uint32(end)}
}

// Members is [Members] of the object that l is of.
func (l Long) Members(obj []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		i := enter(obj, '{')
		for number := uint(1); i < len(obj) && obj[i] == '"'; number++ {
			key, keyEnd := i, skipString(obj, i)
			i = skipSpace(obj, keyEnd)
			if i == len(obj) || obj[i] != ':' {
				return
			}
			value := skipSpace(obj, i+1)
			if number == uint(l.number) {
				i = int(l.end)
			} else {
				i = skipValue(obj, value)
			}
			if i == value || !yield(Member{obj[key:keyEnd], obj[value:i], key, value}) {
				return
			}
			i = afterComma(obj, i)
		}
	}
}

// Values is [Values] of the object that l is of.
func (l Long) Values(obj []byte, names ...string) (values [4][]byte) {
	for m := range l.Members(obj) {
		for i, name := range names {
			if KeyIs(m.Key, name) {
				values[i] = m.Value
			}
		}
	}
	return values
}
