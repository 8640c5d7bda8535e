//go:build unix

package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func init() { children["index"] = indexChild }

// indexChild changes sessions and reads them by way of the index until it is
// killed: small ones, and large ones with rows files. The first is a large one: so
// there is an index when it has printed a line, also on a system where only rows
// files are written. Each message that it makes has a text of its own. Its argument is
// the seed, which is another for each child.
func indexChild(dir, argument string) error {
	ctx := context.Background()
	seed, err := strconv.ParseUint(argument, 10, 64)
	if err != nil {
		return err
	}
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: sessionstore.Relaxed}, testenv.KillPoint())
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for n := 0; ; n++ {
		k := r.IntN(8)
		if n == 0 {
			k = 0
		}
		id := fmt.Sprintf("s%d", k)
		text := fmt.Sprintf("secret-%d-%d.", seed, n)
		if k < 2 {
			text += strings.Repeat(" large", 100_000)
		}
		m, err := sessionstore.Text("user", text, time.Now())
		if err == nil {
			err = testenv.Retry(sessionstore.ErrLocked, func() error { return st.Append(ctx, id, m, m) })
		}
		if err == nil && k < 2 {
			_, err = sessionstore.LastTurnsOf(st, ctx, id, 1)
		}
		for _, failed := range st.Summaries(ctx, nil) {
			if failed != nil {
				return failed
			}
		}
		if err == nil && r.IntN(4) == 0 {
			err = testenv.Retry(sessionstore.ErrLocked, func() error { return st.Delete(ctx, id) })
		}
		if err != nil && !errors.Is(err, sessionstore.ErrNotFound) { // the other one deleted it
			return err
		}
		fmt.Println(n)
	}
}

var secretText = regexp.MustCompile(`secret-[0-9]+-[0-9]+\.`)

// TestIndexKills kills two writers of one index at once, again and again: what
// the index answers is what Load reads, it holds no text of sessions that are
// gone, and what the killed left beside it goes.
func TestIndexKills(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), testenv.Rand(t)
	v := testenv.Victim{
		Name: "index", Dir: dir, Env: homeIn(t.TempDir()),
		Rounds: testenv.KillRounds(), Operations: 150, First: 60, Within: 60 * time.Millisecond,
	}
	for round := range v.Rounds {
		var said [2][]string
		var both sync.WaitGroup
		for i := range said {
			v.Argument = strconv.FormatUint(r.Uint64(), 10)
			one, own := v, rand.New(rand.NewPCG(r.Uint64(), 0))
			both.Go(func() { one.Kill(t, round, own, func(line string) { said[i] = append(said[i], line) }) })
		}
		both.Wait()
		for _, line := range append(said[0], said[1]...) {
			require.NotContains(t, line, " ", "it tells no error")
		}
		checkIndex(t, dir)
	}
	require.DirExists(t, filepath.Join(dir, ".sessionstore", "index"))
}

// TestIndexLeftovers leaves a half-written file in the index, as a killed process
// does: it goes even when nothing else is to be written.
func TestIndexLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secretSession(t, dir, "s", 10)
	time.Sleep(50 * time.Millisecond)
	st := open(t, dir, nil)
	summaries(t, st)
	left := filepath.Join(dir, ".sessionstore", "index", ".00.sums.123")
	write(t, "secret words of a session that is gone", left)
	summaries(t, st)
	require.NoFileExists(t, left)
}

func checkIndex(t *testing.T, dir string) {
	t.Helper()
	st := open(t, dir, nil)
	now := summaries(t, st)
	time.Sleep(50 * time.Millisecond) // from now on what was made anew under an old id is believed
	all := summaries(t, st)
	require.Equal(t, now, all)
	plain := open(t, dir, nil)
	there := ""
	for id, got := range all {
		s, err := plain.Load(t.Context(), id)
		require.NoError(testenv.Lost(t), err)
		require.Equal(t, len(s.Messages), got.Messages, id)
		require.Equal(t, slice.CountTurns(s.Messages), got.Turns, id)
		require.Equal(t, s.Revision.Bytes, got.Bytes, id)
		if len(s.Messages) > 0 {
			last, err := sessionstore.MessageOf(st, t.Context(), id, len(s.Messages))
			require.NoError(t, err)
			require.Equal(t, lines(s.Messages[len(s.Messages)-1:]), lines([]sessionstore.Message{last}))
			require.NotEmpty(t, got.FirstPrompt, id)
			require.True(t, strings.HasPrefix(s.Messages[0].Content(), got.FirstPrompt[:min(15, len(got.FirstPrompt))]), id)
		}
		there += strings.Join(lines(s.Messages), "")
	}
	files, err := os.ReadDir(filepath.Join(dir, ".sessionstore", "index"))
	if !errors.Is(err, fs.ErrNotExist) { // the killed may not have come to it
		require.NoError(t, err)
	}
	for _, f := range files {
		require.False(t, strings.HasPrefix(f.Name(), "."), "left by the killed: %s", f.Name())
		for _, secret := range secretText.FindAllString(read(t, dir, ".sessionstore", "index", f.Name()), -1) {
			require.True(t, strings.Contains(there, secret), "%s holds %s of a session that is gone", f.Name(), secret)
		}
	}
}
