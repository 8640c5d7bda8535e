package sessionstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestEmptiedStaysEmpty rewinds to nothing what was appended to before: the
// backup must not be taken for an append that lost its name.
func TestEmptiedStaysEmpty(t *testing.T) {
	t.Parallel()
	for name, first := range durabilities {
		for after, second := range durabilities {
			t.Run(name+" then "+after, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				st := open(t, dir, &sessionstore.Options{Durability: first})
				for range 4 {
					require.NoError(t, st.Append(t.Context(), "s-x_sub", parse(t, user("x"))...))
				}
				_, err := st.UpdateMetadata(t.Context(), "s-x_sub", func(md *sessionstore.Metadata) error { return md.Set("turn_count", 4) })
				require.NoError(t, err)
				other := open(t, dir, &sessionstore.Options{Durability: second})
				require.NoError(t, other.Save(t.Context(), "s-x_sub", nil, sessionstore.Metadata{}))
				for _, st := range []*sessionstore.Store{st, other, open(t, dir, nil)} {
					s, err := st.Load(t.Context(), "s-x_sub")
					require.NoError(t, err)
					require.Empty(t, s.Messages)
					require.Nil(t, s.Recovered)
				}
			})
		}
	}
}
