package archive_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/slice"
)

var (
	call     = json.RawMessage(`{"command": "rm -rf build"}`)
	verdicts = map[string]agentstate.Verdict{
		"approved": agentstate.Approved, "rejected": agentstate.Rejected, "ran": agentstate.Ran, "waits": agentstate.Undecided,
	}
)

func newStore(t *testing.T) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(filepath.Join(t.TempDir(), "p", "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func stateOf(t *testing.T, st *sessionstore.Store, id string) *agentstate.State {
	t.Helper()
	s, err := agentstate.Open(st, id, nil)
	require.NoError(t, err)
	return s
}

// approving makes the session s, whose calls have each verdict, with an approved command.
func approving(t *testing.T) *sessionstore.Store {
	t.Helper()
	st := newStore(t)
	m, err := sessionstore.Text("user", "hi", time.Unix(0, 0))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", m, m))
	s := stateOf(t, st, "s")
	for id, v := range verdicts {
		require.NoError(t, s.KeepPending(t.Context(), id, call))
		if v == agentstate.Rejected {
			require.NoError(t, s.Decide(t.Context(), id, v))
		} else if v != agentstate.Undecided {
			require.NoError(t, s.Decide(t.Context(), id, agentstate.Approved))
		}
	}
	require.NoError(t, s.Claim(t.Context(), "ran", call))
	require.NoError(t, s.AddApprovedCommand(t.Context(), "make"))
	require.NoError(t, s.SetValue(t.Context(), "ours", json.RawMessage(`[1, 2.50]`)))
	require.NoError(t, s.AddApprovedCommand(t.Context(), "ls"))
	return st
}

// requireApproved requires that a session has what approving approved, each call once.
func requireApproved(t *testing.T, st *sessionstore.Store, id string) {
	t.Helper()
	s, lost := stateOf(t, st, id), testenv.Lost(t)
	found, err := s.Approvals(t.Context())
	require.NoError(t, err)
	for _, k := range found {
		require.Equal(lost, verdicts[k.ID], k.Verdict, k.ID)
	}
	requireRan(t, s)
	commands, err := s.ApprovedCommands(t.Context())
	require.NoError(t, err)
	require.Equal(lost, []string{"ls", "make"}, commands)
	require.NoError(lost, s.Claim(t.Context(), "approved", call))
	require.ErrorIs(lost, s.Claim(t.Context(), "approved", call), agentstate.ErrRan)
}

// requireRan requires that the call that ran is refused in every way.
func requireRan(t *testing.T, s *agentstate.State) {
	t.Helper()
	lost := testenv.Lost(t)
	require.ErrorIs(lost, s.KeepPending(t.Context(), "ran", call), agentstate.ErrPending)
	require.ErrorIs(lost, s.Decide(t.Context(), "ran", agentstate.Approved), agentstate.ErrRan)
	require.ErrorIs(lost, s.Claim(t.Context(), "ran", call), agentstate.ErrRan)
}

// requireAsked requires that a session has no approval, and that the user can give it there,
// for one run.
func requireAsked(t *testing.T, st *sessionstore.Store, id string) {
	t.Helper()
	s, lost := stateOf(t, st, id), testenv.Lost(t)
	err := s.Claim(t.Context(), "approved", call)
	require.ErrorIs(lost, err, agentstate.ErrNotApproved)
	require.NotErrorIs(lost, err, agentstate.ErrRejected)
	require.ErrorIs(lost, s.Claim(t.Context(), "rejected", call), agentstate.ErrRejected)
	requireRan(t, s)
	found, err := s.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(lost, found, len(verdicts))
	for _, k := range found {
		want := verdicts[k.ID]
		if want == agentstate.Approved {
			want = agentstate.Undecided
		}
		require.Equal(lost, want, k.Verdict, k.ID)
	}
	for _, command := range []string{"make", "ls"} {
		is, err := s.IsCommandApproved(t.Context(), command)
		require.NoError(t, err)
		require.False(lost, is, command)
	}
	commands, err := s.ApprovedCommands(t.Context())
	require.NoError(t, err)
	require.Empty(lost, commands)
	exported, err := s.Export(t.Context())
	require.NoError(t, err)
	require.Contains(lost, string(exported), `"approvedCommands": []`)

	require.NoError(t, s.Decide(t.Context(), "approved", agentstate.Approved))
	require.NoError(t, s.Claim(t.Context(), "approved", call))
	require.ErrorIs(lost, s.Claim(t.Context(), "approved", call), agentstate.ErrRan)
	require.NoError(t, s.AddApprovedCommand(t.Context(), "make"))
	is, err := s.IsCommandApproved(t.Context(), "make")
	require.NoError(t, err)
	require.True(t, is)
}

// copyFiles copies a session's directory as other tools do.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
}

// rewrite replaces a string in a file of a session, as other tools do.
func rewrite(t *testing.T, st *sessionstore.Store, id, name, old, new string) {
	t.Helper()
	path := filepath.Join(st.Dir(), id, name)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(content), old, new)), 0o600))
}

// TestApprovalsStayWhereTheyWereGiven brings the files of a session elsewhere in each way.
// What was approved is asked for anew there, and counts once in the session itself.
func TestApprovalsStayWhereTheyWereGiven(t *testing.T) {
	t.Parallel()
	packed := func(t *testing.T, st *sessionstore.Store, zip bool) io.Reader {
		var plain, zipped bytes.Buffer
		require.NoError(t, archive.Write(t.Context(), &plain, st, []string{"s"}, nil))
		if !zip {
			return &plain
		}
		z := gzip.NewWriter(&zipped)
		_, err := plain.WriteTo(z)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return &zipped
	}
	imported := func(t *testing.T, got archive.Imported, err error) {
		require.NoError(t, err)
		require.Equal(t, 1, got.AskedAgain)
		require.Equal(t, 2, got.CommandsDropped)
	}
	read := func(zip bool, to string) func(*testing.T, *sessionstore.Store) (*sessionstore.Store, string) {
		return func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			in := packed(t, st, zip)
			if to == "s" {
				require.NoError(t, st.Delete(t.Context(), "s"))
			}
			got, err := archive.Read(t.Context(), in, st, &archive.ReadOptions{ID: to})
			require.Len(t, got, 1)
			imported(t, got[0], err)
			return st, to
		}
	}
	readDir := func(to string) func(*testing.T, *sessionstore.Store) (*sessionstore.Store, string) {
		return func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			from := filepath.Join(t.TempDir(), "s")
			copyFiles(t, filepath.Join(st.Dir(), "s"), from)
			if to == "s" {
				require.NoError(t, st.Delete(t.Context(), "s"))
			}
			got, err := archive.ReadDir(t.Context(), from, st, &archive.ReadOptions{ID: to})
			imported(t, got, err)
			return st, to
		}
	}
	for name, bring := range map[string]func(*testing.T, *sessionstore.Store) (*sessionstore.Store, string){
		"tar under another id":     read(false, "t"),
		"tar under the same id":    read(false, "s"),
		"tar.gz under another id":  read(true, "t"),
		"tar.gz under the same id": read(true, "s"),
		"directory, another id":    readDir("t"),
		"directory, the same id":   readDir("s"),
		"tar into another directory": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			other := newStore(t)
			_, err := archive.Read(t.Context(), packed(t, st, false), other, nil)
			require.NoError(t, err)
			return other, "s"
		},
		"cp -r in the directory": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			copyFiles(t, filepath.Join(st.Dir(), "s"), filepath.Join(st.Dir(), "t"))
			return st, "t"
		},
		"cp -r to another directory": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			other := newStore(t)
			copyFiles(t, filepath.Join(st.Dir(), "s"), filepath.Join(other.Dir(), "s"))
			return other, "s"
		},
		"cp -r to another directory with a key": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			other := approving(t)
			require.NoError(t, os.RemoveAll(filepath.Join(other.Dir(), "s")))
			copyFiles(t, filepath.Join(st.Dir(), "s"), filepath.Join(other.Dir(), "s"))
			return other, "s"
		},
		"rewrite without marks": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			for _, c := range []struct{ file, old string }{{"pending_approvals.json", `"mark"`}, {"state.json", `"approvedMarks"`}} {
				rewrite(t, st, "s", c.file, c.old, `"other"`)
			}
			return st, "s"
		},
		"key is lost": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			require.NoError(t, os.Remove(filepath.Join(st.Dir(), ".sessionstore", "approvals", "key")))
			return st, "s"
		},
		"bookkeeping is lost": func(t *testing.T, st *sessionstore.Store) (*sessionstore.Store, string) {
			require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), ".sessionstore")))
			return st, "s"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := approving(t)
			at, id := bring(t, st)
			requireAsked(t, at, id)
			if at != st || id != "s" {
				requireApproved(t, st, "s")
			}
		})
	}
}

// TestNoApprovalsInTheseWays: a fork and lines bring no file of an agent.
func TestNoApprovalsInTheseWays(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(*testing.T, *sessionstore.Store) string{
		"fork": func(t *testing.T, st *sessionstore.Store) string {
			forked, err := slice.Fork(t.Context(), st, "s", nil)
			require.NoError(t, err)
			return forked.ID
		},
		"lines under the same id": func(t *testing.T, st *sessionstore.Store) string {
			var lines bytes.Buffer
			require.NoError(t, archive.Write(t.Context(), &lines, st, []string{"s"}, &archive.WriteOptions{Format: archive.JSONL}))
			require.NoError(t, st.Delete(t.Context(), "s"))
			_, err := archive.Read(t.Context(), &lines, st, &archive.ReadOptions{ID: "s"})
			require.NoError(t, err)
			return "s"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := approving(t)
			id := bring(t, st)
			s := stateOf(t, st, id)
			require.ErrorIs(t, s.Claim(t.Context(), "approved", call), agentstate.ErrNotPending)
			commands, err := s.ApprovedCommands(t.Context())
			require.NoError(t, err)
			require.Empty(t, commands)
			if id != "s" {
				requireApproved(t, st, "s")
			}
		})
	}
}

// TestApprovalsComeBackFromTheTrash: the session is the same, in the same directory.
func TestApprovalsComeBackFromTheTrash(t *testing.T) {
	t.Parallel()
	st := approving(t)
	gone, err := trash.Delete(t.Context(), st, []string{"s"}, &trash.Options{Allow: []trash.Kind{trash.Recent}})
	require.NoError(t, err)
	require.False(t, st.Exists("s"))
	receipts, err := trash.List(t.Context(), st)
	require.NoError(t, err)
	require.Len(t, receipts, 1, gone)
	_, err = trash.Restore(t.Context(), st, receipts[0], nil)
	require.NoError(t, err)
	requireApproved(t, st, "s")
}

// TestVerdictsOfOthersInAFile has another tool change the verdicts in a file.
func TestVerdictsOfOthersInAFile(t *testing.T) {
	t.Parallel()
	for _, old := range []string{"rejected", "pending"} {
		st := approving(t)
		rewrite(t, st, "s", "pending_approvals.json", `"verdict": "`+old+`"`, `"verdict": "approved"`)
		s := stateOf(t, st, "s")
		for id, v := range verdicts {
			if string(v) == old {
				require.ErrorIs(testenv.Lost(t), s.Claim(t.Context(), id, call), agentstate.ErrNotApproved, old)
				require.NoError(t, s.Decide(t.Context(), id, agentstate.Rejected))
				require.ErrorIs(t, s.Claim(t.Context(), id, call), agentstate.ErrRejected)
			}
		}
		requireApprovedCall(t, s)
	}
}

func requireApprovedCall(t *testing.T, s *agentstate.State) {
	t.Helper()
	require.NoError(t, s.Claim(t.Context(), "approved", call))
	require.ErrorIs(testenv.Lost(t), s.Claim(t.Context(), "approved", call), agentstate.ErrRan)
}

// TestImportKeepsOtherBytes reads files of an agent whose names, members and damage are odd.
func TestImportKeepsOtherBytes(t *testing.T) {
	t.Parallel()
	const pending, state = "pending_approvals.json", "state.json"
	for name, c := range map[string]struct {
		file, content, want string
		asked, dropped      int
	}{
		"indented": {
			pending, "\n{\n  \"v\": 1, \"x\": [1.50],\n  \"approvals\": [\n    {\"id\": \"1\", \"verdict\":\"approved\", \"mark\": \"m\", \"y\": 1e2} ,\n\n    {\"verdict\": \"rejected\", \"mark\": 5},\n  17,{\"verdict\": \"ran\"}\n  ]\n}\n\n",
			"\n{\n  \"v\": 1, \"x\": [1.50],\n  \"approvals\": [\n    {\"id\": \"1\", \"verdict\":\"pending\", \"y\": 1e2} ,\n\n    {\"verdict\": \"rejected\", \"mark\": 5},\n  17,{\"verdict\": \"ran\"}\n  ]\n}\n\n", 1, 0,
		},
		"escaped, twice, newer": {
			pending, `{"v": 9, "\u0061pprovals": [{"verdict": "ran", "v\u0065rdict": "\u0061pproved"}, {"verdict": "approved"}]}`,
			`{"v": 9, "\u0061pprovals": [{"verdict": "ran", "v\u0065rdict": "pending"}, {"verdict": "pending"}]}`, 2, 0,
		},
		"other case":         {"Pending_Approvals.JSON", `{"approvals": [{"verdict": "approved"}]}`, `{"approvals": [{"verdict": "pending"}]}`, 1, 0},
		"backup":             {pending + ".backup", `{"approvals": [{"verdict": "approved"}]}`, `{"approvals": [{"verdict": "pending"}]}`, 0, 0},
		"ran":                {pending, `{"approvals": [{"id": "1", "ran": "x"}, {"id": "2", "ran": "y", "verdict": "approved", "mark": "m"}]}`, `{"approvals": [{"id": "1", "ran": "x"}, {"id": "2", "ran": "y", "verdict": "pending"}]}`, 1, 0},
		"none approved":      {pending, `{"approvals":  [{"verdict": "pending"} ]}`, `{"approvals":  [{"verdict": "pending"} ]}`, 0, 0},
		"torn":               {pending, `{"approvals": [{"verdict": "approved"}`, `{"approvals": [{"verdict": "approved"}`, 0, 0},
		"object of calls":    {pending, `{"approvals": {"verdict": "approved"}}`, `{"approvals": {"verdict": "approved"}}`, 0, 0},
		"empty":              {pending, "", "", 0, 0},
		"commands":           {state, `{"v": 1, "approvedCommands": ["a",  "b"], "approvedMarks": ["m"], "x": 1.50}`, `{"v": 1, "x": 1.50}`, 0, 2},
		"commands in backup": {state + ".Backup", `{"approvedCommands": ["a"], "x": 1}`, `{"x": 1}`, 0, 1},
		"commands twice":     {state, `{"approvedCommands": [], "approvedCommands": ["a"]}`, `{}`, 0, 1},
		"no commands":        {state, `{"v":1,"approvedCommands":[],"x":1}`, `{"v":1,"approvedCommands":[],"x":1}`, 0, 0},
		"torn state":         {state, `{"approvedCommands": ["a"]`, `{"approvedCommands": ["a"]`, 0, 0},
		"commands are text":  {state, `{"approvedCommands": "a"}`, `{"approvedCommands": "a"}`, 0, 0},
		"below":              {"kept/" + state, `{"approvedCommands": ["a"]}`, `{"approvedCommands": ["a"]}`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, st := filepath.Join(t.TempDir(), "s"), newStore(t)
			path := filepath.Join(from, filepath.FromSlash(c.file))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(from, "transcript.jsonl"), []byte("{\"role\": \"user\"}\n"), 0o600))
			require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
			got, err := archive.ReadDir(t.Context(), from, st, nil)
			require.NoError(t, err)
			content, err := os.ReadFile(filepath.Join(st.Dir(), "s", filepath.FromSlash(c.file)))
			require.NoError(t, err)
			require.Equal(t, c.want, string(content))
			require.Equal(t, []int{c.asked, c.dropped}, []int{got.AskedAgain, got.CommandsDropped})
		})
	}
}
