package s3

import (
	"bytes"
	"crypto/rand"
	"encoding/json"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// header is the first line of a stored object.
type header struct {
	Op    string `json:"op"`
	Label int    `json:"label"`
	Body  int    `json:"body"`
}

// encode returns the bytes that are stored for an object. No two results are the same.
func encode(o *remote.Object) ([]byte, error) {
	line, err := json.Marshal(header{Op: rand.Text(), Label: len(o.Label), Body: len(o.Body)})
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{line, []byte("\n"), o.Label, o.Body}, nil), nil
}

// maxContent is the largest number of bytes that are stored for an object.
const maxContent = 512 + remote.MaxLabel + remote.MaxObject

// firstRead is the number of bytes that a list reads of an object. Most labels end in
// them.
const firstRead = 4 << 10

// decode returns where the label and the body of an object of a size begin, and the object
// ends, by its first bytes. ok is false where another tool stored it.
func decode(first []byte, size int64) (label, body int, ok bool) {
	var h header
	at := bytes.IndexByte(first, '\n') + 1
	if at == 0 || json.Unmarshal(first[:at], &h) != nil || h.Op == "" || h.Label < 0 || h.Body < 0 ||
		int64(at)+int64(h.Label)+int64(h.Body) != size {
		return 0, 0, false
	}
	return at, at + h.Label, true
}
