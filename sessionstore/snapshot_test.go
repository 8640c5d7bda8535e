package sessionstore_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPausedReaderSeesSnapshot opens a file of the session as any program
// may, reads half, and reads the rest after writes: it must get the state at
// its opening. The writes find out that the file is in use, and write anew.
func TestPausedReaderSeesSnapshot(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS == "linux", "only Linux tells who has a file open")
	for name, durability := range durabilities {
		for _, file := range []string{transcriptFile, transcriptBackup} {
			for writes := range 8 {
				t.Run(fmt.Sprint(name, "/", file, "/writes=", writes), func(t *testing.T) {
					t.Parallel()
					pausedReader(t, durability, file, writes)
				})
			}
		}
	}
}

func pausedReader(t *testing.T, durability sessionstore.Durability, file string, writes int) {
	dir := t.TempDir()
	st := open(t, dir, &sessionstore.Options{Durability: durability})
	add := func(n int) {
		for range n {
			require.NoError(t, st.Append(t.Context(), "s", parse(t, user(strings.Repeat("ä€𝄞", 1000)))...))
		}
	}
	add(4)
	path := filepath.Join(dir, "s", file)
	want := read(t, path)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	half := make([]byte, len(want)/2)
	_, err = io.ReadFull(f, half)
	require.NoError(t, err)
	add(writes / 2)
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	for i := range writes - writes/2 {
		s.Messages = append(s.Messages, parse(t, user("more"))...)
		if i == 2 {
			s.Messages = s.Messages[2:]
		}
		require.NoError(t, st.Save(t.Context(), "s", s.Messages, s.Metadata))
	}
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	require.True(t, want == string(half)+string(rest), "after %d writes", writes)
}

// TestReadersThatPause lets many readers pause at random while the transcript
// grows and is rewound. Each must have read one whole state.
func TestReadersThatPause(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS == "linux", "only Linux tells who has a file open")
	n := testenv.Seed(t)
	dir := t.TempDir()
	st := open(t, dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	path := filepath.Join(dir, "s", transcriptFile)
	require.NoError(t, st.Append(t.Context(), "s", parse(t, user("0"))...))
	var mu sync.Mutex // guards states
	states := map[string]bool{read(t, path): true}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range uint64(4) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(n, i))
			for {
				select {
				case <-done:
					return
				default:
				}
				content := pausingRead(t, path, r)
				mu.Lock()
				known := states[content]
				mu.Unlock()
				if !known {
					t.Errorf("read %d bytes that never were the transcript", len(content))
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(n, 100))
	var rows []string
	saves := testenv.Share(25, 25, 200)
	for i := 0; i < saves && !t.Failed(); i++ {
		if len(rows) > 60 {
			rows = rows[:10]
		}
		rows = append(rows[:len(rows):len(rows)], user(strings.Repeat("é", 1+r.IntN(5000))))
		mu.Lock()
		states[fileOf(rows)] = true
		mu.Unlock()
		require.NoError(t, st.Save(t.Context(), "s", parse(t, rows...), sessionstore.Metadata{}))
		time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
	}
	close(done)
	readers.Wait()
}

// pausingRead reads a file in pieces, with pauses between.
func pausingRead(t *testing.T, path string, r *rand.Rand) string {
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer f.Close()
	var content bytes.Buffer
	for {
		_, err := io.CopyN(&content, f, 1+r.Int64N(200_000))
		if err == io.EOF {
			return content.String()
		}
		if err != nil {
			t.Error(err)
			return ""
		}
		time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
	}
}
