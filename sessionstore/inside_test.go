package sessionstore_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestInsideMakesWholeSessionsOrNone(t *testing.T) {
	t.Parallel()
	var changes []sessionstore.Change
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c) }})
	require.NoError(t, err)
	defer st.Close()
	in := st.Inside()
	m, err := sessionstore.NewMessage(map[string]string{"role": "user", "content": "hi"})
	require.NoError(t, err)
	md, err := sessionstore.ParseMetadata([]byte(`{"session_id": "a"}`))
	require.NoError(t, err)
	build := func(k *sessionstore.Work) error {
		require.NoError(t, k.SetTranscript([]sessionstore.Message{m}))
		require.NoError(t, k.SetMetadata(md))
		require.False(t, st.Exists("a"))
		return nil
	}

	broken := errors.New("broken")
	require.ErrorIs(t, in.Make(t.Context(), "a", func(k *sessionstore.Work) error {
		return errors.Join(build(k), broken)
	}), broken)
	require.False(t, st.Exists("a"))
	require.Empty(t, changes)

	require.NoError(t, in.Make(t.Context(), "a", build))
	require.ErrorIs(t, in.Make(t.Context(), "a", build), fs.ErrExist)
	s, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []sessionstore.Message{m}, s.Messages)
	require.Len(t, changes, 2)

	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), "empty"), 0o700))
	require.ErrorIs(t, in.Make(t.Context(), "empty", build), fs.ErrExist)
}

func TestInsideChangesSeveralFiles(t *testing.T) {
	t.Parallel()
	var changes []sessionstore.Change
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c) }})
	require.NoError(t, err)
	defer st.Close()
	m, err := sessionstore.Text("user", "hi", time.Unix(0, 0))
	require.NoError(t, err)
	err = st.Append(t.Context(), "a", m)
	require.NoError(t, err)
	changes = nil

	in := st.Inside()
	note := func(k *sessionstore.Work) error {
		err := k.Dir().Replace("note", in.Sync(), in.Now(), func(w io.Writer) error {
			_, err := io.WriteString(w, "x")
			return err
		})
		k.Renamed("note")
		return err
	}
	require.ErrorIs(t, in.Change(t.Context(), "none", note), sessionstore.ErrNotFound)
	require.NoError(t, in.ChangeOwned(t.Context(), "a", func(k *sessionstore.Work) error {
		rows, _, err := k.Transcript()
		require.NoError(t, err)
		require.NoError(t, k.SetTranscript(append(rows, m)))
		return note(k)
	}))
	require.Equal(t, []sessionstore.Change{{ID: "a", File: sessiondir.Transcript}, {ID: "a", File: "note"}}, changes)
	require.NoError(t, in.Read(t.Context(), "a", func(d *sessiondir.Dir) error {
		data, _, err := d.Read("note")
		require.Equal(t, "x", string(data))
		return err
	}))
	s, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, s.Messages, 2)
}

func TestInsideOfAClosedStore(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	do := func(*sessionstore.Work) error { return errors.New("called") }
	in := st.Inside()
	require.ErrorIs(t, in.Make(t.Context(), "a", do), sessionstore.ErrClosed)
	require.ErrorIs(t, in.Change(t.Context(), "a", do), sessionstore.ErrClosed)
	require.ErrorIs(t, in.Read(t.Context(), "a", nil), sessionstore.ErrClosed)
}
