package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// transcriptCase is what is done with a transcript that may be broken.
type transcriptCase struct {
	Transcript content
	Expected   *string  `json:"expected_json"`
	File       *content `json:"expected_file"`
	WriteError *failure `json:"write_error"`
	FileAfter  *content `json:"file_after_error"`
	Status     string   `json:"status_after"`
	Error      *failure
}

type (
	diagnoseCase struct{ transcriptCase }
	repairCase   struct{ transcriptCase }
	rewindCase   struct{ transcriptCase }
)

// treated is what became of a transcript.
type treated struct {
	Failed    string
	Diagnosis string
	Rows      []string // written by Python
	File      string
	Status    string
}

// rowsOf returns the lines of a transcript and their numbers, or the text of
// the error on the first that is no message.
func (c transcriptCase) rowsOf() (rows [][]byte, lines []int, failed string) {
	for i, line := range bytes.Split([]byte(c.Transcript.String()), []byte{'\n'}) {
		if len(pyjson.TrimSpace(line)) == 0 {
			continue
		}
		if _, err := sessionstore.ParseMessage(line); err != nil {
			return nil, nil, fmt.Sprintf("Malformed JSON at line %d", i+1)
		}
		rows, lines = append(rows, pyjson.TrimSpace(line)), append(lines, i+1)
	}
	return rows, lines, succeeded
}

func (c transcriptCase) read(t *testing.T) []sessionstore.Message {
	t.Helper()
	var msgs []sessionstore.Message
	rows, _, _ := c.rowsOf()
	for _, row := range rows {
		m, err := sessionstore.ParseMessage(row)
		require.NoError(t, err)
		msgs = append(msgs, m)
	}
	return msgs
}

func (c transcriptCase) reference() treated {
	o := treated{Failed: c.Error.slicing(), Status: c.Status}
	if _, _, failed := c.rowsOf(); failed != "" && o.Failed != "" {
		o.Failed = failed // the rest is in words of Python's
	}
	if c.File != nil {
		o.File = c.File.String()
	}
	if c.WriteError != nil {
		o.Failed = raised
		if c.FileAfter != nil {
			o.File = c.FileAfter.String()
		}
	}
	return o
}

func (c diagnoseCase) run(t *testing.T) verdict {
	reference := c.reference()
	if c.Expected != nil {
		reference.Diagnosis = *c.Expected
	}
	_, lines, failed := c.rowsOf()
	ours := treated{Failed: failed}
	if failed == "" {
		d, err := slice.Diagnose(c.read(t))
		require.NoError(t, err)
		ours.Diagnosis = ascii(t, []byte(asJSON(t, d, lines)))
	}
	return judge(reference, ours, func(f *fired) treated {
		raw, failed := c.canonical()
		if failed != "" || raises(f, reference.Failed, raw) {
			return treated{Failed: reference.Failed}
		}
		return treated{Diagnosis: diagnosis(view{f, true}.all(raw)).text(lines)}
	})
}

// asJSON is a diagnosis as the reference writes it: encoding/json knows no lone
// surrogates.
func asJSON(t *testing.T, d slice.Diagnosis, lines []int) string {
	t.Helper()
	for i := range d.Incomplete {
		d.Incomplete[i].AfterLine = lines[d.Incomplete[i].AfterIndex]
	}
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	quoted := func(ids []string) string {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = text(id)
		}
		return listOf(list)
	}
	return parseObject(string(raw)).with("orphaned_tool_ids", quoted(d.Orphaned)).with("misplaced_tool_ids", quoted(d.Misplaced)).String()
}

// canonical are the rows as the vectors write them.
func (c transcriptCase) canonical() (raw []string, failed string) {
	rows, _, failed := c.rowsOf()
	for _, row := range rows {
		raw = append(raw, render(string(row), pyjson.Style{ASCII: true}))
	}
	return raw, failed
}

// predict is the model of a change.
func (c transcriptCase) predict(f *fired, reference treated, change func(raw []string, v view) (list []string, healthy bool)) treated {
	raw, failed := c.canonical()
	if failed != "" || raises(f, reference.Failed, raw) {
		return treated{Failed: reference.Failed}
	}
	rows, _, _ := c.rowsOf()
	original := map[string][]string{}
	for i := range raw {
		bare := render(slices.DeleteFunc(parseObject(raw[i]), func(m member) bool { return m.name == "line_num" }).String(), pyjson.Style{ASCII: true})
		if render(bare, pyjson.Style{}) == string(rows[i]) || !f.by(rowsKept) {
			raw[i] = bare
		}
		original[raw[i]] = append(original[raw[i]], string(rows[i]))
	}
	list, healthy := change(raw, view{f, true})
	o := treated{Rows: texts(list), Status: "broken"}
	if healthy {
		o.Status = "healthy"
	}
	for i, row := range list {
		o.Rows[i] = render(row, pyjson.Style{ASCII: true})
		line := render(row, pyjson.Style{})
		if same := original[o.Rows[i]]; len(same) > 0 && slices.Contains(f.all(), rowsKept) {
			line, original[o.Rows[i]] = same[0], same[1:]
		}
		if hasLone(line) && o.Failed == "" && !f.by(surrogateKept) {
			o.Failed = raised
		}
		if o.Failed == "" {
			o.File += line + "\n"
		}
	}
	if o.Failed != "" {
		o.Status = reference.Status // of what could not be written there is none
	}
	return o
}

// fileOf is the file of the messages. A row that was edited stands in it as
// Python would write it: that the rest of such a row keeps its bytes too is for
// the tests of package slice.
func (c transcriptCase) fileOf(msgs []sessionstore.Message) string {
	rows, _, _ := c.rowsOf()
	var file strings.Builder
	for _, m := range msgs {
		line := string(m.AppendTo(nil))
		if !slices.ContainsFunc(rows, func(row []byte) bool { return string(row) == line }) {
			line = render(line, pyjson.Style{})
		}
		file.WriteString(line + "\n")
	}
	return file.String()
}

// change runs one of the functions that change a transcript.
func (c transcriptCase) change(t *testing.T, do func([]sessionstore.Message, slice.Diagnosis) ([]sessionstore.Message, error)) (o treated) {
	t.Helper()
	if _, _, o.Failed = c.rowsOf(); o.Failed != "" {
		return o
	}
	msgs := c.read(t)
	d, err := slice.Diagnose(msgs)
	require.NoError(t, err)
	msgs, err = do(msgs, d)
	require.NoError(t, err)
	o.Rows = texts(elements(messagesText(t, msgs)))
	o.File = c.fileOf(msgs)
	d, err = slice.Diagnose(msgs)
	require.NoError(t, err)
	require.True(t, d.Healthy())
	o.Status = d.Status
	return o
}
