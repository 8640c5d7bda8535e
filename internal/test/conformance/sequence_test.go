package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sequenceCase is a row of writes of one session by different writers. Our
// store takes the place of all newer ones.
type sequenceCase struct {
	Before files `json:"files"`
	Steps  []step
	Errors []*failure `json:"step_errors"`
	Loads  []struct {
		Old struct {
			Transcript string `json:"transcript_json"`
			Metadata   string `json:"metadata_json"`
			Error      *failure
		}
		New struct {
			Transcript string `json:"transcript_json"`
			Metadata   string `json:"metadata_json"`
			Error      *strictFailure
		}
	} `json:"loads_after_each"`
	Files files `json:"expected_files"`
}

// step is one write. The writers are old (the older tools' save), new (the
// newer ones' save), inc (the same, appending), rename and update (theirs,
// too), mark (a marker appears) and tear (bytes are added to the transcript).
type step struct {
	Writer   string
	Messages string `json:"messages_json"`
	Metadata string `json:"metadata_json"`
	Name     string
	Bytes    json.RawMessage
}

// stepped is what became of a step, and what all tools read after it.
type stepped struct {
	Failed string
	Old    loaded
	New    newerRead
}

type sequenceOutcome struct {
	Steps []stepped
	Files files
}

func (c sequenceCase) run(t *testing.T) verdict {
	ours, err := c.ours(t)
	v := judge(c.reference(), ours, func(f *fired) sequenceOutcome { return c.predict(t, f) })
	if v.err == nil {
		v.err = err
	}
	return v
}

func (c sequenceCase) reference() sequenceOutcome {
	o := sequenceOutcome{Files: c.Files}
	for i, l := range c.Loads {
		s := stepped{Failed: c.Errors[i].savingOutcome()}
		if c.Steps[i].Writer == "old" {
			s.Failed = c.Errors[i].outcome()
		}
		s.Old = loaded{Transcript: l.Old.Transcript, Metadata: l.Old.Metadata, Failed: l.Old.Error.reading()}
		s.New = newerRead{Transcript: l.New.Transcript, Metadata: l.New.Metadata}
		if e := l.New.Error; e != nil {
			s.New = newerRead{Failed: e.Message, Source: e.Source, Diagnostics: e.Diagnostics}
		}
		o.Steps = append(o.Steps, s)
	}
	return o
}

// ours does the steps. The error says what is wrong with them whatever the
// reference does.
func (c sequenceCase) ours(t *testing.T) (o sequenceOutcome, wrong error) {
	t.Helper()
	p := newPlace(t)
	p.put(t, "s", c.Before)
	st := p.open(t)
	for i, s := range c.Steps {
		before := p.get(t, "s")
		done := stepped{Failed: s.write(t, p, st)}
		o.Files = p.get(t, "s")
		done.Old = newModel(nil, "s", o.Files).loaded()
		done.New = loadNewer(t, st)
		o.Steps = append(o.Steps, done)
		err := s.check(t, done, before, o.Files)
		if err != nil && wrong == nil {
			wrong = fmt.Errorf("after step %d: %w", i, err)
		}
	}
	return o, wrong
}

// check returns what is wrong with a step that turned the files before into
// after.
func (s step) check(t *testing.T, done stepped, before, after files) error {
	t.Helper()
	if want := readNewer(after); !slices.Equal(want.Diagnostics, done.New.Diagnostics) || want.Transcript != done.New.Transcript ||
		want.Metadata != done.New.Metadata || want.Failed != done.New.Failed {
		return difference("LoadStrict", want, done.New)
	}
	if done.Failed != succeeded || s.Writer != "new" && s.Writer != "inc" {
		return nil
	}
	return sound(t, s.Messages, before, after)
}

// loadNewer is our strict reading of the session.
func loadNewer(t *testing.T, st *sessionstore.Store) newerRead {
	t.Helper()
	s, read := loadStrict(t, st, "s")
	if read.Failed != succeeded {
		return newerRead{Failed: read.Failed, Source: read.Source, Diagnostics: read.Diagnostics}
	}
	return newerRead{Transcript: messagesText(t, s.Messages), Metadata: metadataText(t, s.Metadata)}
}

// write does the step on the disk.
func (s step) write(t *testing.T, p place, st *sessionstore.Store) (failed string) {
	t.Helper()
	main := filepath.Join(p.dir, "s", transcriptFile)
	switch s.Writer {
	case "new", "inc":
		return save(t, st, "s", s.Messages, s.Metadata)
	case "old":
		return saveOld(t, filepath.Join(p.dir, "s"), s)
	case "rename":
		_, _, err := st.SetName(t.Context(), "s", sessionstore.Naming{Name: s.Name, Source: "manual"})
		return outcome(err)
	case "update":
		_, failed := update(t, st, "s", s.Metadata)
		return failed
	case "mark":
		p.put(t, "s", files{sessiondir.Marker: markerText})
	case "tear":
		f, err := os.OpenFile(main, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(s.torn(t))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	default:
		t.Fatalf("unknown writer %q", s.Writer)
	}
	return succeeded
}

const markerText = "{\"version\":1}\n"

// torn are the bytes that the step adds to the transcript.
func (s step) torn(t *testing.T) string {
	t.Helper()
	var text string
	if json.Unmarshal(s.Bytes, &text) == nil {
		return text
	}
	var c content
	require.NoError(t, json.Unmarshal(s.Bytes, &c))
	return c.String()
}

// saveOld is a save by the older tools, which honour neither lock nor marker:
// the file is copied over its backup in place, and replaced.
func saveOld(t *testing.T, dir string, s step) (failed string) {
	t.Helper()
	rows, failed := newModel(nil, "s", nil).rows(s.Messages)
	if failed != succeeded {
		return failed
	}
	metadata := render(s.Metadata, pyjson.Style{Indent: 2, Redact: true})
	for _, f := range []struct {
		name, data string
		lone       bool // Python cannot encode it
	}{
		{transcriptFile, lines(rows), hasLone(listText(rows))},
		{metadataFile, metadata, hasLone(metadata)},
	} {
		path := filepath.Join(dir, f.name)
		if old, err := os.ReadFile(path); err == nil {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".backup", old, 0o600))
			require.NoError(t, os.Chtimes(path+".backup", info.ModTime(), info.ModTime()))
		}
		if f.lone {
			return ioError
		}
		temp := filepath.Join(dir, ".transcript_abcd1234.tmp")
		require.NoError(t, os.WriteFile(temp, []byte(f.data), 0o600))
		require.NoError(t, os.Rename(temp, path))
	}
	return succeeded
}
