// Package cursortext is the text form of cursors: the kind of a cursor, and its bytes
// with a short hash of them, in letters that need no quoting in JSON, shells and
// addresses.
package cursortext

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// MaxText is the greatest length of the text of a cursor.
const MaxText = 4 << 10

const sumSize = 4

var encoding = base64.RawURLEncoding.Strict()

// Kind is the beginning of the cursors of one kind, in one version.
type Kind string

// Format returns the text of a cursor. The text of no bytes is empty.
func (k Kind) Format(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	return string(k) + "." + encoding.EncodeToString(k.seal(body))
}

// Parse returns the bytes of a cursor.
func (k Kind) Parse(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > MaxText {
		return nil, fmt.Errorf("parse cursor: %d characters, at most %d are one", len(text), MaxText)
	}
	kind, rest, ok := strings.Cut(text, ".")
	if !ok || kind != string(k) {
		return nil, fmt.Errorf("parse cursor: it does not begin with %q: it is of something else, or of another version", string(k)+".")
	}
	sealed, err := encoding.DecodeString(rest)
	if err != nil || len(sealed) <= sumSize {
		return nil, errIncomplete
	}
	body := sealed[:len(sealed)-sumSize]
	if encoding.EncodeToString(k.seal(body)) != rest { // the encoding passes over line breaks
		return nil, errIncomplete
	}
	return body, nil
}

var errIncomplete = errors.New("parse cursor: it is not whole, or was changed")

// seal returns body with a hash of it and of the kind.
func (k Kind) seal(body []byte) []byte {
	sum := xxh3.Hash(append([]byte(k), body...))
	return binary.BigEndian.AppendUint32(body[:len(body):len(body)], uint32(sum))
}
