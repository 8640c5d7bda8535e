package sessionstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// ParseMetadata reads the content of a metadata.json in Python's dialect. It
// must be one object; of several members of one name the last counts, in the
// place of the first. The error is a [*CorruptError].
func ParseMetadata(b []byte) (Metadata, error) {
	obj, err := checkMetadata(b)
	if err != nil {
		return Metadata{}, err
	}
	return membersOf(bytes.Clone(obj)), nil
}

// AppendTo appends the object as metadata.json holds it: indented by two, in
// order, without a line break at the end. Secrets are not redacted here, but
// when a store writes it.
func (md Metadata) AppendTo(dst []byte) []byte {
	out, err := pyjson.Append(dst, md.object(), pyjson.Style{Indent: 2, KeepBig: true})
	if err != nil { // unreachable: members are checked when they come in
		return dst
	}
	return out
}

// MarshalJSON returns the object for encoding/json. It fails on what
// encoding/json does not know, such as NaN.
func (md Metadata) MarshalJSON() ([]byte, error) {
	obj := md.object()
	if !json.Valid(obj) {
		return nil, errors.New("metadata holds what JSON cannot: NaN or an infinity")
	}
	return obj, nil
}

// UnmarshalJSON reads an object as [ParseMetadata] does.
func (md *Metadata) UnmarshalJSON(b []byte) error {
	parsed, err := ParseMetadata(b)
	if err != nil {
		return fmt.Errorf("parse metadata: %w", err)
	}
	*md = parsed
	return nil
}

// file returns the bytes of metadata.json, secrets redacted.
func (md Metadata) file(portable bool) ([]byte, error) {
	return pyjson.Append(nil, md.object(), pyjson.Style{Indent: 2, Redact: true, Portable: portable, KeepBig: true})
}
