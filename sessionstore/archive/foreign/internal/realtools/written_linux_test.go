package realtools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// history is what the test let a tool write.
type history struct {
	about   string
	id      string // the tool's id of the session
	said    []said // prompts and answers of the conversation
	branch  []said // of the fork that the import makes beside it
	parent  string // the tool's id of the session that this one was forked from
	name    string
	results []string // of calls, as the model received them
	agents  int      // sub-sessions
}

// imports lets a tool write sessions, imports them, and compares them with what was said.
// It returns the conversations and the sub-sessions, each with one more turn.
func imports(t *testing.T, p *projects.Projects, from tool) (all []kept) {
	t.Helper()
	wrote := from.written(t)
	found, err := foreign.Find(t.Context(), from.name(), &foreign.FindOptions{Home: from.home()})
	require.NoError(t, err)
	require.Len(t, found, len(wrote))
	for _, want := range wrote {
		t.Run("import of a "+want.about, func(t *testing.T) {
			i := slices.IndexFunc(found, func(h foreign.History) bool { return h.ID == want.id })
			require.GreaterOrEqual(t, i, 0, "no history %s", want.id)
			agents := compare(t, p, found[i], want)
			st, err := p.Store(found[i].Project())
			require.NoError(t, err)
			for n, id := range append([]string{found[i].SessionID()}, agents...) {
				require.NoError(t, st.Append(t.Context(), id, text(t, "user", "And here?"), text(t, "assistant", "It went on here.")))
				all = append(all, kept{strings.Repeat("agent of a ", n) + want.about + " of " + string(from.name()), st, id})
			}
		})
	}
	return all
}

// compare imports a history and compares it with what was said. It returns the ids of the
// sub-sessions.
func compare(t *testing.T, p *projects.Projects, h foreign.History, want history) (agents []string) {
	t.Helper()
	report, err := foreign.Import(t.Context(), p, h, nil)
	require.NoError(t, err)
	assert.Empty(t, report.Damaged)
	assert.Empty(t, report.Unplaced)
	assert.Empty(t, report.Unknown)
	st, err := p.Store(report.Project)
	require.NoError(t, err)
	for i, s := range report.Sessions {
		rows := stored(t, kept{st: st, id: s.ID})
		switch {
		case i == 0:
			assert.Equal(t, foreign.Conversation, s.Kind)
			assert.Equal(t, want.said, spoken(rows))
			assert.Equal(t, want.results, results(rows))
		case s.Kind == foreign.Branch:
			assert.Equal(t, want.branch, spoken(rows))
			want.branch = nil
		case s.Kind == foreign.Agent:
			agents = append(agents, s.ID)
		default:
			assert.Fail(t, "a session of kind "+string(s.Kind))
		}
	}
	assert.Empty(t, want.branch, "there is no fork")
	assert.Len(t, agents, want.agents, "sub-sessions")
	md, err := st.Metadata(t.Context(), report.Sessions[0].ID)
	require.NoError(t, err)
	if want.parent != "" {
		assert.Equal(t, foreign.History{Tool: h.Tool, ID: want.parent}.SessionID(), md.Text("parent_id"))
	}
	if want.name != "" {
		assert.Equal(t, want.name, md.Text("name"))
	}
	again, err := foreign.Import(t.Context(), p, h, nil)
	require.NoError(t, err)
	for _, s := range again.Sessions {
		assert.Equal(t, foreign.Unchanged, s.Action)
	}
	return agents
}

// results returns the results of calls.
func results(rows []sessionstore.Message) (all []string) {
	for _, m := range rows {
		if m.Role() == "tool" {
			all = append(all, m.Content())
		}
	}
	return all
}

// received returns the results of calls that the model received behind a prompt.
func (m *model) received(t *testing.T, prompt string) []string {
	t.Helper()
	request, ok := m.asked(prompt)
	require.True(t, ok)
	require.Len(t, request.results, 1)
	return request.results
}

// talk is the prompts and answers of one conversation.
type talk []said

func (t *talk) add(prompt, answered string) {
	*t = append(*t, said{"user", prompt}, said{"assistant", answered})
}

// written lets Codex write threads: three turns with a name, forks, a revert, a compaction,
// a resume and a call.
func (c *codexTool) written(t *testing.T) (all []history) {
	t.Helper()
	s := c.server(t)
	begin := func() string {
		var got struct{ Thread thread }
		s.call("thread/start", object{"cwd": c.work}, &got)
		return got.Thread.ID
	}
	said := func(id string) []said { return s.read(id).said() }
	fork := func(params object) string {
		var got struct{ Thread thread }
		s.call("thread/fork", params, &got)
		return got.Thread.ID
	}
	alpha := begin()
	for _, prompt := range []string{"alpha one", "alpha two", "alpha three"} {
		s.turn(alpha, prompt)
	}
	s.call("thread/name/set", object{"threadId": alpha, "name": "A made-up name"}, nil)
	all = append(all, history{about: "thread", id: alpha, said: said(alpha), name: "A made-up name"})

	beta := fork(object{"threadId": alpha})
	s.turn(beta, "beta one")
	all = append(all, history{about: "fork", id: beta, said: append(said(alpha), said(beta)[6:]...), parent: alpha})

	delta := fork(object{"threadId": alpha, "lastTurnId": s.read(alpha).Turns[0].ID})
	s.turn(delta, "delta one")
	all = append(all, history{about: "fork at the first turn", id: delta, said: append(said(alpha)[:2:2], said(delta)[2:]...), parent: alpha})

	gamma := begin()
	for _, prompt := range []string{"gamma one", "gamma two", "gamma three"} {
		s.turn(gamma, prompt)
	}
	hidden := said(gamma)
	s.call("thread/revert", object{"threadId": gamma, "beforeTurnId": s.read(gamma).Turns[1].ID}, nil)
	s.turn(gamma, "gamma four")
	all = append(all, history{about: "revert", id: gamma, said: said(gamma), branch: hidden})

	eta := begin()
	s.turn(eta, "eta one")
	s.turn(eta, "eta two")
	s.call("thread/compact/start", object{"threadId": eta}, nil)
	s.over("turn/completed", eta)
	s.turn(eta, "eta three")
	all = append(all, history{about: "compaction", id: eta, said: said(eta)})

	c.model.calling("theta one", "exec_command", object{"cmd": "echo made up"})
	theta := begin()
	s.turn(theta, "theta one")
	all = append(all, history{about: "call", id: theta, said: said(theta), results: c.model.received(t, "theta one")})

	iota := begin()
	s.turn(iota, "iota one")
	c.stop()
	s = c.server(t)
	s.call("thread/resume", object{"threadId": iota}, nil)
	s.turn(iota, "iota two")
	all = append(all, history{about: "resume", id: iota, said: said(iota)})
	for i, want := range []int{6, 8, 4, 4, 6, 2, 4} {
		require.Len(t, all[i].said, want, all[i].about)
	}
	return all
}

// written lets Claude Code write sessions: two turns, a fork, one turn, a compaction, a fork
// of it, a call, and a sub-agent.
func (c *claudeCode) written(t *testing.T) (all []history) {
	t.Helper()
	ask := func(k *talk, prompt string, args ...string) string {
		r := c.say(t, prompt, args...)
		k.add(prompt, r.Result)
		return r.Session
	}
	var first talk
	id := ask(&first, "alpha one")
	require.Equal(t, id, ask(&first, "alpha two", "--continue"))
	forked := slices.Clone(first)
	all = append(all, history{about: "session", id: id, said: first})
	fork := ask(&forked, "beta one", "--resume", id, "--fork-session")
	require.NotEqual(t, id, fork)
	all = append(all, history{about: "fork", id: fork, said: forked, parent: id})

	var short talk
	id = ask(&short, "gamma one")
	all = append(all, history{about: "turn", id: id, said: short})

	var compacted talk
	id = ask(&compacted, "eta one")
	ask(&compacted, "eta two", "--resume", id)
	c.say(t, "/compact", "--resume", id)
	ask(&compacted, "eta three", "--resume", id)
	all = append(all, history{about: "compaction", id: id, said: compacted})
	kept := slices.Clone(compacted[3:]) // from the answer that the compaction keeps
	fork = ask(&kept, "eta four", "--resume", id, "--fork-session")
	all = append(all, history{about: "fork of a compaction", id: fork, said: kept, parent: id})

	file := filepath.Join(c.work, "made-up.txt")
	require.NoError(t, os.WriteFile(file, []byte("A made-up line.\n"), 0o600))
	c.model.calling("theta one", "Read", object{"file_path": file})
	var called talk
	id = ask(&called, "theta one")
	all = append(all, history{about: "call", id: id, said: called, results: c.model.received(t, "theta one")})

	c.model.calling("kappa one", "Agent", object{"description": "A made-up task", "prompt": "Do what was made up.", "subagent_type": "general-purpose"})
	id = c.say(t, "kappa one").Session
	worked := slices.DeleteFunc(c.read(t, []string{id})[0], func(s said) bool { return strings.HasPrefix(s.text, "<") }) // reports of the agent
	require.GreaterOrEqual(t, len(worked), 2)
	all = append(all, history{about: "sub-agent", id: id, said: worked, results: c.model.received(t, "kappa one"), agents: 1})
	return all
}
