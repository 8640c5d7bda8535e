package syncer

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// ownText returns what came, with those parts as they stand here that came in the form
// in which they were sent. So what the rules took out stays in the files of the device
// that wrote it, also where another device changed what stands around. own is the text
// here and sent what left of it. Parts are members and elements, at any depth, of JSON,
// and lines of all else.
func ownText(own, sent, came []byte) []byte {
	switch {
	case bytes.Equal(own, sent):
		return came
	case isNested(own) && isNested(sent) && isNested(came):
		begin, end := space(came)
		return slices.Concat(came[:begin], ownValue(pyjson.Trim(own), pyjson.Trim(sent), pyjson.Trim(came)), came[end:])
	}
	return ownLinesOf(own, sent, came)
}

// isNested reports whether a text is a JSON object or array.
func isNested(text []byte) bool {
	kind := pyjson.KindOf(pyjson.Trim(text))
	return (kind == pyjson.Object || kind == pyjson.Array) && pyjson.Check(text, pyjson.Tolerant) == nil
}

// space returns where a JSON text begins and ends among white space.
func space(text []byte) (begin, end int) {
	trimmed := pyjson.Trim(text)
	begin = bytes.Index(text, trimmed)
	return begin, begin + len(trimmed)
}

// ownValue is ownText for one JSON value.
func ownValue(own, sent, came []byte) []byte {
	kind := pyjson.KindOf(came)
	switch {
	case bytes.Equal(sent, came):
		return own
	case bytes.Equal(own, sent), kind != pyjson.KindOf(own), kind != pyjson.KindOf(sent):
		return came
	case kind == pyjson.Object:
		return ownMembers(own, sent, came)
	case kind == pyjson.Array:
		return ownElements(own, sent, came)
	}
	return came
}

// ownMembers is ownText for an object. Rules may also change the name of a member.
func ownMembers(own, sent, came []byte) (out []byte) {
	mine, left := slices.Collect(pyjson.Members(own)), slices.Collect(pyjson.Members(sent))
	if len(mine) != len(left) {
		return came
	}
	named := map[string][]int{}
	for i, m := range left {
		name := pyjson.Text(m.Key)
		named[name] = append(named[name], i)
	}
	at := 0
	for m := range pyjson.Members(came) {
		name := pyjson.Text(m.Key)
		if len(named[name]) == 0 {
			continue
		}
		i := named[name][0]
		named[name] = named[name][1:]
		key := m.Key
		if !bytes.Equal(mine[i].Key, left[i].Key) {
			key = mine[i].Key
		}
		out = append(append(out, came[at:m.KeyAt]...), key...)
		out = append(out, came[m.KeyAt+len(m.Key):m.ValueAt]...)
		out = append(out, ownValue(mine[i].Value, left[i].Value, m.Value)...)
		at = m.ValueAt + len(m.Value)
	}
	return append(out, came[at:]...)
}

// ownElements is ownText for an array.
func ownElements(own, sent, came []byte) (out []byte) {
	mine, left := slices.Collect(pyjson.Elements(own)), slices.Collect(pyjson.Elements(sent))
	all := slices.Collect(pyjson.Elements(came))
	if len(mine) != len(left) {
		return came
	}
	at := 0
	for k, i := range alike(left, all) {
		begin := len(came) - len(bytes.TrimLeft(came[max(at, 1):], ", \t\r\n")) // behind the bracket or the last element
		out = append(out, came[at:begin]...)
		if at = begin + len(all[k]); i < 0 {
			out = append(out, all[k]...)
		} else {
			out = append(out, ownValue(mine[i], left[i], all[k])...)
		}
	}
	return append(out, came[at:]...)
}

// ownLinesOf is ownText for lines.
func ownLinesOf(own, sent, came []byte) (out []byte) {
	mine, left, all := linesOf(own), linesOf(sent), linesOf(came)
	if len(mine) != len(left) {
		return came
	}
	for k, i := range alike(left, all) {
		line := all[k]
		if i >= 0 && bytes.Equal(left[i], line) {
			line = mine[i]
		}
		if out = append(out, line...); k < len(all)-1 {
			out = append(out, '\n')
		}
	}
	return out
}

// linesOf returns what stands between the LFs of a text.
func linesOf(text []byte) [][]byte { return bytes.Split(text, []byte{'\n'}) }

// alike returns, for each part that came, which part it is of those that were sent; -1
// for none. Both ends are compared first. Between them parts are found again in their
// order. Where there are as many as before, those that changed are in their places.
func alike(sent, came [][]byte) []int {
	of := make([]int, len(came))
	begin := 0
	for begin < min(len(sent), len(came)) && bytes.Equal(sent[begin], came[begin]) {
		of[begin] = begin
		begin++
	}
	last, end := len(sent), len(came)
	for last > begin && end > begin && bytes.Equal(sent[last-1], came[end-1]) {
		last, end = last-1, end-1
		of[end] = last
	}
	found, taken := map[string][]int{}, make([]bool, len(sent))
	for i := begin; i < last; i++ {
		found[string(sent[i])] = append(found[string(sent[i])], i)
	}
	for k := begin; k < end; k++ {
		of[k] = -1
		if all := found[string(came[k])]; len(all) > 0 {
			of[k], found[string(came[k])], taken[all[0]] = all[0], all[1:], true
		}
	}
	if len(sent) == len(came) {
		for k := begin; k < end; k++ {
			if of[k] < 0 && !taken[k] {
				of[k] = k
			}
		}
	}
	return of
}

// # Small files that rules change
//
// A small file leaves line by line as the rules of today let it. The state keeps the
// forms of those lines that they changed, so that the parts of it are known when the
// file comes back with changes of another device, whatever the rules are then.

// lineForms returns the forms of the lines of a file that left as sent.
func lineForms(text, sent []byte) (all []track.Form) {
	if bytes.Equal(text, sent) {
		return nil
	}
	lines, left := linesOf(text), linesOf(sent)
	if len(lines) != len(left) {
		return nil
	}
	for i, line := range lines {
		if !bytes.Equal(line, left[i]) {
			all = append(all, track.FormOf(int64(i), line, left[i]))
		}
	}
	return all
}

// sentLines returns a text with those lines as they were sent of which the form is kept.
func sentLines(text []byte, forms []track.Form) []byte {
	if len(forms) == 0 {
		return text
	}
	of := map[segment.Hash]*track.Form{}
	for i := range forms {
		of[forms[i].Line] = &forms[i]
	}
	lines := linesOf(text)
	for i, line := range lines {
		if form := of[sum(line)]; form != nil && form.Of(line) {
			lines[i] = form.Apply(line)
		}
	}
	return bytes.Join(lines, []byte{'\n'})
}

func sum(content []byte) segment.Hash { return sha256.Sum256(content) }
