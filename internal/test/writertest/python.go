package writertest

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

//go:embed testdata/*.py
var scripts embed.FS

// A Script is a tool that is written in Python, after the description of the
// formats.
type Script string

// The scripts. Each pauses at random.
const (
	OldScript  Script = "oldtool.py" // loads and saves as [OldTool]
	NewScript  Script = "newtool.py" // reads strictly, writes under the metadata lock, appends in place
	HostScript Script = "host.py"    // takes the ownership lock without waiting
)

// program returns the text of s behind the text that the scripts share.
func (s Script) program(t testing.TB) string {
	t.Helper()
	text := ""
	for _, name := range []string{"common.py", string(s)} {
		part, err := scripts.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
	}
	return text
}

// Python is a tool that is written in Python and runs in a process of its own,
// where it pauses at random. It is for one goroutine.
type Python struct {
	dir     string
	process *testenv.Process
}

// StartPython starts a script with the interpreter of that path, and waits until
// it is ready. The end of the test ends it.
func StartPython(t testing.TB, interpreter string, script Script, seed uint64) *Python {
	t.Helper()
	p := &Python{process: testenv.Start(t, exec.CommandContext(t.Context(), interpreter, "-c", script.program(t), strconv.FormatUint(seed, 10)))}
	if _, err := p.answer(); err != nil {
		t.Fatal(err)
	}
	return p
}

// In returns the same process, working on the session in dir; for [HostScript], on the
// session's state in dir.
func (p *Python) In(dir string) *Python { return &Python{dir: dir, process: p.process} }

// Load implements [Tool], for the old tool and the new.
func (p *Python) Load() (Loaded, error) {
	a, err := p.do(command{Do: "load"})
	return Loaded{Rows: a.Rows, Main: map[string]State{"whole": Whole, "missing": Missing, "torn": Torn}[a.Main]}, err
}

// Save implements [Tool], for the old tool.
func (p *Python) Save(name, content string) (renamed time.Time, err error) {
	a, err := p.do(command{Do: "save", Name: name, Content: content})
	return time.Unix(0, a.Renamed), err
}

// Append lets the new tool append rows and add one to the member count of the
// metadata.
func (p *Python) Append(count string, rows ...string) error {
	_, err := p.do(command{Do: "append", Count: count, Rows: rows})
	return err
}

// SaveRows lets the new tool save rows as the whole transcript.
func (p *Python) SaveRows(rows []string) error {
	_, err := p.do(command{Do: "save", Rows: rows})
	return err
}

// Take lets the host take the session of that workspace, and reports whether it
// got it.
func (p *Python) Take(workspace, session string) (bool, error) {
	a, err := p.do(command{Do: "take", Workspace: workspace, Session: session})
	return !a.Busy, err
}

// Release lets the host give the session up.
func (p *Python) Release(workspace, session string) error {
	_, err := p.do(command{Do: "release", Workspace: workspace, Session: session})
	return err
}

// command is the input of the process.
type command struct {
	Do        string   `json:"do"`
	Dir       string   `json:"dir"`
	Name      string   `json:"name,omitempty"`
	Content   string   `json:"content"`
	Rows      []string `json:"rows"`
	Count     string   `json:"count,omitempty"`
	Workspace string   `json:"workspace,omitempty"`
	Session   string   `json:"session,omitempty"`
}

// answer is the output of the process.
type answer struct {
	Rows    []string
	Main    string
	Renamed int64 // nanoseconds since 1970
	Busy    bool
	Error   string
}

func (p *Python) do(c command) (a answer, err error) {
	c.Dir = p.dir
	if c.Rows == nil {
		c.Rows = []string{} // Python takes null for no list
	}
	line, err := json.Marshal(c)
	if err != nil {
		return a, err
	}
	if err := p.process.Send(string(line)); err != nil {
		return a, fmt.Errorf("command the tool: %w", err)
	}
	return p.answer()
}

func (p *Python) answer() (a answer, err error) {
	line, ok := p.process.Line()
	if !ok {
		return a, errors.New("the tool ended")
	}
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return a, fmt.Errorf("the tool said no JSON: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}
