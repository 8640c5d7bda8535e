package slice_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/slice"
)

func TestForkCutsEvents(t *testing.T) {
	t.Parallel()
	row := func(member string) string { return `{"role": "user", "content": "q", ` + member + "}\n" }
	naive := strings.ReplaceAll(logged(3), "+00:00", "")
	timeless := `{"event": "e", "session_id": "parent", "data": {}}` + "\n"
	for _, tt := range []struct {
		name, rows, events, want string
		skipped                  int
	}{
		{"timestamp", row(`"timestamp": "` + at(2) + `"`), allEvents, logged(0) + logged(1) + logged(2), 0},
		{"ts", row(`"ts": "` + at(2) + `"`), allEvents, logged(0) + logged(1) + logged(2), 0},
		{"metadata", row(`"metadata": {"timestamp": "` + at(2) + `"}`), allEvents, logged(0) + logged(1) + logged(2), 0},
		{"an earlier row", row(`"ts": "`+at(1)+`"`) + `{"role": "assistant"}` + "\n", allEvents, logged(0) + logged(1), 0},
		{"an odd time", row(`"ts": "`+at(1)+`"`) + `{"role": "assistant", "ts": "soon"}` + "\n", allEvents, logged(0) + logged(1), 0},
		{"a number", row(`"ts": "`+at(1)+`"`) + `{"role": "assistant", "ts": 5}` + "\n", allEvents, logged(0) + logged(1), 0},
		{"without a zone", row(`"ts": "2026-11-18T12:00:03"`), allEvents, logged(0) + logged(1) + logged(2) + logged(3), 0},
		{"another zone", row(`"ts": "2026-11-18T14:00:01+02:00"`), allEvents, logged(0) + logged(1), 0},
		{"no time", row(`"x": 1`), allEvents, "", 0},
		{"no log", row(`"ts": "` + at(2) + `"`), "", "", 0},
		{"events without a zone", row(`"ts": "` + at(3) + `"`), naive + logged(4), naive, 0},
		{"events without ts", row(`"ts": "` + at(0) + `"`), timeless + logged(4), timeless, 0},
		{"bad events", row(`"ts": "` + at(3) + `"`), "{bad\n5\n\n \t \n\u00a0\n\xff\n" + strings.ReplaceAll(logged(1), at(1), "soon") + logged(2) + "{", logged(2), 5},
		{"no line end", row(`"ts": "` + at(3) + `"`), strings.TrimSpace(logged(2)), logged(2), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, "")
			files := map[string]string{transcriptFile: tt.rows}
			if tt.events != "" {
				files[eventsFile] = tt.events
			}
			put(t, st, parentID, files)
			done, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Events: true, NewID: "child"})
			require.NoError(t, err)
			require.Equal(t, renamed(tt.want, "child"), get(t, st, "child")[eventsFile])
			require.Equal(t, strings.Count(tt.want, "\n"), done.Events)
			require.Equal(t, tt.skipped, done.SkippedEvents)
		})
	}
}

func TestForkOfALogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: firstTwo})
	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), parentID, eventsFile), 0o700))
	_, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Events: true, NewID: "child"})
	require.Error(t, err)
	require.False(t, st.Exists("child"))
	_, err = slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{NewID: "child"})
	require.NoError(t, err)
}

func TestLastTimestamp(t *testing.T) {
	t.Parallel()
	msgs := parse(t, strings.Split(strings.TrimSpace(firstTwo), "\n")...)
	text, err := slice.LastTimestamp(msgs, 1)
	require.NoError(t, err)
	require.Equal(t, at(2), text)
	for _, turn := range []int{-1, 0, 3} {
		_, err = slice.LastTimestamp(msgs, turn)
		require.EqualError(t, err, fmt.Sprintf("Turn %d out of range (1-2)", turn))
	}
	_, err = slice.LastTimestamp(nil, 1)
	require.EqualError(t, err, "No user messages found in transcript")
}
