package track

import (
	"bytes"
	"crypto/sha256"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Form is how a line of a file was sent, where rules of redaction changed it, or
// where those of today would. It holds no text that was not sent.
type Form struct {
	N     int64        `json:"n"`           // of the line; the first is 0
	Line  segment.Hash `json:"of"`          // of its bytes here
	Begin int          `json:"b,omitempty"` // how many bytes at its beginning were sent as they are
	End   int          `json:"e,omitempty"` // and how many at its end
	Text  []byte       `json:"t,omitempty"` // what was sent between them
}

// FormOf returns the form of line n.
func FormOf(n int64, line, sent []byte) Form {
	begin := segment.CommonPrefix(line, sent)
	end := segment.CommonSuffix(line[begin:], sent[begin:])
	return Form{N: n, Line: sha256.Sum256(line), Begin: begin, End: end, Text: bytes.Clone(sent[begin : len(sent)-end])}
}

// Of reports whether f is the form of that line.
func (f *Form) Of(line []byte) bool {
	return f.Begin >= 0 && f.End >= 0 && f.Begin+f.End <= len(line) && f.Line == sha256.Sum256(line)
}

// Apply returns the line as it was sent.
func (f *Form) Apply(line []byte) []byte {
	sent := make([]byte, 0, f.Begin+len(f.Text)+f.End)
	sent = append(sent, line[:f.Begin]...)
	sent = append(sent, f.Text...)
	return append(sent, line[len(line)-f.End:]...)
}
