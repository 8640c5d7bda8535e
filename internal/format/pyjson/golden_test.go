package pyjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// readGolden reads the vectors that were recorded from the reference.
func readGolden[T any](t *testing.T, name string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "golden", name))
	require.NoError(t, err)
	var cases []T
	require.NoError(t, json.Unmarshal(b, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// content is the content of a file in the vectors.
type content struct {
	Text string
	B64  []byte
}

func (c content) bytes() []byte {
	if c.B64 != nil {
		return c.B64
	}
	return []byte(c.Text)
}

type failure struct{ Type, Message string }

// reasons are the exceptions of the reference that say why a text is refused.
var reasons = map[string]pyjson.Reason{
	"UnicodeDecodeError": pyjson.BadUTF8,
	"ValueError":         pyjson.LongInteger,
	"RecursionError":     pyjson.TooDeep,
	"AttributeError":     pyjson.NotObject,
}

func requireReason(t *testing.T, want pyjson.Reason, err error) {
	t.Helper()
	var e *pyjson.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Reason, e.Error())
}

func TestGoldenMessages(t *testing.T) {
	t.Parallel()
	for _, c := range readGolden[struct {
		Name    string
		Input   string `json:"input_json"`
		Skipped bool
		Line    content
		Error   *failure
	}](t, "serialise_message.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got, err := pyjson.AppendMessage(nil, []byte(c.Input), pyjson.Style{})
			switch {
			case c.Skipped: // for its role, which AppendMessage does not look at
				require.NoError(t, err)
				require.Regexp(t, `"role": "(system|developer)"`, string(got))
			case c.Error == nil:
				require.NoError(t, err)
				require.Equal(t, string(c.Line.bytes()), string(got))
			case c.Error.Type == "OSError": // a lone surrogate, which has no UTF-8
				require.NoError(t, err)
				require.Regexp(t, `\\ud[89a-f]`, string(got))
			default:
				requireReason(t, reasons[c.Error.Type], err)
			}
		})
	}
}

func TestGoldenRedaction(t *testing.T) {
	t.Parallel()
	for _, c := range readGolden[struct {
		Name     string
		Input    string `json:"input_json"`
		Expected string `json:"expected_json"`
	}](t, "redact.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got, err := pyjson.Append(nil, []byte(c.Input), pyjson.Style{Redact: true, ASCII: true})
			require.NoError(t, err)
			require.Equal(t, c.Expected, string(got))
		})
	}
}

// TestGoldenLoading reads files as the reference does: what cannot be read is read from the backup.
func TestGoldenLoading(t *testing.T) {
	t.Parallel()
	recovered := regexp.MustCompile(`"recovered": true`)
	for _, c := range readGolden[struct {
		Name       string
		Files      map[string]content
		Dirs       []string
		Transcript string `json:"transcript_json"`
		Metadata   string `json:"metadata_json"`
		Error      *failure
	}](t, "load_recovery.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			transcript, err := load(c.Files, "transcript.jsonl", transcriptJSON)
			metadata, metaErr := load(c.Files, "metadata.json", metadataJSON)
			if c.Error != nil && len(c.Files) > 0 {
				requireReason(t, reasons[c.Error.Type], errors.Join(err, metaErr))
				return
			}
			if c.Error != nil || len(c.Dirs) > 0 {
				return // about directories, not about text
			}
			if transcript == nil {
				transcript = []byte("[]")
			}
			require.Equal(t, c.Transcript, string(transcript))
			if metadata != nil && !recovered.MatchString(c.Metadata) {
				require.Equal(t, c.Metadata, string(metadata))
			}
		})
	}
}

// load reads the file or else its backup. The error is of the file, unless it was a matter of syntax, which makes the
// reference turn to the backup.
func load(files map[string]content, name string, read func([]byte) ([]byte, error)) ([]byte, error) {
	for _, name := range []string{name, name + ".backup"} {
		file, ok := files[name]
		if !ok {
			continue
		}
		out, err := read(file.bytes())
		var e *pyjson.Error
		if errors.As(err, &e) && e.Reason == pyjson.Syntax {
			continue
		}
		return out, err
	}
	return nil, nil
}

func metadataJSON(b []byte) ([]byte, error) {
	if err := pyjson.Check(b, pyjson.Tolerant); err != nil {
		return nil, err
	}
	return pyjson.Append(nil, b, pyjson.Style{ASCII: true})
}

func transcriptJSON(b []byte) ([]byte, error) {
	b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	var rows [][]byte
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if line = pyjson.TrimSpace(line); len(line) == 0 {
			continue
		}
		row, err := metadataJSON(line)
		if err != nil {
			return nil, firstError(pyjson.Check(b, pyjson.Tolerant), err)
		}
		rows = append(rows, row)
	}
	return append(append([]byte("["), bytes.Join(rows, []byte(", "))...), ']'), nil
}

// firstError returns whole if it is about UTF-8, as the reference decodes a file before it reads lines, else line.
func firstError(whole, line error) error {
	var e *pyjson.Error
	if errors.As(whole, &e) && e.Reason == pyjson.BadUTF8 {
		return whole
	}
	return line
}
