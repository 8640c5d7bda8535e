package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// ownText returns the arrived text came, with the text of own put back for each part that
// came in the form in which this device sent it. So text that the rules took out stays in
// the files of the device that wrote it, also where another device changed the text
// around it. own is the text here and sent the form in which it was sent. Parts are
// members and elements, at any depth, of JSON, and lines of all other text.
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

// ownMembers is ownText for an object. Rules may also change the name of a member, and a
// member that was not sent stays.
func ownMembers(own, sent, came []byte) (out []byte) {
	here, left := slices.Collect(pyjson.Members(own)), slices.Collect(pyjson.Members(sent))
	var unsent []pyjson.Member
	if len(here) > len(left) {
		here = slices.DeleteFunc(here, func(m pyjson.Member) bool {
			stays := !slices.ContainsFunc(left, func(s pyjson.Member) bool { return bytes.Equal(s.Key, m.Key) })
			if stays {
				unsent = append(unsent, m)
			}
			return stays
		})
	}
	if len(here) != len(left) {
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
		if !bytes.Equal(here[i].Key, left[i].Key) {
			key = here[i].Key
		}
		out = append(append(out, came[at:m.KeyAt]...), key...)
		out = append(out, came[m.KeyAt+len(m.Key):m.ValueAt]...)
		out = append(out, ownValue(here[i].Value, left[i].Value, m.Value)...)
		at = m.ValueAt + len(m.Value)
	}
	out = append(out, came[at:]...)
	for _, m := range unsent {
		if name := pyjson.Text(m.Key); len(pyjson.Values(came, name)[0]) == 0 {
			out = pyjson.Splice(out, name, m.Value)
		}
	}
	return out
}

// ownElements is ownText for an array.
func ownElements(own, sent, came []byte) (out []byte) {
	here, left := slices.Collect(pyjson.Elements(own)), slices.Collect(pyjson.Elements(sent))
	all := slices.Collect(pyjson.Elements(came))
	if len(here) != len(left) {
		return came
	}
	at := 0
	for k, i := range alike(left, all) {
		begin := len(came) - len(bytes.TrimLeft(came[max(at, 1):], ", \t\r\n")) // behind the bracket or the last element
		out = append(out, came[at:begin]...)
		if at = begin + len(all[k]); i < 0 {
			out = append(out, all[k]...)
		} else {
			out = append(out, ownValue(here[i], left[i], all[k])...)
		}
	}
	return append(out, came[at:]...)
}

// ownLinesOf is ownText for lines.
func ownLinesOf(own, sent, came []byte) (out []byte) {
	here, left, all := linesOf(own), linesOf(sent), linesOf(came)
	if len(here) != len(left) {
		return came
	}
	for k, i := range alike(left, all) {
		line := all[k]
		if i >= 0 && bytes.Equal(left[i], line) {
			line = here[i]
		}
		if out = append(out, line...); k < len(all)-1 {
			out = append(out, '\n')
		}
	}
	return out
}

// linesOf splits a text at its LFs.
func linesOf(text []byte) [][]byte { return bytes.Split(text, []byte{'\n'}) }

// alike returns, for each part that came, the index of the sent part that it is; -1 for
// none. Both ends are compared first. Between them parts are found again in their order.
// Where the number of parts is the same, changed parts are matched by their place.
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
// A small file is sent line by line in the form that today's rules give it. The state
// keeps the forms of the lines that the rules changed, so that these lines are known when
// the file comes back with changes of another device, whatever the rules are then.

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

// sentLines returns a text with each line whose form is kept as it was sent.
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

// ownLines are lines here that rules changed before they were sent, or would change
// today. The text that rules took out of them is nowhere else: when such a line comes
// back, the line here stays. It comes in the form in which it was sent, or in the form
// that other rules gave to that form since: a device that moves a line sends it as a new
// one. Then today's rules decide, as in learnForms. Rules that find less than the other
// rules do not.
type ownLines struct {
	track.Source
	sent, images map[segment.Hash][]*ownLine // by the hash of the form, and of today's
}

// ownLine is a line in its form here.
type ownLine struct {
	text  []byte
	taken bool
}

// ownLines returns the lines behind a place.
func (l *local) ownLines(ctx context.Context, from segment.Mark) (*ownLines, error) {
	own := &ownLines{l.main.Source, map[segment.Hash][]*ownLine{}, map[segment.Hash][]*ownLine{}}
	if len(track.Before(l.main.Forms, from.N)) == len(l.main.Forms) {
		return own, nil
	}
	n, end := from.N, l.main.End().N
	for line, err := range l.main.RawLines(ctx, from.Offset) {
		if err != nil {
			return nil, err
		}
		if n == end {
			break
		}
		if track.FormAt(l.main.Forms, n) != nil {
			own.put(l.main.Leaving(n, line), line)
		}
		n++
	}
	return own, nil
}

func (o *ownLines) put(sent, line []byte) {
	today := o.Today(line)
	if bytes.Equal(sent, line) && bytes.Equal(today, line) {
		return
	}
	l, left, image := &ownLine{text: bytes.Clone(line)}, lineSum(sent), lineSum(today)
	o.sent[left] = append(o.sent[left], l)
	o.images[image] = append(o.images[image], l)
}

// take returns the line here that was sent as sent, or else a line that today's rules
// give the same form, or sent itself. Of several each is returned once, in their order.
func (o *ownLines) take(sent []byte) []byte {
	if len(o.sent) == 0 {
		return sent
	}
	l := untaken(o.sent, lineSum(sent))
	if l == nil {
		l = untaken(o.images, lineSum(o.Today(sent)))
	}
	if l == nil {
		return sent
	}
	l.taken = true
	return l.text
}

// untaken returns the first line of that hash that was not taken; nil for none.
func untaken(lines map[segment.Hash][]*ownLine, of segment.Hash) *ownLine {
	for len(lines[of]) > 0 && lines[of][0].taken {
		lines[of] = lines[of][1:]
	}
	if len(lines[of]) == 0 {
		return nil
	}
	return lines[of][0]
}

func lineSum(line []byte) segment.Hash { return sha256.Sum256(line) }

// withOwn returns the content to write for a file that arrived. Each part that came in
// the form in which this device sent it, or would send it today, gets its text here back.
func (l *local) withOwn(dir *sessiondir.Dir, f *localFile) ([]byte, error) {
	if !f.there || f.bad {
		return f.take, nil
	}
	here, _, err := dir.Read(f.name)
	if err != nil {
		return nil, track.Gone(err)
	}
	text := f.take
	if known := l.st.Files[f.name]; known != nil {
		text = ownText(here, sentLines(here, known.Forms), text)
	}
	image := l.leavingFile(f.name, here)
	text = ownText(here, image, text)
	return ownText(here, l.sentBefore(here, image, text), text), nil
}

// sentBefore returns a file here, whose form today is image, with each line replaced by
// the arrived line that today's rules give the same form: earlier rules gave the line
// that form. It is for a state that was lost.
func (s *session) sentBefore(here, image, came []byte) []byte {
	if s.Privacy.Redact == nil {
		return here
	}
	lines, images := linesOf(here), linesOf(image)
	if len(lines) != len(images) {
		return here
	}
	of := map[string]int{}
	for i := len(lines) - 1; i >= 0; i-- {
		if !bytes.Equal(lines[i], images[i]) {
			of[string(bare(images[i]))] = i
		}
	}
	if len(of) == 0 {
		return here
	}
	for _, line := range linesOf(came) {
		if i, ok := of[string(bare(s.Privacy.Redact.Line(line)))]; ok {
			comma := lines[i][len(bare(lines[i])):]
			lines[i] = slices.Concat(bare(line), comma)
		}
	}
	return bytes.Join(lines, []byte{'\n'})
}

// bare returns a line without the comma that JSON has behind a member that is not the
// last one.
func bare(line []byte) []byte { return bytes.TrimSuffix(line, []byte{','}) }
