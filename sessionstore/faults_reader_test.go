package sessionstore

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// errRaised is what the reference does on bytes that are not UTF-8: it does
// not look at the backup then.
var errRaised = errors.New("not UTF-8")

// A readFunc returns the content of a file of the session, or an error when
// there is none.
type readFunc func(name string) ([]byte, error)

// readAsPython reads a session as the reference does: the backup stands in
// for a file that is missing or does not parse; the placeholder, or nothing,
// for both.
func readAsPython(read readFunc) (l look, err error) {
	if l.rows, err = pythonFile(read, sessiondir.Transcript, pythonRows); err != nil {
		return l, err
	}
	l.metadata, err = pythonFile(read, sessiondir.Metadata, pythonObject)
	return l, err
}

func pythonFile(read readFunc, name string, parse func(string) (string, bool)) (string, error) {
	for _, name := range []string{name, sessiondir.Backup(name)} {
		data, err := read(name)
		if err != nil {
			continue
		}
		if !utf8.Valid(data) {
			return "", errRaised
		}
		if text, ok := parse(string(data)); ok {
			return text, nil
		}
	}
	return "", nil
}

func pythonRows(text string) (string, bool) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	rows := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !json.Valid([]byte(line)) {
			return "", false
		}
		rows += line + "\n"
	}
	return rows, true
}

func pythonObject(text string) (string, bool) { return text, json.Valid([]byte(text)) }
