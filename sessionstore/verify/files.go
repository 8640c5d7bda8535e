package verify

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// maxDocument is the size of the largest JSON document that is checked.
const maxDocument = 256 << 20

// far is later than every event.
var far = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// logs checks the logs of events, the session's and the capture's.
func (c *check) logs() {
	c.log("events.jsonl", eventslog.Open)
	c.log("context-intelligence/events.jsonl", eventslog.OpenCapture)
}

// log checks one log of events, which open opens.
func (c *check) log(file string, open func(string, *eventslog.Options) (*eventslog.Log, error)) {
	log, err := open(c.dir, nil)
	if err != nil {
		return
	}
	cut, err := log.Cut(c.ctx, io.Discard, far, "", "")
	_ = log.Close() // only read
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.add(Log, file, 0, err)
	case cut.Skipped > 0:
		c.add(Log, file, 0, &LogError{cut.Skipped, cut.Events + cut.Skipped})
	}
}

// backups checks the backups of a sound transcript and sound metadata.
func (c *check) backups() {
	c.lines(Backup, sessiondir.Backup(sessiondir.Transcript))
	c.document(Backup, sessiondir.Backup(sessiondir.Metadata))
}

// states checks the files that other packages and tools keep in the session.
func (c *check) states() {
	for _, name := range []string{"phase_outputs.jsonl", "session_conversation.jsonl", "state_history.jsonl"} {
		c.lines(State, name)
	}
	for _, name := range []string{"state.json", "pending_approvals.json", "session-state.json", "checkpoint.json"} {
		c.document(State, name)
	}
}

// lines adds a finding for the first line of a file that is neither blank nor
// a JSON object.
func (c *check) lines(k Kind, name string) {
	c.open(k, name, func(f io.Reader) (int, error) {
		for in := jsonl.NewReader(f); ; {
			line, err := in.Next()
			if errors.Is(err, io.EOF) || c.over() {
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			if text := pyjson.TrimSpace(line.Bytes); len(text) > 0 {
				if err := object(text); err != nil {
					return line.Number, err
				}
			}
		}
	})
}

// document adds a finding when a file is not one JSON object.
func (c *check) document(k Kind, name string) {
	c.open(k, name, func(f io.Reader) (int, error) {
		text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
		if err != nil {
			return 0, err
		}
		if len(text) > maxDocument {
			return 0, errTooLarge
		}
		return 0, object(text)
	})
}

// object returns the reason why text is no JSON object.
func object(text []byte) error {
	if err := pyjson.Check(text, pyjson.Tolerant); err != nil {
		return err
	}
	if pyjson.KindOf(pyjson.TrimSpace(text)) != pyjson.Object {
		return errNoObject
	}
	return nil
}

// open opens a file, if it is there, and adds the fault that look finds in it.
func (c *check) open(k Kind, name string, look func(io.Reader) (line int, err error)) {
	if c.over() {
		return
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return // the session was removed
	}
	defer root.Close()
	f, _, err := vfs.Open(root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.add(k, name, 0, err)
		return
	}
	defer f.Close()
	if line, err := look(f); err != nil {
		c.add(k, name, line, err)
	}
}
