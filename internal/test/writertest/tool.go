package writertest

import (
	"strings"
	"time"
)

// Names of the files of a session.
const (
	Transcript       = "transcript.jsonl"
	TranscriptBackup = Transcript + ".backup"
	Metadata         = "metadata.json"
)

// A Tool loads and saves a session without knowing of the store.
type Tool interface {
	// Load returns the rows of the transcript; the rows of its backup when the transcript
	// is missing or torn; and none when both are.
	Load() (Loaded, error)
	// Save makes content the file name, [Transcript] or [Metadata]. It returns
	// the time just before it renamed.
	Save(name, content string) (renamed time.Time, err error)
}

// Loaded is the result of a load.
type Loaded struct {
	Rows []string // lines, without their ends
	Main State    // of the transcript itself; the rows are the backup's when it is not Whole
}

// State is the condition in which a reader met a transcript.
type State uint8

const (
	Whole   State = iota // each line is JSON; there may be none
	Missing              // there is no file
	Torn                 // a line is not JSON
)

// Content returns the transcript that holds rows.
func Content(rows []string) string {
	content := strings.Builder{}
	for _, row := range rows {
		content.WriteString(row + "\n")
	}
	return content.String()
}
