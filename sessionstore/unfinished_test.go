package sessionstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// A power cut brings the names back that an append had swapped, as DataSynced
// allows. Every call finds the acknowledged lines, and every one that writes
// gives them their name back.
func TestUnfinishedAppend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(t *testing.T, st *Store) error
		want []string
	}{
		{"load", func(t *testing.T, st *Store) error { return nil }, []string{"1", "2", "3"}},
		{"append", func(t *testing.T, st *Store) error { return st.Append(t.Context(), "s", say(t, "4")) }, []string{"1", "2", "3", "4"}},
		{"save of what was loaded", func(t *testing.T, st *Store) error {
			s, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			return st.Save(t.Context(), "s", append(s.Messages, say(t, "4")), s.Metadata)
		}, []string{"1", "2", "3", "4"}},
		{"replace", func(t *testing.T, st *Store) error {
			revision, err := st.Revision(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, 3, revision.Messages)
			_, err = st.Replace(t.Context(), "s", revision, []Message{say(t, "4")})
			return err
		}, []string{"4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			st, err := open(dir, &Options{Durability: DataSynced}, nil)
			require.NoError(t, err)
			require.NoError(t, st.Append(t.Context(), "s", say(t, "1")))
			require.NoError(t, st.Append(t.Context(), "s", say(t, "2")))
			time.Sleep(300 * time.Millisecond) // sooner, the append syncs the names
			require.NoError(t, st.Append(t.Context(), "s", say(t, "3")))
			session, err := st.openDir("s")
			require.NoError(t, err)
			require.NoError(t, session.Exchange(sessiondir.Transcript, sessiondir.Backup(sessiondir.Transcript)))
			require.NoError(t, session.Close())
			require.NoError(t, st.Close())

			st, err = open(dir, nil, nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, st.Close()) })
			require.NoError(t, tt.do(t, st))
			s, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, said(t, tt.want...), string(lines(s.Messages)))
			require.Equal(t, tt.name == "load", s.Recovered != nil)
		})
	}
}
