package sessionstore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// A writer that honours no lock replaces the transcript just before or just
// after it and its backup swap names. Append loses neither side's rows and
// writes none twice; Replace is a conflict; Save, the last writer, keeps what
// it replaced as the backup.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	theirs := map[string][]string{ // what the other writer leaves, and what Append then makes of it
		"saw nothing of ours": {"1", "2", "theirs"},
		"saw our append":      {"1", "2", "ours", "theirs"},
		"rewound":             {"1"},
	}
	calls := []struct {
		name string
		do   func(t *testing.T, st *Store) error
		want func(theirs []string) []string
	}{
		{
			"append", func(t *testing.T, st *Store) error {
				numbers, err := st.AppendStored(t.Context(), "s", say(t, "ours"))
				if err == nil {
					s, failed := st.Load(t.Context(), "s")
					require.NoError(t, failed)
					require.Equal(t, "ours", s.Messages[numbers[0]-1].Content())
				}
				return err
			},
			func(theirs []string) []string {
				if len(theirs) > 2 && theirs[2] == "ours" {
					return theirs
				}
				return append(theirs[:len(theirs):len(theirs)], "ours")
			},
		},
		{"save", func(t *testing.T, st *Store) error {
			return st.Save(t.Context(), "s", []Message{say(t, "1"), say(t, "2"), say(t, "ours")}, Metadata{})
		}, func([]string) []string { return []string{"1", "2", "ours"} }},
		{"replace", func(t *testing.T, st *Store) error {
			revision, err := st.Revision(t.Context(), "s")
			require.NoError(t, err)
			_, err = st.Replace(t.Context(), "s", revision, []Message{say(t, "1"), say(t, "2"), say(t, "ours")})
			require.ErrorIs(t, err, ErrConflict)
			return nil
		}, func(theirs []string) []string { return theirs }},
	}
	for _, call := range calls {
		for name, left := range theirs {
			for _, when := range []string{"before", "after"} {
				if when == "before" && name == "saw our append" {
					continue
				}
				t.Run(call.name+"/"+when+"/"+name, func(t *testing.T) {
					t.Parallel()
					overtake(t, when, left, call.do, call.want(left))
				})
			}
		}
	}
}

func overtake(t *testing.T, when string, left []string, do func(*testing.T, *Store) error, want []string) {
	t.Helper()
	dir := t.TempDir()
	foreign := false // the other writer is about to write
	write := func(op seam.Op) {
		if op.Kind != seam.Exchange || !foreign {
			return
		}
		foreign = false
		tmp := filepath.Join(dir, "s", "theirs")
		require.NoError(t, os.WriteFile(tmp, []byte(said(t, left...)), 0o600))
		require.NoError(t, os.Rename(tmp, filepath.Join(dir, "s", sessiondir.Transcript)))
	}
	hooks := &seam.Seam{}
	if when == "before" {
		hooks.Before = func(op seam.Op) error { write(op); return nil }
	} else {
		hooks.After = write
	}
	st, err := open(dir, nil, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Append(t.Context(), "s", say(t, "1")))
	require.NoError(t, st.Append(t.Context(), "s", say(t, "2")))
	foreign = true
	require.NoError(t, do(t, st))
	require.False(t, foreign, "the other writer has written")
	have, err := os.ReadFile(filepath.Join(dir, "s", sessiondir.Transcript))
	require.NoError(t, err)
	require.Equal(t, said(t, want...), string(have))
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, said(t, want...), string(lines(s.Messages)))
	require.NoError(t, st.Append(t.Context(), "s", say(t, "next")))
	have, err = os.ReadFile(filepath.Join(dir, "s", sessiondir.Transcript))
	require.NoError(t, err)
	require.Equal(t, said(t, append(want, "next")...), string(have))
}

// said returns the transcript of a user who says texts.
func said(t *testing.T, texts ...string) string {
	t.Helper()
	rows := make([]Message, len(texts))
	for i, text := range texts {
		rows[i] = say(t, text)
	}
	return string(lines(rows))
}

// TestOvertakenEachTime has a writer that takes no lock replace the file at each
// change of its name, until the call has begun anew as often as it does. The call gives up with an error of a public kind, and the
// other writer's file stays.
func TestOvertakenEachTime(t *testing.T) {
	t.Parallel()
	calls := map[string]struct {
		file string
		do   func(*testing.T, *Store) error
	}{
		"append": {sessiondir.Transcript, func(t *testing.T, st *Store) error { return st.Append(t.Context(), "s", say(t, "ours")) }},
		"save": {sessiondir.Transcript, func(t *testing.T, st *Store) error {
			return st.Save(t.Context(), "s", []Message{say(t, "ours")}, Metadata{})
		}},
		"update metadata": {sessiondir.Metadata, func(t *testing.T, st *Store) error {
			_, err := st.UpdateMetadata(t.Context(), "s", func(md *Metadata) error { return md.Set("n", "ours") })
			return err
		}},
		"set name": {sessiondir.Metadata, func(t *testing.T, st *Store) error {
			_, _, err := st.SetName(t.Context(), "s", Naming{Name: "ours", Source: "manual"})
			return err
		}},
		"count turns": {sessiondir.Metadata, func(t *testing.T, st *Store) error { return st.Append(t.Context(), "s", say(t, "counted")) }},
	}
	for name, call := range calls {
		for _, when := range []string{"before", "after"} {
			t.Run(name+"/"+when, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				armed, n, theirs := false, 0, ""
				write := func(op seam.Op) {
					if (op.Kind != seam.Exchange && op.Kind != seam.Rename) || !armed || n > maxRetries || op.To != call.file && op.Name != call.file {
						return
					}
					n++
					theirs = fmt.Sprintf(`{"role": "user", "content": "theirs %d"}`, n) + "\n"
					if call.file == sessiondir.Metadata {
						theirs = fmt.Sprintf(`{"session_id": "s", "turn_count": 0, "theirs": %d}`, n)
					}
					tmp := filepath.Join(dir, "s", "theirs")
					require.NoError(t, os.WriteFile(tmp, []byte(theirs), 0o600))
					require.NoError(t, os.Rename(tmp, filepath.Join(dir, "s", call.file)))
				}
				hooks := &seam.Seam{}
				if when == "before" {
					hooks.Before = func(op seam.Op) error { write(op); return nil }
				} else {
					hooks.After = write
				}
				st, err := open(dir, nil, hooks)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, st.Close()) })
				require.NoError(t, st.Append(t.Context(), "s", say(t, "1")))
				require.NoError(t, st.Append(t.Context(), "s", say(t, "2")))
				armed = true
				err = call.do(t, st)
				armed = false
				if err == nil { // the last to rename wins: what it displaced is the backup
					require.Equal(t, "before", when)
					require.Contains(t, []string{"save", "set name"}, name)
					return
				}
				require.ErrorIs(t, err, ErrConflict)
				have, err := os.ReadFile(filepath.Join(dir, "s", call.file))
				require.NoError(t, err)
				backup, err := os.ReadFile(filepath.Join(dir, "s", sessiondir.Backup(call.file)))
				require.NoError(t, err)
				require.Contains(t, []string{string(have), string(backup)}, theirs)
			})
		}
	}
}
