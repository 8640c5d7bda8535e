package realtools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	pictures "image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// TestRescued proves with the tools that a session which they cannot go on with goes on once
// it is rescued. The model refuses what the providers refuse.
func TestRescued(t *testing.T) {
	testenv.Soak(t, "it installs Codex and Claude Code")
	l := newLab(t, install(t, "pinned", pinned))
	l.model.strict = true
	proven := atomic.Int32{}
	t.Run("tools", func(t *testing.T) {
		for _, start := range []func(*testing.T, *lab) tool{newClaude, newCodex} {
			from := start(t, l)
			written := base(t, from)
			for _, w := range wrecks {
				if w.tool == from.name() {
					t.Run(string(from.name())+" "+w.name, func(t *testing.T) {
						t.Parallel()
						proven.Add(revive(t, start(t, l), written, w))
					})
				}
			}
		}
	})
	if n := proven.Load(); !t.Failed() && n > 0 {
		fmt.Printf("real tools: proven with %s: %d of %d broken sessions went on once they were rescued\n", pinned, n, len(wrecks))
	}
}

// file is a session that a tool wrote.
type file struct {
	id, name string
	lines    [][]byte
	said     []said
}

// base lets a tool write a sound session of four turns, one with a call.
func base(t *testing.T, from tool) file {
	t.Helper()
	var f file
	switch c := from.(type) {
	case *claudeCode:
		path := filepath.Join(c.work, "made-up.txt")
		require.NoError(t, os.WriteFile(path, []byte("A made-up line.\n"), 0o600))
		c.model.calling("three made up", "Read", object{"file_path": path})
		f.id = c.say(t, "one made up").Session
		for _, prompt := range []string{"two made up", "three made up", "four made up"} {
			c.goOn(t, f.id, prompt)
		}
	case *codexTool:
		s := c.server(t)
		var got struct{ Thread thread }
		s.call("thread/start", object{"cwd": c.work}, &got)
		f.id = got.Thread.ID
		c.model.calling("three made up", "exec_command", object{"cmd": "echo made up"})
		for _, prompt := range []string{"one made up", "two made up", "three made up", "four made up"} {
			s.turn(f.id, prompt)
		}
		c.stop()
	}
	f.said = from.read(t, []string{f.id})[0]
	if c, ok := from.(*codexTool); ok {
		c.stop()
	}
	found, err := foreign.Find(t.Context(), from.name(), &foreign.FindOptions{Home: from.home()})
	require.NoError(t, err)
	require.Len(t, found, 1)
	data, err := os.ReadFile(found[0].Path)
	require.NoError(t, err)
	for row := range bytes.Lines(data) {
		f.lines = append(f.lines, bytes.TrimSuffix(row, []byte("\n")))
	}
	f.name = filepath.Base(found[0].Path)
	if from.name() == foreign.Claude {
		apart(t, f.lines)
	}
	for r, err := range foreign.Rescue(t.Context(), openProjects(t), from.name(), &foreign.RescueOptions{Home: from.home(), DryRun: true}) {
		require.NoError(t, err)
		require.Empty(t, r.Faults, "a session that the tool wrote")
	}
	return f
}

var stamp = regexp.MustCompile(`"timestamp":"([^"]+)"`)

// apart puts a minute between the lines of a session, as when a person thinks: Claude Code goes
// on from a line of the last seconds where the line before is missing.
func apart(t *testing.T, lines [][]byte) {
	t.Helper()
	for i, l := range lines {
		lines[i] = stamp.ReplaceAllFunc(l, func(b []byte) []byte {
			at, err := time.Parse(time.RFC3339, string(stamp.FindSubmatch(b)[1]))
			require.NoError(t, err)
			return []byte(`"timestamp":"` + at.Add(time.Duration(i-len(lines))*time.Minute).Format("2006-01-02T15:04:05.000Z") + `"`)
		})
	}
}

// revive breaks a session, sees that the tool cannot go on with it, rescues it, and lets the tool
// go on.
func revive(t *testing.T, to tool, f file, w wreck) int32 {
	path := to.place(t, f.name)
	lines := make([][]byte, len(f.lines))
	for i, l := range f.lines {
		lines[i] = bytes.Clone(l)
	}
	broken := w.cut(lines)
	require.NoError(t, os.WriteFile(path, broken, 0o600))

	prompt := fmt.Sprintf("Going on with broken %s of %s.", w.name, w.tool)
	why := tried(t, to, f, w, prompt)
	require.NotEmpty(t, why, "the tool goes on with the broken session")
	t.Log("before:", why)
	require.NoError(t, os.RemoveAll(path))
	to.stop()
	require.NoError(t, os.WriteFile(path, broken, 0o600)) // without what the tool added

	all := []foreign.Rescued{}
	for r, err := range foreign.Rescue(t.Context(), openProjects(t), to.name(), &foreign.RescueOptions{Home: to.home(), File: path}) {
		require.NoError(t, err)
		all = append(all, r)
	}
	require.Len(t, all, 1)
	for _, fault := range all[0].Faults {
		t.Log("fault:", fault)
	}
	require.NotEmpty(t, all[0].NewID, "it is not mended")
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(broken, now), "the broken session changed")

	require.True(t, slices.Contains(to.list(t), all[0].NewID), "the tool does not list it")
	prompt = fmt.Sprintf("Going on with rescued %s of %s.", w.name, w.tool)
	answered := to.goOn(t, all[0].NewID, prompt)
	request, ok := to.asks().asked(prompt)
	require.True(t, ok, "the model was not asked")
	require.Empty(t, request.refused)
	require.Contains(t, answered, "Made-up answer")
	assertInOrder(t, without(f.said, w.lost), request.said, "the request lacks")
	return 1
}

// without returns what was said but for the prompts and answers with some words.
func without(all []said, words []string) []said {
	return slices.DeleteFunc(slices.Clone(all), func(s said) bool {
		return s.text == "" || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s.text, w) })
	})
}

// tried lets a tool go on with a broken session, and returns why it cannot, "" where it can.
func tried(t *testing.T, to tool, f file, w wreck, prompt string) string {
	t.Helper()
	switch c := to.(type) {
	case *claudeCode:
		if out, err := c.tryRun(t, "-p", prompt, "--output-format", "json", "--resume", f.id); err != nil && !strings.Contains(string(out), "API Error") {
			return fmt.Sprintf("it cannot be opened: %.100s", out)
		}
	case *codexTool:
		s := c.server(t)
		if err := s.try("thread/resume", object{"threadId": f.id}, nil); err != nil {
			return fmt.Sprintf("it cannot be opened: %.200s", err)
		}
		s.turn(f.id, prompt)
	}
	request, ok := to.asks().asked(prompt)
	switch {
	case !ok:
		return "it cannot be opened: the model was not asked"
	case len(request.refused) > 0:
		return "refused: " + request.refused[0].Rule
	}
	missing := 0
	all := without(f.said, w.lost)
	for _, s := range all {
		if !slices.ContainsFunc(request.said, func(r said) bool { return strings.Contains(r.text, s.text) }) {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("its history is gone: %d of %d texts", missing, len(all))
	}
	return ""
}

// tryRun runs Claude Code to its end and returns its output.
func (c *claudeCode) tryRun(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := limited(t)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.claudeBin, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = c.work, &out, &out, c.env()
	require.NoError(t, c.net.start(cmd))
	err := cmd.Wait()
	return out.Bytes(), err
}

// wreck is a way in which a session breaks.
type wreck struct {
	tool foreign.Tool
	name string
	lost []string // words of what no rescue can bring back
	cut  func(lines [][]byte) []byte
}

func whole(lines [][]byte) []byte { return append(bytes.Join(lines, []byte("\n")), '\n') }

// which returns the first line with all of some words.
func which(lines [][]byte, words ...string) int {
	return slices.IndexFunc(lines, func(l []byte) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !bytes.Contains(l, []byte(w)) })
	})
}

// pictureOf returns a PNG of some size, in base64.
func pictureOf(width, height int) string {
	var b bytes.Buffer
	_ = png.Encode(&b, pictures.NewGray(pictures.Rect(0, 0, width, height))) // it goes to memory
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// change returns a way in which the line with some words becomes another one.
func change(words []string, to func(row object)) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		var row object
		if n < 0 || json.Unmarshal(lines[n], &row) != nil {
			return nil
		}
		to(row)
		lines[n], _ = json.Marshal(row) // it came from JSON
		return whole(lines)
	}
}

func inside(row object, names ...string) object {
	for _, name := range names {
		row, _ = row[name].(object)
	}
	return row
}
