package syncer

import (
	"bytes"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

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
	if s.Redact == nil {
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
		if i, ok := of[string(bare(s.Redact.Line(line)))]; ok {
			comma := lines[i][len(bare(lines[i])):]
			lines[i] = slices.Concat(bare(line), comma)
		}
	}
	return bytes.Join(lines, []byte{'\n'})
}

// bare returns a line without the comma that JSON has behind a member that is not the
// last one.
func bare(line []byte) []byte { return bytes.TrimSuffix(line, []byte{','}) }
