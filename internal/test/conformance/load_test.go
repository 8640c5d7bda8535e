package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// loadCase loads a session whose files are as they are.
type loadCase struct {
	Files      files
	Dirs       []string
	Transcript string `json:"transcript_json"`
	Metadata   string `json:"metadata_json"`
	Error      *failure
}

// loaded is a session as it was read. That Load fails with what could be read
// is Damaged; when it cannot read at all it Failed.
type loaded struct {
	Transcript, Metadata, Failed string
	Damaged                      bool
}

func (c loadCase) run(t *testing.T) verdict {
	reference := loaded{Transcript: c.Transcript, Metadata: c.Metadata, Failed: c.Error.reading()}
	p := newPlace(t)
	p.put(t, "sess", c.Files)
	for _, name := range c.Dirs {
		require.NoError(t, os.Mkdir(filepath.Join(p.dir, "sess", name), 0o700))
	}
	before := p.get(t, "sess")
	ours, recovered := load(t, p.open(t))
	v := judge(reference, ours, func(f *fired) loaded { return c.predict(f).loaded() })
	m := c.predict(&fired{})
	m.loaded()
	if v.err == nil && recovered != m.recovered {
		v.err = difference("the word on recovery", m.recovered, recovered)
	}
	require.Equal(t, before, p.get(t, "sess"), "Load wrote")
	return v
}

func (c loadCase) predict(f *fired) *model {
	m := newModel(f, "sess", c.Files)
	m.dirs = c.Dirs
	return m
}

func load(t *testing.T, st *sessionstore.Store) (l loaded, recovered bool) {
	t.Helper()
	s, err := st.Load(t.Context(), "sess")
	if s == nil {
		return loaded{Failed: outcome(err)}, false
	}
	if err != nil {
		require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	}
	l = loaded{Transcript: messagesText(t, s.Messages), Metadata: metadataText(t, s.Metadata), Damaged: err != nil}
	return l, s.Recovered != nil
}

// loaded is the load of the model.
func (m *model) loaded() loaded {
	rows, failed := m.readTranscript()
	if failed != succeeded {
		return loaded{Failed: unreadable}
	}
	md, failed := m.readMetadata()
	if failed != succeeded {
		return loaded{Failed: unreadable}
	}
	return loaded{
		Transcript: render("["+strings.Join(rows, ",")+"]", pyjson.Style{ASCII: true}),
		Metadata:   render(md, pyjson.Style{ASCII: true}),
		Damaged:    m.damaged,
	}
}

// linesCase reads a file of lines: leaving out what is no JSON, and giving the
// number of every line or that of the first that is no JSON object.
type linesCase struct {
	Data        content
	Rows        string   `json:"read_jsonl_json"`
	RowsError   *failure `json:"read_jsonl_error"`
	Numbered    string   `json:"with_lines_json"`
	NumberError *failure `json:"with_lines_error"`
}

type readLines struct {
	Rows, RowsFailed         string
	Numbered, NumberedFailed string
	Damaged                  bool
}

func (c linesCase) run(t *testing.T) verdict {
	reference := readLines{
		Rows: c.Rows, RowsFailed: c.RowsError.reading(),
		Numbered: c.Numbered, NumberedFailed: c.numberFailure(),
	}
	p := newPlace(t)
	p.put(t, "sess", files{transcriptFile: c.Data.String()})
	l, _ := load(t, p.open(t))
	ours := readLines{Rows: l.Transcript, RowsFailed: l.Failed, Damaged: l.Damaged}
	ours.Numbered, ours.NumberedFailed = numbered(t, c.Data.String())
	if reference.NumberedFailed == unreadable && strings.HasPrefix(ours.NumberedFailed, unreadable) {
		ours.NumberedFailed = unreadable // the reference does not say where
	}
	return judge(reference, ours, func(f *fired) readLines {
		m := newModel(f, "sess", files{transcriptFile: c.Data.String()})
		rows, flaws := m.parseAll(transcriptFile)
		r := readLines{
			Rows:     render("["+strings.Join(rows, ",")+"]", pyjson.Style{ASCII: true}),
			Numbered: reference.Numbered, NumberedFailed: reference.NumberedFailed,
		}
		if (slices.Contains(flaws, worse) || slices.Contains(flaws, undecodable)) && !f.by(recoversFurther) {
			r.Rows, r.RowsFailed = "", unreadable
		}
		r.Damaged = len(flaws) > 0 && f.by(damageReported)
		return r
	})
}

// numberFailure is why lines are not numbered: with the line, where the
// reference's own words tell it.
func (c linesCase) numberFailure() string {
	if c.NumberError == nil {
		return succeeded
	}
	if line, ok := strings.CutPrefix(c.NumberError.Message, "Malformed JSON at line "); ok {
		number, _, _ := strings.Cut(line, ":")
		return unreadable + " line " + number
	}
	if c.NumberError.Type == "TypeError" {
		return refused
	}
	return unreadable
}

// numbered returns the rows of a file with their line numbers. The store does
// not give these; its parts do.
func numbered(t *testing.T, data string) (rows, failed string) {
	t.Helper()
	var all []string
	number := 0
	for line := range jsonl.Lines([]byte(data)) {
		line.Bytes = bytes.TrimSuffix(line.Bytes, []byte("\r"))
		for part := range jsonl.SplitCR(line) {
			number++
			value := pyjson.TrimSpace(part.Bytes)
			if len(value) == 0 {
				continue
			}
			at := strconv.Itoa(number)
			switch flawOf(pyjson.Check(value, pyjson.Tolerant)) {
			case none:
			case syntax:
				return "", unreadable + " line " + at
			default:
				return "", unreadable
			}
			if pyjson.KindOf(value) != pyjson.Object {
				return "", refused
			}
			all = append(all, string(pyjson.Splice(value, "line_num", []byte(at))))
		}
	}
	return ascii(t, []byte("["+strings.Join(all, ",")+"]")), succeeded
}
