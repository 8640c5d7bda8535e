package conformance

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// strictFailure is an exception of the newer tools, with what it carries.
type strictFailure struct {
	Type, Message, Source string
	Diagnostics           []sessionstore.Diagnostic
}

// strictRead is what one strict read gives: of a half, or of all.
type strictRead struct {
	Value       string // messages or metadata; of all: nothing
	Failed      string // type or text of the exception
	Source      string // of the exception
	Diagnostics []sessionstore.Diagnostic
}

func readOf(value string, found []sessionstore.Diagnostic, e *strictFailure) strictRead {
	switch {
	case e == nil:
		return strictRead{Value: value, Diagnostics: found}
	case e.Type != historyError:
		return strictRead{Failed: e.Type}
	}
	return strictRead{Failed: e.Message, Source: e.Source, Diagnostics: e.Diagnostics}
}

type strictCase struct {
	Files               files
	Dirs                []string
	MessagesJSON        string                    `json:"messages_json"`
	MessagesDiagnostics []sessionstore.Diagnostic `json:"messages_diagnostics"`
	MessagesError       *strictFailure            `json:"messages_error"`
	IndexedJSON         string                    `json:"indexed_json"`
	IndexedDiagnostics  []sessionstore.Diagnostic `json:"indexed_diagnostics"`
	IndexedError        *strictFailure            `json:"indexed_error"`
	MetadataJSON        string                    `json:"metadata_json"`
	MetadataDiagnostics []sessionstore.Diagnostic `json:"metadata_diagnostics"`
	MetadataError       *strictFailure            `json:"metadata_error"`
	LoadDiagnostics     []sessionstore.Diagnostic `json:"load_diagnostics"`
	LoadError           *strictFailure            `json:"load_error"`
	Exists              bool
}

// strictOutcome is what strict reads of one session give.
type strictOutcome struct {
	Messages, Indexed, Metadata, All strictRead
	Exists                           bool
}

func (c strictCase) run(t *testing.T) verdict {
	reference := strictOutcome{
		Messages: readOf(c.MessagesJSON, c.MessagesDiagnostics, c.MessagesError),
		Indexed:  readOf(c.IndexedJSON, c.IndexedDiagnostics, c.IndexedError),
		Metadata: readOf(c.MetadataJSON, c.MetadataDiagnostics, c.MetadataError),
		All:      readOf("", c.LoadDiagnostics, c.LoadError),
		Exists:   c.Exists,
	}
	return judge(reference, c.ours(t), func(f *fired) strictOutcome { return c.predict(t, reference, f) })
}

// ours reads the session, and each half in a session without the other.
func (c strictCase) ours(t *testing.T) strictOutcome {
	t.Helper()
	p := newPlace(t)
	c.put(t, p, "all", "")
	c.put(t, p, "transcript", metadataFile)
	c.put(t, p, "metadata", transcriptFile)
	before := []files{p.get(t, "all"), p.get(t, "transcript"), p.get(t, "metadata")}
	st := p.open(t)
	_, all := loadStrict(t, st, "all")
	s, messages := loadStrict(t, st, "transcript")
	if messages.Failed == succeeded {
		messages.Value = messagesText(t, s.Messages)
	}
	s, metadata := loadStrict(t, st, "metadata")
	if metadata.Failed == succeeded {
		metadata.Value = metadataText(t, s.Metadata)
	}
	require.Equal(t, before, []files{p.get(t, "all"), p.get(t, "transcript"), p.get(t, "metadata")}, "reading wrote")
	return strictOutcome{Messages: messages, Indexed: messages, Metadata: metadata, All: all, Exists: st.Exists("all")}
}

// put makes the session id of the case's files without those of one half.
func (c strictCase) put(t *testing.T, p place, id, without string) {
	t.Helper()
	leave := func(name string) bool { return without != "" && strings.HasPrefix(name, without) }
	with := maps.Clone(c.Files)
	maps.DeleteFunc(with, func(name, _ string) bool { return leave(name) })
	p.put(t, id, with)
	for _, name := range c.Dirs {
		if !leave(name) {
			require.NoError(t, os.Mkdir(filepath.Join(p.dir, id, name), 0o700))
		}
	}
}

func loadStrict(t *testing.T, st *sessionstore.Store, id string) (*sessionstore.Session, strictRead) {
	t.Helper()
	s, found, err := st.LoadStrict(t.Context(), id)
	read := strictRead{Diagnostics: append([]sessionstore.Diagnostic{}, found...)}
	if err != nil {
		require.ErrorIs(t, err, sessionstore.ErrCorrupt)
		var e *sessionstore.StrictError
		require.ErrorAs(t, err, &e)
		read.Failed, read.Source = e.Error(), e.Source
	}
	return s, read
}

// predict is the reference's outcome, changed where a rule says so.
func (c strictCase) predict(t *testing.T, o strictOutcome, f *fired) strictOutcome {
	t.Helper()
	if f != nil && c.otherEncoding() && f.by(otherEncodings) {
		exists := o.Exists
		o = c.spoiled().ours(t)
		o.Exists = exists
	}
	if o.All.Failed == "UnicodeEncodeError" && c.lone() && f.by(surrogatesLoaded) {
		o.All = strictRead{Diagnostics: slices.Concat(o.Messages.Diagnostics, o.Metadata.Diagnostics)}
		o.All.Diagnostics = append([]sessionstore.Diagnostic{}, o.All.Diagnostics...)
	}
	if f != nil && (c.lone() || c.overflows()) && !sameRead(o.Indexed, o.Messages) && f.by(noIndexedReading) {
		o.Indexed = o.Messages
	}
	if !o.Exists && len(c.Files)+len(c.Dirs) == 0 && f.by(existsByDirectory) {
		o.Exists = true
	}
	return o
}

func sameRead(a, b strictRead) bool {
	return a.Value == b.Value && a.Failed == b.Failed && slices.Equal(a.Diagnostics, b.Diagnostics)
}

// otherEncoding reports whether a file of the case is one that Python's
// decoder takes for UTF-16 or UTF-32.
func (c strictCase) otherEncoding() bool { return !maps.Equal(c.Files, c.spoiled().Files) }

// spoiled returns the case with damage in the place of such files.
func (c strictCase) spoiled() strictCase {
	c.Files = maps.Clone(c.Files)
	for name, data := range c.Files {
		if wide(data) {
			c.Files[name] = "damage"
		}
	}
	return c
}

// wide reports whether data begins with the byte order mark of another
// encoding, or as ASCII text in it does.
func wide(data string) bool {
	for _, start := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff", "\x00\x00\x00{"} {
		if strings.HasPrefix(data, start) {
			return true
		}
	}
	return len(data) > 1 && strings.Trim(data, "\x00") != "" && (data[0] == 0) != (data[1] == 0)
}

// lone reports whether the case holds a lone surrogate, as an escape or as
// bytes; overflows, whether it holds a float that is too large.
func (c strictCase) lone() bool {
	return c.holds(func(line string) bool { return isObject(line, pyjson.Strict) && hasLone(line) })
}

func (c strictCase) overflows() bool {
	return c.holds(func(line string) bool { return isObject(line, pyjson.Strict) && !finite(line) })
}

func (c strictCase) holds(is func(line string) bool) bool {
	for _, data := range c.Files {
		if slices.ContainsFunc(strings.Split(data, "\n"), is) {
			return true
		}
	}
	return false
}
