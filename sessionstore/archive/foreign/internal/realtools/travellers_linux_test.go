package realtools

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// travels is what all journeys need: the tools, and the command.
type travels struct {
	programs
	openCode string
	program  string
	net      *network
}

// newJourneys installs the tools, and builds the command.
func newJourneys(t *testing.T) *travels {
	t.Helper()
	v := &travels{programs: install(t, "pinned", pinned)}
	pi, copilot := installPi(t, "pinned-pi", piPinned), installCopilot(t, "pinned-copilot", copilotPinned)
	v.node, v.piBin, v.copilotBin = pi.node, pi.piBin, copilot.copilotBin
	v.openCode = installOpenCode(t, "pinned", openCodePinned)
	v.program = filepath.Join(t.TempDir(), "sessions")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../../../examples/sessions", "-o", v.program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return v
}

// begin makes a session, and homes of all tools.
func (v *travels) begin(t *testing.T, r *rand.Rand) *journey {
	t.Helper()
	l := newLab(t, v.programs)
	l.model.strict = true
	own := *v
	own.net = l.net
	j := &journey{travels: &own, rand: r, work: l.work, id: sessionstore.NewID(), dir: filepath.Join(t.TempDir(), "projects")}
	j.took = map[string]time.Duration{"resume": time.Second, "import": time.Second}
	pi, copilot, open := newPi(t, l).(*piTool), newCopilot(t, l).(*copilotTool), newOpenCode(t, l, v.openCode)
	claude, codex := newClaude(t, l).(*claudeCode), newCodex(t, l).(*codexTool)
	j.tools = []*traveller{
		{foreign.Pi, pi.home(), pi.model, func(t *testing.T, id, prompt string) *exec.Cmd {
			return pi.command(t, append(append([]string{pi.piBin}, foreign.Pi.Resume(id)...), "-p", prompt)...)
		}, "bash", "command"},
		{foreign.Copilot, copilot.home(), copilot.model, copilot.prompted, "bash", "command"},
		{foreign.OpenCode, filepath.Dir(open.home()), open.model, func(t *testing.T, id, prompt string) *exec.Cmd {
			return open.command(t, append(append([]string{"run"}, foreign.OpenCode.Resume(id)...), "-m", "made-up/made-up", prompt)...)
		}, "bash", "command"},
		{foreign.Claude, claude.home(), claude.model, func(t *testing.T, id, prompt string) *exec.Cmd {
			return claude.command(t, append(foreign.Claude.Resume(id), "-p", prompt, "--allowedTools", "Bash")...)
		}, "Bash", "command"},
		{foreign.Codex, codex.home(), codex.model, func(t *testing.T, id, prompt string) *exec.Cmd {
			return codex.command(t, "exec", "--skip-git-repo-check", "resume", id, prompt)
		}, "exec_command", "cmd"},
	}
	j.cli = []string{"HOME=" + open.user, "AMPLIFIER_HOME=" + filepath.Dir(j.dir), "PATH=" + filepath.Dir(v.openCode) + ":" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	for n, to := range j.tools {
		to.asks.named = true
		to.asks.answers = 1000 * n // the ids of its calls are not those of another model
		j.cli = append(j.cli, to.name.Variable()+"="+to.home)
	}
	j.open(t)
	j.begins(t)
	return j
}

// traveller is a tool that takes a prompt in a session by one command.
type traveller struct {
	name     foreign.Tool
	home     string // that its variable names
	asks     *model
	prompted func(t *testing.T, id, prompt string) *exec.Cmd
	tool     string // its function that runs a command
	argument string
}

// shell returns a call that runs a command.
func (to *traveller) shell(command string) (name string, arguments object) {
	return to.tool, object{to.argument: command, "description": "d"}
}

// count returns how many requests came.
func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// since returns the requests after the first n.
func (m *model) since(n int) []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[n:]
}

// answerTo begins an answer that names its prompt by the word of it.
const answerTo = "Answer to "

var (
	named    = regexp.MustCompile(`\bw\d{3}\b`)
	answered = regexp.MustCompile(answerTo + `w\d{3}\b|Piece \d about ` + goOnWith(`w\d{3}`))
)

func goOnWith(word string) string { return "Go on with " + word + "." }

// namesIn returns the words of prompts, and the answers that name them.
func namesIn(all []said) (names []said) {
	for _, s := range all {
		find := map[string]*regexp.Regexp{"user": named, "assistant": answered}[s.role]
		if find == nil {
			continue
		}
		for _, name := range find.FindAllString(s.text, -1) {
			names = append(names, said{s.role, name})
		}
	}
	return names
}

// inOrder returns what is not as it was said: once, and in order.
func inOrder(want []once, got []said) error {
	i := 0
	for _, s := range got {
		for i < len(want) && want[i].said != s && want[i].maybe {
			i++
		}
		if i == len(want) || want[i].said != s {
			return fmt.Errorf("%s %q in the wrong place, or once more: %v of %v", s.role, s.text, got, want)
		}
		i++
	}
	for _, w := range want[i:] {
		if !w.maybe {
			return fmt.Errorf("%s %q is missing: %v of %v", w.role, w.text, got, want)
		}
	}
	return nil
}
