package conformance

import (
	"errors"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What becomes of a call, as far as two libraries in two languages can be
// compared. Texts that the reference itself wrote count too: they follow the
// type of its exception and a colon.
const (
	succeeded  = ""
	refused    = "refused"    // the value cannot be stored
	unreadable = "unreadable" // what is on disk cannot be read
	invalidID  = "invalid id" // in words of our own
	ioError    = "OSError"
)

const (
	valueError = "ValueError: "
	notFound   = "FileNotFoundError: "
)

// outcome is what the exception says about a call that writes.
func (f *failure) outcome() string {
	if f == nil {
		return succeeded
	}
	switch f.Type {
	case "AttributeError", "TypeError", "RecursionError":
		return refused
	case "UnicodeDecodeError":
		return unreadable
	case "ValueError", "FileNotFoundError":
		if strings.HasPrefix(f.Message, "Exceeds the limit") {
			return refused
		}
		return f.Type + ": " + f.Message
	}
	return f.Type
}

// reading is outcome for a call that only reads.
func (f *failure) reading() string {
	if s := f.outcome(); s != refused {
		return s
	}
	return unreadable
}

// outcome is the same of our errors.
func outcome(err error) string {
	var (
		ambiguous *sessionstore.AmbiguousError
		wrapped   *sessionstore.Error
	)
	own := !errors.As(err, &wrapped)
	switch {
	case err == nil:
		return succeeded
	case errors.Is(err, sessionstore.ErrUnstorable), errors.Is(err, sessionstore.ErrWindow):
		return refused
	case errors.Is(err, sessionstore.ErrCorrupt):
		return unreadable
	case errors.As(err, &ambiguous), errors.Is(err, sessionstore.ErrInvalidID) && own:
		return valueError + err.Error()
	case errors.Is(err, sessionstore.ErrInvalidID):
		return invalidID
	case errors.Is(err, sessionstore.ErrNotFound):
		return notFound + err.Error()
	}
	return "error: " + err.Error()
}

// idShortened is the rule about long ids in the texts of errors.
const idShortened rule = "id-shortened"

// shorten returns the text of an error as we write it: of a long id it shows
// the beginning.
func shorten(f *fired, text, id string) string {
	quoted := "'" + id + "'"
	if short := limits.ID(id); short != id && strings.Contains(text, quoted) && f.by(idShortened) {
		return strings.ReplaceAll(text, quoted, "'"+short+"'")
	}
	return text
}
