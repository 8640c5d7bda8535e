package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// failed is the state of a subject that gave an error.
func failed(err error) history.State {
	if errors.Is(err, fs.ErrNotExist) {
		return history.Gone()
	}
	return history.State{Number: history.None, Err: err.Error()}
}

// lines is a file of one JSON value a line. Only the last line may be torn.
func lines(name string, key func([]byte) (string, error)) history.State {
	b, err := os.ReadFile(name)
	if err != nil {
		return failed(err)
	}
	out := history.State{Number: history.None}
	all := bytes.SplitAfter(b, []byte("\n"))
	for i, l := range all {
		last := i == len(all)-1
		if last && len(bytes.TrimSpace(l)) == 0 {
			continue
		}
		k, err := key(l)
		switch {
		case err == nil:
			out.Rows = append(out.Rows, k)
		case !last:
			out.Err = fmt.Sprintf("line %d of %d: %v", i+1, len(all), err)
		}
	}
	return out
}

func eventKey(line []byte) (string, error) {
	var e struct {
		Data struct {
			K string `json:"k"`
		} `json:"data"`
		K string `json:"k"`
	}
	err := json.Unmarshal(line, &e)
	return e.Data.K + e.K, err
}

// config is a file that SaveConfig wrote: whole, with one member k.
func config(dir, id string) history.State {
	b, err := os.ReadFile(filepath.Join(dir, id, "config.md"))
	if err != nil {
		return failed(err)
	}
	if end := "Config snapshot for session " + id + "\n"; !bytes.HasPrefix(b, []byte("---\n")) || !bytes.HasSuffix(b, []byte(end)) {
		return history.State{Number: history.None, Err: fmt.Sprintf("config of %d bytes is not whole", len(b))}
	}
	_, after, _ := bytes.Cut(b, []byte("\nk: "))
	k, _, _ := bytes.Cut(after, []byte("\n"))
	return history.State{Rows: []string{string(k)}, Number: history.None}
}

// agent returns the data that agentstate keeps: the verdicts of approvals, and the history.
func agent(ctx context.Context, st *sessionstore.Store, id string) history.State {
	s, err := agentstate.Open(st, id, nil)
	if err != nil {
		return failed(err)
	}
	kept, err := s.Approvals(ctx)
	items, herr := s.History(ctx)
	if err := errors.Join(err, herr, s.Close()); err != nil {
		return failed(err)
	}
	out := history.State{Number: history.None}
	for _, k := range kept {
		out.Rows = append(out.Rows, k.ID+":"+string(k.Verdict))
	}
	for _, item := range items {
		k, err := eventKey(item)
		if err != nil {
			return failed(err)
		}
		out.Rows = append(out.Rows, k)
	}
	return out
}

func workflows(ctx context.Context, st *sessionstore.Store, id string) history.State {
	log := workflow.New(st)
	phases, err := log.PhaseOutputs(ctx, id)
	if err != nil {
		return failed(err)
	}
	out := history.State{Number: history.None}
	for _, p := range phases {
		if p.Output != nil {
			out.Rows = append(out.Rows, key(*p.Output))
		}
	}
	return out
}

// checkpoints is the state of a checkpoint session: its decisions.
func checkpoints(dir, id string) history.State {
	s, err := checkpoint.New(&checkpoint.Options{TempDir: dir}).Open(filepath.Join(dir, id, ".scientific-analysis-session"))
	if err != nil {
		return failed(err)
	}

	out := history.State{Number: history.None}
	for _, n := range s.State().CompletedPhases() {
		out.Rows = append(out.Rows, fmt.Sprint(n))
	}
	return out
}
