package archive

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// maxMetadata is the largest metadata file, which is read as a whole.
const maxMetadata = 256 << 20

// metadata returns metadata with the session's id and name. Damaged metadata,
// and those that have both already, come back as they are.
func (l *landing) metadata(r io.Reader) (io.Reader, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxMetadata+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxMetadata {
		return nil, fmt.Errorf("%s is larger than %d MiB", sessiondir.Metadata, maxMetadata>>20)
	}
	md, err := sessionstore.ParseMetadata(text)
	if err != nil {
		return bytes.NewReader(text), nil
	}
	if l.res.Was == "" {
		l.res.Was = md.Text("session_id")
	}
	changed := false
	for _, m := range []struct{ name, value string }{{"session_id", l.res.ID}, {"name", l.opts.Name}} {
		if m.value == "" || md.Text(m.name) == m.value || m.name == "session_id" && l.res.ID == l.res.Was {
			continue
		}
		if err := md.Set(m.name, m.value); err != nil {
			return nil, err
		}
		changed = true
	}
	if changed {
		text = md.AppendTo(nil)
	}
	return bytes.NewReader(text), nil
}

// setMetadata gives a session of lines the metadata of a new one.
func (l *landing) setMetadata(created time.Time, turns int) error {
	dir := l.core.Workspace()
	if dir == "" {
		dir, _ = os.Getwd() // a process without a working directory has none to tell
	}
	md, err := sessionstore.NewMetadata(struct {
		ID      string `json:"session_id"`
		Created string `json:"created"`
		Bundle  string `json:"bundle"`
		Model   string `json:"model"`
		Turns   int    `json:"turn_count"`
		Dir     string `json:"working_dir"`
		Name    string `json:"name,omitempty"`
	}{l.res.ID, created.UTC().Format("2006-01-02T15:04:05.000000+00:00"), "unknown", "unknown", turns, dir, l.opts.Name})
	if err != nil {
		return err
	}
	return l.tx.SetMetadata(md)
}
