package slice

import (
	"context"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Healthy reports whether the transcript of session id, as Load reads it, can
// be continued. It is a filter for [sessionstore.Query].
func Healthy(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	var rows []sessionstore.Message
	for m, err := range st.Messages(ctx, id) { // a search must not keep every transcript in memory, as Load does
		if err != nil {
			return false, err
		}
		rows = append(rows, m)
	}
	d, err := Diagnose(rows)
	return d.Healthy(), err
}

// Broken reports whether the transcript of session id needs repair. It is a
// filter for [sessionstore.Query].
func Broken(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	healthy, err := Healthy(ctx, st, id)
	return !healthy && err == nil, err
}
