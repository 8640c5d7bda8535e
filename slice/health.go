package slice

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Healthy reports whether the transcript of session id, as Load reads it, can
// be continued. It is a filter for [sessionstore.Query]. A session that has
// neither a transcript nor a backup of one is neither healthy nor broken. The
// error Is [sessionstore.ErrCorrupt] when a line cannot be read or is no JSON
// object.
func Healthy(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	d, err := diagnoseStored(ctx, st, id)
	return d.Healthy(), err
}

// Broken reports whether the transcript of session id needs repair. It is a
// filter for [sessionstore.Query]. Its errors are those of [Healthy].
func Broken(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	d, err := diagnoseStored(ctx, st, id)
	return d.Status != "" && !d.Healthy(), err
}

// diagnoseStored diagnoses the transcript of session id. It returns the zero
// Diagnosis for a session without a transcript.
func diagnoseStored(ctx context.Context, st *sessionstore.Store, id string) (Diagnosis, error) {
	var rows []sessionstore.Message
	for m, err := range st.Messages(ctx, id) { // a search must not keep every transcript in memory, as Load does
		if err != nil {
			return Diagnosis{}, err
		}
		rows = append(rows, m)
	}
	if len(rows) == 0 {
		missing := (*missingError)(nil)
		if err := hasTranscript(ctx, st, id); errors.As(err, &missing) {
			return Diagnosis{}, nil
		} else if err != nil {
			return Diagnosis{}, err
		}
	}
	if err := onlyObjects(st, id, rows); err != nil {
		return Diagnosis{}, err
	}
	return Diagnose(rows)
}

// errNoObject is the damage of a row that is JSON, but no object.
var errNoObject = errors.New("row is no object")

// onlyObjects returns an error that Is [sessionstore.ErrCorrupt] when one of
// rows, of session id, is no object. Load accepts such rows, as the reference's
// store does; the reference's diagnosis fails on them.
func onlyObjects(st *sessionstore.Store, id string, rows []sessionstore.Message) error {
	for _, m := range rows {
		if !isObject(m) {
			return &sessionstore.CorruptError{Path: filepath.Join(st.Dir(), id, sessiondir.Transcript), Err: errNoObject}
		}
	}
	return nil
}
