package sessionstore

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// An act is a call that changes the session. n tells it from the acts before.
type act struct {
	name string
	do   func(t *testing.T, st *Store, n int) error
}

func create() act {
	return act{"create", func(t *testing.T, st *Store, n int) error {
		md := Metadata{}
		require.NoError(t, md.Set("made", n))
		return st.Create(t.Context(), victim, md)
	}}
}

// add appends so many messages of about so many bytes.
func add(rows, size int) act {
	return act{fmt.Sprintf("append %d×%d", rows, size), func(t *testing.T, st *Store, n int) error {
		return st.Append(t.Context(), victim, rowsOf(rows, size, n)...)
	}}
}

// save saves what there is and more messages, with other metadata.
func save(more int) act {
	return act{fmt.Sprintf("save +%d", more), func(t *testing.T, st *Store, n int) error {
		s, err := st.Load(t.Context(), victim)
		if err != nil {
			s = &Session{}
		}
		md := Metadata{}
		require.NoError(t, md.Set("turn_count", n))
		return st.Save(t.Context(), victim, append(s.Messages, rowsOf(more, 40, n)...), md)
	}}
}

// rewind saves the first messages only, and one that was not there.
func rewind(keep int) act {
	return act{fmt.Sprintf("rewind to %d", keep), func(t *testing.T, st *Store, n int) error {
		s, err := st.Load(t.Context(), victim)
		require.NoError(t, err)
		return st.Save(t.Context(), victim, s.Messages[:min(keep, len(s.Messages))], s.Metadata)
	}}
}

func replace(keep int) act {
	return act{fmt.Sprintf("replace after %d", keep), func(t *testing.T, st *Store, n int) error {
		s, err := st.Load(t.Context(), victim)
		require.NoError(t, err)
		rows := append(s.Messages[:min(keep, len(s.Messages))], row(40, n))
		_, err = st.Replace(t.Context(), victim, s.Revision, rows)
		return err
	}}
}

func update() act {
	return act{"update metadata", func(t *testing.T, st *Store, n int) error {
		_, err := st.UpdateMetadata(t.Context(), victim, func(md *Metadata) error { return md.Set("updated", n) })
		return err
	}}
}

func setName() act {
	return act{"set name", func(t *testing.T, st *Store, n int) error {
		_, _, err := st.SetName(t.Context(), victim, Naming{Name: fmt.Sprint("name ", n), Source: manualName})
		return err
	}}
}

func config() act {
	return act{"save config", func(t *testing.T, st *Store, n int) error {
		md := Metadata{}
		require.NoError(t, md.Set("config", n))
		return st.SaveConfig(t.Context(), victim, md)
	}}
}

func remove() act {
	return act{"delete", func(t *testing.T, st *Store, n int) error { return st.Delete(t.Context(), victim) }}
}

// damage tears the end of the transcript, as another tool's append that was
// killed. What the backup lacks of the transcript is whole.
func damage() act {
	return act{"damage", func(t *testing.T, st *Store, _ int) error {
		dir, err := st.openDir(victim)
		require.NoError(t, err)
		at, err := dir.Stat(sessiondir.Transcript)
		require.NoError(t, err)
		file, err := dir.Edit(sessiondir.Transcript)
		require.NoError(t, err)
		require.NoError(t, file.WriteAt([]byte(`{"role": "us`), at.Size))
		require.NoError(t, file.Sync())
		require.NoError(t, file.Close())
		return dir.Close()
	}}
}

// salvage brings back what the damaged file holds beyond the backup.
func salvage() act {
	return act{"salvage", func(t *testing.T, st *Store, _ int) error {
		report, err := st.Salvage(t.Context(), victim)
		if err == nil {
			require.NotZero(t, report.Rows)
		}
		return err
	}}
}

// again saves what a load returns, as a program that knows of no damage.
func again() act {
	return act{"save again", func(t *testing.T, st *Store, _ int) error {
		s, err := st.Load(t.Context(), victim)
		require.NoError(t, err)
		return st.Save(t.Context(), victim, s.Messages, s.Metadata)
	}}
}

// bare takes the backups away.
func bare() act {
	return act{"remove backups", func(t *testing.T, st *Store, _ int) error {
		dir, err := st.openDir(victim)
		require.NoError(t, err)
		for _, name := range []string{sessiondir.Transcript, sessiondir.Metadata} {
			if err := dir.Remove(sessiondir.Backup(name)); !errors.Is(err, fs.ErrNotExist) {
				require.NoError(t, err)
			}
		}
		require.NoError(t, dir.Sync())
		return dir.Close()
	}}
}
