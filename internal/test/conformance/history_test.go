package conformance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// historyCase is one save by the newer tools' store, which our store does in
// its place.
type historyCase struct {
	Before    files       `json:"files"`
	Hardlinks [][2]string // existing name and new name
	Messages  string      `json:"messages_json"`
	Metadata  string      `json:"metadata_json"`
	Options   saveOptions
	Error     *failure
	Files     files `json:"expected_files"`
}

// historyOutcome is what became of a save, and what is there after it.
type historyOutcome struct {
	Failed string
	Files  files
}

// savingOutcome is failure.outcome for saves by the newer tools.
func (f *failure) savingOutcome() string {
	if f == nil {
		return succeeded
	}
	switch f.Type {
	case "ValueError", "TypeError":
		return refused
	case "UnicodeEncodeError":
		return ioError
	}
	return f.newerOutcome()
}

func (c historyCase) run(t *testing.T) verdict {
	before := c.linked()
	reference := historyOutcome{c.Error.savingOutcome(), c.Files}
	p := newPlace(t)
	p.put(t, "sess", c.Before)
	for _, link := range c.Hardlinks {
		dir := filepath.Join(p.dir, "sess")
		require.NoError(t, os.Link(filepath.Join(dir, link[0]), filepath.Join(dir, link[1])))
	}
	ours := historyOutcome{Failed: save(t, p.open(t), "sess", c.Messages, c.Metadata)}
	ours.Files = p.get(t, "sess")
	v := judge(reference, ours, func(f *fired) historyOutcome {
		h := &history{f: f, files: maps.Clone(before), linked: len(c.Hardlinks) > 0}
		failed := h.save(saving{c.Messages, c.Metadata, c.Options})
		return historyOutcome{failed, h.files}
	})
	if v.err == nil && ours.Failed == succeeded {
		v.err = sound(t, c.Messages, before, ours.Files)
	}
	return v
}

// linked are the files before, with the names that are links.
func (c historyCase) linked() files {
	all := maps.Clone(c.Before)
	for _, link := range c.Hardlinks {
		all[link[1]] = all[link[0]]
	}
	return all
}

// sound returns what is wrong with a save of messages that turned the files
// before into after: both generations of tools must read what was saved, and
// nothing that could be read before may be gone. Metadata that only the older
// tools can read stays so, as its members stay.
func sound(t *testing.T, messages string, before, after files) error {
	t.Helper()
	want := stored(t, messages)
	if rows, _, ok := newerRows(after); !ok || listText(rows) != want {
		return difference("the newer tools", want, rows)
	}
	if !validHalf(after, metadataFile) && (validHalf(before, metadataFile) || !isObject(before[metadataFile], pyjson.Tolerant)) {
		return difference("the newer tools", "an object", after[metadataFile])
	}
	if got := newModel(nil, "sess", after).loaded(); got.Transcript != want {
		return difference("the older tools", want, got)
	}
	if gone := lost(before, after); len(gone) > 0 {
		return fmt.Errorf("what was in %v is lost: %w", gone, difference("no loss", before, after))
	}
	return nil
}

// stored are the rows that a save of messages stores.
func stored(t *testing.T, messages string) string {
	t.Helper()
	all, err := newMessages(messages)
	require.NoError(t, err)
	var rows []sessionstore.Message
	for _, m := range all {
		if role := m.Role(); role != "system" && role != "developer" {
			rows = append(rows, m)
		}
	}
	return messagesText(t, rows)
}
