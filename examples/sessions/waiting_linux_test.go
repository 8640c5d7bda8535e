package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// waits is a state in which a session of device two waits or is stopped.
type waits struct {
	name    string
	about   func(w *waitWorld) // brings it about
	code    int                // of sync
	says    string             // a part of what sync writes
	list    string             // of the answer of sync that names the session; "": none does
	state   string             // in the status; "": the status is an error, which says the same
	reason  string             // a part of the reason, in the answers of sync and status
	command string             // that both name, without --project; "": none
	on      string             // the device that runs it; "": device two
	ends    func(w *waitWorld) // what ends it beside the command, as time that passes
	after   string             // the state at the end; "": UpToDate
}

// waitWorld is an account with two devices that have a session, and no program that uses it.
type waitWorld struct {
	t        *testing.T
	account  *cosmostest.Server
	endpoint string
	one, two string
}

func newWaitWorld(t *testing.T) *waitWorld {
	w := &waitWorld{t: t, account: cosmostest.New(&cosmostest.Options{PartitionBytes: 1 << 20}), one: t.TempDir(), two: t.TempDir()}
	server := httptest.NewServer(w.account)
	t.Cleanup(server.Close)
	w.endpoint = server.URL
	t.Setenv("COSMOS_KEY", w.account.Key())
	require.NoError(t, w.account.CreateContainer("db", "a", "/pk"))
	for _, device := range []string{w.one, w.two} {
		tool(t, device, 0, "remote", "add", "work", "cosmos://test/db/a?endpoint="+w.endpoint, "--user", "ada")
		require.NoError(t, os.MkdirAll(w.sessions(device), 0o700))
	}
	w.say(w.one, "1")
	w.run(w.one, 0, "sync")
	w.run(w.two, 0, "pull")
	return w
}

func (w *waitWorld) sessions(device string) string {
	return filepath.Join(device, "projects", "demo", "sessions")
}

// file returns a path within the session on a device.
func (w *waitWorld) file(device, name string) string {
	return filepath.Join(w.sessions(device), "s", name)
}

func (w *waitWorld) run(device string, code int, args ...string) string {
	w.t.Helper()
	out, errs := tool(w.t, device, code, append(args, "--project=demo")...)
	return out + errs
}

func (w *waitWorld) say(device, text string) {
	w.t.Helper()
	say(w.t, device, "s", text)
}

// theirs adds a message on device one, and sends it.
func (w *waitWorld) theirs() {
	w.t.Helper()
	w.say(w.one, "of one")
	w.run(w.one, 0, "sync")
}

func (w *waitWorld) write(path, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// wrote gives the transcript of device two a time, as if another tool had written it.
func (w *waitWorld) wrote(before time.Duration) {
	w.t.Helper()
	at := time.Now().Add(-before)
	require.NoError(w.t, os.Chtimes(w.file(w.two, "transcript.jsonl"), at, at))
}

func (w *waitWorld) anHourPasses() { w.wrote(time.Hour) }

// bookkeeping returns a path within the bookkeeping of device two.
func (w *waitWorld) bookkeeping(name string) string {
	return filepath.Join(w.sessions(w.two), ".sessionstore", name)
}

// program opens the directory of device two as a program does.
func (w *waitWorld) program() *hybrid.Store {
	w.t.Helper()
	c, err := cosmos.ConfigFromURL("cosmos://test/db/a?endpoint=" + w.endpoint)
	require.NoError(w.t, err)
	c.Key = w.account.Key()
	r, err := cosmos.Connect(w.t.Context(), c, nil, nil)
	require.NoError(w.t, err)
	s, err := hybrid.Open(w.t.Context(), w.sessions(w.two), &hybrid.Options{Remote: r, User: "ada", Project: "demo", Manual: true})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	return s
}

// refuse lets the account refuse what writes to sessions, until heal.
func (w *waitWorld) refuse(f cosmostest.Fault) {
	w.account.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
		if r.Op.Writes() && strings.HasPrefix(r.Partition, `["s-`) {
			return f
		}
		return cosmostest.Fault{}
	}))
}

func (w *waitWorld) heal() { w.account.Inject(nil) }

// edit changes the documents whose name contains a text.
func (w *waitWorld) edit(name, old, text string) {
	w.t.Helper()
	edited := 0
	for _, d := range w.account.Docs("db", "a") {
		if strings.Contains(d.ID, name) && strings.Contains(string(d.Body), old) {
			require.NoError(w.t, w.account.Put("db", "a", strings.Replace(string(d.Body), old, text, 1)))
			edited++
		}
	}
	require.Positive(w.t, edited)
}

// named is what an answer says of a session.
type named struct {
	Session string  `json:"session_id"`
	State   string  `json:"state"`
	Reason  string  `json:"reason"`
	Error   *string `json:"error"`
	Command *string `json:"command"`
	Until   *string `json:"until"`
}

// TestWaiting walks through the states in which a session waits or is stopped: sync and
// status name it, with the reason and the command, and the command ends it.
func TestWaiting(t *testing.T) { //nolint:paralleltest // it sets the environment
	for _, s := range waitStates() {
		t.Run(s.name, func(t *testing.T) { s.walk(newWaitWorld(t)) }) //nolint:paralleltest // it sets the environment
	}
}

func (s *waits) walk(w *waitWorld) {
	t := w.t
	s.about(w)
	out := w.run(w.two, s.code, "sync")
	require.Contains(t, out, s.says)
	require.NotContains(t, out, "Options.")
	command := s.command
	if command != "" {
		if s.list != "" {
			require.Contains(t, out, command) // what is the account's is told once, for all projects
		}
		command += " --project=demo"
	}
	same := func(all []named) named {
		all = slices.DeleteFunc(all, func(n named) bool { return n.Session != "s" })
		require.Len(t, all, 1)
		require.Equal(t, command, text(all[0].Command))
		return all[0]
	}
	if s.list != "" {
		var answer map[string]json.RawMessage
		var all []named
		stdout, _ := tool(t, w.two, s.code, "sync", "--project=demo", "--json")
		require.NoError(t, json.Unmarshal([]byte(stdout), &answer))
		require.NoError(t, json.Unmarshal(answer[s.list], &all), s.list)
		require.Contains(t, same(all).Reason, s.reason)
	}
	if s.state == "" {
		require.Contains(t, w.run(w.two, 1, "status"), s.says)
	} else {
		var all []named
		stdout, _ := tool(t, w.two, 0, "status", "--project=demo", "--json")
		require.NoError(t, json.Unmarshal([]byte(stdout), &all))
		one := same(all)
		require.Equal(t, s.state, one.State)
		require.Contains(t, text(one.Error), s.reason)
		out := w.run(w.two, 0, "status")
		require.Contains(t, out, s.reason)
		require.Contains(t, out, command)
	}
	if s.ends != nil {
		s.ends(w)
	}
	if command != "" {
		device := w.two
		if s.on != "" {
			device = w.one
		}
		args := strings.Fields(strings.TrimPrefix(command, "sessions "))
		if strings.Contains(command, " recreate ") || strings.Contains(command, " purge ") || strings.Contains(command, " prune ") {
			args = append(args, "--force") // there is nobody to be asked
		}
		if strings.Contains(command, " undo --drop ") {
			args = append(args, "--yes")
		}
		tool(t, device, 0, args...)
		if strings.Contains(command, " repair ") {
			w.anHourPasses()
		}
	}
	out = w.run(w.two, 0, "sync")
	require.Contains(t, out, "✓ ")
	for _, word := range []string{"later:", "stays:", "in part:", "only the remote"} {
		require.NotContains(t, out, word)
	}
	stdout, _ := tool(t, w.two, 0, "status", "--project=demo", "--all", "--json")
	var all []named
	require.NoError(t, json.Unmarshal([]byte(stdout), &all))
	for _, is := range all {
		want := "UpToDate"
		if s.after != "" {
			want = s.after
		}
		require.Equal(t, want, is.State, stdout)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func waitStates() []waits {
	acquired, opened := (*sessionstore.Hold)(nil), (*hybrid.Store)(nil)
	return []waits{
		{
			name:  "another tool wrote it",
			about: func(w *waitWorld) { w.theirs(); w.wrote(time.Minute) },
			says:  "later: s: ", list: "behind", state: "Behind", reason: "another tool wrote the session in the last 10 minutes",
			command: "sessions sync s", ends: (*waitWorld).anHourPasses,
		},
		{
			name: "a program uses it",
			about: func(w *waitWorld) {
				opened = w.program()
				_, err := opened.Refresh(w.t.Context(), "s")
				require.NoError(w.t, err)
				w.theirs()
			},
			says: "later: s: ", list: "behind", state: "Behind", reason: "another program used the session in the last 10 minutes",
			command: "sessions sync s", ends: func(w *waitWorld) { require.NoError(w.t, opened.Close()) },
		},
		{
			name: "a program holds it",
			about: func(w *waitWorld) {
				w.theirs()
				st, err := sessionstore.Open(w.sessions(w.two), nil)
				require.NoError(w.t, err)
				w.t.Cleanup(func() { require.NoError(w.t, st.Close()) })
				acquired, err = st.Acquire(w.t.Context(), "s", sessionstore.Owner{App: "agent"})
				require.NoError(w.t, err)
			},
			says: "later: s: ", list: "behind", state: "Behind", reason: "runs",
			command: "sessions sync s", ends: func(w *waitWorld) { require.NoError(w.t, acquired.Release()) },
		},
		{
			name: "another tool was killed while it appended",
			about: func(w *waitWorld) {
				w.write(w.file(w.two, "transcript.jsonl.backup"), transcript(w.t, w.two, "s"))
				w.write(w.file(w.two, "transcript.jsonl.append-pending"), "")
				w.theirs()
			},
			says: "later: s: ", list: "behind", state: "Behind", reason: "another program is appending, or was killed while it did",
			command: "sessions repair s",
		},
		{
			name: "its metadata is torn",
			about: func(w *waitWorld) {
				w.write(w.file(w.two, "metadata.json"), "{")
				w.say(w.two, "2")
			},
			says: "stays: s: ", list: "held", state: "Blocked", reason: "its metadata cannot be read", command: "sessions repair s --name=NAME",
		},
		{
			name: "two histories wait",
			about: func(w *waitWorld) {
				w.theirs()
				w.say(w.two, "of two")
				w.wrote(time.Minute)
				require.Contains(w.t, w.run(w.two, 0, "sync"), "both kept: s: ")
			},
			says: "later: s: ", list: "diverged", state: "Pending", reason: "two devices added to the session",
			command: "sessions sync s", ends: (*waitWorld).anHourPasses,
		},
		{
			name: "the transcript is damaged",
			about: func(w *waitWorld) {
				w.write(w.file(w.two, "transcript.jsonl.backup"), transcript(w.t, w.two, "s"))
				w.write(w.file(w.two, "transcript.jsonl"), "{\"role\": \"user\n")
				w.anHourPasses()
			},
			code: 1, says: `sync session "s": `, list: "failed", state: "Deferred", reason: "the transcript had to be recovered", command: "sessions repair s --salvage",
		},
		{
			name: "it is full",
			about: func(w *waitWorld) {
				w.say(w.two, "2")
				w.refuse(cosmostest.Fault{Status: http.StatusForbidden, SubStatus: 1014})
			},
			code: 1, says: `sync session "s": `, list: "failed", state: "Blocked", reason: "all that it may have", command: "sessions remote prune s",
			ends: (*waitWorld).heal, // the command makes room
		},
		{
			name: "what pulls took away takes its room",
			about: func(w *waitWorld) {
				kept := w.file(w.two, "transcript.jsonl.bak-pre-pull-"+time.Now().UTC().Format("20060102150405"))
				w.write(kept, "")
				require.NoError(w.t, os.Truncate(kept, 1<<30))
				w.theirs()
				w.run(w.two, 0, "sync")
				w.run(w.one, 0, "rewind", "s", "--to-turn", "1")
				w.run(w.one, 0, "sync")
			},
			code: 1, says: `sync session "s": `, list: "failed", state: "Blocked", reason: "takes too much room", command: "sessions undo --drop s",
		},
		{
			name: "it was removed there, and has more here",
			about: func(w *waitWorld) {
				w.run(w.one, 0, "remote", "purge", "s", "--force")
				w.say(w.two, "2")
			},
			code: 1, says: `sync session "s": session was removed from the remote`, list: "failed", state: "Removed", command: "sessions remote recreate s",
		},
		{
			name:  "it was removed there",
			about: func(w *waitWorld) { w.run(w.one, 0, "remote", "purge", "s", "--force") },
			state: "Removed", command: "sessions remote recreate s",
		},
		{
			name:  "it is kept here and was sent before",
			about: func(w *waitWorld) { w.run(w.two, 0, "remote", "keep-local", "s") },
			says:  "stays: s: ", list: "held", state: "KeptLate", reason: "a rule keeps the session on this machine", command: "sessions remote purge s",
			after: "Local",
		},
		{
			name: "rules of redaction hold for it",
			about: func(w *waitWorld) {
				w.say(w.one, "key sk-ant-api03-"+strings.Repeat("Ab1", 30)+"-AAAAAAAA")
				w.run(w.one, 0, "sync", "--redact")
				w.run(w.two, 0, "sync")
				w.say(w.two, "2")
			},
			code: 1, says: `sync session "s": rules of redaction hold here`, list: "failed", state: "Blocked", reason: "rules of redaction", command: "sessions sync s --redact",
		},
		{
			name: "which rules of redaction hold cannot be read",
			about: func(w *waitWorld) {
				w.write(w.bookkeeping("sync/redaction.json"), "{")
				w.say(w.two, "2")
			},
			code: 1, says: "redaction.json does not tell which rules of redaction hold", list: "failed", state: "Blocked", reason: "rules of redaction", command: "sessions sync s --redact",
		},
		{
			name: "the rules of a program cannot be read",
			about: func(w *waitWorld) {
				w.write(w.bookkeeping("sync/deny.json"), "{")
				w.say(w.two, "2")
			},
			says: "stays: s: ", list: "held", state: "Local", reason: "deny.json does not tell which sessions stay here",
			ends: func(w *waitWorld) { require.NoError(w.t, os.Remove(w.bookkeeping("sync/deny.json"))) },
		},
		{
			name: "which sessions stay here cannot be read",
			about: func(w *waitWorld) {
				w.write(w.bookkeeping("sync/local-only.json"), "{")
				w.say(w.two, "2")
			},
			says: "stays: s: ", list: "held", state: "Local", reason: "local-only.json does not tell which sessions stay here",
			ends: func(w *waitWorld) { require.NoError(w.t, os.Remove(w.bookkeeping("sync/local-only.json"))) },
		},
		{
			name: "which device this is cannot be read",
			about: func(w *waitWorld) {
				w.write(w.bookkeeping("devices/machines"), "x")
			},
			code: 1, says: "machines is damaged: bring it back from a backup, or remove it",
			ends: func(w *waitWorld) { require.NoError(w.t, os.Remove(w.bookkeeping("devices/machines"))) },
		},
		{
			name: "lines are damaged there",
			about: func(w *waitWorld) {
				w.theirs()
				for _, d := range w.account.Docs("db", "a") {
					if strings.Contains(d.ID, "-t-0000000002") {
						require.NoError(w.t, w.account.Remove("db", "a", d.Partition, d.ID))
					}
				}
			},
			code: 1, says: `sync session "s": `, list: "failed", state: "Deferred", reason: "copy in the remote is damaged", command: "sessions remote check s --mend", on: "one",
		},
		{
			name: "it has a newer format there",
			about: func(w *waitWorld) {
				w.theirs()
				w.edit("-head", `"v":3`, `"v":4`)
			},
			code: 1, says: `sync session "s": `, list: "failed", state: "Blocked", reason: "update",
			ends: func(w *waitWorld) { w.edit("-head", `"v":4`, `"v":3`) },
		},
		{
			name: "the remote does not let this device write",
			about: func(w *waitWorld) {
				w.say(w.two, "2")
				w.refuse(cosmostest.Refuse(http.StatusForbidden, 0))
			},
			code: 1, says: "Nothing is lost: check cosmos://", list: "failed", state: "Blocked", reason: "the remote refuses requests", command: "sessions remote check",
			ends: (*waitWorld).heal,
		},
		{
			name: "the key is another one",
			about: func(w *waitWorld) {
				w.say(w.two, "2")
				w.t.Setenv("COSMOS_KEY", "aGVsbG8=")
			},
			code: 1, says: "Nothing is lost: check cosmos://", list: "failed", state: "Blocked", reason: "the remote refuses requests", command: "sessions remote check",
			ends: func(w *waitWorld) { w.t.Setenv("COSMOS_KEY", w.account.Key()) },
		},
		{
			name: "the remote is away",
			about: func(w *waitWorld) {
				w.say(w.two, "2")
				w.account.Inject(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Drop() })
			},
			code: 1, says: "Nothing is lost: run the command again when cosmos://", state: "Pending", command: "sessions sync",
			ends: (*waitWorld).heal,
		},
	}
}

// TestWaitingForNothing has what other devices and damage did that no user must end.
func TestWaitingForNothing(t *testing.T) { //nolint:paralleltest // it sets the environment
	for name, about := range map[string]func(w *waitWorld){ //nolint:paralleltest // it sets the environment
		"the remote answers one request badly": func(w *waitWorld) {
			w.say(w.two, "2")
			w.account.Inject(cosmostest.Data(cosmostest.At(2, cosmostest.Refuse(http.StatusServiceUnavailable, 0))))
		},
		"the known state is damaged": func(w *waitWorld) {
			found, err := filepath.Glob(w.bookkeeping("sync/*"))
			require.NoError(w.t, err)
			require.NotEmpty(w.t, found)
			for _, path := range found {
				if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() {
					w.write(path, "x")
				}
			}
		},
		"another device sent it anew": func(w *waitWorld) { w.run(w.one, 0, "remote", "recreate", "s", "--force") },
		"a file is too large": func(w *waitWorld) {
			w.write(w.file(w.two, "config.md"), "")
			require.NoError(w.t, os.Truncate(w.file(w.two, "config.md"), 65<<20))
		},
		"the other device's clock is ahead": func(w *waitWorld) {
			w.theirs()
			w.edit("-head", fmt.Sprint(`\"updated\":\"`, time.Now().Year()), fmt.Sprint(`\"updated\":\"`, time.Now().Year()+1))
		},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // it sets the environment
			w := newWaitWorld(t)
			about(w)
			w.run(w.two, 0, "sync")
			require.Contains(t, w.run(w.two, 0, "status"), "1 session, 1 UpToDate")
		})
	}
}

// TestElsewhere: sync counts what only the remote has, and names the command that brings it.
// What was deleted here comes back only when it is named.
func TestElsewhere(t *testing.T) { //nolint:paralleltest // it sets the environment
	w := newWaitWorld(t)
	say(t, w.one, "new", "1")
	w.run(w.one, 0, "sync")
	require.Contains(t, w.run(w.two, 0, "sync"), "only the remote has 1 session: sessions pull --project=demo\n")
	require.Contains(t, w.run(w.two, 0, "sync", "--json"), `"elsewhere": 1`)
	w.run(w.two, 0, "pull")
	require.Contains(t, w.run(w.two, 0, "sync", "--json"), `"elsewhere": 0`)
	w.run(w.two, 0, "delete", "new", "--force", "--even=recent")
	require.Contains(t, w.run(w.two, 0, "sync", "--json"), `"elsewhere": 0`)
	w.run(w.two, 0, "pull", "new")
	require.FileExists(t, filepath.Join(w.sessions(w.two), "new", "transcript.jsonl"))
	require.NotContains(t, w.run(w.two, 0, "pull"), "--as")

	require.NoError(t, os.RemoveAll(filepath.Join(w.two, "projects"))) // as on a device that has nothing yet
	require.Contains(t, w.run(w.two, 0, "sync"), "only the remote has 2 sessions: sessions pull --project=demo\n")
	require.NoDirExists(t, w.sessions(w.two))
	for _, command := range []string{"sync", "pull"} {
		require.Contains(t, w.run(w.two, 0, command, "--as=another"), "give all of them one --as")
	}
}

// TestUndoOfAPull: undo leaves what other devices changed, unless the session is named.
func TestUndoOfAPull(t *testing.T) { //nolint:paralleltest // it sets the environment
	w := newWaitWorld(t)
	w.theirs()
	w.run(w.two, 0, "sync")
	before := transcript(t, w.two, "s")
	w.run(w.one, 0, "rewind", "s", "--to-turn", "1")
	w.run(w.one, 0, "sync")
	w.run(w.two, 0, "sync")
	after := transcript(t, w.two, "s")
	require.Less(t, len(after), len(before))
	require.Contains(t, w.run(w.two, 0, "undo", "--yes"), "nothing to take back")
	require.Contains(t, w.run(w.two, 0, "undo", "--list", "s"), "pre-pull")
	w.run(w.two, 0, "undo", "s")
	require.Equal(t, before, transcript(t, w.two, "s"))
	w.run(w.two, 0, "redo", "s")
	require.Equal(t, after, transcript(t, w.two, "s"))
	w.run(w.two, 0, "undo", "s")
	require.NotContains(t, w.run(w.two, 0, "sync"), "config.md")
	hour := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(w.file(w.one, "transcript.jsonl"), hour, hour))
	w.run(w.one, 0, "sync")
	require.Equal(t, before, transcript(t, w.one, "s"))

	w.write(w.file(w.one, "config.md"), "another")
	w.anHourPasses()
	w.run(w.one, 0, "sync")
	require.Contains(t, w.run(w.two, 0, "pull"), "note: the config.md of s is that of another device now")
}
