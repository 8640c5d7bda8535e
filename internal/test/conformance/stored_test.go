package conformance

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// malformed is what the strict reader says of a line, as far as the words are
// the reference's own.
const malformed = "Malformed JSON at line "

var malformedAt = regexp.MustCompile(`^` + malformed + `\d+`)

// line is reading for what reads a transcript strictly.
func (f *failure) line() string {
	if f != nil && malformedAt.MatchString(f.Message) {
		return malformedAt.FindString(f.Message)
	}
	return f.reading()
}

// lineOutcome is the same of our errors. The reference decodes a file before
// it looks at lines.
func lineOutcome(err error) string {
	corrupt, bad := (*sessionstore.CorruptError)(nil), (*pyjson.Error)(nil)
	decoded := errors.As(err, &bad) && bad.Reason == pyjson.Syntax
	if errors.As(err, &corrupt) && corrupt.Line > 0 && decoded {
		return malformed + strconv.Itoa(corrupt.Line)
	}
	return outcome(err)
}

// rewindByTime is the rule about the events of what is rewound.
const rewindByTime rule = "rewind-by-time"

func storedRules() []rule { return []rule{infoText, rewindByTime} }
