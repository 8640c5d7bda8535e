package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// ownLines are lines here that rules changed before they left, or would change today.
// What rules took out of them is nowhere else: when such a line comes back, the one
// here stays. It comes in the form in which it left, or in the one that other rules gave
// to that form since: a device that moves a line sends it as a new one. Then the rules of
// today tell, as in [source.alike]. Rules that find less than those do not.
type ownLines struct {
	track.Source
	sent, images map[segment.Hash][]*ownLine // by the hash of the form, and of today's
}

// ownLine is a line as it stands here.
type ownLine struct {
	text  []byte
	taken bool
}

// ownLines returns those behind a place.
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

// take returns the line here that left as sent did, or else one of which the rules of
// today make the same, or sent itself. Of several each is returned once, in their order.
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

// withOwn returns what is to stand here in the place of a file: what came, with those
// parts as they stand here that came as this device sent them, or would send them today.
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

// sentBefore returns a file here, which leaves today as image, with those lines as they
// came of which the rules of today make the same: earlier rules let them leave so. It is
// for a state that was lost.
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
