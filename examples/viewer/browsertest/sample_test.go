package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
	"github.com/amplifier-go/sessionstorage/slice"
)

// The sessions of the sample.
const (
	research  = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c001"
	finished  = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c002"
	damaged   = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c003"
	recovered = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c004"
	hostile   = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c005"
	long      = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c006"
	forked    = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c007"
)

const project = "-home-ada-weather-report"

// attack is what a session must not be able to do.
const attack = `<script>window.broken = 1</script><img src=x onerror="window.broken = 2">`

// sample is a directory of projects that tests look at and change.
type sample struct {
	t     *testing.T
	dir   string // of the projects
	store *sessionstore.Store
	log   *workflow.Workflow
	clock time.Time
}

func newSample(t *testing.T) *sample {
	t.Helper()
	s := &sample{t: t, dir: filepath.Join(t.TempDir(), "projects"), clock: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	st, err := sessionstore.Open(filepath.Join(s.dir, project, "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, "-home-ada-other", "sessions"), 0o700))
	s.store, s.log = st, workflow.New(st, manifests...)
	return s
}

func (s *sample) path(id, name string) string { return filepath.Join(s.store.Dir(), id, name) }

// address is that of a session's page.
func address(id string) string { return "/p/" + project + "/s/" + id }

func (s *sample) metadata(members map[string]any) sessionstore.Metadata {
	s.t.Helper()
	md, err := sessionstore.NewMetadata(members)
	require.NoError(s.t, err)
	return md
}

func (s *sample) create(id string, members map[string]any) {
	s.t.Helper()
	all := map[string]any{"session_id": id, "created": "2026-03-01T09:00:00+00:00", "bundle": "bundle:foundation", "model": "claude-opus-4", "working_dir": "/home/ada/weather"}
	maps.Copy(all, members)
	require.NoError(s.t, s.store.Create(s.t.Context(), id, s.metadata(all)))
}

func (s *sample) message(v map[string]any) sessionstore.Message {
	s.t.Helper()
	s.clock = s.clock.Add(7 * time.Second)
	v["timestamp"] = s.clock.Format(time.RFC3339)
	m, err := sessionstore.NewMessage(v)
	require.NoError(s.t, err)
	return m
}

func (s *sample) said(role, text string) sessionstore.Message {
	return s.message(map[string]any{"role": role, "content": text})
}

func (s *sample) called(id, name string, arguments any) sessionstore.Message {
	return s.message(map[string]any{"role": "assistant", "content": "I look that up.", "tool_calls": []any{map[string]any{"id": id, "tool": name, "arguments": arguments}}})
}

func (s *sample) result(id, text string) sessionstore.Message {
	return s.message(map[string]any{"role": "tool", "tool_call_id": id, "content": text})
}

func (s *sample) add(id string, msgs ...sessionstore.Message) {
	s.t.Helper()
	require.NoError(s.t, s.store.Append(s.t.Context(), id, msgs...))
}

func (s *sample) phase(id, phase, name, status string, output, failure *string) {
	s.t.Helper()
	p := workflow.PhaseOutput{PhaseID: phase, PhaseName: name, Status: "running", SystemPrompt: new("You are a careful meteorologist.\nAnswer in numbers where there are some.\n" + attack), UserInput: new("Manifest: " + name)}
	_, err := s.log.SavePhaseOutput(s.t.Context(), id, p)
	require.NoError(s.t, err)
	if status != "running" {
		_, err = s.log.SavePhaseOutput(s.t.Context(), id, workflow.PhaseOutput{PhaseID: phase, PhaseName: name, Status: status, Output: output, Error: failure})
		require.NoError(s.t, err)
	}
}

// fill makes all sessions of the sample.
func (s *sample) fill() {
	s.research()
	s.create(finished, map[string]any{"name": "Zürich temperatures, 1864 to today", "turn_count": 1})
	s.add(finished, s.said("user", "Plot them."), s.said("assistant", "Here is the plot."))
	s.phase(finished, "plan", "Plan", "completed", new("Nothing is left to do."), nil)
	require.NoError(s.t, s.log.SetStatus(s.t.Context(), finished, "completed"))
	s.decided(finished)

	s.create(hostile, map[string]any{"name": attack, "model": attack})
	s.add(hostile, s.said("user", attack), s.called("call_"+attack, attack, map[string]any{"x": attack}), s.result("call_"+attack, attack), s.said("assistant", attack))
	s.phase(hostile, attack, attack, "failed", new(attack), new(attack))
	s.events(hostile, eventslog.Event{Name: attack, Data: map[string]any{"text": attack}})

	s.create(recovered, map[string]any{"name": "After a power cut"})
	s.add(recovered, s.said("user", "Is anything lost?"), s.said("assistant", "No."))
	s.add(recovered, s.said("user", "Sure?"), s.called("call_9", "shell", map[string]any{"command": "date"}))
	s.write(recovered, "metadata.json.backup", `{"session_id": "`+recovered+`", "name": "After a power cut", "turn_count": 2}`)
	s.write(recovered, "metadata.json", `{"session_id": `)

	s.create(damaged, map[string]any{"name": "Disk trouble"})
	s.add(damaged, s.said("user", "What does the disk say?"), s.said("assistant", "It clicks."))
	for _, name := range []string{"transcript.jsonl", "transcript.jsonl.backup"} {
		s.write(damaged, name, "{\"role\": \"user\", \"content\": \"What does the disk say?\"}\n{\"role\": \"assi\x00\x00\x00\n{\"role\": \"assistant\", \"content\": \"It clicks.\"}\n")
	}
}

// decided adds a conversation about the workflow, and decisions.
func (s *sample) decided(id string) {
	ctx := s.t.Context()
	for _, m := range [][2]string{{"user", "Which series?"}, {"assistant", "The one from **1864** on:\n\n- monthly means\n- made homogeneous\n\n" + attack}} {
		_, err := s.log.AddMessage(ctx, id, new("plan"), m[0], m[1])
		require.NoError(s.t, err)
	}
	state, err := agentstate.Open(s.store, id, nil)
	require.NoError(s.t, err)
	require.NoError(s.t, state.KeepPending(ctx, "call_7", json.RawMessage(`{"tool": "shell", "command": "rm -r plots"}`)))
	require.NoError(s.t, state.AddApprovedCommand(ctx, "go test ./..."))
	require.NoError(s.t, state.Close())
	made, err := checkpoint.New(nil).Create(ctx, s.t.TempDir(), checkpoint.Setup{Chapters: 3})
	require.NoError(s.t, err)
	require.NoError(s.t, made.Approve(ctx, 3, checkpoint.Approval{Feedback: new("Too long."), ChangesRequested: []string{"Shorter, with one plot a chapter."}}))
	require.NoError(s.t, made.Decide(ctx, map[string]any{"format": attack}))
	data, err := os.ReadFile(filepath.Join(made.Dir(), "session-state.json"))
	require.NoError(s.t, err)
	s.write(id, "session-state.json", string(data))
}

// research is a session that has everything.
func (s *sample) research() {
	s.create(research, map[string]any{"name": "weather research", "turn_count": 3})
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(&lines, "%d;%.1f\n", 1864+i%160, 8+float64(i%37)/10)
	}
	s.add(research,
		s.said("user", "How much warmer is Zürich than in 1900?"),
		s.message(map[string]any{"role": "assistant", "content": "I will read the series first.", "thinking_block": map[string]any{"text": "The series begins in 1864, so both ends are there."}, "tool_calls": []any{
			map[string]any{"id": "call_1", "tool": "read_file", "arguments": map[string]any{"path": "data/zurich.csv"}},
			map[string]any{"id": "call_2", "tool": "shell", "arguments": map[string]any{"command": "wc -l data/*.csv"}},
		}}),
		s.result("call_1", lines.String()), s.result("call_2", "  400 data/zurich.csv"),
		s.said("assistant", "About 2.4 °C warmer, by the means of thirty years."),
		s.said("user", "And Davos?"),
		s.called("call_3", "read_file", map[string]any{"path": "data/davos.csv"}), s.result("call_3", "no such file: data/davos.csv"),
		s.said("assistant", "There is no series for Davos here."),
		s.said("user", "Fetch it."),
		s.called("call_4", "web_fetch", map[string]any{"url": "https://example.org/davos.csv"}),
	)
	s.phase(research, "plan", "Plan the research", "completed", new("1. read both series\n2. compare means of thirty years\n3. write it up"), nil)
	s.phase(research, "gather", "Gather data", "completed", new("Zürich: 160 years.\nDavos: missing."), nil)
	s.phase(research, "analyse", "Analyse", "failed", nil, new("provider: 529 overloaded, gave up after 5 attempts"))
	s.phase(research, "write", "Write the report", "running", nil, nil)
	events := []eventslog.Event{}
	for i := range 600 {
		events = append(events, eventslog.Event{Name: []string{"tool:pre", "tool:post", "llm:request", "llm:response"}[i%4], Level: []string{"INFO", "DEBUG", "INFO", "WARNING", "INFO", "ERROR"}[i%6], Time: s.clock.Add(time.Duration(i) * time.Second), Data: map[string]any{"n": i, "text": strings.Repeat("x", i*7%900)}})
	}
	s.events(research, events...)
	fork, err := slice.Fork(s.t.Context(), s.store, research, &slice.ForkOptions{Turn: new(1), NewID: forked})
	require.NoError(s.t, err)
	require.Equal(s.t, forked, fork.ID)
	s.create(sessionstore.NewSubID(research, "data-scout", ""), map[string]any{"name": "data scout", "parent_id": research})
}

func (s *sample) events(id string, events ...eventslog.Event) {
	s.t.Helper()
	log, err := eventslog.Open(filepath.Join(s.store.Dir(), id), nil)
	require.NoError(s.t, err)
	require.NoError(s.t, log.Append(s.t.Context(), events...))
	require.NoError(s.t, log.Close())
}

func (s *sample) write(id, name, content string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.path(id, name), []byte(content), 0o600))
}

// children are what other processes do.
var children = map[string]testenv.Child{"agent": agent}

// job is what an agent is to write.
type job struct {
	Session string
	Phase   *workflow.PhaseOutput
	Prompt  int // size of the phase's system prompt
	Say     string
	Event   string
}

// agent does one job in the sessions directory dir.
func agent(dir, argument string) error {
	var j job
	if err := json.Unmarshal([]byte(argument), &j); err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if j.Phase != nil {
		if j.Prompt > 0 {
			j.Phase.SystemPrompt = new(strings.Repeat("p", j.Prompt))
		}
		if _, err := workflow.New(st, manifests...).SavePhaseOutput(ctx, j.Session, *j.Phase); err != nil {
			return err
		}
	}
	if j.Say != "" {
		m, err := sessionstore.Text("user", j.Say, time.Now())
		if err != nil {
			return err
		}
		if err := st.Append(ctx, j.Session, m); err != nil {
			return err
		}
	}
	if j.Event != "" {
		log, err := eventslog.Open(filepath.Join(dir, j.Session), nil)
		if err != nil {
			return err
		}
		if err := log.Append(ctx, eventslog.Event{Name: j.Event}); err != nil {
			return err
		}
	}
	fmt.Println(time.Now().UnixMilli())
	return st.Close()
}
