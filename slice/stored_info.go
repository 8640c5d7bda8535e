package slice

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Info tells what a stored session is and whether it can be continued.
// Members of its metadata that are no text are empty.
type Info struct {
	SessionID string   `json:"session_id"` // of the metadata; the directory's name when they have none
	Path      string   `json:"path"`
	Project   string   `json:"project"` // the directory of the sessions directory
	Created   string   `json:"created"`
	Bundle    string   `json:"bundle"`
	Model     string   `json:"model"`
	Turns     int      `json:"turn_count"` // of the transcript
	Status    string   `json:"status"`
	Modes     []string `json:"failure_modes"`
}

// Inspect tells what session id is. A transcript with a line that cannot be
// read is refused, also where its backup is good, and so are metadata that are
// damaged or missing: the errors are [sessionstore.ErrCorrupt] and
// [sessionstore.ErrNotFound].
func Inspect(ctx context.Context, st *sessionstore.Store, id string) (Info, error) {
	s, err := st.Load(ctx, id)
	if err != nil {
		return Info{}, err
	}
	if r := s.Recovered; r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return Info{}, r.Reason
	}
	if err := hasFiles(ctx, st, id); err != nil {
		return Info{}, err
	}
	d, err := Diagnose(s.Messages)
	if err != nil {
		return Info{}, err
	}
	md := s.Metadata
	info := Info{
		SessionID: id, Path: filepath.Join(st.Dir(), id), Project: filepath.Base(filepath.Dir(st.Dir())),
		Created: md.Text("created"), Bundle: md.Text("bundle"), Model: md.Text("model"),
		Turns: CountTurns(s.Messages), Status: d.Status, Modes: d.Modes,
	}
	if _, ok := md.Lookup("session_id"); ok {
		info.SessionID = md.Text("session_id")
	}
	return info, nil
}

// hasFiles tells that a session has no metadata or no transcript.
func hasFiles(ctx context.Context, st *sessionstore.Store, id string) error {
	return st.Inside().Read(ctx, id, func(d *sessiondir.Dir) error {
		for _, name := range []string{sessiondir.Metadata, sessiondir.Transcript} {
			if _, err := d.Stat(name); errors.Is(err, fs.ErrNotExist) {
				return &fs.PathError{Op: "inspect", Path: d.Path(name), Err: fs.ErrNotExist}
			}
		}
		return nil
	})
}
