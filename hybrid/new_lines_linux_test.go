package hybrid

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// transferred returns how many bytes this process reads or writes while do runs.
func transferred(t *testing.T, do func()) (read, written int) {
	t.Helper()
	count := func() (read, written int) {
		data, err := os.ReadFile("/proc/self/io")
		testenv.Need(t, err == nil, "the system does not count what a process reads")
		_, err = fmt.Sscanf(string(data), "rchar: %d\nwchar: %d", &read, &written)
		require.NoError(t, err)
		return read, written
	}
	r, w := count()
	do()
	read, written = count()
	return read - r, written - w
}

// largeSession makes a session of about 8 MiB in 4,000 lines, and returns its text.
func largeSession(t *testing.T, d *testDevice) string {
	t.Helper()
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, `{"role": "user", "content": "%06d %s"}`+"\n", i, strings.Repeat("word ", 400))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(d.Dir(), "s"), 0o700))
	d.put("s", "transcript.jsonl", text.String())
	d.put("s", "metadata.json", `{"session_id": "s"}`)
	return text.String()
}

// told is a redactor that tells each line that it gets.
type told struct {
	Redactor
	line func(n int)
	n    int
}

func (r *told) Line(line []byte) []byte {
	r.n++
	r.line(r.n)
	return r.Redactor.Line(line)
}

// TestTurnReadsItsNewLines counts the bytes that are read for a turn of a large session: the new
// lines, also where rules of redaction hold. The first turn of a process reads all of it.
func TestTurnReadsItsNewLines(t *testing.T) { // not parallel: it counts what the process reads
	for name, rules := range map[string]Redactor{"plain": nil, "redacted": Secrets()} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t, nil)
			a := c.device(t, "a", func(o *Options) { o.Redact = rules })
			size := len(largeSession(t, a))
			a.say("s", "the first turn reads the file")
			a.sync("s")
			for i := range 3 {
				read, _ := transferred(t, func() {
					a.say("s", "question", "answer")
					require.Equal(t, 1, a.sync("s").Pushed)
				})
				require.Less(t, read, size/10, "turn %d", i)
			}
			b := c.device(t, "b", func(o *Options) { o.Redact = rules })
			b.pull()
			require.Equal(t, a.file("s", "transcript.jsonl"), b.file("s", "transcript.jsonl"))
		})
	}
}

// TestOthersWriteBetweenTurns: what another program writes between two appends of this store is
// found, at the beginning of the file too, and in place.
func TestOthersWriteBetweenTurns(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]Redactor{"plain": nil, "redacted": Secrets()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a", func(o *Options) { o.Redact = rules })
			a.say("s", numbered("line ", 0, 40)...)
			a.sync("s")
			a.say("s", "one more")
			a.sync("s")
			path := filepath.Join(a.Dir(), "s", "transcript.jsonl")
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			at := strings.Index(a.file("s", "transcript.jsonl"), "line 7")
			_, err = f.WriteAt([]byte("LINE 7"), int64(at))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
			a.say("s", "and one")
			a.sync("s")
			b := c.device(t, "b", func(o *Options) { o.Redact = rules })
			b.pull()
			require.Contains(t, b.texts("s"), "LINE 7")
			require.Equal(t, a.texts("s"), b.texts("s"))
		})
	}
}

// TestAppendWhileItIsScanned appends in the middle of a scan, which takes long when rules look at
// each line: the append neither waits for it nor writes the file anew, and the scan goes on.
func TestAppendWhileItIsScanned(t *testing.T) { // not parallel: it counts what the process writes
	c := newCloud(t, nil)
	var a *testDevice
	rules := &told{Redactor: Secrets(), line: func(int) {}}
	a = c.device(t, "a", func(o *Options) { o.Redact = rules })
	size := len(largeSession(t, a))
	_, err := a.Load(t.Context(), "s")
	require.NoError(t, err)
	a.say("s", "the store knows the file")
	rules.n, rules.line = 0, func(n int) {
		if n == 1000 || n == 2500 {
			_, written := transferred(t, func() { a.say("s", fmt.Sprint("beside line ", n)) })
			require.Less(t, written, size/10)
		}
	}
	a.sync("s")
	require.Less(t, rules.n, 8200, "each line is looked at once, and sent once")
	rules.line = func(int) {}
	a.sync("s")
	b := c.device(t, "b", func(o *Options) { o.Redact = Secrets() })
	b.pull()
	require.Equal(t, a.file("s", "transcript.jsonl"), b.file("s", "transcript.jsonl"))
}

// TestRewriteWhileItIsScanned: another program replaces the transcript in the middle of a scan.
func TestRewriteWhileItIsScanned(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	rules := &told{Redactor: Secrets(), line: func(int) {}}
	a := c.device(t, "a", func(o *Options) { o.Redact = rules })
	text := largeSession(t, a)
	a.say("s", "the store knows the file")
	other := strings.ReplaceAll(text, "word", "WORD")
	path := filepath.Join(a.Dir(), "s", "transcript.jsonl")
	rules.line = func(n int) {
		if n == 1000 {
			require.NoError(t, os.WriteFile(path+".new", []byte(other), 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		}
	}
	a.sync("s")
	a.sync("s")
	require.Equal(t, other, a.file("s", "transcript.jsonl"))
	b := c.device(t, "b", func(o *Options) { o.Redact = Secrets() })
	b.pull()
	require.Equal(t, other, b.file("s", "transcript.jsonl"))
	s, err := b.Load(context.Background(), "s")
	require.NoError(t, err)
	require.Len(t, s.Messages, 4000)
}
