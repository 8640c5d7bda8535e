package core_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMakeMakesWholeSessionsOrNone(t *testing.T) {
	t.Parallel()
	var changes []sessionstore.Change
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c) }})
	require.NoError(t, err)
	defer st.Close()
	store := core.Of(st)
	m, err := sessionstore.NewMessage(map[string]string{"role": "user", "content": "hi"})
	require.NoError(t, err)
	md, err := sessionstore.ParseMetadata([]byte(`{"session_id": "a"}`))
	require.NoError(t, err)
	build := func(tx core.Tx) error {
		require.NoError(t, tx.SetTranscript([]sessionstore.Message{m}))
		require.NoError(t, tx.SetMetadata(md))
		require.False(t, st.Exists("a"))
		return nil
	}

	broken := errors.New("broken")
	require.ErrorIs(t, store.Make(t.Context(), "a", func(tx core.Tx) error {
		return errors.Join(build(tx), broken)
	}), broken)
	require.False(t, st.Exists("a"))
	require.Empty(t, changes)

	require.NoError(t, store.Make(t.Context(), "a", build))
	require.ErrorIs(t, store.Make(t.Context(), "a", build), fs.ErrExist)
	s, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []sessionstore.Message{m}, s.Messages)
	require.Len(t, changes, 2)

	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), "empty"), 0o700))
	require.ErrorIs(t, store.Make(t.Context(), "empty", build), fs.ErrExist)
}

func TestChangeChangesSeveralFiles(t *testing.T) {
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

	store := core.Of(st)
	note := func(tx core.Tx) error {
		err := tx.Dir().Replace("note", store.Syncs(), store.Now(), func(w io.Writer) error {
			_, err := io.WriteString(w, "x")
			return err
		})
		tx.Renamed("note")
		return err
	}
	require.ErrorIs(t, store.Change(t.Context(), "none", note), sessionstore.ErrNotFound)
	require.NoError(t, store.ChangeOwned(t.Context(), "a", func(tx core.Tx) error {
		rows, _, err := tx.Transcript()
		require.NoError(t, err)
		require.NoError(t, tx.SetTranscript(append(rows, m)))
		return note(tx)
	}))
	require.Equal(t, []sessionstore.Change{{ID: "a", File: sessiondir.Transcript}, {ID: "a", File: "note"}}, changes)
	require.NoError(t, store.Read(t.Context(), "a", func(d *sessiondir.Dir) error {
		data, _, err := d.Read("note")
		require.Equal(t, "x", string(data))
		return err
	}))
	s, err := st.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, s.Messages, 2)
}

func TestCallsOfAClosedStore(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	do := func(core.Tx) error { return errors.New("called") }
	store := core.Of(st)
	require.ErrorIs(t, store.Make(t.Context(), "a", do), sessionstore.ErrClosed)
	require.ErrorIs(t, store.Change(t.Context(), "a", do), sessionstore.ErrClosed)
	require.ErrorIs(t, store.Read(t.Context(), "a", nil), sessionstore.ErrClosed)
}

func TestRow(t *testing.T) {
	t.Parallel()
	m, err := sessionstore.ParseMessage([]byte("  {\"role\": \"user\"}\t"))
	require.NoError(t, err)
	require.Equal(t, `{"role": "user"}`, string(core.Row(m)))
	require.Nil(t, core.Row(sessionstore.Message{}))
}
