package slice

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Info tells what a stored session is and whether it can be continued. A member
// of its metadata that is no string is "" here.
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

// Inspect tells what session id is. The error Is [sessionstore.ErrCorrupt] when
// the metadata are damaged, or when a line of the transcript cannot be read or is
// no JSON object, even if a backup is good. It Is [fs.ErrNotExist] when the
// session has no metadata or no transcript, and [sessionstore.ErrNotFound] when
// there is no such session.
func Inspect(ctx context.Context, st *sessionstore.Store, id string) (Info, error) {
	s, err := st.Load(ctx, id)
	if err != nil && s != nil {
		if _, damaged := st.Metadata(ctx, id); damaged == nil { // then it is of the transcript, which may be missing
			err = cmp.Or(hasFiles(ctx, st, id), err)
		}
	}
	if err != nil {
		return Info{}, err
	}
	if r := s.Recovered; r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return Info{}, r.Reason
	}
	if err := hasFiles(ctx, st, id); err != nil {
		return Info{}, err
	}
	if err := onlyObjects(st, id, s.Messages); err != nil {
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

// hasFiles returns an error if a session has no metadata or no transcript.
func hasFiles(ctx context.Context, st *sessionstore.Store, id string) error {
	return core.Of(st).Read(ctx, id, func(d *sessiondir.Dir) error {
		for _, name := range []string{sessiondir.Metadata, sessiondir.Transcript} {
			if _, err := d.Stat(name); errors.Is(err, fs.ErrNotExist) {
				return &fs.PathError{Op: "inspect", Path: d.Path(name), Err: fs.ErrNotExist}
			}
		}
		return nil
	})
}
