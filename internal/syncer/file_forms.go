package syncer

import (
	"bytes"
	"crypto/sha256"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/track"
)

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
