package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// TestRecipesAreExamples compares each recipe of the first page with the lines of the
// example below that are between "recipe" and "end".
func TestRecipesAreExamples(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("recipes_test.go")
	require.NoError(t, err)
	var examples []string
	for _, m := range regexp.MustCompile(`(?s)\n\t// recipe\n(.*?)\n\t// end\n`).FindAllStringSubmatch(string(source), -1) {
		examples = append(examples, regexp.MustCompile(`(?m)^\t`).ReplaceAllString(m[1], "")+"\n")
	}
	page, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	var recipes []string
	for _, m := range regexp.MustCompile("(?s)```go part\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		recipes = append(recipes, m[1])
		require.LessOrEqual(t, strings.Count(m[1], "\n"), 5)
	}
	require.Equal(t, examples, recipes)
	require.Len(t, recipes, 4)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// interrupted makes a session whose last call has no result.
func interrupted(ctx context.Context, dir string) (store *sessionstore.Store, id string, call sessionstore.ToolCall) {
	store, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: dir})
	check(err)
	question, err := sessionstore.Text("user", "Will it rain?", time.Time{})
	check(err)
	more, err := sessionstore.Text("user", "Look again.", time.Time{})
	check(err)
	call = sessionstore.ToolCall{ID: "c1", Name: "forecast", Arguments: json.RawMessage(`{"day": "tomorrow"}`)}
	calls, err := sessionstore.ToolCallMessage("", time.Time{}, call)
	check(err)
	id = "weather"
	check(store.Append(ctx, id, question, sessionstoreAnswer("No."), more, calls))
	return store, id, call
}

func sessionstoreAnswer(text string) sessionstore.Message {
	m, err := sessionstore.Text("assistant", text, time.Time{})
	check(err)
	return m
}

func folder() string {
	dir, err := os.MkdirTemp("", "recipe")
	check(err)
	return dir
}

func Example_goOn() {
	ctx, top := context.Background(), folder()
	defer os.RemoveAll(top)
	store, id, _ := interrupted(ctx, top)
	defer store.Close()
	answer := func(sent []sessionstore.Message) sessionstore.Message {
		return sessionstoreAnswer(fmt.Sprint("I know ", len(sent), " messages."))
	}
	// recipe
	window, err := slice.ResumeWindow(ctx, store, id, 25) // the last 25 turns, of a transcript of any size
	check(err)
	ready, err := accept.Fix(accept.Anthropic, window) // with a result for each call that never ran
	check(err)
	check(store.Append(ctx, id, answer(ready.Messages)))
	// end
	session, err := store.Load(ctx, id)
	check(err)
	fmt.Println(session.Messages[len(session.Messages)-1].Content())
	// Output: I know 5 messages.
}

func Example_forkAndUndo() {
	ctx, top := context.Background(), folder()
	defer os.RemoveAll(top)
	store, id, _ := interrupted(ctx, top)
	defer store.Close()
	// recipe
	fork, err := slice.Fork(ctx, store, id, &slice.ForkOptions{Turn: new(1)}) // a session of its own
	check(err)
	_, err = slice.RewindSessionTo(ctx, store, id, 1, slice.Complete) // the session itself ends there now
	check(err)
	_, err = slice.Undo(ctx, store, id, "", nil) // the last change is taken back; slice.Redo makes it again
	// end
	check(err)
	session, err := store.Load(ctx, id)
	check(err)
	fmt.Println(fork.Messages, len(session.Messages))
	// Output: 2 4
}

func Example_turn() {
	ctx, top := context.Background(), folder()
	defer os.RemoveAll(top)
	store, id, call := interrupted(ctx, top)
	defer store.Close()
	question, err := sessionstore.Text("user", "And on Sunday?", time.Time{})
	check(err)
	row, err := sessionstore.ToolCallMessage("", time.Time{}, call)
	check(err)
	ask := func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
		return agentstate.Approved, nil
	}
	run := func(_ context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
		return sessionstore.ToolResult(call.ID, call.Name, "rain", time.Time{})
	}
	// recipe
	t, err := turn.Begin(ctx, store, id, question, &turn.Options{Approve: ask}) // stored
	check(err)
	check(t.Step(ctx, row))               // a row of the model
	result, err := t.Call(ctx, call, run) // asks, runs at most once, stores the result
	check(errors.Join(err, t.Say("It will rain."), t.End(ctx)))
	// end
	fmt.Println(result.Content())
	session, err := store.Load(ctx, id)
	check(err)
	fmt.Println(session.Messages[len(session.Messages)-1].Content())
	// Output:
	// rain
	// It will rain.
}

func Example_sync() {
	ctx, top := context.Background(), folder()
	defer os.RemoveAll(top)
	shared, sessions, id := filepath.Join(top, "shared"), filepath.Join(top, "sessions"), "weather"
	check(os.Mkdir(shared, 0o700))
	check(dir.Provision(ctx, shared))
	// recipe
	remote, err := dir.Open(ctx, shared) // or cosmos.Connect
	check(err)
	synced, err := hybrid.Open(ctx, sessions, &hybrid.Options{Remote: remote, User: "ada", Project: "weather", Redact: hybrid.Secrets()})
	check(err)
	_, err = synced.Refresh(ctx, id) // takes what other devices added; the background and Close send what is new
	// end
	fmt.Println(err != nil) // there is no such session yet
	check(synced.Append(ctx, id, sessionstoreAnswer("hello")))
	_, err = slice.ResumeWindow(ctx, synced.Store, id, 25) // as in the first recipe
	check(err)
	check(synced.Close())
	check(remote.Close())
	// Output: true
}
