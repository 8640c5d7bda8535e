package foreign

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var historySize = flag.Int("history", 0, "how many MiB TestMemory imports, as 1024; 0: 400 with TEST_LONG set, else fewer")

// writeLarge writes a history of so many MiB, with a call in each turn, and returns
// the number of its lines.
func writeLarge(path string, size int) (n int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(f)
	parent, text := "null", strings.Repeat("text ", 200)
	line := func(kind, id, content string) {
		n++
		uuid := fmt.Sprintf(`"%08d-0000-4000-8000-000000000000"`, n)
		_, _ = fmt.Fprintf(w, `{"parentUuid":%s,"isSidechain":false,"cwd":"/w","type":%q,"message":{"id":%q,"role":%q,"content":[%s]},"uuid":%s,"timestamp":"2026-03-04T10:00:00.000Z"}`+"\n",
			parent, kind, id, kind, content, uuid)
		parent = uuid
	}
	for i := 0; i < size<<10; i += 4 {
		line("user", "", `{"type":"text","text":"`+text+`"}`)
		line("assistant", fmt.Sprint("a", i), `{"type":"text","text":"`+text+`"}`)
		line("assistant", fmt.Sprint("a", i), fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"Bash","input":{"x":%q}}`, i, text))
		line("user", "", fmt.Sprintf(`{"type":"tool_result","tool_use_id":"c%d","content":%q}`, i, text))
		line("assistant", fmt.Sprint("b", i), `{"type":"text","text":"done"}`)
	}
	return n, errors.Join(w.Flush(), f.Close())
}

// importLarge imports a large history, and again with one more turn. It prints how
// much memory each took from the system, and the times of a plain read and of both.
func importLarge(dir, argument string) error {
	size, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	path := dir + ".jsonl"
	n, err := writeLarge(path, size)
	if err != nil {
		return err
	}
	start := time.Now()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(struct{ io.Writer }{io.Discard}, f); err != nil {
		return errors.Join(err, f.Close())
	}
	plain := time.Since(start)
	p, err := projects.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		return errors.Join(err, f.Close())
	}
	runtime.GOMAXPROCS(1) // else a collector that waits for a busy processor lets garbage pile up, which is not what is measured
	limit := int64(14<<20 + 64*n)
	debug.SetMemoryLimit(limit)
	start = time.Now()
	report, err := Import(context.Background(), p, History{Tool: Claude, ID: "large", Path: path, Dir: "/w"}, nil)
	if err == nil && report.Sessions[0].Messages != n/5*4 {
		err = fmt.Errorf("imported %+v of %d lines", report, n)
	}
	first, took := taken(), time.Since(start)
	start = time.Now()
	if err == nil {
		err = growLarge(path, n)
	}
	if err == nil {
		report, err = Import(context.Background(), p, History{Tool: Claude, ID: "large", Path: path, Dir: "/w"}, nil)
	}
	if err == nil && (report.Sessions[0].Action != Updated || report.Sessions[0].Messages != n/5*4+2) {
		err = fmt.Errorf("imported %+v of %d lines and 2", report, n)
	}
	fmt.Println(first, taken(), n, plain, took, time.Since(start))
	return errors.Join(err, f.Close(), p.Close())
}

// taken returns the most memory that the process had so far, without its program. The
// system counts what the race detector has for itself, more than all the rest. With it, and
// where the system does not tell, taken returns what the runtime ever had of the system.
func taken() int64 {
	status, err := os.ReadFile("/proc/self/status")
	most, program := int64(0), int64(0)
	for name, n := range map[string]*int64{"VmHWM:": &most, "RssFile:": &program} {
		_, rest, _ := strings.Cut(string(status), name)
		_, failed := fmt.Sscanf(rest, "%d kB", n)
		err = errors.Join(err, failed)
	}
	build, ok := debug.ReadBuildInfo()
	raced := ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	if err == nil && !raced {
		return (most - program) << 10
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// growLarge adds a turn to a history of n lines that writeLarge wrote.
func growLarge(path string, n int) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, `{"parentUuid":"%08d-0000-4000-8000-000000000000","cwd":"/w","type":"user","message":{"role":"user","content":"more"},"uuid":"more","timestamp":"2026-03-04T11:00:00.000Z"}
{"parentUuid":"more","cwd":"/w","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"done"}]},"uuid":"end","timestamp":"2026-03-04T11:00:01.000Z"}
`, n)
	return errors.Join(err, f.Close())
}

// TestMemory imports a large history in little memory, also when it grew.
func TestMemory(t *testing.T) {
	t.Parallel()
	size := cmp.Or(*historySize, testenv.Share(8, 40, 400))
	child := testenv.Spawn(t, "large", filepath.Join(t.TempDir(), "p"), strconv.Itoa(size))
	line, ok := child.Line()
	require.True(t, ok)
	t.Log(line)
	var first, again int64
	var n int
	_, err := fmt.Sscan(line, &first, &again, &n)
	require.NoError(t, err)
	require.Less(t, first, int64(32<<20+64*n))
	require.Less(t, again, int64(32<<20+64*n))
}

// importPictured imports a history whose result has a picture of so many MiB, exports it to the
// other tool, and brings that home. It prints how much memory that took.
func importPictured(dir, argument string) error {
	size, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	ctx, path := context.Background(), dir+".jsonl"
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("aGVs", size<<18) + `"}}`
	if err := os.WriteFile(path, []byte(lookedAt(Claude, 1, image)), 0o600); err != nil {
		return err
	}
	image = ""
	p, err := projects.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		return err
	}
	report, err := Import(ctx, p, History{Tool: Claude, ID: lookedID, Path: path, Dir: "/w"}, nil)
	if err != nil {
		return err
	}
	imported := taken()
	st, err := p.Store(report.Project)
	if err != nil {
		return err
	}
	done, err := ExportFile(ctx, st, report.Sessions[0].ID, Codex, dir+"-out.jsonl", &ExportOptions{AsItIs: true})
	if err != nil {
		return err
	}
	report, err = Import(ctx, p, History{Tool: Codex, ID: done.ID, Path: dir + "-out.jsonl", Dir: "/w"}, nil)
	if err == nil && report.Sessions[0].Action != Unchanged {
		err = fmt.Errorf("imported %+v", report)
	}
	fmt.Println(imported, taken())
	return errors.Join(err, p.Close())
}

// TestMemoryOfPictures imports and exports a large picture in a result in some times its size.
func TestMemoryOfPictures(t *testing.T) {
	t.Parallel()
	const size = 20 // MiB, in base64
	child := testenv.Spawn(t, "pictured", filepath.Join(t.TempDir(), "p"), strconv.Itoa(size))
	line, ok := child.Line()
	require.True(t, ok)
	t.Log(line)
	var imported, all int64
	_, err := fmt.Sscan(line, &imported, &all)
	require.NoError(t, err)
	require.Less(t, imported, int64(10*size<<20))
	require.Less(t, all, int64(16*size<<20))
}

// TestAllocatedForRows imports a large row of a database, and counts the bytes that this allocates.
func TestAllocatedForRows(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	const size = 8 << 20
	h := newOpenCodeHome(t)
	h.session("ses_a", "", 1000)
	h.turn("ses_a", 1001, "One")
	h.exec("UPDATE part SET data = json_object('type', 'text', 'text', hex(zeroblob(?))) WHERE id = 'prt_a_100100'", size/2)
	one := h.found()[0]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Import(t.Context(), h.p, one, nil)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(14*size))
}
