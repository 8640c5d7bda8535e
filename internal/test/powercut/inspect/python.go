package inspect

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
)

//go:embed reader.py
var script string

// Python is a Python process that reads sessions.
type Python struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// StartPython starts the interpreter at path.
func StartPython(path string) (*Python, error) {
	p := &Python{cmd: exec.Command(path, "-c", script)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<20)
	return p, p.cmd.Start()
}

// Close ends the process.
func (p *Python) Close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// A place is a directory of sessions and the id of one.
type place [2]string

// load returns the state that Python's load sees at each place.
func (p *Python) load(places []place) (states []history.State, err error) {
	if len(places) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(places)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return states, json.Unmarshal(line, &states)
}
