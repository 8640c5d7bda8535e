package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// DenyFile is the name of the file beside the states with the rules that were given
// last.
const DenyFile = "deny.json"

type denyDoc struct {
	V     int      `json:"v"`
	Globs []string `json:"globs"`
}

// Globs keeps the globs that were given for the next process, or returns those of
// the last one when given is nil.
func (s *States) Globs(given []string) ([]string, error) {
	var doc denyDoc
	text, err := s.Read(DenyFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if err == nil && (json.Unmarshal(text, &doc) != nil || doc.V != stateVersion) {
		err = fmt.Errorf("read %s: not of this version", DenyFile)
	}
	switch {
	case missing && len(given) == 0:
		return given, nil
	case given == nil || err == nil && slices.Equal(doc.Globs, given):
		return doc.Globs, err
	}
	if text, err = json.Marshal(denyDoc{stateVersion, given}); err != nil {
		return given, err
	}
	return given, s.Write(DenyFile, text)
}
