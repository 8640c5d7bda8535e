package slice

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// hasTranscript returns a missingError if the session has neither a transcript
// nor a backup of one.
func hasTranscript(ctx context.Context, st *sessionstore.Store, id string) error {
	return core.Of(st).Read(ctx, id, func(d *sessiondir.Dir) error {
		for _, name := range []string{sessiondir.Transcript, sessiondir.Backup(sessiondir.Transcript)} {
			if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
		return &missingError{filepath.Dir(d.Path(sessiondir.Transcript))}
	})
}

// missingError tells, in the reference's words, that a session has no
// transcript. It Is [fs.ErrNotExist].
type missingError struct{ dir string }

func (e *missingError) Error() string {
	return e.short() + ". This doesn't appear to be a valid session directory."
}

// short is what the reference says when it previews.
func (e *missingError) short() string { return "No " + sessiondir.Transcript + " in " + e.dir }

func (e *missingError) Unwrap() error { return fs.ErrNotExist }
