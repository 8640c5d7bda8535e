package slice

import (
	"context"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Healthy reports whether the transcript of session id, as Load reads it, can
// be continued. It is a filter for [sessionstore.Query].
func Healthy(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	s, err := st.Load(ctx, id)
	if err != nil {
		return false, err
	}
	d, err := Diagnose(s.Messages)
	return d.Healthy(), err
}

// Broken reports whether the transcript of session id needs repair. It is a
// filter for [sessionstore.Query].
func Broken(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
	healthy, err := Healthy(ctx, st, id)
	return !healthy && err == nil, err
}
