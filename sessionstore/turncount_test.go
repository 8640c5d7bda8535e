package sessionstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

func reply(text string) Message {
	return newMessage([]byte(`{"role": "assistant", "content": ` + strconv.Quote(text) + `}`))
}

// metadataText returns metadata.json of session "s" in dir.
func metadataText(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "s", sessiondir.Metadata))
	require.NoError(t, err)
	return string(data)
}

// turnsIn returns the turn_count in metadata.json, as it is written.
func turnsIn(t *testing.T, dir string) string {
	t.Helper()
	md, err := ParseMetadata([]byte(metadataText(t, dir)))
	require.NoError(t, err)
	raw, _ := md.lookup(turnsMember)
	return string(raw)
}

// TestAppendCountsTurns appends each message of the reference's vectors to a
// session with two turns.
func TestAppendCountsTurns(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../testdata/golden/is_real_user.json")
	require.NoError(t, err)
	var vectors []struct {
		Name    string
		Message string `json:"message_json"`
		Real    bool   `json:"expected"`
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			st, _ := counted(t, dir, Options{})
			require.NoError(t, st.Append(t.Context(), "s", say(t, "one"), reply("1")))
			require.NoError(t, st.Append(t.Context(), "s", say(t, "two")))
			require.Equal(t, "2", turnsIn(t, dir))
			m, err := ParseMessage([]byte(v.Message))
			require.NoError(t, err)
			require.Equal(t, v.Real, m.realUser())
			require.NoError(t, st.Append(t.Context(), "s", m))
			want := "2"
			if v.Real {
				want = "3"
			}
			require.Equal(t, want, turnsIn(t, dir))
		})
	}
}

// TestAppendCountsWhatStandsThere appends beside metadata of every kind: the
// count is that of the whole transcript, and all other bytes stay.
func TestAppendCountsWhatStandsThere(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, metadata, user, other string }{
		{"as the store writes it", "{\n  \"a\": 1,\n  \"turn_count\": 1,\n  \"b\": \"é\"\n}", "{\n  \"a\": 1,\n  \"turn_count\": 4,\n  \"b\": \"é\"\n}", "3"},
		{"in another form", `{"b":"\u00e9","turn_count" :1,"turn_count": 2 , "big":1e400}` + "\n", `{"b":"\u00e9","turn_count" :1,"turn_count": 4 , "big":1e400}` + "\n", "3"},
		{"right", `{"turn_count": 3}`, `{"turn_count": 4}`, ""},
		{"too high", `{"turn_count": 12}`, `{"turn_count": 4}`, ""},
		{"no number", `{"turn_count": null}`, `{"turn_count": 4}`, ""},
		{"a text", `{"turn_count": "3"}`, `{"turn_count": 4}`, ""},
		{"absent", `{"turns": 1}`, `{"turns": 1}`, ""},
		{"damaged", `{"turn_count": 1`, `{"turn_count": 1`, ""},
	}
	for _, tt := range tests {
		for _, user := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, " ", user), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				st, done := counted(t, dir, Options{})
				require.NoError(t, st.Save(t.Context(), "s", []Message{say(t, "1"), reply("1"), say(t, "2"), say(t, "3")}, Metadata{}))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "s", sessiondir.Metadata), []byte(tt.metadata), 0o600))
				next, want := reply("3"), tt.metadata
				switch {
				case user:
					next, want = say(t, "4"), tt.user
				case tt.other != "":
					want = strings.Replace(tt.user, "4", tt.other, 1)
				}
				clear(done)
				require.NoError(t, st.Append(t.Context(), "s", next))
				require.Equal(t, want, metadataText(t, dir))
				require.Equal(t, 1, done[seam.SyncDir], "one sync of the directory serves both files")
				if want == tt.metadata && tt.name != "damaged" {
					backup, err := os.ReadFile(filepath.Join(dir, "s", sessiondir.Backup(sessiondir.Metadata)))
					require.NoError(t, err)
					require.Equal(t, want, string(backup), "a copy, since there was no backup")
				}
			})
		}
	}
}

// TestAppendCountsAnew has other writers change what was counted, in this
// process and beside it.
func TestAppendCountsAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var told []string
	st, err := Open(dir, &Options{OnChange: func(c Change) { told = append(told, c.File) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	ctx := t.Context()
	require.NoError(t, st.Create(ctx, "s", Metadata{}))
	require.Equal(t, "0", turnsIn(t, dir))
	for n := range 3 {
		require.NoError(t, st.Append(ctx, "s", say(t, "more"), reply("yes")))
		require.Equal(t, strconv.Itoa(n+1), turnsIn(t, dir))
	}
	s, err := st.Load(ctx, "s")
	require.NoError(t, err)
	require.NoError(t, st.Save(ctx, "s", s.Messages[:2], Metadata{})) // a rewind
	require.Equal(t, "3", turnsIn(t, dir), "a save takes what it is given")
	told = nil
	require.NoError(t, st.Append(ctx, "s", say(t, "again")))
	require.Equal(t, "2", turnsIn(t, dir))
	require.Equal(t, []string{sessiondir.Transcript, sessiondir.Metadata}, told)

	// An old tool replaces both files without a lock.
	for name, text := range map[string]string{
		sessiondir.Transcript: strings.Repeat(`{"role": "user", "content": "theirs"}`+"\n", 7),
		sessiondir.Metadata:   `{"turn_count": 7, "theirs": true}`,
	} {
		other := filepath.Join(dir, "s", "other")
		require.NoError(t, os.WriteFile(other, []byte(text), 0o600))
		require.NoError(t, os.Rename(other, filepath.Join(dir, "s", name)))
	}
	require.NoError(t, st.Append(ctx, "s", say(t, "ours")))
	require.Equal(t, `{"turn_count": 8, "theirs": true}`, metadataText(t, dir))
	told = nil
	require.NoError(t, st.Append(ctx, "s", reply("ours")))
	require.Equal(t, []string{sessiondir.Transcript}, told)
}

// TestAppendCountsWhatTheLastLeftOut ends an append behind each operation, as
// a kill does, and requires that the next append of anything counts it.
func TestAppendCountsWhatTheLastLeftOut(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for at := 0; ; at++ {
		dir := t.TempDir()
		n, armed := 0, false
		st, err := open(dir, nil, &seam.Seam{Before: func(seam.Op) error {
			if !armed {
				return nil
			}
			if n++; n > at {
				return killed // everything fails from here on
			}
			return nil
		}})
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", say(t, "one"), reply("1")))
		require.NoError(t, st.Append(t.Context(), "s", say(t, "two")))
		armed = true
		err = st.Append(t.Context(), "s", say(t, "three"))
		armed = false
		require.NoError(t, st.Close())

		next, oerr := Open(dir, nil)
		require.NoError(t, oerr)
		require.NoError(t, next.Append(t.Context(), "s", reply("2")))
		s, lerr := next.Load(t.Context(), "s")
		require.NoError(t, lerr)
		require.Equal(t, strconv.Itoa(countUsers(s.Messages)), turnsIn(t, dir), "after operation %d", at)
		require.NoError(t, next.Close())
		if err == nil {
			require.Equal(t, n, at, "the last operation was not reached")
			break
		}
		require.ErrorIs(t, err, killed)
	}
}

// TestAppendCountsOvertaken has an old tool write the metadata between our
// reading and our writing: both changes stay.
func TestAppendCountsOvertaken(t *testing.T) {
	t.Parallel()
	for name, theirs := range map[string]string{
		"with turns":    `{"turn_count": 1, "theirs": true}`,
		"without turns": `{"theirs": true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			armed := false
			st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
				if armed && op.Kind == seam.Exchange && op.Name == sessiondir.Metadata {
					armed = false
					other := filepath.Join(dir, "s", "other")
					require.NoError(t, os.WriteFile(other, []byte(theirs), 0o600))
					require.NoError(t, os.Rename(other, filepath.Join(dir, "s", sessiondir.Metadata)))
				}
				return nil
			}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, st.Close()) })
			require.NoError(t, st.Append(t.Context(), "s", say(t, "one")))
			armed = true
			require.NoError(t, st.Append(t.Context(), "s", say(t, "two")))
			require.False(t, armed)
			require.Equal(t, strings.Replace(theirs, "1", "2", 1), metadataText(t, dir))
		})
	}
}

// TestAppendCountsBesideDamage has an old tool replace the transcript and damage the
// metadata while an append is under way that has begun to write the count over the backup
// of the metadata: the append gives its lease on that backup up before it reads it.
func TestAppendCountsBesideDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	armed, leased, again := false, map[string]bool{}, 0
	st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
		switch op.Kind {
		case seam.Lease:
			if leased[op.Name] = true; leased[sessiondir.Backup(sessiondir.Metadata)] {
				again++
			}
		case seam.Release:
			delete(leased, op.Name)
		}
		if armed && op.Kind == seam.Sync && op.Name == sessiondir.Backup(sessiondir.Transcript) {
			armed, again = false, 0
			for name, text := range map[string]string{
				sessiondir.Transcript: strings.Repeat(`{"role": "user", "content": "theirs"}`+"\n", 7),
				sessiondir.Metadata:   `{"turn_count": 7, "th`,
			} {
				other := filepath.Join(dir, "s", "other")
				require.NoError(t, os.WriteFile(other, []byte(text), 0o600))
				require.NoError(t, os.Rename(other, filepath.Join(dir, "s", name)))
			}
		}
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for range 3 {
		require.NoError(t, st.Append(t.Context(), "s", say(t, "one")))
	}
	armed = true
	require.NoError(t, st.Append(t.Context(), "s", say(t, "two")))
	require.False(t, armed)
	require.Equal(t, "8", turnsIn(t, dir))
	require.Equal(t, 1, again, "only the transcript that they replaced is looked at meanwhile")
}

// TestAppendCountsOnce does not look at the messages that were counted before.
func TestAppendCountsOnce(t *testing.T) {
	t.Parallel()
	st, _ := counted(t, t.TempDir(), Options{})
	require.NoError(t, st.Append(t.Context(), "s", say(t, "one")))
	s := st.cache.sessions["s"]
	require.True(t, s.cached.users.known)
	spoiled := *s.cached
	spoiled.users.n = 40 // only a count that is kept leads to 41
	s.cached = &spoiled
	require.NoError(t, st.Append(t.Context(), "s", say(t, "two")))
	turns, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	n, _ := turns.Int(turnsMember)
	require.Equal(t, 41, n)
}

// A session whose metadata are gone gets new ones that count all messages.
func TestAppendCountsForNewMetadata(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, _ := counted(t, dir, Options{})
	require.NoError(t, st.Append(t.Context(), "s", say(t, "one"), reply("1"), say(t, "two")))
	for _, name := range []string{sessiondir.Metadata, sessiondir.Backup(sessiondir.Metadata)} {
		err := os.Remove(filepath.Join(dir, "s", name))
		require.True(t, err == nil || errors.Is(err, fs.ErrNotExist))
	}
	require.NoError(t, st.Append(t.Context(), "s", say(t, "three")))
	require.Equal(t, "3", turnsIn(t, dir))
}
