package realtools

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

var (
	journeys = flag.Int("journeys", 2, "how many sessions make rounds")
	legs     = flag.Int("legs", 6, "how often each of them goes out to a tool")
)

// TestRounds lets sessions go out to one tool after another and come home in between, by the
// command "sessions": out by "resume --with", home by "import --from", or by the next "resume". The
// tools and the command are killed with SIGKILL at random moments. After each step the session has
// each prompt and each answer once, in order, and is the only one; a second import changes nothing;
// and the model, which refuses what the provider refuses, was asked with all that was said before.
func TestRounds(t *testing.T) {
	testenv.Soak(t, "it installs five tools")
	first := testenv.Seed(t)
	l := newJourneys(t)
	went, kills := 0, 0
	for n := range *journeys {
		seed := first + uint64(n)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			testenv.Repeat(t, seed, "-journeys=1")
			j := l.begin(t, rand.New(rand.NewPCG(seed, 0)))
			for range *legs {
				j.goes(t)
			}
			j.comesHome(t)
			went, kills = went+*legs, kills+j.kills
		})
	}
	if !t.Failed() && went > 0 {
		fmt.Printf("real tools: proven with pi %s, GitHub Copilot CLI %s, opencode %s, %s: %d sessions went to a tool and home %d times, with %d kills\n", piPinned, copilotPinned, openCodePinned, pinned, *journeys, went, kills)
	}
}

// journey is a session that goes from tool to tool.
type journey struct {
	*travels
	rand  *rand.Rand
	st    *sessionstore.Store
	dir   string // of the projects
	id    string
	work  string
	tools []*traveller
	at    *traveller               // where it is; nil: home
	last  *traveller               // where it was last
	cli   []string                 // the environment of the command
	took  map[string]time.Duration // by the name of the command, the last time

	said  []once
	words int
	kills int
}

// once is a text that is said once.
type once struct {
	said
	maybe bool // its tool was killed, before or after it wrote it
}

// word returns a word that was not said before.
func (j *journey) word() string {
	j.words++
	return fmt.Sprintf("w%03d", j.words)
}

// chance reports whether something of one chance in n happens.
func (j *journey) chance(n int) bool { return j.rand.IntN(n) == 0 }

// says adds a prompt and its answer to what was said.
func (j *journey) says(word string, maybe bool) {
	j.said = append(j.said, once{said{"user", word}, maybe})
	for n := range 4 {
		if maybe {
			j.said = append(j.said, once{said{"assistant", piece(goOnWith(word), n)}, true})
		}
	}
	j.said = append(j.said, once{said{"assistant", answerTo + word}, maybe})
}

// begins makes the session: turns, a call with its result, and a picture.
func (j *journey) begins(t *testing.T) {
	t.Helper()
	a, b, c := j.word(), j.word(), j.word()
	call, err := sessionstore.ToolCallMessage("I look.", at, sessionstore.ToolCall{ID: "call_1", Name: "look", Arguments: []byte(`{"at": "it"}`)})
	require.NoError(t, err)
	result, err := sessionstore.ToolResult("call_1", "look", "It was seen.", at)
	require.NoError(t, err)
	rows := []sessionstore.Message{
		text(t, "user", "Begin with "+a+"."), text(t, "assistant", answerTo+a),
		text(t, "user", "Look at "+b+"."), call, result, text(t, "assistant", answerTo+b),
		parsed(t, `{"role":"user","content":[{"type":"text","text":"What is in the picture `+c+`?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+pixel+`"}}]}`), text(t, "assistant", answerTo+c),
	}
	for _, word := range []string{a, b, c} {
		j.says(word, false)
	}
	md := sessionstore.Metadata{}
	for _, m := range [][2]string{{"session_id", j.id}, {"created", "2026-03-04T10:00:00+00:00"}, {"working_dir", j.work}, {"name", "A journey"}, {"model", "made-up"}} {
		require.NoError(t, md.Set(m[0], m[1]))
	}
	require.NoError(t, j.st.Save(t.Context(), j.id, rows, md))
}

// goes lets the session go out to a tool, which goes on with it, and mostly home.
func (j *journey) goes(t *testing.T) {
	t.Helper()
	to := j.chosen()
	t.Logf("to %s", to.name)
	if j.at == nil && j.chance(3) {
		j.goesOnHere(t)
	}
	j.at, j.last = to, to
	out := struct {
		Theirs string   `json:"tool_session_id"`
		Apart  []string `json:"went_on_apart"`
	}{}
	j.runs(t, &out, "resume", j.id, "--with", string(to.name), "--json")
	require.Empty(t, out.Apart)
	j.holds(t)
	kills := j.rand.IntN(3)
	for range kills {
		j.killed(t, to, out.Theirs)
		if j.chance(2) {
			j.imports(t)
			j.at = to
		}
	}
	if kills == 0 || !j.chance(4) {
		j.prompts(t, to, out.Theirs)
	}
	if !j.chance(4) {
		j.comesHome(t)
	}
}

// goesOnHere adds a turn that a host of this store wrote.
func (j *journey) goesOnHere(t *testing.T) {
	t.Helper()
	word := j.word()
	t.Logf("%s here", word)
	j.says(word, false)
	require.NoError(t, j.st.Append(t.Context(), j.id, text(t, "user", "And here, "+word+"?"), text(t, "assistant", answerTo+word)))
}

// chosen returns the next tool, mostly one of those that are in question.
func (j *journey) chosen() *traveller {
	for {
		to := j.tools[j.rand.IntN(3)]
		if j.chance(5) {
			to = j.tools[3+j.rand.IntN(2)]
		}
		if to != j.last || j.chance(4) {
			return to
		}
	}
}

// prompts gives the tool a prompt, and compares what it sends to the model with what was said.
func (j *journey) prompts(t *testing.T, to *traveller, id string) {
	t.Helper()
	before := stored(t, kept{st: j.st, id: j.id})
	word := j.word()
	t.Logf("%s in %s", word, to.name)
	if j.chance(3) {
		name, arguments := to.shell("echo made up")
		to.asks.calling(word, name, arguments)
	}
	begun := to.asks.count()
	out, err := j.ends(t, to.prompted(t, id, goOnWith(word)))
	request, ok := to.asks.asked(word)
	require.Empty(t, request.refused)
	for _, r := range to.asks.since(begun) { // Claude Code tries a form first that the provider may refuse
		require.True(t, len(r.refused) == 0 || to.name == foreign.Claude, "%v", r.refused)
	}
	require.NoError(t, err, "%s", out)
	require.True(t, ok, "the model was not asked: %s", out)
	require.Contains(t, string(out), answerTo+word)
	require.Contains(t, strings.Join(request.results, "\n"), "It was seen.")
	pictures := slices.DeleteFunc(slices.Clone(request.said), func(s said) bool { return s.text != image(pixel) })
	require.Len(t, pictures, 1)
	j.says(word, false)
	sent := namesIn(request.said)
	require.NoError(t, inOrder(j.said[:len(j.said)-1], sent), "in the request")
	for _, s := range namesIn(spoken(before)) {
		require.Contains(t, sent, s, "the request lacks what the session has")
	}
	for i, s := range j.said { // what the tool has comes home
		if slices.Contains(sent, s.said) {
			j.said[i].maybe = false
		}
	}
}

// killed gives the tool a prompt and kills it.
func (j *journey) killed(t *testing.T, to *traveller, id string) {
	t.Helper()
	word, mode := j.word(), j.rand.IntN(5)
	prompt, wait := goOnWith(word), time.Duration(j.rand.IntN(2000))*time.Millisecond
	came := to.asks.watching(prompt)
	switch mode {
	case 0:
		to.asks.holding(prompt)
	case 1:
		to.asks.cutting(prompt, j.rand.IntN(4), j.rand.IntN(3))
	case 2:
		name, arguments := to.shell("sleep 3")
		to.asks.calling(word, name, arguments)
	case 3: // the answer comes at once
	case 4: // perhaps before it asks
		early := make(chan struct{})
		close(early)
		came, wait = early, 3*wait
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	cmd := to.prompted(t, id, prompt)
	cmd.Stdout, cmd.Stderr = out, out
	ended := j.kill(t, cmd, came, wait)
	t.Logf("%s in %s, killed (%d) %s later: %v", word, to.name, mode, wait, !ended)
	j.says(word, !ended)
	require.True(t, !ended || cmd.ProcessState.Success(), "it failed")
}

// kill starts a command and kills it that long after an event, unless it ends before.
func (j *journey) kill(t *testing.T, cmd *exec.Cmd, event <-chan struct{}, wait time.Duration) (ended bool) {
	t.Helper()
	require.NoError(t, j.net.start(cmd))
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	select {
	case <-event:
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			_ = cmd.Process.Kill()
			<-over
		case <-over:
		}
	case <-over:
	}
	if ended = cmd.ProcessState.Exited(); !ended {
		j.kills++
	}
	return ended
}

// ends runs a command to its end and returns what it said.
func (j *journey) ends(t *testing.T, cmd *exec.Cmd) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	require.NoError(t, j.net.start(cmd))
	err := cmd.Wait()
	return out.Bytes(), err
}

// runs runs "sessions" to its end, after it was killed some times, and reads its answer into v.
func (j *journey) runs(t *testing.T, v any, args ...string) {
	t.Helper()
	now := make(chan struct{})
	close(now)
	for range j.rand.IntN(3) {
		cmd := j.sessions(t, args...)
		wait := time.Duration(j.rand.IntN(1 + int(j.took[args[0]])))
		t.Logf("sessions %s, killed %s later: %v", args[0], wait, !j.kill(t, cmd, now, wait))
	}
	begun := time.Now()
	cmd := j.sessions(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, j.net.start(cmd))
	require.NoError(t, cmd.Wait(), "%q: %s%s", args, out.Bytes(), errs.Bytes())
	j.took[args[0]] = time.Since(begun)
	require.NoError(t, json.Unmarshal(out.Bytes(), v), "%s", out.Bytes())
}

// sessions returns a call of the command.
func (j *journey) sessions(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := limited(t)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, j.program, args...)
	cmd.Dir, cmd.Env = j.work, j.cli
	return cmd
}

// comesHome imports what the tool added, and once more.
func (j *journey) comesHome(t *testing.T) {
	t.Helper()
	if j.at == nil {
		return
	}
	j.imports(t)
	j.holds(t)
}

// imports imports from the tool, and once more, which changes nothing.
func (j *journey) imports(t *testing.T) {
	t.Helper()
	t.Logf("home from %s", j.at.name)
	var report struct {
		Failed   int
		Damaged  []any
		Unknown  map[string]int
		Unplaced []any `json:"prompts_in_no_session"`
		Sessions []struct {
			ID     string `json:"session_id"`
			Action foreign.Action
		}
	}
	args := []string{"import", "--from", string(j.at.name), "--json"}
	j.runs(t, &report, args...)
	require.Zero(t, report.Failed)
	require.Empty(t, report.Unplaced)
	require.Empty(t, report.Unknown)
	require.Len(t, report.Sessions, 1)
	files := j.files(t)
	j.runs(t, &report, args...)
	for _, s := range report.Sessions {
		require.Equal(t, j.id, s.ID)
		require.Equal(t, foreign.Unchanged, s.Action)
	}
	require.Equal(t, files, j.files(t))
	j.at = nil
	require.NoError(t, inOrder(j.said, namesIn(spoken(stored(t, kept{st: j.st, id: j.id})))), "in the session")
}

// files returns the transcript and the metadata of the session.
func (j *journey) files(t *testing.T) (all [2]string) {
	t.Helper()
	for i, name := range []string{"transcript.jsonl", "metadata.json"} {
		raw, err := os.ReadFile(filepath.Join(j.st.Dir(), j.id, name))
		require.NoError(t, err)
		all[i] = string(raw)
	}
	return all
}

// holds requires that there is one session, which has all that was said.
func (j *journey) holds(t *testing.T) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(j.dir, "*", "sessions", "*", "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(j.st.Dir(), j.id, "transcript.jsonl")}, found)
	rows := stored(t, kept{st: j.st, id: j.id})
	require.NoError(t, inOrder(j.said, namesIn(spoken(rows))), "in the session")
	has := namesIn(spoken(rows))
	j.said = slices.DeleteFunc(j.said, func(s once) bool { return !slices.Contains(has, s.said) })
}

// open opens the store of the journey.
func (j *journey) open(t *testing.T) {
	t.Helper()
	p, err := projects.Open(j.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	j.st, err = p.Store(sessionstore.ProjectSlug(j.work))
	require.NoError(t, err)
}
